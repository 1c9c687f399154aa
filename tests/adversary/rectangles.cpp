// The adversary of singular values: rectangular matrices that are hard to speak the truth about, each result judged
// against what it says of itself by a one-sided Jacobi method with 64-bit significands. A wrong word is
//   orthonormal  vectors that are not
//   triples      A V - U S or A'U - V S larger than is said
//   lower        a singular value that is larger than the true one, by more than the rounding that is said
//   upper        one that is smaller by more than its bound, or `converged` and by more than twice its estimate
//   missed       more singular values above x than the certificate says
//   bound        sin(theta), on either side, above the bound
//   converged    with a residual above the tolerance, or sin(theta) above the accuracy asked for
//   cluster      singular values that are said to agree, and do not
//   noise        a noise floor on exact products
//   error        an exception
//
//   hearsay_adversary_rectangles N [--seed S] [--only CASE] [--verbose]
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <hearsay/error.hpp>
#include <hearsay/solve_svd.hpp>
#include <hearsay/threads.hpp>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "instances.hpp"

namespace hearsay::adversary {
namespace {

// ---- The matrices

struct Rectangular {
  std::string spectrum, form;
  Block<double> A;
  Index k = 1;
  double scale = 1;  // what a solver gets is scale A
};

struct Values {
  std::string name;
  std::vector<double> values;
};

Values draw_values(Dice& dice, Index d) {
  std::vector<double> values;
  const auto add = [&](double value) { values.push_back(value); };
  const auto at = [](Index i) { return static_cast<double>(i); };
  switch (dice.from(0, 7)) {
    case 0: {
      const Index n = dice.from(2, std::max<Index>(2, d / 2));
      const double delta = dice.power_of_ten(-14, -1), rest = dice.one_of({0.0, 0.3, 0.9, 0.99});
      for (Index i = 0; i < d; ++i) add(i < n ? 1 + delta * at(n - i) : rest);
      return {"cluster", values};
    }
    case 1: {
      for (double level = 1; static_cast<Index>(values.size()) < d; level *= dice.between(0.1, 0.97))
        for (Index j = dice.from(1, 12); j-- > 0 && static_cast<Index>(values.size()) < d;) add(level);
      return {"multiple", values};
    }
    case 2: {
      const double pace = dice.between(0.02, 0.99);
      for (Index i = 0; i < d; ++i) add(std::pow(pace, at(i)));
      return {"geometric", values};
    }
    case 3: {
      const double least = dice.power_of_ten(-16, -2);
      for (Index i = 0; i < d; ++i) add(d > 1 ? std::pow(least, at(i) / at(d - 1)) : 1);
      return {"graded", values};
    }
    case 4: {
      const double exponent = dice.between(0.2, 3);
      for (Index i = 1; i <= d; ++i) add(std::pow(at(i), -exponent));
      return {"power law", values};
    }
    case 5: {
      const Index rank = dice.from(0, d);
      for (Index i = 0; i < d; ++i) add(i < rank ? dice.between(0.1, 1) : 0);
      return {"rank deficient", values};
    }
    case 6: {
      const Index big = dice.from(1, d);
      const double small = dice.power_of_ten(-12, -3);
      for (Index i = 0; i < d; ++i) add((i < big ? 1 : small) * dice.between(0.3, 1));
      return {"two levels", values};
    }
    default:
      for (Index i = 0; i < d; ++i)
        add(dice.chance(0.3) && i > 0 ? values.back() * (1 - dice.power_of_ten(-14, -1)) : dice.between(0, 1));
      return {"scattered", values};
  }
}

// Orthonormal columns: random ones, or coordinates in random places.
Block<double> draw_columns(Dice& dice, Index rows, Index columns, bool coordinates) {
  if (coordinates) {
    Block<double> E = Block<double>::Zero(rows, columns);
    std::vector<Index> places(static_cast<std::size_t>(rows));
    std::iota(places.begin(), places.end(), Index{0});
    for (Index i = rows - 1; i > 0; --i)
      std::swap(places[static_cast<std::size_t>(i)], places[static_cast<std::size_t>(dice.from(0, i))]);
    for (Index j = 0; j < columns; ++j) E(places[static_cast<std::size_t>(j)], j) = dice.chance(0.5) ? 1 : -1;
    return E;
  }
  Block<double> Q(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) Q(i, j) = dice.normal();
    for (int twice = 0; twice < 2; ++twice)
      for (Index l = 0; l < j; ++l) Q.col(j) -= Q.col(l).dot(Q.col(j)) * Q.col(l);
    Q.col(j).normalize();
  }
  return Q;
}

Rectangular draw_rectangle(Dice& dice) {
  Rectangular made;
  const Index d = dice.chance(0.1) ? dice.from(1, 3) : dice.from(4, 45),
              long_side = dice.chance(0.2) ? d : d + dice.from(1, 60);
  const bool wide = dice.chance(0.5);
  Values spectrum = draw_values(dice, d);
  std::sort(spectrum.values.rbegin(), spectrum.values.rend());
  const bool left = dice.chance(0.25), right = dice.chance(0.25);
  const Block<double> U = draw_columns(dice, wide ? d : long_side, d, left),
                      V = draw_columns(dice, wide ? long_side : d, d, right);
  made.A = U * Eigen::Map<const Eigen::VectorXd>(spectrum.values.data(), d).asDiagonal() * V.transpose();
  made.spectrum = spectrum.name;
  made.form = dice.one_of<const char*>({"dense", "sparse", "functions"});
  made.k = dice.chance(0.1) ? d : dice.from(1, d);
  if (dice.chance(0.15) && made.form != "functions")
    made.scale = std::ldexp(1.0, static_cast<int>(dice.from(-900, 900)));
  return made;
}

CsrMatrix<double> stored(const Block<double>& A) {
  CsrMatrix<double> made{.rows = A.rows(), .cols = A.cols()};
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j)
      if (A(i, j) != 0) made.columns.push_back(static_cast<std::int32_t>(j)), made.values.push_back(A(i, j));
    made.row_start.push_back(made.nonzeros());
  }
  return made;
}

