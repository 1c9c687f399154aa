// Block Krylov space for exact products.
//   K = [Q_1 ... Q_m],   A Q_m - K K'A Q_m = Q_{m+1} B,   H = K'A K = U Theta U',   V = K U
//   A V - V Theta = Q_{m+1} B (last rows of U): the residuals cost no product and no pass over K.
// A Q_m lies in Q_{m-1}, Q_m and Q_{m+1} alone. A full space is restarted with its p leading Ritz vectors in place of K
// (thick restart), after which the relation holds as before, and the first new block meets all of them.
//
// Reference   Wu and Simon (2000); Zhou and Saad (2008) for blocks.
// Why         Blocks of 16 columns cost little more than one where a product is dear. All vectors are orthogonalised
//             against all: nothing is found twice.
// Careful     A block of w columns finds w copies of an eigenvalue and no more. Where so many wanted Ritz values agree,
//             random columns join the block. The random columns are also what proves that nothing was missed
//             (shadow.hpp); a start that was given proves nothing, so random columns go with it.
// Legend      d, k, p  dimension, rank, columns kept | K  d x n orthonormal | Q  the newest block | B  its triangular
//             factor | H  n x n | theta, U  its eigenvalues and eigenvectors | V  the answer
#include "solver/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "hearsay/threads.hpp"
#include "linalg/memory.hpp"
#include "linalg/row_chunks.hpp"
#include "linalg/small_spectrum.hpp"
#include "solver/extract.hpp"
#include "solver/outside.hpp"
#include "solver/scale.hpp"
#include "solver/settle.hpp"
#include "solver/shadow.hpp"
#include "solver/stopping.hpp"

namespace hearsay::detail {

namespace {

Index kept_columns(Index d, const PowerOptions& options) {
  const Index extra = options.oversample >= 0 ? options.oversample : std::max<Index>(options.rank, 4);
  return std::min(d, options.rank + std::max<Index>(1, extra));
}

// A few more than the rank, as long as one more costs little. Where orthogonality costs more than the product, fewer:
// the space then holds higher powers of A.
Index block_columns(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const bool cheap =
      facts.multiply_adds > 0 && facts.multiply_adds < 4.0 * static_cast<double>(d) * static_cast<double>(options.rank);
  return std::min<Index>(d, cheap ? 8 : std::clamp<Index>((options.rank / 4 + 1) * 4, 8, 16));
}

// Random columns that go with a start that was given.
constexpr Index columns_beside_a_start = 8;

// Blocks after which a start that was given goes unproven.
constexpr Index most_blocks_for_a_start = 100;

// Blocks for which the Ritz value after the k-th is waited for before the two are said to agree.
constexpr Index most_blocks_for_the_next = 50;

// Blocks that may be spent on proving that nothing was missed: two, or a tenth of the solve.
Index blocks_for_proof(Index t) { return std::max<Index>(2, t / 10); }

template <class S>
class Space {
 public:
  Space(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known)
      : A_(A),
        options_(options),
        hooks_(hooks),
        known_(known),
        d_(A.dim()),
        k_(options.rank),
        p_(kept_columns(d_, options)),
        stopping_{.d = d_, .k = k_, .epsilon = std::numeric_limits<S>::epsilon()},
        orthogonality_(static_cast<S>(std::min(0.01 * std::sqrt(stopping_.epsilon), 1e-5 * options.tolerance))),
        outside_(d_, options.seed, orthogonality_) {
    require_sound(options, d_);
    require(hooks.reference == nullptr || hooks.reference->rows() == d_,
            fmt::format("reference of {} rows: must have {}, as the matrix has",
                        hooks.reference == nullptr ? 0 : hooks.reference->rows(), d_));
    start();
  }

