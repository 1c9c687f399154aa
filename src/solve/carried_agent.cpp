#include "hearsay/carried_agent.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"
#include "network/entries.hpp"

namespace hearsay {
namespace {

std::vector<Index> neighbours_in(const GossipMatrix& W, Index self) {
  require(self >= 0 && self < W.agents(), fmt::format("agent {}: must lie in [0, {})", self, W.agents()));
  return detail::neighbours_of(W.matrix(), self);
}

}  // namespace

CarriedAgent::CarriedAgent(Index self, AgentRows rows, FederationSettings federation, AgentHooks hooks,
                           HandLinks::Clock clock)
    : federation_(std::move(federation)),
      hooks_(std::move(hooks)),
      links_(self, neighbours_in(federation_.W, self), clock),
      thread_([this, own = std::move(rows)]() mutable { run(std::move(own)); }) {}

CarriedAgent::~CarriedAgent() {
  stopped_ = true;
  links_.abandon();
  thread_.join();
}

void CarriedAgent::run(AgentRows rows) {
  const AgentHooks hooks{.observe =
                             [this](const AgentProgress& now) {
                               if (left_) throw CommunicationError("was asked to stop");
                               return (!hooks_.observe || hooks_.observe(now)) && !stopped_;
                             },
                         .go_on = [this] { return !left_ && (!hooks_.go_on || hooks_.go_on()); },
                         .nonce = hooks_.nonce,
                         .keep = hooks_.keep,
                         .states = hooks_.states,
                         .waits = hooks_.waits};
  try {
    outcome_ = run_agent(links_, std::move(rows), federation_, hooks);
  } catch (const Abandoned&) {
    thrown_ = std::make_exception_ptr(Error("the run: was broken off before it had ended"));
  } catch (...) {
    thrown_ = std::current_exception();
  }
  links_.end();
}

const AgentOutcome& CarriedAgent::outcome() const {
  if (!links_.done()) throw Error("the agent's outcome: is there once it has ended and its frames were taken");
  if (thrown_) std::rethrow_exception(thrown_);
  return *outcome_;
}

}  // namespace hearsay
