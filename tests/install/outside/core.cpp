#include <hearsay/error.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <cmath>
#include <cstdio>

// The core from outside: a solve, and an error that is caught as what it is.
int main() {
  hearsay::Block<double> A = hearsay::Block<double>::Zero(6, 6);
  A.diagonal() << 6, 5, 4, 3, 2, 1;
  const hearsay::DenseSymmetric<double> matrix(A);
  const auto result = hearsay::accelerated_power<double>(matrix, {.rank = 2});
  std::printf("%s\n", name(result.status));
  if (!(std::abs(result.eigenvalues(0) - 6) < 1e-9)) return 1;
  try {
    static_cast<void>(hearsay::accelerated_power<double>(matrix, {.rank = 7}));
  } catch (const hearsay::InvalidArgument& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 2;
}
