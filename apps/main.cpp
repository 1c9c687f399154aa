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

// The program beside this one takes over, where it is there.
std::string hand_over(const char* name, char** argv) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (self.parent_path() / name).string();
  execv(program.c_str(), argv);
  return program;
}

// MPI and gRPC are in programs of their own: this one need not load them.
void hand_over_to_mpi(char** argv) {
  const std::string program = hand_over("hearsay-mpi", argv);
  app::warn(fmt::format("started on several ranks, and {} is not there to run on them; build it with MPI", program));
  std::exit(app::communication_failed);
}

std::string mpirun_line(Index ranks, std::string_view command) {
  return fmt::format("mpirun --oversubscribe -n {} {}", ranks, command);
}

}  // namespace

int main(int argc, char** argv) {
  app::begin_process();
  const std::string_view command = argc > 1 ? argv[1] : "";
  if ((command == "decentralized" || command == "pca") && started_on_ranks()) hand_over_to_mpi(argv);
  if (argc > 2 && std::string_view(argv[1]) == "agent") hand_over("hearsay-agent", argv);
  AloneTransport alone;
  return app::run_command_line(argc, argv, {alone, mpirun_line, app::joined(argc, argv)});
}
