#include "solver/krylov_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "linalg/large_pages.hpp"
#include "linalg/row_chunks.hpp"
#include "solver/ends.hpp"
#include "solver/extract.hpp"
#include "solver/krylov.hpp"
#include "solver/outcome.hpp"
#include "solver/scale.hpp"
#include "solver/stopping.hpp"
#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

// Where a product costs about as much with four columns as with eight, and so little that what lies around it counts. A
// short solve ends with a proof, which more random columns bring sooner.
bool takes_sparse_blocks(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const bool is_long = options.tolerance.value_or(0) <= tuning::long_solve;
  return facts.multiply_adds > 0 && facts.multiply_adds <= tuning::sparse_row * static_cast<double>(d) &&
         options.rank <= (is_long ? tuning::most_for_long_sparse_block : tuning::most_for_sparse_block) &&
         d > tuning::least_for_sparse_block && d <= tuning::roomy_dimension;
}

Index blocks_of_space(Index d, Index s) {
  if (d > tuning::roomy_dimension) return tuning::blocks_of_space;
  return s == tuning::sparse_block ? tuning::sparse_blocks_of_space : tuning::blocks_of_roomy_space;
}

Index kept_columns(Index d, const PowerOptions& options) {
  const Index ends = takes_both_ends(options.which) ? 2 : 1;
  const Index extra = options.oversample.value_or(std::max(options.rank, ends * tuning::least_oversample));
  return std::min(d, options.rank + std::max(ends, extra));
}

// A few more than the rank, as long as one more costs little. Where orthogonality costs more than the product, fewer:
// the space then holds higher powers of A.
Index wide_block_columns(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const bool cheap = facts.multiply_adds > 0 && facts.multiply_adds < tuning::cheap_product * static_cast<double>(d) *
                                                                          static_cast<double>(options.rank);
  const Index by_rank = (options.rank / tuning::block_step + 1) * tuning::block_step;
  return std::min(d,
                  cheap ? tuning::narrowest_block : std::clamp(by_rank, tuning::narrowest_block, tuning::widest_block));
}

Index block_columns(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  return takes_sparse_blocks(d, facts, options) ? tuning::sparse_block : wide_block_columns(d, facts, options);
}

// With all the blocks that memory allows.
Index roomy_capacity(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index p = kept_columns(d, options), s = block_columns(d, facts, options);
  return std::min(d, std::max(2 * p, p + blocks_of_space(d, s) * s));
}

}  // namespace

Index krylov_capacity(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index p = kept_columns(d, options), s = wide_block_columns(d, facts, options);
  return std::min(d, std::max(2 * p, p + tuning::blocks_of_space * s));
}

Index least_blocks(Index d, const OperatorFacts& facts, const PowerOptions& options) {
  const Index s = block_columns(d, facts, options);
  return (std::min(d, options.rank + (takes_both_ends(options.which) ? 2 : 1)) + s - 1) / s;
}

template <class S>
KrylovSpace<S>::KrylovSpace(OperatorRef<S> A, const PowerOptions& options, const Known& known, S orthogonality)
    : A_(A),
      options_(options),
      known_(known),
      d_(A.dim()),
      p_(kept_columns(d_, options)),
      orthogonality_(orthogonality),
      outside_(d_, options.seed, orthogonality) {}

template <class S>
void KrylovSpace<S>::start(const Block<S>* start, Index beside) {
  const Index s = block_columns(d_, A_.facts(), options_);
  const OneThread alone(d_ < tuning::small_start);
  const Index given = start == nullptr ? 0 : std::min(start->cols(), p_);
  Q_.resize(d_, std::min(d_, std::max(s, given + beside)));
  fill_normal<S>({.seed = options_.seed, .stream = Stream::start_block}, Q_);
  if (given > 0) {
    require(start->rows() == d_,
            fmt::format("start block of {} rows: must have {}, as the matrix has", start->rows(), d_));
    require(all_finite<S>(*start), "start block: has a value that is not finite");
    Q_.leftCols(given) = start->leftCols(given);
  }
  room_ = std::min(d_, roomy_capacity(d_, A_.facts(), options_) + Q_.cols() - s);
  const Index all = capacity();
  resize_large<S>(K_, d_, all);
  H_ = Small<S>::Zero(all, all);
  thin_qr<S>(Q_, B_);
  random_ = Q_.cols() - given;
  // where the one before forgot how many columns it grew from, it was one at least
  width_ = known_.sound_start && given > 0 ? std::max<Index>(1, std::min(given, std::max(random_, known_.columns)))
           : beside > 0                    ? random_
                                           : Q_.cols();
  if (random_ > 0) shadow_.add_columns(B_.rightCols(random_).transpose().template cast<double>());
}