  PowerResult<S> run() {
    for (Index next_look = k_ + 1;;) {
      // A few milliseconds' work is done before another thread is awake.
      const auto columns = static_cast<double>(Q_.cols()), d = static_cast<double>(d_);
      work_ += columns * (A_.facts().multiply_adds + 2 * d * static_cast<double>(n_ + Q_.cols()));
      const OneThread alone(A_.facts().multiply_adds > 0 && work_ < 4e7);
      if (!extend()) return finish(Status::breakdown);
      const bool full = n_ + Q_.cols() > room_ || n_ == d_;
      if (exhausted_ && n_ <= k_ && n_ < d_) start_afresh();
      if (n_ < next_look && !full && !exhausted_ && t_ < options_.max_iterations) continue;
      if (n_ <= k_ && n_ < d_) continue;
      look();
      if (hooks_.observe && !observe()) return finish(Status::stopped_by_observer);
      if (may_lack_copies() && t_ >= not_before_)
        widen();
      else if (const auto verdict = judge())
        return finish(*verdict);
      if (t_ >= options_.max_iterations) return finish(Status::iteration_limit);
      if (exhausted_ && n_ < d_) start_afresh();
      // Where the end is near a restart would cost more than the blocks that are left.
      if (n_ + Q_.cols() > (blocks_to_go() <= spare_blocks ? K_.cols() : room_) || n_ == d_) restart();
      next_look = n_ + blocks_to_go() * Q_.cols();
    }
  }

 private:
  void start() {
    const Index s = block_columns(d_, A_.facts(), options_);
    const OneThread alone(d_ < 100000);
    const Index given = hooks_.start == nullptr ? 0 : std::min(hooks_.start->cols(), p_);
    must_prove_ = given > 0 && !known_.sound_start && (options_.certify == Certify::full || options_.sine_goal > 0);
    Q_.resize(d_, std::min(d_, std::max(s, given + (must_prove_ ? columns_beside_a_start : 0))));
    fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block}, Q_);
    if (given > 0) {
      require(hooks_.start->rows() == d_,
              fmt::format("start block of {} rows: must have {}, as the matrix has", hooks_.start->rows(), d_));
      require(all_finite<S>(*hooks_.start), "start block: has a value that is not finite");
      Q_.leftCols(given) = hooks_.start->leftCols(given);
    }
    room_ = std::min(d_, krylov_capacity(d_, A_.facts(), options_) + Q_.cols() - s);
    // A space that comes so near to everything may as well be everything: a block cut short would follow each restart.
    if (room_ + (spare_blocks + 1) * Q_.cols() >= d_) room_ = d_;
    const Index capacity = std::min(d_, room_ + spare_blocks * Q_.cols());
    resize_large<S>(K_, d_, capacity);
    H_ = Small<S>::Zero(capacity, capacity);
    thin_qr<S>(Q_, B_);
    random_ = Q_.cols() - given;
    width_ = known_.sound_start && given > 0 ? std::min(given, std::max(random_, known_.columns))
             : must_prove_                   ? random_
                                             : Q_.cols();
    if (random_ > 0) shadow_.add_columns(B_.rightCols(random_).transpose().template cast<double>());
  }

  // A start that was given may be taken to nothing: without random columns beside it, one says what the matrix does.
  void find_scale() {
    if (random_ > 0 || known_.sound_start) {
      exponent_ = exponent_for<S>(W_);
      return;
    }
    const FirstScale scale = scale_with_random_column<S>(A_, W_, options_.seed);
    ++products_;
    ++passes_;
    exponent_ = scale.exponent;
    frobenius_ = scale.frobenius;
  }

