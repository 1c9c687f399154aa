// An audit of the promise: somebody who knows every row but one, and which two data sets are possible, guesses from the
// release whether the row is there, thousands of times. What epsilon his guesses prove must stay below the promise; of
// a mechanism with half the noise it must not, or the audit would find nothing.
#include <gtest/gtest.h>
#include <hearsay/private_covariance.hpp>
#include <hearsay/private_products.hpp>
#include <hearsay/threads.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/random_block.hpp"
#include "support/rows.hpp"

namespace hearsay {
namespace {

constexpr int guesses = 10000;  // of either data set, to fix the threshold; as many to count
constexpr PrivacyBudget promise = {1, 0.05};

// The likelihood of a release: how far it lies along what the row adds.
double along(const Block<double>& released, const Eigen::VectorXd& row) { return row.dot(released * row); }

// All of a release that is drawn as it is asked for, in two readings.
Block<double> asked_for(LazyPrivateCovariance& A) {
  const Block<double> all = Block<double>::Identity(A.dim(), A.dim());
  Block<double> matrix(A.dim(), A.dim());
  A.ask(Block<double>(all.col(0) + all.col(1)));
  A.apply(all, matrix);
  return matrix;
}

// That say how many they are, so that little memory is taken.
struct FewRows final : test::VectorOfRows {
  explicit FewRows(const Block<double>& rows) : VectorOfRows(rows), count(rows.rows()) {}
  std::optional<Index> rows() const override { return count; }
  Index count;
};

struct Guesser {
  Block<double> with, without;
  Eigen::VectorXd row;
  PrivacySettings settings;  // of the mechanism as it is
  bool lazy = false;
  std::uint64_t seed = 1;

  double statistic(bool there) {
    FewRows rows(there ? with : without);
    if (lazy) {
      LazyPrivateCovariance C(rows, settings, insecure_words(seed++));
      return along(asked_for(C), row);
    }
    const PrivateCovariance C(rows, settings, insecure_words(seed++));
    return along(C.matrix(), row);
  }
  std::vector<double> statistics(bool there) {
    std::vector<double> all(guesses);
    for (double& value : all) value = statistic(there);
    std::sort(all.begin(), all.end());
    return all;
  }
};

double share_above(const std::vector<double>& sorted, double threshold) {
  return static_cast<double>(sorted.end() - std::upper_bound(sorted.begin(), sorted.end(), threshold)) /
         static_cast<double>(sorted.size());
}

// Of a share that was counted: so far it may be off, all but once in 10^4 times (Hoeffding).
const double slack_of_share = std::sqrt(std::log(1e4) / (2.0 * guesses));

struct OneThread {
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(before); }
  int before = threads();
};

// (epsilon, delta) allows P(above | there) <= e^epsilon P(above | not there) + delta: the epsilon that is proved.
double proved_epsilon(Guesser guesser) {
  const OneThread here;  // of three features a second one has nothing to do but wait
  const std::vector<double> there = guesser.statistics(true), gone = guesser.statistics(false);
  double best = 0, threshold = 0;
  for (int i = 0; i < guesses; i += 100) {  // the threshold that promises most, by other draws than those that count
    const double at = gone[static_cast<std::size_t>(i)];
    const double low = share_above(gone, at) + slack_of_share;
    const double epsilon = std::log(std::max(share_above(there, at) - slack_of_share - promise.delta, 1e-9) / low);
    if (epsilon > best) best = epsilon, threshold = at;
  }
  const std::vector<double> there_again = guesser.statistics(true), gone_again = guesser.statistics(false);
  const double high = share_above(there_again, threshold) - slack_of_share - promise.delta;
  return std::log(std::max(high, 1e-9) / (share_above(gone_again, threshold) + slack_of_share));
}

Guesser worst_case(double bound) {
  Guesser guesser{.with = test::random_block(5, 3, 1), .without = {}, .row = {}, .settings = {}};
  guesser.with.row(4) << 5, 0, 0;  // clipped to the bound, along the first feature
  guesser.without = guesser.with.topRows(4);
  guesser.row = Eigen::VectorXd::Unit(3, 0);
  guesser.settings = {.budget = promise, .row_norm = bound};
  return guesser;
}

TEST(PrivacyAudit, ProvesNoMoreThanIsPromised) {
  for (const bool lazy : {false, true}) {
    Guesser guesser = worst_case(1);
    guesser.lazy = lazy;
    const double proved = proved_epsilon(guesser);
    EXPECT_LE(proved, promise.epsilon) << lazy;
    EXPECT_GE(proved, 0.4) << lazy;  // it does see something
  }
}

// Half the noise, and a quarter of it: that of a larger budget.
TEST(PrivacyAudit, FindsAMechanismWithTooLittleNoise) {
  for (const double times : {2.0, 4.0}) {
    Guesser guesser = worst_case(1);
    const double mu = gaussian_mu(promise);
    const double broken = gaussian_epsilon(times * mu, promise.delta);
    guesser.settings.budget = {broken, promise.delta};
    guesser.lazy = times == 2.0;
    EXPECT_GT(proved_epsilon(guesser), promise.epsilon) << times;
  }
}

}  // namespace
}  // namespace hearsay
