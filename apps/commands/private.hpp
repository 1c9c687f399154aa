// Differential privacy at the command line: hearsay pca --dp, and hearsay plan --dp.
#pragma once

#include "commands/job.hpp"
#include "hearsay/transport.hpp"

namespace hearsay::app {

/// Throws InvalidArgument where an option is given that is about --dp, and --dp is not.
void refuse_without_dp(const Job& job);

/// hearsay pca with --dp.
int run_private_pca(Job job);

/// hearsay decentralized with --dp: in one process.
int run_private_agents(Job job, Transport& ranks);

/// hearsay plan with --dp: reads no data.
int run_private_plan(const Job& job);

}  // namespace hearsay::app
