#include "solver/outside.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "hearsay/random.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/row_chunks.hpp"

namespace hearsay::detail {

namespace {

// Of a product's size: what is left of a column and is smaller is rounding.
constexpr double rounding_of_product = 20;

constexpr int most_passes_outside = 6;

template <class S>
Index columns_of(const std::vector<ConstBlockView<S>>& blocks) {
  Index columns = 0;
  for (const auto& block : blocks) columns += block.cols();
  return columns;
}

template <class S>
S largest_cosine(const Small<S>& along) {
  return along.size() == 0 ? S(0) : along.colwise().norm().maxCoeff();
}

}  // namespace

template <class S>
void Outside<S>::subtract(ConstBlockView<S> P, const Small<S>& h, Block<S>& Y) {
  if (P.cols() == 0) return;
  part_.resize(d_, Y.cols());
  by_row_chunks(d_, P.cols() * Y.cols(), [&](Index top, Index rows) {
    multiply<S>(P.middleRows(top, rows), h, part_.middleRows(top, rows));
    Y.middleRows(top, rows) -= part_.middleRows(top, rows);
  });
}

template <class S>
Small<S> Outside<S>::along(const There& there, ConstBlockView<S> Y) const {
  Small<S> h(columns_of<S>(there), Y.cols());
  Index first = 0;
  for (const auto& P : there) {
    if (P.cols() > 0) h.middleRows(first, P.cols()) = gram<S>(P, Y);
    first += P.cols();
  }
  return h;
}

template <class S>
void Outside<S>::subtract_all(const There& there, const Small<S>& h, Block<S>& Y) {
  Index first = 0;
  for (const auto& P : there) {
    subtract(P, h.middleRows(first, P.cols()), Y);
    first += P.cols();
  }
}

// What three terms leave along P is rounding. It is taken out where it has grown, which is far below where it would
// show in what is asked for, and out of the next block too, because the one before still has its share.
template <class S>
double Outside<S>::take(const There& there, Block<S>& Y, Small<S>& B, double size) {
  const Index columns = Y.cols();
  const double least = rounding_of_product * std::numeric_limits<S>::epsilon() * size;
  const bool deficient = thin_qr<S>(Y, B).rank_deficient;
  const Vector<S> sizes = B.diagonal().cwiseAbs();
  const bool second = std::exchange(cleaned_, false);
  double lost = 0;
  if (!deficient &&
      static_cast<double>(sizes.minCoeff()) > std::max(least, 1e-6 * static_cast<double>(sizes.maxCoeff()))) {
    const Small<S> h = along(there, Y);
    if (!second && !(largest_cosine(h) > cosine_)) return 0;
    cleaned_ = !second;
    lost = static_cast<double>((h * B).norm());
    Small<S> R;
    subtract_all(there, h, Y);
    thin_qr<S>(Y, R);
    B = (R * B).eval();
    if (R.diagonal().minCoeff() > S(0.5)) return lost;
  }
  cleaned_ = false;
  lost = std::hypot(lost, keep_what_lasts(there, Y, B, least));
  if (Y.cols() < columns) fill_up(there, Y, B, columns);
  return lost;
}

// Y orthonormal <- its turned columns that are still there when they are orthogonal to P.
template <class S>
double Outside<S>::keep_what_lasts(const There& there, Block<S>& Y, Small<S>& B, double least) {
  double lost = 0;
  for (int pass = 0;; ++pass) {
    const auto [turn, pivoted] = pivoted_qr<S>(B);
    Index lasts = 0;
    while (lasts < Y.cols() && static_cast<double>(std::abs(pivoted(lasts, lasts))) > least) ++lasts;
    const Small<S> turned = turn.transpose() * B;
    lost = std::hypot(lost, static_cast<double>(turned.bottomRows(Y.cols() - lasts).norm()));
    Block<S> kept(d_, lasts);
    if (lasts > 0) multiply<S>(Y, Small<S>(turn.leftCols(lasts)), kept);
    Y.swap(kept);
    B = turned.topRows(lasts);
    if (lasts == 0) return lost;
    const Small<S> h = along(there, Y);
    if (!(largest_cosine(h) > cosine_)) return lost;
    if (pass == most_passes_outside) break;
    if (pass == 0) lost = std::hypot(lost, static_cast<double>((h * B).norm()));
    Small<S> R;
    subtract_all(there, h, Y);
    thin_qr<S>(Y, R);
    B = (R * B).eval();
  }
  lost = std::hypot(lost, static_cast<double>(B.norm()));  // nothing of it can be told from P
  Y.resize(d_, 0);
  B.resize(0, B.cols());
  return lost;
}

template <class S>
void Outside<S>::fill_up(const There& there, Block<S>& Y, Small<S>& B, Index columns) {
  const Index kept = Y.cols();
  Block<S> all(d_, columns);
  all.leftCols(kept) = Y;
  There with_kept = there;
  with_kept.push_back(Y);
  all.rightCols(columns - kept) = draw(with_kept, columns - kept).Q;
  Y.swap(all);
  Small<S> padded = Small<S>::Zero(columns, B.cols());
  padded.topRows(kept) = B;
  B.swap(padded);
}

template <class S>
typename Outside<S>::Drawn Outside<S>::draw(const There& there, Index columns) {
  Drawn drawn{.Q = Block<S>(d_, columns),
              .along = Small<S>::Zero(columns_of<S>(there), columns),
              .R = Small<S>::Identity(columns, columns)};
  fill_normal<S>({.seed = seed_, .stream = Stream::replacement, .iteration = draws_++}, drawn.Q);
  for (int pass = 0; pass < most_passes_outside; ++pass) {
    const Small<S> h = along(there, drawn.Q);
    if (pass > 1 && !(largest_cosine(h) > cosine_)) break;
    drawn.along += h * drawn.R;
    subtract_all(there, h, drawn.Q);
    Small<S> R;
    thin_qr<S>(drawn.Q, R);
    drawn.R = (R * drawn.R).eval();
  }
  return drawn;
}

template class Outside<float>;
template class Outside<double>;

}  // namespace hearsay::detail
