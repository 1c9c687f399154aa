// The paper's instance: d = 1000, k = 10, lambda = (1 x 10, 1 - gap, 0.5 ...), adversarial noise of norm 1e-4. How many
// iterations each momentum needs until sin(theta_k) <= 1e-2. In the eigenvectors' own axes: turning start, noise and
// iterates together changes no count, and a product costs 1000 multiplications a column and not a million.
#include <gtest/gtest.h>
#include <hearsay/noise.hpp>
#include <hearsay/operators/compose.hpp>
#include <hearsay/power.hpp>

#include "support/planted.hpp"

namespace hearsay {
namespace {

class PaperInstance : public testing::TestWithParam<double> {
 protected:
  static constexpr Index dim = 1000, rank = 10;

  Index iterations(const Momentum& momentum, Damping damping, Index limit) const {
    const CallbackOperator<double> exact(
        dim, [this](ConstBlockView<double> X, BlockView<double> Y) { Y.noalias() = eigenvalues_.asDiagonal() * X; });
    const auto A = noisy(exact, adversarial_noise<double>(1e-4, 1));
    const Block<double> U = Block<double>::Identity(dim, rank);
    Hooks<double> hooks;
    hooks.reference = &U;
    hooks.observe = [](const Iteration<double>& now) { return !(now.entry.sin_theta <= 1e-2); };
    const auto result = accelerated_power<double>(A,
                                                  {.rank = rank,
                                                   .momentum = momentum,
                                                   .damping = damping,
                                                   .oversample = 1,
                                                   .tolerance = 1e-12,
                                                   .max_iterations = limit,
                                                   .stop_at_noise_floor = false},
                                                  hooks);
    return result.status == Status::stopped_by_observer ? result.iterations : limit + 1;
  }

  double gap() const { return GetParam(); }

  const std::vector<double> spectrum_ = test::paper_spectrum(dim, rank, GetParam());
  const Vector<double> eigenvalues_ = Eigen::Map<const Vector<double>>(spectrum_.data(), dim);
};

TEST_P(PaperInstance, AdaptiveMomentumKeepsUpWithTheOptimalAndLeavesTheNoisyPowerMethodFarBehind) {
  const Index optimal = iterations(Momentum::optimal(1 - gap()), Damping::symmetric, 2000);
  const Index adaptive = iterations({}, Damping::symmetric, 2000);
  const Index centred = iterations({}, Damping::centred, 2000);
  const Index ratio = gap() > 5e-3 ? 7 : 20;
  const Index npm = iterations(Momentum::none(), Damping::symmetric, ratio * adaptive);

  RecordProperty("optimal", static_cast<int>(optimal));
  RecordProperty("adaptive", static_cast<int>(adaptive));
  RecordProperty("centred", static_cast<int>(centred));
  EXPECT_LE(static_cast<double>(adaptive), 1.1 * static_cast<double>(optimal));
  EXPECT_GE(npm, ratio * adaptive) << "adaptive " << adaptive << ", npm " << npm;
  EXPECT_LE(1.3 * static_cast<double>(centred), static_cast<double>(adaptive));
}

INSTANTIATE_TEST_SUITE_P(Gaps, PaperInstance, testing::Values(1e-2, 1e-3));

}  // namespace
}  // namespace hearsay
