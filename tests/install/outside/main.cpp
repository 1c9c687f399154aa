#include <hearsay/datasets.hpp>
#include <hearsay/error.hpp>
#include <hearsay/io/built_in.hpp>
#include <hearsay/io/npy.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>
#include <hearsay/version.hpp>

#include <cmath>
#include <cstdio>
#include <variant>

// The installed package from outside: a solve, its basis through a file and back, a data set, an error caught.
int main(int, char** argv) {
  hearsay::Block<double> A = hearsay::Block<double>::Zero(6, 6);
  A.diagonal() << 6, 5, 4, 3, 2, 1;
  const auto result = hearsay::accelerated_power<double>(hearsay::DenseSymmetric<double>(A), {.rank = 2});
  hearsay::io::write_npy(argv[1], hearsay::ConstBlockView<double>(result.basis));
  const auto back = std::get<hearsay::Block<double>>(hearsay::io::read_npy(argv[1]));
  const auto digits = hearsay::io::load_digits(hearsay::io::built_in_directory());
  std::printf("hearsay %s: %s, %d digits\n", hearsay::version, name(result.status), int(digits.values.rows()));
  if (!(std::abs(result.eigenvalues(0) - 6) < 1e-9 && back == result.basis && digits.values.rows() == 1797)) return 1;
  try {
    static_cast<void>(hearsay::io::read_npy("nothing.npy"));
  } catch (const hearsay::DataError& error) {
    std::printf("%s\n", error.what());
    return 0;
  }
  return 2;
}
