// What a certificate costs: every workload with `--certify full` beside `--certify none`, in seconds and in passes, and
// which words the certificate has. The bar: 1.1 times the passes, and two. Prints JSON; exits 1 above the bar.
#include <fmt/format.h>
#include <hearsay/graph_tools.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/mixed.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/pca.hpp>
#include <hearsay/random.hpp>
#include <hearsay/subspace.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "medians.hpp"

namespace {

using namespace hearsay;

using Solve = std::function<PowerResult<double>(const PowerOptions&)>;

// Planted eigenvalues under two random reflections: dense, and made in d^2 operations.
Block<double> planted(const Vector<double>& values) {
  const Index d = values.size();
  Block<double> A = Block<double>::Zero(d, d);
  A.diagonal() = values;
  for (std::uint64_t seed : {1, 2}) {
    Block<double> v(d, 1);
    fill_normal<double>({.seed = seed}, v);
    v /= v.norm();
    const Block<double> Av = A * v;
    const double vAv = (v.transpose() * Av)(0, 0);
    A += -2 * v * Av.transpose() - 2 * Av * v.transpose() + 4 * vAv * v * v.transpose();
  }
  return (A + A.transpose()) / 2;
}

Vector<double> three_eigenvalues(double gap) {
  Vector<double> values = Vector<double>::Constant(1000, 0.5);
  values.head(10).setOnes();
  values(10) = 1 - gap;
  return values;
}

Vector<double> harmonic(Index d) { return Vector<double>::LinSpaced(d, 1, double(d)).cwiseInverse(); }

Vector<double> exponential(Index d) { return (-Vector<double>::LinSpaced(d, 1, double(d)) / 50).array().exp(); }

bool first = true;
bool within = true;

void compare(const std::string& what, Index k, const Solve& solve) {
  for (const double accuracy : {1e-2, 1e-4, 1e-8}) {
    PowerResult<double> results[2];
    const auto run = [&](Certify level, PowerResult<double>& out) {
      PowerOptions options{.rank = k, .tolerance = accuracy, .max_iterations = 100000, .seed = 1};
      options.accuracy = accuracy;
      options.certify = level;
      out = solve(options);
    };
    const auto seconds =
        bench::medians({[&] { run(Certify::none, results[0]); }, [&] { run(Certify::full, results[1]); }}, 5);
    const auto none = static_cast<double>(results[0].passes), full = static_cast<double>(results[1].passes);
    within = within && full <= 1.1 * none + 2;
    const Certificate& certificate = results[1].certificate;
    fmt::print(
        R"({}
    {{"workload": "{}", "k": {}, "accuracy": {:g}, "passes_none": {}, "passes_full": {}, "seconds_none": {:.4e}, )"
        R"("seconds_full": {:.4e}, "ratio": {:.3f}, "status": "{}", "nothing_missed": "{}", "sin_theta": "{}"}})",
        first ? "" : ",", what, k, accuracy, none, full, seconds[0], seconds[1], seconds[1] / seconds[0],
        name(results[1].status), name(certificate.nothing_missed), name(certificate.sin_theta));
    first = false;
  }
}

void compare_dense(const std::string& what, const Vector<double>& values, Index k) {
  const Block<double> A = planted(values);
  const DenseSymmetric<double> op(A);
  compare(what, k, [&](const PowerOptions& options) { return principal_subspace<double>(op, options); });
  const Block<float> single = A.cast<float>();
  const DenseSymmetric<float> op_single(single);
  compare(what + ", mixed", k,
          [&](const PowerOptions& options) { return mixed_precision_subspace(op_single, op, options); });
}

}  // namespace

int main() {
  fmt::print(R"({{"benchmark": "certify", "version": "{}", "kernels": "{}", "threads": {}, "results": [)", version,
             kernel_name(), threads());
  compare_dense("W1 gap 1e-2", three_eigenvalues(1e-2), 10);
  compare_dense("W1 gap 1e-3", three_eigenvalues(1e-3), 10);
  compare_dense("W2 1/i, d = 2000", harmonic(2000), 10);
  compare_dense("W2 1/i, d = 2000", harmonic(2000), 50);
  compare_dense("W2 exp(-i/50), d = 2000", exponential(2000), 10);
  {
    const NormalisedGraph<double> graph(planted_partition(100000, 10, 13.6, 2.4, 1));
    compare("W3 graph of 100,000 nodes", 10,
            [&](const PowerOptions& options) { return principal_subspace<double>(graph, options); });
  }
  {
    Block<double> data(20000, 500);
    fill_normal<double>({.seed = 1}, data);
    for (Index j = 0; j < data.cols(); ++j) data.col(j) /= std::sqrt(static_cast<double>(j + 1));
    compare("W4 PCA of 20,000 x 500", 10,
            [&](const PowerOptions& options) { return pca<double>(data, {.power = options}).power; });
  }
  fmt::print("\n], \"within_bar\": {}}}\n", within);
  return within ? 0 : 1;
}