// ---- The truth

struct TrueSvd {
  ExactVector values;  // all of the lesser dimension
  Exact left, right;   // a column each
};

// Of a matrix of no more columns than rows. Columns of zero have no left vector.
TrueSvd tall_svd(Exact B) {
  const Index n = B.cols();
  Exact Z = Exact::Identity(n, n);
  for (bool turned = true; turned;) {
    turned = false;
    for (Index i = 0; i + 1 < n; ++i)
      for (Index j = i + 1; j < n; ++j) {
        const long double a = B.col(i).squaredNorm(), b = B.col(j).squaredNorm(), c = B.col(i).dot(B.col(j));
        if (!(std::abs(c) > 1e-18L * std::sqrt(a) * std::sqrt(b)) || !(std::abs(c) > 1e-4000L)) continue;
        const long double zeta = (b - a) / (2 * c);
        const long double t = std::copysign(1 / (std::abs(zeta) + std::hypot(1.0L, zeta)), zeta);
        if (std::abs(t) < 1e-19L) continue;
        const long double cosine = 1 / std::hypot(1.0L, t), sine = cosine * t;
        for (Exact* M : {&B, &Z}) {
          const ExactVector x = M->col(i);
          M->col(i) = cosine * x - sine * M->col(j);
          M->col(j) = sine * x + cosine * M->col(j);
        }
        turned = true;
      }
  }
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  const ExactVector norms = B.colwise().norm();
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return norms(i) > norms(j); });
  TrueSvd truth{ExactVector(n), Exact::Zero(B.rows(), n), Exact(n, n)};
  for (Index i = 0; i < n; ++i) {
    const Index from = order[static_cast<std::size_t>(i)];
    truth.values(i) = norms(from);
    truth.right.col(i) = Z.col(from);
    if (norms(from) > 0) truth.left.col(i) = B.col(from) / norms(from);
  }
  return truth;
}

TrueSvd true_svd(const Block<double>& A) {
  if (A.rows() >= A.cols()) return tall_svd(A.cast<long double>());
  TrueSvd truth = tall_svd(A.transpose().cast<long double>());
  std::swap(truth.left, truth.right);
  return truth;
}

// The largest sine between the first k columns of U and those of X.
double sine_of(const Exact& U, Index k, const Block<double>& X) {
  Exact rest = X.cast<long double>();
  for (int twice = 0; twice < 2; ++twice) rest -= U.leftCols(k) * (U.leftCols(k).transpose() * rest).eval();
  return static_cast<double>(tall_svd(rest).values(0));
}

// ---- One solve

struct Question {
  Request request;
  bool wrong_start = false;
  double tolerance() const {
    const PowerOptions& power = request.settings.power;
    return request.settings.precision == Precision::single ? tolerance_of<float>(power) : tolerance_of<double>(power);
  }
};

Question draw_question(Dice& dice, const Rectangular& matrix) {
  Question question;
  SolveSettings& settings = question.request.settings;
  settings.power.rank = matrix.k;
  settings.power.seed = dice.seed() >> 1;
  if (dice.chance(0.4)) settings.power.tolerance = dice.power_of_ten(-13, -3);
  if (dice.chance(0.3)) settings.power.accuracy = dice.power_of_ten(-8, -1);
  if (dice.chance(0.15)) settings.power.method = SolveMethod::anpm;
  if (dice.chance(0.1)) settings.power.max_iterations = dice.from(1, 30);
  if (matrix.form != "functions" && matrix.scale == 1 && dice.chance(0.25))
    settings.precision = dice.chance(0.5) ? Precision::single : Precision::mixed;
  if (dice.chance(0.15)) {
    Block<double> start(matrix.A.cols(), dice.from(1, 4));
    for (double& entry : start.reshaped()) entry = dice.normal();
    question.request.start = start;
  }
  return question;
}

