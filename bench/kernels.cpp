// How close the kernels come to what the machine allows, each beside its own limit: the time its arithmetic would take
// at the peak of the multiply-add units, or its bytes at the bandwidth of the memory (or cache) that holds them,
// whichever is longer; both are measured in this run. Prints a table; --json FILE keeps every number. Google
// Benchmark's own flags work too (--benchmark_filter=dense).
//
//   dense        2 d^2 p operations      A once, X once, Y written
//   sparse       2 nnz p                 rows of A once, Y written; for each entry the cache lines of a row of X and of
//                                        its scale, at the rate of rows read in random order from an array as large as
//                                        X, or as a community's part of it
//   covariance   4 m d p                 the data once
//   forming      m d^2                   the data twice (the mean first), half of a symmetric result
//   QR           2 d p^2 a pass          Gram matrix (half) and triangular solve; Y read 3, in two passes 5 times
//   momentum     d p^2 + 4 d p           X_prev, X and Y read, Y written
//   extraction   2 d p k                 X read, V written
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hearsay/graph_tools.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/operators/stored.hpp>
#include <hearsay/qr.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "linalg/large_pages.hpp"
#include "machine.hpp"

namespace {

using namespace hearsay;

bench::Machine machine;

struct Case {
  double flops, bytes;
  double memory_seconds;  // the bytes at the bandwidth that fits them
  bool single;
  std::function<void()> prepare, work;
};

struct Limit {
  double seconds;
  const char* binds;
};

Limit limit_of(const Case& c) {
  const double compute = c.flops / machine.peak_flops(c.single);
  return compute > c.memory_seconds ? Limit{compute, "compute"} : Limit{c.memory_seconds, "memory"};
}

template <class S>
const char* precision() {
  return sizeof(S) == 4 ? "single" : "double";
}

template <class S>
Block<S> block(Index rows, Index cols, std::uint64_t seed) {
  Block<S> filled;
  detail::resize_large<S>(filled, rows, cols);  // as the solver does
  fill_normal<S>({.seed = seed}, filled);
  return filled;
}

// Made when its turn comes; a matrix that several share is made by the first.
struct Named {
  std::string name;
  std::function<Case()> make;
};
using Cases = std::vector<Named>;

template <class S>
void add_dense(Cases& cases) {
  for (const Index d : {1000, 4000}) {
    const auto A = std::make_shared<Block<S>>();
    for (const Index p : {1, 4, 8, 11, 16, 20, 32, 64})
      cases.push_back({fmt::format("dense {} d={} p={}", precision<S>(), d, p), [=] {
                         if (A->size() == 0) *A = block<S>(d, d, 1);
                         const auto X = std::make_shared<Block<S>>(block<S>(d, p, 2)),
                                    Y = std::make_shared<Block<S>>(d, p);
                         const double bytes = double(sizeof(S)) * double(d) * double(d + 3 * p);
                         return Case{.flops = 2.0 * double(d) * double(d) * double(p),
                                     .bytes = bytes,
                                     .memory_seconds = bytes / machine.read_rate(bytes),
                                     .single = sizeof(S) == 4,
                                     .prepare = {},
                                     .work = [=] { multiply<S>(borrow(*A), *X, *Y); }};
                       }});
  }
}

template <class S>
void add_sparse(Cases& cases) {
  const Index n = 262111, communities = 30;
  const double inside = 8,
               outside = 1.4;  // neighbours in a node's own community, whose rows lie together, and elsewhere
  const auto A = std::make_shared<std::unique_ptr<NormalisedGraph<S>>>();
  const auto entries = std::make_shared<double>();
  for (const Index p : {1, 8, 16, 32, 34, 48, 60})
    cases.push_back({fmt::format("sparse {} n={} p={}", precision<S>(), n, p), [=] {
                       if (!*A) {
                         const Graph graph = planted_partition(n, communities, inside, outside, 1);
                         *entries = 2 * double(graph.edges.size());
                         *A = std::make_unique<NormalisedGraph<S>>(graph);
                       }
                       const auto X = std::make_shared<Block<S>>(block<S>(n, p, 3)),
                                  Y = std::make_shared<Block<S>>(n, p);
                       const double X_bytes = double(sizeof(S)) * double(n * p),
                                    lines = std::ceil(double(sizeof(S)) * double(p) / 64);
                       const double streamed = 4 * *entries + 8 * double(n) + 2 * X_bytes;
                       const double gathered = 64 * *entries * (lines + 1);
                       const Index row_bytes = 64 * Index(lines);
                       const double near = gathered * inside / (inside + outside), far = gathered - near;
                       return Case{.flops = 2 * *entries * double(p),
                                   .bytes = streamed + gathered,
                                   .memory_seconds = streamed / machine.read_rate(streamed + X_bytes) +
                                                     near / machine.gather_rate(X_bytes / communities, row_bytes) +
                                                     far / machine.gather_rate(X_bytes, row_bytes),
                                   .single = sizeof(S) == 4,
                                   .prepare = {},
                                   .work = [=] { (*A)->apply(*X, *Y); }};
                     }});
}

void add_covariance(Cases& cases) {
  const Index m = 100000, d = 500;
  const auto data = std::make_shared<Block<double>>();
  const double bytes = 8.0 * double(m) * double(d);
  const auto fill = [=] {
    if (data->size() == 0) *data = block<double>(m, d, 4);
  };
  for (const Index p : {8, 20})
    cases.push_back({fmt::format("covariance fused m={} d={} p={}", m, d, p), [=] {
                       fill();
                       const auto A =
                           std::make_shared<DenseCovariance<double>>(*data, CovarianceOptions{.gram_bytes_limit = 0});
                       const auto X = std::make_shared<Block<double>>(block<double>(d, p, 5)),
                                  Y = std::make_shared<Block<double>>(d, p);
                       return Case{.flops = 4.0 * double(m) * double(d) * double(p),
                                   .bytes = bytes,
                                   .memory_seconds = bytes / machine.read_rate(bytes),
                                   .single = false,
                                   .prepare = {},
                                   .work = [=] { A->apply(*X, *Y); }};
                     }});
}

// Tall and narrow, where it is the threads' meetings that cost, and as wide as features are.
void add_formed_covariance(Cases& cases) {
  for (const auto& [m, d] : {std::pair<Index, Index>{200000, 50}, {10000, 100}, {100000, 500}, {50000, 784}})
    cases.push_back({fmt::format("covariance formed m={} d={}", m, d), [m = m, d = d] {
                       const auto data = std::make_shared<Block<double>>(block<double>(m, d, 4)),
                                  X = std::make_shared<Block<double>>(block<double>(d, 20, 5)),
                                  Y = std::make_shared<Block<double>>(d, 20);
                       const double bytes = 8.0 * double(m) * double(d);
                       return Case{.flops = double(m) * double(d) * double(d),
                                   .bytes = 2 * bytes,
                                   .memory_seconds = 2 * bytes / machine.read_rate(bytes),
                                   .single = false,
                                   .prepare = {},
                                   .work = [=] {
                                     const DenseCovariance<double> A(*data);
                                     A.seek(std::uint64_t{1} << 20);  // so many products have been made: it pays
                                     A.apply(*X, *Y);
                                     if (!A.formed()) throw std::logic_error("the covariance was not formed");
                                   }};
                     }});
}

// Columns of N(0, 1) numbers are nearly orthogonal and take one pass; leaning on the first, they take two.
void add_qr(Cases& cases) {
  for (const auto& [d, p] : {std::pair<Index, Index>{1000, 10}, {1000, 20}, {100000, 16}, {262111, 32}, {262111, 60}})
    for (const int passes : {1, 2})
      cases.push_back({fmt::format("QR d={} p={} passes={}", d, p, passes), [d = d, p = p, passes] {
                         const auto Y = std::make_shared<Block<double>>(block<double>(d, p, 6)),
                                    X = std::make_shared<Block<double>>(*Y);
                         for (Index j = 1; passes == 2 && j < p; ++j) Y->col(j) += 30 * Y->col(0);
                         const double block_bytes = 8.0 * double(d) * double(p),
                                      bytes = block_bytes * (passes == 1 ? 3 : 5);
                         return Case{.flops = 2.0 * passes * double(d) * double(p) * double(p),
                                     .bytes = bytes,
                                     .memory_seconds = bytes / machine.read_rate(block_bytes),
                                     .single = false,
                                     .prepare = [=] { *X = *Y; },
                                     .work =
                                         [=] {
                                           Small<double> R;
                                           const auto method = thin_qr<double>(*X, R).method;
                                           if (method != (passes == 1 ? QrMethod::cholesky : QrMethod::cholesky_twice))
                                             std::abort();
                                         }};
                       }});
}

void add_updates(Cases& cases) {
  for (const auto& [d, p] : {std::pair<Index, Index>{1000, 20}, {262111, 32}, {262111, 60}})
    cases.push_back({fmt::format("momentum d={} p={}", d, p), [d = d, p = p] {
                       const auto X = std::make_shared<Block<double>>(block<double>(d, p, 7)),
                                  X_prev = std::make_shared<Block<double>>(block<double>(d, p, 8)),
                                  Y = std::make_shared<Block<double>>(block<double>(d, p, 9));
                       const Small<double> R = Small<double>::Identity(p, p) * 1.5;
                       const double bytes = 32.0 * double(d) * double(p);
                       return Case{.flops = double(d) * double(p) * double(p + 4),
                                   .bytes = bytes,
                                   .memory_seconds = bytes / machine.triad_rate(bytes * 3 / 4),
                                   .single = false,
                                   .prepare = {},
                                   .work = [=] { subtract_momentum<double>(1e-3, *X, 1e-3, *X_prev, R, *Y); }};
                     }});
  for (const auto& [d, p] : {std::pair<Index, Index>{1000, 20}, {262111, 60}})
    cases.push_back({fmt::format("extraction d={} p={} k={}", d, p, p / 2), [d = d, p = p] {
                       const Index k = p / 2;
                       const auto X = std::make_shared<Block<double>>(block<double>(d, p, 10)),
                                  V = std::make_shared<Block<double>>(d, k);
                       const Small<double> rotation = block<double>(p, k, 11);
                       const double bytes = 8.0 * double(d) * double(p + 2 * k);
                       return Case{.flops = 2.0 * double(d) * double(p) * double(k),
                                   .bytes = bytes,
                                   .memory_seconds = bytes / machine.triad_rate(bytes),
                                   .single = false,
                                   .prepare = {},
                                   .work = [=] { multiply<double>(*X, rotation, *V); }};
                     }});
}

// Sets the case up once, although Google Benchmark calls it several times; the one before it goes.
void run(benchmark::State& state, const Named& named) {
  static const Named* current = nullptr;
  static Case c;
  static Limit limit;
  if (current != &named) {
    c = Case{};
    c = named.make();
    limit = limit_of(c);
    current = &named;
    if (c.prepare) c.prepare();
    c.work();
  }
  for (auto _ : state) {
    if (c.prepare) c.prepare();
    const auto start = std::chrono::steady_clock::now();
    c.work();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  state.counters["flops"] = c.flops;
  state.counters["bytes"] = c.bytes;
  state.counters["limit_seconds"] = limit.seconds;
  state.counters["memory_bound"] = limit.binds[0] == 'm' ? 1 : 0;
}

class Table : public benchmark::BenchmarkReporter {
 public:
  explicit Table(std::FILE* json) : json_(json) {}

  bool ReportContext(const Context&) override {
    fmt::print("kernels {}, threads {}; peak {:.1f} GFLOP/s double, {:.1f} single; ", kernel_name(), threads(),
               machine.peak_flops(false) * 1e-9, machine.peak_flops(true) * 1e-9);
    dgemm_ = machine.dgemm_flops();
    if (dgemm_ > 0) fmt::print("dgemm {:.1f} (OpenBLAS, {}); ", dgemm_ * 1e-9, bench::Machine::blas_core());
    fmt::print("memory read {:.1f} GB/s, triad {:.1f}\n\n", machine.read_rate(1e9) * 1e-9,
               machine.triad_rate(1e9) * 1e-9);
    fmt::print("{:<46}{:>11}{:>10}{:>9}{:>9}{:>11}{:>10}{:>7}{:>10}\n", "", "ms", "GFLOP/s", "GB/s", "binds",
               "limit ms", "fraction", "best", "of dgemm");
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<double> seconds;
    for (const Run& one : runs)
      if (one.run_type == Run::RT_Iteration) seconds.push_back(one.real_accumulated_time / double(one.iterations));
    if (seconds.empty()) return;
    std::sort(seconds.begin(), seconds.end());
    const Run& run = runs.front();
    const double median = seconds[seconds.size() / 2], limit = run.counters.at("limit_seconds");
    const double flops = run.counters.at("flops"), bytes = run.counters.at("bytes");
    const char* binds = run.counters.at("memory_bound") > 0 ? "memory" : "compute";
    fmt::print("{:<46}{:>11.4f}{:>10.1f}{:>9.1f}{:>9}{:>11.4f}{:>10.2f}{:>7.2f}{:>10}\n", run.run_name.function_name,
               median * 1e3, flops / median * 1e-9, bytes / median * 1e-9, binds, limit * 1e3, limit / median,
               limit / seconds.front(), dgemm_ > 0 ? fmt::format("{:.2f}", flops / median / dgemm_) : "-");
    std::fflush(stdout);
    if (json_ != nullptr)
      fmt::print(json_,
                 R"({}
  {{"what": "{}", "seconds": {:.4e}, "best_seconds": {:.4e}, "worst_seconds": {:.4e}, "flops": {:.4e}, "bytes": {:.4e}, )"
                 R"("binds": "{}", "limit_seconds": {:.4e}, "fraction": {:.3f}}})",
                 first_ ? "" : ",", run.run_name.function_name, median, seconds.front(), seconds.back(), flops, bytes,
                 binds, limit, limit / median);
    first_ = false;
  }

 private:
  std::FILE* json_;
  double dgemm_ = 0;
  bool first_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  std::FILE* json = nullptr;
  if (argc >= 3 && std::string(argv[1]) == "--json") {
    json = std::fopen(argv[2], "w");
    if (json == nullptr) {
      fmt::print(stderr, "bench_kernels: {}: cannot be written\n", argv[2]);
      return 2;
    }
    argv[2] = argv[0];
    argv += 2;
    argc -= 2;
  }
  benchmark::Initialize(&argc, argv);

  Cases cases;
  add_dense<double>(cases);
  add_dense<float>(cases);
  add_sparse<double>(cases);
  add_covariance(cases);
  add_formed_covariance(cases);
  add_qr(cases);
  add_updates(cases);
  if (json != nullptr)
    fmt::print(json,
               R"({{"benchmark": "kernels", "version": "{}", "kernels": "{}", "threads": {}, "peak_flops": {:.4e}, )"
               R"("peak_flops_single": {:.4e}, "dgemm_flops": {:.4e}, "blas_core": "{}", "read_bytes_per_s": {:.4e}, )"
               R"("triad_bytes_per_s": {:.4e}, "results": [)",
               version, kernel_name(), threads(), machine.peak_flops(false), machine.peak_flops(true),
               machine.dgemm_flops(), bench::Machine::blas_core(), machine.read_rate(1e9), machine.triad_rate(1e9));
  for (const Named& named : cases)
    benchmark::RegisterBenchmark(named.name.c_str(), run, std::cref(named))
        ->UseManualTime()
        ->Repetitions(7)
        ->MinTime(0.03);
  Table table(json);
  benchmark::RunSpecifiedBenchmarks(&table);
  if (json != nullptr) {
    fmt::print(json, "\n]}}\n");
    std::fclose(json);
  }
}
