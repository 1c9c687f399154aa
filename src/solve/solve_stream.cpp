// Components of rows that pass by.
//   covariance   one reading forms mean and covariance; what is asked of them after that is asked in memory
//   products     a reading per product, in a Krylov space
//   batches      noisy products, one for every so many rows
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/minibatch.hpp"
#include "hearsay/solve_stream.hpp"
#include "hearsay/solve_stream_on_ranks.hpp"
#include "hearsay/subspace.hpp"
#include "operators/covariance_direct.hpp"
#include "operators/read_ahead.hpp"
#include "operators/stream_pass.hpp"
#include "solve/guarded_rows.hpp"
#include "solve/on_engines.hpp"
#include "solve/pca_parts.hpp"
#include "solve/prepared.hpp"
#include "solve/shared_reading.hpp"
#include "solve/stream_plan.hpp"
#include "solve/treated_rows.hpp"
#include "solve/widened_rows.hpp"
#include "solver/costs.hpp"
#include "solver/direct.hpp"

namespace hearsay {

using detail::add_treatment_notes;
using detail::ByPasses;
using detail::clear_constant;
using detail::described;
using detail::FormedCovariance;
using detail::GuardedProducts;
using detail::Prepared;
using detail::rank_by_minka;
using detail::ReadingStopped;
using detail::SharedReading;
using detail::StoppableRows;
using detail::StoppableSparseRows;
using detail::take_treatment;
using detail::with_rank;

namespace {

// ---- One reading

// The covariance in memory. Forming it rounds as a product of so many more terms would.
class InMemory {
 public:
  using Scalar = double;

  explicit InMemory(const FormedCovariance& formed) : formed_(formed) {
    const double norm = formed.matrix.norm(), unit = 0.5 * std::numeric_limits<double>::epsilon();
    const double terms = norm > 0 ? std::min(formed.rounding / (unit * norm), 1e15) : 0;
    terms_ = formed.matrix.rows() + static_cast<Index>(terms);
  }

  Index dim() const { return formed_.matrix.rows(); }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const { multiply<double>(borrow(formed_.matrix), X, Y); }
  OperatorFacts facts() const {
    const auto d = static_cast<double>(dim());
    return {.positive_semidefinite = true, .exact = true, .multiply_adds = d * d, .terms = terms_};
  }

 private:
  const FormedCovariance& formed_;
  Index terms_ = 0;
};

// All eigenvalues, where nothing in the request wants to see steps.
bool goes_directly(const FormedCovariance& formed, const Prepared<double>& prepared) {
  const PowerOptions& options = prepared.options();
  const Hooks<double>& hooks = prepared.hooks();
  if (prepared.noise().fill || hooks.checkpoint || hooks.resume != nullptr) return false;
  if (options.method) return options.method == SolveMethod::direct;
  return detail::leaves_the_way_open(options, hooks.start != nullptr) &&
         detail::eigenvalues_are_cheap(formed.matrix.cols(), options.rank, detail::digits_of<double>(options));
}

Solution<double> solve_formed(const FormedCovariance& formed, const Request& request) {
  const InMemory A(formed);
  Prepared<double> prepared(request, A.dim(), [&] { return find_spectrum<double>(A, request.settings.power); });
  Solution<double> solution = prepared.time([&] {
    if (goes_directly(formed, prepared)) {
      const detail::FormedMatrix matrix{.matrix = formed.matrix, .rounding = formed.rounding, .facts = A.facts()};
      return detail::direct_solve<double>(matrix, prepared.options(), prepared.hooks());
    }
    if (!prepared.noise().fill) return principal_subspace<double>(A, prepared.options(), prepared.hooks());
    const NoisyOperator<double> inexact(A, prepared.noise());
    return principal_subspace<double>(inexact, prepared.options(), prepared.hooks());
  });
  solution.power.passes = formed.passes;
  return solution;
}

// What every way shares: how the rows are read, and who is told.
struct Streaming {
  const Request& request;
  const StreamSettings& settings;
  StreamPlan plan = {};
  bool lean = false;
  std::uint64_t spare = 0;
  Index before = 0;  // readings that came first

