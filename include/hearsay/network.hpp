// Who talks to whom, and with what weight: graphs made to order, gossip matrices, and the one thing the decentralized
// solver asks of a network.
//
// A gossip matrix W (n x n) is symmetric, non-negative and doubly stochastic, with w_ij > 0 exactly on the edges and
// the diagonal. How fast gossip averages is a matter of its eigenvalues other than the 1 of the constant vector.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"

namespace hearsay {

// ---- Graphs ---------------------------------------------------------------------------------------------------------

HEARSAY_API Graph ring_graph(Index nodes);
HEARSAY_API Graph path_graph(Index nodes);
HEARSAY_API Graph star_graph(Index nodes);  ///< node 0 in the middle
HEARSAY_API Graph complete_graph(Index nodes);
HEARSAY_API Graph grid_graph(Index rows, Index columns);   ///< node r * columns + c beside its up to four neighbours
HEARSAY_API Graph torus_graph(Index rows, Index columns);  ///< the same, its ends joined

/// Each pair joined with this probability. Throws InvalidArgument, which names the components, if it is not connected.
HEARSAY_API Graph erdos_renyi_graph(Index nodes, double probability, std::uint64_t seed);

/// Every node with `degree` neighbours: random pairs of half-edges, loops and repetitions swapped away. Throws
/// in the same case.
HEARSAY_API Graph random_regular_graph(Index nodes, Index degree, std::uint64_t seed);

/// So many more edges, between pairs drawn by the seed. Weights are not kept.
HEARSAY_API Graph with_random_edges(const Graph& graph, Index extra, std::uint64_t seed);

/// Throws InvalidArgument unless there is a path between any two nodes; the message tells the components.
HEARSAY_API void require_connected(const Graph& graph);

// ---- Gossip matrices ------------------------------------------------------------------------------------------------

/// [lo, hi] holds every eigenvalue of W but the 1 of the constant vector.
struct HEARSAY_API GossipSpectrum {
  double lo = 0, hi = 0;  ///< both zero for a lonely agent
  bool measured = true;   ///< false: hi is only a bound, because the solver did not get there

  double gap() const;  ///< gamma_W = 1 - max(|lo|, |hi|)
};

/// W, valid by construction: every way to make one checks the rules, and the error names entry, value and rule.
class HEARSAY_API GossipMatrix {
 public:
  GossipMatrix(const GossipMatrix&) = default;
  GossipMatrix& operator=(const GossipMatrix&) = default;
  ~GossipMatrix() = default;

  /// The paper's ring: 1/2 for oneself, 1/4 for each neighbour (two agents have only one, which gets 1/2).
  static GossipMatrix ring(Index agents);

  /// w_ij = 1/(1 + max(d_i, d_j)) on the edges of a connected graph (Metropolis-Hastings), the rest on the diagonal.
  static GossipMatrix metropolis(const Graph& graph);

  /// (I + W)/2: no eigenvalue below zero.
  static GossipMatrix lazy(const GossipMatrix& W);

  /// A user's matrix; rows may miss 1 by 1e-9 of rounding, which the diagonal takes up. With a graph, its edges are
  /// asked for, no more and no fewer.
  static GossipMatrix from(const Block<double>& W);
  static GossipMatrix from(CsrMatrix<double> W);
  static GossipMatrix from(const Block<double>& W, const Graph& graph);
  static GossipMatrix from(CsrMatrix<double> W, const Graph& graph);

  Index agents() const;
  const CsrMatrix<double>& matrix() const;  ///< the diagonal is stored
  Index edges() const;
  Graph graph() const;  ///< who is joined to whom

  /// Rounds after which whatever one agent says has reached every other: the diameter, or for large graphs at most
  /// twice it.
  Index diameter() const;

  /// In closed form, where there is one: a ring's.
  const std::optional<GossipSpectrum>& known_spectrum() const;

 private:
  struct Impl;
  explicit GossipMatrix(Impl impl);

  std::shared_ptr<const Impl> impl_;  // never written to, so copies share it; moving is copying, and never leaves null
};

/// The closed form where there is one; by a dense eigensolver up to 1000 agents; beyond, by accelerated_power on
/// (I + W)/2 and (I - W)/2 with the constant vector taken out, each end widened by its residual. Where the gap is too
/// small for that to end in reasonable time, a bound.
HEARSAY_API GossipSpectrum gossip_spectrum(const GossipMatrix& W);

// ---- What the solver asks of a network ------------------------------------------------------------------------------

/// One round of gossip: out <- mixed W Z + self Z + previous Z_prev.
struct MixStep {
  double mixed = 1, self = 0, previous = 0;
};

/// What the whole network has sent.
struct Traffic {
  std::int64_t rounds = 0;          ///< that carried blocks
  std::int64_t control_rounds = 0;  ///< that carried votes alone
  std::int64_t messages = 0;        ///< one per round, edge and direction
  std::int64_t bytes = 0;

