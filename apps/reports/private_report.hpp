// What a private run tells: the release, what follows from it, and what was public before. Nothing else.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/io/ledger.hpp"
#include "hearsay/private_agents.hpp"
#include "hearsay/private_pca.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

struct LedgerFacts {
  std::string path = {};
  io::LedgerReceipt receipt = {};
  double spent = 0, of = 0, delta = 0;  ///< epsilons, at the ledger's delta
};

struct PrivateReport {
  const Job& job;
  const PrivacySettings& settings;
  const PrivatePcaSolution& found;
  const std::vector<std::string>& features;
  const std::optional<LedgerFacts>& ledger;  ///< none: the noise can be repeated, and nothing is private
};

Json private_json(const PrivateReport& report);
std::string private_summary(const PrivateReport& report);

/// One agent of a private run among agents.
struct AgentPurse {
  std::string data = {};                   ///< whose rows
  std::optional<LedgerFacts> ledger = {};  ///< none: nothing is private
};

struct PrivateAgentsReport {
  const Job& job;
  const PrivateAgentsRequest& request;
  const PrivateAgentsSolution& found;
  const std::vector<std::string>& features;
  const std::vector<AgentPurse>& purses;  ///< one for each agent, or one of the table that was split
};

Json private_agents_json(const PrivateAgentsReport& report);
std::string private_agents_summary(const PrivateAgentsReport& report);

Json private_plan_json(const Job& job, const PrivatePlanRequest& request, const PrivatePlan& plan,
                       std::optional<double> sine, std::optional<double> needed);
std::string private_plan_text(const PrivatePlanRequest& request, const PrivatePlan& plan, std::optional<double> sine,
                              std::optional<double> needed);

}  // namespace hearsay::app
