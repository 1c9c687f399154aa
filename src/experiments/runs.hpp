// The runs that experiments are made of. Each is a plain description; the same description and seed give the same
// trace, to the last bit.
#pragma once

#include <cstdint>

#include "experiments/trace.hpp"
#include "hearsay/block.hpp"
#include "hearsay/options.hpp"

namespace hearsay::experiments {

/// lambda_1..lambda_k = 1, lambda_{k+1} = 1 - gap, and the rest: the paper's instance.
struct PlantedSpectrum {
  Index dimension = 1000, rank = 10;
  double gap = 1e-2;
  double rest = 0.5;

  double lambda_next() const { return 1 - gap; }
  Vector<double> eigenvalues() const;
  bool operator==(const PlantedSpectrum&) const = default;
};

/// A momentum relative to what the spectrum allows.
struct MomentumChoice {
  enum class Rule {
    times_optimal,  ///< value beta*, beta* = l_{k+1}^2/4; zero is the plain method
    between,        ///< beta* + value (beta_c - beta*), beta_c = l_k^2/4; one is beta_c itself
    paper,          ///< adaptive, by the smallest diagonal entry of X'AX
    automatic       ///< adaptive, by its smallest eigenvalue
  };
  Rule rule = Rule::times_optimal;
  double value = 1;

  bool operator==(const MomentumChoice&) const = default;
};

/// beta of a rule that is not adaptive.
double beta_of(const MomentumChoice& choice, const PlantedSpectrum& spectrum);

/// (A)NPM on a planted spectrum under noise; the error is sin(theta_k) of the first k columns. Facts: predicted_floor,
/// in closed form, of adversarial and white noise, and what momentum multiplies a white floor by, white_amplification;
/// of an adaptive momentum, over the optimal one, beta_most, beta_last, and the share of steps above it, beta_above.
/// The run takes place in the eigenbasis: the iteration commutes with rotations, and so do the laws of the start and of
/// the noise, so that a product costs d k operations instead of d^2 k.
struct PlantedRun {
  PlantedSpectrum spectrum = {};
  NoiseChoice::Kind noise = NoiseChoice::Kind::adversarial;
  double noise_level = 1e-4;
  MomentumChoice momentum = {};
  Index iterations = 1000;

  bool operator==(const PlantedRun&) const = default;
};

Trace trace(const PlantedRun& run, std::uint64_t seed);

/// A theorem of the paper on its own instance; the error is tan(theta_k), or sin(theta_k) where the theorem speaks of
/// it.
struct TheoremRun {
  enum class Theorem {
    lower_bound,    ///< no noise; fact: the largest relative deviation from the closed form
    closed_form,    ///< that closed form itself
    tight_outside,  ///< condition (a) with 8 for c; fact: the least tangent over epsilon
    tight_inside,   ///< condition (b) with 1 for c; the same fact, and the drift from 2 epsilon
    main,           ///< noise scaled to (a) and (b); facts: T, the worst sine from T on over epsilon, violations, where
                    ///< the push is predicted to end, and how the recursions of the proof hold (recursions.hpp)
    small_beta,     ///< the same below beta*
    no_momentum,    ///< the same at zero
    random_start    ///< tan(theta_k) of random starts: a sweep over tau
  };
  /// Of main, small_beta and no_momentum. A push is the worst direction: along u_{k+1} by what belongs to u_k, and
  /// against u_k itself, the same at every step in the coordinates of U_k.
  enum class Noise { random, push };
  Theorem theorem = Theorem::main;
  Index dimension = 50, rank = 3;
  double lambda_k = 1, lambda_next = 0.95;
  double beta = 0;  ///< of small_beta; the others take beta* = lambda_next^2/4 or zero
  double epsilon = 1e-2;
  Index iterations = 300;  ///< of random_start: the starts that are drawn
  Noise noise = Noise::random;

  bool operator==(const TheoremRun&) const = default;
};

Trace trace(const TheoremRun& run, std::uint64_t seed);

}  // namespace hearsay::experiments
