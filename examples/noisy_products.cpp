// Products that carry noise: the solver finds the floor, stops there and says so.
#include <hearsay/noise.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>

#include <cstdio>

int main() {
  const hearsay::Index d = 400;
  hearsay::Block<double> A = hearsay::Block<double>::Zero(d, d);
  for (hearsay::Index i = 0; i < d; ++i) A(i, i) = i < 5 ? 1.0 : 0.9 * 5 / static_cast<double>(i);

  const hearsay::DenseSymmetric<double> exact(A);
  const auto result =
      hearsay::accelerated_power<double>(noisy(exact, hearsay::gaussian_noise<double>(1e-6, 7)), {.rank = 5});

  std::printf("%s: residual %.1e, noise of about %.1e an entry\n", name(result.status), result.residual,
              result.noise_level);
  for (const auto& note : result.notes) std::printf("note: %s\n", note.c_str());
  return result.status == hearsay::Status::noise_floor ? 0 : 1;
}
