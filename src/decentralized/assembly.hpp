// The results of agents that ran apart, brought together: what one process would have returned.
#pragma once

#include <span>
#include <string>

#include "hearsay/decentralized.hpp"

namespace hearsay::detail {

/// All made the same bar of the same words. One that differs is believed where it is the larger.
void take_larger(ErrorBar& bar, const ErrorBar& other);

/// From what each rank, or agent, said: put_agents() and then put_summary(). `result` is what the caller itself has, if
/// an agent lives there, and becomes everyone's. Throws CommunicationError where it is not of `count` agents.
void assemble(std::span<const std::string> said, Index count, const DecentralizedOptions& options,
              DecentralizedResult& result);

}  // namespace hearsay::detail
