// An agent's run once it is connected: from its rows to the result of all, in as many epochs as it takes.
#pragma once

#include <string>
#include <vector>

#include "hearsay/agent.hpp"
#include "solve/agent_past.hpp"

namespace hearsay::detail {

/// Of a result that is whole, and perhaps not everyone's.
inline constexpr const char* unconfirmed_note = "not every agent has confirmed this result: ";

/// As settle() has it, but for what private rows ask for by themselves.
DecentralizedOptions agent_options(const FederationSettings& federation);

/// What federations with private rows cannot be. Throws InvalidArgument, before anybody is called.
void require_private(const FederationSettings& federation, const AgentRows& rows, const AgentHooks& hooks);

/// What agents compare of it.
Fact privacy_fact(const FederationPrivacy& privacy);

/// Fills what an outcome has of the run itself. To be used within net.run().
class AgentRun {
 public:
  AgentRun(LinkNetwork& net, AgentRows& rows, const FederationSettings& federation, const AgentHooks& hooks,
           AgentPast& past, AgentOutcome& outcome);

  void run();

 private:
  void work();
  void work_privately();
  PrivateWords own_words(const PrivateAgentsRequest& request, const ReleasePlan& part);
  void gossip_release(const PrivateAgentsRequest& request, const ReleasePlan& part);
  void add_words(const PrivateAgentsRequest& request, const ReleasePlan& part);
  void tell_release();
  void confirm();
  bool settle();
  void tell_of_change(const protocol::View& view);
  void finish();
  Shards own_shard();
  void bring_latest_into_order();
  std::uint64_t fresh_lineage() const;
  std::string own_steps() const;
  void agree_on_beginning();
  void go_on_from(const KeptState& state);
  void copy_answer(Index agent, Index iteration);
  void keep(Index iteration, const std::string& solver);
  bool find_common_start(Block<double>& start);
  bool observe(const DecentralizedEntry& entry);
  bool excludes() const { return federation_.quorum > 0; }
  bool waits() const { return federation_.wait > 0; }
  bool keeps() const { return net_.epoch() == 0 && (waits() || hooks_.keep); }
  std::string agents_text(const std::vector<Index>& agents) const;

  LinkNetwork& net_;
  AgentRows& rows_;
  const FederationSettings& federation_;
  const AgentHooks& hooks_;
  AgentOutcome& outcome_;
  AgentPast& past_;
  std::uint64_t lineage_ = 0;  // of what is kept from now on
  std::string resume_ = {};    // of the solver
  Index speaker_ = 0;          // the member whose answer so far all go on from
  bool copies_ = false;        // in the first epoch
  Index done_ = 0;             // iterations, in the epochs before
  std::vector<Epoch> epochs_ = {};
  std::vector<std::pair<Index, Index>> cut_ = {};
  std::vector<Index> contributors_ = {};  // to the result that this agent holds
  std::vector<Index> gone_ = {};          // since it holds it
  double trace_ = 0;                      // of all contributors' releases
};

}  // namespace hearsay::detail
