// The adversary: solves of matrices that are hard to speak the truth about, each judged against its own certificate by
// an eigensolver with 64-bit significands. A wrong word is
//   bound       sin(theta) above the bound
//   accuracy    `converged`, and sin(theta) above the accuracy asked for
//   estimate    `converged`, and sin(theta) more than twice the estimate
//   missed      more eigenvalues above x than the certificate says
//   residual    a residual above what is said, rounding included; or `converged` above the tolerance
//   cluster     eigenvalues that are said to agree, and do not; or a space that is said to be certain, and is not
//   order       eigenvalues that are none of their vectors', or stand in another order than was promised
//   noise       a noise floor on exact products
//   error       an exception, where products are exact
//
//   hearsay_adversary_solves N [--seed S] [--only CASE] [--verbose]
#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <hearsay/error.hpp>
#include <hearsay/mixed.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/pca.hpp>
#include <hearsay/subspace.hpp>
#include <hearsay/threads.hpp>
#include <map>
#include <mutex>
#include <thread>

#include "instances.hpp"

namespace hearsay::adversary {
namespace {

struct Verdict {
  std::string family, end, words;  // words: empty, or which were wrong
  std::string status = "refused";
  bool bound = false, exceeded = false;
  std::string account;
};

enum class Start { random, wrong_invariant, deficient, good };
enum class Precision { full, single, mixed };

struct Question {
  PowerOptions options;
  Start start = Start::random;
  Precision precision = Precision::full;
  bool callback = false;  // the operator does not say that it is exact
  double scale = 1;
  double noise = 0;

  double tolerance() const {
    return precision == Precision::single ? tolerance_of<float>(options) : tolerance_of<double>(options);
  }
};

// Another end of the spectrum; both together are found in one Krylov space, in one precision, of exact products.
void draw_end(Dice& dice, Question& question) {
  PowerOptions& options = question.options;
  options.which = dice.one_of({Which::smallest, Which::magnitude, Which::both_ends});
  if (options.which == Which::smallest) return;
  question.noise = 0;
  if (question.precision == Precision::mixed) question.precision = Precision::full;
  options.method.reset();
  options.momentum = {};
  if (options.oversample.value_or(1) == 0) options.oversample.reset();
}

Question draw_question(Dice& dice, Index k, Index d) {
  Question question;
  PowerOptions& options = question.options;
  options.rank = k;
  options.seed = dice.seed();
  const double accuracy = dice.one_of({0.0, 0.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8});
  if (accuracy > 0) options.accuracy = accuracy;
  if (accuracy == 0 && dice.chance(0.5)) options.tolerance = dice.one_of({1e-2, 1e-3, 1e-5, 1e-7, 1e-12});
  question.precision = dice.chance(0.6) ? Precision::full : dice.chance(0.5) ? Precision::single : Precision::mixed;
  if (dice.chance(0.25))
    question.start = dice.one_of({Start::wrong_invariant, Start::wrong_invariant, Start::deficient, Start::good});
  if (dice.chance(0.35)) {
    options.method = SolveMethod::anpm;
    if (dice.chance(0.3)) options.momentum = dice.chance(0.5) ? Momentum::none() : Momentum::paper();
    if (dice.chance(0.2)) options.oversample = dice.from(1, 6);
    if (options.momentum.rule == Momentum::Rule::none && dice.chance(0.5)) options.oversample = 0;
  } else if (dice.chance(0.3)) {
    options.method = SolveMethod::krylov;
  }
  options.max_iterations = std::max<Index>(dice.chance(0.1) ? dice.from(5, 30) : 1000, (k + 2) / 8 + 2);
  if (dice.chance(0.1)) options.certify = Certify::residual;
  question.callback = dice.chance(0.15) && question.precision == Precision::full;
  if (question.callback && options.method == SolveMethod::krylov) options.method.reset();
  if (question.precision == Precision::full && dice.chance(0.15)) question.scale = dice.power_of_ten(-290, 290);
  if (question.precision == Precision::full && dice.chance(0.08)) {
    question.noise = dice.power_of_ten(-8, -3);
    options.method = SolveMethod::anpm;
  }
  if (d <= k) options.oversample.reset();
  if (dice.chance(0.6)) draw_end(dice, question);
  return question;
}

Block<double> draw_start(Dice& dice, const Question& question, const Truth& truth, Index k) {
  const Index d = truth.vectors.rows();
  const Index columns = std::min(d, dice.chance(0.5) ? k : 2 * k + dice.from(0, 8));
  Block<double> start(d, columns);
  const std::vector<Index> order = truth.order(question.options.which, k);
  const auto at = [&](Index j) { return order[static_cast<std::size_t>(j)]; };
  switch (question.start) {
    case Start::good:
      for (Index j = 0; j < columns; ++j) start.col(j) = truth.vectors.col(at(j)).cast<double>();
      return start;
    case Start::wrong_invariant: {  // eigenvectors, but not the leading ones: one is left out, or many
      const Index skip = dice.chance(0.5) ? 1 : dice.from(1, std::max<Index>(1, d - columns));
      const Index before = skip == 1 ? dice.from(0, std::min(k, columns) - 1) : 0;
      for (Index j = 0; j < columns; ++j)
        start.col(j) = truth.vectors.col(at(std::min(d - 1, j < before ? j : j + skip))).cast<double>();
      return start;
    }
    default:
      for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < d; ++i) start(i, j) = j % 2 == 1 ? start(i, j - 1) : dice.normal();
      return start;
  }
}

PowerResult<double> widened(const PowerResult<float>& result) {
  PowerResult<double> wide;
  wide.basis = result.basis.cast<double>();
  wide.eigenvalues = result.eigenvalues.cast<double>();
  wide.status = result.status;
  wide.residual = result.residual;
  wide.sin_theta_estimate = result.sin_theta_estimate;
  wide.certificate = result.certificate;
  wide.exponent = result.exponent;
  wide.method = result.method;
  wide.which = result.which;
  wide.passes = result.passes;
  return wide;
}

template <class S>
CsrMatrix<S> entries_of(const Block<double>& A) {
  CsrMatrix<S> out{.rows = A.rows(), .cols = A.cols()};
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j)
      if (A(i, j) != 0) {
        out.columns.push_back(static_cast<std::int32_t>(j));
        out.values.push_back(static_cast<S>(A(i, j)));
      }
    out.row_start.push_back(out.nonzeros());
  }
  return out;
}

