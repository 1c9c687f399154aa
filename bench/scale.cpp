// Many agents: how many rounds and messages a run takes on which graph, what an agent costs in memory, how long a round
// lasts where links have latency and lose packets, and how likely a run is to get through. Prints JSON.
//
//   bench_scale [organisations|memory|rounds|survival]...       all of them by itself
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#include <hearsay/decentralized.hpp>
#include <hearsay/error.hpp>
#include <hearsay/gossip.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/link_network.hpp>
#include <hearsay/random.hpp>
#include <hearsay/simulated_links.hpp>
#include <hearsay/version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <map>
#include <set>

#include "network/entries.hpp"

namespace {

using namespace hearsay;

double wall() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Bytes that this process has in memory.
double resident() {
  std::ifstream file("/proc/self/statm");
  double pages = 0, in_memory = 0;
  file >> pages >> in_memory;
  return in_memory * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// ---- Graphs ---------------------------------------------------------------------------------------------------------

double luck(std::uint64_t seed, std::uint64_t what, std::uint32_t of = 0) {
  return random_uniform({.seed = seed, .stream = Stream::test, .agent = of}, what);
}

// Barabasi and Albert: each newcomer chooses three, the more likely the more links they have.
Graph power_law_graph(Index nodes, std::uint64_t seed) {
  constexpr Index choices = 3;
  Graph graph = complete_graph(choices + 1);
  graph.nodes = nodes;
  std::vector<std::int32_t> ends;  // every node once for each of its links
  for (const auto& [a, b] : graph.edges) ends.insert(ends.end(), {a, b});
  std::uint64_t draws = 0;
  for (auto node = static_cast<std::int32_t>(choices + 1); node < nodes; ++node) {
    std::set<std::int32_t> chosen;
    while (chosen.size() < static_cast<std::size_t>(choices))
      chosen.insert(ends[static_cast<std::size_t>(luck(seed, draws++) * static_cast<double>(ends.size()))]);
    for (const std::int32_t other : chosen) {
      graph.edges.emplace_back(other, node);
      ends.insert(ends.end(), {other, node});
    }
  }
  std::sort(graph.edges.begin(), graph.edges.end());
  return graph;
}

Index side_of(Index nodes) {
  auto side = static_cast<Index>(std::sqrt(static_cast<double>(nodes)));
  while (nodes % side != 0) --side;
  return side;
}

GossipMatrix network_called(const std::string& name, Index n) {
  if (name == "ring") return GossipMatrix::ring(n);
  if (name == "torus") return GossipMatrix::metropolis(torus_graph(side_of(n), n / side_of(n)));
  if (name == "4-regular") return GossipMatrix::metropolis(random_regular_graph(n, 4, 1));
  if (name == "8-regular") return GossipMatrix::metropolis(random_regular_graph(n, 8, 1));
  if (name == "star") return GossipMatrix::metropolis(star_graph(n));
  if (name == "complete") return GossipMatrix::metropolis(complete_graph(n));
  return GossipMatrix::metropolis(power_law_graph(n, 1));
}

Index largest_degree(const GossipMatrix& W) {
  Index largest = 0;
  for (Index agent = 0; agent < W.agents(); ++agent)
    largest = std::max(largest, static_cast<Index>(detail::neighbours_of(W.matrix(), agent).size()));
  return largest;
}

// ---- Output, a process for each case so that memory is its own
// --------------------------------------------------------

void in_a_process(const std::function<std::string()>& make) {
  static bool first = true;
  fmt::print("{}\n  ", std::exchange(first, false) ? "" : ",");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    fmt::print("{}", make());
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) {
    fmt::print(stderr, "bench scale: a case failed\n");
    std::exit(EXIT_FAILURE);
  }
}

// ---- Whole runs of a thousand ---------------------------------------------------------------------------------------

constexpr Index features = 16, wanted = 3;

std::vector<CovarianceShard> shards_of(Index agents) {
  Block<double> data(2 * agents, features);
  fill_normal<double>({.seed = 2}, data);
  for (Index j = 0; j < features; ++j) data.col(j) *= 1.0 / static_cast<double>(1 + j);
  return covariance_shards(data, contiguous_split(data.rows(), agents));
}

std::string whole_run(const std::string& topology, Index n) {
  const GossipMatrix W = network_called(topology, n);
  LocalNetwork net(W);
  const auto shards = shards_of(n);
  const double began = wall();
  const auto result = decentralized_pca(net, operators_of(shards), {.rank = wanted, .tolerance = 1e-6});
  return fmt::format(
      R"({{"what": "whole run", "topology": "{}", "agents": {}, "edges": {}, "most_neighbours": {}, "diameter": {}, )"
      R"("gap": {:.3g}, "status": "{}", "iterations": {}, "rounds": {}, "control_rounds": {}, "messages": {}, )"
      R"("bytes_of_a_typical_agent": {}, "seconds": {:.2f}}})",
      topology, n, W.edges(), largest_degree(W), W.diameter(), net.spectrum().gap(), name(result.status),
      result.iterations, result.traffic.rounds, result.traffic.control_rounds, result.traffic.messages,
      result.traffic.bytes / n, wall() - began);
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

std::string memory_of_solver(const std::string& topology, Index n) {
  const double before = resident();
  const double began = wall();
  const GossipMatrix W = network_called(topology, n);
  LocalNetwork net(W);
  const double made = wall();
  const auto shards = shards_of(n);
  constexpr Index too_far = 20'000;  // a stop is agreed on in as many rounds as the diameter
  if (W.diameter() > too_far)
    return fmt::format(
        R"({{"what": "memory of the solver", "topology": "{}", "agents": {}, "edges": {}, "diameter": {}, )"
        R"("gap": {:.3g}, "chebyshev_rounds_to_1e-3": {}, "messages_a_round": {}, "bytes_an_agent": null}})",
        topology, n, W.edges(), W.diameter(), net.spectrum().gap(),
        gossip_rounds(GossipKind::chebyshev, net.spectrum(), 1e-3), 2 * W.edges());
  const auto result =
      decentralized_pca(net, operators_of(shards),
                        {.rank = wanted, .rounds = 8, .raise_rounds = false, .max_iterations = 4, .tolerance = 0});
  const double after = resident();
  const Index needed = gossip_rounds(GossipKind::chebyshev, net.spectrum(), 1e-3);
  return fmt::format(
      R"({{"what": "memory of the solver", "topology": "{}", "agents": {}, "edges": {}, "most_neighbours": {}, )"
      R"("diameter": {}, "gap": {:.3g}, "chebyshev_rounds_to_1e-3": {}, "messages_a_round": {}, )"
      R"("bytes_an_agent": {:.0f}, "seconds_to_make": {:.2f}, "milliseconds_a_round": {:.2f}}})",
      topology, n, W.edges(), largest_degree(W), W.diameter(), net.spectrum().gap(), needed, 2 * W.edges(),
      (after - before) / static_cast<double>(n), made - began,
      1e3 * (wall() - made) / static_cast<double>(result.traffic.rounds + result.traffic.control_rounds));
}

class Sessions {
 public:
  explicit Sessions(const GossipMatrix& W) {
    for (Index agent = 0; agent < W.agents(); ++agent)
      all_.emplace_back(protocol::SessionOptions{.self = agent,
                                                 .agents = W.agents(),
                                                 .neighbours = detail::neighbours_of(W.matrix(), agent),
                                                 .nonce = static_cast<std::uint64_t>(agent) + 1,
                                                 .facts = {{"configuration", "f00d"}, {"features", "16"}},
                                                 .largest_message = 4096},
                        0);
  }

  std::int64_t frames() const { return frames_; }

  // What each wants to have sent arrives at once.
  void carry() {
    for (protocol::Session& from : all_)
      for (const Index to : from.options().neighbours)
        while (const protocol::FrameBytes* frame = from.next_frame(to)) {
          all_[static_cast<std::size_t>(to)].received(from.options().self, *frame, 0);
          from.sent(to, 0);
          ++frames_;
        }
  }

  void greet() {
    for (int turn = 0; turn < 3; ++turn) carry();
    for (protocol::Session& session : all_) session.set_run(77);
  }

  void round(std::span<const std::byte> message) {
    for (protocol::Session& session : all_) session.begin_round(protocol::FrameKind::block, message, 0);
    carry();
    for (const protocol::Session& session : all_)
      if (!session.round_complete()) throw Error("a round: is not complete");
  }

 private:
  std::deque<protocol::Session> all_;
  std::int64_t frames_ = 0;
};

std::string memory_of_sessions(const std::string& topology, Index n) {
  const GossipMatrix W = network_called(topology, n);
  const double before = resident();
  Sessions sessions(W);
  sessions.greet();
  const std::int64_t hellos = sessions.frames();
  const std::vector<std::byte> block(16 + 8 * features * 6);
  constexpr int rounds = 4;
  const double began = wall();
  for (int round = 0; round < rounds; ++round) sessions.round(block);
  const double after = resident();
  return fmt::format(
      R"({{"what": "memory of sessions", "topology": "{}", "agents": {}, "edges": {}, "hellos": {}, )"
      R"("frames_a_round": {}, "bytes_an_agent": {:.0f}, "bytes_a_link": {:.0f}, "microseconds_a_frame": {:.2f}}})",
      topology, n, W.edges(), hellos, (sessions.frames() - hellos) / rounds, (after - before) / static_cast<double>(n),
      (after - before) / static_cast<double>(2 * W.edges()),
      1e6 * (wall() - began) / static_cast<double>(sessions.frames() - hellos));
}

// ---- Latency --------------------------------------------------------------------------------------------------------

struct Weather {
  double latency = 0.025, jitter = 0.005;  // seconds, one way: the least, and an exponential part on top
  double loss = 0, again = 0.25;           // of packets; and after how long a lost one is sent again, doubled each time

  double delay(const std::function<double()>& draw) const {
    double time = latency - jitter * std::log1p(-draw());
    for (double wait = again; draw() < loss; wait *= 2) time += wait;
    return time;
  }
};

// An agent begins its next round when the last of its neighbours' messages is there: max-plus, without sessions.
std::string beat(const std::string& topology, Index n, const Weather& weather) {
  const GossipMatrix W = network_called(topology, n);
  constexpr Index rounds = 1000;
  std::vector<double> time(static_cast<std::size_t>(n)), next(time);
  std::uint64_t draws = 0;
  const auto draw = [&] { return luck(11, draws++); };
  for (Index round = 0; round < rounds; ++round) {
    next = time;
    for (Index agent = 0; agent < n; ++agent)
      for (const Index other : detail::neighbours_of(W.matrix(), agent)) {
        double& begins = next[static_cast<std::size_t>(agent)];
        begins = std::max(begins, time[static_cast<std::size_t>(other)] + weather.delay(draw));
      }
    time.swap(next);
  }
  return fmt::format(
      R"({{"what": "time of a round", "topology": "{}", "agents": {}, "latency_ms": {:g}, "jitter_ms": {:g}, )"
      R"("loss": {:g}, "milliseconds_a_round": {:.1f}}})",
      topology, n, 1e3 * weather.latency, 1e3 * weather.jitter, weather.loss,
      1e3 * *std::max_element(time.begin(), time.end()) / static_cast<double>(rounds));
}

// ---- Failures -------------------------------------------------------------------------------------------------------

struct Rates {
  double breaks = 0;      // of a link, an hour
  double outage = 5;      // seconds, on average
  double departures = 0;  // of an agent, an hour
};

constexpr Index sites = 16, rounds_of_a_run = 120;

double exponential(double mean, double u) { return -mean * std::log1p(-u); }

// One run of sessions on simulated links; seconds that it took, or -1 where it did not get through.
double one_run(const GossipMatrix& W, const Weather& weather, const Rates& rates, std::uint64_t seed) {
  std::map<std::pair<Index, Index>, double> breaks_at;
  std::map<std::pair<Index, Index>, std::uint64_t> breaks;
  std::uint64_t draws = 0;
  const auto draw = [&] { return luck(seed, draws++, 1); };
  const double between = rates.breaks > 0 ? 3600 / rates.breaks : 1e12;
  Simulation simulation;
  simulation.deliver = [&](const SentFrame& sent) -> Delivery {
    const auto edge = std::minmax(sent.from, sent.to);
    const auto id = static_cast<std::uint32_t>(100 + edge.first * sites + edge.second);
    auto [place, is_new] = breaks_at.try_emplace(edge, 0);
    if (is_new) place->second = exponential(between, luck(seed, 0, id));
    if (sent.time >= place->second) {
      const std::uint64_t number = 2 * ++breaks[edge];
      const double heals = exponential(rates.outage, luck(seed, number, id));
      place->second = sent.time + heals + exponential(between, luck(seed, number + 1, id));
      return {.breaks_link = true, .heals_after = heals};
    }
    return {.after = {weather.delay(draw)}};
  };
  if (rates.departures > 0)
    for (Index agent = 0; agent < W.agents(); ++agent)
      simulation.dies_at.push_back(
          exponential(3600 / rates.departures, luck(seed, 0, static_cast<std::uint32_t>(10000 + agent))));
  double took = 0;
  const auto thrown = run_on_simulated_links(W, simulation, [&](Links& links) {
    LinkNetwork net(
        links, W,
        {.spectrum = GossipSpectrum{.lo = -1, .hi = 1}, .nonce = static_cast<std::uint64_t>(links.self()) + 1});
    net.run([&] {
      net.connect();
      const double began = links.now();
      Block<double> Z = Block<double>::Ones(1, 8), out(1, 8), votes(1, 0);
      for (Index round = 0; round < rounds_of_a_run; ++round) {
        net.mix({}, Z, Block<double>(1, 0), out, votes);
        Z.swap(out);
      }
      took = std::max(took, links.now() - began);
    });
  });
  const bool through = std::all_of(thrown.begin(), thrown.end(), [](const auto& one) { return one == nullptr; });
  return through ? took : -1;
}

std::string survival(const std::string& topology, const Weather& weather, const Rates& rates, int runs) {
  const GossipMatrix W = network_called(topology, sites);
  int through = 0;
  double seconds = 0;
  for (int run = 0; run < runs; ++run) {
    const double took = one_run(W, weather, rates, static_cast<std::uint64_t>(run) + 1);
    through += took >= 0;
    seconds += std::max(took, 0.0);
  }
  const double mean = through > 0 ? seconds / through : 0;
  const double patience = protocol::Patience{}.link;
  const double too_long = rates.breaks * static_cast<double>(W.edges()) * std::exp(-patience / rates.outage);
  const double expected = std::exp(-(too_long + rates.departures * static_cast<double>(sites)) * mean / 3600);
  return fmt::format(
      R"({{"what": "survival", "topology": "{}", "agents": {}, "edges": {}, "rounds": {}, "loss": {:g}, )"
      R"("breaks_of_a_link_an_hour": {:g}, "outage_seconds": {:g}, "departures_of_an_agent_an_hour": {:g}, )"
      R"("runs": {}, "got_through": {}, "formula": {}, "milliseconds_a_round": {}}})",
      topology, sites, W.edges(), rounds_of_a_run, weather.loss, rates.breaks, rates.outage, rates.departures, runs,
      through, through > 0 ? fmt::format("{:.3f}", expected) : "null",
      through > 0 ? fmt::format("{:.1f}", 1e3 * mean / static_cast<double>(rounds_of_a_run)) : "null");
}

}  // namespace

int main(int argc, char** argv) {
  const std::set<std::string> asked(argv + 1, argv + argc);
  const auto wants = [&](const char* part) { return asked.empty() || asked.contains(part); };
  fmt::print(R"({{"version": "{}", "results": [)", hearsay::version);
  if (wants("organisations"))
    for (const std::string topology : {"ring", "torus", "4-regular", "8-regular", "power-law"})
      in_a_process([&] { return whole_run(topology, 1000); });
  if (wants("memory"))
    for (const Index n : {10'000, 100'000})
      for (const std::string topology : {"ring", "torus", "4-regular", "power-law"}) {
        in_a_process([&] { return memory_of_solver(topology, n); });
        in_a_process([&] { return memory_of_sessions(topology, n); });
      }
  if (wants("rounds"))
    for (const double loss : {0.0, 0.001, 0.01})
      for (const std::string topology : {"ring", "torus", "4-regular", "8-regular", "power-law"})
        in_a_process([&] { return beat(topology, 1000, {.loss = loss}); });
  if (wants("survival"))
    for (const std::string topology : {"ring", "torus", "complete", "star"})
      for (const Rates& rates :
           {Rates{}, Rates{.breaks = 12}, Rates{.breaks = 12, .outage = 10}, Rates{.departures = 6}})
        in_a_process([&] { return survival(topology, {.loss = 0.01}, rates, 40); });
  fmt::print("\n]}}\n");
}
