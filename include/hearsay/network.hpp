// Who talks to whom, and with what weight: graphs made to order, gossip matrices, and the one thing the decentralized
// solver asks of a network.
//
// A gossip matrix W (n x n) is symmetric, non-negative and doubly stochastic, with w_ij > 0 exactly on the edges and
// the diagonal. How fast gossip averages is a matter of its eigenvalues other than the 1 of the constant vector.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/graph.hpp"

namespace hearsay {

// ---- Graphs ---------------------------------------------------------------------------------------------------------

Graph ring_graph(Index nodes);
Graph path_graph(Index nodes);
Graph star_graph(Index nodes);  ///< node 0 in the middle
Graph complete_graph(Index nodes);
Graph grid_graph(Index rows, Index columns);   ///< node r * columns + c beside its up to four neighbours
Graph torus_graph(Index rows, Index columns);  ///< the same, its ends joined

/// Each pair joined with this probability. Throws InvalidArgument, which names the components, if it is not connected.
Graph erdos_renyi_graph(Index nodes, double probability, std::uint64_t seed);

/// Every node with `degree` neighbours: random pairs of half-edges, loops and repetitions swapped away. Throws
/// likewise.
Graph random_regular_graph(Index nodes, Index degree, std::uint64_t seed);

/// So many more edges, between pairs drawn by the seed. Weights are not kept.
Graph with_random_edges(const Graph& graph, Index extra, std::uint64_t seed);

/// Throws InvalidArgument unless there is a path between any two nodes; the message tells the components.
void require_connected(const Graph& graph);

// ---- Gossip matrices ------------------------------------------------------------------------------------------------

/// [lo, hi] holds every eigenvalue of W but the 1 of the constant vector.
struct GossipSpectrum {
  double lo = 0, hi = 0;  ///< both zero for a lonely agent
  bool measured = true;   ///< false: hi is only a bound, for the solver did not get there

  double gap() const;  ///< gamma_W = 1 - max(|lo|, |hi|)
};

/// W, valid by construction: every way to make one checks the rules, and the error names entry, value and rule.
class GossipMatrix {
 public:
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

  Index agents() const { return W_.rows; }
  const CsrMatrix<double>& matrix() const { return W_; }
  Index edges() const { return static_cast<Index>(W_.nonzeros() - W_.rows) / 2; }

  /// Rounds after which whatever one agent says has reached every other: the diameter, or for large graphs at most
  /// twice it.
  Index diameter() const { return diameter_; }

  /// In closed form, where there is one: a ring's.
  const std::optional<GossipSpectrum>& known_spectrum() const { return known_spectrum_; }

 private:
  explicit GossipMatrix(CsrMatrix<double> W);

  CsrMatrix<double> W_;  // the diagonal is stored
  Index diameter_ = 0;
  std::optional<GossipSpectrum> known_spectrum_;
};

/// The closed form where there is one; by a dense eigensolver up to 1000 agents; beyond, by accelerated_power on
/// (I + W)/2 and (I - W)/2 with the constant vector taken out, each end widened by its residual. Where the gap is too
/// small for that to end in reasonable time, a bound.
GossipSpectrum gossip_spectrum(const GossipMatrix& W);

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
/// A network may round what it sends; then untold() is what the last round kept back of each block.
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

/// A reference to any Network, for code that is compiled once. It must not outlive what it refers to.
class NetworkRef {
 public:
  template <class N>
  requires(Network<N> && !std::same_as<N, NetworkRef>) NetworkRef(N& net)  // NOLINT(google-explicit-constructor)
      : object_(&net), table_(&table_for<N>) {}

  Index agents() const { return table_->agents(object_); }
  Index local_agents() const { return table_->local_agents(object_); }
  Index agent(Index local) const { return table_->agent(object_, local); }
  Index diameter() const { return table_->diameter(object_); }
  GossipSpectrum spectrum() const { return table_->spectrum(object_); }
  Traffic traffic() const { return table_->traffic(object_); }
  ConstBlockView<double> untold() const { return table_->untold(object_); }
  void mix(const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev, BlockView<double> out,
           BlockView<double> votes) const {
    table_->mix(object_, step, Z, Z_prev, out, votes);
  }

 private:
  struct Table {
    Index (*agents)(const void*);
    Index (*local_agents)(const void*);
    Index (*agent)(const void*, Index);
    Index (*diameter)(const void*);
    GossipSpectrum (*spectrum)(const void*);
    Traffic (*traffic)(const void*);
    ConstBlockView<double> (*untold)(const void*);
    void (*mix)(void*, const MixStep&, ConstBlockView<double>, ConstBlockView<double>, BlockView<double>,
                BlockView<double>);
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
        if constexpr (requires(const N& net) { net.untold(); })
          return as<N>(object).untold();
        else
          return Block<double>();
      },
      [](void* object, const MixStep& step, ConstBlockView<double> Z, ConstBlockView<double> Z_prev,
         BlockView<double> out,
         BlockView<double> votes) { static_cast<N*>(object)->mix(step, Z, Z_prev, out, votes); }};

  void* object_;
  const Table* table_;
};

}  // namespace hearsay