template <template <class> class Stored>
PowerResult<double> solve(const Question& question, const Stored<double>& stored, const Stored<float>& stored_single,
                          const Block<double>* start) {
  Hooks<double> hooks;
  hooks.start = start;
  if (question.noise > 0)
    return principal_subspace<double>(noisy(stored, gaussian_noise<double>(question.noise, question.options.seed)),
                                      question.options, hooks);
  if (question.callback) {
    const CallbackOperator<double> function(stored.dim(),
                                            [&](ConstBlockView<double> X, BlockView<double> Y) { stored.apply(X, Y); });
    return principal_subspace<double>(function, question.options, hooks);
  }
  if (question.precision == Precision::full) return principal_subspace<double>(stored, question.options, hooks);
  if (question.precision == Precision::mixed)
    return mixed_precision_subspace(stored_single, stored, question.options, hooks);
  Hooks<float> single_hooks;
  Block<float> single_start;
  if (start != nullptr) {
    single_start = start->cast<float>();
    single_hooks.start = &single_start;
  }
  return widened(principal_subspace<float>(stored_single, question.options, single_hooks));
}

PowerResult<double> solve(const Question& question, const Block<double>& A, bool sparse, const Block<double>* start) {
  if (sparse) {
    const CsrMatrix<double> entries = entries_of<double>(A);
    const CsrMatrix<float> rounded = entries_of<float>(A);
    return solve<SparseSymmetric>(question, SparseSymmetric<double>(entries), SparseSymmetric<float>(rounded), start);
  }
  const Block<float> rounded = A.cast<float>();
  return solve<DenseSymmetric>(question, DenseSymmetric<double>(A), DenseSymmetric<float>(rounded), start);
}

class Judge {
 public:
  Judge(const Question& question, const Instance& instance, const Truth& truth, const PowerResult<double>& result)
      : question_(question),
        which_(question.options.which),
        k_(instance.k),
        truth_(truth),
        result_(result),
        certificate_(result.certificate),
        order_(truth.order(which_, k_)) {
    // all in the units of the eigenvalues as returned
    lambda_ = truth.values * std::ldexp(static_cast<long double>(question.scale), -result.exponent);
    largest_ = static_cast<double>(lambda_.cwiseAbs().maxCoeff());
    sine_ = truth.sine(result.basis, {order_.begin(), order_.begin() + k_});
    // what the judge itself does not know
    doubt_ = static_cast<double>(1e-17L * largest_ * 100 / std::max(gap(), 1e-4000L));
  }

