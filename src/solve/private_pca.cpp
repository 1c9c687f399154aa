#include "hearsay/private_pca.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/operators/stored.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "operators/rows_in_memory.hpp"

namespace hearsay {

namespace {

// With so many eigenvalues the error bar knows what it must of those that were not asked for.
Index seen_values(Index rank, Index dimension) { return std::min(dimension, 2 * rank + 8); }

Request of_release(const Request& request, Index dimension) {
  Request inner = request;
  const Index k = request.settings.power.rank;
  require(k >= 1 && k <= dimension, fmt::format("rank = {}: must lie in [1, {}], the dimension", k, dimension));
  inner.settings.power.rank = seen_values(k, dimension);
  inner.settings.power.certify = Certify::none;  // of the release nobody asks whether something was missed
  return inner;
}

void keep(PowerResult<double>& power, Index k) {
  power.basis = Block<double>(power.basis.leftCols(k));
  power.eigenvalues = Vector<double>(power.eigenvalues.head(k));
}

// What a lazy solve has no use for.
bool names_a_solver(const PowerOptions& options) {
  return (options.method && *options.method != SolveMethod::krylov) || options.damping || options.extraction ||
         options.qr_every || options.momentum.rule != Momentum::Rule::automatic;
}

// The eigenvalue of C behind one of C + E: theta = lambda + d s^2 / lambda, s being sigma / sqrt(2).
double debiased(double theta, double edge) {
  if (theta <= 0) return 0;
  return (theta + std::sqrt(std::max(0.0, theta * theta - edge * edge))) / 2;
}

}  // namespace

PrivateAccuracy private_accuracy(const Vector<double>& theta, Index k, Index dimension, double sigma, double trace) {
  const double d = static_cast<double>(dimension), s2 = sigma * sigma / 2, edge = 2 * std::sqrt(s2 * d);
  const Index q = theta.size();
  PrivateAccuracy found{.values = Vector<double>::Zero(k)};
  Vector<double> lambda(q);
  for (Index i = 0; i < q; ++i) lambda(i) = debiased(theta(i), edge);
  double captured = 0, all = 0;
  for (Index i = 0; i < k; ++i) {
    all += lambda(i);
    if (!(theta(i) > edge)) continue;
    found.values(i) = lambda(i);
    ++found.above_noise;
    captured += lambda(i) * std::max(0.0, 1 - d * s2 / (lambda(i) * lambda(i)));
  }
  if (all > 0) found.captured = std::min(1.0, captured / all);
  if (trace > 0) found.explained = std::min(1.0, captured / trace);
  if (std::isnan(trace)) found.explained = trace;
  if (found.above_noise < k) return found;  // nothing is known of a component that drowned
  double square = (d - static_cast<double>(q)) * s2 / (lambda(k - 1) * lambda(k - 1));
  for (Index i = 0; i < k; ++i)
    for (Index j = k; j < q; ++j) square += s2 / std::pow(lambda(i) - lambda(j), 2);
  found.sin_theta = std::min(1.0, std::sqrt(square));
  return found;
}

void check(const Request& request, const PrivacySettings& settings) {
  check(request);
  check(settings);
  if (settings.form == ReleaseForm::lazy) (void)plan_products(settings, 1);  // a budget may be too small for it
  const SolveSettings& asked = request.settings;
  const auto refuse = [](bool wrong, const char* what) { require(!wrong, what); };
  refuse(asked.rank_rule.kind != RankRule::Kind::count,
         "rank: must be a number where data are private: how many components there are is a release of its own");
  refuse(asked.precision != Precision::full, "precision: must be double where data are private");
  refuse(asked.noise.kind != NoiseChoice::Kind::none || request.noise,
         "noise: is added by the release where data are private, and once");
  refuse(asked.power.which != Which::largest, "which: must be LA where data are private");
  refuse((settings.form == ReleaseForm::lazy || settings.form == ReleaseForm::fresh) && names_a_solver(asked.power),
         "method, momentum, damping, qr-every: with release = lazy or fresh the form decides how to solve; leave them "
         "out");
  refuse(asked.optimal_momentum || request.audit || request.reference || request.checkpoints || request.start,
         "audit, reference, checkpoint, start, optimal momentum: are not for private data");
}

PrivatePcaSolution solve_release(Block<double> matrix, const ReleasePlan& plan, Vector<double> mean,
                                 const Request& request, const PrivacySettings& settings) {
  const Index d = matrix.rows(), k = request.settings.power.rank;
  // The matrix may have negative eigenvalues. The Krylov space does not mind; the power iteration finds a shift.
  Solution<double> solved = solve_matrix<double>(borrow(matrix), of_release(request, d));
  PrivatePcaSolution found{.plan = plan, .mean = std::move(mean)};
  found.accuracy = private_accuracy(solved.power.eigenvalues * std::ldexp(1.0, solved.power.exponent), k, d, plan.sigma,
                                    matrix.trace());
  keep(solved.power, k);
  found.solution = std::move(solved);
  found.release = std::move(matrix);
  found.divisor = settings.public_rows > 0 ? static_cast<double>(settings.public_rows) : 1.0;
  return found;
}

namespace {

constexpr Index lazy_oversample = 8, lazy_blocks = 40;
constexpr double undone = 0.05;  // of the norm of the noise in one direction, what a solve may leave undone

// All that can be refused before a row is read; and then which form it is.
ReleaseForm checked_form(const Request& request, const PrivacySettings& settings, Index d) {
  check(request, settings);
  (void)of_release(request, d);
  return settings.form == ReleaseForm::automatic && names_a_solver(request.settings.power) ? ReleaseForm::stored
                                                                                           : form_for(settings, d);
}

}  // namespace

// The space is that of all directions asked for: none of what was paid for is thrown away. Residuals of the leading
// columns are what is asked for next.
PrivatePcaSolution solve_products(const LazyPrivateCovariance& A, const Request& request,
                                  const PrivacySettings& settings) {
  const PowerOptions& options = request.settings.power;
  const Index d = A.dim(), k = options.rank, p = std::min(d, k + options.oversample.value_or(lazy_oversample));
  require(k >= 1 && k <= d, fmt::format("rank = {}: must lie in [1, {}], the dimension", k, d));
  const double noise = A.plan().sigma * std::sqrt(static_cast<double>(d) / 2);
  const Index limit = options.max_iterations.value_or(lazy_blocks);
  PrivatePcaSolution found{.plan = A.plan(), .form = ReleaseForm::lazy, .mean = A.mean()};
  PowerResult<double>& power = found.solution.power;
  A.ask(random_orthonormal<double>(d, p, {.seed = options.seed, .stream = Stream::start_block}));
  PrivateRitz ritz = A.leading(p);
  for (power.iterations = 1;; ++power.iterations) {
    const double left = spectral_norm<double>(ritz.residual.leftCols(k)), norm = ritz.values.head(k).norm();
    power.residual = norm > 0 ? left / norm : 0.0;
    const Index before = A.asked();
    const bool enough = left <= undone * noise || power.residual <= tolerance_of<double>(options);
    if (!enough && power.iterations < limit) A.ask(ritz.residual);
    power.status = enough ? Status::converged : Status::iteration_limit;
    if (A.asked() == before) break;
    ritz = A.leading(p);
  }
  power.basis = Block<double>(ritz.basis.leftCols(k));
  canonical_signs<double>(power.basis);
  power.eigenvalues = ritz.values.head(k);
  found.accuracy = private_accuracy(ritz.values.head(std::min(A.asked(), seen_values(k, d))), k, d, A.plan().sigma,
                                    std::nan(""));  // of the trace such a release tells nothing
  found.release = A.products();
  found.directions = A.directions();
  found.divisor = settings.public_rows > 0 ? static_cast<double>(settings.public_rows) : 1.0;
  return found;
}

namespace {

constexpr Index fresh_width = 4;  // columns for every component

Block<double> beside_each_other(const std::vector<Block<double>>& blocks) {
  Block<double> all(blocks.front().rows(), blocks.front().cols() * static_cast<Index>(blocks.size()));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    all.middleCols(static_cast<Index>(i) * blocks[i].cols(), blocks[i].cols()) = blocks[i];
  return all;
}

// Of a product with noise of deviation sigma in every entry: its singular values S are those of C X and the noise,
// S^2 = lambda^2 + d sigma^2; left singular vectors lean by both.
PrivateAccuracy fresh_accuracy(const Vector<double>& S, Index k, double d, double sigma) {
  const Index p = S.size();
  const double s2 = sigma * sigma, edge = sigma * (std::sqrt(d) + std::sqrt(static_cast<double>(p)));
  PrivateAccuracy found{.values = Vector<double>::Zero(k), .explained = std::nan("")};
  const Vector<double> lambda = (S.array().square() - d * s2).max(0.0).sqrt();
  double captured = 0;
  for (Index i = 0; i < k && S(i) > edge; ++i) {
    found.values(i) = lambda(i);
    ++found.above_noise;
    captured += std::pow(lambda(i), 3) / (S(i) * S(i));
  }
  const double all = lambda.head(k).sum();
  if (all > 0) found.captured = std::min(1.0, captured / all);
  if (found.above_noise < k) return found;
  double square = (d - static_cast<double>(p)) * s2 / (lambda(k - 1) * lambda(k - 1));
  for (Index i = 0; i < k; ++i)
    for (Index j = k; j < p; ++j) {
      const double a = lambda(i) * lambda(i), b = lambda(j) * lambda(j);
      square += s2 * (a + b) / ((a - b) * (a - b));
    }
  found.sin_theta = std::min(1.0, std::sqrt(square));
  return found;
}

// The noisy power method: X <- the left singular vectors of C X + noise.
PrivatePcaSolution solve_fresh(FreshPrivateProducts A, const Request& request, const PrivacySettings& settings) {
  const PowerOptions& options = request.settings.power;
  const Index d = A.dim(), k = options.rank;
  const Index p = std::min(d, options.oversample ? k + *options.oversample : fresh_width * k);
  Block<double> X = random_orthonormal<double>(d, p, {.seed = options.seed, .stream = Stream::start_block});
  Vector<double> S(p);
  std::vector<Block<double>> asked, told;
  while (A.left() > 0) {
    asked.push_back(X);
    told.push_back(A.product(X));
    const SmallEigen<double> eigen = symmetric_eigen<double>(gram<double>(ConstBlockView<double>(told.back())));
    S = eigen.values.array().max(0.0).sqrt();
    multiply<double>(ConstBlockView<double>(told.back()), eigen.vectors, X);
    Small<double> R;
    thin_qr<double>(X, R);  // columns are orthogonal but for rounding, and stay in their order
  }
  PrivatePcaSolution found{.plan = A.plan(), .form = ReleaseForm::fresh, .mean = A.mean()};
  PowerResult<double>& power = found.solution.power;
  found.accuracy = fresh_accuracy(S, k, static_cast<double>(d), A.plan().sigma);
  power.basis = Block<double>(X.leftCols(k));
  canonical_signs<double>(power.basis);
  power.eigenvalues = S.head(k);
  power.iterations = fresh_products;
  power.status = Status::converged;  // all that was paid for is used; how good that is, the bar says
  found.release = beside_each_other(told);
  found.directions = beside_each_other(asked);
  found.divisor = settings.public_rows > 0 ? static_cast<double>(settings.public_rows) : 1.0;
  return found;
}

}  // namespace

PrivatePcaSolution solve_private_pca(RowSource<double>& rows, const Request& request, const PrivacySettings& settings,
                                     const SecretWords& words) {
  const ReleaseForm form = checked_form(request, settings, rows.cols());
  if (form == ReleaseForm::lazy) return solve_products(LazyPrivateCovariance(rows, settings, words), request, settings);
  if (form == ReleaseForm::fresh) return solve_fresh(FreshPrivateProducts(rows, settings, words), request, settings);
  PrivateCovariance released(rows, settings, words);
  const ReleasePlan plan = released.plan();
  Vector<double> mean = released.mean();
  return solve_release(std::move(released).matrix(), plan, std::move(mean), request, settings);
}

PrivatePcaSolution solve_private_pca(const BorrowedBlock<double>& data, const Request& request,
                                     const PrivacySettings& settings, const SecretWords& words) {
  detail::DenseRows rows(data);
  return solve_private_pca(rows, request, settings, words);
}

PrivatePcaSolution solve_private_pca(const CsrView<double>& data, const Request& request,
                                     const PrivacySettings& settings, const SecretWords& words) {
  const ReleaseForm form = checked_form(request, settings, data.cols);
  if (form == ReleaseForm::lazy) return solve_products(LazyPrivateCovariance(data, settings, words), request, settings);
  if (form == ReleaseForm::fresh) return solve_fresh(FreshPrivateProducts(data, settings, words), request, settings);
  detail::SparseRows rows(data);
  return solve_private_pca(rows, request, settings, words);
}

PrivatePlan plan_private_pca(const PrivatePlanRequest& request) {
  const Index d = request.dimension, k = request.rank;
  require(request.privacy.public_rows > 0, "public-rows: must be given, to know how much the noise is worth");
  require(d >= 2, fmt::format("dimension = {}: must be at least 2", d));
  require(k >= 1 && k < d, fmt::format("rank = {}: must lie in [1, {}]", k, d - 1));
  const Index given = request.spectrum.size();
  require(given >= k && given <= d,
          fmt::format("spectrum: has {} variances, and must have from {} to {}", given, k, d));
  PrivatePlan plan{.release = plan_release(request.privacy, d)};
  const double s2 = plan.release.sigma * plan.release.sigma / 2, n = static_cast<double>(request.privacy.public_rows);
  Vector<double> theta(d);
  for (Index i = 0; i < d; ++i) {
    const double lambda = i < given ? n * request.spectrum(i) : 0.0;
    require(lambda >= 0 && std::isfinite(lambda) && (i == 0 || lambda <= theta(i - 1)),
            "spectrum: must be finite, not negative, and descending");
    theta(i) = lambda;
  }
  // Of first order in the noise: the energy of E between each wanted direction and each other, over their gap.
  const double total = theta.head(k).sum();
  double square = 0, lost = 0;
  for (Index i = 0; i < k; ++i)
    for (Index j = k; j < d; ++j) {
      const double gap = theta(i) - theta(j), tangent = gap > 0 ? s2 / (gap * gap) : HUGE_VAL;
      square += tangent;
      lost += std::isfinite(tangent) ? gap * tangent / (1 + tangent) : 0.0;
    }
  plan.sin_theta = std::min(1.0, std::sqrt(square));
  plan.captured = total > 0 ? std::max(0.0, 1 - lost / total) : 0.0;
  return plan;
}

std::optional<double> epsilon_for_sine(PrivatePlanRequest request, double sine) {
  require(sine > 0 && sine < 1, fmt::format("accuracy = {}: must lie between 0 and 1", sine));
  const auto enough = [&](double epsilon) {
    request.privacy.budget.epsilon = epsilon;
    return plan_private_pca(request).sin_theta <= sine;
  };
  double low = 1e-3, high = 100;
  if (!enough(high)) return std::nullopt;
  if (enough(low)) return low;
  while (high / low > 1 + 1e-6) {
    const double middle = std::sqrt(low * high);
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace hearsay