  /// So many messages, each with the block's bytes and so many votes, which are doubles.
  void add_round(std::int64_t messages_sent, std::int64_t block_bytes, std::int64_t votes) {
    ++(block_bytes > 0 ? rounds : control_rounds);
    messages += messages_sent;
    bytes += messages_sent * (block_bytes + votes * static_cast<std::int64_t>(sizeof(double)));
  }

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// The agents living in this process: all of them in a simulation, one under MPI. Blocks are stacked: row i of Z is the
/// d x p block of local agent i, row by row.
///
/// mix() is one exchange with the neighbours. Along with its block each agent sends its votes, which become the largest
/// among its own and its neighbours': after diameter() rounds every agent holds the network's maximum, and no
/// coordinator was asked. A Z without columns is a round for the votes alone. `out` overlaps neither Z nor Z_prev, and
/// Z_prev is not read where step.previous = 0.
///
/// A network may round what it sends; then unsent() is what the last round kept back of each block.
template <class N>
concept Network = requires(N& net, const N& seen, const MixStep& step, ConstBlockView<double> Z,
                           BlockView<double> out) {
  { seen.agents() } -> std::convertible_to<Index>;        // n, everywhere
  { seen.local_agents() } -> std::convertible_to<Index>;  // of these, here
  { seen.agent(Index{}) } -> std::convertible_to<Index>;  // the number among all n of the i-th agent here
  { seen.diameter() } -> std::convertible_to<Index>;
  { seen.spectrum() } -> std::convertible_to<GossipSpectrum>;
  { seen.traffic() } -> std::convertible_to<Traffic>;
  { net.mix(step, Z, Z, out, out) } -> std::same_as<void>;  // step, Z, Z_prev, out, votes (local agents x any number)
};

// ---- Networks that fail ---------------------------------------------------------------------------------------------

/// Who takes part from an iteration on. The answer is always that of the members' data.
struct Epoch {
  Index iteration = 0;              ///< the first one of these members
  std::string reason = {};          ///< "start", "agent 4 crashed", ...
  std::vector<Index> members = {};  ///< ascending
};

/// What went wrong, and what that cost.
struct FaultCounts {
  std::int64_t drops = 0;             ///< links down, each round counted
  std::int64_t losses = 0;            ///< messages that never came
  std::int64_t late = 0;              ///< messages that came after the patience, which is as good as never
  std::int64_t waited_rounds = 0;     ///< that everyone waited for messages less late than that
  std::int64_t crashes = 0;           ///< of agents
  std::int64_t rejoins = 0;           ///< of agents that came back
  std::int64_t cut_off = 0;           ///< agents alive, but without a path to the members, when an epoch began
  std::int64_t fallbacks = 0;         ///< times gossip had to give way to a simpler kind
  std::int64_t control_messages = 0;  ///< acknowledgements, and their repetitions
  std::int64_t control_bytes = 0;     ///< of these, and of what travels with the votes to tell when all have been heard

  friend bool operator==(const FaultCounts&, const FaultCounts&) = default;
};

/// What an agent can tell of the messages it got.
struct Reception {
  double missed = 0;  ///< the share that did not come, since votes were cast
  /// The largest distance to a neighbour's block in the iteration's first round and in its last, both relative to the
  /// agent's own in the first.
  double before = 0, after = 0;
};

/// A network that may lose messages and agents has these too. Where they are missing nothing ever fails.
///
/// Votes reach everyone in diameter() rounds only if all links hold. So an agent also learns whose votes it has heard
/// of, and settle_votes() lasts until each has heard of every member's: what they then decide by is the same
/// everywhere.
template <class N>
concept UnreliableNetwork = Network<N> && requires(N& net, const N& seen, BlockView<double> block) {
  { net.begin_iteration(Index{}) } -> std::convertible_to<std::optional<Epoch>>;  // a new epoch, if one begins here
  { net.hand_over(block) } -> std::same_as<void>;     // who has just come takes a neighbour's row
  { net.begin_votes() } -> std::same_as<void>;        // each agent casts new votes
  { net.settle_votes(block) } -> std::same_as<void>;  // goes on with rounds of votes alone until all have heard all
  { seen.reception(Index{}) } -> std::convertible_to<Reception>;  // of the i-th agent here
  { seen.fault_counts() } -> std::convertible_to<FaultCounts>;
};

/// A reference to any Network, for code that is compiled once. It must not outlive what it refers to.
class NetworkRef {
 public:
  template <class N>
  requires(Network<N> && !std::same_as<N, NetworkRef>) NetworkRef(N& net)  // NOLINT(google-explicit-constructor)
      : object_(&net), table_(&table_for<N>) {
    if constexpr (UnreliableNetwork<N>) unreliable_ = &unreliable_for<N>;
  }

