// A matrix that exists only as a function: here the second-difference matrix, whose eigenvalues are known.
#include <hearsay/power.hpp>

#include <cmath>
#include <cstdio>

// 4 I minus the second-difference matrix with zero ends: positive definite, eigenvalues 2 + 2 cos(pi j / (d + 1)).
struct Chain {
  using Scalar = double;
  hearsay::Index d;

  hearsay::Index dim() const { return d; }
  void apply(hearsay::ConstBlockView<double> X, hearsay::BlockView<double> Y) const {
    Y = 2 * X;
    Y.topRows(d - 1) += X.bottomRows(d - 1);
    Y.bottomRows(d - 1) += X.topRows(d - 1);
  }
  hearsay::OperatorFacts facts() const { return {.positive_semidefinite = true}; }
};

int main() {
  const Chain chain{60};

  const auto result = hearsay::accelerated_power<double>(chain, {.rank = 2, .tolerance = 1e-9, .max_iterations = 5000});

  const double expected = 2 + 2 * std::cos(M_PI / 61);
  std::printf("%s: largest eigenvalue %.12f, expected %.12f\n", name(result.status), result.eigenvalues(0), expected);
  return std::abs(result.eigenvalues(0) - expected) < 1e-10 ? 0 : 1;
}
