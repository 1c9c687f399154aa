#include <hearsay/io/npy.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>
#include <hearsay/version.hpp>

#include <cmath>
#include <cstdio>
#include <variant>

// The installed package from outside: a solve, and its basis through a file and back.
int main(int, char** argv) {
  hearsay::Block<double> A = hearsay::Block<double>::Zero(6, 6);
  A.diagonal() << 6, 5, 4, 3, 2, 1;
  const auto result = hearsay::accelerated_power<double>(hearsay::DenseSymmetric<double>(A), {.rank = 2});
  hearsay::io::write_npy(argv[1], hearsay::ConstBlockView<double>(result.basis));
  const auto back = std::get<hearsay::Block<double>>(hearsay::io::read_npy(argv[1]));
  std::printf("hearsay %s: %s\n", hearsay::version, name(result.status));
  return std::abs(result.eigenvalues(0) - 6) < 1e-9 && back == result.basis ? 0 : 1;
}
