#include "solver/averaging.hpp"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/angles.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "linalg/large_pages.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

const char* name(BarKind kind) {
  switch (kind) {
    case BarKind::none:
      return "none";
    case BarKind::calibrated:
      return "calibrated";
    case BarKind::indicative:
      return "indicative";
    case BarKind::bound:
      return "bound";
  }
  return "unknown";
}

}  // namespace hearsay

namespace hearsay::detail {

namespace {

Small<double> symmetric_part(const Small<double>& H) { return (H + H.transpose()) / 2; }

template <class S>
EpochSums<S> empty_epoch(Index d, Index p) {
  const Small<double> zero = Small<double>::Zero(p, p);
  EpochSums<S> epoch{.G = zero, .W = zero, .scatter = zero, .scatter_sq = zero};
  resize_large<S>(epoch.S_sum, d, p);
  epoch.S_sum.setZero();
  return epoch;
}

// Steps of a power iteration are not independent: their errors fade by rho a step. How much larger the error of the
// mean over n_1 + n_2 steps is than what the difference of the means over the first n_1 and the last n_2 tells.
double beyond_difference(double n_1, double n_2, double rho) {
  const auto variance_of_sum = [rho](double n) {
    return n * (1 + rho) / (1 - rho) - 2 * rho * (1 - std::pow(rho, n)) / ((1 - rho) * (1 - rho));
  };
  const double n = n_1 + n_2, one = variance_of_sum(n_1), other = variance_of_sum(n_2), both = variance_of_sum(n);
  const double difference = one / (n_1 * n_1) + other / (n_2 * n_2) - (both - one - other) / (n_1 * n_2);
  return std::sqrt(both / (n_1 * n_2 * difference));
}

// The leading k columns of an orthonormal basis, turned by U.
template <class S>
Block<S> turned(const Block<S>& Q, const Small<double>& U, Index columns) {
  Block<S> V;
  resize_large<S>(V, Q.rows(), columns);
  multiply<S>(Q, Small<S>(U.leftCols(columns).template cast<S>()), V);
  return V;
}

}  // namespace

// ---- The sums

template <class S>
Index Averaging<S>::steps() const {
  Index n = 0;
  for (const EpochSums<S>& epoch : state_.epochs) n += epoch.n;
  return n;
}

template <class S>
void Averaging<S>::take(const Small<S>& H) {
  EpochSums<S>& sums = state_.epochs.back();
  const Small<S> C = gram<S>(run_.state.X, state_.reference);
  if (step_.rows() != run_.d() || step_.cols() != C.cols()) resize_large<S>(step_, run_.d(), C.cols());
  multiply<S>(run_.state.X, C, step_);
  sums.S_sum += step_;
  const Small<double> Cd = C.template cast<double>(), M = Cd.transpose() * H.template cast<double>() * Cd;
  const Small<double> M_sym = symmetric_part(M);
  sums.G += M;
  sums.W += Cd.transpose() * Cd;
  sums.scatter += M_sym;
  sums.scatter_sq += M_sym.cwiseAbs2();
  sums.asymmetry_sq += (M - M.transpose()).squaredNorm();
  if (++sums.n >= state_.epoch_length) begin_epoch();
}

// Three epochs at most: the oldest two become one, or the oldest goes where it disagrees, and where it is the very
// first, which the end of the transient is in.
template <class S>
void Averaging<S>::make_room() {
  auto& epochs = state_.epochs;
  if (epochs.size() < tuning::epochs_kept) return;
  if (first_of_use() == 0 && epochs[0].n > tuning::first_epoch) {
    EpochSums<S> both = sum_of(0, 2);
    both.scatter_sq += epochs[1].scatter_sq;
    both.scatter += epochs[1].scatter;
    epochs[1] = std::move(both);
  }
  epochs.erase(epochs.begin());
}

// The reference moves to what is known now, and the sums with it: S T = sum X X'(ref T), which is X X'ref_new but for
// what ref lacks of ref_new.
template <class S>
void Averaging<S>::begin_epoch() {
  make_room();
  const Extraction now = extract(sum_of(0, state_.epochs.size()));
  Block<S> reference = turned<S>(now.Q, now.U, now.Q.cols());
  const Small<S> T = gram<S>(state_.reference, reference);
  const Small<double> Td = T.template cast<double>();
  for (EpochSums<S>& epoch : state_.epochs) {
    multiply<S>(epoch.S_sum, T, step_);
    epoch.S_sum.swap(step_);
    epoch.G = (Td.transpose() * epoch.G * Td).eval();
    epoch.W = (Td.transpose() * epoch.W * Td).eval();
  }
  state_.reference.swap(reference);
  state_.epochs.push_back(empty_epoch<S>(run_.d(), run_.p()));
  state_.epoch_length *= 2;
}

template <class S>
EpochSums<S> Averaging<S>::sum_of(std::size_t first, std::size_t last) const {
  EpochSums<S> sum = state_.epochs[first];
  for (std::size_t e = first + 1; e < last; ++e) {
    const EpochSums<S>& epoch = state_.epochs[e];
    if (epoch.n == 0) continue;
    sum.n += epoch.n;
    sum.S_sum += epoch.S_sum;
    sum.G += epoch.G;
    sum.W += epoch.W;
    sum.asymmetry_sq += epoch.asymmetry_sq;
  }
  return sum;
}

// ---- The answer

// sym(G) a = theta W a through W = L L', and from there to an orthonormal basis: S a = Q R a, made orthonormal in
// order.
template <class S>
typename Averaging<S>::Extraction Averaging<S>::extract(const EpochSums<S>& sums) const {
  Extraction found;
  found.Q = sums.S_sum;
  Small<S> R;
  thin_qr<S>(found.Q, R);
  found.R = R.template cast<double>();
  const Index p = found.R.cols();
  const Eigen::LLT<Small<double>> llt(sums.W);
  const bool definite = llt.info() == Eigen::Success;  // else the reference has nothing to do with the blocks
  const Small<double> L = definite
                              ? Small<double>(llt.matrixL())
                              : Small<double>(Small<double>::Identity(p, p) * std::sqrt(static_cast<double>(sums.n)));
  Small<double> B = L.triangularView<Eigen::Lower>().solve(symmetric_part(sums.G));
  B = L.triangularView<Eigen::Lower>().solve(B.transpose().eval());
  const SmallEigen<double> ritz = symmetric_eigen<double>(B);
  const Small<double> a = L.transpose().triangularView<Eigen::Upper>().solve(ritz.vectors);
  found.theta = ritz.values;
  const Eigen::HouseholderQR<Small<double>> qr(found.R * a);
  found.U = qr.householderQ() * Small<double>::Identity(p, p);
  for (Index j = 0; j < p; ++j)  // the direction of S a_j, not its opposite
    if (qr.matrixQR()(j, j) < 0) found.U.col(j) = -found.U.col(j);
  return found;
}

template <class S>
Block<S> Averaging<S>::basis() const {
  const Extraction now = extract(sum_of(first_of_use(), state_.epochs.size()));
  return turned<S>(now.Q, now.U, run_.k());
}

// ---- The bar

// (I - QQ')(Z_1 - Z_2) U_k, Z_e = S_e (Q'S_e)^{-1}: how two epochs disagree about what lies outside the averaged block.
// Returned is its squared Frobenius norm over 1/n_1 + 1/n_2.
template <class S>
double Averaging<S>::difference(const Extraction& at, const EpochSums<S>& one, const EpochSums<S>& other,
                                Block<S>& D) const {
  const Index k = run_.k();
  const auto inner = [&](const EpochSums<S>& sums) {
    const Small<double> QS = gram<S>(at.Q, sums.S_sum).template cast<double>();
    return Small<S>(QS.partialPivLu().solve(at.U.leftCols(k)).template cast<S>());
  };
  D.resize(run_.d(), k);
  Block<S> other_part(run_.d(), k);
  multiply<S>(one.S_sum, inner(one), D);
  multiply<S>(other.S_sum, inner(other), other_part);
  D -= other_part;
  const Small<S> along = gram<S>(at.Q, D);
  multiply<S>(at.Q, along, other_part);
  D -= other_part;
  const double norm = static_cast<double>(frobenius_norm<S>(D));
  return norm * norm / (1.0 / static_cast<double>(one.n) + 1.0 / static_cast<double>(other.n));
}

// The oldest epoch is left out where it disagrees with the next by far more than that one with the last: it was taken
// before the transient was over.
template <class S>
std::size_t Averaging<S>::first_of_use() const {
  const auto& epochs = state_.epochs;
  if (epochs.size() < 3 ||
      static_cast<double>(epochs[2].n) < tuning::least_epoch_share * static_cast<double>(epochs[1].n))
    return 0;
  Block<S> D;
  const Extraction all = extract(sum_of(0, 3));
  const double early = difference(all, epochs[0], epochs[1], D), late = difference(all, epochs[1], epochs[2], D);
  return early > tuning::epoch_disagrees * late ? 1 : 0;
}

// Earlier against later epochs, at the cut where they differ most; the mean of both has sqrt(n_1 n_2)/(n_1 + n_2) of
// their difference.
template <class S>
double Averaging<S>::outside(const Extraction& at, std::size_t first, Vector<double>& columns) const {
  const std::size_t last = state_.epochs.size();
  const HistoryEntry& now = run_.latest();
  const double least_gap = std::max(tuning::gap_in_noise * recent_noise(run_.state.history), 1e-6 * now.theta_k);
  const double rho = now.theta_k > 0 ? std::exp(-rate(run_.stopping, now, least_gap)) : 0;
  double worst = 0;
  columns = Vector<double>::Zero(run_.k());
  Block<S> D;
  for (std::size_t cut = first + 1; cut < last; ++cut) {
    const EpochSums<S> early = sum_of(first, cut), late = sum_of(cut, last);
    if (early.n < tuning::least_part || late.n < tuning::least_part) continue;
    difference(at, early, late, D);
    const double n_1 = static_cast<double>(early.n), n_2 = static_cast<double>(late.n);
    const double share = std::sqrt(n_1 * n_2) / (n_1 + n_2) * beyond_difference(n_1, n_2, rho);
    worst = std::max(worst, share * static_cast<double>(spectral_norm<S>(D)));
    columns = columns.cwiseMax(share * D.colwise().norm().transpose().template cast<double>());
  }
  return worst;
}

// The mean of n entries of G that scatter by s_ij turns the Ritz vectors i and j by s_ij / (sqrt(n) (theta_i -
// theta_j)).
template <class S>
Small<double> Averaging<S>::describe_inside(const Extraction& at, std::size_t first, ErrorBar& bar) const {
  const Index k = run_.k(), p = at.Q.cols();
  Small<double> squares = Small<double>::Zero(p, p);
  double freedom = 0, n = 0;
  for (std::size_t e = first; e < state_.epochs.size(); ++e) {
    const EpochSums<S>& epoch = state_.epochs[e];
    if (epoch.n < 2) continue;
    squares += epoch.scatter_sq - epoch.scatter.cwiseAbs2() / static_cast<double>(epoch.n);
    freedom += static_cast<double>(epoch.n - 1);
    n += static_cast<double>(epoch.n);
  }
  const Small<double> variance = squares.cwiseMax(0.0) / std::max(1.0, freedom);  // of one entry
  const auto turn = [&](Index i, Index j) {
    const double gap = std::abs(at.theta(i) - at.theta(j));
    return gap > 0 ? variance(i, j) / (n * gap * gap) : std::numeric_limits<double>::infinity();
  };
  double sum = 0;
  bar.vectors = Vector<double>::Zero(k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = k; j < p; ++j) sum += turn(i, j);
    for (Index j = 0; j < p; ++j)
      if (j != i) bar.vectors(i) += turn(i, j);
  }
  bar.inside = std::sqrt(sum);
  bar.eigenvalues = (variance.diagonal().head(k) / n).cwiseSqrt();
  return variance;
}

