// Decentralized PCA: n agents, each with a matrix A_i it will not share, find the top-k subspace of A = (1/n) sum A_i
// by exchanging d x p blocks with their neighbours.
//
//   const auto shards = covariance_shards(data, even_split(data.rows(), 10, /*seed=*/1));
//   LocalNetwork net(GossipMatrix::ring(10));
//   const auto result = decentralized_pca(net, operators_of(shards), {.rank = 5});
//
// is the whole call. The solver is written once, against the Network concept: with all agents in this process, or with
// one per rank. docs/algorithms/decentralized.md gives the methods in the same letters.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/error_bar.hpp"
#include "hearsay/export.hpp"
#include "hearsay/gossip.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/network.hpp"
#include "hearsay/operator.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

// ---- What an agent holds --------------------------------------------------------------------------------------------

/// The rows of each agent, ascending; a shard may be empty.
using Split = std::vector<std::vector<Index>>;

/// Sizes that differ by one at most: consecutive rows, or rows drawn by a seed.
HEARSAY_API Split contiguous_split(Index rows, Index agents);
HEARSAY_API Split even_split(Index rows, Index agents, std::uint64_t seed);

/// One agent per distinct label, by ascending label.
HEARSAY_API Split label_split(std::span<const std::int32_t> labels);

/// Row r goes to agent assignment[r], in [0, agents).
HEARSAY_API Split given_split(std::span<const std::int32_t> assignment, Index agents);

/// The power of two that data up to this magnitude are divided by, so that their squares stay far within the range of
/// double, and of messages in single precision; 0 for all ordinary data. All agents must use the same.
HEARSAY_API int data_exponent(double largest);

/// A_i = weight Phi_i'Phi_i, with Phi_i = 2^exponent times the rows given, which it keeps. With weight n/m for m rows
/// in all, the average over the agents is Phi'Phi/m; with n/(m - 1), for rows that are centred, their sample
/// covariance. No rows at all make it zero. Throws DataError for rows whose squares are not finite.
class HEARSAY_API CovarianceShard {
 public:
  using Scalar = double;

  CovarianceShard(Block<double> rows, double weight, int exponent = 0);

  Index dim() const { return rows_.cols(); }
  Index samples() const { return samples_; }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const;
  OperatorFacts facts() const { return {.positive_semidefinite = true, .exponent = 2 * exponent_}; }

 private:
  Block<double> rows_;  // 2^-exponent Phi_i, or 2^(-2 exponent) A_i where that is smaller
  double weight_;
  int exponent_;
  Index samples_;
  bool formed_ = false;
};

/// What the products of m rows are divided by, here as in pca(): m - 1 where their mean was subtracted, and at least 1,
/// else m.
HEARSAY_API double covariance_divisor(Index samples, bool centred);

/// One per agent, the average of which is Phi'Phi/m; `mean`, if given, is subtracted from every row first: where it is
/// the mean of all the data, the average is their sample covariance, divided by m - 1.
HEARSAY_API std::vector<CovarianceShard> covariance_shards(const Block<double>& data, const Split& split,
                                                           const Vector<double>* mean = nullptr);

/// The same for shards that are apart already, and `centred` where their common mean has been subtracted; all must have
/// the same columns.
HEARSAY_API std::vector<CovarianceShard> covariance_shards(const std::vector<Block<double>>& shards,
                                                           bool centred = false);

/// What node i of an undirected graph knows of A = I + D^{-1/2} S D^{-1/2}: [A_i]_ii = n, [A_i]_ij = [A_i]_ji =
/// n/(2 sqrt(d_i d_j)) for its neighbours j. Not positive semidefinite by itself; the average is.
class HEARSAY_API NodeOperator {
 public:
  using Scalar = double;

  /// neighbours[j] with S_ij / sqrt(d_i d_j).
  NodeOperator(Index nodes, Index node, std::vector<std::pair<Index, double>> neighbours);

  Index dim() const { return nodes_; }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const;

 private:
  Index nodes_, node_;
  std::vector<std::pair<Index, double>> neighbours_;
};

/// One per node.
HEARSAY_API std::vector<NodeOperator> node_operators(const Graph& graph);

template <class Op>
std::vector<OperatorRef<double>> operators_of(const std::vector<Op>& agents) {
  return {agents.begin(), agents.end()};
}
template <class Op>
HEARSAY_API std::vector<OperatorRef<double>> operators_of(const std::vector<Op>&& agents) = delete;

// ---- The solver -----------------------------------------------------------------------------------------------------

enum class Algorithm {
  depm,    ///< power method with gossiped products; ends at a floor that the rounds set
  adepm,   ///< the same with momentum (the paper's)
  deepca,  ///< tracks the product, so that the rounds set no floor (Ye and Zhang)
  adeepca  ///< tracks the whole accelerated step: momentum and no floor
};
HEARSAY_API const char* name(Algorithm algorithm);

