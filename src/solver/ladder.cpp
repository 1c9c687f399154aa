// From cheap products to an answer that is certified.
//   climb     Y_{t+1} = A~ X_t - shift X_t - beta X_{t-1} R_t^{-1},   A~ rounded products     power.cpp's recurrence
//   look      Y = A X, accurate; Ritz values and residuals of X, and how far Y is from A X
//   correct   with H = X'Y, R = Y - X H:   A Y = Y H + A R,   so that A X_{t+1} costs a rounded product of R alone
//
// References  docs/algorithms/low-precision.md. The recurrence, rates, estimates and the certificate are those of the
// power
//             iteration: recurrence.hpp, stopping.hpp, certificate.hpp, probe.hpp.
// Legend      d, k, p  dimension, rank, block columns | X  d x p orthonormal | Y  A X | E  Y - A X | theta  Ritz values
#include "hearsay/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "linalg/small_spectrum.hpp"
#include "solver/certificate.hpp"
#include "solver/dropping_qr.hpp"
#include "solver/outcome.hpp"
#include "solver/probe.hpp"
#include "solver/recurrence.hpp"
#include "solver/scale.hpp"
#include "solver/stopping.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

namespace {

using detail::Recurrence;
using Clock = std::chrono::steady_clock;

constexpr int block_places = 6;
enum SmallPlaces : int { product_place, gram_place, turn_place, first_in_flight };

// Blocks of single precision hold no more than this.
constexpr double least_sine_in_single = 5e-6;

// Corrected steps from one look to the next, at most; where nothing is known yet; and what a step is counted on for.
constexpr Index most_steps_to_look = 12, steps_unresolved = 4, most_steps_foreseen = 8;

// Below this rate of a step nothing is foreseen.
constexpr double least_rate = 0.3;
constexpr double below_goal = 0.5;

// Random columns that have come so near to the wanted subspace show by their Ritz values what a given start misses.
constexpr double shows_what_is_missed = 0.1;

// What is measured of a product's error on some rows may be so much less than the error.
constexpr double error_beyond_measured = 2;

// Looks without progress after which a rung is left, and what counts as progress.
constexpr int patience = 4;
constexpr double progress = 0.7;

struct Level {
  Rung accurate, cheap;
  bool in_double;
};

// X's Ritz pairs, and the words that they allow.
struct Look {
  detail::RitzPairs pairs;     // residuals and coupling with what products may hide
  double sine = 1;             // estimated, rounding included
  double sine_alone = 1;       // as if products were exact
  double rounding = 0;         // of one column, the most
  double wanted_rounding = 0;  // of the wanted ones together
  double block_rounding = 0;   // of all columns together, which bounds what a Ritz value may be off
};

class Ladder {
 public:
  Ladder(Engine& engine, const LadderOptions& options) : engine_(engine), options_(options), facts_(engine.facts()) {
    require(options.rank >= 1 && options.rank < d(),
            fmt::format("rank = {}: must lie in [1, {}), below the dimension", options.rank, d()));
    require(options.accuracy > 0 && options.accuracy < 1,
            fmt::format("accuracy = {:g}: must lie between 0 and 1", options.accuracy));
    require(options.load_basis || options.certify != Certify::full,
            "certify = full: looks for what was missed from the host, where the basis must be loaded");
    require(!options.start || (options.start->rows() == d() && options.start->allFinite()),
            fmt::format("start: must have {} rows of finite numbers", d()));
    require(options.oversample.value_or(1) >= 1, "oversample = 0: must be at least 1, to see what lies beyond");
    const Index wanted = k() + options.oversample.value_or(std::max<Index>(k(), 4)), step = facts_.column_step;
    p_ = (wanted + step - 1) / step * step;
    plan();
  }

  LadderResult run() {
    prepare(false);
    engine_.fill_normal(options_.seed, X_);
    if (options_.start) engine_.store(options_.start->leftCols(std::min(p_, options_.start->cols())), X_);
    engine_.orthonormalise(X_, {}, 2);
    if (options_.start) fill_dropped();
    for (int joins = 0;; ++joins) {
      const Status status = ascend();
      std::optional<detail::Probe<double>> probe;
      result_.place = X_;
      Block<double> V(options_.load_basis || options_.certify == Certify::full ? d() : 0, k());
      if (V.rows() > 0) engine_.load(X_, V);
      if (status != Status::converged || options_.certify != Certify::full) return finish(status, std::move(V), probe);
      probe = look_for_what_was_missed(V);
      if (!missed(*probe)) return finish(status, std::move(V), probe);
      if (joins == detail::tuning::most_joins) return finish(Status::iteration_limit, std::move(V), probe);
      join(V, *probe);
    }
  }

