// Legend   d, k  dimension, rank | theta  all eigenvalues, descending | V  the eigenvectors wanted
// What is said of the result rests on backward stability: the eigenvalues are those of a matrix that differs from the
// one formed by u d ||A||_F at most, and that one from A by what forming it rounded. Both count as rounding.
#include "solver/direct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/threads.hpp"
#include "linalg/small_spectrum.hpp"
#include "solver/certificate.hpp"
#include "solver/choices.hpp"
#include "solver/ends.hpp"
#include "solver/extract.hpp"
#include "solver/outcome.hpp"
#include "solver/scale.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

void require_directly(const PowerOptions& options, Index d, Index products) {
  require_sound(options, d);
  require(d <= tuning::largest_direct,
          fmt::format("method = direct: finds all eigenvalues of a matrix of dimension up to {}, and this one has {}; "
                      "leave `method` out, or use krylov",
                      tuning::largest_direct, d));
  require(iteration_limit(options) >= 1, "max_iterations = 0: method direct takes one");
  require(options.product_budget.value_or(products) >= products,
          fmt::format("products = {}: method direct multiplies {} columns, as many as the dimension",
                      options.product_budget.value_or(products), products));
}

template <class S>
class Direct {
 public:
  Direct(const FormedMatrix& A, const PowerOptions& options, const Hooks<S>& hooks)
      : A_(A),
        options_(options),
        hooks_(hooks),
        goal_{.tolerance = tolerance_of<S>(options), .sine = options.accuracy.value_or(0)},
        d_(A.matrix.rows()),
        k_(options.rank),
        frobenius_(A.matrix.norm()),
        rounding_(A.rounding + 0.5 * std::numeric_limits<double>::epsilon() * static_cast<double>(d_ + 1) * frobenius_),
        ends_(options.which, k_, d_) {
    if (!A.spectrum) own_ = spectrum_of(A.matrix);
  }

  PowerResult<S> run() {
    find_vectors();
    const Vector<double> wanted = ends_.wanted(spectrum().values());
    const double norm = spectrum().values().cwiseAbs().maxCoeff();
    const double residual = relative_residual(wanted, residual_scale(A_.facts, A_.exponent, norm), absolute_residual_);
    const double sine = std::min(1.0, ends_.sine() + rounded_basis_);
    const auto [last, next] = ends_.cut();
    HistoryEntry entry{.t = 1,
                       .residual = residual,
                       .theta_1 = spectrum().values()(0),
                       .theta_k = last,
                       .theta_next = next,
                       .sin_theta_estimate = sine};
    if (hooks_.reference != nullptr) entry.sin_theta = static_cast<double>(sin_theta<S>(*hooks_.reference, V_));
    Status status = sine >= resolved_sine       ? Status::ambiguous
                    : goal_.met(residual, sine) ? Status::converged
                                                : Status::rounding_floor;
    if (hooks_.observe && !observe(entry)) status = Status::stopped_by_observer;
    return result(status, entry, wanted, norm);
  }

 private:
  const SmallSpectrum<double>& spectrum() const { return own_ ? *own_ : *A_.spectrum; }

  // The vectors in double precision, and as they are returned; of both what is left of A V - V Theta.
  void find_vectors() {
    const OneThread alone(static_cast<double>(d_) * static_cast<double>(d_) * static_cast<double>(d_ + k_) <
                          tuning::small_solve);
    SpaceSeen seen{.theta = spectrum().values(),
                   .residuals = Vector<double>::Zero(d_),
                   .rounding = rounding_,
                   .norm = spectrum().values().cwiseAbs().maxCoeff(),
                   .kept = d_};
    ends_.look(seen);  // how many are wanted at each end
    const Index low = ends_.wanted_low(), high = k_ - low;
    Block<double> V(d_, k_);
    V << spectrum().vectors(0, high), spectrum().vectors(d_ - low, low);
    const Vector<double> residuals = residuals_of(V);
    seen.residuals.head(high) = residuals.head(high);
    seen.residuals.tail(low) = residuals.tail(low);
    ends_.look(seen);
    for (End& end : ends_.all()) end.proof = exactly(end);
    V_ = V.template cast<S>();
    absolute_residual_ = residuals.norm();
    if constexpr (sizeof(S) < sizeof(double)) {
      const Block<double> rounded = V_.template cast<double>();
      if (k_ < d_) rounded_basis_ = (rounded - V).norm();
      absolute_residual_ = residuals_of(rounded).norm();
    }
  }

  Vector<double> residuals_of(const Block<double>& V) const {
    Block<double> R(d_, k_);
    multiply<double>(borrow(A_.matrix), V, R);
    R.noalias() -= V * ends_.wanted(spectrum().values()).asDiagonal();
    return R.colwise().norm().transpose();
  }

  // All eigenvalues are known, to rounding.
  Statement exactly(const End& end) const {
    const Vector<double>& theta = end.pairs.theta;
    if (end.k == d_) return {.count = d_, .above = theta(d_ - 1) - rounding_, .probability = 0};
    return {.count = end.k, .above = theta(end.k) + rounding_, .probability = 0};
  }

  bool observe(const HistoryEntry& entry) {
    const HistoryEntry told = unscaled(entry, A_.total_exponent());
    return hooks_.observe({.entry = told, .X = V_, .basis = V_, .shift = 0, .cooling = false});
  }

