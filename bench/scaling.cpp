// How a whole solve grows: seconds, seconds a pass and memory against dimension, rank, entries, samples and threads,
// with the exponents of the best-fitting powers. Each point has a process of its own, so that its memory is its own.
// Prints JSON.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <hearsay/graph_tools.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/pca.hpp>
#include <hearsay/power.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace hearsay;

constexpr int repeats = 5;

struct Point {
  double seconds = 0, fastest = 0, slowest = 0;  // median first
  double memory_bytes = 0;                       // what the solve took at most, beyond the problem itself
  double passes = 0;
  bool converged = false;
};

struct Solved {
  Index passes;
  Status status;
};

// Of this process, in bytes: "VmRSS" now, "VmHWM" at most since the last reset.
double memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(field, 0) == 0) return 1024 * std::strtod(line.c_str() + field.size() + 1, nullptr);
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

Point measure(const std::function<Solved()>& solve) {
  Point point;
  std::vector<double> seconds;
  const double before = memory("VmRSS");
  forget_peak();
  for (int repeat = 0; repeat <= repeats; ++repeat) {  // the first warms up, and shows the memory
    const auto start = std::chrono::steady_clock::now();
    const Solved solved = solve();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (repeat == 0) point.memory_bytes = memory("VmHWM") - before;
    if (repeat > 0) seconds.push_back(taken.count());
    point.passes = static_cast<double>(solved.passes);
    point.converged = solved.status == Status::converged;
  }
  std::sort(seconds.begin(), seconds.end());
  point.seconds = seconds[seconds.size() / 2];
  point.fastest = seconds.front();
  point.slowest = seconds.back();
  return point;
}

// Runs it in a child, which never returns.
Point in_a_process(const std::function<Point()>& work) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Point point = work();
    const bool sent = write(ends[1], &point, sizeof point) == static_cast<ssize_t>(sizeof point);
    _exit(sent ? 0 : 1);
  }
  close(ends[1]);
  Point point;
  const bool received = read(ends[0], &point, sizeof point) == static_cast<ssize_t>(sizeof point);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!received || status != 0) {
    fmt::print(stderr, "bench_scaling: a solve did not end well\n");
    std::exit(1);
  }
  return point;
}

// Eigenvalues 1/i, turned by one reflection: dense, and made in d^2 operations.
Block<double> harmonic(Index d) {
  Vector<double> v = Vector<double>::LinSpaced(d, 1, 2), values(d);
  v.normalize();
  for (Index i = 0; i < d; ++i) values(i) = 1 / static_cast<double>(i + 1);
  const Vector<double> Dv = values.cwiseProduct(v);
  Block<double> A = -2 * v * Dv.transpose() - 2 * Dv * v.transpose() + 4 * v.dot(Dv) * v * v.transpose();
  A.diagonal() += values;
  return A;
}

Point dense(Index d, Index k, int count) {
  set_threads(count);
  const Block<double> A = harmonic(d);
  const DenseSymmetric<double> op(A);
  return measure([&] {
    const auto result = accelerated_power<double>(op, {.rank = k, .tolerance = 1e-6});
    return Solved{result.passes, result.status};
  });
}

Point sparse(Index nodes, double degree, int count) {
  set_threads(count);
  const NormalisedGraph<double> op(planted_partition(nodes, 10, 0.85 * degree, 0.15 * degree, 1));
  return measure([&] {
    const auto result = accelerated_power<double>(op, {.rank = 10, .tolerance = 1e-4});
    return Solved{result.passes, result.status};
  });
}

Point samples(Index m, Index d, int count) {
  set_threads(count);
  Block<double> data(m, d);
  fill_normal<double>({.seed = 1}, data);
  for (Index j = 0; j < d; ++j) data.col(j) /= std::sqrt(static_cast<double>(j + 1));
  return measure([&] {
    const auto result = pca<double>(data, {.power = {.rank = 10, .tolerance = 1e-6}});
    return Solved{result.power.passes, result.power.status};
  });
}

// The slope of log y against log x.
double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = std::log(x[i]), v = std::log(std::max(y[i], 1e-300));
    sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

bool first_series = true;

void series(const std::string& what, const std::string& variable, const std::vector<double>& values,
            const std::function<Point(double)>& at) {
  fmt::print("{}\n  {{\"what\": \"{}\", \"against\": \"{}\", \"points\": [", first_series ? "" : ",", what, variable);
  first_series = false;
  std::vector<double> seconds, each, bytes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Point point = in_a_process([&] { return at(values[i]); });
    seconds.push_back(point.seconds);
    each.push_back(point.seconds / point.passes);
    bytes.push_back(point.memory_bytes);
    fmt::print(R"({}
    {{"{}": {:.0f}, "seconds": {:.4e}, "fastest": {:.4e}, "slowest": {:.4e}, "passes": {:.0f}, "seconds_per_pass": {:.4e}, )"
               R"("memory_mb": {:.1f}, "converged": {}}})",
               i == 0 ? "" : ",", variable, values[i], point.seconds, point.fastest, point.slowest, point.passes,
               each.back(), point.memory_bytes * 1e-6, point.converged);
  }
  fmt::print(R"(],
   "exponents": {{"seconds": {:.2f}, "seconds_per_pass": {:.2f}, "memory": {:.2f}}}}})",
             exponent(values, seconds), exponent(values, each), exponent(values, bytes));
}

}  // namespace

int main() {
  const int all = threads();
  fmt::print(
      R"({{"benchmark": "scaling", "version": "{}", "kernels": "{}", "threads": {}, "repeats": {}, "results": [)",
      version, kernel_name(), all, repeats);
  series("dense, k = 10", "d", {500, 1000, 2000, 4000}, [&](double d) { return dense(Index(d), 10, all); });
  series("dense, d = 2000", "k", {5, 10, 20, 40}, [&](double k) { return dense(2000, Index(k), all); });
  series("graph of 50,000 nodes, k = 10", "entries", {4e5, 8e5, 16e5, 32e5},
         [&](double entries) { return sparse(50000, entries / 50000, all); });
  series("graph of 16 neighbours a node, k = 10", "nodes", {25000, 50000, 100000, 200000},
         [&](double nodes) { return sparse(Index(nodes), 16, all); });
  series("PCA of 200 features, k = 10", "samples", {10000, 20000, 40000, 80000},
         [&](double m) { return samples(Index(m), 200, all); });
  std::vector<double> counts;
  for (int count = 1; count <= all; count *= 2) counts.push_back(count);
  if (counts.size() > 1) {
    series("dense, d = 4000, k = 10", "threads", counts, [](double count) { return dense(4000, 10, int(count)); });
    series("graph of 100,000 nodes", "threads", counts, [](double count) { return sparse(100000, 16, int(count)); });
    series("PCA of 40,000 x 500", "threads", counts, [](double count) { return samples(40000, 500, int(count)); });
  }
  fmt::print("\n]}}\n");
}
