#include "grpc/log.hpp"

#include <fmt/format.h>
#include <grpc/support/log.h>

#include <set>
#include <string_view>

namespace hearsay::over_grpc {

namespace {

struct Log {
  std::mutex mutex;
  std::set<Hub*> hubs;
};

Log& the_log() {
  static Log log;
  return log;
}

// "certificate verify failed" and the like; nothing for what is no handshake.
std::string handshake_problem(std::string_view message) {
  constexpr std::string_view marks[] = {"SSL routines::", "SSL routines:", "Handshake failed"};
  for (const std::string_view mark : marks) {
    const std::size_t at = message.find(mark);
    if (at == message.npos) continue;
    std::string_view rest = message.substr(mark == marks[2] ? at : at + mark.size());
    rest = rest.substr(0, rest.find('\n'));
    while (!rest.empty() && std::string_view(". :").find(rest.back()) != rest.npos) rest.remove_suffix(1);
    return std::string(rest);
  }
  return {};
}

void hear(gpr_log_func_args* line) {
  if (line->severity != GPR_LOG_SEVERITY_ERROR) return;
  const std::string problem = handshake_problem(line->message);
  if (problem.empty()) return;
  const std::scoped_lock lock(the_log().mutex);
  for (Hub* hub : the_log().hubs) hub->hear(fmt::format("a TLS handshake failed: {}", problem));
}

}  // namespace

LogListener::LogListener(Hub& hub) : hub_(hub) {
  const std::scoped_lock lock(the_log().mutex);
  gpr_set_log_function(hear);
  the_log().hubs.insert(&hub_);
}

LogListener::~LogListener() {
  const std::scoped_lock lock(the_log().mutex);
  the_log().hubs.erase(&hub_);
}

}  // namespace hearsay::over_grpc