// Whether the means of H before and after a cut differ by more than its entries scatter from step to step: chi squared
// over its degrees of freedom. What epochs say of each other outside the block is a ratio of two sums of a few squares,
// which chance makes large.
template <class S>
bool Averaging<S>::drifts(const Small<double>& variance) const {
  const auto& epochs = state_.epochs;
  const Index k = run_.k(), p = variance.rows();  // the last diagonal entry takes its time to settle
  const auto freedom = static_cast<double>(k * (2 * p - k + 1) / 2);
  for (std::size_t cut = 1; cut < epochs.size(); ++cut) {
    const EpochSums<S> early = sum_of(0, cut), late = sum_of(cut, epochs.size());
    if (std::min(early.n, late.n) < tuning::least_part_for_drift) continue;
    const auto n_1 = static_cast<double>(early.n), n_2 = static_cast<double>(late.n);
    const Small<double> change = symmetric_part(early.G) / n_1 - symmetric_part(late.G) / n_2;
    double squares = 0;
    for (Index i = 0; i < k; ++i)
      for (Index j = i; j < p; ++j)
        if (variance(i, j) > 0) squares += change(i, j) * change(i, j) / (variance(i, j) * (1 / n_1 + 1 / n_2));
    if (squares / freedom > 1 + tuning::drift_shows / std::sqrt(freedom)) return true;
  }
  return false;
}

