// What some options must know of a matrix before it is solved: its k-th and next eigenvalue, perhaps all eigenvectors.
#pragma once

#include <string>

#include "hearsay/export.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

/// Up to here a dense eigensolver answers.
inline constexpr Index largest_dense_dimension = 5000;

struct Spectrum {
  Index dimension = 0;
  double lambda_k = 0;
  double lambda_next = 0;      ///< zero where k is the dimension
  Vector<double> values = {};  ///< descending: all of them, or the first k + 1
  Block<double> vectors = {};  ///< d x d; empty above largest_dense_dimension
  std::string source = {};     ///< how it was found, for people
};

/// By a dense eigensolver where the dimension allows, else by a noise-free solve for k + 1 eigenvalues with this rank,
/// tolerance (1e-8 at least), iterations (10,000 at least) and seed.
template <class S>
HEARSAY_API Spectrum find_spectrum(OperatorRef<S> exact, const PowerOptions& options);

}  // namespace hearsay
