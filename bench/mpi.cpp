// What the rank engine costs: the same run in one process with a thread for each rank, and on the ranks with one thread
// each, in turn. Start it on two ranks, free to use any processor. Prints JSON.
#include <fmt/format.h>
#include <hearsay/decentralized_on_ranks.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/mpi.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

using namespace hearsay;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Ranks other than 0 sleep until rank 0 comes: waiting in MPI they would take its processors.
void wait_for_rank_0(mpi::World& world) {
  constexpr int tag = 77;
  if (world.rank() == 0) {
    for (int rank = 1; rank < world.size(); ++rank) MPI_Send(nullptr, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD);
    return;
  }
  for (int there = 0; there == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    MPI_Iprobe(0, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

Block<double> shard(Index agent, Index rows, Index d) {
  Block<double> block(rows, d);
  fill_normal<double>({.seed = 1, .agent = static_cast<std::uint32_t>(agent)}, block);
  for (Index j = 0; j < 64; ++j) block.col(j) *= 8 / std::sqrt(1 + static_cast<double>(j));
  return block;
}

void compare(mpi::World& world, Index agents, Index rows, Index d, Index k) {
  const GossipMatrix W = GossipMatrix::ring(agents);
  const double weight = static_cast<double>(agents) / static_cast<double>(agents * rows);
  const DecentralizedOptions options{.rank = k, .max_iterations = 12, .tolerance = 0};
  RankNetwork net(world, W);
  std::vector<CovarianceShard> here, all;
  for (const Index agent : net.local()) here.emplace_back(shard(agent, rows, d), weight);
  for (Index agent = 0; world.rank() == 0 && agent < agents; ++agent) all.emplace_back(shard(agent, rows, d), weight);

  std::vector<double> in_process, on_ranks;
  DecentralizedResult expected, result;
  for (int repeat = -1; repeat < 5; ++repeat) {  // the first round warms up
    if (world.rank() == 0) {
      set_threads(world.size());
      const double seconds = seconds_of([&] {
        LocalNetwork local(W);
        expected = decentralized_pca(local, operators_of(all), options);
      });
      if (repeat >= 0) in_process.push_back(seconds);
    }
    wait_for_rank_0(world);
    set_threads(1);
    world.max(0);  // all begin together
    const double seconds = seconds_of([&] { result = decentralized_pca(net, operators_of(here), options); });
    if (repeat >= 0) on_ranks.push_back(seconds);
  }
  if (world.rank() != 0) return;
  if (result.digest != expected.digest) {
    fmt::print(stderr, "bench mpi: digests differ\n");
    world.abort(EXIT_FAILURE);
  }
  static bool first = true;
  fmt::print(
      R"({}
  {{"what": "decentralized PCA", "agents": {}, "rows_per_agent": {}, "d": {}, "k": {}, "iterations": {}, "rounds": {}, )"
      R"("in_process_seconds": {:.3f}, "on_ranks_seconds": {:.3f}, "ratio": {:.3f}}})",
      std::exchange(first, false) ? "" : ",", agents, rows, d, k, result.iterations, result.traffic.rounds,
      median(in_process), median(on_ranks), median(on_ranks) / median(in_process));
}

}  // namespace

int main(int argc, char** argv) {
  hearsay::mpi::World world(argc, argv);
  if (world.rank() == 0)
    fmt::print(R"({{"version": "{}", "mpi": "{}", "ranks": {}, "results": [)", hearsay::version,
               hearsay::mpi::library(), world.size());
  for (const Index agents : {2, 8})
    for (const Index rows : {256, 1024}) compare(world, agents, rows, 4096, 16);
  if (world.rank() == 0) fmt::print("\n]}}\n");
}