template <class S>
void Averaging<S>::look_for_bias(const EpochSums<S>& sums, ErrorBar& bar) const {
  const double scale = static_cast<double>(sums.n) * std::abs(run_.latest().theta_1),
               rounding = tuning::noise_above_rounding * run_.stopping.epsilon * scale;
  if (sums.asymmetry_sq * static_cast<double>(sums.n) > rounding * rounding)  // else the errors are symmetric
    bar.bias = (sums.G - sums.G.transpose()).norm() / std::sqrt(sums.asymmetry_sq);
}

// V'P V, P the mean of the blocks' projectors: mean squared cosines from the answer to the blocks. How far the last
// block strays says little: what one product turns within the block, or pushes out of it, the averages still tell from
// the rest.
template <class S>
Small<double> Averaging<S>::cosines_squared(const Block<S>& V, const EpochSums<S>& sums) const {
  const Small<double> T = gram<S>(state_.reference, V).template cast<double>();
  return T.transpose() * sums.W * T / static_cast<double>(sums.n);
}

template <class S>
Averaged<S> Averaging<S>::answer() const {
  const Index k = run_.k();
  const std::size_t first = first_of_use();
  const EpochSums<S> sums = sum_of(first, state_.epochs.size());
  const Extraction found = extract(sums);
  Averaged<S> answer{.V = turned<S>(found.Q, found.U, k), .theta = found.theta};
  ErrorBar& bar = answer.bar;
  bar.steps = sums.n;
  bar.products_needed = state_.products_needed;
  if (sums.n < 2 * tuning::least_part) return answer;
  Vector<double> columns;
  bar.outside = outside(found, first, columns);
  const Small<double> variance = describe_inside(found, first, bar);
  bar.vectors = (bar.vectors + columns.cwiseAbs2()).cwiseSqrt().cwiseMin(1.0);
  const Block<S> last = turned<S>(run_.state.X, run_.rotation.vectors.template cast<double>(), k);
  bar.last_block = static_cast<double>(sin_theta<S>(answer.V, last));
  const double by_scatter = std::min(1.0, std::hypot(bar.inside, bar.outside));
  const Small<double> cosines = cosines_squared(answer.V, sums);
  const bool resolved = symmetric_eigen<double>(cosines).values.tail(1)(0) > tuning::least_cosine_squared;
  bar.sin_theta = resolved ? by_scatter : std::max(by_scatter, bar.last_block);
  while (bar.resolved < k && bar.vectors(bar.resolved) < tuning::unresolved_block) ++bar.resolved;
  // The blocks are tilted by noise, each by its own: their Rayleigh quotients are too low, by sin^2 times the
  // eigenvalue at most.
  const Vector<double> tilt = (1 - cosines.diagonal().array()).max(0.0) * found.theta.head(k).array().abs();
  bar.eigenvalues = (bar.eigenvalues.array().square() + tilt.array().square()).sqrt();
  look_for_bias(sums, bar);
  bar.drift = drifts(variance);
  bar.kind = bar.bias > tuning::bias_shows || bar.drift ? BarKind::indicative : BarKind::calibrated;
  if (run_.options.noise_norm) {
    const double norm = std::ldexp(*run_.options.noise_norm, -run_.exponent);
    const double gap = found.theta(k - 1) - found.theta(k) - 2 * norm;
    bar.kind = BarKind::bound;
    bar.sin_theta = gap > 0 ? std::min(1.0, bar.sin_theta + norm / gap) : 1.0;
  }
  return answer;
}

