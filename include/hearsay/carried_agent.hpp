// An agent of a federation without a network: it computes on a thread of its own, and the caller carries its frames.
//
//   CarriedAgent agent(2, rows, federation);
//   while (!agent.links().done()) {
//     if (agent.links().rests(1))
//       for (CarriedFrame& frame : agent.links().take()) ...          // bring it to the agent frame.to, and there:
//     agent.links().receive(from, bytes, 1);                          // what has come from the neighbours
//   }
//   const AgentOutcome& outcome = agent.outcome();
#pragma once

#include <atomic>
#include <exception>
#include <optional>
#include <thread>

#include "hearsay/agent.hpp"
#include "hearsay/export.hpp"
#include "hearsay/hand_links.hpp"

namespace hearsay {

class HEARSAY_API CarriedAgent {
 public:
  /// Begins at once. The hooks are called on the agent's thread. Throws InvalidArgument where there is no such agent;
  /// whatever else does not fit is thrown by outcome().
  CarriedAgent(Index self, AgentRows rows, FederationSettings federation, AgentHooks hooks = {},
               HandLinks::Clock clock = HandLinks::Clock::own);

  /// Breaks off what is not done, without a word, and waits for the thread: for a product at most.
  ~CarriedAgent();

  /// It must not be destroyed by one of its own hooks.
  bool on_its_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  HandLinks& links() { return links_; }
  const FederationSettings& federation() const { return federation_; }

  /// All agents stop at the next iteration, with what they have.
  void stop() { stopped_ = true; }

  /// Ends the run with an error, everywhere: frames that say so are to be carried.
  void leave() { left_ = true; }

  /// Only once links().done(). Throws what the run has thrown, and Error where it was broken off.
  const AgentOutcome& outcome() const;

 private:
  void run(AgentRows rows);

  FederationSettings federation_;
  AgentHooks hooks_;
  HandLinks links_;
  std::atomic<bool> stopped_ = false, left_ = false;
  std::optional<AgentOutcome> outcome_ = {};
  std::exception_ptr thrown_ = {};
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace hearsay
