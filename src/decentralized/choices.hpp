// What is chosen before the first step of a decentralized run, the same at every agent.
#pragma once

#include <span>

#include "decentralized/agents.hpp"
#include "hearsay/decentralized.hpp"
#include "hearsay/network.hpp"

namespace hearsay::detail {

/// Facts every agent must share, agreed on before the first step: the dimension, the power of two that all matrices are
/// divided by, and whether all A_i are known to be positive semidefinite.
struct Shared {
  Index d;
  bool positive_semidefinite;
  int exponent = 0;
};

/// Numbers in the votes about them.
inline constexpr Index facts_shared = 5;

Shared agree_on_facts(NetworkRef net, std::span<const OperatorRef<double>> A);

/// Throws InvalidArgument for options that do not fit.
Method choose_method(const Shared& shared, const DecentralizedOptions& options, bool reliable);

}  // namespace hearsay::detail