struct DecentralizedOptions {
  Algorithm algorithm = Algorithm::adeepca;
  Index rank = 1;  ///< k
  GossipKind gossip = GossipKind::chebyshev;
  std::optional<Index> rounds =
      {};                    ///< L, of every iteration; left empty, what the noise condition asks for is measured
  bool raise_rounds = true;  ///< a tracked method that does not bear the rounds given raises them, and says so
  Index max_iterations = 1000;
  double tolerance = 1e-10;  ///< on every agent's ||A V - V V'AV||_F / ||A V||_F; 0 runs all the iterations
  Momentum momentum = {};    ///< of the accelerated methods; the others have none
  /// p - k, columns beyond those asked for: at least 1 where momentum is estimated. More, for adeepca with automatic
  /// momentum and rounds, are a wide block to begin with, narrowed to k + 1 columns once the answer is in sight.
  std::optional<Index> oversample = {};
  /// By itself centred where every A_i is known to be positive semidefinite; ask for it where only A is.
  std::optional<Damping> damping = {};
  std::uint64_t seed = 0;  ///< of X_0, which all agents share
};

struct DecentralizedEntry {
  Index t = 0;
  std::int64_t rounds = 0;  ///< with blocks, spent by everyone to reach X_t
  std::int64_t bytes = 0;   ///< sent by all of them for it
  Index rounds_next = 0;    ///< L of the gossip that follows
  double residual = 0;      ///< the worst agent's, of X_t, with A X_t as it came out of that gossip
  double disagreement = 0;  ///< a bound on what that gossip left between the agents, in the same units
  double momentum = 0;      ///< the largest beta_{i,t}
  double sin_theta = std::numeric_limits<double>::quiet_NaN();  ///< the worst agent's, against the reference
};

struct DecentralizedHooks {
  /// Called every iteration; when it returns false at any agent, all stop together a few rounds later.
  std::function<bool(const DecentralizedEntry&)> observe = {};
  const Block<double>* reference = nullptr;  ///< d x k: fills history[].sin_theta
  /// d x k, orthonormal, the same at every agent: the run goes on from there. A random block is added, for what it
  /// lacks.
  const Block<double>* start = nullptr;
  Block<double>* latest = nullptr;  ///< is given the first local agent's answer after every iteration
  /// After every gossip: signs drawn by the iteration, the same at every agent, times S_i - G_i, and the size of both.
  /// Over all agents the first adds up to nothing but rounding, or a block was changed where no message showed it.
  std::function<void(double off, double size)> witness = {};
  /// Every so many iterations keep() is given all that the run here needs to go on from there: bytes that mean
  /// something to the same agents of the same run alone. Only on a network that loses no message; 0: never.
  Index keep_every = 0;
  std::function<void(Index iteration, const std::string& state)> keep = {};
  /// One of those; all agents must go on from the same iteration. The result is that of a run that was not interrupted,
  /// bit for bit. Empty: from the beginning. Throws DataError for bytes that are no such state.
  std::string_view resume = {};
};

/// What rounding the messages kept back in the last round of an iteration: the part of it outside the subspace,
/// relative to ||A V||_F, the worst of the agents here. Zero where messages are doubles.
struct MessageNoise {
  double last = 0, largest = 0;
};

/// What the members told each other, where messages had got lost or the tolerance was not met, about one basis that all
/// of them hold: the first member's. Everyone has heard of everyone, or nothing is known.
struct Verification {
  Index attempts = 0;                       ///< times the members told each other; the rest is of the last
  Knowledge evidence = Knowledge::unknown;  ///< of the residual
  /// ||A V - V V'AV||_F / ||A V||_F of the common basis with fresh products of every member: at most this, but for the
  /// probability below.
  double residual = std::numeric_limits<double>::quiet_NaN();
  double failure_probability = 0;  ///< zero where the products were told whole
  /// The largest sin(theta) between a member's own basis and the common one, over the part that the data define.
  double apart = std::numeric_limits<double>::quiet_NaN();
  /// How far a member's own eigenvalues were from the common basis's, relative to their norm: what a tracker that does
  /// not hold the mean of everyone's products gets wrong.
  double tracking_error = std::numeric_limits<double>::quiet_NaN();
  Traffic traffic = {};  ///< of all attempts
};

/// Eigenvalues from the first to the last, counted from 1, that cannot be told apart: their eigenvectors are defined
/// together alone. `last` is at least k + 1, the last one that was looked at; d where all the rest are zero.
struct UndefinedPart {
  Index first = 0, last = 0;  ///< both zero: there is none at k
  bool zero = false;          ///< these and all that follow are zero
  double width = 0;           ///< closer than this, relative to the norm of all k, is the same here
};