SvdResult<double> solved(const Rectangular& matrix, const Request& request) {
  const Block<double> A = matrix.A * matrix.scale;
  if (matrix.form == "dense") return solve_svd<double>(A, request).svd;
  if (matrix.form == "sparse") return solve_svd<double>(stored(A), request).svd;
  return solve_svd<double>(
             RectangularFunctions<double>{
                 A.rows(), A.cols(), [&A](ConstBlockView<double> X, BlockView<double> out) { out = A * X; },
                 [&A](ConstBlockView<double> U, BlockView<double> out) { out = A.transpose() * U; }},
             request)
      .svd;
}

struct Verdict {
  std::string family, words, status = "refused", account;
  bool bound = false, exceeded = false, values_bound = false;
};

class Judge {
 public:
  Judge(const Rectangular& matrix, const Question& question, const SvdResult<double>& svd)
      : matrix_(matrix), question_(question), svd_(svd), truth_(true_svd(matrix.A)), unit_(matrix.scale) {
    const auto& s = svd.singular_values;
    k_ = s.size();
    own_ = 1e-17 * static_cast<double>(truth_.values(0));
    vectors();
    values();
    words();
  }
  const std::string& wrong() const { return wrong_; }
  bool exceeded() const { return exceeded_; }
  std::string account() const {
    const Certificate& certificate = svd_.certificate;
    return fmt::format(
        "at most {} above {:.17g}, the next is {:.17g}", certificate.nothing_missed_count,
        in_unit(certificate.nothing_missed_above),
        certificate.nothing_missed_count < truth_.values.size() ? sigma(certificate.nothing_missed_count) : 0.0);
  }

 private:
  void hold(bool holds, const char* word) {
    if (!holds && wrong_.find(word) == wrong_.npos) wrong_ += fmt::format(" {}", word);
  }
  double sigma(Index i) const { return static_cast<double>(truth_.values(i)); }
  double in_unit(double value) const { return value / unit_; }

  void vectors() {
    const bool single = question_.request.settings.precision == Precision::single;
    for (const Block<double>* X : {&svd_.left, &svd_.right}) {
      const Exact G = X->cast<long double>().transpose() * X->cast<long double>();
      hold(static_cast<double>((G - Exact::Identity(k_, k_)).cwiseAbs().maxCoeff()) <= (single ? 1e-4 : 1e-12),
           "orthonormal");
    }
    const Exact A = matrix_.A.cast<long double>(), U = svd_.left.cast<long double>(),
                V = svd_.right.cast<long double>();
    const ExactVector s = (svd_.singular_values / unit_).cast<long double>();
    const auto forward = static_cast<double>((A * V - U * s.asDiagonal()).norm());
    const auto backward = static_cast<double>((A.transpose() * U - V * s.asDiagonal()).norm());
    hold(std::max(forward, backward) <= in_unit(svd_.within) * (1 + 1e-12) + own_, "triples");
  }

  void values() {
    for (Index i = 0; i < k_; ++i) {
      const double s = in_unit(svd_.singular_values(i)), error = in_unit(svd_.errors(i));
      hold(sigma(i) >= s - in_unit(svd_.rounding) - own_, "lower");
      if (svd_.errors_are == Knowledge::bound) hold(sigma(i) <= s + error + own_, "upper");
      if (svd_.errors_are == Knowledge::estimate && svd_.status == Status::converged)
        hold(sigma(i) <= s + 2 * error + own_, "upper");
    }
  }

  void words() {
    const Certificate& certificate = svd_.certificate;
    const Index small = truth_.values.size();
    if (certificate.nothing_missed == Knowledge::bound) {
      Index beyond = 0;
      const double above = in_unit(certificate.nothing_missed_above) * (1 + 1e-13) + own_;
      for (Index i = 0; i < small; ++i) beyond += sigma(i) > above ? 1 : 0;
      hold(beyond <= certificate.nothing_missed_count, "missed");
    }
    const double gap = k_ < small ? sigma(k_ - 1) - sigma(k_) : sigma(k_ - 1);
    const double blur = gap > 0 ? 1e-16 * sigma(0) / gap : 1;
    const bool whole_left = k_ == matrix_.A.rows(), whole_right = k_ == matrix_.A.cols();
    // without a gap no subspace is the true one
    const double left = whole_left ? 0 : sine_of(truth_.left, k_, svd_.left),
                 right = whole_right ? 0 : sine_of(truth_.right, k_, svd_.right);
    const double sine = std::max(left, right);
    if (certificate.sin_theta == Knowledge::bound) hold(gap > 0 && sine <= certificate.sin_theta_bound + blur, "bound");
    if (svd_.status == Status::converged) {
      hold(svd_.residual <= question_.tolerance() * 1.001, "converged");
      const auto& accuracy = question_.request.settings.power.accuracy;
      if (accuracy) hold(sine <= 2 * *accuracy + blur, "converged");
      if (certificate.sin_theta == Knowledge::estimate)
        hold(sine <= 2 * certificate.sin_theta_estimate + blur, "converged");
      exceeded_ = certificate.sin_theta != Knowledge::unknown && sine > certificate.sin_theta_estimate + blur;
    }
    if (certificate.cluster && std::isfinite(certificate.cluster->spread)) {
      const Index last = std::min(certificate.cluster->last, small);
      const double apart = sigma(certificate.cluster->first - 1) - sigma(last - 1);
      hold(apart <= certificate.cluster->spread * sigma(0) * (1 + 1e-6) + 4 * in_unit(svd_.rounding), "cluster");
    }
    hold(svd_.status != Status::noise_floor, "noise");
  }

