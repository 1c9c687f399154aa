// The adversary on engines: solves by ladder of matrices that are hard to speak the truth about, each judged by an
// eigensolver with 64-bit significands. A wrong word is
//   bound       sin(theta) above the bound
//   accuracy    `converged`, and sin(theta) above the accuracy asked for
//   estimate    `converged`, and sin(theta) more than twice the estimate
//   missed      more eigenvalues above x than the certificate says
//   residual    a residual above what is said, rounding included
//   cluster     eigenvalues that are said to agree, and do not
//   error       an exception, where the matrix has no negative eigenvalue
//
//   hearsay_adversary_engines N [--seed S] [--only CASE] [--device cuda] [--verbose]
#include <fmt/format.h>

#include <cstring>
#include <hearsay/error.hpp>
#include <hearsay/host_engine.hpp>
#include <hearsay/ladder.hpp>
#include <map>
#include <memory>

#include "instances.hpp"

#ifdef HEARSAY_TEST_CUDA
#include <hearsay/cuda.hpp>
#endif

namespace hearsay::adversary {
namespace {

struct Question {
  LadderOptions options;
  double scale = 1;
  bool psd = false, single = false, sparse = false;
};

Question draw_question(Dice& dice, const Instance& instance, const Truth& truth) {
  Question question;
  LadderOptions& options = question.options;
  using enum ProductPrecision;
  options.rank = instance.k;
  options.seed = dice.seed();
  options.accuracy = dice.one_of({1e-1, 1e-2, 1e-3, 1e-4, 2e-5, 1e-6, 1e-8, 1e-10});
  if (dice.chance(0.3)) options.precision = dice.one_of({fp16, tf32, single, full});
  if (dice.chance(0.4)) options.certify = Certify::residual;
  if (dice.chance(0.2)) options.oversample = dice.from(1, 20);
  if (dice.chance(0.1)) options.max_passes = dice.from(1, 30);
  if (dice.chance(0.3)) question.scale = dice.power_of_ten(-25, 25);
  question.psd = truth.values.minCoeff() >= 0 && dice.chance(0.5);
  question.sparse = instance.sparse;
  if (!dice.chance(0.25)) return question;
  const Index d = instance.A.rows(), columns = std::min(d, dice.chance(0.5) ? instance.k : instance.k + 3);
  const Index skip = dice.chance(0.5) ? dice.from(0, 1) : dice.from(0, std::max<Index>(0, d - columns));
  Block<double> start(d, columns);
  for (Index j = 0; j < columns; ++j) start.col(j) = truth.vectors.col(std::min(d - 1, j + skip)).cast<double>();
  if (dice.chance(0.2)) start.rightCols(columns / 2).setZero();
  options.start = std::move(start);
  return question;
}

// A wrong word, with its numbers.
class Judge {
 public:
  Judge(const Question& question, const Truth& truth, const LadderResult& result)
      : question_(question), truth_(truth), result_(result), certificate_(result.certificate), k_(result.basis.cols()) {
    lambda_ = truth.values * std::ldexp(static_cast<long double>(question.scale), -result.exponent);
    std::vector<Index> wanted;
    for (Index i = 0; i < k_; ++i) wanted.push_back(i);
    sine_ = truth.sine(result.basis, wanted);
    const long double gap = k_ < lambda_.size() ? lambda_(k_ - 1) - lambda_(k_) : lambda_(0);
    doubt_ = static_cast<double>(1e-15L * lambda_.cwiseAbs().maxCoeff() / std::max(gap, 1e-4000L));
  }

  std::string words() {
    const bool converged = result_.status == Status::converged;
    if (certificate_.sin_theta_bound < 1) check("bound", sine_, certificate_.sin_theta_bound * (1 + 1e-6) + doubt_);
    if (converged) check("accuracy", sine_, question_.options.accuracy + doubt_);
    if (converged && certificate_.sin_theta == Knowledge::estimate)
      check("estimate", sine_, 2 * certificate_.sin_theta_estimate + doubt_);
    const long double above = certificate_.nothing_missed_above + 2 * certificate_.rounding;
    check("missed", static_cast<double>((lambda_.array() > above).count()),
          static_cast<double>(certificate_.nothing_missed_count));
    check_residual();
    if (result_.status == Status::ambiguous && certificate_.cluster) check_cluster(*certificate_.cluster);
    return words_;
  }
  double sine() const { return sine_; }

 private:
  void check(const char* word, double value, double most) {
    if (!(value <= most)) words_ += fmt::format(" {}({:.3g}>{:.3g})", word, value, most);
  }
  void check_residual() {
    const Exact V = result_.basis.cast<long double>();
    const Exact AV = truth_.vectors * lambda_.asDiagonal() * (truth_.vectors.transpose() * V);
    const auto residual = static_cast<double>((AV - V * (V.transpose() * AV)).norm());
    check("residual", residual,
          1.01 * (certificate_.residual + std::sqrt(static_cast<double>(k_)) * certificate_.rounding) + 1e-300);
  }
  void check_cluster(const Cluster& cluster) {
    if (cluster.first > k_ || cluster.last <= k_) words_ += " cluster(k outside)";
    const auto spread = static_cast<double>(lambda_(cluster.first - 1) - lambda_(cluster.last - 1));
    if (std::isfinite(cluster.spread))
      check("cluster", spread,
            1.05 * cluster.spread * static_cast<double>(lambda_(0)) + 2 * certificate_.rounding + 1e-300);
  }