  // Takes Q into K, and what its product adds becomes the next Q. False where the product is not finite.
  bool extend() {
    const Index w = Q_.cols();
    by_row_chunks(d_, w, [&](Index first, Index rows) { K_.block(first, n_, rows, w) = Q_.middleRows(first, rows); });
    W_.resize(d_, w);
    A_.apply(Q_, W_);
    if (t_ == 0) find_scale();
    rescale<S>(W_, exponent_);
    if (t_ == 0 && random_ > 0)  // E ||A x||^2 = ||A||_F^2 / d for a random unit vector x
      frobenius_ = std::sqrt(static_cast<double>(d_) / static_cast<double>(random_)) *
                   static_cast<double>(frobenius_norm<S>(W_.rightCols(random_)));
    products_ += w;
    ++passes_;
    ++t_;
    const Index end = n_ + w;
    const Small<S> h = gram<S>(K_.middleCols(met_, end - met_), W_);
    if (!h.allFinite()) return false;
    H_.block(0, n_, met_, w).setZero();
    H_.block(met_, n_, end - met_, w) = h;
    H_.block(n_, 0, w, n_) = H_.block(0, n_, n_, w).transpose();

    Q_.swap(W_);
    outside_.subtract(K_.middleCols(met_, end - met_), h, Q_);
    met_ = n_;
    n_ = end;
    last_ = w;
    const auto left = static_cast<double>(frobenius_norm<S>(Q_)), met = static_cast<double>(h.norm());
    exhausted_ = left <= std::min(1e3 * stopping_.epsilon, 0.01 * options_.tolerance) * met;
    if (exhausted_)
      B_ = static_cast<S>(left) * Small<S>::Identity(w, w);
    else if (w > d_ - n_)
      fill_space();
    else
      lost_ = std::max(lost_, outside_.take({K_.leftCols(n_)}, Q_, B_, std::hypot(met, left)));
    return true;
  }

  // The last block has as many columns as there is space: a basis of all that is left, whatever Q was.
  void fill_space() {
    const Index left = d_ - n_;
    const Block<S> product = Q_;
    Q_ = outside_.draw({K_.leftCols(n_)}, std::max<Index>(1, left)).Q;
    B_ = left > 0 ? gram<S>(Q_, product) : Small<S>::Zero(1, product.cols());
  }

  // K holds all that its start can reach: another one.
  void start_afresh() {
    lost_ = std::max(lost_, static_cast<double>(B_.norm()));
    const Index columns = std::min(Q_.cols(), d_ - n_);
    auto drawn = outside_.draw({K_.leftCols(n_)}, columns);
    Q_.swap(drawn.Q);
    show_in_shadow(drawn.along, drawn.R);
    B_ = Small<S>::Zero(columns, last_);
    exhausted_ = false;
  }

  // Columns drawn at random, which are [K Q] along + (the newest of Q) R.
  void show_in_shadow(const Small<S>& along, const Small<S>& R) {
    Small<double> rows(R.cols(), along.rows() + R.rows());
    rows << along.transpose().template cast<double>(), R.transpose().template cast<double>();
    shadow_.add_columns(rows);
    random_ += R.cols();
  }

  void look() {
    spectrum_ = SmallSpectrum<S>(H_.topLeftCorner(n_, n_));
    theta_ = spectrum_.values();
    U_.resize(0, 0);
    require_no_negative_eigenvalue();
    T_ = (B_ * spectrum_.last_rows(last_)).template cast<double>();
    residuals_ = T_.colwise().norm();
    if (n_ == d_) residuals_.setZero();
    const Vector<double> theta = theta_.template cast<double>();
    pairs_ = {.theta = theta,
              .residuals = residuals_.array() + expected_rounding(),
              .coupling = expected_rounding(),
              .most_copies = n_ == d_     ? -1
                             : restarted_ ? std::min(width_, p_)
                                          : width_};
    HistoryEntry entry{.t = t_,
                       .noise = noise_from_asymmetry<S>(H_.block(n_ - last_, n_ - last_, last_, last_)),
                       .theta_1 = theta(0),
                       .theta_k = theta(k_ - 1),
                       .theta_next = n_ > k_ ? theta(k_) : std::numeric_limits<double>::quiet_NaN()};
    entry.residual =
        relative_residual(theta.head(k_), std::ldexp(A_.facts().shift, -exponent_), residuals_.head(k_).norm());
    if (k_ == d_)
      entry.sine_estimate = 0;
    else if (n_ > k_)
      entry.sine_estimate = sine_estimate(pairs_, k_);
    if (hooks_.observe || hooks_.reference != nullptr) rotate(k_, V_);
    if (hooks_.reference != nullptr) entry.sin_theta = static_cast<double>(sin_theta<S>(*hooks_.reference, V_));
    history_.push_back(entry);
  }

  void require_no_negative_eigenvalue() const {
    const auto least = static_cast<double>(theta_(n_ - 1));
    double slack = (1e3 * stopping_.epsilon + 10 * static_cast<double>(orthogonality_)) *
                   std::max(frobenius_, static_cast<double>(H_.topLeftCorner(n_, n_).norm()));
    if (least < -slack) slack = std::max(slack, slack_of_norm(A_.norm_bound(), stopping_.epsilon, exponent_));
    detail::require_no_negative_eigenvalue(least, slack, total_exponent());
  }

  bool observe() {
    const HistoryEntry entry = unscaled(history_.back(), total_exponent());
    return hooks_.observe({.entry = entry, .X = V_, .basis = V_, .shift = 0, .cooling = false});
  }

  // ---- When to stop

  bool reached() const {
    const HistoryEntry& now = history_.back();
    return now.residual <= options_.tolerance && (options_.sine_goal == 0 || now.sine_estimate <= options_.sine_goal);
  }

  bool believed() const { return n_ == d_ || proved() || believable(pairs_, k_, history_.back().sine_estimate); }

  bool resolved() const { return history_.back().sine_estimate < resolved_sine; }

  std::optional<Status> judge() {
    if (n_ <= k_ && n_ < d_) return std::nullopt;
    const bool met = reached();
    if (!met && n_ < d_ && !at_rounding_floor(stopping_, history_) && !goal_is_out_of_reach()) return std::nullopt;
    if (proof_is_due()) proof_ = prove();
    if (!proved() && t_ < give_up_proof_ && n_ < d_) return std::nullopt;
    if (must_prove_ && !proved() && n_ < d_) return Status::iteration_limit;
    if (met && resolved() && !believed()) return std::nullopt;
    if (!resolved() && !next_is_at_rest()) {
      if (give_up_next_ < 0) give_up_next_ = t_ + most_blocks_for_the_next;
      if (t_ < give_up_next_) return std::nullopt;
    }
    return !resolved() ? Status::ambiguous : met ? Status::converged : Status::rounding_floor;
  }

  // Else the first Ritz value beyond k may yet leave the k-th alone, and the two cannot be said to agree. A start that
  // was given has the wanted ones at rest before the others have begun to move.
  bool next_is_at_rest() const {
    return n_ == d_ || n_ <= k_ || pairs_.residuals(k_) <= std::sqrt(options_.tolerance) * pairs_.theta(0);
  }

  // No residual that rounding leaves, over the largest gap that the residuals allow, is as small as asked for.
  bool goal_is_out_of_reach() const {
    if (options_.sine_goal == 0 || n_ <= k_ || history_.back().residual > options_.tolerance) return false;
    const double gap = pairs_.theta(k_ - 1) + pairs_.residuals(k_ - 1) - pairs_.theta(k_) + pairs_.residuals(k_);
    return expected_rounding() >= 2 * options_.sine_goal * gap;
  }

  // Whether w wanted Ritz values are one to the accuracy asked for, w the columns of the block, so that there may be
  // more of them; where they differ by more, the block comes to see them all.
  bool may_lack_copies() const {
    if (n_ == d_ || width_ >= d_) return false;
    const double alike = std::clamp(5 * std::max(options_.sine_goal, options_.tolerance), 1e-3, 2e-2);
    const auto edge = static_cast<double>(theta_(n_ - 1));
    for (Index i = 0; i + width_ <= k_; ++i) {
      const auto upper = static_cast<double>(theta_(i)), lower = static_cast<double>(theta_(i + width_ - 1));
      const double close = alike * (lower - edge);
      if (upper - lower <= close && (reached() || residuals_.segment(i, width_).maxCoeff() <= close)) return true;
    }
    return false;
  }

  // ---- That nothing was missed

  // The first time that everything else is met says how many blocks may go into the proof: none for a start that was
  // given, because without it nothing is known; for columns that have just joined, as many as the first ones had.
  bool proof_is_due() {
    if (options_.certify != Certify::full && !must_prove_ && not_before_ == 0) {
      give_up_proof_ = t_;
      return false;
    }
    if (t_ < next_proof_ && n_ < d_) return false;
    next_proof_ = t_ + 1 + (t_ - first_proof_) / 4;  // seldom, where many are needed: they are not free
    if (give_up_proof_ < 0) first_proof_ = t_;
    if (give_up_proof_ < 0)
      give_up_proof_ = must_prove_       ? t_ + most_blocks_for_a_start
                       : not_before_ > 0 ? std::max(not_before_, t_ + most_blocks_for_a_start / 2)
                                         : t_ + (known_.sound_start ? 0 : blocks_for_proof(t_));
    return true;
  }

  // Everything down to the k-th Ritz value, or down to the cluster that k cuts; of a start that was given also that the
  // Ritz values are those they seem to be, which only the bound says.
  bool proved() const {
    if (!proof_ || !std::isfinite(proof_->above)) return false;
    if (!resolved()) return proof_->count + 1 >= cluster_at(pairs_, k_, false).first;
    if (proof_->count < k_) return false;
    const double goal = options_.sine_goal > 0 ? options_.sine_goal : resolved_sine;
    return !must_prove_ || sine_bound(pairs_, k_, *proof_) <= goal;
  }

  // That at most q eigenvalues lie above an x below the q-th Ritz value: for q = k, or the next few where the gap there
  // is too small. Where k cuts a cluster, for the Ritz values above that.
  std::optional<Statement> prove() {
    if (n_ == d_) return exactly();
    const Shadow::Space space{
        .theta = pairs_.theta,
        .T = T_,
        .times_vectors = [this](const Small<double>& M) -> Small<double> {
          return spectrum_.times_vectors(M.template cast<S>()).template cast<double>();
        },
        .vectors = [this]() -> Small<double> { return vectors().template cast<double>(); },
        .error = lost_ + pairs_.theta(0) * (static_cast<double>(orthogonality_) +
                                            8 * stopping_.epsilon * std::sqrt(static_cast<double>(n_)))};
    Statement best = known_.statement.count >= k_ ? known_.statement : Statement{};
    best.above = known_.in_units_of(total_exponent(), best.above);
    const Index first = resolved() ? k_ : cluster_at(pairs_, k_, false).first - 1;
    if (first == 0)
      return shadow_.prove(space, 0, pairs_.theta(0) + 20 * pairs_.residuals(0) + 1e-3 * std::abs(pairs_.theta(0)))
          .proved;
    for (Index q = first; q < std::min({n_, p_, first + 5}); ++q) {
      for (const double part : {0.5, 0.9}) {
        const Statement proved =
            shadow_.prove(space, q, pairs_.theta(q) + part * (pairs_.theta(q - 1) - pairs_.theta(q))).proved;
        if (proved.count > best.count || !std::isfinite(best.above)) best = proved;
        if (proved.count == q) return best;
      }
    }
    return best;
  }

  // The space is everything.
  Statement exactly() const {
    if (k_ == d_) return {.count = d_, .above = pairs_.theta(d_ - 1) - largest_rounding(), .probability = 0};
    return {.count = k_, .above = pairs_.theta(k_) + largest_rounding(), .probability = 0};
  }

  // Q gets as many random columns again, orthogonal to all others.
  void widen() {
    if (exhausted_) start_afresh();
    const Index before = Q_.cols(), more = std::min(width_, d_ - n_ - before);
    not_before_ = 2 * t_;
    give_up_proof_ = -1;
    width_ += std::max<Index>(1, more);
    if (more <= 0) return;
    const auto drawn = outside_.draw({K_.leftCols(n_), Q_}, more);
    Block<S> wide(d_, before + more);
    wide << Q_, drawn.Q;
    Q_.swap(wide);
    show_in_shadow(drawn.along, drawn.R);
    Small<S> B = Small<S>::Zero(before + more, B_.cols());
    B.topRows(before) = B_;
    B_.swap(B);
    room_ = std::max(room_, std::min(d_, p_ + 5 * Q_.cols()));
    if (room_ + (spare_blocks + 1) * Q_.cols() >= d_) room_ = d_;
    const Index capacity = std::min(d_, room_ + spare_blocks * Q_.cols());
    if (capacity > K_.cols()) {
      K_.conservativeResize(Eigen::NoChange, capacity);
      H_.conservativeResize(capacity, capacity);
    }
  }

  // Blocks until it is worth looking at the Ritz values again, at the pace of the last two looks.
  Index blocks_to_go() const {
    if (history_.size() < 2) return 1;
    const HistoryEntry &now = history_.back(), &before = history_[history_.size() - 2];
    const double pace = std::log(before.residual / now.residual) / static_cast<double>(now.t - before.t);
    const double distance = std::max(std::log(now.residual / options_.tolerance),
                                     options_.sine_goal > 0 ? std::log(now.sine_estimate / options_.sine_goal) : 0.0);
    return pace > 0 ? static_cast<Index>(std::clamp(0.7 * distance / pace, 1.0, 8.0)) : 1;
  }

  const Small<S>& vectors() {
    if (U_.size() == 0) U_ = spectrum_.vectors();
    return U_;
  }

  // out <- the leading Ritz vectors.
  void rotate(Index columns, Block<S>& out) {
    out.resize(d_, columns);
    multiply<S>(K_.leftCols(n_), Small<S>(vectors().leftCols(columns)), out);
  }

  void restart() {
    rotate(p_, W_);
    if (options_.certify == Certify::full)
      shadow_.restart(theta_.template cast<double>(), U_.template cast<double>(),
                      (B_ * U_.bottomRows(last_)).template cast<double>(), p_);
    Small<S> R;
    thin_qr<S>(W_, R);  // what orthogonality was lost would add up from restart to restart
    K_.leftCols(p_) = W_;
    H_.topLeftCorner(p_, p_) = theta_.head(p_).asDiagonal();
    n_ = p_;
    restarted_ = true;
    met_ = 0;
    theta_ = theta_.head(p_).eval();
    U_ = Small<S>::Identity(p_, p_);
  }

  // ---- Rounding, of one column, in the units of theta

  double frobenius() const {
    return std::hypot(std::max(frobenius_, known_.in_units_of(total_exponent(), known_.frobenius)),
                      theta_.head(k_).template cast<double>().norm());
  }

  // The most: the sums of a product, the matrix itself rounded to S, and what is left of K in each new column.
  double largest_rounding() const { return product_rounding<S>(A_.facts(), d_, frobenius()) + unavoidable_rounding(); }
  double unavoidable_rounding() const {
    const double combined = 8 * stopping_.epsilon * std::sqrt(static_cast<double>(n_));  // of n columns into one
    return 0.5 * stopping_.epsilon * frobenius() + lost_ +
           (static_cast<double>(orthogonality_) + combined) * std::abs(static_cast<double>(theta_(0)));
  }
  // In double the most is little; in single it would hide everything, so that it is measured at the end.
  double expected_rounding() const {
    return std::max(measured_rounding_, sizeof(S) == sizeof(double) ? largest_rounding() : unavoidable_rounding());
  }

  int total_exponent() const { return A_.facts().exponent + exponent_; }

  // ---- The result