  const Rectangular& matrix_;
  const Question& question_;
  const SvdResult<double>& svd_;
  TrueSvd truth_;
  double unit_, own_ = 0;
  Index k_ = 0;
  std::string wrong_;
  bool exceeded_ = false;
};

Verdict examine(std::uint64_t seed, std::uint64_t number) {
  Dice dice(seed * 0x9E3779B97F4A7C15ULL + number);
  const Rectangular matrix = draw_rectangle(dice);
  const Question question = draw_question(dice, matrix);
  Verdict verdict;
  verdict.family = matrix.spectrum;
  verdict.account = fmt::format("{}: {} {} x {}, k = {}, {}, scale {:.2g}", number, matrix.spectrum, matrix.A.rows(),
                                matrix.A.cols(), matrix.k, matrix.form, matrix.scale);
  try {
    const SvdResult<double> svd = solved(matrix, question.request);
    const Judge judge(matrix, question, svd);
    verdict.status = name(svd.status);
    verdict.words = judge.wrong();
    verdict.exceeded = judge.exceeded();
    verdict.bound = svd.certificate.sin_theta == Knowledge::bound;
    verdict.values_bound = svd.errors_are == Knowledge::bound;
    verdict.account +=
        fmt::format(": {} by {} in {} precision, sharpened {}, {}", verdict.status, name(svd.method),
                    static_cast<int>(question.request.settings.precision), svd.sharpened, judge.account());
  } catch (const std::exception& error) {
    verdict.words = " error";
    verdict.account += fmt::format(": {}", error.what());
  }
  return verdict;
}

struct Tally {
  long solves = 0, converged = 0, ambiguous = 0, floors = 0, limits = 0, bounds = 0, values = 0, exceeded = 0,
       wrong = 0;

  void add(const Verdict& verdict) {
    ++solves;
    converged += verdict.status == "converged";
    ambiguous += verdict.status == "ambiguous";
    floors += verdict.status == "rounding_floor" || verdict.status == "noise_floor";
    limits += verdict.status == "iteration_limit" || verdict.status == "breakdown";
    bounds += verdict.bound;
    values += verdict.values_bound;
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
  std::map<std::string, Tally> tallies;
  std::mutex mutex;
  std::atomic<long> next{std::max(0L, only)};
  if (only >= 0) count = only + 1;
  const auto work = [&] {
    const OneThread alone;
    for (long i = next++; i < count; i = next++) {
      const Verdict verdict = examine(seed, static_cast<std::uint64_t>(i));
      const std::lock_guard lock(mutex);
      tallies[verdict.family].add(verdict);
      tallies["all"].add(verdict);
      if (verbose || only >= 0 || !verdict.words.empty())
        fmt::print("{}{}{}\n", verdict.account, verdict.words.empty() ? "" : " WRONG:", verdict.words);
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < threads(); ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();

  fmt::print("{:<16}{:>8}{:>11}{:>11}{:>8}{:>8}{:>8}{:>15}{:>10}{:>12}\n", "spectrum", "solves", "converged",
             "ambiguous", "floor", "limit", "bound", "values bounded", "exceeded", "wrong words");
  for (const auto& [family, tally] : tallies)
    fmt::print("{:<16}{:>8}{:>11}{:>11}{:>8}{:>8}{:>8}{:>15}{:>10}{:>12}\n", family, tally.solves, tally.converged,
               tally.ambiguous, tally.floors, tally.limits, tally.bounds, tally.values, tally.exceeded, tally.wrong);
  const Tally& all = tallies["all"];
  fmt::print("{} passed, {} failed\n", all.solves - all.wrong, all.wrong);
  return all.wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hearsay::adversary

int main(int argc, char** argv) { return hearsay::adversary::run(argc, argv); }
