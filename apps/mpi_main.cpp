// hearsay-mpi: the same command line on several ranks. hearsay hands over to it under mpirun.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "commands.hpp"
#include "hearsay/mpi.hpp"
#include "hearsay/threads.hpp"

namespace {

using namespace hearsay;

// A launcher of another MPI starts many programs that are each alone in their own.
bool launched_by_another_mpi(const mpi::World& world) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name); size != nullptr && std::string_view(size) != std::to_string(world.size()))
      return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command_line = app::joined(argc, argv);
  mpi::World world(argc, argv);
  if (launched_by_another_mpi(world)) {
    fmt::print(stderr, "hearsay: built with {}, and started by the mpirun of another MPI\n", mpi::library());
    return app::communication_failed;
  }
  set_threads(world.threads_per_rank());
  const int code = app::run_command_line(argc, argv, {world, mpi::mpirun_line, command_line});
  if (code == app::failed && world.size() > 1) world.abort(code);  // of which the others may not know
  return code;
}
