// Block Krylov space for exact products.
//   K = [Q_1 ... Q_m],   A Q_m - K K'A Q_m = Q_{m+1} B,   H = K'A K = U Theta U',   V = K U
//   A V - V Theta = Q_{m+1} B (last rows of U): the residuals cost no product and no pass over K.
// A full space is restarted with its p leading Ritz vectors in place of K (thick restart), after which the relation
// holds as before.
//
// Reference   Wu and Simon (2000); Zhou and Saad (2008) for blocks.
// Why         Blocks of 16 columns cost little more than one, and find an eigenvalue of multiplicity up to 16 that a
//             single vector cannot see. All vectors are orthogonalised against all, twice: nothing is found twice.
// Legend      d, k, p  dimension, rank, columns kept | K  d x n orthonormal | Q  the newest block | B  its triangular
//             factor | H  n x n | V  the answer
#include "solver/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "hearsay/threads.hpp"
#include "linalg/memory.hpp"
#include "solver/extract.hpp"
#include "solver/scale.hpp"
#include "solver/stopping.hpp"

namespace hearsay::detail {

namespace {

Index kept_columns(Index d, const PowerOptions& options) {
  const Index extra = options.oversample >= 0 ? options.oversample : std::max<Index>(options.rank, 4);
  return std::min(d, options.rank + std::max<Index>(1, extra));
}

Index block_columns(Index d, const PowerOptions& options) { return std::min<Index>(d, options.rank <= 4 ? 8 : 16); }

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
        stopping_{.d = d_, .k = k_, .p = p_, .epsilon = std::numeric_limits<S>::epsilon()} {
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
      work_ += columns * (A_.facts().multiply_adds + 4 * d * static_cast<double>(n_ + Q_.cols()));
      const OneThread alone(A_.facts().multiply_adds > 0 && work_ < 1e8);
      if (!extend()) return finish(Status::breakdown);
      const bool full = n_ + Q_.cols() > K_.cols() || n_ == d_;
      if (n_ < next_look && !full && t_ < options_.max_iterations) continue;
      ritz_ = symmetric_eigen<S>(H_.topLeftCorner(n_, n_));
      require_no_negative_eigenvalue(static_cast<double>(ritz_.values(n_ - 1)),
                                     1e3 * stopping_.epsilon * static_cast<double>(H_.topLeftCorner(n_, n_).norm()),
                                     total_exponent());
      remember();
      if (hooks_.observe && !observe()) return finish(Status::stopped_by_observer);
      if (reached()) return finish(Status::converged);
      if (at_rounding_floor(stopping_, history_)) return finish(Status::noise_floor);
      if (t_ >= options_.max_iterations) return finish(Status::iteration_limit);
      if (full) restart();
      next_look = n_ + blocks_to_go() * Q_.cols();
    }
  }

 private:
  void start() {
    const Index s = block_columns(d_, options_);
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
    const Index capacity = std::min(d_, krylov_capacity(d_, options_) + Q_.cols() - s);
    resize_large<S>(K_, d_, capacity);
    H_ = Small<S>::Zero(capacity, capacity);
    thin_qr<S>(Q_, B_);
  }

  // Takes Q into K, and what its product adds becomes the next Q. False where the product is not finite.
  bool extend() {
    const Index w = Q_.cols();
    K_.middleCols(n_, w) = Q_;
    W_.resize(d_, w);
    A_.apply(Q_, W_);
    if (t_ == 0) exponent_ = exponent_for<S>(W_);
    rescale<S>(W_, exponent_);
    products_ += w;
    ++passes_;
    ++t_;
    const Small<S> h = gram<S>(K_.leftCols(n_ + w), W_);
    if (!h.allFinite()) return false;
    H_.block(0, n_, n_ + w, w) = h;
    H_.block(n_, 0, w, n_) = h.topRows(n_).transpose();
    n_ += w;
    last_ = w;

    Q_.swap(W_);
    subtract_projection(h);
    B_ = Small<S>::Identity(w, w);
    Small<S> R;
    // Twice is enough, unless Q was all but in K: then what is left of it is rounding, and takes a third time.
    for (int pass = 0; pass < 3; ++pass) {
      thin_qr<S>(Q_, R);
      B_ = (R * B_).eval();
      if (pass > 0 && R.diagonal().minCoeff() > S(0.5)) break;
      subtract_projection(gram<S>(K_.leftCols(n_), Q_));
    }
    if (n_ + w > d_ && n_ < d_) {  // the last block fills the space
      Q_ = Q_.leftCols(d_ - n_).eval();
      B_ = B_.topRows(d_ - n_).eval();
    }
    return true;
  }

