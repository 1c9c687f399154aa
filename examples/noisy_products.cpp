// Products that carry noise: they are averaged, and the answer comes with an error bar.
#include <hearsay/noise.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/subspace.hpp>

#include <cstdio>

int main() {
  const hearsay::Index d = 400;
  hearsay::Block<double> A = hearsay::Block<double>::Zero(d, d);
  for (hearsay::Index i = 0; i < d; ++i) A(i, i) = i < 5 ? 1.0 : 0.9 * 5 / static_cast<double>(i);

  const hearsay::DenseSymmetric<double> exact(A);
  const auto result =
      hearsay::principal_subspace<double>(noisy(exact, hearsay::gaussian_noise<double>(1e-6, 7)), {.rank = 5});

  std::printf("%s: sin(theta) %.1e, %s, at noise of about %.1e an entry\n", name(result.status), result.bar.sin_theta,
              name(result.bar.kind), result.noise_level);
  for (const auto& note : result.notes) std::printf("note: %s\n", note.c_str());
  return result.bar.kind == hearsay::BarKind::calibrated ? 0 : 1;
}
