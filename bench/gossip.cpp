// How fast gossip mixes in one process, as a part of the memory bandwidth that a STREAM triad reaches in the same run;
// and that ten thousand agents run. Prints JSON.
#include <fmt/format.h>
#include <hearsay/decentralized.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <memory>

#include "medians.hpp"

namespace {

using namespace hearsay;

// a <- b + s c over arrays far larger than any cache, each thread on its own pages.
class Triad {
 public:
  Triad() : a_(new double[size]), b_(new double[size]), c_(new double[size]) {
#pragma omp parallel for schedule(static) num_threads(threads())
    for (Index i = 0; i < size; ++i) a_[i] = b_[i] = c_[i] = 1;
  }

  void run() {
    double *a = a_.get(), *b = b_.get(), *c = c_.get();
#pragma omp parallel for schedule(static) num_threads(threads())
    for (Index i = 0; i < size; ++i) a[i] = b[i] + 3 * c[i];
  }

  static constexpr double bytes = 3.0 * 8 * (1 << 25);

 private:
  static constexpr Index size = 1 << 25;
  std::unique_ptr<double[]> a_, b_, c_;
};

// Counted as the triad is: every block read once and written once, whatever the caches make of it.
void mixing(Index agents, Index numbers, Index rounds) {
  Triad triad;
  LocalNetwork net(GossipMatrix::metropolis(random_regular_graph(agents, 4, 1)));
  Block<double> Z(agents, numbers), out, votes(agents, 0);
  fill_normal<double>({.seed = 1}, Z);
  GossipWorkspace workspace;
  const auto t = bench::medians(
      {[&] { gossip(net, GossipKind::chebyshev, rounds, Z, out, votes, workspace); }, [&] { triad.run(); }});
  const double block_bytes = 8.0 * static_cast<double>(agents * numbers);
  const double mixed = block_bytes * (2 + 3 * static_cast<double>(rounds - 1));  // the first round has no Z_prev
  fmt::print(R"({{"what": "mixing", "agents": {}, "numbers": {}, "rounds": {}, "gbytes_per_s": {:.2f}, )"
             R"("triad_gbytes_per_s": {:.2f}, "fraction": {:.2f}}})",
             agents, numbers, rounds, mixed / t[0] * 1e-9, Triad::bytes / t[1] * 1e-9,
             mixed / t[0] / (Triad::bytes / t[1]));
}

void many_agents(Index agents, Index d, Index k) {
  Block<double> data(2 * agents, d);
  fill_normal<double>({.seed = 2}, data);
  for (Index j = 0; j < d; ++j) data.col(j) *= 1.0 / static_cast<double>(1 + j);
  const auto shards = covariance_shards(data, contiguous_split(data.rows(), agents));
  LocalNetwork net(GossipMatrix::metropolis(random_regular_graph(agents, 6, 1)));
  DecentralizedResult result;
  const auto t = bench::medians(
      {[&] { result = decentralized_pca(net, operators_of(shards), {.rank = k, .tolerance = 1e-6}); }}, 1);
  fmt::print(
      R"(,
  {{"what": "decentralized PCA", "agents": {}, "d": {}, "k": {}, "status": "{}", "iterations": {}, "rounds": {}, "seconds": {:.2f}}})",
      agents, d, k, name(result.status), result.iterations, result.traffic.rounds, t[0]);
}

}  // namespace

int main() {
  fmt::print(R"({{"version": "{}", "kernels": "{}", "threads": {}, "results": [
  )",
             hearsay::version, hearsay::kernel_name(), hearsay::threads());
  mixing(1000, 256 * 8, 10);
  many_agents(10000, 16, 3);
  fmt::print("\n]}}\n");
}