  const Question& question_;
  const Truth& truth_;
  const LadderResult& result_;
  const Certificate& certificate_;
  Index k_;
  ExactVector lambda_;
  double sine_ = 0, doubt_ = 0;
  std::string words_;
};

#ifdef HEARSAY_TEST_CUDA
CsrMatrix<double> entries_of(const Block<double>& A) {
  CsrMatrix<double> out{.rows = A.rows(), .cols = A.cols(), .row_start = {0}, .columns = {}, .values = {}};
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j)
      if (A(i, j) != 0) out.columns.push_back(static_cast<std::int32_t>(j)), out.values.push_back(A(i, j));
    out.row_start.push_back(out.nonzeros());
  }
  return out;
}
#endif

std::unique_ptr<Engine> engine_of([[maybe_unused]] bool on_device, const Question& question, const Block<double>& A) {
#ifdef HEARSAY_TEST_CUDA
  if (on_device && question.sparse) return cuda::sparse_engine<double>(0, borrow(entries_of(A)), question.psd);
  if (on_device) return cuda::dense_engine<double>(0, borrow(A), question.psd);
#endif
  return std::make_unique<HostEngine>(borrow(A), question.psd);
}

struct Verdict {
  std::string family, status = "refused", words, account;
  bool bound = false;
};

Verdict examine(std::uint64_t seed, std::uint64_t number, bool on_device) {
  Dice dice(seed * 0x9E3779B97F4A7C15ull + number);
  const Instance instance = draw_instance(dice);
  const Truth truth = solve_exactly(instance.A);
  Question question = draw_question(dice, instance, truth);
  if (question.options.rank >= instance.A.rows()) question.options.rank = instance.A.rows() - 1;
  const Block<double> A = instance.A * question.scale;
  Verdict verdict;
  verdict.family = instance.spectrum;
  verdict.account =
      fmt::format("case {}: {} {} d {} k {} {} accuracy {:g} scale {:.1e} {}{}{}{}", number, instance.spectrum,
                  instance.vectors, A.rows(), question.options.rank, name(question.options.precision),
                  question.options.accuracy, question.scale, name(question.options.certify), question.psd ? " psd" : "",
                  question.sparse ? " sparse" : "", question.options.start ? " start" : "");
  try {
    const auto engine = engine_of(on_device, question, A);
    const auto rungs = engine->facts().rungs;
    if (question.options.precision == ProductPrecision::tf32 &&
        std::find(rungs.begin(), rungs.end(), Rung::tf32) == rungs.end())
      question.options.precision = ProductPrecision::automatic;
    const LadderResult result = climb(*engine, question.options);
    Judge judge(question, truth, result);
    verdict.status = name(result.status);
    verdict.words = judge.words();
    verdict.bound = result.certificate.sin_theta == Knowledge::bound;
    verdict.account += fmt::format(": {} in {} passes, sine {:.3g} bound {:.3g} estimate {:.3g} rounding {:.3g}",
                                   verdict.status, result.passes, judge.sine(), result.certificate.sin_theta_bound,
                                   result.certificate.sin_theta_estimate, result.certificate.rounding);
  } catch (const DataError& error) {
    verdict.account += fmt::format(": {}", error.what());
    if (truth.values.minCoeff() >= -1e-13L * truth.values.cwiseAbs().maxCoeff()) verdict.words = " error";
  } catch (const std::exception& error) {
    verdict.account += fmt::format(": {}", error.what());
    verdict.words = " error";
  }
  return verdict;
}

struct Tally {
  long solves = 0, converged = 0, ambiguous = 0, floors = 0, limits = 0, refused = 0, bounds = 0, wrong = 0;

  void add(const Verdict& verdict) {
    ++solves;
    converged += verdict.status == "converged";
    ambiguous += verdict.status == "ambiguous";
    floors += verdict.status == "rounding_floor";
    limits += verdict.status == "iteration_limit";
    refused += verdict.status == "refused";
    bounds += verdict.bound;
    wrong += !verdict.words.empty();
  }
};

int run(int argc, char** argv) {
  long count = 1000, only = -1;
  std::uint64_t seed = 1;
  bool verbose = false, on_device = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
      seed = std::stoull(argv[++i]);
    else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      only = std::stol(argv[++i]);
    else if (std::strcmp(argv[i], "--device") == 0 && i + 1 < argc)
      on_device = std::strcmp(argv[++i], "cuda") == 0;
    else if (std::strcmp(argv[i], "--verbose") == 0)
      verbose = true;
    else
      count = std::stol(argv[i]);
  }
#ifndef HEARSAY_TEST_CUDA
  if (on_device) return fmt::print("hearsay::cuda was not built\n"), 2;
#endif
  std::map<std::string, Tally> tallies;
  for (long i = only >= 0 ? only : 0; i < (only >= 0 ? only + 1 : count); ++i) {
    const Verdict verdict = examine(seed, static_cast<std::uint64_t>(i), on_device);
    tallies[verdict.family].add(verdict);
    tallies["all"].add(verdict);
    if (verbose || only >= 0 || !verdict.words.empty())
      fmt::print("{}{}{}\n", verdict.account, verdict.words.empty() ? "" : " WRONG:", verdict.words);
    std::fflush(stdout);
  }
  fmt::print("{:<16}{:>8}{:>11}{:>11}{:>8}{:>8}{:>9}{:>8}{:>12}\n", "spectrum", "solves", "converged", "ambiguous",
             "floor", "limit", "refused", "bound", "wrong words");
  for (const auto& [family, tally] : tallies)
    fmt::print("{:<16}{:>8}{:>11}{:>11}{:>8}{:>8}{:>9}{:>8}{:>12}\n", family, tally.solves, tally.converged,
               tally.ambiguous, tally.floors, tally.limits, tally.refused, tally.bounds, tally.wrong);
  const Tally& all = tallies["all"];
  fmt::print("{} passed, {} failed\n", all.solves - all.wrong, all.wrong);
  return all.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hearsay::adversary

int main(int argc, char** argv) { return hearsay::adversary::run(argc, argv); }
