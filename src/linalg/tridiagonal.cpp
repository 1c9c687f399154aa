#include "linalg/tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"

namespace hearsay::detail {

namespace {

constexpr Index reflections_at_once = 32;

// Y <- -T Y or -T'Y, of count rows, in place.
template <class S>
void multiply_triangle(const Small<S>& T, bool transposed, Index width, S* Y) {
  const Index count = T.rows();
  for (Index step = 0; step < count; ++step) {
    const Index i = transposed ? count - 1 - step : step;
    S* __restrict row = Y + i * width;
    const S own = -T(i, i);
    for (Index c = 0; c < width; ++c) row[c] *= own;
    for (Index j = transposed ? 0 : i + 1; j < (transposed ? i : count); ++j) {
      const S* __restrict other = Y + j * width;
      const S factor = transposed ? T(j, i) : T(i, j);
      for (Index c = 0; c < width; ++c) row[c] -= factor * other[c];
    }
  }
}

}  // namespace

template <class S>
Index Tridiagonal<S>::strip_width() {
  return kernels::rotated_rows<S>();
}

template <class S>
Tridiagonal<S>::Tridiagonal(Block<S> A) : reflections_(std::move(A)) {
  const Index n = reflections_.rows();
  diagonal_.resize(n);
  off_diagonal_ = Vector<S>::Zero(std::max<Index>(1, n));
  tau_ = Vector<S>::Zero(n);
  reduce();
  find_factors();
}

// Row j, from j + 1 on, becomes v_j; returns the entry off the diagonal that is left of it.
template <class S>
S Tridiagonal<S>::reflection(Index j) {
  const Index n = reflections_.rows();
  auto x = reflections_.row(j).tail(n - j - 1);
  const S alpha = x(0), rest = x.tail(x.size() - 1).squaredNorm();
  tau_(j) = 0;
  if (!(rest > std::numeric_limits<S>::min())) {
    x.setZero();
    x(0) = 1;
    return alpha;
  }
  const S norm = std::sqrt(alpha * alpha + rest), beta = alpha > 0 ? -norm : norm;
  tau_(j) = (beta - alpha) / beta;
  x /= alpha - beta;
  x(0) = 1;
  return beta;
}

// v and w are those of the reflection before, whose update A - v w' - w v' is still to be made of what is left.
template <class S>
void Tridiagonal<S>::reduce() {
  const auto& kernel = kernels::table<S>();
  const Index n = reflections_.rows();
  Vector<S> v = Vector<S>::Zero(n), w = Vector<S>::Zero(n), p(n);
  for (Index j = 0; j < n; ++j) {
    const Index left = n - j - 1;
    auto row = reflections_.row(j).tail(n - j);
    row -= v(j) * w.tail(n - j).transpose() + w(j) * v.tail(n - j).transpose();
    diagonal_(j) = row(0);
    if (left == 0) break;
    if (left == 1) {
      off_diagonal_(j) = row(1);
      row(1) = 1;
      continue;
    }
    off_diagonal_(j) = reflection(j);
    const S* next = reflections_.row(j).data() + j + 1;
    kernel.update_and_multiply(left, reflections_.row(j + 1).data() + j + 1, n, v.data() + j + 1, w.data() + j + 1,
                               next, p.data() + j + 1);
    v.tail(left) = reflections_.row(j).tail(left).transpose();
    const S along = tau_(j) * p.tail(left).dot(v.tail(left)) / 2;
    w.tail(left) = tau_(j) * (p.tail(left) - along * v.tail(left));
  }
}

template <class S>
void Tridiagonal<S>::find_factors() {
  const Index n = reflections_.rows();
  for (Index j = 0; j < n; ++j) reflections_.row(j).head(j + 1).setZero();
  const auto& kernel = kernels::table<S>();
  for (Index first = 0; first + 2 < n; first += reflections_at_once) {
    const Index count = std::min(reflections_at_once, n - 2 - first), width = n - first - 1;
    const S* V = reflections_.row(first).data() + first + 1;
    Block<S> products(count, count);  // of the v, one with another
    for (Index c = 0; c < count; c += kernel.narrow_columns)
      kernel.multiply_narrow(count, width, std::min<Index>(kernel.narrow_columns, count - c), V, n, V + c * n, n,
                             products.data() + c, count, false);
    Small<S> T = Small<S>::Zero(count, count);
    for (Index i = 0; i < count; ++i) {
      const S tau = tau_(first + i);
      const Vector<S> along = T.topLeftCorner(i, i) * products.col(i).head(i);
      T.col(i).head(i) = -tau * along;
      T(i, i) = tau;
    }
    factors_.push_back(std::move(T));
  }
}

template <class S>
void Tridiagonal<S>::reflect(S* strip, bool transposed) const {
  const auto& kernel = kernels::table<S>();
  const Index n = reflections_.rows(), width = strip_width(), blocks = static_cast<Index>(factors_.size());
  S* packed = scratch<S, ScratchUse::packed>((n + 2 * reflections_at_once) * width);
  S *packed_small = packed + n * width, *Y = packed_small + reflections_at_once * width;
  for (Index i = 0; i < blocks; ++i) {
    const Index block = transposed ? i : blocks - 1 - i, first = block * reflections_at_once;
    const Small<S>& T = factors_[static_cast<std::size_t>(block)];
    const Index count = T.rows(), rows = n - first - 1;
    const S* V = reflections_.row(first).data() + first + 1;
    S* X = strip + (first + 1) * width;
    kernel.pack(rows, width, X, width, packed);
    kernel.multiply(count, rows, width, V, n, 1, packed, rows, Y, width, false);  // V'X
    multiply_triangle<S>(T, transposed, width, Y);
    kernel.pack(count, width, Y, width, packed_small);
    kernel.multiply(rows, count, width, V, 1, n, packed_small, count, X, width, true);
  }
}

template class Tridiagonal<float>;
template class Tridiagonal<double>;

}  // namespace hearsay::detail
