// A look for what a solve may have missed: fresh random columns, kept orthogonal to what was found.
#pragma once

#include "solver/certificate.hpp"

namespace hearsay::detail {

template <class S>
struct Probe {
  double nothing_above = std::numeric_limits<double>::infinity();  ///< no eigenvalue of the deflated A exceeds it
  Vector<double> theta, residuals;                                 ///< Ritz values of the deflated A, and residuals
  Block<S> vectors;                                                ///< the leading Ritz vectors
  double frobenius = 0;                                            ///< of the deflated A, about
  Index passes = 0, products = 0;
  bool finite = true;
};

/// A block Krylov space of (I - W W')A(I - W W') from `columns` random columns, with products scaled by 2^-exponent: at
/// least `least_passes`, and up to `most_passes` until nothing above `goal` can have been missed.
template <class S>
Probe<S> probe(OperatorRef<S> A, ConstBlockView<S> W, int exponent, Index columns, Index least_passes,
               Index most_passes, double goal, std::uint64_t seed);

}  // namespace hearsay::detail