  bool goes_on(const Reading& now) const {
    return !settings.observe_reading || settings.observe_reading({.pass = now.pass + before, .rows = now.rows}, plan);
  }
};

// The rest of a solution that only the covariance knows.
PcaSolution<double> described_formed(Solution<double> solved, const FormedCovariance& formed) {
  PcaSolution<double> solution{.audit = std::move(solved.audit), .seconds = solved.seconds};
  PcaResult<double>& result = solution.pca;
  result.samples = formed.samples;
  result.weight = static_cast<double>(formed.samples);
  result.mean = formed.mean;
  result.formed = true;
  result.singular_values = (solved.power.eigenvalues.cwiseMax(0.0) * formed.divisor).cwiseSqrt();
  result.total_variance = std::ldexp(formed.matrix.trace(), -solved.power.exponent);
  result.power = std::move(solved.power);
  return solution;
}

// Whoever stops the reading gets the components of the rows until then.
void say_stopped(PcaResult<double>& result) {
  result.power.status = Status::stopped_by_observer;
  result.power.notes.insert(
      result.power.notes.begin(),
      fmt::format("the reading was stopped: these are the components of the first {} rows", result.samples));
}

// What the rows of a source are stored in.
template <class S>
S stored_in(const RowSource<S>&);
template <class Source>
using StoredIn = decltype(stored_in(std::declval<const Source&>()));

template <class Source>
using Stoppable =
    std::conditional_t<std::is_same_v<Source, SparseRowSource>, StoppableSparseRows, StoppableRows<StoredIn<Source>>>;

template <class Source>
FormedCovariance formed_together(SharedReading<Source>& shared, const Source& source, const Streaming& how,
                                 bool center) try {
  return shared.form_covariance(center, [&](const Reading& now) {
    if (!how.goes_on(now)) throw ReadingStopped();
  });
} catch (const ReadingStopped&) {
  throw DataError(
      fmt::format("{}: the only reading was stopped, and several ranks had each a part of it", source.name()));
}

template <class Source>
PcaSolution<double> by_covariance(Source& source, const Streaming& how, bool center, SharedReading<Source>* shared) {
  const auto begin = std::chrono::steady_clock::now();
  Stoppable<Source> rows(source);
  const ReadingOptions reading{.rows_at_once = how.settings.rows_at_once, .watch = [&](const Reading& now) {
                                 if (!how.goes_on(now)) rows.stop();
                               }};
  const FormedCovariance formed = shared != nullptr ? formed_together(*shared, source, how, center)
                                                    : detail::form_covariance(rows, center, reading);
  const double read = detail::seconds_since(begin);
  const auto solve_with = [&](const Request& with) { return described_formed(solve_formed(formed, with), formed); };
  PcaSolution<double> solution = with_rank<double>(
      how.request, std::min(formed.samples, formed.matrix.cols()), solve_with, [&](std::string& note) {
        return rank_by_minka<double>(InMemory(formed), static_cast<double>(formed.samples), note);
      });
  if (rows.stopped()) say_stopped(solution.pca);
  solution.seconds += read;
  return solution;
}

// ---- A reading per product

// What was wrong with a reading is what the solve ended for.
void take_end(const detail::EarlyEnd& end, PowerResult<double>& result) {
  if (!end.status || result.status != Status::breakdown) return;
  result.status = *end.status;
  const auto broke = std::find_if(result.notes.begin(), result.notes.end(), [](const std::string& note) {
    return note.find("was not finite") != std::string::npos;
  });
  if (broke != result.notes.end()) result.notes.erase(broke);
  if (!end.note.empty()) result.notes.insert(result.notes.begin(), end.note + "; this is the best basis before it");
}

// Nothing in the request has a word about the first block, or about how it is followed.
bool may_choose_start(const Streaming& how) {
  const PowerOptions& power = how.request.settings.power;
  return !how.lean && how.before == 0 && !how.request.start && how.request.checkpoints == nullptr &&
         how.request.settings.noise.kind == NoiseChoice::Kind::none && !how.request.noise && !how.request.audit &&
         power.which == Which::largest && power.method.value_or(SolveMethod::krylov) == SolveMethod::krylov;
}

// Some of the rows, in runs from everywhere: no part of the file may be like no other.
template <class Stored>
Block<Stored> window_of(RowSource<Stored>& source, Index rows, Index all) {
  constexpr Index run = 64;
  const Index runs = std::max<Index>(1, rows / run), places = all / run;
  Block<Stored> window(runs * run, source.cols());
  Index next = 0;
  source.rewind();
  for (Index i = 0; i < runs; ++i) {
    const Index first = i * places / runs * run;
    source.skip(first - next);
    source.read(window.middleRows(i * run, run));
    next = first + run;
  }
  return window;
}

// The components of as many rows as there is memory for, a tenth of them at most: a product with their covariance is
// one with that of all with an error of the order of one over the root of their number. That is much too large for an
// answer, and saves a third of the readings as a start. What it misses, random columns beside it find.
template <class Stored>
std::optional<Block<double>> start_of_window(RowSource<Stored>& source, const Streaming& how, bool center) {
  const Index d = source.cols(), k = how.request.settings.power.rank, all = source.rows().value_or(0);
  if (!may_choose_start(how) || k >= d) return std::nullopt;
  const std::uint64_t left = how.spare;
  const std::uint64_t row = static_cast<std::uint64_t>(d) * sizeof(Stored);
  const Index rows = std::min(static_cast<Index>(left / 3 / row), all / 10);
  if (rows < 8 * k) return std::nullopt;
  const Block<Stored> window = window_of<Stored>(source, rows, all);
  const PcaOptions<Stored> options{.power = {.rank = std::min(2 * k, d),
                                             .tolerance = 1e-3,
                                             .seed = how.request.settings.power.seed,
                                             .certify = Certify::none},
                                   .center = center,
                                   .gram_bytes_limit = static_cast<std::int64_t>(left / 3)};
  return Block<double>(pca<Stored>(window, options).power.basis.template cast<double>());
}

template <class Source>
std::unique_ptr<detail::StreamPass<double>> pass_over(Source& source, const Streaming& how, bool center,
                                                      const WatchReading& watch, SharedReading<Source>* shared) {
  if (shared != nullptr) return shared->pass(center, watch);
  const ReadingOptions reading{.rows_at_once = how.settings.rows_at_once, .watch = watch};
  if constexpr (std::is_same_v<Source, SparseRowSource>)
    return std::make_unique<detail::WholePass<double>>(detail::product_lanes(source, center, reading));
  else
    return std::make_unique<detail::WholePass<double>>(
        detail::product_lanes<double, StoredIn<Source>>(source, center, reading));
}

template <class Source>
PcaSolution<double> by_products(Source& source, const Streaming& how, bool center, SharedReading<Source>* shared) {
  using Stored = StoredIn<Source>;
  const auto watch = [&](const Reading& now) {
    if (!how.goes_on(now) && now.pass > 1) throw ReadingStopped();
  };
  const StreamedCovariance<double, Stored> A(source, center, pass_over(source, how, center, watch, shared));
  std::optional<Index> most;
  Request request = how.request;
  if (how.lean && !request.settings.power.method) request.settings.power.method = SolveMethod::anpm;
  if (how.settings.passes) {
    most = *how.settings.passes - how.before;
    Index& limit = request.settings.power.max_iterations.emplace(
        std::min(*most, how.request.settings.power.max_iterations.value_or(*most)));
    limit = std::max<Index>(1, limit);
  }
  if (auto start = start_of_window<Stored>(source, how, center)) request.start = std::move(start);
  const GuardedProducts guarded(A, most);
  const auto solve_with = [&](const Request& with) {
    Solution<double> solved = solve<double>(guarded, with);
    take_end(guarded.end(), solved.power);
    const double total = std::ldexp(A.total_variance(), -solved.power.exponent);
    PcaSolution<double> solution = described<double>(std::move(solved), A, A.samples());
    solution.pca.total_variance = total;
    return solution;
  };
  PcaSolution<double> solution = with_rank<double>(
      request, std::min(source.rows().value_or(source.cols()), source.cols()), solve_with, [&](std::string& note) {
        Index rank = rank_by_minka<double>(guarded, static_cast<double>(source.rows().value_or(source.cols())), note);
        return rank;
      });
  solution.pca.power.passes = guarded.made();
  return solution;
}

// ---- By batches

PcaSolution<double> by_batches(RowSource<double>& rows, const Streaming& how, bool center) {
  const ArrivingCovariance<double> A(rows, center, *how.settings.batch);
  Solution<double> solved = ByPasses(how.request, A).template solution<double>();
  PcaSolution<double> solution = described<double>(std::move(solved), A, A.samples());
  solution.pca.power.passes = std::max<Index>(1, A.passes());
  solution.pca.total_variance = A.total_variance();
  return solution;
}
PcaSolution<double> by_batches(RowSource<float>& rows, const Streaming& how, bool center) {
  detail::WidenedRows widened(rows);
  return by_batches(widened, how, center);
}

template <class Source>
PcaSolution<double> as_planned(Source& rows, const Streaming& how, bool center,
                               SharedReading<Source>* shared = nullptr) {
  switch (how.plan.way) {
    case StreamWay::covariance:
      return by_covariance(rows, how, center, shared);
    case StreamWay::products:
      return by_products(rows, how, center, shared);
    case StreamWay::batches:
      break;
  }
  return by_batches(rows, how, center);
}

// ---- Rows that are scaled, weighted or incomplete

PcaSolution<double> treated_stream(RowSource<double>& source, Streaming how) {
  how.before = 1;
  detail::TreatedRows rows(source, how.settings, [&](Index count) {
    if (how.settings.observe_reading) how.settings.observe_reading({.pass = 1, .rows = count}, how.plan);
  });
  PcaSolution<double> solution = as_planned<RowSource<double>>(rows, how, false);
  take_treatment(rows, solution.pca);
  const PowerResult<double>& power = solution.pca.power;
  solution.pca.total_variance = std::ldexp(rows.total_variance(), -power.exponent);
  solution.pca.singular_values = (power.eigenvalues.cwiseMax(0.0) * rows.divisor()).cwiseSqrt();
  ++solution.pca.power.passes;
  solution.pca.missing.policy = how.settings.missing;
  solution.pca.missing.dropped = rows.dropped();
  clear_constant(solution.pca);
  return solution;
}
PcaSolution<double> treated_stream(RowSource<float>& source, const Streaming& how) {
  detail::WidenedRows widened(source);
  return treated_stream(widened, how);
}

void require_fit_for_streams(const Request& request, const PcaSettings& settings) {
  detail::require_no_engines(request, "rows that pass by");
  require(request.settings.precision == Precision::full,
          "precision: rows that pass by are solved in double precision only; leave `precision` out");
  require(!settings.wished_accuracy, "wished accuracy: needs data in memory; ask for an `accuracy`");
  check(request, settings);
  require(settings.missing != Missing::em,
          "missing = em: fills entries in again and again, and needs the data in memory; leave `stream` out, or use "
          "`missing` mean or drop-rows");
  if (settings.batch) detail::require_fit_for_batches(request, *settings.batch);
}

bool are_treated(const StreamSettings& settings) {
  return settings.standardize || settings.missing != Missing::refuse || !settings.weights.empty();
}

template <class Source>
std::optional<std::int64_t> entries_of(const Source& rows) {
  if constexpr (std::is_same_v<Source, SparseRowSource>)
    return rows.entries();
  else
    return std::nullopt;
}

template <class Source>
StreamSolution solve_rows(Source& rows, const Request& request, const StreamSettings& settings,
                          SharedReading<Source>* shared = nullptr) {
  require_fit_for_streams(request, settings);
  const bool treated = are_treated(settings);
  require(
      !settings.passes || *settings.passes >= (treated ? 2 : 1),
      fmt::format("passes = {}: must be at least {}", settings.passes.value_or(0),
                  treated ? "2 where rows are scaled, weighted or incomplete: the first reading measures them" : "1"));
  require(!settings.passes || !settings.batch, "passes: a solve by batches has its own end; leave `batch` out");
  SolveSettings settled = request.settings;
  settle(settled);
  Streaming how{.request = request, .settings = settings};
  const detail::SettledPlan plan =
      detail::plan_stream({.columns = rows.cols(),
                           .rows = rows.rows(),
                           .bytes_per_pass = rows.bytes_per_pass(),
                           .stored_bytes = treated ? 8 : static_cast<Index>(sizeof(StoredIn<Source>)),
                           .measured_before = treated,
                           .entries = entries_of(rows),
                           .name = rows.name()},
                          settled, settings);
  how.plan = plan.told;
  how.lean = plan.lean;
  how.spare = plan.spare;
  if (settings.observe_reading) settings.observe_reading({.pass = 1, .rows = 0}, how.plan);
  StreamSolution solution{treated ? treated_stream(rows, how) : as_planned<Source>(rows, how, settings.center, shared),
                          how.plan};
  solution.pca.centred = settings.center;
  add_treatment_notes(solution.pca, settings);
  return solution;
}

// Zeros are left out where nothing turns them into something else.
SparseRowSource* without_zeros(RowSource<double>& rows, const StreamSettings& settings) {
  return are_treated(settings) || settings.batch ? nullptr : dynamic_cast<SparseRowSource*>(&rows);
}

// ---- On ranks

void require_fit_for_ranks(const StreamSettings& settings) {
  require(!are_treated(settings) && !settings.batch,
          "ranks: rows that are standardized, weighted, incomplete or taken by batches are read by one process; "
          "leave that out, or mpirun");
}

template <class Source>
std::optional<StreamSolution> solve_together(Transport& ranks, Source& rows, const Request& request,
                                             const StreamSettings& settings) {
  if (ranks.size() == 1) return solve_rows<Source>(rows, request, settings);
  ranks.everywhere([&] { require_fit_for_ranks(settings); });
  const Fact facts[] = {{"the number of columns", fmt::format("{}", rows.cols())},
                        {"the number of rows", rows.rows() ? fmt::format("{}", *rows.rows()) : "not known"},
                        {"the bytes of a reading", fmt::format("{}", rows.bytes_per_pass())}};
  ranks.require_alike(facts);
  SharedReading<Source> shared(ranks, rows, {.rows_at_once = settings.rows_at_once});
  if (ranks.rank() != 0) return shared.serve(), std::nullopt;
  std::optional<StreamSolution> solution;
  const detail::Failure failure =
      detail::caught(0, [&] { solution = solve_rows<Source>(rows, request, settings, &shared); });
  shared.end(failure);
  if (failure.any()) detail::raise(failure.kind, failure.message);
  return solution;
}

}  // namespace

StreamSolution solve_stream(RowSource<double>& rows, const Request& request, const StreamSettings& settings) {
  if (SparseRowSource* const sparse = without_zeros(rows, settings)) return solve_rows(*sparse, request, settings);
  return solve_rows(rows, request, settings);
}

StreamSolution solve_stream(RowSource<float>& rows, const Request& request, const StreamSettings& settings) {
  return solve_rows(rows, request, settings);
}

std::optional<StreamSolution> solve_stream_on_ranks(Transport& ranks, RowSource<double>& rows, const Request& request,
                                                    const StreamSettings& settings) {
  if (SparseRowSource* const sparse = without_zeros(rows, settings))
    return solve_together(ranks, *sparse, request, settings);
  return solve_together(ranks, rows, request, settings);
}

std::optional<StreamSolution> solve_stream_on_ranks(Transport& ranks, RowSource<float>& rows, const Request& request,
                                                    const StreamSettings& settings) {
  return solve_together(ranks, rows, request, settings);
}

PcaSolution<double> solve_pca(RowSource<double>& rows, const Request& request, const PcaSettings& settings,
                              Index block_rows) {
  return solve_stream(rows, request, {settings, block_rows});
}

// ---- Single precision in memory

namespace {

// The samples' side, EM, batches drawn at random and what is wished for beyond the tolerance need a matrix.
bool can_pass(const BorrowedBlock<float>& data, const Request& request, const PcaSettings& settings) {
  return request.settings.precision == Precision::full && !settings.wished_accuracy && !settings.batch &&
         settings.missing != Missing::em && data.rows() >= data.cols();
}

}  // namespace

PcaSolution<double> solve_pca_in_double(const BorrowedBlock<float>& data, const Request& request,
                                        const PcaSettings& settings) {
  if (request.engines != nullptr && request.settings.rank_rule.kind == RankRule::Kind::count) {
    check(request, settings);
    return detail::solve_pca_on<float, double>(data, request, settings);
  }
  if (request.engines == nullptr && can_pass(data, request, settings)) {
    detail::RowsInMemory<float> rows(data);
    return solve_stream(rows, request, {settings});
  }
  require_memory(static_cast<std::uint64_t>(data.size()), sizeof(double), "data in double precision");
  return solve_pca<double>(Block<double>(data.cast<double>()), request, settings);
}

// ---- Scores

namespace {

// next(count) makes the next rows, and says how many.
template <class Next>
Block<double> scores_of_blocks(std::optional<Index> rows, const PcaResult<double>& result, const Next& next) {
  Block<double> all(rows.value_or(0), result.power.basis.cols());
  Index filled = 0;
  for (Index count = 0;;) {
    const Block<double> block = next(count);
    if (count == 0) break;
    if (filled + count > all.rows()) all.conservativeResize(2 * filled + count, Eigen::NoChange);
    all.middleRows(filled, count) = pca_scores<double>(block, result);
    filled += count;
  }
  all.conservativeResize(filled, Eigen::NoChange);
  return all;
}

template <class Stored>
Block<double> scores_in_place(const BorrowedBlock<Stored>& data, const PcaResult<double>& result) {
  constexpr Index block_rows = 1024;
  Index first = 0;
  return scores_of_blocks(data.rows(), result, [&](Index& count) {
    count = std::min(block_rows, data.rows() - first);
    first += count;
    return Block<double>(data.middleRows(first - count, count).template cast<double>());
  });
}

}  // namespace

Block<double> pca_scores(RowSource<float>& rows, const PcaResult<double>& result, Index block_rows) {
  require(block_rows > 0, fmt::format("rows at once = {}: must be at least 1", block_rows));
  Block<float> block(block_rows, rows.cols());
  rows.rewind();
  return scores_of_blocks(rows.rows(), result, [&](Index& count) {
    count = rows.read(block);
    return Block<double>(block.topRows(count).cast<double>());
  });
}
Block<double> pca_scores(const BorrowedBlock<double>& data, const PcaResult<double>& result) {
  return scores_in_place(data, result);
}
Block<double> pca_scores(const BorrowedBlock<float>& data, const PcaResult<double>& result) {
  return scores_in_place(data, result);
}

}  // namespace hearsay
