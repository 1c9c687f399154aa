// hearsay, the command line: a thin door onto the library.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "commands/commands.hpp"
#include "commands/terminal.hpp"

namespace {

using namespace hearsay;

// Launchers of Open MPI and of MPICH tell a process so how many there are.
bool started_on_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name); size != nullptr && std::string_view(size) != "1") return true;
  return false;
}

// The program beside this one that knows MPI takes over; this one need not load it.
void hand_over(char** argv) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (self.parent_path() / "hearsay-mpi").string();
  execv(program.c_str(), argv);
  app::warn(fmt::format("started on several ranks, and {} is not there to run on them; build it with MPI", program));
  std::exit(app::communication_failed);
}

std::string mpirun_line(Index ranks, std::string_view command) {
  return fmt::format("mpirun --oversubscribe -n {} {}", ranks, command);
}

}  // namespace

int main(int argc, char** argv) {
  app::keep_standard_streams();
  if (argc > 1 && std::string_view(argv[1]) == "decentralized" && started_on_ranks()) hand_over(argv);
  AloneTransport alone;
  return app::run_command_line(argc, argv, {alone, mpirun_line, app::joined(argc, argv)});
}
