// An agent's run once it is connected: from its rows to the result of all, in as many epochs as it takes.
#pragma once

#include <string>
#include <vector>

#include "hearsay/agent.hpp"

namespace hearsay::detail {

/// Fills what an outcome has of the run itself. To be used within net.run().
class AgentRun {
 public:
  AgentRun(LinkNetwork& net, AgentRows rows, const FederationSettings& federation, const AgentHooks& hooks,
           AgentOutcome& outcome);

  void run();

 private:
  void work();
  void confirm();
  bool settle();
  void tell_of_change(const protocol::View& view);
  void finish();
  Shards own_shard();
  void bring_latest_into_order();
  bool find_common_start(Block<double>& start);
  bool observe(const DecentralizedEntry& entry);
  bool excludes() const { return federation_.quorum > 0; }
  std::string agents_text(const std::vector<Index>& agents) const;

  LinkNetwork& net_;
  AgentRows rows_;
  const FederationSettings& federation_;
  const AgentHooks& hooks_;
  AgentOutcome& outcome_;
  Block<double> latest_ = {};                   // this agent's answer so far
  std::vector<std::string> latest_order_ = {};  // of its rows
  Index done_ = 0;                              // iterations, in the epochs before
  std::vector<Epoch> epochs_ = {};
  std::vector<std::pair<Index, Index>> cut_ = {};
  std::vector<Index> contributors_ = {};  // to the result that this agent holds
  std::vector<Index> gone_ = {};          // since it holds it
};

}  // namespace hearsay::detail
