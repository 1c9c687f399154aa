// What a decentralized run tells when it is done: JSON, a text for people, and the curves of its iterations.
#pragma once

#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/network.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// What the agents hold, as far as it can be told: counts, never data.
struct Holdings {
  Index dimension = 0;
  Index samples = 0;                       ///< zero where agents are nodes of a graph
  std::vector<Index> samples_of = {};      ///< each agent's
  std::vector<std::string> sources = {};   ///< the file of each agent, where it has one of its own
  std::vector<std::string> features = {};  ///< the names of the columns, where they have any
  std::string split = {};                  ///< in words
  bool centred = false;
};

struct DecentralizedReport {
  const Job& job;
  const Holdings& held;
  const GossipMatrix& W;
  GossipSpectrum spectrum;
  DecentralizedOptions options;
  const DecentralizedResult& result;
  int ranks = 1;
  double seconds = 0;
  std::vector<double> sines = {};  ///< each agent's against the reference; empty without one
};

Json result_json(const DecentralizedReport& report);
std::string summary(const DecentralizedReport& report);

/// A header and a line per iteration.
std::string trace_csv(const DecentralizedResult& result);

std::string progress_text(const DecentralizedEntry& entry, double tolerance);

}  // namespace hearsay::app
