// The three leading components of a small data set, and how far to trust them.
#include <hearsay/pca.hpp>
#include <hearsay/random.hpp>

#include <cstdio>

int main() {
  hearsay::Block<double> data(500, 40);  // 500 samples of 40 features; three of them vary more than the rest
  hearsay::fill_normal<double>({.seed = 1}, data);
  data.col(3) *= 8;
  data.col(7) *= 6;
  data.col(20) *= 4;

  const auto result = hearsay::pca<double>(data, {.power = {.rank = 3}});

  std::printf("%s after %ld iterations, residual %.1e, sin(theta) about %.1e\n", name(result.power.status),
              static_cast<long>(result.power.iterations), result.power.residual, result.power.sin_theta_estimate);
  for (int j = 0; j < 3; ++j)
    std::printf("component %d explains a variance of %.3f\n", j + 1, result.power.eigenvalues(j));
  return result.power.status == hearsay::Status::converged ? 0 : 1;
}