// ---- When to average, and when to stop

// How far the steps so far have taken the wanted eigenvectors from the others, as a logarithm: a step with edge b lets
// the eigenvalue x grow by exp(acosh(1 + (x - b)/(2 sqrt(beta)))) beside what it damps. The wanted ones are at least
// theta_k now, what is not in the block at most the block's least Ritz value.
template <class S>
double Averaging<S>::progress() const {
  const auto& history = run_.state.history;
  const HistoryEntry& now = history.back();
  const double noise = recent_noise(history);
  const double least_gap = std::max(tuning::gap_in_noise * noise, tuning::least_gap * now.theta_k);
  const double below = std::min(static_cast<double>(run_.now.theta.tail(1)(0)), now.theta_k - least_gap);
  double sum = 0;
  for (const HistoryEntry& entry : history) {
    if (!(entry.edge > 0)) continue;
    const double b = std::min(entry.edge, below);
    const double two_sqrt_beta = run_.stopping.damping == Damping::centred ? b / 2 : b;
    sum += std::acosh(1 + (now.theta_k - b) / two_sqrt_beta) - std::acosh(1 + (below - b) / two_sqrt_beta);
  }
  return sum;
}

// The error of a random start has sunk below what the residual shows, and the residual has stopped falling.
template <class S>
bool Averaging<S>::transient_is_over() const {
  const auto& history = run_.state.history;
  if (history.size() < tuning::least_transient) return false;
  const HistoryEntry& now = history.back();
  const double before = std::min(history[history.size() - 2].residual, history[history.size() - 3].residual);
  if (!(now.residual > tuning::no_progress * before)) return false;
  if (!(now.theta_k > 0)) return now.t >= tuning::transient_without_rate;
  const double start = tuning::unlucky_start * std::sqrt(static_cast<double>(run_.d()) * static_cast<double>(run_.k()));
  return progress() >= std::log(std::max(2.0, start / std::max(now.residual, run_.stopping.epsilon)));
}