  std::string words() {
    const bool converged = result_.status == Status::converged;
    const bool noisy = question_.noise > 0;
    if (certificate_.sin_theta_bound < 1) check("bound", sine_, certificate_.sin_theta_bound * (1 + 1e-6) + doubt_);
    if (!noisy && converged && question_.options.accuracy)
      check("accuracy", sine_, *question_.options.accuracy + doubt_);
    if (!noisy && converged && certificate_.sin_theta == Knowledge::estimate)
      check("estimate", sine_, 2 * certificate_.sin_theta_estimate + doubt_);
    check_missed();
    check_order();
    if (!noisy && certificate_.level != Certify::none && result_.status != Status::breakdown) check_residual(converged);
    if (!noisy && result_.status == Status::noise_floor) words_ += " noise";
    if (result_.status == Status::ambiguous) check_cluster();
    return words_;
  }

  double sine() const { return sine_; }
  bool exceeded() const {
    return result_.status == Status::converged && certificate_.sin_theta != Knowledge::unknown &&
           sine_ > certificate_.sin_theta_estimate + doubt_;
  }

  std::string account() const {
    return fmt::format(
        "sine {:.3g} bound {:.3g} estimate {:.3g} residual {:.3g} rounding {:.3g} gap {:.3g} of {:.3g} x {:.6g} count "
        "{} below {:.6g} count {}{}",
        sine_, certificate_.sin_theta_bound, certificate_.sin_theta_estimate, certificate_.residual,
        certificate_.rounding, static_cast<double>(gap()), largest_, certificate_.nothing_missed_above,
        certificate_.nothing_missed_count, certificate_.nothing_missed_below, certificate_.nothing_missed_count_below,
        certificate_.cluster ? fmt::format(" cluster {}..{}{} spread {:.3g} sine {:.3g}", certificate_.cluster->first,
                                           certificate_.cluster->last, certificate_.cluster->open ? "+" : "",
                                           certificate_.cluster->spread, certificate_.cluster->sin_theta)
                             : "");
  }

 private:
  void check(const char* word, double value, double most) {
    if (!(value <= most)) words_ += fmt::format(" {}({:.3g}>{:.3g})", word, value, most);
  }

  // Between what is wanted and what is not; of magnitudes also of those.
  long double gap() const {
    if (k_ == lambda_.size()) return largest_;
    long double least = largest_;
    for (std::size_t i = 0; i < static_cast<std::size_t>(k_); ++i)
      for (std::size_t j = static_cast<std::size_t>(k_); j < order_.size(); ++j)
        least = std::min(least, std::abs(lambda_(order_[i]) - lambda_(order_[j])));
    if (which_ == Which::magnitude)
      least = std::min(least, std::abs(lambda_(order_[static_cast<std::size_t>(k_ - 1)])) -
                                  std::abs(lambda_(order_[static_cast<std::size_t>(k_)])));
    return least;
  }

  void check_missed() {
    const double slack = 2 * certificate_.rounding;
    const long double above = certificate_.nothing_missed_above + slack,
                      below = certificate_.nothing_missed_below - slack;
    check("missed", static_cast<double>((lambda_.array() > above).count()),
          static_cast<double>(certificate_.nothing_missed_count));
    check("missed below", static_cast<double>((lambda_.array() < below).count()),
          static_cast<double>(certificate_.nothing_missed_count_below));
    const bool high = which_ != Which::smallest, low = which_ == Which::smallest;
    if (certificate_.nothing_missed == Knowledge::bound &&
        ((high && !std::isfinite(certificate_.nothing_missed_above)) ||
         (low && !std::isfinite(certificate_.nothing_missed_below))))
      words_ += " missed(nothing said)";
  }

