// What the ways to components share: a rank that is a rule, solves that spend whole passes, and what is said of a
// result.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/column_moments.hpp"
#include "hearsay/solve.hpp"
#include "linalg/decompositions.hpp"
#include "solve/seconds.hpp"

namespace hearsay::detail {

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

// ---- By batches

inline void require_fit_for_batches(const Request& request, Index batch) {
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

inline Index rank_by_minka(const Vector<double>& values, double weight, std::string& note) {
  const Index d = values.size();
  require(weight >= static_cast<double>(d),
          fmt::format("rank = mle: needs at least as many samples as features; there are {:g}, and {}", weight, d));
  const Index rank = minka_rank(values, weight);
  note = fmt::format("rank: Minka's criterion finds {} components among {} features", rank, d);
  return rank;
}

template <class S>
Index rank_by_minka(OperatorRef<S> A, double weight, std::string& note) {
  const Index d = A.dim();
  require(weight >= static_cast<double>(d),
          fmt::format("rank = mle: needs at least as many samples as features; there are {:g}, and {}", weight, d));
  return rank_by_minka(detail::symmetric_eigenvalues(matrix_of<S>(A)).reverse(), weight, note);
}

inline std::string share_text(Index rank, double explained, double total, double share) {
  return fmt::format("rank: {} components explain {:.4g} % of the variance; {:g} % were asked for", rank,
                     total > 0 ? 100 * explained / total : 0.0, 100 * share);
}

// From all there are, descending.
inline Index rank_by_share(const Vector<double>& variances, double total, double share, std::string& note) {
  double explained = 0;
  Index enough = 0;
  while (enough < variances.size() && !(explained > share * total)) explained += std::max(0.0, variances(enough++));
  enough = std::max<Index>(1, enough);
  note = share_text(enough, explained, total, share);
  return enough;
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
    note = share_text(enough, explained, total, share);
    if (!request.start) next.start = Block<double>(search.start->leftCols(enough));
    return enough;
  }
}

// The request with a number for its rank. `rank_at_once` may know a way to it that is shorter than solves.
template <class S, class Solve, class Covariance, class AtOnce>
PcaSolution<S> with_rank(const Request& request, Index limit, const Solve& solve_with, const Covariance& covariance_of,
                         const AtOnce& rank_at_once) {
  if (request.settings.rank_rule.kind == RankRule::Kind::count) return solve_with(request);
  const auto begin = std::chrono::steady_clock::now();
  std::string note;
  Request counted = request;
  counted.settings.rank_rule = {};
  if (const std::optional<Index> rank = rank_at_once(note))
    counted.settings.power.rank = *rank;
  else
    counted.settings.power.rank = request.settings.rank_rule.kind == RankRule::Kind::mle
                                      ? covariance_of(note)
                                      : rank_by_share(request, limit, solve_with, counted, note);
  const double set_up = detail::seconds_since(begin);
  PcaSolution<S> solution = solve_with(counted);
  solution.pca.power.notes.insert(solution.pca.power.notes.begin(), note);
  solution.seconds += set_up;
  return solution;
}

template <class S, class Solve, class Covariance>
PcaSolution<S> with_rank(const Request& request, Index limit, const Solve& solve_with,
                         const Covariance& covariance_of) {
  return with_rank<S>(request, limit, solve_with, covariance_of, [](std::string&) { return std::optional<Index>{}; });
}

// ---- What is said of it

inline std::string em_text(const MissingFacts& facts) {
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

}  // namespace hearsay::detail
