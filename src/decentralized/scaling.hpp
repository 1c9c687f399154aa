// Data whose squares would leave the range of double are divided by a power of two, the same at every agent.
#pragma once

#include <span>

#include "hearsay/block.hpp"
#include "hearsay/decentralized.hpp"

namespace hearsay::detail {

/// Of no numbers, 0.
double largest_magnitude(const Block<double>& rows);

/// rows <- 2^-exponent rows.
void divide_by_power(Block<double>& rows, int exponent);

/// As decentralized_pca(), with eigenvalues of 2^-exponent A whatever the exponent is, for unscale_or_tell() to finish.
DecentralizedResult scaled_decentralized_pca(NetworkRef net, std::span<const OperatorRef<double>> A,
                                             const DecentralizedOptions& options, const DecentralizedHooks& hooks);

/// Eigenvalues times 2^exponent.
void multiply_by_power(DecentralizedResult& result, int exponent);

/// Eigenvalues times 2^exponent, which is then 0; where one of an agent's own would overflow, or its largest vanish,
/// all stay as they are, and a note says so.
void unscale_or_tell(DecentralizedResult& result);

}  // namespace hearsay::detail