 private:
  Index d() const { return facts_.dim; }
  Index k() const { return options_.rank; }

  // ---- What is to be climbed

  bool offers(Rung rung) const {
    return std::find(facts_.rungs.begin(), facts_.rungs.end(), rung) != facts_.rungs.end();
  }

  void plan() {
    const auto one = [&](Rung rung) {
      require(offers(rung),
              fmt::format("precision = {}: {} makes no such products of this matrix", name(rung), facts_.where));
      first_ = rung;
      levels_ = {{rung, rung, rung == Rung::full}};
    };
    switch (options_.precision) {
      case ProductPrecision::fp16:
        return one(Rung::fp16);
      case ProductPrecision::tf32:
        return one(Rung::tf32);
      case ProductPrecision::single:
        return one(Rung::single);
      case ProductPrecision::full:
        return one(Rung::full);
      case ProductPrecision::automatic:
        break;
    }
    first_ = facts_.rungs.front();
    if (options_.accuracy >= least_sine_in_single && offers(Rung::single))
      levels_.push_back({Rung::single, first_, false});
    if (offers(Rung::full)) levels_.push_back({Rung::full, first_, true});
    require(!levels_.empty(), "the engine offers neither products in single precision nor in double");
  }

  void prepare(bool in_double) {
    if (X_ != 0 && columns_ > 0) engine_.copy(X_, 0);
    X_ = 0, Y_ = 1, X_prev_ = 2, Y_prev_ = 3, R_ = 4, W_ = 5;
    engine_.prepare(p_, in_double, block_places, first_in_flight + static_cast<int>(facts_.looks_in_flight) + 1);
    columns_ = p_;
    in_double_ = in_double;
    has_previous_ = false;
  }

  Status ascend() {
    climb();
    Status status = Status::rounding_floor;
    for (const Level& level : levels_) {
      if (level.in_double != in_double_) {
        prepare(level.in_double);
        fill_dropped();
      }
      status = refine(level);
      if (status == Status::converged || stopped_ || passes_ >= options_.max_passes) break;
    }
    return status;
  }

  // ---- Reports

  void begin(Rung rung, bool corrects) {
    result_.rungs.push_back({.rung = rung, .corrects = corrects, .in_double = in_double_});
    began_ = Clock::now();
  }
  RungReport& report() { return result_.rungs.back(); }
  void end() { report().seconds = std::chrono::duration<double>(Clock::now() - began_).count(); }

  void multiply(Rung rung, int from, int to) {
    engine_.multiply(rung, from, to);
    ++passes_;
    ++report().passes;
    report().products += p_;
  }

  // ---- The climb

  // The product X'A~X of each step is read when the next ones are on their way, and its smallest Ritz value damps
  // those: it never overshoots, because it only grows.
  void climb() {
    if (options_.precision == ProductPrecision::full && !in_double_) prepare(true);
    begin(first_, false);
    const Index behind = facts_.looks_in_flight, ring = behind + 1;
    double shrunk = 0, edge = 0;
    history_.clear();
    has_previous_ = false;
    for (Index t = 0; passes_ < options_.max_passes; ++t) {
      multiply(first_, X_, Y_);
      engine_.gram(X_, Y_, first_in_flight + static_cast<int>(t % ring));
      if (t >= behind) {
        remember(t, first_in_flight + static_cast<int>((t - behind) % ring), edge);
        edge = std::max(0.0, theta_least_);
        shrunk += detail::rate(stopping(), history_.back(), least_gap());
        if (shrunk >= shrinking_to(enough()) || stands_still() || stopped_) break;
      }
      step(detail::damped_below(edge, Damping::centred));
    }
    edge_ = edge;
    if (believes_start())
      foreseen_ = 0;
    else
      foresee_steps(shrunk);
    end();
  }

  // The sine of a random start that ends the climb. A start of the caller's shortens it where something looks for what
  // is missed at the end: random columns are to show the most of that before, and the first look what the start is
  // worth.
  double enough() const { return believes_start() ? shows_what_is_missed : std::max(goal(), floor()); }
  bool believes_start() const { return options_.start && options_.certify == Certify::full; }

