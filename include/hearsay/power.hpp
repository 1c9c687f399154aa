// The Accelerated Noisy Power Method: the top-k subspace of a symmetric positive semidefinite matrix known through its
// products, exact or not.
//
//   const auto result = accelerated_power<double>(DenseSymmetric<double>(A), {.rank = 5});
//
// is the whole call. The result is a value that owns its data and says why the iteration ended, how good the basis is
// and what it cost. docs/algorithms/anpm.md gives the method in the same letters.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/certificate.hpp"
#include "hearsay/damping.hpp"
#include "hearsay/error_bar.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"
#include "hearsay/operators/turned.hpp"

namespace hearsay {

/// How strongly the recurrence damps the unwanted end of the spectrum, |eigenvalue| <= b. The paper's momentum is
/// b^2/4.
struct HEARSAY_API Momentum {
  enum class Rule {
    automatic,  ///< b_t = the smallest eigenvalue of X'AX: never overshoots on exact products
    paper,      ///< b_t = the smallest diagonal entry of X'AX, the paper's heuristic
    fixed,      ///< b given
    none        ///< b = 0: the plain noisy power method
  };
  Rule rule = Rule::automatic;
  double edge = 0;  ///< b, when fixed

  static Momentum none() { return {Rule::none, 0}; }
  static Momentum paper() { return {Rule::paper, 0}; }
  static Momentum fixed(double beta);           ///< the paper's beta; b = 2 sqrt(beta)
  static Momentum optimal(double lambda_next);  ///< b = lambda_{k+1}, for a known spectrum
};

/// Whether products carry more than rounding error.
enum class Products { exact, noisy };

/// How the answer's k columns are taken from the block's p: the leading Ritz vectors, or the first k columns, which
/// under noise keep the accuracy of a block of k.
enum class Extraction { ritz, nested };

/// How principal_subspace() (subspace.hpp) finds it. accelerated_power() is anpm unless it is told averaged, and
/// refuses krylov and direct.
enum class SolveMethod {
  anpm,     ///< the paper's iteration: the answer is the last block's
  krylov,   ///< a block Krylov space, for exact products
  direct,   ///< the matrix is formed and all its eigenvalues are found: small matrices, covariances of tall data
  averaged  ///< for noisy products: a wide block, then a narrow one whose products are averaged, with an error bar
};
HEARSAY_API const char* name(SolveMethod method);

/// Which eigenvalues of a symmetric matrix are wanted, and in what order they are returned. The names at the doors are
/// ARPACK's: LA, SA, LM, BE.
enum class Which {
  largest,    ///< LA: descending
  smallest,   ///< SA: ascending
  magnitude,  ///< LM: the largest in magnitude, by decreasing magnitude
  both_ends   ///< BE: half of them from either end, of an odd number one more from the high end; descending
};
HEARSAY_API const char* name(Which which);

/// What is left empty is chosen for the problem at hand.
struct PowerOptions {
  Index rank = 1;  ///< k: how many eigenvectors to find
  std::optional<SolveMethod> method = {};
  Momentum momentum = {};
  std::optional<Damping> damping = {};
  /// p - k; by itself 1 under noise; where a QR is costly beside a product, 2 and as many more as make p a multiple
  /// of 8; else max(k, 4). A number that was chosen may change on the way, one that was given does not.
  std::optional<Index> oversample = {};
  std::optional<double> tolerance = {};      ///< on ||A V - V V'AV||_F / ||A V||_F; see tolerance_of()
  std::optional<double> accuracy = {};       ///< converged means also sin_theta_estimate <= this
  std::optional<Index> max_iterations = {};  ///< see iteration_limit()
  /// Columns that may be multiplied by A in all. A solve by averages spends them; any other ends there.
  std::optional<Index> product_budget = {};
  std::uint64_t seed = 0;                 ///< drives the start block and nothing else
  std::optional<Products> products = {};  ///< by itself asks the operator, and watches the asymmetry of X'AX
  std::optional<Extraction> extraction = {};
  Index cooldown = 20;                    ///< of anpm: momentum-free steps after a noisy plateau; 0 turns them off
  std::optional<double> noise_norm = {};  ///< the caller's word: no product's error exceeds this in spectral norm
  std::optional<Turning> turning = {};    ///< of principal_subspace(): rotations where products are approximate
  bool stop_at_noise_floor = true;
  bool check_momentum = true;  ///< refuse a fixed momentum that is seen not to converge
  /// Steps from one QR to the next, with nothing measured in between; by itself 1, the paper's, where products are
  /// noisy or costly beside a QR, else as many as the conditioning of the block allows.
  std::optional<Index> qr_every = {};
  Certify certify = Certify::full;
  Which which = Which::largest;  ///< of principal_subspace(); the others are of a matrix with eigenvalues of any sign
  /// Of principal_subspace(): a power iteration that meets a negative eigenvalue goes on with A + s I, for an s that it
  /// finds; false: it is refused.
  bool find_shift = true;
};

/// The tolerance given; else the accuracy, because a sine of so much implies such a residual; else 1e-10, in single
/// precision 1e-5.
template <class S>
double tolerance_of(const PowerOptions& options) {
  constexpr double reached = sizeof(S) == sizeof(float) ? 1e-5 : 1e-10;
  return options.tolerance.value_or(options.accuracy.value_or(reached));
}

/// The limit given; else none where a budget of products ends the solve; else 1000.
inline Index iteration_limit(const PowerOptions& options) {
  constexpr Index none = std::numeric_limits<Index>::max() / 2;
  return options.max_iterations.value_or(options.product_budget ? none : 1000);
}

enum class Status {
  converged,       ///< a bound or an estimate meets what was asked for, and nothing was found missing
  noise_floor,     ///< products are noisy, and so many of them allow no better: PowerFacts::bar says how good it is
  rounding_floor,  ///< products are exact and the arithmetic allows no better
  ambiguous,       ///< the k-th and the next eigenvalue cannot be told apart: Certificate::cluster
  iteration_limit,
  stopped_by_observer,
  breakdown,
  communication_failed  ///< of agents: too little was heard to say anything
};
HEARSAY_API const char* name(Status status);

/// What was measured at X_t. There is an entry for every t whose block was made orthonormal.
struct HistoryEntry {
  Index t = 0;
  double momentum = 0;  ///< beta_t of the step taken from here
  double edge = 0;      ///< b_t
  double residual = 0;
  double noise = 0;    ///< the standard deviation of an entry's error that the asymmetry of X'AX betrays
  double theta_1 = 0;  ///< the first Ritz value, the k-th, and the one after it (NaN where p = k)
  double theta_k = 0;
  double theta_next = 0;
  double sin_theta = std::numeric_limits<double>::quiet_NaN();           ///< against Hooks::reference
  double sin_theta_estimate = std::numeric_limits<double>::quiet_NaN();  ///< of exact products
};

/// What an observer sees, once per entry of the history, after the product with X_t and before the step.
template <class S>
struct Iteration {
  const HistoryEntry& entry;
  ConstBlockView<S> X;      ///< X_t, p columns
  ConstBlockView<S> basis;  ///< V, the k columns that would be returned
  double shift;             ///< the step is the paper's on A - shift I, with momentum entry.momentum
  bool cooling;             ///< in the momentum-free steps after the plateau
  bool averaging = false;   ///< in the steps that are averaged
};

/// Sums over some of the averaged steps: n blocks X with H = X'AX, seen from a reference block by C = X'ref.
template <class S>
struct EpochSums {
  Index n = 0;
  Block<S> S_sum = {};           ///< sum of X C
  Small<double> G = {}, W = {};  ///< sums of C'HC and C'C
  Small<double> scatter = {},
                scatter_sq = {};  ///< sums of the entries of sym(C'HC), and of their squares, as they came
  double asymmetry_sq = 0;        ///< sum of ||C'(H - H')C||_F^2
};

/// The averages of a solve with noisy products (docs/algorithms/noise.md).
template <class S>
struct AveragingState {
  Block<S> reference;  ///< d x p, orthonormal, in the averaged Ritz basis; empty before the averages begin
  std::vector<EpochSums<S>> epochs;  ///< the last three, the oldest first
  Index epoch_length = 0;            ///< of the last one
  double edge = 0;                   ///< b of the averaged steps, where the wide block showed it; else 0
  Index began = 0;                   ///< the t from which on steps are averaged
  Index next_look = 0;               ///< the number of averaged steps at which the bar is looked at
  double products_needed = std::numeric_limits<double>::quiet_NaN();  ///< for the accuracy, as told at the last look

