// hearsay-mpi: the same command line on several ranks. hearsay hands over to it under mpirun.
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "commands/commands.hpp"
#include "commands/terminal.hpp"
#include "hearsay/mpi.hpp"
#include "hearsay/threads.hpp"

namespace {

using namespace hearsay;

// In seconds, unless --timeout says otherwise. All ranks are started at once, and start alike; what they read and
// multiply later may differ.
constexpr double for_the_start = 60, for_an_answer = 600;

// A launcher of another MPI starts many programs that are each alone in their own.
bool launched_by_another_mpi(const mpi::World& world) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* size = std::getenv(name); size != nullptr && std::string_view(size) != std::to_string(world.size()))
      return true;
  return false;
}

// As it will be parsed in full once the ranks can agree on what is wrong with it.
std::optional<double> timeout_given(int argc, char** argv) {
  std::optional<double> seconds;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--timeout" && i + 1 < argc)
      word = argv[++i];
    else if (word.starts_with("--timeout="))
      word.remove_prefix(std::strlen("--timeout="));
    else
      continue;
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc() && end == word.data() + word.size() && value > 0 && value <= 1e6) seconds = value;
  }
  return seconds;
}

// MPI's own start and end wait for every rank, without a limit of their own: a rank may be another program.
const char* waits_for = "";

void give_up(int) {
  for (const char* text : {"hearsay: MPI waited too long for another rank to ", waits_for, ", and gave up\n"})
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  _exit(app::communication_failed);
}

void limit_wait(double seconds, const char* what) {
  waits_for = what;
  std::signal(SIGALRM, give_up);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>(std::ceil(std::fmod(seconds, 1.0) * 999999));  // 0: no limit
  setitimer(ITIMER_REAL, &timer, nullptr);
}

int run(int argc, char** argv, mpi::World& world, const std::string& command_line) try {
  set_threads(world.threads_per_rank());
  return app::run_command_line(argc, argv, {world, mpi::mpirun_line, command_line});
} catch (const LinkError&) {
  world.abort(app::communication_failed);  // the others may never hear of it
}

// What fails on one rank alone must end the others too, which wait for it.
void start(int& argc, char**& argv, std::optional<mpi::Session>& session, std::optional<mpi::World>& world) try {
  session.emplace(argc, argv);
  world.emplace(argc, argv);
} catch (const CommunicationError& error) {
  app::warn(fmt::format("MPI does not start: {}", error.what()));
  if (session) session->abort(app::communication_failed);
  _exit(app::communication_failed);
}

}  // namespace

int main(int argc, char** argv) {
  app::begin_process();
  const std::string command_line = app::joined(argc, argv);
  const std::optional<double> timeout = timeout_given(argc, argv);
  limit_wait(timeout.value_or(for_the_start), "start");
  std::optional<mpi::Session> session;
  std::optional<mpi::World> world;
  start(argc, argv, session, world);
  limit_wait(0, "");
  if (launched_by_another_mpi(*world)) {
    app::warn(fmt::format("built with {}, and started by the mpirun of another MPI", mpi::library()));
    return app::communication_failed;
  }
  world->set_timeout(timeout.value_or(for_an_answer));
  const int code = run(argc, argv, *world, command_line);
  if (code == app::failed && world->size() > 1) world->abort(code);  // of which the others may not know
  limit_wait(world->timeout(), "end");
  world.reset();
  session.reset();
  limit_wait(0, "");
  return code;
}
