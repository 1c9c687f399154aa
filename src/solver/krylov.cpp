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
//             random columns join the block, and get as many steps as the first ones had.
// Legend      d, k, p  dimension, rank, columns kept | K  d x n orthonormal | Q  the newest block | B  its triangular
//             factor | H  n x n | theta, U  its eigenvalues and eigenvectors | V  the answer
#include "solver/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "hearsay/threads.hpp"
#include "linalg/memory.hpp"
#include "linalg/small_spectrum.hpp"
#include "solver/extract.hpp"
#include "solver/scale.hpp"
#include "solver/settle.hpp"
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

template <class S>
class Space {
 public:
  Space(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks)
      : A_(A),
        options_(options),
        hooks_(hooks),
        d_(A.dim()),
        k_(options.rank),
        p_(kept_columns(d_, options)),
        stopping_{.d = d_, .k = k_, .p = p_, .epsilon = std::numeric_limits<S>::epsilon()},
        orthogonality_(static_cast<S>(std::min(0.01 * std::sqrt(stopping_.epsilon), 1e-5 * options.tolerance))) {
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
      look();
      if (hooks_.observe && !observe()) return finish(Status::stopped_by_observer);
      if (t_ >= not_before_ || n_ == d_) {
        if (may_lack_copies())
          widen();
        else if (reached())
          return finish(Status::converged);
        else if (at_rounding_floor(stopping_, history_))
          return finish(Status::noise_floor);
      }
      if (t_ >= options_.max_iterations) return finish(Status::iteration_limit);
      if (exhausted_ && n_ < d_) start_afresh();
      // Where the end is near a restart would cost more than the blocks that are left.
      if (n_ + Q_.cols() > (blocks_to_go() <= spare_blocks ? K_.cols() : room_) || n_ == d_) restart();
      next_look = n_ + std::max(blocks_to_go(), not_before_ - t_) * Q_.cols();
    }
  }

 private:
  void start() {
    const Index s = block_columns(d_, A_.facts(), options_);
    const OneThread alone(d_ < 100000);
    const Index given = hooks_.start == nullptr ? 0 : std::min(hooks_.start->cols(), p_);
    Q_.resize(d_, std::max(s, given));
    fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block}, Q_);
    if (given > 0) {
      require(hooks_.start->rows() == d_,
              fmt::format("start block of {} rows: must have {}, as the matrix has", hooks_.start->rows(), d_));
      require(all_finite<S>(*hooks_.start), "start block: has a value that is not finite");
      Q_.leftCols(given) = hooks_.start->leftCols(given);
    }
    room_ = std::min(d_, krylov_capacity(d_, A_.facts(), options_) + Q_.cols() - s);
    const Index capacity = std::min(d_, room_ + spare_blocks * Q_.cols());
    resize_large<S>(K_, d_, capacity);
    H_ = Small<S>::Zero(capacity, capacity);
    thin_qr<S>(Q_, B_);
    width_ = Q_.cols();
  }

  // Takes Q into K, and what its product adds becomes the next Q. False where the product is not finite.
  bool extend() {
    const Index w = Q_.cols();
    by_rows(w, [&](Index first, Index rows) { K_.block(first, n_, rows, w) = Q_.middleRows(first, rows); });
    W_.resize(d_, w);
    A_.apply(Q_, W_);
    if (t_ == 0) exponent_ = exponent_for<S>(W_);
    rescale<S>(W_, exponent_);
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
    subtract_projection(met_, end, h);
    met_ = n_;
    n_ = end;
    last_ = w;
    const auto left = static_cast<double>(frobenius_norm<S>(Q_));
    exhausted_ = left <= std::min(1e3 * stopping_.epsilon, 0.01 * options_.tolerance) * static_cast<double>(h.norm());
    if (exhausted_)
      B_ = static_cast<S>(left) * Small<S>::Identity(w, w);
    else
      orthonormalise();
    return true;
  }

  // Q B <- Q, with Q orthogonal to K. What three terms leave along K is rounding. It is taken out where it has grown,
  // which is far below where it would show in what is asked for, and out of the next block too, because the one before
  // still has its share; and again where so little of Q is left that rounding is most of it.
  void orthonormalise() {
    Small<S> R;
    thin_qr<S>(Q_, B_);
    const bool second = std::exchange(cleaned_, false);
    for (int pass = 0; pass < 3; ++pass) {
      const Small<S> along = gram<S>(K_.leftCols(n_), Q_);
      if (!second && !(along.colwise().norm().maxCoeff() > orthogonality_)) break;
      cleaned_ = !second;
      subtract_projection(0, n_, along);
      thin_qr<S>(Q_, R);
      B_ = (R * B_).eval();
      if (R.diagonal().minCoeff() > S(0.5)) break;
    }
    fill_space();
  }

  // The last block has as many columns as there is space.
  void fill_space() {
    if (n_ + Q_.cols() <= d_ || n_ == d_) return;
    Q_ = Q_.leftCols(d_ - n_).eval();
    B_ = B_.topRows(d_ - n_).eval();
  }

  // K holds all that its start can reach: another one.
  void start_afresh() {
    fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block, .iteration = static_cast<std::uint32_t>(t_)},
                   Q_);
    orthonormalise();
    B_.setZero();
    exhausted_ = false;
  }

  // Q <- Q - K h, for columns [first, last) of K
  void subtract_projection(Index first, Index last, const Small<S>& h) {
    part_.resize(d_, Q_.cols());
    by_rows((last - first) * Q_.cols(), [&](Index top, Index rows) {
      multiply<S>(K_.block(top, first, rows, last - first), h, part_.middleRows(top, rows));
      Q_.middleRows(top, rows) -= part_.middleRows(top, rows);
    });
  }

  // work(first, rows) on a cache's worth of rows at a time, on all threads where that pays.
  template <class Work>
  void by_rows([[maybe_unused]] Index work_a_row, const Work& work) const {
    constexpr Index chunk_rows = 512;
    const Index chunks = (d_ + chunk_rows - 1) / chunk_rows;
#pragma omp parallel for schedule(static) num_threads(d_* work_a_row < 200000 ? 1 : threads())
    for (Index c = 0; c < chunks; ++c) work(c * chunk_rows, std::min(chunk_rows, d_ - c * chunk_rows));
  }

  void look() {
    spectrum_ = SmallSpectrum<S>(H_.topLeftCorner(n_, n_));
    theta_ = spectrum_.values();
    U_.resize(0, 0);
    require_no_negative_eigenvalue(static_cast<double>(theta_(n_ - 1)),
                                   1e3 * stopping_.epsilon * static_cast<double>(H_.topLeftCorner(n_, n_).norm()),
                                   total_exponent());
    const Index seen = std::min(p_, n_);
    const Vector<double> theta = theta_.head(seen).template cast<double>();
    residuals_ = (B_ * spectrum_.last_rows(last_).leftCols(seen)).colwise().norm().template cast<double>();
    if (n_ == d_) residuals_.setZero();
    HistoryEntry entry{.t = t_,
                       .noise = noise_from_asymmetry<S>(H_.block(n_ - last_, n_ - last_, last_, last_)),
                       .theta_1 = theta(0),
                       .theta_k = theta(k_ - 1),
                       .theta_next = seen > k_ ? theta(k_) : std::numeric_limits<double>::quiet_NaN()};
    const double absolute = residuals_.head(k_).norm(), size = std::hypot(theta.head(k_).norm(), absolute);
    entry.residual = size > 0 ? absolute / size : 0;
    if (seen > k_) entry.sine_estimate = sine_estimate(theta, residuals_, k_, 0);
    if (n_ == d_) entry.sine_estimate = 0;
    if (hooks_.observe || hooks_.reference != nullptr) rotate(k_, V_);
    if (hooks_.reference != nullptr) entry.sin_theta = static_cast<double>(sin_theta<S>(*hooks_.reference, V_));
    history_.push_back(entry);
  }

  bool observe() {
    const HistoryEntry entry = unscaled(history_.back(), total_exponent());
    return hooks_.observe({.entry = entry, .X = V_, .basis = V_, .shift = 0, .cooling = false});
  }

  bool reached() const {
    const HistoryEntry& now = history_.back();
    return now.residual <= options_.tolerance && (options_.sine_goal == 0 || now.sine_estimate <= options_.sine_goal);
  }

  // Whether w wanted Ritz values are one to the accuracy asked for, w the columns of the block, so that there may be
  // more of them; where they differ by more, the block comes to see them all.
  bool may_lack_copies() const {
    if (n_ == d_) return false;
    const double alike = std::clamp(5 * std::max(options_.sine_goal, options_.tolerance), 1e-3, 2e-2);
    const auto edge = static_cast<double>(theta_(std::min(p_, n_) - 1));
    for (Index i = 0; i + width_ <= k_; ++i) {
      const auto upper = static_cast<double>(theta_(i)), lower = static_cast<double>(theta_(i + width_ - 1));
      const double close = alike * (lower - edge);
      if (upper - lower <= close && (reached() || residuals_.segment(i, width_).maxCoeff() <= close)) return true;
    }
    return false;
  }

  // Q gets as many random columns again, orthogonal to all others.
  void widen() {
    if (exhausted_) start_afresh();
    const Index before = Q_.cols(), more = std::min(width_, d_ - n_ - before);
    not_before_ = 2 * t_;
    width_ += more;
    if (more <= 0) return;
    Block<S> wide(d_, before + more);
    fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block, .iteration = static_cast<std::uint32_t>(t_)},
                   wide);
    wide.leftCols(before) = Q_;
    Q_.swap(wide);
    Small<S> R;
    for (int pass = 0; pass < 2; ++pass) {
      subtract_projection(0, n_, gram<S>(K_.leftCols(n_), Q_));
      thin_qr<S>(Q_, R);  // R is the identity in its first columns, which are orthonormal already
    }
    Small<S> B = Small<S>::Zero(before + more, B_.cols());
    B.topRows(before) = B_;
    B_.swap(B);
    const Index capacity = std::min(d_, p_ + (5 + spare_blocks) * Q_.cols());
    room_ = std::max(room_, std::min(d_, p_ + 5 * Q_.cols()));
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

  // out <- the leading Ritz vectors.
  void rotate(Index columns, Block<S>& out) {
    if (U_.size() == 0) U_ = spectrum_.vectors();
    out.resize(d_, columns);
    multiply<S>(K_.leftCols(n_), Small<S>(U_.leftCols(columns)), out);
  }

  void restart() {
    rotate(p_, W_);
    K_.leftCols(p_) = W_;
    H_.topLeftCorner(p_, p_) = theta_.head(p_).asDiagonal();
    n_ = p_;
    met_ = 0;
    theta_ = theta_.head(p_).eval();
    U_ = Small<S>::Identity(p_, p_);
  }

  // What rounding leaves of a residual, relative to the largest eigenvalues; an upper estimate.
  double rounding() const { return 10 * stopping_.epsilon * std::sqrt(static_cast<double>(d_)); }

  int total_exponent() const { return A_.facts().exponent + exponent_; }

  PowerResult<S> finish(Status status) {
    if (history_.empty())
      throw DataError(
          "product: the first product with the matrix is not finite; a value overflows or the operator is faulty");
    const HistoryEntry& last = history_.back();
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
    result.residual = last.residual;
    double sine = last.sine_estimate;
    // What the relation says of a residual near rounding is measured where it matters, and not believed elsewhere.
    if (status != Status::breakdown && last.residual <= 1e4 * stopping_.epsilon &&
        options_.tolerance <= 1e4 * stopping_.epsilon) {
      Extracted<S> measured = measure<S>(A_, result.basis, exponent_);
      products_ += k_;
      ++passes_;
      result.residual = measured.residual;
      result.basis = std::move(measured.V);
      theta = measured.theta;
      if (status == Status::converged && !(measured.residual <= options_.tolerance)) status = Status::noise_floor;
    } else {
      result.residual = std::max({last.residual, rounding(), static_cast<double>(orthogonality_)});
    }
    if (last.residual > 0 && result.residual > last.residual) sine *= result.residual / last.residual;
    // A space that is everything leaves rounding alone, and no estimate but residual over gap.
    if (last.residual == 0 && last.theta_k > last.theta_next)
      sine = result.residual * theta.template cast<double>().norm() / (last.theta_k - last.theta_next);
    if (status != Status::breakdown && ((t_ < not_before_ && n_ < d_) || may_lack_copies())) sine = 1;
    canonical_signs<S>(result.basis);
    if (A_.facts().positive_semidefinite) theta = theta.cwiseMax(S(0));
    set_eigenvalues<S>(result, theta, total_exponent());
    result.status = status;
    result.iterations = t_;
    if (status == Status::noise_floor) {
      result.noise_floor = result.residual;
      result.notes.push_back(
          "the residual stands at rounding level: the tolerance asks for more than the arithmetic holds");
    }
    result.noise_level = std::ldexp(recent_noise(history_), total_exponent());
    result.gap = std::ldexp(last.theta_k - last.theta_next, total_exponent());
    result.sin_theta_estimate = std::min(1.0, sine);
    if (std::isfinite(result.gap) && !(last.theta_k - last.theta_next > 1e-13 * std::abs(last.theta_k)))
      result.notes.push_back(
          "the k-th and the next eigenvalue agree to rounding: the subspace is one of many with the same residual");
    result.columns = p_;
    result.products = products_;
    result.passes = passes_ + A_.facts().extra_passes;
    result.workspace_bytes = static_cast<std::int64_t>(sizeof(S)) * d_ * (K_.cols() + 3 * Q_.cols() + p_ + k_);
    for (const HistoryEntry& entry : history_) result.history.push_back(unscaled(entry, total_exponent()));
    return result;
  }

  OperatorRef<S> A_;
  const PowerOptions& options_;
  const Hooks<S>& hooks_;
  const Index d_, k_, p_;
  const StoppingFacts stopping_;
  const S orthogonality_;  // the cosine that is left between a new column and K
  static constexpr Index spare_blocks = 3;
  Block<S> K_, Q_, W_, part_, V_;
  Small<S> H_, B_;
  SmallSpectrum<S> spectrum_;
  Vector<S> theta_;
  Small<S> U_;  // empty until somebody needs it
  Vector<double> residuals_;
  int exponent_ = 0;
  double work_ = 0;                   // multiply-adds so far
  bool exhausted_ = false;            // A K lies in K, to rounding, and Q is not orthonormal
  Index n_ = 0, last_ = 0, met_ = 0;  // columns of K, of them new, and from where on the next product meets them
  Index room_ = 0;                    // columns of K, but for spare ones
  bool cleaned_ = false;              // what lay along K was taken out of the last block, not out of the one before
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
PowerResult<S> block_krylov(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  require(options.max_iterations >= least_blocks(A.dim(), A.facts(), options),
          fmt::format("max_iterations = {}: a Krylov space for rank = {} takes at least {}", options.max_iterations,
                      options.rank, least_blocks(A.dim(), A.facts(), options)));
  return Space<S>(A, options, hooks).run();
}

template PowerResult<float> block_krylov<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&);
template PowerResult<double> block_krylov<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&);

}  // namespace hearsay::detail