  // Every eigenvalue is its vector's Rayleigh quotient, as far as residual and rounding tell, and they stand in order.
  void check_order() {
    if (result_.which != which_) words_ += " order(which)";
    if (question_.noise > 0 || result_.status == Status::breakdown || certificate_.level == Certify::none) return;
    const Vector<double>& values = result_.eigenvalues;
    for (Index i = 0; i + 1 < values.size(); ++i) {
      const double a = values(i), b = values(i + 1);
      const bool ordered = which_ == Which::smallest    ? a <= b
                           : which_ == Which::magnitude ? std::abs(a) >= std::abs(b)
                                                        : a >= b;
      if (!ordered) words_ += fmt::format(" order({} before {})", a, b);
    }
    for (Index i = 0; i < values.size(); ++i) {
      const ExactVector along = truth_.vectors.transpose() * result_.basis.col(i).cast<long double>();
      const auto quotient = static_cast<double>((along.array().square() * lambda_.array()).sum());
      check("order", std::abs(quotient - values(i)),
            certificate_.residual + 2 * certificate_.rounding +
                1e-6 * (question_.precision == Precision::single ? largest_ : 1e-6 * largest_));
    }
  }

  void check_residual(bool converged) {
    const Exact V = result_.basis.cast<long double>();
    const Exact AV = truth_.vectors * lambda_.asDiagonal() * (truth_.vectors.transpose() * V);
    const Exact Theta = V.transpose() * AV;
    const double size = std::max(static_cast<double>(AV.norm()), 1e-3 * largest_);
    const double residual = static_cast<double>((AV - V * Theta).norm());
    check("residual", residual, 1.01 * (certificate_.residual + certificate_.rounding) + 1e-300);
    if (converged) check("tolerance", residual, 1.01 * (question_.tolerance() * size + certificate_.rounding));
  }

  void check_cluster() {
    if (!certificate_.cluster) {
      if (certificate_.level != Certify::none) words_ += " cluster(none)";
      return;
    }
    const Cluster& cluster = *certificate_.cluster;
    const bool low = which_ == Which::smallest || cluster.low;
    if (cluster.low && which_ != Which::smallest && which_ != Which::both_ends) words_ += " cluster(end)";
    const Index k = which_ != Which::both_ends ? k_ : low ? k_ / 2 : k_ - k_ / 2;
    if (cluster.first > k || cluster.last <= k) words_ += " cluster(k outside)";
    ExactVector seen = lambda_;  // as they are counted
    if (low) seen = -lambda_.reverse();
    if (which_ == Which::magnitude)
      for (Index i = 0; i < seen.size(); ++i) seen(i) = std::abs(lambda_(order_[static_cast<std::size_t>(i)]));
    const auto spread = static_cast<double>((seen(cluster.first - 1) - seen(cluster.last - 1)));
    // what they are said to differ by, and what rounding may do to two eigenvalues
    if (std::isfinite(cluster.spread))
      check("cluster", spread, 1.05 * cluster.spread * largest_ + 2 * certificate_.rounding + 1e-300);
    if (cluster.kind != Knowledge::unknown && cluster.last < lambda_.size() && std::isfinite(cluster.sin_theta)) {
      // the space of the first `last` is certain: V lies in it
      const double inside = truth_.sine(result_.basis, {order_.begin(), order_.begin() + cluster.last});
      const double gap = static_cast<double>(seen(cluster.last - 1) - seen(cluster.last));
      const double doubt = 1e-15 * largest_ / std::max(gap, 1e-300);
      check("certain", inside, (cluster.kind == Knowledge::bound ? 1.01 : 2) * cluster.sin_theta + doubt);
    }
  }

  const Question& question_;
  Which which_;
  Index k_;
  const Truth& truth_;
  const PowerResult<double>& result_;
  const Certificate& certificate_;
  std::vector<Index> order_;
  ExactVector lambda_;
  double sine_ = 0, doubt_ = 0, largest_ = 0;
  std::string words_;
};

std::string name(const Question& question) {
  const PowerOptions& options = question.options;
  return fmt::format("{} {} {} accuracy {:g} tolerance {:g} start {} scale {:.1e} noise {:.1e}{} p-k {} T {}",
                     name(options.which), options.method ? name(*options.method) : "auto",
                     question.precision == Precision::full     ? "double"
                     : question.precision == Precision::single ? "single"
                                                               : "mixed",
                     options.accuracy.value_or(0), question.tolerance(), static_cast<int>(question.start),
                     question.scale, question.noise, question.callback ? " callback" : "",
                     options.oversample.value_or(-1), iteration_limit(options));
}