  // Q <- Q - K h
  void subtract_projection(const Small<S>& h) {
    part_.resize(d_, Q_.cols());
    multiply<S>(K_.leftCols(n_), h, part_);
    Q_ -= part_;
  }

  void remember() {
    const Index seen = std::min(p_, n_);
    const Vector<double> theta = ritz_.values.head(seen).template cast<double>();
    residuals_ = (B_ * ritz_.vectors.bottomRows(last_).leftCols(seen)).colwise().norm().template cast<double>();
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
    out.resize(d_, columns);
    multiply<S>(K_.leftCols(n_), Small<S>(ritz_.vectors.leftCols(columns)), out);
  }

  void restart() {
    rotate(p_, W_);
    K_.leftCols(p_) = W_;
    H_.topLeftCorner(p_, p_) = ritz_.values.head(p_).asDiagonal();
    n_ = p_;
    ritz_ = {ritz_.values.head(p_).eval(), Small<S>::Identity(p_, p_)};
  }

  int total_exponent() const { return A_.facts().exponent + exponent_; }

  PowerResult<S> finish(Status status) {
    if (history_.empty())
      throw DataError(
          "product: the first product with the matrix is not finite; a value overflows or the operator is faulty");
    const HistoryEntry& last = history_.back();
    PowerResult<S> result;
    result.method = SolveMethod::krylov;
    if (status == Status::breakdown) {
      n_ = ritz_.values.size();
      result.notes.push_back(fmt::format("the product of block {} was not finite; this is the basis before it", t_));
    }
    rotate(std::min(p_, n_), result.block);
    result.basis = result.block.leftCols(k_);
    Vector<S> theta = ritz_.values.head(k_);
    result.residual = last.residual;
    double sine = last.sine_estimate;
    if (status != Status::breakdown && last.residual <= 1e4 * stopping_.epsilon) {  // claims near rounding are measured
      Extracted<S> measured = measure<S>(A_, result.basis, exponent_);
      products_ += k_;
      ++passes_;
      if (last.residual > 0 && measured.residual > last.residual) sine *= measured.residual / last.residual;
      // A space that is everything leaves rounding alone, and no estimate but residual over gap.
      if (last.residual == 0 && last.theta_k > last.theta_next)
        sine = measured.absolute_residual / (last.theta_k - last.theta_next);
      result.basis = std::move(measured.V);
      theta = measured.theta;
      result.residual = measured.residual;
      if (status == Status::converged && !(measured.residual <= options_.tolerance)) status = Status::noise_floor;
    }
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
  Block<S> K_, Q_, W_, part_, V_;
  Small<S> H_, B_;
  SmallEigen<S> ritz_;
  Vector<double> residuals_;
  int exponent_ = 0;
  double work_ = 0;  // multiply-adds so far
  Index n_ = 0, last_ = 0, t_ = 0, products_ = 0, passes_ = 0;
  std::vector<HistoryEntry> history_;
};

}  // namespace

Index krylov_capacity(Index d, const PowerOptions& options) {
  const Index p = kept_columns(d, options), s = block_columns(d, options);
  return std::min(d, std::max(2 * p, p + 5 * s));
}

Index least_blocks(Index d, const PowerOptions& options) {
  const Index s = block_columns(d, options);
  return (std::min(d, options.rank + 1) + s - 1) / s;
}

template <class S>
PowerResult<S> block_krylov(OperatorRef<S> A, const PowerOptions& options, const Hooks<S>& hooks) {
  require(options.max_iterations >= least_blocks(A.dim(), options),
          fmt::format("max_iterations = {}: a Krylov space for rank = {} takes at least {}", options.max_iterations,
                      options.rank, least_blocks(A.dim(), options)));
  return Space<S>(A, options, hooks).run();
}

template PowerResult<float> block_krylov<float>(OperatorRef<float>, const PowerOptions&, const Hooks<float>&);
template PowerResult<double> block_krylov<double>(OperatorRef<double>, const PowerOptions&, const Hooks<double>&);

}  // namespace hearsay::detail
