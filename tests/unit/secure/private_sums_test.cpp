// What is left of a private covariance among agents: masked sums, with a share of the noise at each, beside noise that
// each adds in full. All agents in this process; the noise is drawn from seeds, and so nothing here is private.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <hearsay/datasets.hpp>
#include <hearsay/io/built_in.hpp>
#include <hearsay/privacy.hpp>
#include <hearsay/random.hpp>
#include <memory>
#include <secure/secure_sum.hpp>
#include <vector>

namespace hearsay::secure {
namespace {

constexpr Index k = 5;
constexpr int runs = 31;

struct Digits {
  Eigen::MatrixXd X = {}, C = {};  // centred by a mean that is taken as known
  double norm = 0;                 // of the longest row, taken as known too
  double best = 0;                 // the variance of k components
};

Eigen::MatrixXd top(const Eigen::MatrixXd& C) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(C).eigenvectors().rightCols(k);
}

const Digits& digits() {
  static const Digits problem = [] {
    const auto table = io::load_digits(io::built_in_directory());
    Digits made;
    made.X = table.values.rowwise() - table.values.colwise().mean();
    made.C = made.X.transpose() * made.X;
    made.norm = made.X.rowwise().norm().maxCoeff();
    const Eigen::MatrixXd U = top(made.C);
    made.best = (U.transpose() * made.C * U).trace();
    return made;
  }();
  return problem;
}

// Standard deviation sigma on the diagonal, sigma / sqrt(2) beside it.
Eigen::MatrixXd goe(Index d, double sigma, std::uint64_t seed) {
  Block<double> N(d, d);
  fill_normal<double>({.seed = seed}, N);
  return sigma / 2 * (N + N.transpose());
}

std::vector<double> upper_triangle(const Eigen::MatrixXd& A) {
  std::vector<double> entries;
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = i; j < A.cols(); ++j) entries.push_back(A(i, j));
  return entries;
}

Eigen::MatrixXd from_upper_triangle(const std::vector<double>& entries, Index d) {
  Eigen::MatrixXd A(d, d);
  auto entry = entries.begin();
  for (Index i = 0; i < d; ++i)
    for (Index j = i; j < d; ++j) A(i, j) = A(j, i) = *entry++;
  return A;
}

struct Federation {
  int count;
  std::vector<Eigen::MatrixXd> covariances = {};
  std::vector<std::unique_ptr<MaskedAgent>> agents = {};

  explicit Federation(int m) : count(m) {
    const Eigen::MatrixXd& X = digits().X;
    for (int i = 0; i < m; ++i) {
      const Index first = X.rows() * i / m, rows = X.rows() * (i + 1) / m - first;
      covariances.push_back(X.middleRows(first, rows).transpose() * X.middleRows(first, rows));
      agents.push_back(std::make_unique<MaskedAgent>(i, m, RunId{static_cast<std::uint8_t>(m)}));
    }
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j)
        if (i != j) at(i).meet(j, at(j).public_key());
  }

  MaskedAgent& at(int i) { return *agents[static_cast<std::size_t>(i)]; }

  // The sum of what all agents release, noise of this standard deviation at each.
  Eigen::MatrixXd sum(double sigma_each, std::uint64_t run) {
    const Index d = digits().C.rows();
    const std::size_t size = static_cast<std::size_t>(d * (d + 1) / 2);
    const double rows = static_cast<double>(digits().X.rows());
    const FixedPoint format = fixed_point(count, digits().norm * digits().norm * rows + 20 * sigma_each);
    MaskedRound together(run, count, size);
    std::vector<std::uint64_t> words(size);
    for (int i = 0; i < count; ++i) {
      const auto seed = run * 1000 + static_cast<std::uint64_t>(i);
      encode(format, upper_triangle(covariances[static_cast<std::size_t>(i)] + goe(d, sigma_each, seed)), words);
      at(i).mask(run, words);
      together.add(i, run, words);
    }
    std::vector<double> entries(size);
    decode(format, together.sum(), entries);
    return from_upper_triangle(entries, d);
  }
};

double median_share(int agents, double sigma_each) {
  Federation federation(agents);
  std::vector<double> shares;
  for (int run = 1; run <= runs; ++run) {
    const Eigen::MatrixXd V = top(federation.sum(sigma_each, static_cast<std::uint64_t>(run)));
    shares.push_back((V.transpose() * digits().C * V).trace() / digits().best);
  }
  std::ranges::nth_element(shares, shares.begin() + runs / 2);
  return shares[runs / 2];
}

TEST(PrivateSums, KeepTheCentralAccuracyWhereFullNoiseAtEachAgentLosesIt) {
  const double sigma = digits().norm * digits().norm / gaussian_mu({.epsilon = 1, .delta = 1e-6});
  for (const auto& [agents, in_full] : {std::pair{4, 0.766}, {10, 0.577}}) {
    const double shared = median_share(agents, sigma / std::sqrt(agents)), each = median_share(agents, sigma);
    RecordProperty(fmt::format("shared_{}", agents), fmt::format("{:.4f}", shared));
    RecordProperty(fmt::format("each_{}", agents), fmt::format("{:.4f}", each));
    EXPECT_NEAR(shared, 0.933, 0.02) << agents;
    EXPECT_NEAR(each, in_full, 0.04) << agents;
  }
}

TEST(PrivateSums, WithoutNoiseAreTheCovarianceToTheStatedError) {
  Federation federation(10);
  const double error = fixed_point(10, digits().norm * digits().norm * static_cast<double>(digits().X.rows())).error;
  const double rounding = 1e-15 * digits().C.cwiseAbs().maxCoeff() * static_cast<double>(digits().X.rows());
  EXPECT_LE((federation.sum(0, 1) - digits().C).cwiseAbs().maxCoeff(), error + rounding);
}

}  // namespace
}  // namespace hearsay::secure