Verdict examine(std::uint64_t seed, std::uint64_t number) {
  Dice dice(seed * 0x9E3779B97F4A7C15ull + number);
  Instance instance = draw_instance(dice);
  const Index d = instance.A.rows();
  const Question question = draw_question(dice, instance.k, d);
  const Truth truth = solve_exactly(instance.A);
  Block<double> start;
  if (question.start != Start::random) start = draw_start(dice, question, truth, instance.k);
  const Block<double> scaled = instance.A * question.scale;

  Verdict verdict;
  verdict.family = instance.spectrum;
  verdict.end = hearsay::name(question.options.which);
  verdict.account = fmt::format("case {}: {} {} d {} k {} {}", number, instance.spectrum, instance.vectors, d,
                                instance.k, name(question));
  try {
    const PowerResult<double> result = solve(question, scaled, instance.sparse, start.size() > 0 ? &start : nullptr);
    Judge judge(question, instance, truth, result);
    verdict.status = name(result.status);
    verdict.words = judge.words();
    verdict.bound = result.certificate.sin_theta == Knowledge::bound;
    verdict.exceeded = judge.exceeded();
    verdict.account += fmt::format(": {} by {} in {} passes, shift {:.6g} norm {:.6g} Frobenius {:.6g}, {}",
                                   verdict.status, name(result.method), result.passes, result.shift_found,
                                   result.norm_seen, result.certificate.frobenius_norm, judge.account());
  } catch (const std::exception& error) {
    verdict.account += fmt::format(": {}", error.what());
    if (question.noise == 0) verdict.words = " error";
  }
  return verdict;
}

struct Tally {
  long solves = 0, converged = 0, ambiguous = 0, floors = 0, limits = 0, refused = 0, bounds = 0, exceeded = 0,
       wrong = 0;

  void add(const Verdict& verdict) {
    ++solves;
    converged += verdict.status == "converged";
    ambiguous += verdict.status == "ambiguous";
    floors += verdict.status == "rounding_floor" || verdict.status == "noise_floor";
    limits += verdict.status == "iteration_limit" || verdict.status == "breakdown";
    refused += verdict.status == "refused";
    bounds += verdict.bound;
    exceeded += verdict.exceeded;
    wrong += !verdict.words.empty();
  }
};

int run(int argc, char** argv) {
  long count = 1000, only = -1;
  std::uint64_t seed = 1;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = std::stoull(argv[++i]);
    else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      only = std::stol(argv[++i]);
    else if (std::strcmp(argv[i], "--verbose") == 0)
      verbose = true;
    else
      count = std::stol(argv[i]);
  }
  if (only >= 0) {
    const Verdict verdict = examine(seed, static_cast<std::uint64_t>(only));
    fmt::print("{}\nwrong words:{}\n", verdict.account, verdict.words);
    return verdict.words.empty() ? 0 : 1;
  }
  std::map<std::string, Tally> tallies;
  std::mutex mutex;
  std::atomic<long> next{0};
  const auto work = [&] {
    const OneThread alone;
    for (long i = next++; i < count; i = next++) {
      const Verdict verdict = examine(seed, static_cast<std::uint64_t>(i));
      const std::lock_guard lock(mutex);
      tallies[verdict.family].add(verdict);
      tallies[verdict.end].add(verdict);
      tallies["all"].add(verdict);
      if (verbose || !verdict.words.empty()) {
        fmt::print("{} WRONG:{}\n", verdict.account, verdict.words);
        std::fflush(stdout);
      }
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < threads(); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();

  fmt::print("{:<16}{:>8}{:>11}{:>11}{:>8}{:>8}{:>9}{:>8}{:>10}{:>12}\n", "spectrum", "solves", "converged",
             "ambiguous", "floor", "limit", "refused", "bound", "exceeded", "wrong words");
  for (const auto& [family, tally] : tallies)
    fmt::print("{:<16}{:>8}{:>11}{:>11}{:>8}{:>8}{:>9}{:>8}{:>10}{:>12}\n", family, tally.solves, tally.converged,
               tally.ambiguous, tally.floors, tally.limits, tally.refused, tally.bounds, tally.exceeded, tally.wrong);
  const Tally& all = tallies["all"];
  fmt::print("{} passed, {} failed\n", all.solves - all.wrong, all.wrong);
  return all.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hearsay::adversary

int main(int argc, char** argv) { return hearsay::adversary::run(argc, argv); }