  // Corrected steps that are still to be made, by the rate of the climb: the first has no momentum.
  void foresee_steps(double shrunk) {
    const double rate = detail::rate(stopping(), history_.back(), least_gap());
    const double left = shrinking_to(goal()) - std::min(shrunk, shrinking_to(floor()));
    const bool settled = !stands_still() && rate > least_rate && left > 0;
    foreseen_ = settled ? std::min<Index>(most_steps_foreseen, 1 + static_cast<Index>(left / rate)) : 0;
  }

  // X_{t+1} from the product in Y.
  void step(const Recurrence& recurrence) {
    engine_.combine(Y_, has_previous_ ? 1 : 0.5, recurrence.shift, X_, has_previous_ ? recurrence.beta : 0, X_prev_);
    engine_.orthonormalise(Y_, {X_}, 1);
    std::swap(X_prev_, X_);
    std::swap(X_, Y_);
    has_previous_ = true;
  }

  detail::StoppingFacts stopping() const { return {.d = d(), .k = k(), .damping = Damping::centred}; }
  double least_gap() const {
    const HistoryEntry& now = history_.back();
    return std::max(detail::tuning::gap_in_noise * now.noise, detail::tuning::least_gap * now.theta_k);
  }

  // log of what a random start must shrink by to reach a sine.
  double shrinking_to(double sine) const {
    return std::log(std::max(2.0, std::sqrt(static_cast<double>(d() * k())) / std::max(sine, 1e-16)));
  }
  double goal() const { return below_goal * options_.accuracy; }

  // Where rounding ends the use of these products.
  double floor() const {
    const HistoryEntry& now = history_.back();
    const double gap = std::max(now.theta_k - theta_least_, least_gap());
    return gap > 0 ? now.noise * std::sqrt(static_cast<double>(d())) / gap : 1;
  }

  // Where there is no gap to go by, as many steps as a gap of some per cent would need.
  bool stands_still() const { return history_.back().t >= detail::tuning::hopeless_after / 10; }

  void remember(Index t, int place, double edge) {
    engine_.load_small(place, H_);
    require_finite(H_);
    const Vector<double> theta = detail::SmallSpectrum<double>(H_).values();
    theta_least_ = theta(p_ - 1);
    history_.push_back({.t = t,
                        .edge = edge,
                        .noise = detail::noise_from_asymmetry<double>(H_),
                        .theta_1 = theta(0),
                        .theta_k = theta(k() - 1),
                        .theta_next = theta(k())});
    listen();
  }

  void listen() {
    if (options_.observe && !options_.observe(history_.back())) stopped_ = true;
  }

  static void require_finite(const Small<double>& H) {
    if (!H.allFinite())
      throw DataError("product: a product with the matrix is not finite; a value overflows or the operator is faulty");
  }

  // ---- Refinement

  Status refine(const Level& level) {
    begin(level.accurate, level.cheap != level.accurate);
    has_previous_ = false;
    multiply(level.accurate, X_, Y_);
    bool fresh = true;
    double best = 2;
    int idle = 0;
    for (; foreseen_ > 0 && level.cheap != level.accurate; --foreseen_, fresh = false) correct(level.cheap);
    for (;;) {
      look();
      report().sin_theta = now_.sine;
      report().rounding = now_.rounding;
      require_no_negative_eigenvalue();
      if (now_.sine <= options_.accuracy && detail::believable(now_.pairs, k(), now_.sine))
        return end(), Status::converged;
      if (stopped_) return end(), Status::stopped_by_observer;
      if (passes_ >= options_.max_passes) return end(), Status::iteration_limit;
      const bool rounding_decides = now_.sine_alone <= below_goal * options_.accuracy || at_rounding();
      idle = now_.sine < progress * best || residual_ < progress * best_residual_ ? 0 : idle + 1;
      best = std::min(best, now_.sine);
      best_residual_ = std::min(best_residual_, residual_);
      if ((rounding_decides && fresh) || idle >= patience) {
        report().at_floor = true;
        return end(), now_.sine < detail::resolved_sine ? Status::rounding_floor : Status::ambiguous;
      }
      if (rounding_decides || idle >= patience / 2) {  // what earlier corrections left is taken out
        multiply(level.accurate, X_, Y_);
        has_previous_ = false;
        fresh = true;
        continue;
      }
      fresh = false;
      for (Index steps = steps_to_look(); steps > 0; --steps) correct(level.cheap);
    }
  }

  // The wanted residuals are no more than what products hide.
  bool at_rounding() const { return residual_ <= now_.wanted_rounding; }

