// What the commands of one agent are told.
#pragma once

#include <filesystem>
#include <string>

#include "commands/commands.hpp"
#include "commands/federated.hpp"

namespace hearsay::app {

struct AgentRequest {
  std::string federation, agent, data, label_column, listen;
  IdentityOptions identity = {};
  double wait_seconds = 10;  ///< of a check
  std::filesystem::path components = {}, json = {}, report = {}, trace = {};
  std::string threads = {}, memory = {};
  std::filesystem::path checkpoint = {};
  bool resume = false;
  std::string ledger = {}, budget = {}, site = {}, insecure_seed = {};  ///< of a federation with private rows
  bool quiet = false;
};

int check_agent(const AgentRequest& request, OpenLinks open);
int run_agent_command(const AgentRequest& request, OpenLinks open);

}  // namespace hearsay::app
