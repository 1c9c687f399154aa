// Solves with noisy products on planted spectra: how near the truth they come, by what they cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/trace.hpp"
#include "hearsay/block.hpp"
#include "hearsay/options.hpp"

namespace hearsay::experiments {

/// A spectrum, in its eigenbasis as PlantedRun's is, and the errors of its products.
struct NoisyInstance {
  enum class Spectrum {
    planted,     ///< the paper's: 1 (k times), 1 - gap, then 1/2
    harmonic,    ///< 1/i
    exponential  ///< exp(-i/50)
  };
  Spectrum spectrum = Spectrum::planted;
  Index dimension = 1000, rank = 10;
  double gap = 1e-2;  ///< of planted
  NoiseChoice::Kind noise = NoiseChoice::Kind::gaussian;
  double noise_level = 1e-5;

  Vector<double> eigenvalues() const;
  bool operator==(const NoisyInstance&) const = default;
};

/// Solves with so many columns multiplied by A each; the error is sin(theta_k) of the answer, swept are the columns.
///
/// Facts of `averaged`: bar_over_error, the median over the sweep of its error bar over the error; bars_within, the
/// share of its bars that are within a factor 3 of it. Of `oja`: best_step, c of the most columns, over 1 / (lambda_k -
/// lambda_{k+1}).
struct BudgetRun {
  enum class Solver {
    limit,       ///< nothing is run: what the mean of as many products leaves
    averaged,    ///< principal_subspace() as it comes
    error_bar,   ///< the same solves; the error is the bar they give
    last_block,  ///< the paper's iteration, ended at its floor with its cool-down
    oja  ///< X <- orth(X + c/t (A X + Xi)), with the c that turns out best for each number of columns; from a random
         ///< start it would be as slow as the plain method, so it begins where averages of half the first budget end
  };
  NoisyInstance instance = {};
  Solver solver = Solver::averaged;
  std::vector<Index> products = {500, 1000, 2000, 4000, 10000, 20000};  ///< ascending

  bool operator==(const BudgetRun&) const = default;
};

Trace trace(const BudgetRun& run, std::uint64_t seed);

/// One solve, step by step: the error is sin(theta_k) of what would be returned, with the columns multiplied by then.
/// It ends by itself, or after so many iterations.
struct SolveRun {
  enum class Solver {
    averaged,  ///< principal_subspace() as it comes
    paper      ///< the paper's iteration, adaptive momentum, p = k + 1, the first k columns; does not end by itself
  };
  NoisyInstance instance = {};
  Solver solver = Solver::averaged;
  Index iterations = 500;

  bool operator==(const SolveRun&) const = default;
};

Trace trace(const SolveRun& run, std::uint64_t seed);

/// Numbers that were measured elsewhere, the same for every seed.
struct RecordedRun {
  std::vector<Index> products;  ///< ascending
  std::vector<double> errors;   ///< one of each
  std::string source;           ///< what measured them

  bool operator==(const RecordedRun&) const = default;
};

Trace trace(const RecordedRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments
