// What links between agents cost: a round of gossip, and whole runs, over gRPC with mutual TLS on the loopback beside
// MPI. Start it on as many ranks as there are agents. Over gRPC each rank is an agent, too: the same processes, the
// same work, only the links differ; runs take turns. Prints JSON.
#include <fmt/format.h>
#include <sys/resource.h>
#include <hearsay/agent.hpp>
#include <hearsay/grpc.hpp>
#include <hearsay/mpi.hpp>
#include <hearsay/mpi_links.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "network/entries.hpp"
#include "pki/pki.hpp"

namespace {

using namespace hearsay;
namespace fs = std::filesystem;

constexpr std::time_t a_day = 24 * 60 * 60;

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double processor_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::string name_of(Index agent) { return "site" + std::to_string(agent); }

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Rank 0 is the authority and writes everyone's files.
void issue_certificates(const fs::path& folder, Index agents) {
  const app::Validity today{std::time(nullptr) - a_day, std::time(nullptr) + a_day};
  const std::string authority_key = app::new_key(),
                    authority = app::authority_certificate(authority_key, "bench", today);
  write(folder / "authority.pem", authority);
  for (Index agent = 0; agent < agents; ++agent) {
    const std::string name = name_of(agent), key = app::new_key(), identity = "DNS:" + name;
    const std::string request = app::certificate_request(key, name, identity);
    write(folder / (name + ".key"), key);
    write(folder / (name + ".pem"), app::signed_certificate(request, authority, authority_key, name, identity, today));
  }
}

// The lower number dials: ranks listen from the highest down, and tell their ports.
std::unique_ptr<GrpcLinks> grpc_links(mpi::World& world, const GossipMatrix& W, const fs::path& folder) {
  const Index self = world.rank();
  std::unique_ptr<GrpcLinks> links;
  std::vector<int> ports(static_cast<std::size_t>(world.size()));
  for (Index turn = world.size() - 1; turn >= 0; --turn) {
    if (turn == self) {
      const fs::path base = folder / name_of(self);
      GrpcOptions options{.self = self,
                          .listen = "127.0.0.1:0",
                          .federation = "f00d",
                          .tls = {base.string() + ".pem", base.string() + ".key", folder / "authority.pem"}};
      for (const Index other : detail::neighbours_of(W.matrix(), self)) {
        GrpcPeer peer{.agent = other, .name = name_of(other), .identity = "DNS:" + name_of(other)};
        if (other > self) peer.address = fmt::format("127.0.0.1:{}", ports[static_cast<std::size_t>(other)]);
        options.peers.push_back(std::move(peer));
      }
      links = std::make_unique<GrpcLinks>(std::move(options));
    }
    int port = links && turn == self ? links->port() : 0;
    MPI_Bcast(&port, 1, MPI_INT, static_cast<int>(turn), MPI_COMM_WORLD);
    ports[static_cast<std::size_t>(turn)] = port;
  }
  return links;
}

constexpr int repeats = 3;

struct Times {
  std::vector<double> wall, cpu;  // of the slowest agent, and of all
  std::uint64_t digest = 0;
  Index rounds = 0;
};

void measure(const std::function<DecentralizedResult()>& body, Times& times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = wall(), used = processor_time();
  const DecentralizedResult result = body();
  const double mine[] = {wall() - began, processor_time() - used};
  double slowest = 0, all = 0;
  MPI_Allreduce(&mine[0], &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(&mine[1], &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  times.wall.push_back(slowest);
  times.cpu.push_back(all);
  times.digest = result.digest;
  times.rounds = result.traffic.rounds;
}

struct Compared {
  Times ranks, mpi, grpc;
};

Compared in_turns(mpi::World& world, const GossipMatrix& W, const fs::path& folder,
                  const std::function<DecentralizedResult(RankNetwork&)>& on_ranks,
                  const std::function<DecentralizedResult(Links&)>& on_links) {
  Compared times;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    RankNetwork net(world, W);
    measure([&] { return on_ranks(net); }, times.ranks);
    {
      mpi::AgentLinks links(MPI_COMM_WORLD, W);
      measure([&] { return on_links(links); }, times.mpi);
    }
    auto links = grpc_links(world, W, folder);
    measure([&] { return on_links(*links); }, times.grpc);
    links->close(links->now() + 10);
  }
  const bool same = world.rank() != 0 || times.ranks.digest == times.grpc.digest;  // rank 0 has the ranks' result
  if (!same || times.mpi.digest != times.grpc.digest) {
    fmt::print(stderr, "bench agents: digests differ: {:016x} on ranks, {:016x} over MPI, {:016x} over gRPC\n",
               times.ranks.digest, times.mpi.digest, times.grpc.digest);
    world.abort(EXIT_FAILURE);
  }
  return times;
}

std::string text_of(const char* what, const Times& times) {
  const double seconds = median(times.wall), used = median(times.cpu), rounds = static_cast<double>(times.rounds);
  return fmt::format(R"("{}": {{"seconds": {:.3f}, "processor_seconds": {:.3f}, "ms_a_round": {:.3f}, )"
                     R"("processor_ms_a_round_of_all": {:.3f}}})",
                     what, seconds, used, 1e3 * seconds / rounds, 1e3 * used / rounds);
}

void report(mpi::World& world, const std::string& what, const Compared& times) {
  static bool first = true;
  if (world.rank() != 0) return;
  fmt::print("{}\n  {{{}, \"agents\": {}, \"rounds\": {}, {}, {}, {}}}", std::exchange(first, false) ? "" : ",", what,
             world.size(), times.grpc.rounds, text_of("ranks", times.ranks), text_of("protocol_over_mpi", times.mpi),
             text_of("grpc", times.grpc));
  std::fflush(stdout);
}

// Gossip and nothing else: a block of so many numbers, so many times.
template <class Net>
DecentralizedResult gossiped(Net& net, Index numbers, Index rounds) {
  Block<double> Z(1, numbers), out(1, numbers), votes(1, 1);
  fill_normal<double>({.seed = 1, .agent = static_cast<std::uint32_t>(net.agent(0))}, Z);
  votes.setZero();
  for (Index round = 0; round < rounds; ++round) {
    net.mix({}, Z, Z, out, votes);
    Z.swap(out);
  }
  DecentralizedResult result;
  result.traffic.rounds = rounds;
  return result;
}

DecentralizedResult gossip_on_ranks(RankNetwork& net, Index numbers, Index rounds) {
  DecentralizedResult result;
  net.run([&] { result = gossiped(net, numbers, rounds); });
  return result;
}

DecentralizedResult gossip_on_links(Links& links, const GossipMatrix& W, Index numbers, Index rounds) {
  LinkNetwork net(links, W, {.largest_block = static_cast<std::uint64_t>(numbers) + 64});
  DecentralizedResult result;
  net.run([&] {
    net.connect();
    result = gossiped(net, numbers, rounds);
  });
  return result;
}

constexpr Index d = 4096, k = 16, iterations = 12;

Block<double> rows_of(Index agent, Index rows) {
  Block<double> block(rows, d);
  fill_normal<double>({.seed = 1, .agent = static_cast<std::uint32_t>(agent)}, block);
  for (Index j = 0; j < 64; ++j) block.col(j) *= 8 / std::sqrt(1 + static_cast<double>(j));
  return block;
}

DecentralizedResult run_on_links(Links& links, const GossipMatrix& W, Index rows) {
  FederationSettings federation{.names = std::vector<std::string>(static_cast<std::size_t>(W.agents()), "site"),
                                .W = W};
  federation.settings.power.rank = k;
  federation.settings.power.max_iterations = iterations;
  federation.network.solver.tolerance = 0;
  return run_agent(links, {.rows = rows_of(links.self(), rows)}, federation).result;
}

DecentralizedResult run_on_ranks(mpi::World& world, RankNetwork& net, Index rows) {
  Shards shards{.agents = net.agents(), .local = {world.rank()}};
  shards.rows.push_back(rows_of(world.rank(), rows));
  const ShardTotals totals = totals_of(world, shards);
  const auto A = covariance_shards(std::move(shards), totals, true);
  return decentralized_pca(net, operators_of(A), {.rank = k, .max_iterations = iterations, .tolerance = 0});
}

}  // namespace

int main(int argc, char** argv) {
  hearsay::mpi::World world(argc, argv);
  hearsay::set_threads(1);
  const GossipMatrix W = GossipMatrix::ring(world.size());
  const fs::path folder = fs::path(argc > 1 ? argv[1] : ".") / "bench-agents";
  if (world.rank() == 0) {
    fs::create_directories(folder);
    issue_certificates(folder, world.size());
    fmt::print(R"({{"version": "{}", "mpi": "{}", "processors": {}, "results": [)", hearsay::version,
               hearsay::mpi::library(), std::thread::hardware_concurrency());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  constexpr Index numbers = 64 * 9, rounds = 500, rows = 256;
  report(world, R"("what": "gossip alone", "d": 64, "p": 9)",
         in_turns(
             world, W, folder, [&](RankNetwork& net) { return gossip_on_ranks(net, numbers, rounds); },
             [&](Links& links) { return gossip_on_links(links, W, numbers, rounds); }));
  report(world, fmt::format(R"("what": "decentralized PCA", "d": {}, "k": {}, "rows_per_agent": {})", d, k, rows),
         in_turns(
             world, W, folder, [&](RankNetwork& net) { return run_on_ranks(world, net, rows); },
             [&](Links& links) { return run_on_links(links, W, rows); }));
  if (world.rank() == 0) {
    fmt::print("\n]}}\n");
    fs::remove_all(folder);
  }
  return 0;
}