  Index steps_to_look() const {
    if (!(now_.sine_alone < detail::resolved_sine)) return steps_unresolved;
    const double rate = detail::rate(
        stopping(), {.edge = edge_, .theta_k = now_.pairs.theta(k() - 1), .theta_next = now_.pairs.theta(k())},
        detail::tuning::least_gap * now_.pairs.theta(k() - 1));
    const double steps = std::ceil(std::log(now_.sine_alone / (below_goal * options_.accuracy)) / rate);
    return std::clamp<Index>(static_cast<Index>(std::min(steps, 1e6)), 1, most_steps_to_look);
  }

  // With Y = A X to X_{t+1} and its product: Z = s (Y - shift X) - beta X_prev, and A Z likewise from A Y = Y H + A R.
  void correct(Rung cheap) {
    const Recurrence recurrence = detail::damped_below(edge_, Damping::centred);
    const double scale = has_previous_ ? 1 : 0.5, beta = has_previous_ ? recurrence.beta : 0;
    engine_.gram(X_, Y_, product_place);
    engine_.copy(Y_, R_);
    engine_.subtract(X_, product_place, R_);  // R = Y - X H
    multiply(cheap, R_, W_);
    engine_.add(Y_, product_place, W_);                               // A Y
    engine_.combine(W_, scale, recurrence.shift, Y_, beta, Y_prev_);  // A Z
    engine_.copy(Y_, R_);
    engine_.combine(R_, scale, recurrence.shift, X_, beta, X_prev_);  // Z
    engine_.orthonormalise(R_, {W_, X_, Y_}, 1);
    const int free_X = X_prev_, free_Y = Y_prev_;
    X_prev_ = X_, Y_prev_ = Y_, X_ = R_, Y_ = W_, R_ = free_X, W_ = free_Y;
    has_previous_ = true;
  }

  // ---- The look

  // X turns to its Ritz vectors, orthonormal in the sense of X'X as it is, and everything with it.
  void look() {
    engine_.gram(X_, X_, gram_place);
    engine_.gram(X_, Y_, product_place);
    engine_.load_small(gram_place, M_);
    engine_.load_small(product_place, H_);
    require_finite(M_);
    require_finite(H_);
    std::vector<Index> dropped;
    for (Index j = 0; j < p_; ++j)
      if (!(M_(j, j) > 0)) M_(j, j) = 1, dropped.push_back(j);
    const Small<double> S = detail::dropping_inverse(M_, true);
    const auto ritz = symmetric_eigen<double>(Small<double>(S.transpose() * H_ * S));
    const Small<double> U = S * ritz.vectors;
    engine_.store_small(U, turn_place);
    for (const int block : {X_, Y_}) engine_.turn(block, turn_place);
    if (has_previous_)
      for (const int block : {X_prev_, Y_prev_}) engine_.turn(block, turn_place);
    const Vector<double> r = engine_.residuals(X_, Y_, ritz.values);
    const ProductError error = engine_.product_error(X_, Y_);
    edge_ = std::max(0.0, ritz.values(p_ - 1));
    judge(ritz.values, r, error, U.transpose() * (H_ - H_.transpose()) * U, static_cast<Index>(dropped.size()));
  }

  // What products hide of a column joins its residual, and what they turn of one column into another the coupling.
  void judge(const Vector<double>& theta, const Vector<double>& r, const ProductError& error,
             const Small<double>& asymmetry, Index dropped) {
    if (!r.allFinite() || !error.norms.allFinite()) require_finite(Small<double>(r));
    const double least = 0.5 * std::numeric_limits<double>::epsilon() * theta.norm();
    const Vector<double> hidden = error_beyond_measured * error.norms.array() + least;
    detail::RitzPairs pairs{.theta = theta, .residuals = r};
    for (Index j = p_ - dropped; j < p_; ++j)  // their directions were below this
      pairs.residuals(j) = std::max(pairs.residuals(j), detail::dropped_below(in_double_) * theta(0));
    now_.sine_alone = detail::sin_theta_estimate(pairs, k());
    pairs.residuals += hidden;
    pairs.coupling = coupling(theta, asymmetry, error.along) + least;
    now_.sine = detail::sin_theta_estimate(pairs, k());
    now_.rounding = hidden.maxCoeff();
    now_.wanted_rounding = hidden.head(k()).norm();
    now_.block_rounding = hidden.norm();
    now_.pairs = pairs;
    residual_ = r.head(k()).norm();
    remember_look(theta, r);
  }

