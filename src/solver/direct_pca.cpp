#include "solver/direct_pca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "hearsay/memory.hpp"
#include "hearsay/threads.hpp"
#include "linalg/small_spectrum.hpp"
#include "operators/covariance_direct.hpp"
#include "solver/costs.hpp"
#include "solver/pca_columns.hpp"
#include "solver/samples_side.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

bool by_samples(Index m, Index d) { return m < d; }

// What is left of the mean in rows that were centred, as a part of G = Phi Phi': w'G w/w'w, with w the roots of the
// weights.
double mean_left(const Block<double>& G, std::span<const double> weights) {
  Vector<double> w = Vector<double>::Ones(G.rows());
  if (!weights.empty())
    for (Index i = 0; i < w.size(); ++i) w(i) = std::sqrt(weights[static_cast<std::size_t>(i)]);
  return std::max(0.0, w.dot(G * w) / w.squaredNorm());
}

// What products of numbers whose squares are hardly there lose: each is off by the least number there is.
double lost_below_range(const Block<double>& G, double terms) {
  return G.trace() > 0 ? static_cast<double>(G.rows()) * terms * std::numeric_limits<double>::denorm_min() : 0;
}

// The matrix, its tridiagonal form, vectors: so many numbers for each of its own.
constexpr std::uint64_t numbers_held = 6;

constexpr std::uint64_t bytes_for(std::uint64_t n) { return numbers_held * n * n * sizeof(double); }

// What nothing but the direct way's own limits is asked of.
template <class S>
bool is_open(const BorrowedBlock<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  const Index m = data.rows(), d = data.cols(), k = options.power.rank;
  if (m < 1 || d < 1 || k < 1 || k > d || std::min(m, d) > tuning::largest_direct) return false;
  if (options.noise.fill || hooks.checkpoint || hooks.resume != nullptr) return false;
  if (options.power.which != Which::largest || options.power.turning.value_or(Turning::none) != Turning::none)
    return false;
  if (by_samples(m, d)) return k < m && hooks.reference == nullptr && hooks.start == nullptr;
  return !options.standardize && !options.missing_as_mean && options.weights.empty();  // rows as they are
}

template <class S>
bool may_choose(const PcaOptions<S>& options, const Hooks<S>& hooks) {
  const bool watched =
      (hooks.observe && hooks.observe_steps) || hooks.reference != nullptr;  // of which each step tells
  return leaves_the_way_open(options.power, watched || hooks.start != nullptr);
}

}  // namespace

template <class S>
bool DirectPca<S>::suits(const BorrowedBlock<S>& data, const PcaOptions<S>& options, const Hooks<S>& hooks) {
  if (!is_open<S>(data, options, hooks)) return false;
  if (options.power.method) return options.power.method == SolveMethod::direct;
  if (!may_choose<S>(options, hooks)) return false;
  const Index m = data.rows(), d = data.cols(), k = options.power.rank;
  const double digits = digits_of<S>(options.power);
  constexpr bool single = sizeof(S) < sizeof(double);
  if (by_samples(m, d)) return eigenvalues_are_cheap(m, k, digits, single);
  return covariance_goes_directly({.rows = m, .columns = d, .wanted = k, .single = single, .digits = digits});
}

template <class S>
bool DirectPca<S>::settles(const PowerResult<S>& found, const BorrowedBlock<S>& data, const PcaOptions<S>& options,
                           const Hooks<S>& hooks) {
  const bool gave_up = found.status == Status::rounding_floor || found.status == Status::ambiguous;
  const auto n = static_cast<std::uint64_t>(std::min(data.rows(), data.cols()));
  return sizeof(S) < sizeof(double) && gave_up && !options.power.method && !options.power.accuracy &&
         is_open<S>(data, options, hooks) && may_choose<S>(options, hooks) && n <= largest_with_all_eigenvalues &&
         memory_in_use() + bytes_for(n) <= memory_limit();  // else what was found stands
}

template <class S>
bool DirectPca<S>::finds_all_variances(const BorrowedBlock<S>& data, const PcaOptions<S>& options,
                                       const Hooks<S>& hooks) {
  if (!is_open<S>(data, options, hooks)) return false;
  if (options.power.method) return options.power.method == SolveMethod::direct;
  return may_choose<S>(options, hooks) && std::min(data.rows(), data.cols()) <= largest_with_all_eigenvalues;
}

template <class S>
std::optional<DirectPca<S>> DirectPca<S>::of(const BorrowedBlock<S>& data, const PcaOptions<S>& options) {
  const auto n = static_cast<std::uint64_t>(std::min(data.rows(), data.cols()));
  require_memory(n * n, numbers_held * sizeof(double), "method = direct");
  DirectPca made(data);
  if (by_samples(data.rows(), data.cols())) {
    CovarianceOptions covariance = covariance_options<S>(options);
    covariance.form_at_once = false;  // one product is made of it
    made.features_ = std::make_unique<const DenseCovariance<S>>(data, covariance);
    const DenseCovariance<S>& A = *made.features_;
    made.matrix_ = {.matrix = A.samples_matrix(), .facts = A.facts(), .passes = 1};
    const auto terms = static_cast<double>(data.cols() + 4);
    const double unit = 0.5 * std::numeric_limits<double>::epsilon();
    const double of_rows = sizeof(S) < sizeof(double) ? std::numeric_limits<S>::epsilon() : 0;  // as they were prepared
    made.matrix_.rounding = (unit * terms + of_rows) * made.matrix_.matrix.trace();
    if (options.center) made.matrix_.rounding += mean_left(made.matrix_.matrix, options.weights);
    made.divisor_ = A.divisor();
    made.matrix_.rounding += lost_below_range(made.matrix_.matrix, terms);
    if (!made.matrix_.matrix.allFinite()) return std::nullopt;
    return made;
  }
  std::optional<FormedCovariance> formed = form_covariance<S>(data, options.center);
  if (!formed) return std::nullopt;
  made.matrix_ = {.matrix = std::move(formed->matrix),
                  .rounding = formed->rounding,
                  .facts = {.positive_semidefinite = true, .exact = true},
                  .passes = formed->passes};
  made.matrix_.rounding += lost_below_range(made.matrix_.matrix, static_cast<double>(data.rows()));
  made.mean_ = std::move(formed->mean);
  made.divisor_ = formed->divisor;
  return made;
}

template <class S>
const Vector<double>& DirectPca<S>::variances() {
  if (!matrix_.spectrum) matrix_.spectrum = spectrum_of(matrix_.matrix);
  return matrix_.spectrum->values();
}

template <class S>
PcaResult<S> DirectPca<S>::components(const PcaOptions<S>& options, const Hooks<S>& hooks) const {
  PcaResult<S> result;
  result.centred = options.center;
  result.formed = true;
  result.by_samples = features_ != nullptr;
  result.power = direct_solve<S>(matrix_, options.power, hooks);
  if (features_) {
    result.power = on_features_side<S>(std::move(result.power), *features_, *features_, options.power, hooks);
    take_columns<S>(*features_, data_.rows(), result);
  } else {
    result.mean = mean_.template cast<S>();
    result.samples = data_.rows();
    result.weight = static_cast<double>(data_.rows());
  }
  result.singular_values = singular_values<S>(result.power, divisor_);
  result.total_variance = std::ldexp(total_variance(), matrix_.total_exponent() - result.power.exponent);
  return result;
}

template class DirectPca<float>;
template class DirectPca<double>;

}  // namespace hearsay::detail
