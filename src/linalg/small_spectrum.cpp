#include "linalg/small_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay::detail {

template <class S>
SmallSpectrum<S>::SmallSpectrum(const Small<S>& H) {
  const Index n = H.rows();
  Small<S> symmetric = (H + H.transpose()) / S(2);
  const S scale = symmetric.cwiseAbs().maxCoeff();  // squares of what is left neither overflow nor vanish
  if (scale > 0) symmetric /= scale;
  tridiagonal_ = Tridiagonal<S>(Block<S>(symmetric));
  Vector<S> diagonal = tridiagonal_.diagonal(), off_diagonal = tridiagonal_.off_diagonal();
  diagonalise(diagonal, off_diagonal);

  order_.resize(static_cast<std::size_t>(n));
  std::iota(order_.begin(), order_.end(), Index{0});
  std::stable_sort(order_.begin(), order_.end(), [&](Index i, Index j) { return diagonal(i) > diagonal(j); });
  values_.resize(n);
  for (Index i = 0; i < n; ++i) values_(i) = scale > 0 ? scale * diagonal(order_[static_cast<std::size_t>(i)]) : S(0);
}

// From the bottom up: what has come apart is left alone, the lowest part that has not gets a QR step.
template <class S>
void SmallSpectrum<S>::diagonalise(Vector<S>& diagonal, Vector<S>& off_diagonal) {
  constexpr S epsilon = std::numeric_limits<S>::epsilon(), least = epsilon * epsilon;  // of the largest entry, 1
  const Index n = diagonal.size();
  const auto negligible = [&](Index i) {
    return std::abs(off_diagonal(i)) <= epsilon * (std::abs(diagonal(i)) + std::abs(diagonal(i + 1))) + least;
  };
  Index last = n - 1;
  for (Index steps = 0; last > 0 && steps < 30 * n; ++steps) {
    while (last > 0 && negligible(last - 1)) off_diagonal(--last) = 0;
    if (last == 0) break;
    Index first = last - 1;
    while (first > 0 && !negligible(first - 1)) --first;
    qr_step(first, last, diagonal, off_diagonal);
  }
}

// One implicit QR step with Wilkinson's shift (Golub and Van Loan, section 8.3).
template <class S>
void SmallSpectrum<S>::qr_step(Index first, Index last, Vector<S>& diagonal, Vector<S>& off_diagonal) {
  const S half = (diagonal(last - 1) - diagonal(last)) / 2, e = off_diagonal(last - 1);
  const S root = std::hypot(half, e);
  const S shift = diagonal(last) - e * (e / (half + (half < 0 ? -root : root)));
  chains_.push_back(first);
  chains_.push_back(last - first);
  S x = diagonal(first) - shift, z = off_diagonal(first);  // z is to be rotated into x
  for (Index k = first; k < last; ++k) {
    const S r = std::sqrt(x * x + z * z), c = r > 0 ? x / r : S(1), s = r > 0 ? z / r : S(0);
    const S a = diagonal(k), b = off_diagonal(k), g = diagonal(k + 1);
    const S slope = c * s * (g - a), across = 2 * c * s * b;
    diagonal(k) = c * c * a + across + s * s * g;
    diagonal(k + 1) = s * s * a - across + c * c * g;
    off_diagonal(k) = slope + (c * c - s * s) * b;
    if (k > first) off_diagonal(k - 1) = r;
    if (k + 1 < last) {
      x = off_diagonal(k);
      z = s * off_diagonal(k + 1);
      off_diagonal(k + 1) *= c;
    }
    rotations_.push_back(c);
    rotations_.push_back(s);
  }
}

// A rotation of a strip is a few instructions a vector; reflections are multiply-adds.
template <class S>
int SmallSpectrum<S>::threads_for(Index lanes) const {
  const auto n = static_cast<double>(values_.size());
  const double each = 0.2 * static_cast<double>(rotations_.size()) + 2 * n * n;
  return worth_threads(each * static_cast<double>(lanes));
}

template <class S>
Small<S> SmallSpectrum<S>::vectors(Index first, Index count) const {
  const auto& kernel = kernels::table<S>();
  const Index n = values_.size(), width = Tridiagonal<S>::strip_width(), strips = (count + width - 1) / width;
  Small<S> out(n, count);
  const auto chains = static_cast<Index>(chains_.size()) / 2;
#pragma omp parallel for schedule(static) num_threads(threads_for(count))
  for (Index i = 0; i < strips; ++i) {
    const Index at = i * width, columns = std::min(width, count - at);
    S* strip = scratch<S, ScratchUse::products>(n * width);
    std::fill_n(strip, n * width, S(0));
    for (Index c = 0; c < columns; ++c) strip[order_[static_cast<std::size_t>(first + at + c)] * width + c] = 1;
    kernel.rotate_back(chains, chains_.data(), rotations_.data() + rotations_.size(), strip);
    tridiagonal_.apply(strip);
    out.middleCols(at, columns) = Eigen::Map<const Block<S>>(strip, n, width).leftCols(columns);
  }
  return out;
}

template <class S>
Small<S> SmallSpectrum<S>::last_rows(Index count) const {
  const Index n = values_.size();
  Small<S> rows = Small<S>::Zero(count, n);
  rows.rightCols(count).setIdentity();
  return times_vectors(rows);
}

template <class S>
Small<S> SmallSpectrum<S>::times_vectors(const Small<S>& M) const {
  const auto& kernel = kernels::table<S>();
  const Index m = M.rows(), n = M.cols(), width = Tridiagonal<S>::strip_width(), strips = (m + width - 1) / width;
  const auto chains = static_cast<Index>(chains_.size()) / 2;
  Small<S> out(m, n);
#pragma omp parallel for schedule(static) num_threads(threads_for(m))
  for (Index i = 0; i < strips; ++i) {
    const Index first = i * width, count = std::min(width, m - first);
    S* strip = scratch<S, ScratchUse::products>(n * width);
    Eigen::Map<Block<S>> rows(strip, n, width);
    rows.setZero();
    rows.leftCols(count) = M.middleRows(first, count).transpose();
    tridiagonal_.apply_transposed(strip);
    kernel.rotate(chains, chains_.data(), rotations_.data(), strip);
    for (Index j = 0; j < n; ++j)
      out.col(j).segment(first, count) = rows.row(order_[static_cast<std::size_t>(j)]).head(count).transpose();
  }
  return out;
}

template class SmallSpectrum<float>;
template class SmallSpectrum<double>;

}  // namespace hearsay::detail
