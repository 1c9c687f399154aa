#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/minibatch.hpp"
#include "hearsay/solve.hpp"
#include "linalg/decompositions.hpp"
#include "solve/on_engines.hpp"
#include "solve/pca_parts.hpp"
#include "solve/prepared.hpp"
#include "solve/rounded.hpp"
#include "solver/direct_pca.hpp"
#include "solver/em.hpp"

namespace hearsay {

using detail::add_treatment_notes;
using detail::ByPasses;
using detail::clear_constant;
using detail::described;
using detail::DirectPca;
using detail::observer_in;
using detail::Prepared;
using detail::rank_by_minka;
using detail::rank_by_share;
using detail::require_fit_for_batches;
using detail::take_treatment;
using detail::with_rank;

namespace {

// Rows that drop_rows leaves out have no weight by now: what is missing in them is not looked at.
CovarianceOptions covariance_settings(const PcaSettings& settings, bool form_at_once) {
  return {.center = settings.center,
          .form_at_once = form_at_once,
          .standardize = settings.standardize,
          .missing_as_mean = settings.missing != Missing::refuse,
          .weights = settings.weights,
          .column_names = settings.column_names};
}

template <class S>
DenseCovariance<S> covariance(const BorrowedBlock<S>& data, const PcaSettings& settings, bool form_at_once = true) {
  return DenseCovariance<S>(data, covariance_settings(settings, form_at_once));
}
template <class S>
SparseCovariance<S> covariance(const CsrView<S>& data, const PcaSettings& settings, bool form_at_once = true) {
  return SparseCovariance<S>(data, covariance_settings(settings, form_at_once));
}

template <class S>
MinibatchCovariance<S> in_batches(const BorrowedBlock<S>& data, const MinibatchOptions& options) {
  return MinibatchCovariance<S>(data, options);
}
template <class S>
SparseMinibatchCovariance<S> in_batches(const CsrView<S>& data, const MinibatchOptions& options) {
  return SparseMinibatchCovariance<S>(data, options);
}

template <class S>
Index samples(const BorrowedBlock<S>& data) {
  return data.rows();
}
template <class S>
Index samples(const CsrView<S>& data) {
  return data.rows;
}
template <class S>
Index features(const BorrowedBlock<S>& data) {
  return data.cols();
}
template <class S>
Index features(const CsrView<S>& data) {
  return data.cols;
}

PcaSolution<double> in_double(PcaSolution<float> solution) {
  PcaResult<float>& pca = solution.pca;
  return {.pca = {.power = in_arithmetic<double>(std::move(pca.power)),
                  .mean = pca.mean.cast<double>(),
                  .singular_values = pca.singular_values.cast<double>(),
                  .total_variance = pca.total_variance,
                  .samples = pca.samples,
                  .centred = pca.centred,
                  .by_samples = pca.by_samples,
                  .formed = pca.formed,
                  .scale = pca.scale.cast<double>(),
                  .constant = std::move(pca.constant),
                  .weight = pca.weight,
                  .missing = pca.missing},
          .audit = std::move(solution.audit),
          .seconds = solution.seconds};
}

// Products in single precision first, then in double.
template <class Data>
PcaSolution<double> in_both(const Data& data, const Request& request, const PcaSettings& settings) {
  require(!settings.wished_accuracy, "precision = mixed: takes no wished accuracy; ask for an `accuracy`");
  const auto begin = std::chrono::steady_clock::now();
  const auto A = covariance<double>(data, settings, false);  // one product may do
  const auto single = detail::rounded(data);
  const auto A_single = covariance<float>(borrow(single), settings);
  const double set_up = detail::seconds_since(begin);
  PcaSolution<double> solution = described<double>(solve_mixed(A_single, A, request), A, samples(data));
  solution.seconds += set_up;
  solution.pca.total_variance = std::ldexp(A.total_variance(), A.facts().exponent - solution.pca.power.exponent);
  if constexpr (requires { A.formed(); }) solution.pca.formed = A.formed();
  take_treatment(A, solution.pca);
  return solution;
}

// ---- By batches

template <class S, class Data>
PcaSolution<S> by_batches(const Data& data, const Request& request, const PcaSettings& settings) {
  require_fit_for_batches(request, *settings.batch);
  const auto begin = std::chrono::steady_clock::now();
  const auto A = in_batches<S>(data, {.center = settings.center,
                                      .batch = *settings.batch,
                                      .seed = request.settings.noise_seed,
                                      .standardize = settings.standardize,
                                      .missing_as_mean = settings.missing != Missing::refuse,
                                      .weights = settings.weights,
                                      .column_names = settings.column_names});
  const double set_up = detail::seconds_since(begin);
  Solution<S> solved = ByPasses(request, A).template solution<S>();
  const auto& whole = A.of_all_rows();
  PcaSolution<S> solution = described<S>(std::move(solved), whole, samples(data));
  solution.seconds += set_up;
  PowerResult<S>& power = solution.pca.power;
  const auto parts = static_cast<std::uint64_t>(A.batches_per_pass());
  power.passes = static_cast<Index>((A.position() + parts - 1) / parts) + whole.facts().extra_passes;
  solution.pca.total_variance = std::ldexp(whole.total_variance(), whole.facts().exponent - power.exponent);
  take_treatment(whole, solution.pca);
  return solution;
}

// ---- In one precision

template <class S>
PcaOptions<S> options_of(const PowerOptions& power, const PcaSettings& settings, NoiseModel<S> noise = {}) {
  return {.power = power,
          .center = settings.center,
          .noise = std::move(noise),
          .wished_accuracy = settings.wished_accuracy,
          .standardize = settings.standardize,
          .missing_as_mean = settings.missing != Missing::refuse,
          .weights = settings.weights,
          .column_names = settings.column_names};
}

// `formed` where the matrix was formed before, to find the rank.
template <class S, class Data>
PcaSolution<S> in_one(const Data& data, const Request& request, const PcaSettings& settings,
                      const DirectPca<S>* formed = nullptr) {
  if (settings.batch) return by_batches<S>(data, request, settings);
  Prepared<S> prepared(request, features(data),
                       [&] { return find_spectrum<S>(covariance<S>(data, settings), request.settings.power); });
  PcaSolution<S> solution;
  Solution<S> solved = prepared.time([&] {
    const PcaOptions<S> options = options_of<S>(prepared.options(), settings, prepared.noise());
    solution.pca = formed != nullptr ? detail::pca_of<S>(*formed, options, prepared.hooks())
                                     : pca<S>(data, options, prepared.hooks());
    return std::move(solution.pca.power);
  });
  solution.pca.power = std::move(solved.power);
  solution.audit = std::move(solved.audit);
  solution.seconds = solved.seconds;
  return solution;
}

template <class S, class Data>
PcaSolution<S> in_precision(const Data& data, const Request& request, const PcaSettings& settings,
                            const DirectPca<S>* formed = nullptr) {
  if constexpr (requires { data.outerStride(); }) {
    if (request.engines != nullptr) return detail::solve_pca_on<S, S>(data, request, settings);
  }
  detail::require_no_engines(request, "sparse data");
  if constexpr (std::is_same_v<S, double>) {
    if (request.settings.precision == Precision::mixed && !settings.batch) return in_both(data, request, settings);
    if (request.settings.precision == Precision::single)
      return in_double(in_one<float>(borrow(detail::rounded(data)), request, settings));
  }
  require(request.settings.precision != Precision::mixed || settings.batch,
          "precision = mixed: needs data in double precision");
  return in_one<S>(data, request, settings, formed);
}

// ---- A rank from all variances

// Of rows whose variances are all found directly, in the precision of the data; for the solve that follows they are
// kept.
template <class S>
std::optional<Index> rank_at_once(const BorrowedBlock<S>& data, const Request& request, const PcaSettings& settings,
                                  std::optional<DirectPca<S>>& formed, std::string& note) {
  SolveSettings asked = request.settings;
  asked.rank_rule = {};
  asked.power.rank = 1;
  settle(asked);
  const bool whole = !asked.optimal_momentum && !request.audit && request.checkpoints == nullptr && !request.start &&
                     !request.reference && !settings.batch && request.engines == nullptr;
  if (!whole || asked.precision == Precision::mixed ||
      (sizeof(S) > sizeof(float) && asked.precision == Precision::single))
    return std::nullopt;
  Hooks<S> hooks;
  hooks.observe = observer_in<S>(request);
  hooks.observe_steps = request.observe_steps;
  const PcaOptions<S> options = options_of<S>(asked.power, settings);
  const bool by_minka = request.settings.rank_rule.kind == RankRule::Kind::mle;
  if (by_minka && (data.rows() < data.cols() || data.cols() > largest_mle_dimension)) return std::nullopt;
  if (!DirectPca<S>::finds_all_variances(data, options, hooks)) return std::nullopt;
  if (auto made = DirectPca<S>::of(data, options)) formed.emplace(*std::move(made));
  if (!formed) return std::nullopt;
  const Index rank =
      by_minka ? rank_by_minka(formed->variances(), static_cast<double>(data.rows()), note)
               : rank_by_share(formed->variances(), formed->total_variance(), request.settings.rank_rule.share, note);
  if (data.rows() < data.cols() && rank >= data.rows()) formed.reset();  // that needs a basis beyond the rows
  return rank;
}

template <class S>
std::optional<Index> rank_at_once(const CsrView<S>&, const Request&, const PcaSettings&, std::optional<DirectPca<S>>&,
                                  std::string&) {
  return std::nullopt;
}

// ---- What is missing

template <class S>
bool row_has_missing(const BorrowedBlock<S>& data, Index i) {
  return data.row(i).hasNaN();
}
template <class S>
bool row_has_missing(const CsrView<S>& data, Index i) {
  const auto row = data.values.subspan(static_cast<std::size_t>(data.row_start[i]),
                                       static_cast<std::size_t>(data.row_start[i + 1] - data.row_start[i]));
  return std::any_of(row.begin(), row.end(), [](S value) { return std::isnan(value); });
}

// Rows that are left out have the weight zero, so that nothing is copied.
template <class Data>
Index drop_rows(const Data& data, const PcaSettings& settings, std::vector<double>& weights) {
  require_weights(settings.weights, samples(data));
  weights.assign(settings.weights.begin(), settings.weights.end());
  if (weights.empty()) weights.assign(static_cast<std::size_t>(samples(data)), 1.0);
  Index dropped = 0;
  for (Index i = 0; i < samples(data); ++i) {
    if (!row_has_missing(data, i)) continue;
    weights[static_cast<std::size_t>(i)] = 0;
    ++dropped;
  }
  const Index left = samples(data) - dropped;
  if (dropped > 0 && left < (settings.center ? 2 : 1))
    throw DataError(fmt::format("missing = drop-rows: {} of {} rows have a missing entry, and {} are left", dropped,
                                samples(data), left));
  return dropped;
}

// What EM does not settle, no residual of the matrix it filled in settles either.
template <class S>
PcaSolution<S> by_em(const BorrowedBlock<S>& data, const Request& request, const PcaSettings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  SolveSettings settled = request.settings;
  settle(settled);
  const PcaOptions<S> options{.power = settled.power,
                              .center = settings.center,
                              .standardize = settings.standardize,
                              .weights = settings.weights,
                              .column_names = settings.column_names};
  Hooks<S> hooks;
  hooks.observe = observer_in<S>(request);
  hooks.observe_basis = request.observe_basis;
  hooks.observe_steps = request.observe_steps;
  detail::EmFilled<S> filled = detail::fill_by_em<S>(data, options, {}, hooks);
  const double set_up = detail::seconds_since(begin);
  PcaSettings complete = settings;
  complete.missing = Missing::refuse;
  PcaSolution<S> solution = in_precision<S>(filled.data.size() > 0 ? borrow(filled.data) : data, request, complete);
  solution.seconds += set_up;
  solution.pca.missing = filled.facts;
  if (!filled.facts.settled && solution.pca.power.status == Status::converged)
    solution.pca.power.status = Status::iteration_limit;
  return solution;
}

template <class S>
PcaSolution<S> by_em(const CsrView<S>& data, const Request& request, const PcaSettings& settings) {
  for (Index i = 0; i < data.rows; ++i)
    require(!row_has_missing(data, i),
            "missing = em: fills entries in, and needs data that are stored in full; use `missing` mean or drop-rows");
  PcaSettings complete = settings;
  complete.missing = Missing::refuse;
  return in_precision<S>(data, request, complete);
}

template <class S, class Data>
PcaSolution<S> treated(const Data& data, const Request& request, const PcaSettings& asked) {
  check(request, asked);
  PcaSettings settings = asked;
  std::vector<double> weights;
  Index dropped = 0;
  if (asked.missing == Missing::drop_rows) {
    dropped = drop_rows(data, asked, weights);
    if (dropped > 0) settings.weights = weights;
    if (dropped == 0) settings.missing = Missing::refuse;
  }
  std::optional<DirectPca<S>> formed;
  const auto solve_with = [&](const Request& with) {
    return settings.missing == Missing::em ? by_em<S>(data, with, settings)
                                           : in_precision<S>(data, with, settings, formed ? &*formed : nullptr);
  };
  const auto rank_by_products = [&](std::string& note) {
    const auto A = covariance<S>(data, settings, false);
    const double weight = A.moments().columns() > 0 ? A.moments().total_weight : static_cast<double>(samples(data));
    return rank_by_minka<S>(A, weight, note);
  };
  PcaSolution<S> solution =
      with_rank<S>(request, std::min(samples(data), features(data)), solve_with, rank_by_products,
                   [&](std::string& note) { return rank_at_once<S>(data, request, settings, formed, note); });
  solution.pca.centred = asked.center;
  solution.pca.missing.policy = asked.missing;
  solution.pca.missing.dropped = dropped;
  clear_constant(solution.pca);
  add_treatment_notes(solution.pca, asked);
  return solution;
}

}  // namespace

void check(const Request& request, const PcaSettings& settings) {
  check(request);
  if (request.engines != nullptr) detail::require_fit_for_engines(settings);
  const bool noisy = request.noise.has_value() || request.settings.noise.kind != NoiseChoice::Kind::none;
  const RankRule::Kind rule = request.settings.rank_rule.kind;
  const bool counted = rule == RankRule::Kind::count;
  const std::string rank = rule == RankRule::Kind::mle ? "mle" : fmt::format("{:g}", request.settings.rank_rule.share);
  require(counted || !settings.batch,
          fmt::format("rank = {}: needs all rows in every product; leave `batch` out", rank));
  require(counted || !noisy, fmt::format("rank = {}: needs exact products; leave `noise` out", rank));
  if (settings.missing != Missing::em) return;
  require(
      counted,
      fmt::format("rank = {}: must be a number where `missing` is em, which fills in from so many components", rank));
  require(!settings.batch, "missing = em: needs all rows in every product; leave `batch` out");
  require(!noisy, "missing = em: needs exact products; leave `noise` out");
}

template <class S>
PcaSolution<S> solve_pca(const BorrowedBlock<S>& data, const Request& request, const PcaSettings& settings) {
  return treated<S>(data, request, settings);
}

template <class S>
PcaSolution<S> solve_pca(const CsrView<S>& data, const Request& request, const PcaSettings& settings) {
  return treated<S>(data, request, settings);
}

#define HEARSAY_INSTANTIATE(S)                                                                       \
  template PcaSolution<S> solve_pca<S>(const BorrowedBlock<S>&, const Request&, const PcaSettings&); \
  template PcaSolution<S> solve_pca<S>(const CsrView<S>&, const Request&, const PcaSettings&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