template <class S>
bool Averaging<S>::budget_is_spent(Index columns) const {
  const auto& budget = run_.options.product_budget;
  return budget && run_.state.products + columns > *budget;
}

template <class S>
std::optional<Status> Averaging<S>::verdict() {
  const Index next = begun() ? run_.p() : run_.p() + run_.k();
  const bool at_limit = run_.state.t >= iteration_limit(run_.options) || budget_is_spent(next + run_.k());
  if (!begun()) return at_limit ? std::optional(Status::iteration_limit) : std::nullopt;
  if (at_limit) return look_at_the_bar().value_or(Status::noise_floor);
  return steps() >= state_.next_look ? look_at_the_bar() : std::nullopt;
}

template <class S>
Index Averaging<S>::default_steps() const {
  return std::max(tuning::least_averaged, state_.began);
}

// That the limits leave.
template <class S>
Index Averaging<S>::most_steps() const {
  const Index by_iterations = iteration_limit(run_.options) - run_.state.t;
  const auto& budget = run_.options.product_budget;
  return budget ? std::min(by_iterations, (*budget - run_.state.products) / run_.p()) : by_iterations;
}

// For the accuracy asked for, in all: what scatters falls like 1/sqrt(n), what a norm that was given adds does not
// fall.
template <class S>
double Averaging<S>::steps_needed(const ErrorBar& bar) const {
  const double scatter = std::hypot(bar.inside, bar.outside), rest = std::max(0.0, bar.sin_theta - scatter);
  const double left = run_.goal.sine - (bar.kind == BarKind::bound ? rest : 0.0);
  if (!(left > 0) || !bar.exists()) return std::numeric_limits<double>::infinity();
  const double ratio = (bar.kind == BarKind::bound ? scatter : bar.sin_theta) / left;
  return static_cast<double>(bar.steps) * ratio * ratio;
}