// A space that comes so near to everything may as well be everything: a block cut short would follow each restart.
template <class S>
Index KrylovSpace<S>::capacity() {
  if (room_ + (tuning::spare_blocks + 1) * Q_.cols() >= d_) room_ = d_;
  return std::min(d_, room_ + tuning::spare_blocks * Q_.cols());
}

template <class S>
OneThread KrylovSpace<S>::threads_for_next_block() {
  const auto columns = static_cast<double>(Q_.cols()), d = static_cast<double>(d_);
  const double product = A_.facts().multiply_adds;
  work_ += columns * (product + 2 * d * static_cast<double>(n_ + Q_.cols()));
  return OneThread(product > 0 && work_ < tuning::small_solve);
}

// A start that was given may be taken to nothing: without random columns beside it, one says what the matrix does.
template <class S>
void KrylovSpace<S>::find_scale() {
  if (random_ > 0 || known_.sound_start) {
    exponent_ = exponent_for<S>(W_);
    return;
  }
  const FirstScale scale = scale_with_random_column<S>(A_, W_, options_.seed);
  count_products(1, 1);
  exponent_ = scale.exponent;
  frobenius_ = scale.frobenius;
}

template <class S>
bool KrylovSpace<S>::extend() {
  const Index w = Q_.cols();
  by_row_chunks(d_, w, [&](Index first, Index rows) { K_.block(first, n_, rows, w) = Q_.middleRows(first, rows); });
  W_.resize(d_, w);
  A_.apply(Q_, W_);
  if (t_ == 0) find_scale();
  rescale<S>(W_, exponent_);
  if (t_ == 0 && random_ > 0)
    frobenius_ = frobenius_from_images(d_, random_, static_cast<double>(frobenius_norm<S>(W_.rightCols(random_))));
  count_products(w, 1);
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
  exhausted_ = left <= std::min(tuning::exhausted_in_epsilon * std::numeric_limits<S>::epsilon(),
                                tuning::exhausted_in_tolerance * tolerance_of<S>(options_)) *
                           met;
  if (exhausted_)
    B_ = static_cast<S>(left) * Small<S>::Identity(w, w);
  else if (w > d_ - n_)
    fill_space();
  else
    lost_ = std::max(lost_, outside_.take({K_.leftCols(n_)}, Q_, B_, std::hypot(met, left)));
  return true;
}

// The last block has as many columns as there is space: a basis of all that is left, whatever Q was.
template <class S>
void KrylovSpace<S>::fill_space() {
  const Index left = d_ - n_;
  const Block<S> product = Q_;
  Q_ = outside_.draw({K_.leftCols(n_)}, std::max<Index>(1, left)).Q;
  B_ = left > 0 ? gram<S>(Q_, product) : Small<S>::Zero(1, product.cols());
}

template <class S>
void KrylovSpace<S>::start_afresh() {
  lost_ = std::max(lost_, static_cast<double>(B_.norm()));
  const Index columns = std::min(Q_.cols(), d_ - n_);
  auto drawn = outside_.draw({K_.leftCols(n_)}, columns);
  Q_.swap(drawn.Q);
  show_in_shadow(drawn.along, drawn.R);
  B_ = Small<S>::Zero(columns, last_);
  exhausted_ = false;
}

// Columns drawn at random, which are [K Q] along + (the newest of Q) R.
template <class S>
void KrylovSpace<S>::show_in_shadow(const Small<S>& along, const Small<S>& R) {
  Small<double> rows(R.cols(), along.rows() + R.rows());
  rows << along.transpose().template cast<double>(), R.transpose().template cast<double>();
  shadow_.add_columns(rows);
  random_ += R.cols();
}

template <class S>
void KrylovSpace<S>::widen() {
  if (exhausted_) start_afresh();
  const Index before = Q_.cols(), more = std::min(width_, d_ - n_ - before);
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
  room_ = std::max(room_, std::min(d_, p_ + blocks_of_space(d_, Q_.cols()) * Q_.cols()));
  const Index all = capacity();
  if (all > K_.cols()) {
    K_.conservativeResize(Eigen::NoChange, all);
    H_.conservativeResize(all, all);
  }
}