  // The one number that turns the wanted Ritz vectors into the others by as much as these do, each over its own gap.
  double coupling(const Vector<double>& theta, const Small<double>& asymmetry, const Small<double>& along) const {
    double turned = 0, by_one = 0, largest = 0;
    for (Index i = 0; i < k(); ++i)
      for (Index j = k(); j < p_; ++j) {
        const double c = std::max({std::abs(asymmetry(i, j)), std::abs(along(i, j)), std::abs(along(j, i))});
        const double gap = std::max(theta(i) - theta(j), std::numeric_limits<double>::min());
        turned = std::hypot(turned, c / gap);
        by_one = std::hypot(by_one, 1 / gap);
        largest = std::max(largest, c);
      }
    return std::isfinite(turned / by_one) ? turned / by_one : largest;
  }

  void remember_look(const Vector<double>& theta, const Vector<double>& r) {
    const double size = std::hypot(theta.head(k()).norm(), r.head(k()).norm());
    history_.push_back({.t = passes_,
                        .edge = edge_,
                        .residual = size > 0 ? residual_ / size : 0,
                        .theta_1 = theta(0),
                        .theta_k = theta(k() - 1),
                        .theta_next = theta(k()),
                        .sin_theta_estimate = now_.sine});
    listen();
  }

  void require_no_negative_eigenvalue() const {
    const double least = now_.pairs.theta(p_ - 1);
    if (facts_.positive_semidefinite) return;
    const double hidden = in_double_ ? 1e-12 : 4 * static_cast<double>(std::numeric_limits<float>::epsilon());
    detail::require_no_negative_eigenvalue(least, now_.block_rounding + hidden * std::abs(now_.pairs.theta(0)),
                                           facts_.exponent, passes_ * p_, passes_);
  }

  // ---- Columns that rounding took out of the block

  void fill_dropped() {
    engine_.gram(X_, X_, gram_place);
    engine_.load_small(gram_place, M_);
    Small<double> lost = Small<double>::Zero(p_, p_);
    for (Index j = 0; j < p_; ++j) lost(j, j) = M_(j, j) > 0.5 ? 0 : 1;
    if (lost.isZero(0)) return;
    engine_.fill_normal(options_.seed + 1, R_);
    engine_.store_small(lost, turn_place);
    engine_.add(R_, turn_place, X_);
    engine_.orthonormalise(X_, {}, 2);
  }

  // ---- That nothing was missed

  // By products in double precision, with columns of its own.
  detail::Probe<double> look_for_what_was_missed(Block<double>& V) {
    Small<double> R;
    thin_qr<double>(V, R);
    const EngineOperator A(engine_, offers(Rung::full) ? Rung::full : levels_.back().accurate);
    const double theta_k = now_.pairs.theta(k() - 1), next = now_.pairs.theta(k());
    auto found = detail::probe<double>(A, V, 0, detail::tuning::proof_columns, detail::tuning::least_proof_passes,
                                       detail::tuning::most_probe_passes, (theta_k + next) / 2, options_.seed);
    columns_ = 0;
    X_ = 0;
    passes_ += found.passes;
    probe_passes_ += found.passes;
    probe_products_ += found.products;
    return found;
  }

  bool missed(const detail::Probe<double>& found) const {
    const double seen = found.theta.size() > 0 ? found.theta(0) : 0;
    return seen > now_.pairs.theta(k() - 1) + residual_ + 2 * now_.rounding;
  }

  // V, and after it what was missed.
  void join(const Block<double>& V, const detail::Probe<double>& found) {
    prepare(false);
    engine_.fill_normal(options_.seed + 2, X_);
    const Index fit = std::min(found.vectors.cols(), p_ - k());
    Block<double> both(d(), k() + fit);
    both.leftCols(fit) = found.vectors.leftCols(fit);
    both.rightCols(k()) = V;
    engine_.store(both, X_);
    engine_.orthonormalise(X_, {}, 2);
  }

  // ---- The result

