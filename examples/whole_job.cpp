// PCA with inexact products, in two precisions, that can go on after a power cut: one call.
#include <hearsay/io/checkpoint.hpp>
#include <hearsay/random.hpp>
#include <hearsay/solve.hpp>

#include <cstdio>

int main(int, char** arguments) {
  hearsay::Block<double> data(2000, 50);
  hearsay::fill_normal<double>({.seed = 1}, data);
  for (int j = 0; j < 3; ++j) data.col(j) *= 10 - 2 * j;

  hearsay::io::CheckpointFile file(arguments[1]);
  hearsay::Request request{.checkpoints = &file, .checkpoint_every = 5};
  request.settings.power.rank = 3;
  request.settings.precision = hearsay::Precision::mixed;
  request.settings.noise = {hearsay::NoiseChoice::Kind::gaussian, 1e-3};

  const auto solution = hearsay::solve_pca<double>(data, request);
  const auto& found = solution.pca.power;
  std::printf("%s after %ld iterations: residual %.1e, noise of %.1e, sin(theta) about %.1e\n", name(found.status),
              static_cast<long>(found.iterations), found.residual, found.noise_level, found.sin_theta_estimate);
  return found.status == hearsay::Status::noise_floor ? 0 : 1;
}
