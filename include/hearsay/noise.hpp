// Inexact products on purpose: the noise models the theory speaks of, and the operator that adds one to another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

/// Fills Xi, the error of product number `product` (from 0) with the block X.
template <class S>
struct NoiseModel {
  using Function = std::function<void(std::uint64_t product, ConstBlockView<S> X, BlockView<S> Xi)>;

  std::string name = "none";
  double level = 0;    ///< sigma for gaussian, the spectral norm xi otherwise
  Function fill = {};  ///< empty means no noise
};

/// i.i.d. N(0, sigma^2).
template <class S>
HEARSAY_API NoiseModel<S> gaussian_noise(double sigma, std::uint64_t seed);

/// xi V / ||V||, V i.i.d. N(0, 1): uniform on the sphere of spectral norm xi.
template <class S>
HEARSAY_API NoiseModel<S> sphere_noise(double xi, std::uint64_t seed);

/// -xi U V / ||V||, V = |N(0, 1)| entrywise, U the eigenvector basis (d x d): every column pushes against every
/// eigenvector.
template <class S>
HEARSAY_API NoiseModel<S> adversarial_noise(Block<S> U, double xi, std::uint64_t seed);

/// The same for a diagonal A, whose eigenvectors are the axes: no product with U.
template <class S>
HEARSAY_API NoiseModel<S> adversarial_noise(double xi, std::uint64_t seed);

/// Tight example (i): xi [0 .. 0, v_{k+1}], along one unwanted eigenvector, in column k. With xi = 8 (l_k - 2
/// sqrt(beta)) eps the error stays above eps for ever. Doubled at product 0, because the first step halves its product.
template <class S>
HEARSAY_API NoiseModel<S> tight_outside_noise(Vector<S> v_next, Index k, double xi);

/// Tight example (ii): -(l_k - 2 sqrt(beta)) cos(theta_k(X)) [0 .. 0, v_k] in column k: freezes tan(theta_k).
template <class S>
HEARSAY_API NoiseModel<S> tight_inside_noise(Block<S> U_k, double lambda_k, double two_sqrt_beta);

/// A X + Xi. Counts its products: the count keys the random stream, so a run can be resumed, and repeated, exactly.
template <class S>
class HEARSAY_API NoisyOperator {
 public:
  using Scalar = S;

  template <SymmetricOperator Op>
  NoisyOperator(const Op& A, NoiseModel<S> model) : A_(A), model_(std::move(model)) {}
  template <SymmetricOperator Op>
  NoisyOperator(const Op&& A, NoiseModel<S> model) = delete;

  Index dim() const { return A_.dim(); }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  bool apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const;
  OperatorFacts facts() const;
  double norm_bound() const { return A_.norm_bound(); }  ///< of A itself
  std::uint64_t position() const { return products_; }
  void seek(std::uint64_t position) const;

  /// The error of the latest product.
  const Block<S>& last_noise() const { return Xi_; }

 private:
  void add_noise(ConstBlockView<S> X, BlockView<S> Y) const;

  OperatorRef<S> A_;
  NoiseModel<S> model_;
  mutable std::uint64_t products_ = 0;
  mutable Block<S> Xi_;
};

/// noisy(A, model): A with inexact products.
template <SymmetricOperator Op>
NoisyOperator<typename Op::Scalar> noisy(const Op& A, NoiseModel<typename Op::Scalar> model) {
  return {A, std::move(model)};
}
template <SymmetricOperator Op>
HEARSAY_API NoisyOperator<typename Op::Scalar> noisy(const Op&& A, NoiseModel<typename Op::Scalar> model) = delete;

}  // namespace hearsay