  Index agents() const { return table_->agents(object_); }
  Index local_agents() const { return table_->local_agents(object_); }
  Index agent(Index local) const { return table_->agent(object_, local); }
  Index diameter() const { return table_->diameter(object_); }
  GossipSpectrum spectrum() const { return table_->spectrum(object_); }
  Traffic traffic() const { return table_->traffic(object_); }
  ConstBlockView<double> unsent() const { return table_->unsent(object_); }
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes) const {
    table_->mix(object_, step, Z, Z_prev, out, votes);
  }

  bool unreliable() const { return unreliable_ != nullptr; }
  std::optional<Epoch> begin_iteration(Index t) const {
    return unreliable() ? unreliable_->begin_iteration(object_, t) : std::nullopt;
  }
  void hand_over(BlockView<double> X) const {
    if (unreliable()) unreliable_->hand_over(object_, X);
  }
  void begin_votes() const {
    if (unreliable()) unreliable_->begin_votes(object_);
  }
  void settle_votes(BlockView<double> votes) const {
    if (unreliable()) unreliable_->settle_votes(object_, votes);
  }
  Reception reception(Index local) const { return unreliable() ? unreliable_->reception(object_, local) : Reception{}; }
  FaultCounts fault_counts() const { return unreliable() ? unreliable_->fault_counts(object_) : FaultCounts{}; }

 private:
  struct Table {
    Index (*agents)(const void*);
    Index (*local_agents)(const void*);
    Index (*agent)(const void*, Index);
    Index (*diameter)(const void*);
    GossipSpectrum (*spectrum)(const void*);
    Traffic (*traffic)(const void*);
    ConstBlockView<double> (*unsent)(const void*);
    void (*mix)(void*, const MixStep&, ConstBlockView<double>, ConstBlockView<double>, BlockView<double>,
                BlockView<double>);
  };

  struct Unreliable {
    std::optional<Epoch> (*begin_iteration)(void*, Index);
    void (*hand_over)(void*, BlockView<double>);
    void (*begin_votes)(void*);
    void (*settle_votes)(void*, BlockView<double>);
    Reception (*reception)(const void*, Index);
    FaultCounts (*fault_counts)(const void*);
  };

  template <class N>
  static const N& as(const void* object) {
    return *static_cast<const N*>(object);
  }

  template <class N>
  static constexpr Table table_for = {
      [](const void* object) -> Index { return as<N>(object).agents(); },
      [](const void* object) -> Index { return as<N>(object).local_agents(); },
      [](const void* object, Index local) -> Index { return as<N>(object).agent(local); },
      [](const void* object) -> Index { return as<N>(object).diameter(); },
      [](const void* object) -> GossipSpectrum { return as<N>(object).spectrum(); },
      [](const void* object) -> Traffic { return as<N>(object).traffic(); },
      [](const void* object) -> ConstBlockView<double> {
        if constexpr (requires(const N& net) { net.unsent(); })
          return as<N>(object).unsent();
        else
          return Block<double>();
      },
      [](void* object, const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
         BlockView<double> out,
         BlockView<double> votes) { static_cast<N*>(object)->mix(step, Z, Z_prev, out, votes); }};

  template <class N>
  static constexpr Unreliable unreliable_for = {
      [](void* object, Index t) -> std::optional<Epoch> { return static_cast<N*>(object)->begin_iteration(t); },
      [](void* object, BlockView<double> X) { static_cast<N*>(object)->hand_over(X); },
      [](void* object) { static_cast<N*>(object)->begin_votes(); },
      [](void* object, BlockView<double> votes) { static_cast<N*>(object)->settle_votes(votes); },
      [](const void* object, Index local) -> Reception { return as<N>(object).reception(local); },
      [](const void* object) -> FaultCounts { return as<N>(object).fault_counts(); }};

  void* object_;
  const Table* table_;
  const Unreliable* unreliable_ = nullptr;
};

}  // namespace hearsay