  Certificate certificate(bool ambiguous) const {
    Certificate made = ends_.certificate({.rounding = rounding_,
                                          .rounding_expected = rounding_,
                                          .k = k_,
                                          .d = d_,
                                          .all = true,
                                          .estimate = ends_.sine(),
                                          .frobenius = frobenius_},
                                         options_.certify, ambiguous);
    if (options_.certify == Certify::none) return made;
    made.residual = absolute_residual_;
    made.sin_theta_bound += rounded_basis_;
    made.sin_theta_estimate = std::min(1.0, made.sin_theta_estimate + rounded_basis_);
    made.assumptions = {
        "the matrix was formed and all its eigenvalues found, to rounding: by u n of the sums that form it, n their "
        "terms, and u d ||A||_F in finding them"};
    return made;
  }

  PowerResult<S> result(Status status, const HistoryEntry& entry, const Vector<double>& wanted, double norm) {
    const Certificate made = certificate(status == Status::ambiguous);
    const Index rotated = 2 * d_ * d_;  // about as many cosines and sines
    PowerResult<S> out = result_of<S>({.status = status,
                                       .method = SolveMethod::direct,
                                       .basis = std::move(V_),
                                       .theta = wanted.template cast<S>(),
                                       .residual = entry.residual,
                                       .theta_next = entry.theta_next,
                                       .iterations = 1,
                                       .columns = k_,
                                       .products = A_.products,
                                       .passes = A_.passes,
                                       .workspace_numbers = 3 * d_ * d_ + rotated,
                                       .exponent = A_.total_exponent()},
                                      A_.facts, {entry});
    out.sin_theta_estimate = entry.sin_theta_estimate;
    out.certificate = unscaled(made, A_.total_exponent() - out.exponent);
    out.norm_seen = std::ldexp(norm, A_.total_exponent() - out.exponent);
    if (ends_.both()) out.gap = std::ldexp(ends_.gap(), A_.total_exponent());
    out.block = out.basis;
    return out;
  }

  const FormedMatrix& A_;
  const PowerOptions& options_;
  const Hooks<S>& hooks_;
  const Goal goal_;
  const Index d_, k_;
  const double frobenius_, rounding_;
  Ends ends_;
  std::optional<SmallSpectrum<double>> own_;  // where nobody had it before
  Block<S> V_;
  double absolute_residual_ = 0;
  double rounded_basis_ = 0;  // by how much V_ differs from the vectors in double precision
};

// A product of an operator whose matrix is not symmetric is noisy, whatever it says.
void require_symmetric(const Block<double>& A, double epsilon, int exponent) {
  const auto d = static_cast<double>(A.rows());
  const double asymmetry = (A - A.transpose()).norm() / (std::sqrt(2.0) * d), largest = A.cwiseAbs().maxCoeff();
  if (asymmetry <= tuning::noise_above_rounding * epsilon * std::sqrt(d) * largest) return;
  throw DataError(
      fmt::format("matrix: its entries (i, j) and (j, i) differ by about {:.2g}, and `method` direct needs a symmetric "
                  "matrix and exact products; of products with errors use anpm",
                  std::ldexp(asymmetry, exponent)));
}

// A times the identity, which is handed over in pieces.
template <class S>
Block<double> formed_by_products(OperatorRef<S> A, Index& passes) {
  constexpr Index columns = 256;
  const Index d = A.dim();
  require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d), 6 * sizeof(double), "method = direct");
  Block<double> matrix(d, d);
  Block<S> identity, product;
  for (Index first = 0; first < d; first += columns) {
    const Index count = std::min(columns, d - first);
    identity = Block<S>::Zero(d, count);
    identity.middleRows(first, count).diagonal().setOnes();
    product.resize(d, count);
    A.apply(identity, product);
    matrix.middleCols(first, count) = product.template cast<double>();
    ++passes;
  }
  return matrix;
}

}  // namespace

SmallSpectrum<double> spectrum_of(const Block<double>& matrix) {
  const auto d = static_cast<double>(matrix.rows());
  const OneThread alone(d * d * d < tuning::small_solve);
  return SmallSpectrum<double>(matrix);
}

template <class S>
PowerResult<S> direct_solve(const FormedMatrix& A, const PowerOptions& options, const Hooks<S>& hooks) {
  require_directly(options, A.matrix.rows(), A.products);
  require(hooks.reference == nullptr || hooks.reference->rows() == A.matrix.rows(),
          fmt::format("reference of {} rows: must have {}, as the matrix has",
                      hooks.reference == nullptr ? 0 : hooks.reference->rows(), A.matrix.rows()));
  return Direct<S>(A, options, hooks).run();
}

template <class S>
PowerResult<S> direct_solve(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  const Index d = A.dim();
  require_directly(options, d, d);
  require(!A.facts().noisy, "method = direct: needs exact products; use anpm");
  require(!hooks.checkpoint && hooks.resume == nullptr,
          "method = direct: keeps no checkpoint; leave it out, or use anpm");
  FormedMatrix formed;
  formed.products = d;
  formed.matrix = formed_by_products<S>(A, formed.passes);
  if (!formed.matrix.allFinite())
    throw DataError("product: a product with the matrix is not finite; a value overflows or the operator is faulty");
  formed.facts = A.facts();
  formed.exponent = exponent_for<double>(formed.matrix);
  rescale<double>(formed.matrix, formed.exponent);
  require_symmetric(formed.matrix, std::numeric_limits<S>::epsilon(), formed.total_exponent());
  formed.rounding = product_rounding<S>(formed.facts, d, formed.matrix.norm(), formed.exponent);
  return direct_solve<S>(formed, options, hooks);
}

#define HEARSAY_INSTANTIATE(S)                                                                        \
  template PowerResult<S> direct_solve<S>(const FormedMatrix&, const PowerOptions&, const Hooks<S>&); \
  template PowerResult<S> direct_solve<S>(OperatorRef<S>, const PowerOptions&, const Hooks<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail
