#include <algorithm>
#include <cmath>

#include "hearsay/linalg.hpp"
#include "linalg/small_spectrum.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

template <class S>
SmallEigen<S> symmetric_eigen(const Small<S>& H) {
  const detail::SmallSpectrum<S> spectrum(H);
  return {spectrum.values(), spectrum.vectors()};
}

template <class S>
S spectral_norm(ConstBlockView<S> X) {
  const S scale = frobenius_norm<S>(X);
  if (!(scale > 0) || !std::isfinite(scale)) return scale;
  const Block<S> unit = X / scale;
  const S largest = symmetric_eigen<S>(gram<S>(unit)).values(0);
  return scale * std::sqrt(std::max(largest, S(0)));
}

template <class S>
void canonical_signs(BlockView<S> X) {
  // Rows lie side by side: a chunk of them at a time, and the first of equals wins.
  constexpr Index chunk_rows = 1024;
  const Index d = X.rows(), p = X.cols(), chunks = (d + chunk_rows - 1) / chunk_rows;
  if (d == 0) return;
  Block<S> largest(chunks, p);
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(2.0 * double(X.size())))
  for (Index c = 0; c < chunks; ++c) {
    const Index first = c * chunk_rows, last = std::min(d, first + chunk_rows);
    largest.row(c) = X.row(first);
    for (Index i = first + 1; i < last; ++i)
      for (Index j = 0; j < p; ++j)
        if (std::abs(X(i, j)) > std::abs(largest(c, j))) largest(c, j) = X(i, j);
  }
  Eigen::Matrix<S, 1, Eigen::Dynamic> sign = largest.row(0);
  for (Index c = 1; c < chunks; ++c)
    for (Index j = 0; j < p; ++j)
      if (std::abs(largest(c, j)) > std::abs(sign(j))) sign(j) = largest(c, j);
  sign = sign.unaryExpr([](S value) { return value < 0 ? S(-1) : S(1); });
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(2.0 * double(X.size())))
  for (Index i = 0; i < d; ++i) X.row(i).array() *= sign.array();
}

template SmallEigen<float> symmetric_eigen<float>(const Small<float>&);
template SmallEigen<double> symmetric_eigen<double>(const Small<double>&);
template float spectral_norm<float>(ConstBlockView<float>);
template double spectral_norm<double>(ConstBlockView<double>);
template void canonical_signs<float>(BlockView<float>);
template void canonical_signs<double>(BlockView<double>);

}  // namespace hearsay