namespace {

// The columns of a matrix whose middle ones, which are let go, stand last.
template <class M>
M kept_first(const M& columns, Index high, Index low) {
  const Index n = columns.cols();
  M ordered(columns.rows(), n);
  ordered << columns.leftCols(high), columns.rightCols(low), columns.middleCols(high, n - high - low);
  return ordered;
}

}  // namespace

template <class S>
void KrylovSpace<S>::restart(bool shadow, Index low) {
  const Index high = p_ - low;
  ritz_vectors(high, low, W_);
  const Vector<S> theta = kept_first<Small<S>>(theta_.transpose(), high, low).transpose();
  if (shadow)
    shadow_.restart(theta.template cast<double>(), kept_first<Small<S>>(U_, high, low).template cast<double>(),
                    kept_first<Small<S>>(B_ * U_.bottomRows(last_), high, low).template cast<double>(), p_);
  Small<S> R;
  thin_qr<S>(W_, R);  // what orthogonality was lost would add up from restart to restart
  K_.leftCols(p_) = W_;
  H_.topLeftCorner(p_, p_) = theta.head(p_).asDiagonal();
  n_ = p_;
  restarted_ = true;
  met_ = 0;
  theta_ = theta.head(p_).eval();
  U_ = Small<S>::Identity(p_, p_);
}

template <class S>
void KrylovSpace<S>::find_ritz() {
  spectrum_ = SmallSpectrum<S>(H_.topLeftCorner(n_, n_));
  theta_ = spectrum_.values();
  largest_ =
      std::max({largest_, std::abs(static_cast<double>(theta_(0))), std::abs(static_cast<double>(theta_(n_ - 1)))});
  U_.resize(0, 0);
  T_ = (B_ * spectrum_.last_rows(last_)).template cast<double>();
  residuals_ = T_.colwise().norm();
  if (complete()) residuals_.setZero();
}

template <class S>
double KrylovSpace<S>::noise() const {
  return noise_from_asymmetry<S>(H_.block(n_ - last_, n_ - last_, last_, last_));
}

template <class S>
const Small<S>& KrylovSpace<S>::vectors() {
  if (U_.size() == 0) U_ = spectrum_.vectors();
  return U_;
}

template <class S>
void KrylovSpace<S>::ritz_vectors(Index high, Index low, Block<S>& out) {
  out.resize(d_, high + low);
  Small<S> turn(n_, high + low);
  turn << vectors().leftCols(high), vectors().rightCols(low);
  multiply<S>(K_.leftCols(n_), turn, out);
}

template <class S>
Shadow::Space KrylovSpace<S>::seen_by_shadow(double sign) {
  const double combined = tuning::combining * std::numeric_limits<S>::epsilon() * std::sqrt(static_cast<double>(n_));
  const bool mirrored = sign < 0;
  const auto in_order = [mirrored](Small<double> columns) -> Small<double> {
    return mirrored ? Small<double>(columns.rowwise().reverse()) : columns;
  };
  const Vector<double> theta = theta_.template cast<double>();
  return {.sign = sign,
          .theta = mirrored ? Vector<double>(-theta.reverse()) : theta,
          .T = in_order(T_),
          .times_vectors = [this, in_order](const Small<double>& M) -> Small<double> {
            return in_order(spectrum_.times_vectors(M.template cast<S>()).template cast<double>());
          },
          .vectors = [this, in_order]() -> Small<double> { return in_order(vectors().template cast<double>()); },
          .error = lost_ + largest_*(static_cast<double>(orthogonality_) + combined)};
}

template <class S>
double KrylovSpace<S>::frobenius(Index k) const {
  const Vector<double> theta = theta_.template cast<double>();
  return std::hypot(std::max(frobenius_, known_.in_units_of(total_exponent(), known_.frobenius)),
                    std::max(theta.head(k).norm(), theta.tail(k).norm()));
}

template <class S>
double KrylovSpace<S>::largest_rounding(Index k) const {
  return product_rounding<S>(A_.facts(), d_, frobenius(k), exponent_) + unavoidable_rounding(k);
}

template <class S>
double KrylovSpace<S>::unavoidable_rounding(Index k) const {
  constexpr double epsilon = std::numeric_limits<S>::epsilon();
  const double combined = tuning::combining * epsilon * std::sqrt(static_cast<double>(n_));  // of n columns into one
  return 0.5 * epsilon * frobenius(k) + lost_ + (static_cast<double>(orthogonality_) + combined) * largest_;
}

template class KrylovSpace<float>;
template class KrylovSpace<double>;

}  // namespace hearsay::detail
