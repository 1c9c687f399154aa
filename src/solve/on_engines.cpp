#include "solve/on_engines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/solve_on_engine.hpp"
#include "solve/seconds.hpp"
#include "solver/samples_side.hpp"

namespace hearsay::detail {

namespace {

constexpr double default_accuracy = 1e-4;

ProductPrecision products_in(Precision precision) {
  switch (precision) {
    case Precision::automatic:
      return ProductPrecision::automatic;
    case Precision::fp16:
      return ProductPrecision::fp16;
    case Precision::tf32:
      return ProductPrecision::tf32;
    case Precision::single:
      return ProductPrecision::single;
    case Precision::full:
      return ProductPrecision::full;
    case Precision::mixed:
      break;
  }
  throw InvalidArgument("precision = mixed: is for the processor; on a device, use auto");
}

// Calls the caller's observer with no more than the entry.
std::function<bool(const HistoryEntry&)> observer_of(const Request& request) {
  if (!request.observe) return {};
  return [&observe = request.observe](const HistoryEntry& entry) {
    const Block<double> none(0, 0);
    return observe(Iteration<double>{.entry = entry, .X = none, .basis = none, .shift = 0, .cooling = false});
  };
}

}  // namespace

void require_fit_for_engines(const Request& request) {
  const SolveSettings& settings = request.settings;
  const PowerOptions& power = settings.power;
  (void)products_in(settings.precision);
  const auto refuse = [](bool wrong, const char* what) {
    require(!wrong, fmt::format("{}: says nothing on a device; leave it out, or leave out `device`", what));
  };
  refuse(request.noise.has_value() || settings.noise.kind != NoiseChoice::Kind::none, "noise");
  refuse(request.audit.has_value(), "audit");
  refuse(request.reference.has_value(), "reference");
  refuse(request.checkpoints != nullptr, "checkpoint");
  refuse(power.method.has_value() || settings.plain, "method");
  refuse(power.momentum.rule != Momentum::Rule::automatic || settings.optimal_momentum, "momentum");
  refuse(power.products == Products::noisy, "noisy");
  refuse(power.product_budget.has_value(), "products");
  refuse(power.damping.has_value(), "damping");
  refuse(power.qr_every.has_value(), "qr-every");
  refuse(power.turning.value_or(Turning::none) != Turning::none, "turn");
  require(
      power.which == Which::largest,
      fmt::format("which = {}: on a device the largest are found; use LA, or leave out `device`", name(power.which)));
}

void require_fit_for_engines(const Request& request, const MatrixSettings& matrix) {
  require_fit_for_engines(request);
  require(matrix.shift == 0,
          fmt::format("shift = {:g}: says nothing on a device; leave it out, or leave out `device`", matrix.shift));
}

void require_fit_for_engines(const PcaSettings& settings) {
  const auto refuse = [](bool wrong, const char* what) {
    require(!wrong, fmt::format("{}: is for the processor; leave it out, or leave out `device`", what));
  };
  refuse(settings.standardize, "standardize");
  refuse(settings.batch.has_value(), "batch");
  refuse(!settings.weights.empty(), "row-weights");
  refuse(settings.missing != Missing::refuse, "missing");
}

void require_no_engines(const Request& request, const char* what) {
  require(
      request.engines == nullptr,
      fmt::format("device: takes dense matrices and graphs that are held in memory, not {}; leave out `device`", what));
}

Request with_accuracy(const Request& request, std::optional<double> wished) {
  Request made = request;
  std::optional<double>& accuracy = made.settings.power.accuracy;
  if (!(accuracy.value_or(0) > 0)) accuracy = wished.value_or(0) > 0 ? *wished : default_accuracy;
  return made;
}

Solution<double> climb_on(Engine& engine, const Request& asked) {
  const Request request = with_accuracy(asked);
  require_fit_for_engines(request);
  const PowerOptions& power = request.settings.power;
  LadderOptions options{.precision = products_in(request.settings.precision),
                        .rank = power.rank,
                        .accuracy = *power.accuracy,
                        .oversample = power.oversample,
                        .seed = power.seed,
                        .certify = power.certify,
                        .start = request.start,
                        .observe = observer_of(request)};
  if (power.max_iterations) options.max_passes = std::max<Index>(1, *power.max_iterations);
  const auto began = std::chrono::steady_clock::now();
  LadderResult result = climb(engine, options);
  return {.power = std::move(static_cast<PowerResult<double>&>(result)),
          .audit = {},
          .seconds = seconds_since(began),
          .climb = ClimbFacts{.where = engine.facts().where,
                              .precision = options.precision,
                              .accuracy = options.accuracy,
                              .rungs = std::move(result.rungs)}};
}

CsrMatrix<double> normalised(const Graph& graph) {
  require(graph.nodes > 0, "graph of 0 nodes: must have at least one");
  const bool weighted = !graph.weights.empty();
  require(!weighted || graph.weights.size() == graph.edges.size(),
          fmt::format("graph of {} edges and {} weights: must have one weight per edge", graph.edges.size(),
                      graph.weights.size()));
  const auto nodes = static_cast<std::size_t>(graph.nodes);
  CsrMatrix<double> A{.rows = graph.nodes, .cols = graph.nodes, .row_start = {}, .columns = {}, .values = {}};
  A.row_start.assign(nodes + 1, 0);
  std::vector<double> degrees(nodes, 0);
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    for (const std::int32_t i : {graph.edges[e].first, graph.edges[e].second}) {
      ++A.row_start[static_cast<std::size_t>(i) + 1];
      degrees[static_cast<std::size_t>(i)] += weighted ? graph.weights[e] : 1;
    }
  for (std::size_t i = 0; i < nodes; ++i) A.row_start[i + 1] += A.row_start[i] + 1;  // and the diagonal
  A.columns.resize(static_cast<std::size_t>(A.row_start.back()));
  A.values.resize(A.columns.size());
  std::vector<std::int64_t> next(A.row_start.begin(), A.row_start.end() - 1);
  const auto place = [&](std::int32_t row, std::int32_t column, double value) {
    const auto slot = static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++);
    A.columns[slot] = column;
    A.values[slot] = value;
  };
  const auto value = [&](std::size_t e) {
    const auto [i, j] = graph.edges[e];
    return (weighted ? graph.weights[e] : 1) / std::sqrt(degrees[static_cast<std::size_t>(i)]) /
           std::sqrt(degrees[static_cast<std::size_t>(j)]);
  };
  // edges sorted by (i, j): rows become ascending
  for (std::size_t e = 0; e < graph.edges.size(); ++e) place(graph.edges[e].second, graph.edges[e].first, value(e));
  for (std::size_t i = 0; i < nodes; ++i) place(static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), 1);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) place(graph.edges[e].first, graph.edges[e].second, value(e));
  return A;
}

