#include "solver/em.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/operators/column_moments.hpp"
#include "solver/conditional.hpp"

namespace hearsay::detail {

namespace {

// Rows that have missing entries, and which these are.
struct Holes {
  std::vector<Index> rows = {};
  std::vector<std::size_t> start = {0};
  std::vector<std::int32_t> columns = {};

  std::span<const std::int32_t> of(std::size_t hole) const {
    return std::span(columns).subspan(start[hole], start[hole + 1] - start[hole]);
  }
};

template <class S>
Holes holes_in(const BorrowedBlock<S>& data) {
  Holes holes;
  for (Index i = 0; i < data.rows(); ++i) {
    const std::size_t before = holes.columns.size();
    for (Index j = 0; j < data.cols(); ++j)
      if (std::isnan(data(i, j))) holes.columns.push_back(static_cast<std::int32_t>(j));
    if (holes.columns.size() == before) continue;
    holes.rows.push_back(i);
    holes.start.push_back(holes.columns.size());
  }
  return holes;
}

// The root mean square change of the entries, as a share of the standard deviation of an entry.
template <class S>
double refill(const Holes& holes, const PcaResult<S>& result, Block<S>& data) {
  const Conditional<S> model(result);
  const bool scaled = result.scale.size() > 0;
  Vector<S> before(data.cols());
  double squares = 0;
  for (std::size_t hole = 0; hole < holes.rows.size(); ++hole) {
    auto row = data.row(holes.rows[hole]);
    before = row.transpose();
    model.fill(row, holes.of(hole));
    for (const auto j : holes.of(hole)) {
      const double apart = static_cast<double>(row(j)) - static_cast<double>(before(j));
      squares += std::pow(scaled ? apart / static_cast<double>(result.scale(j)) : apart, 2);
    }
  }
  const double variance =
      std::ldexp(result.total_variance, result.power.exponent) / static_cast<double>(std::max<Index>(1, data.cols()));
  const double mean_square = squares / static_cast<double>(std::max<std::size_t>(1, holes.columns.size()));
  return mean_square == 0 ? 0.0 : std::sqrt(mean_square / variance);
}

template <class S>
Hooks<S> hooks_of_a_round(const Hooks<S>& hooks, const Block<S>& start, bool& stopped) {
  Hooks<S> round;
  round.observe_basis = hooks.observe_basis;
  round.observe_steps = hooks.observe_steps;
  if (start.size() > 0) round.start = &start;
  round.observe = [&hooks, &stopped](const Iteration<S>& now) {
    stopped = stopped || (hooks.observe && !hooks.observe(now));
    return !stopped;
  };
  return round;
}

}  // namespace

template <class S>
EmFilled<S> fill_by_em(const BorrowedBlock<S>& data, PcaOptions<S> options, const EmOptions& em,
                       const Hooks<S>& hooks) {
  const Index m = data.rows(), d = data.cols();
  EmFilled<S> filled{.facts = {.policy = Missing::em}};
  const Holes holes = holes_in<S>(data);
  if (holes.columns.empty()) return filled;
  require(options.power.rank < std::min(m, d),
          fmt::format("rank = {}: must lie below {}, the lesser of rows and columns, where `missing` is em: with all "
                      "components, anything would fit",
                      options.power.rank, std::min(m, d)));
  require_memory(static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(d), sizeof(S), "missing = em");
  filled.facts.entries = static_cast<Index>(holes.columns.size());
  filled.facts.rows = static_cast<Index>(holes.rows.size());
  for (std::size_t hole = 0; hole < holes.rows.size(); ++hole)
    filled.facts.empty_rows += static_cast<Index>(holes.of(hole).size()) == d ? 1 : 0;

  ColumnMoments moments(d);
  moments.add<S>(data, options.weights);
  const ColumnRule<S> columns =
      column_rule<S>(moments, {.missing_as_mean = true, .column_names = options.column_names});
  filled.data = data;
  for (std::size_t hole = 0; hole < holes.rows.size(); ++hole)
    for (const auto j : holes.of(hole)) filled.data(holes.rows[hole], j) = columns.fill(j);

  // A round need be no better than the entries it is for.
  options.power.certify = Certify::none;
  options.power.tolerance = std::max(tolerance_of<S>(options.power), em.tolerance / 100);
  options.power.accuracy.reset();
  options.wished_accuracy.reset();
  options.missing_as_mean = false;
  Block<S> start;
  bool stopped = false;
  filled.facts.settled = false;
  while (!filled.facts.settled && !stopped && filled.facts.rounds < em.max_rounds) {
    const PcaResult<S> result = pca<S>(borrow(filled.data), options, hooks_of_a_round(hooks, start, stopped));
    if (stopped) break;
    filled.facts.change = refill(holes, result, filled.data);
    ++filled.facts.rounds;
    filled.facts.settled = filled.facts.change <= em.tolerance;
    start = result.power.basis;
  }
  return filled;
}

#define HEARSAY_INSTANTIATE(S) \
  template EmFilled<S> fill_by_em<S>(const BorrowedBlock<S>&, PcaOptions<S>, const EmOptions&, const Hooks<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail
