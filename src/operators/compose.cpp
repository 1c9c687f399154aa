#include "hearsay/operators/compose.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hearsay/error.hpp"

namespace hearsay {

template <class S>
CallbackOperator<S>::CallbackOperator(Index dim, BlockFunction product, OperatorFacts facts)
    : dim_(dim), product_(std::move(product)), facts_(facts) {
  require(dim > 0, fmt::format("dimension = {}: must be at least 1", dim));
  require(static_cast<bool>(product_), "product callback: must not be empty");
}

template <class S>
CallbackOperator<S> CallbackOperator<S>::from_vectors(Index dim, VectorFunction product, OperatorFacts facts) {
  require(static_cast<bool>(product), "product callback: must not be empty");
  return CallbackOperator(
      dim,
      [product = std::move(product), x = Vector<S>(dim), y = Vector<S>(dim)](ConstBlockView<S> X,
                                                                             BlockView<S> Y) mutable {
        for (Index j = 0; j < X.cols(); ++j) {
          x = X.col(j);
          product(x.data(), y.data());
          Y.col(j) = y;
        }
      },
      facts);
}

template <class S>
SumOperator<S>::SumOperator(std::vector<OperatorRef<S>> terms, S weight) : terms_(std::move(terms)), weight_(weight) {
  require(!terms_.empty(), "sum of 0 operators: must have at least one term");
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    require(terms_[i].dim() == terms_[0].dim(),
            fmt::format("term {} of the sum has dimension {}: must be {}, as term 1 has", i + 1, terms_[i].dim(),
                        terms_[0].dim()));
    require(terms_[i].facts().exponent == terms_[0].facts().exponent,
            fmt::format("term {} of the sum is scaled by 2^{}: must be 2^{}, as term 1 is", i + 1,
                        terms_[i].facts().exponent, terms_[0].facts().exponent));
  }
}

template <class S>
void SumOperator<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  terms_.front().apply(X, Y);
  term_product_.resize(Y.rows(), Y.cols());
  for (std::size_t i = 1; i < terms_.size(); ++i) {
    terms_[i].apply(X, term_product_);
    Y += term_product_;
  }
  if (weight_ != S(1)) Y *= weight_;
}

template <class S>
OperatorFacts SumOperator<S>::facts() const {
  OperatorFacts sum{.positive_semidefinite = weight_ >= 0, .exponent = terms_.front().facts().exponent, .exact = true};
  for (const auto& term : terms_) {
    const OperatorFacts facts = term.facts();
    sum.positive_semidefinite = sum.positive_semidefinite && facts.positive_semidefinite;
    sum.noisy = sum.noisy || facts.noisy;
    sum.approximate = sum.approximate || facts.approximate;
    sum.extra_passes += facts.extra_passes;
    sum.exact = sum.exact && facts.exact;
    sum.multiply_adds += facts.multiply_adds;
  }
  return sum;
}

template <class S>
double SumOperator<S>::norm_bound() const {
  double bound = 0;
  for (const auto& term : terms_) bound += std::abs(static_cast<double>(weight_)) * term.norm_bound();
  return bound;
}

template <class S>
void SumOperator<S>::seek(std::uint64_t position) const {
  for (const auto& term : terms_) term.seek(position);
}

template <class S>
void ShiftedOperator<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  A_.apply(X, Y);
  if (shift_ != S(0)) Y += static_cast<S>(scaled_shift()) * X;
}

template <class S>
bool ShiftedOperator<S>::apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
  return A_.apply_step(X, shift - static_cast<S>(scaled_shift()), beta, Z, Y);
}

template <class S>
OperatorFacts ShiftedOperator<S>::facts() const {
  OperatorFacts facts = A_.facts();
  facts.positive_semidefinite = positive_semidefinite_ || (facts.positive_semidefinite && shift_ >= S(0));
  facts.shift += scaled_shift();
  return facts;
}

template <class S>
void ShiftedOperator<S>::require_visible() const {
  require(std::isfinite(static_cast<double>(shift_)), fmt::format("shift = {}: must be finite", shift_));
  if (shift_ == S(0)) return;
  const double norm = A_.norm_bound(), rounding = std::numeric_limits<S>::epsilon() * std::abs(scaled_shift());
  require(!std::isfinite(norm) || rounding < norm,
          fmt::format("shift = {:.6g}: the matrix, whose eigenvalues do not exceed {:.6g}, would be lost in rounding; "
                      "take a shift below {:.3g}",
                      shift_, std::ldexp(norm, A_.facts().exponent),
                      std::ldexp(norm / std::numeric_limits<S>::epsilon(), A_.facts().exponent)));
}

template <class S>
double ShiftedOperator<S>::scaled_shift() const {
  return std::ldexp(static_cast<double>(shift_), -A_.facts().exponent);
}

template class CallbackOperator<float>;
template class CallbackOperator<double>;
template class SumOperator<float>;
template class SumOperator<double>;
template class ShiftedOperator<float>;
template class ShiftedOperator<double>;

}  // namespace hearsay
