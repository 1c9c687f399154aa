// What averaging adds to an iteration with noisy products: the same dense matrix, block and noise, with the averages
// and without them. Solves take turns; the least of all steps' times counts, because whatever else runs only adds.
// Prints JSON.
#include <fmt/format.h>
#include <hearsay/linalg.hpp>
#include <hearsay/noise.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/random.hpp>
#include <hearsay/subspace.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

namespace {

using namespace hearsay;

constexpr Index d = 4000, k = 10, steps = 60;
constexpr int turns = 5;

// Ten eigenvalues near 1.4 above a random rest between 0.2 and 0.6.
Block<double> matrix() {
  Block<double> A(d, d);
  fill_normal<double>({.seed = 1}, A);
  const double scale = 0.1 / std::sqrt(2.0 * d);
  A = (scale * (A + A.transpose())).eval();
  for (Index i = 0; i < d; ++i) A(i, i) += i < k ? 1.4 : 0.4;
  return A;
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Seconds of each step of a solve whose block is k + 1 wide.
std::vector<double> seconds_of_steps(const DenseSymmetric<double>& A, SolveMethod method) {
  std::vector<double> seconds;
  double before = 0;
  Index columns_before = 0;
  Hooks<double> hooks;
  hooks.observe_basis = false;
  hooks.observe = [&](const Iteration<double>& step) {
    const double now = processor_seconds();
    if (columns_before == k + 1 && step.X.cols() == k + 1) seconds.push_back(now - before);
    before = now, columns_before = step.X.cols();
    return true;
  };
  PowerOptions options{.rank = k, .method = method, .max_iterations = steps, .seed = 2, .stop_at_noise_floor = false};
  if (method == SolveMethod::averaged)
    options.product_budget = (k + 1) * steps;
  else
    options.oversample = 1;
  static_cast<void>(principal_subspace<double>(noisy(A, gaussian_noise<double>(1e-5, 3)), options, hooks));
  return seconds;
}

void keep(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

int main() {
  const Block<double> stored = matrix();
  const DenseSymmetric<double> A(stored);
  set_threads(1);
  std::vector<double> plain, averaged;
  for (int turn = 0; turn < turns; ++turn) {
    keep(plain, seconds_of_steps(A, SolveMethod::anpm));
    keep(averaged, seconds_of_steps(A, SolveMethod::averaged));
  }
  std::sort(plain.begin(), plain.end());
  std::sort(averaged.begin(), averaged.end());
  const double plain_median = plain[plain.size() / 2], averaged_median = averaged[averaged.size() / 2];
  fmt::print(R"({{"version": "{}", "kernels": "{}", "threads": 1, "results": [)", hearsay::version,
             hearsay::kernel_name());
  fmt::print(R"({{"what": "averaged step", "d": {}, "k": {}, "p": {}, "steps": [{}, {}], "plain_ms": {:.3f}, )"
             R"("averaged_ms": {:.3f}, "ratio": {:.3f}, "ratio_of_fastest": {:.3f}}}]}})"
             "\n",
             d, k, k + 1, plain.size(), averaged.size(), 1e3 * plain_median, 1e3 * averaged_median,
             averaged_median / plain_median, averaged.front() / plain.front());
}