template <class Data, class S>
PcaSolution<S> solve_pca_on(const BorrowedBlock<Data>& data, const Request& asked, const PcaSettings& settings) {
  require_fit_for_engines(settings);
  const Request request = with_accuracy(asked, settings.wished_accuracy);
  const auto began = std::chrono::steady_clock::now();
  const CovarianceEngine covariance = request.engines->covariance(data, settings.center);
  Solution<double> solved = climb_on(*covariance.engine, request);
  PcaSolution<S> solution{.pca = {}, .audit = {}, .seconds = seconds_since(began), .climb = std::move(solved.climb)};
  PcaResult<S>& result = solution.pca;
  const double divisor = static_cast<double>(settings.center ? data.rows() - 1 : data.rows());
  result.samples = data.rows();
  result.weight = static_cast<double>(data.rows());
  result.centred = settings.center;
  result.mean = covariance.mean.template cast<S>();
  result.singular_values = singular_values<double>(solved.power, divisor).template cast<S>();
  result.total_variance = std::ldexp(covariance.total_variance, -solved.power.exponent);
  result.power = in_arithmetic<S>(std::move(solved.power));
  return solution;
}
template PcaSolution<float> solve_pca_on(const BorrowedBlock<float>&, const Request&, const PcaSettings&);
template PcaSolution<double> solve_pca_on(const BorrowedBlock<float>&, const Request&, const PcaSettings&);
template PcaSolution<double> solve_pca_on(const BorrowedBlock<double>&, const Request&, const PcaSettings&);

}  // namespace hearsay::detail

namespace hearsay {

Solution<double> solve_on(Engine& engine, const Request& request) { return detail::climb_on(engine, request); }

}  // namespace hearsay
