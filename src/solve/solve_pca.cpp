#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/minibatch.hpp"
#include "hearsay/solve.hpp"
#include "linalg/decompositions.hpp"
#include "solve/prepared.hpp"
#include "solve/rounded.hpp"
#include "solve/treated_rows.hpp"
#include "solver/em.hpp"

namespace hearsay {

using detail::Prepared;

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

// A covariance that was solved without pca(), and what the data say beside it.
template <class S, class Covariance>
PcaSolution<S> described(Solution<S> solved, const Covariance& A, Index sample_count) {
  PcaSolution<S> solution{.audit = std::move(solved.audit), .seconds = solved.seconds};
  PcaResult<S>& result = solution.pca;
  result.samples = sample_count;
  result.weight = static_cast<double>(sample_count);
  result.mean = A.mean();
  result.singular_values = (solved.power.eigenvalues.cwiseMax(S(0)) * static_cast<S>(A.divisor())).cwiseSqrt();
  result.total_variance = std::nan("");
  result.power = std::move(solved.power);
  return solution;
}

// What a covariance of samples, or a first reading of them, knows of their columns and rows.
template <class S, class Source>
void take_treatment(const Source& A, PcaResult<S>& result) {
  const ColumnMoments& moments = A.moments();
  if (moments.columns() == 0) return;
  result.mean = A.columns().mean.template cast<S>();
  result.scale = A.columns().scale.template cast<S>();
  result.constant = A.columns().constant;
  result.samples = moments.rows;
  result.weight = moments.total_weight;
  result.missing.entries = moments.missing;
  result.missing.rows = moments.rows_missing;
  result.missing.empty_rows = moments.rows_empty;
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

void require_fit_for_batches(const Request& request, Index batch) {
  const SolveSettings& asked = request.settings;
  const auto refuse = [batch](bool wrong, std::string_view what) {
    require(!wrong, fmt::format("batch = {}: {}", batch, what));
  };
  refuse(asked.precision == Precision::mixed, "takes no `precision` mixed, whose end needs exact products");
  for (const SolveMethod method : {SolveMethod::krylov, SolveMethod::direct})
    refuse(asked.power.method == method, fmt::format("makes noisy products; leave `method` {} out", name(method)));
  refuse(asked.optimal_momentum, "takes no `momentum` optimal, which needs exact products first");
  refuse(request.audit.has_value(), "takes no `audit`, which needs exact products first");
  refuse(asked.noise.kind == NoiseChoice::Kind::adversarial,
         "takes no `noise` adversarial, which needs exact products");
  refuse(batch <= asked.power.rank, fmt::format("must be above the `rank`, {}: fewer rows cannot tell so many "
                                                "components apart",
                                                asked.power.rank));
}

// A solve whose products see parts of the rows spends a pass, or what it is given, to the end: the averages of whole
// passes are the best. The answer is measured on the last batch.
template <class Covariance>
class ByPasses {
 public:
  ByPasses(const Request& asked, const Covariance& A) : asked_(asked), A_(A), request_(asked) {
    PowerOptions& power = request_.settings.power;
    limited_ = !power.product_budget && !power.max_iterations;
    if (!power.product_budget) power.product_budget = std::numeric_limits<Index>::max() / 4;
    request_.observe = [this](const Iteration<double>& now) { return goes_on(asked_.observe, now); };
    request_.observe_single = [this](const Iteration<float>& now) { return goes_on(asked_.observe_single, now); };
  }
  ByPasses(const ByPasses&) = delete;  // the request points into it
  ByPasses& operator=(const ByPasses&) = delete;

  template <class S>
  Solution<S> solution() {
    Solution<S> solved = solve<S>(A_, request_);
    if (ended_) solved.power.status = solved.power.bar.exists() ? Status::noise_floor : Status::iteration_limit;
    return solved;
  }

 private:
  template <class Observe, class Iteration>
  bool goes_on(const Observe& observe, const Iteration& now) {
    if (observe && !observe(now)) return A_.hold(), false;
    if (!limited_ || A_.passes() < batch_passes) return true;
    A_.hold();
    ended_ = true;
    return false;
  }

  const Request& asked_;
  const Covariance& A_;
  Request request_;
  bool limited_ = false, ended_ = false;
};

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

template <class S, class Data>
PcaSolution<S> in_one(const Data& data, const Request& request, const PcaSettings& settings) {
  if (settings.batch) return by_batches<S>(data, request, settings);
  Prepared<S> prepared(request, features(data),
                       [&] { return find_spectrum<S>(covariance<S>(data, settings), request.settings.power); });
  PcaSolution<S> solution;
  Solution<S> solved = prepared.time([&] {
    const PcaOptions<S> options{.power = prepared.options(),
                                .center = settings.center,
                                .noise = prepared.noise(),
                                .wished_accuracy = settings.wished_accuracy,
                                .standardize = settings.standardize,
                                .missing_as_mean = settings.missing != Missing::refuse,
                                .weights = settings.weights,
                                .column_names = settings.column_names};
    solution.pca = pca<S>(data, options, prepared.hooks());
    return std::move(solution.pca.power);
  });
  solution.pca.power = std::move(solved.power);
  solution.audit = std::move(solved.audit);
  solution.seconds = solved.seconds;
  return solution;
}

template <class S, class Data>
PcaSolution<S> in_precision(const Data& data, const Request& request, const PcaSettings& settings) {
  if constexpr (std::is_same_v<S, double>) {
    if (request.settings.precision == Precision::mixed && !settings.batch) return in_both(data, request, settings);
    if (request.settings.precision == Precision::single)
      return in_double(in_one<float>(borrow(detail::rounded(data)), request, settings));
  }
  require(request.settings.precision != Precision::mixed || settings.batch,
          "precision = mixed: needs data in double precision");
  return in_one<S>(data, request, settings);
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

template <class S>
const auto& observer_in(const Request& request) {
  if constexpr (std::is_same_v<S, double>)
    return request.observe;
  else
    return request.observe_single;
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

// ---- How many components

template <class S>
Small<double> matrix_of(OperatorRef<S> A) {
  const Index d = A.dim();
  require(d <= largest_mle_dimension,
          fmt::format("rank = mle: needs all the eigenvalues, which are found up to {} features; there are {}",
                      largest_mle_dimension, d));
  require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d), 4 * sizeof(double), "rank = mle");
  const Block<S> identity = Block<S>::Identity(d, d);
  Block<S> product(d, d);
  A.apply(identity, product);
  return product.template cast<double>();
}

template <class S>
Index rank_by_minka(OperatorRef<S> A, double weight, std::string& note) {
  const Index d = A.dim();
  require(weight >= static_cast<double>(d),
          fmt::format("rank = mle: needs at least as many samples as features; there are {:g}, and {}", weight, d));
  const Vector<double> values = detail::symmetric_eigenvalues(matrix_of<S>(A)).reverse();
  const Index rank = minka_rank(values, weight);
  note = fmt::format("rank: Minka's criterion finds {} components among {} features", rank, d);
  return rank;
}

// As few as explain more than the share: solves of twice the rank each, from the last one's basis.
template <class Solve>
Index rank_by_share(const Request& request, Index limit, const Solve& solve_with, Request& next, std::string& note) {
  const double share = request.settings.rank_rule.share;
  Request search = next;
  search.settings.power.certify = Certify::residual;
  search.checkpoints = nullptr;
  search.reference.reset();
  search.audit.reset();
  for (Index rank = std::min<Index>(8, limit);; rank = std::min(limit, 2 * rank)) {
    search.settings.power.rank = rank;
    const auto solution = solve_with(search);
    const auto& power = solution.pca.power;
    const double total = solution.pca.total_variance;
    double explained = 0;
    Index enough = 0;
    while (enough < power.eigenvalues.size() && !(explained > share * total))
      explained += static_cast<double>(power.eigenvalues(enough++));
    search.start = Block<double>(power.basis.template cast<double>());
    const bool last = rank == limit || power.status == Status::stopped_by_observer;
    if (!(explained > share * total) && !last) continue;
    enough = std::max<Index>(1, enough);
    note = fmt::format("rank: {} components explain {:.4g} % of the variance; {:g} % were asked for", enough,
                       total > 0 ? 100 * explained / total : 0.0, 100 * share);
    if (!request.start) next.start = Block<double>(search.start->leftCols(enough));
    return enough;
  }
}

// The request with a number for its rank.
template <class S, class Solve, class Covariance>
PcaSolution<S> with_rank(const Request& request, Index limit, const Solve& solve_with,
                         const Covariance& covariance_of) {
  if (request.settings.rank_rule.kind == RankRule::Kind::count) return solve_with(request);
  const auto begin = std::chrono::steady_clock::now();
  std::string note;
  Request counted = request;
  counted.settings.rank_rule = {};
  counted.settings.power.rank = request.settings.rank_rule.kind == RankRule::Kind::mle
                                    ? covariance_of(note)
                                    : rank_by_share(request, limit, solve_with, counted, note);
  const double set_up = detail::seconds_since(begin);
  PcaSolution<S> solution = solve_with(counted);
  solution.pca.power.notes.insert(solution.pca.power.notes.begin(), note);
  solution.seconds += set_up;
  return solution;
}

// ---- What is said of it

std::string em_text(const MissingFacts& facts) {
  return fmt::format(
      "missing: {} entries in {} rows were filled in from the components, {} after {} rounds, the last of which "
      "changed them by {:.1e} of a standard deviation; what is certified is the matrix so filled in, not the entries",
      facts.entries, facts.rows, facts.settled ? "at rest" : "NOT yet at rest", facts.rounds, facts.change);
}

template <class S>
void add_treatment_notes(PcaResult<S>& result, const PcaSettings& settings) {
  std::vector<std::string>& notes = result.power.notes;
  const MissingFacts& missing = result.missing;
  if (!result.constant.empty())
    notes.push_back(fmt::format(
        "standardize: {} constant and left at zero: {}",
        result.constant.size() == 1 ? "one column is" : fmt::format("{} columns are", result.constant.size()),
        column_list(result.constant, settings.column_names)));
  if (missing.dropped > 0)
    notes.push_back(fmt::format("missing: {} rows were left out, {} are analysed", missing.dropped, result.samples));
  if (missing.entries > 0 && missing.policy == Missing::mean)
    notes.push_back(
        fmt::format("missing: {} entries in {} rows count as the mean of their column", missing.entries, missing.rows));
  if (missing.entries > 0 && missing.policy == Missing::em) notes.push_back(em_text(missing));
  if (missing.empty_rows > 0)
    notes.push_back(fmt::format("missing: {} rows have no entry at all, and stand at the mean", missing.empty_rows));
  if (!settings.weights.empty()) {
    const auto none = std::count(settings.weights.begin(), settings.weights.end(), 0.0);
    notes.push_back(fmt::format("row weights: they add up to {:g}{}", result.weight,
                                none > 0 ? fmt::format("; {} rows have none", none) : ""));
  }
}

// A constant feature has no part in a component that explains anything; what rounding left of it would meet a new value
// of that feature, which may be large.
template <class S>
void clear_constant(PcaResult<S>& result) {
  const S nothing = std::sqrt(std::numeric_limits<S>::epsilon());
  for (const Index j : result.constant)
    for (Index c = 0; c < result.power.basis.cols(); ++c)
      if (std::abs(result.power.basis(j, c)) < nothing) result.power.basis(j, c) = 0;
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
  const auto solve_with = [&](const Request& with) {
    return settings.missing == Missing::em ? by_em<S>(data, with, settings) : in_precision<S>(data, with, settings);
  };
  PcaSolution<S> solution =
      with_rank<S>(request, std::min(samples(data), features(data)), solve_with, [&](std::string& note) {
        const auto A = covariance<S>(data, settings, false);
        const double weight = A.moments().columns() > 0 ? A.moments().total_weight : static_cast<double>(samples(data));
        return rank_by_minka<S>(A, weight, note);
      });
  solution.pca.centred = asked.center;
  solution.pca.missing.policy = asked.missing;
  solution.pca.missing.dropped = dropped;
  clear_constant(solution.pca);
  add_treatment_notes(solution.pca, asked);
  return solution;
}

// ---- Rows that pass by

PcaSolution<double> stream_by_batches(RowSource<double>& rows, const Request& request, const PcaSettings& settings) {
  const ArrivingCovariance<double> A(rows, settings.center, *settings.batch);
  Solution<double> solved = ByPasses(request, A).template solution<double>();
  PcaSolution<double> solution = described<double>(std::move(solved), A, A.samples());
  solution.pca.power.passes = std::max<Index>(1, A.passes());
  solution.pca.total_variance = A.total_variance();
  return solution;
}

PcaSolution<double> stream_as_it_is(RowSource<double>& rows, const Request& request, const PcaSettings& settings,
                                    Index block_rows) {
  if (settings.batch) return stream_by_batches(rows, request, settings);
  const StreamedCovariance<double> A(rows, settings.center, block_rows);
  Solution<double> solved = solve<double>(A, request);  // A knows its samples after that
  return described<double>(std::move(solved), A, A.samples());
}

PcaSolution<double> stream_treated(RowSource<double>& source, const Request& request, const PcaSettings& asked,
                                   Index block_rows) {
  detail::TreatedRows rows(source, asked, block_rows);
  const PcaSettings as_it_is{.center = false, .batch = asked.batch};
  const auto solve_with = [&](const Request& with) {
    PcaSolution<double> solution = stream_as_it_is(rows, with, as_it_is, block_rows);
    take_treatment(rows, solution.pca);
    const PowerResult<double>& power = solution.pca.power;
    solution.pca.total_variance = std::ldexp(rows.total_variance(), -power.exponent);
    solution.pca.singular_values = (power.eigenvalues.cwiseMax(0.0) * rows.divisor()).cwiseSqrt();
    return solution;
  };
  PcaSolution<double> solution =
      with_rank<double>(request, std::min(rows.moments().rows, rows.cols()), solve_with, [&](std::string& note) {
        const StreamedCovariance<double> A(rows, false, block_rows);
        return rank_by_minka<double>(A, rows.moments().total_weight, note);
      });
  ++solution.pca.power.passes;
  solution.pca.centred = asked.center;
  solution.pca.missing.policy = asked.missing;
  solution.pca.missing.dropped = rows.dropped();
  clear_constant(solution.pca);
  add_treatment_notes(solution.pca, asked);
  return solution;
}

}  // namespace

void check(const Request& request, const PcaSettings& settings) {
  check(request);
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

PcaSolution<double> solve_pca(RowSource<double>& rows, const Request& request, const PcaSettings& settings,
                              Index block_rows) {
  require(request.settings.precision == Precision::full,
          "precision: rows that pass by are solved in double precision only; leave `precision` out");
  require(!settings.wished_accuracy, "wished accuracy: needs data in memory; ask for an `accuracy`");
  check(request, settings);
  require(settings.missing != Missing::em,
          "missing = em: fills entries in again and again, and needs the data in memory; leave `stream` out, or use "
          "`missing` mean or drop-rows");
  if (settings.batch) require_fit_for_batches(request, *settings.batch);
  const bool plain = !settings.standardize && settings.missing == Missing::refuse && settings.weights.empty() &&
                     request.settings.rank_rule.kind == RankRule::Kind::count;
  if (!plain) return stream_treated(rows, request, settings, block_rows);
  PcaSolution<double> solution = stream_as_it_is(rows, request, settings, block_rows);
  solution.pca.centred = settings.center;
  return solution;
}

#define HEARSAY_INSTANTIATE(S)                                                                       \
  template PcaSolution<S> solve_pca<S>(const BorrowedBlock<S>&, const Request&, const PcaSettings&); \
  template PcaSolution<S> solve_pca<S>(const CsrView<S>&, const Request&, const PcaSettings&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