  LadderResult finish(Status status, Block<double> V, const std::optional<detail::Probe<double>>& probe) {
    detail::Ending<double> ending{.status = status,
                                  .basis = std::move(V),
                                  .theta = now_.pairs.theta.head(k()),
                                  .residual = history_.back().residual,
                                  .theta_next = now_.pairs.theta(k()),
                                  .iterations = passes_ - probe_passes_,
                                  .columns = p_,
                                  .products = 0,
                                  .passes = passes_,
                                  .workspace_numbers = block_places * d() * p_,
                                  .exponent = facts_.exponent};
    for (const RungReport& rung : result_.rungs) ending.products += rung.products;
    ending.products += probe_products_;
    const OperatorFacts facts{.positive_semidefinite = facts_.positive_semidefinite, .exact = true};
    static_cast<PowerResult<double>&>(result_) = detail::result_of<double>(std::move(ending), facts, history_);
    result_.edge = edge_;
    result_.damping = Damping::centred;
    result_.sin_theta_estimate = now_.sine;
    certify(probe);
    return std::move(result_);
  }

  void certify(const std::optional<detail::Probe<double>>& probe) {
    const double norm = now_.pairs.theta.norm();
    detail::Evidence evidence{.pairs = now_.pairs,
                              .rounding = now_.rounding,
                              .rounding_expected = now_.rounding,
                              .k = k(),
                              .d = d(),
                              .estimate = detail::believable(now_.pairs, k(), now_.sine) || now_.sine >= 1
                                              ? now_.sine
                                              : std::numeric_limits<double>::quiet_NaN(),
                              .frobenius = probe ? std::hypot(norm, probe->frobenius) : norm,
                              .random_columns = probe ? detail::tuning::proof_columns : p_,
                              .probe_passes = probe_passes_,
                              .probe_products = probe_products_};
    if (probe && probe->finite && probe->nothing_above < now_.pairs.theta(k() - 1))
      evidence.statement = detail::Statement{.count = k(), .above = probe->nothing_above + now_.rounding};
    result_.certificate = detail::certificate_of(evidence, options_.certify, result_.status == Status::ambiguous);
    if (options_.certify != Certify::none && !result_.certificate.assumptions.empty())
      result_.certificate.assumptions.front() = fmt::format(
          "products of {} are off by at most {:.2g} a column, {:g} times what rows in double precision showed",
          name(result_.rungs.back().rung), std::ldexp(now_.rounding, facts_.exponent), error_beyond_measured);
    if (options_.certify != Certify::none) result_.certificate.residual = residual_;
    result_.certificate = detail::unscaled(result_.certificate, facts_.exponent - result_.exponent);
    result_.sin_theta_estimate = std::min(result_.sin_theta_estimate, result_.certificate.sin_theta_bound);
  }

  Engine& engine_;
  const LadderOptions options_;
  const EngineFacts facts_;
  Index p_ = 0, columns_ = 0;
  Rung first_ = Rung::full;
  std::vector<Level> levels_;
  int X_ = 0, Y_ = 1, X_prev_ = 2, Y_prev_ = 3, R_ = 4, W_ = 5;
  bool in_double_ = false, has_previous_ = false, stopped_ = false;
  double edge_ = 0, theta_least_ = 0, residual_ = 0, best_residual_ = std::numeric_limits<double>::infinity();
  Small<double> H_, M_;
  Look now_;
  std::vector<HistoryEntry> history_;
  Index passes_ = 0, foreseen_ = 0, probe_passes_ = 0, probe_products_ = 0;
  Clock::time_point began_;
  LadderResult result_;
};

}  // namespace

const char* name(ProductPrecision precision) {
  switch (precision) {
    case ProductPrecision::automatic:
      return "auto";
    case ProductPrecision::fp16:
      return "fp16";
    case ProductPrecision::tf32:
      return "tf32";
    case ProductPrecision::single:
      return "single";
    case ProductPrecision::full:
      return "double";
  }
  return "unknown";
}

ProductPrecision product_precision(std::string_view text) {
  using enum ProductPrecision;
  for (const ProductPrecision precision : {automatic, fp16, tf32, single, full})
    if (text == name(precision)) return precision;
  throw InvalidArgument(fmt::format("precision = {}: must be auto, fp16, tf32, single or double", text));
}

LadderResult climb(Engine& engine, const LadderOptions& options) { return Ladder(engine, options).run(); }

void EngineOperator::apply(ConstBlockView<double> X, BlockView<double> Y) const {
  if (columns_ != X.cols()) engine_.prepare(columns_ = X.cols(), true, 2, 1);
  engine_.store(X, 0);
  engine_.multiply(rung_, 0, 1);
  engine_.load(1, Y);
}

OperatorFacts EngineOperator::facts() const {
  const EngineFacts facts = engine_.facts();
  return {
      .positive_semidefinite = facts.positive_semidefinite, .exponent = facts.exponent, .exact = rung_ == Rung::full};
}

}  // namespace hearsay