template <class S>
std::optional<Status> Averaging<S>::look_at_the_bar() {
  const double wanted = run_.goal.sine;
  const bool has_budget = run_.options.product_budget.has_value();
  state_.next_look = std::numeric_limits<Index>::max();
  if (wanted == 0) return has_budget ? std::nullopt : std::optional(Status::noise_floor);
  const ErrorBar bar = answer().bar;
  if (bar.exists() && bar.sin_theta <= wanted) {  // more steps show no more of a bias
    if (bar.kind != BarKind::indicative) return Status::converged;
    return has_budget ? std::nullopt : std::optional(Status::noise_floor);
  }
  const auto n = static_cast<double>(bar.steps);
  const double needed = steps_needed(bar);
  state_.products_needed = static_cast<double>(run_.state.products) + (needed - n) * static_cast<double>(run_.p());
  if (!has_budget && !(needed - n <= static_cast<double>(most_steps()))) return Status::noise_floor;
  const double next = std::clamp(tuning::beyond_needed * needed, n * tuning::least_growth + 1, 2 * n);
  state_.next_look = static_cast<Index>(std::min(next, 1e15));
  return std::nullopt;
}

// A wide block buys a low edge theta_q, at products that cost by columns: with a flat tail it buys nothing.
template <class S>
Index Averaging<S>::best_width() const {
  HistoryEntry entry = run_.latest();
  const double resolution =
      std::max(tuning::gap_in_noise * recent_noise(run_.state.history), tuning::least_gap * std::abs(entry.theta_k));
  const auto cost = [&](Index q) {
    entry.edge = std::max(0.0, static_cast<double>(run_.now.theta(q - 1)));
    return static_cast<double>(q) / rate(run_.stopping, entry, resolution);
  };
  const double now = cost(run_.p());
  Index best = run_.p();
  for (Index q = run_.k() + 1; q < run_.p(); ++q)
    if (cost(q) < std::min(tuning::worth_narrowing * now, cost(best))) best = q;
  return best;
}

template <class S>
void Averaging<S>::choose_columns() {
  const Index narrow = run_.k() + 1;
  if (!transient_is_over()) {
    if (run_.options.oversample || run_.state.t < tuning::narrow_after || !(run_.latest().theta_k > 0)) return;
    if (const Index q = best_width(); q < run_.p()) run_.narrow_to(q);
    return;
  }
  // What is not in the block lies below its next Ritz value, as long as that was in the wide one.
  state_.edge = run_.p() > narrow ? std::max(0.0, static_cast<double>(run_.now.theta(narrow))) : 0;
  run_.narrow_to(narrow);
  state_.reference = run_.state.X;
  state_.epochs.assign(1, empty_epoch<S>(run_.d(), narrow));
  state_.epoch_length = tuning::first_epoch;
  state_.began = run_.state.t;
  state_.next_look = run_.goal.sine > 0 ? tuning::first_look : default_steps();
}

template <class S>
std::vector<std::string> Averaging<S>::notes(const ErrorBar& bar) const {
  std::vector<std::string> notes;
  if (!bar.exists()) return notes;
  if (bar.bias > tuning::bias_shows)
    notes.push_back(fmt::format(
        "the errors of the products are not independent (their mean is {:.2g} times what independent ones leave): what "
        "is common to all of them is not in the error bar",
        bar.bias));
  if (bar.sin_theta > tuning::unresolved_block)
    notes.push_back(fmt::format("the subspace is not resolved under this noise: of its {} eigenvectors {} are",
                                run_.k(), bar.resolved));
  if (std::isinf(bar.products_needed) && !(bar.sin_theta <= run_.goal.sine))
    notes.push_back(
        fmt::format("an accuracy of {:.2g} is out of reach: the noise norm given allows no better", run_.goal.sine));
  if (std::isfinite(bar.products_needed) && !(bar.sin_theta <= run_.goal.sine))
    notes.push_back(fmt::format("an accuracy of {:.2g} would take about {:.3g} products at this noise; {} were made",
                                run_.goal.sine, bar.products_needed, run_.state.products));
  return notes;
}

template class Averaging<float>;
template class Averaging<double>;

}  // namespace hearsay::detail
