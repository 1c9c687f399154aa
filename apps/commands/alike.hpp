// What the command line of every rank must have in common.
#pragma once

#include <vector>

#include "commands/job.hpp"
#include "hearsay/transport.hpp"

namespace hearsay::app {

/// The data and every option, as they count: one that was left out is as good as its default. Not --threads and
/// --quiet, on which nothing depends; nor --agents, of which the default depends on the data: see Holding::facts.
std::vector<Fact> facts_of(const Job& job);

}  // namespace hearsay::app