  bool begun() const { return reference.size() > 0; }
};

/// Everything a solve needs to go on where it stopped, to the last bit.
template <class S>
struct PowerState {
  Index t = 0;
  Block<S> X, X_prev;
  Small<S> R;
  bool has_previous = false;  ///< X_prev and R belong to the step before; false after a start or a rank-deficient QR
  Index cooldown_left = -1;   ///< -1: not cooling yet
  bool no_gap = false;        ///< the block lies in one cluster: the edge is put lower
  std::int32_t exponent = 0;  ///< products are scaled by 2^-exponent
  std::uint64_t operator_position = 0;
  Index products = 0, passes = 0, householder_steps = 0, last_recheck = -1000;
  Block<S> best_basis;
  double best_residual = std::numeric_limits<double>::infinity();
  double best_sine = std::numeric_limits<double>::quiet_NaN();
  std::vector<HistoryEntry> history;
  // What a certificate rests on:
  std::vector<double> filter;  ///< the recurrences that lead from X_0 to X_t: shift, beta, steps, begun afresh
  double start_norm = 0;  ///< of the random columns that X_0 was made of; 0 where it was given, or columns came or went
  Index start_columns = 0;                                        ///< their number
  double frobenius = 0;                                           ///< ||A||_F, about
  Index proven_count = 0;                                         ///< at most so many eigenvalues
  double proven_above = std::numeric_limits<double>::infinity();  ///< lie above this
  Index probe_passes = 0, probe_products = 0;
  AveragingState<S> averaging;
};

template <class S>
struct Hooks {
  /// Called for every entry of the history; returning false stops the solve with Status::stopped_by_observer.
  std::function<bool(const Iteration<S>&)> observe = {};
  bool observe_basis = true;  ///< false: Iteration::basis may be empty, which spares large sparse solves some work
  bool observe_steps = true;  ///< false: who observes only wants to be able to stop; a way without steps will do
  /// Called every checkpoint_every iterations with the state to save.
  std::function<void(const PowerState<S>&)> checkpoint = {};
  Index checkpoint_every = 100;           ///< at least 1
  const PowerState<S>* resume = nullptr;  ///< go on from here
  const Block<S>* start = nullptr;        ///< a warm start: d x any number of columns, missing ones are random
  const Block<S>* reference = nullptr;    ///< d x k: fills history[].sin_theta
};

/// What a solve says of itself, in whatever arithmetic it was made.
struct PowerFacts {
  Status status = Status::iteration_limit;
  SolveMethod method = SolveMethod::anpm;  ///< that was used
  Which which = Which::largest;            ///< that was asked for
  /// Of a power iteration that met a negative eigenvalue: A + this I was solved, of the smallest ones -A + this I.
  double shift_found = 0;
  double norm_seen = 0;  ///< the largest magnitude of an eigenvalue that was seen, wanted or not, less the shift
  Index iterations = 0;
  double residual = 0;                                            ///< of exactly this basis
  double noise_floor = std::numeric_limits<double>::quiet_NaN();  ///< the residual's plateau, if one was reached
  double noise_level = 0;                                         ///< standard deviation of an entry's error
  double gap = std::numeric_limits<double>::quiet_NaN();          ///< theta_k - theta_{k+1}, from Ritz values
  /// Of averaged products the error bar; of noisy ones by anpm ||A V - V V'AV||_F / gap; of exact ones sharper, because
  /// the other columns of the block are known too; at most 1.
  double sin_theta_estimate = std::numeric_limits<double>::quiet_NaN();
  double momentum = 0;                   ///< beta of the last accelerated step
  double edge = 0;                       ///< b of that step
  Damping damping = Damping::symmetric;  ///< as used
  Extraction extraction = Extraction::ritz;
  Index columns = 0;  ///< p
  Index cooldown_steps = 0;
  Index products = 0;           ///< block columns multiplied by A
  Index passes = 0;             ///< times A was read
  Index householder_steps = 0;  ///< QRs that CholeskyQR could not do
  std::int64_t workspace_bytes = 0;
  Certificate certificate;  ///< how right all this is
  ErrorBar bar;             ///< of noisy products that were averaged
  int exponent = 0;         ///< eigenvalues are those of 2^-exponent A where A's own would overflow or vanish; else 0
  std::vector<HistoryEntry> history;
  std::vector<std::string> notes;  ///< what was chosen or noticed on the way
};

/// That, and the answer.
template <class S>
struct [[nodiscard]] PowerResult : PowerFacts {
  Block<S> basis;         ///< d x k, orthonormal; Ritz vectors in the order of Which, largest entry of each positive
  Vector<S> eigenvalues;  ///< k Ritz values, in that order
  Block<S> block;         ///< X_t itself, p columns: the best warm start for another solve
};

/// The same result in another arithmetic. The facts go over whole, so that none is forgotten.
template <class T, class S>
PowerResult<T> in_arithmetic(PowerResult<S> result) {
  if constexpr (std::is_same_v<T, S>)
    return result;
  else
    return {std::move(static_cast<PowerFacts&>(result)), result.basis.template cast<T>(),
            result.eigenvalues.template cast<T>(), result.block.template cast<T>()};
}

template <class S>
HEARSAY_API PowerResult<S> accelerated_power(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks = {});

}  // namespace hearsay
