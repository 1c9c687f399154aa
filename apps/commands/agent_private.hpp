// What an agent with private rows does beside the run itself: it pays from its own ledger before a row is read, and
// tells nothing but what was released.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "commands/agent.hpp"
#include "commands/federated.hpp"
#include "files/run_files.hpp"
#include "hearsay/agent.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// The options of one's own that a federation with `dp` takes, into the job.
void give_private_options(const AgentRequest& request, const FederationFile& file, Job& job);

/// Of a job of a federation with `dp`.
FederationPrivacy federation_privacy(const FederationFile& file, const Job& job);

/// Whether the run can be paid for, in words. Reads the ledger alone, and begins none. Throws InvalidArgument where it
/// cannot be.
std::string what_will_be_spent(const FederationFile& file, const Job& job);

class PrivateAgent {
 public:
  /// Throws InvalidArgument where the ledger cannot pay for the run; nothing is spent yet.
  PrivateAgent(const FederationFile& file, const Job& job);
  PrivateAgent(const PrivateAgent&) = delete;
  PrivateAgent& operator=(const PrivateAgent&) = delete;
  ~PrivateAgent();

  /// What run_agent() is given; borrows this.
  AgentRows rows(Index self);

  /// Writes and prints; `manifest` says who took part.
  int deliver(const AgentOutcome& outcome, const FederationPrivacy& agreed, Json manifest, Index self) const;

 private:
  struct Purse;

  Block<double> pay_and_read();
  std::string input() const { return job_.input; }

  const FederationFile& file_;
  const Job& job_;
  std::unique_ptr<Purse> purse_;  // none where the noise can be repeated
};

}  // namespace hearsay::app