  PowerResult<S> finish(Status status) {
    if (history_.empty())
      throw DataError(
          "product: the first product with the matrix is not finite; a value overflows or the operator is faulty");
    PowerResult<S> result;
    result.method = SolveMethod::krylov;
    if (status == Status::breakdown) {
      n_ = theta_.size();
      result.notes.push_back(fmt::format("the product of block {} was not finite; this is the basis before it", t_));
    }
    rotate(std::min(p_, n_), result.block);
    result.basis = result.block.leftCols(k_);
    Small<S> R;
    thin_qr<S>(result.basis, R);  // K is orthonormal to orthogonality_
    Vector<S> theta = theta_.head(k_);
    result.residual = history_.back().residual;
    if (status != Status::breakdown) status = measure_near_rounding(status, result, theta);
    const HistoryEntry& last = history_.back();
    canonical_signs<S>(result.basis);
    if (A_.facts().positive_semidefinite) theta = theta.cwiseMax(S(0));
    set_eigenvalues<S>(result, theta, total_exponent());
    result.status = status;
    result.iterations = t_;
    result.noise_level = std::ldexp(recent_noise(history_), total_exponent());
    result.gap = std::ldexp(last.theta_k - last.theta_next, total_exponent());
    result.columns = p_;
    certify(result);
    add_notes(result);
    result.products = products_;
    result.passes = passes_ + A_.facts().extra_passes;
    result.workspace_bytes = static_cast<std::int64_t>(sizeof(S)) * d_ * (K_.cols() + 3 * Q_.cols() + p_ + k_);
    for (const HistoryEntry& entry : history_) result.history.push_back(unscaled(entry, total_exponent()));
    return result;
  }

  // What the relation says of a residual near rounding is measured where it matters, and not believed elsewhere; and in
  // single precision what rounding does is measured. A claim that does not outlive this is taken back.
  Status measure_near_rounding(Status status, PowerResult<S>& result, Vector<S>& theta) {
    HistoryEntry& last = history_.back();
    const double least = 10 * stopping_.epsilon * std::sqrt(static_cast<double>(d_));
    result.residual = std::max({last.residual, least, static_cast<double>(orthogonality_)});
    const bool single = sizeof(S) < sizeof(double) && options_.certify != Certify::none && !known_.goes_on;
    if (single || (last.residual <= 1e4 * stopping_.epsilon && options_.tolerance <= 1e4 * stopping_.epsilon)) {
      Extracted<S> measured = measure<S>(A_, result.basis, exponent_);
      products_ += k_;
      ++passes_;
      result.residual = measured.residual;
      result.basis = std::move(measured.V);
      theta = measured.theta;
      pairs_.residuals.head(k_) =
          pairs_.residuals.head(k_).cwiseMax((measured.residuals.array() + expected_rounding()).matrix());
    }
    if (single && status == Status::converged) {
      const double before = expected_rounding();
      measured_rounding_ =
          unavoidable_rounding() + 3 * measured_rounding<S>(A_, result.basis, exponent_, options_.seed);
      products_ += 2 * (k_ + 1);
      passes_ += 2;
      pairs_.residuals.array() += expected_rounding() - before;
      pairs_.coupling = expected_rounding();
    }
    if (n_ > k_ && k_ < d_) last.sine_estimate = sine_estimate(pairs_, k_);
    if (status != Status::converged) return status;
    if (result.residual <= options_.tolerance &&
        (options_.sine_goal == 0 || last.sine_estimate <= options_.sine_goal) && resolved())
      return status;
    return resolved() ? Status::rounding_floor : Status::ambiguous;
  }

  void certify(PowerResult<S>& result) {
    const bool ambiguous = result.status == Status::ambiguous;
    if (!proof_ && options_.certify == Certify::full && result.status != Status::breakdown && n_ > k_ - (k_ == d_))
      proof_ = prove();
    const bool unsound = hooks_.start != nullptr && !known_.sound_start, unknown_start = unsound && !proved();
    Evidence evidence{
        .pairs = pairs_,
        .rounding = std::max(largest_rounding(), expected_rounding()),
        .rounding_expected = expected_rounding(),
        .k = k_,
        .d = d_,
        .all = n_ == d_,
        .sound = !unsound,
        .estimate = unknown_start ? std::numeric_limits<double>::quiet_NaN() : history_.back().sine_estimate,
        .statement = proof_,
        .frobenius = frobenius(),
        .random_columns = shadow_.columns()};
    if (!proved() && (may_lack_copies() || t_ < not_before_) && n_ < d_)  // columns had no time to show what they hold
      evidence.estimate = history_.back().sine_estimate = 1;
    if (!ambiguous && n_ <= k_) evidence.estimate = std::numeric_limits<double>::quiet_NaN();
    result.sin_theta_estimate = std::isfinite(history_.back().sine_estimate)
                                    ? std::min(1.0, history_.back().sine_estimate)
                                    : std::numeric_limits<double>::quiet_NaN();
    result.certificate =
        unscaled(certificate_of(evidence, options_.certify, ambiguous), total_exponent() - result.exponent);
  }