struct [[nodiscard]] DecentralizedResult {
  /// d x k of each local agent: approximate eigenvectors, by decreasing eigenvalue. 0 x 0 of one that is no
  /// contributor.
  std::vector<Block<double>> bases;
  /// Local agents x k, descending: of the average of the contributors' A_i. NaN for one that is none.
  Block<double> eigenvalues;
  int exponent = 0;  ///< eigenvalues are those of 2^-exponent A where A's own would overflow or vanish; else 0
  Status status = Status::iteration_limit;
  Index iterations = 0;
  /// The worst agent's at its last step: of X_{T-1}, while the bases are those of X_T. Where messages get lost a later
  /// X may be the worse one: agents that have converged return the one that they agreed on, and its residual.
  double residual = 0;
  /// Of the same basis. Where messages were lost, the members' own bases against the common one, weighted by their
  /// eigenvalues, as all of them told; NaN where they could not.
  double disagreement = 0;
  Knowledge evidence = Knowledge::estimate;  ///< of the residual
  double agreement = 0;             ///< the largest sin(theta_k) between two local agents (see basis_agreement)
  double eigenvalue_agreement = 0;  ///< the largest difference between two local agents' eigenvalues, relative
  Index defined_rank = 0;           ///< leading eigenvectors that the data define as a subspace: k, or fewer
  double defined_agreement = 0;     ///< as agreement, of these alone
  UndefinedPart cluster;            ///< that k cuts in two, where fewer than k are defined
  /// How far the worst agent's basis is from the truth, where the run ended before its tolerance was met. None where it
  /// converged, where the tolerance is zero, or where nobody can tell.
  ErrorBar bar = {};
  bool nonnegative = false;              ///< A is known to have no eigenvalue below zero
  Vector<double> next_eigenvalue;        ///< the (k+1)-th of each local agent; NaN without a column to spare
  Index rounds_per_iteration = 0;        ///< L, as finally used
  Index restarts = 0;                    ///< times the rounds given were too few and were raised
  Traffic traffic;                       ///< of this run
  MessageNoise message_noise;            ///< part of the disagreement
  double momentum = 0;                   ///< beta of the last step, the largest of any agent
  Damping damping = Damping::symmetric;  ///< as used
  Index columns = 0;                     ///< p, at the end
  Index columns_at_start = 0;            ///< more, where a wide block came first
  std::int64_t products = 0;             ///< columns that each agent multiplied by its A_i
  /// ||mean S_i - mean G_i||_F / ||mean G_i||_F of a tracked method, zero but for rounding; NaN where not all agents
  /// are here.
  double conservation_error = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::uint64_t> digests;  ///< one per local agent, of its basis
  std::uint64_t digest = 0;            ///< of all agents', in their order
  std::vector<Index> contributors;     ///< agents, among all n, whose data are in the answer: the last epoch's members
  std::vector<Epoch> epochs;           ///< one, unless agents crashed or came back
  FaultCounts faults;                  ///< all zero on a network that cannot fail
  Verification verification;           ///< of a run that lost messages, or did not converge
  std::vector<DecentralizedEntry> history;
  std::vector<std::string> notes;
};

/// A[i] belongs to the i-th agent here. Throws InvalidArgument, at every agent, for options or shapes that do not fit.
HEARSAY_API DecentralizedResult decentralized_pca(NetworkRef net, std::span<const OperatorRef<double>> A,
                                                  const DecentralizedOptions& options,
                                                  const DecentralizedHooks& hooks = {});

/// What such a run sends on a network that does not fail: exact for rounds and iterations that are used as given, that
/// is with `rounds` a number that need not be raised and a tolerance of zero.
HEARSAY_API Traffic planned_traffic(const GossipMatrix& W, Index dimension, const DecentralizedOptions& options,
                                    MessagePrecision precision = MessagePrecision::real64);

/// What turns the eigenvalues of a result into those of the contributors' own m' rows: with D the divisor of all rows,
/// and D' that of theirs, (n'/n) (D/D') for n' contributors of n. One where all contribute; zero where m' is.
HEARSAY_API double covariance_scale(std::span<const CovarianceShard> shards, std::span<const Index> contributors,
                                    bool centred = false);

/// The largest sin(theta_k) between two of the bases: over all pairs of up to 64; beyond, the sum of the two largest
/// against the first basis, which bounds it from above.
HEARSAY_API double basis_agreement(std::span<const Block<double>> bases);

/// FNV-1a over the bytes of a block, and over a list of such digests: equal results have equal digests wherever they
/// were computed.
HEARSAY_API std::uint64_t digest_of(const Block<double>& block);
HEARSAY_API std::uint64_t digest_of(std::span<const std::uint64_t> digests);

}  // namespace hearsay
