#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <exception>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

#include "hearsay/error.hpp"
#include "hearsay/mpi.hpp"
#include "return_code.hpp"

namespace hearsay::mpi {
namespace {

constexpr int most_processors = 1024;

// The processors this process may run on, as bits; all zero where that cannot be known.
std::bitset<most_processors> processors() {
  std::bitset<most_processors> allowed;
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < std::min(most_processors, CPU_SETSIZE); ++cpu)
      allowed[static_cast<std::size_t>(cpu)] = CPU_ISSET(cpu, &set);
#endif
  return allowed;
}

// Ranks of one machine share the processors that any of them may use.
int share_of_processors(MPI_Comm everyone) {
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here), "MPI_Comm_split_type");
  int ranks_here = 1;
  check(MPI_Comm_size(here, &ranks_here), "MPI_Comm_size");
  const auto mine = processors();
  auto anyones = mine;
  check(MPI_Allreduce(&mine, &anyones, sizeof mine, MPI_BYTE, MPI_BOR, here), "MPI_Allreduce");
  MPI_Comm_free(&here);
  const auto fallback = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int allowed = mine.none() ? fallback : static_cast<int>(mine.count());
  const int all = anyones.none() ? fallback : static_cast<int>(anyones.count());
  return std::clamp(all / ranks_here, 1, allowed);
}

}  // namespace

Session::Session(int& argc, char**& argv) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) return;
  int provided = 0;
  // Other threads compute; MPI is called by one.
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  ours_ = true;
}

Session::~Session() {
  int over = 0;
  MPI_Finalized(&over);
  if (ours_ && over == 0) MPI_Finalize();
}

void Session::abort(int exit_code) const {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();  // MPI_Abort does not return, but is not declared so
}

World::World(int& argc, char**& argv, std::size_t piece_bytes)
    : Session(argc, argv),
      Communicator(MPI_COMM_WORLD, piece_bytes),
      exceptions_before_(std::uncaught_exceptions()),
      threads_per_rank_(share_of_processors(MPI_COMM_WORLD)) {
  // MPICH asks this communicator, whichever a message was for, what to do when it did not fit.
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

World::~World() {
  if (size() > 1 && std::uncaught_exceptions() > exceptions_before_) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

std::string library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  // "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\nMPICH Release date: ...".
  const std::string name = version.substr(0, version.find_first_of(",\n"));
  const auto tab = name.find('\t');
  return tab == std::string::npos ? name : fmt::format("{} {}", name.substr(0, name.find(' ')), name.substr(tab + 1));
}

std::string mpirun_line(Index ranks, std::string_view command) {
#ifdef OPEN_MPI
  // Open MPI starts no more ranks than there are cores, and nothing for root, unless told to.
  const char* flags = geteuid() == 0 ? "--allow-run-as-root --oversubscribe " : "--oversubscribe ";
#else
  const char* flags = "";
#endif
  return fmt::format("mpirun {}-n {} {}", flags, ranks, command);
}

void require_ranks(const Transport& ranks, Index wanted, std::string_view command) {
  require(ranks.size() >= wanted,
          fmt::format("{} rank{}: must be at least {}, one for each agent; start it with\n  {}", ranks.size(),
                      ranks.size() == 1 ? "" : "s", wanted, mpirun_line(wanted, command)));
}

}  // namespace hearsay::mpi