  void add_notes(PowerResult<S>& result) const {
    if (result.status == Status::rounding_floor)
      result.notes.push_back("rounding allows no better: what was asked for is more than the arithmetic holds");
    if (result.status == Status::ambiguous &&
        !(history_.back().theta_k - history_.back().theta_next > 1e-13 * std::abs(history_.back().theta_k)))
      result.notes.push_back(
          "the k-th and the next eigenvalue agree to rounding: the subspace is one of many with the same residual");
    if (must_prove_ && !proved())
      result.notes.push_back("the start block was given, and it is not proved that it missed nothing");
  }

  OperatorRef<S> A_;
  const PowerOptions& options_;
  const Hooks<S>& hooks_;
  const Known known_;
  const Index d_, k_, p_;
  const StoppingFacts stopping_;
  const S orthogonality_;  // the cosine that is left between a new column and K
  static constexpr Index spare_blocks = 3;
  Outside<S> outside_;
  double lost_ = 0;  // of A K = K H + Q B E', by columns that were rounding
  Block<S> K_, Q_, W_, V_;
  Small<S> H_, B_;
  SmallSpectrum<S> spectrum_;
  Vector<S> theta_;
  Small<S> U_;       // empty until somebody needs it
  Small<double> T_;  // B (last rows of U)
  Vector<double> residuals_;
  RitzPairs pairs_;  // theta, and residuals with what rounding may hide
  Shadow shadow_;
  std::optional<Statement> proof_;
  bool must_prove_ = false, restarted_ = false;
  Index give_up_proof_ = -1;  // the step at which a proof is no longer waited for; -1: nobody has waited yet
  Index give_up_next_ = -1;   // the same for a Ritz value beyond k that may come to rest elsewhere
  Index first_proof_ = 0, next_proof_ = 0;
  Index random_ = 0;      // columns drawn so far
  double frobenius_ = 0;  // ||A||_F, about
  double measured_rounding_ = 0;
  int exponent_ = 0;
  double work_ = 0;                   // multiply-adds so far
  bool exhausted_ = false;            // A K lies in K, to rounding, and Q is not orthonormal
  Index n_ = 0, last_ = 0, met_ = 0;  // columns of K, of them new, and from where on the next product meets them
  Index room_ = 0;                    // columns of K, but for spare ones
  Index width_ = 0,
        not_before_ =
            0;  // columns the block began with or got; the step by which the last of them have had their chance
  Index t_ = 0, products_ = 0, passes_ = 0;
  std::vector<HistoryEntry> history_;
};

}  // namespace

Index krylov_capacity(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index p = kept_columns(d, options), s = block_columns(d, facts, options);
  return std::min(d, std::max(2 * p, p + 5 * s));
}

Index least_blocks(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index s = block_columns(d, facts, options);
  return (std::min(d, options.rank + 1) + s - 1) / s;
}

template <class S>
PowerResult<S> block_krylov(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks, const Known& known) {
  require(options.max_iterations >= least_blocks(A.dim(), A.facts(), options),
          fmt::format("max_iterations = {}: a Krylov space for rank = {} takes at least {}", options.max_iterations,
                      options.rank, least_blocks(A.dim(), A.facts(), options)));
  return Space<S>(A, options, hooks, known).run();
}

template PowerResult<float> block_krylov<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&,
                                                const Known&);
template PowerResult<double> block_krylov<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&,
                                                  const Known&);

}  // namespace hearsay::detail
