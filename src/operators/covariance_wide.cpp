// A covariance of fewer rows than columns: sums over rows are short, and sums over columns long.
#include <algorithm>

#include "hearsay/operators/covariance.hpp"
#include "hearsay/threads.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

using detail::scratch;
using detail::ScratchUse;
using detail::worth_threads;

namespace {

// Numbers of a part that is packed and multiplied in turn, all rows of some columns: a megabyte, of the second cache.
constexpr Index numbers_of_part = Index{1} << 17;
constexpr Index least_columns = 64, most_columns = 4096;

Index columns_of_part(Index rows) { return std::clamp(numbers_of_part / rows, least_columns, most_columns); }

}  // namespace

// A part of the columns of all rows is turned into the packing of the multiply kernel, which reads both factors there.
// Strips of the result are independent of one another.
template <class S>
Block<double> DenseCovariance<S>::samples_matrix() const {
  const auto& kernel = kernels::table<double>();
  constexpr Index tile = kernels::tile_columns<double>();
  const Index m = data_.rows(), d = data_.cols(), part = std::min(d, columns_of_part(m));
  const Index tiles = (m + tile - 1) / tile;
  Block<double> G = Block<double>::Zero(m, m);
  Block<double> packed = Block<double>::Zero(tiles * tile, part);
  const int team = worth_threads(double(m) * double(d) * (double(m) / 2 + 2));
  for (Index first = 0; first < d; first += part) {
    const Index count = std::min(part, d - first);
#pragma omp parallel num_threads(team)
    {
#pragma omp for schedule(static)
      for (Index t = 0; t < tiles; ++t) {
        S* rows = scratch<S, ScratchUse::centred_rows>(tile * count);
        double* __restrict out = packed.data() + t * tile * count;
        const Index own = std::min(tile, m - t * tile);
        std::fill_n(rows + own * count, (tile - own) * count, S(0));
        for (Index i = 0; i < own; ++i)
          prepare_row(t * tile + i, row_root(t * tile + i), first, count, rows + i * count);
        for (Index j = 0; j < count; ++j)
          for (Index i = 0; i < tile; ++i) out[j * tile + i] = static_cast<double>(rows[i * count + j]);
      }
#pragma omp for schedule(dynamic, 1)
      for (Index t = 0; t < tiles; ++t) {
        const Index top = t * tile;
        const double* own = packed.data() + top * count;
        kernel.multiply(std::min(tile, m - top), count, m - top, own, 1, tile, own, count, G.data() + top * m + top, m,
                        true);
      }
    }
  }
  for (Index i = 0; i < m; ++i) {
    G.row(i).tail(m - i) /= divisor_;
    for (Index j = 0; j < i; ++j) G(i, j) = G(j, i);
  }
  return G;
}

// Rows of the result are independent: a strip of columns of all rows, times V.
template <class S>
void DenseCovariance<S>::to_wide_features(ConstBlockView<S> V, BlockView<S> out) const {
  const auto& kernel = kernels::table<S>();
  const Index m = data_.rows(), d = data_.cols(), p = V.cols();
  const Index width = std::min(d, std::clamp<Index>(numbers_of_part / (4 * m), 16, 256)),
              strips = (d + width - 1) / width;
  Block<S> V_packed(m, kernels::round_up(p, kernels::tile_columns<S>()));
  kernel.pack(m, p, V.data(), V.outerStride(), V_packed.data());
#pragma omp parallel for schedule(static) num_threads(worth_threads(double(m) * double(d) * double(p)))
  for (Index strip = 0; strip < strips; ++strip) {
    const Index first = strip * width, count = std::min(width, d - first);
    S* part = scratch<S, ScratchUse::centred_rows>(m * width);
    for (Index i = 0; i < m; ++i) prepare_row(i, row_root(i), first, count, part + i * count);
    kernel.multiply(count, m, p, part, 1, count, V_packed.data(), m, out.data() + first * out.outerStride(),
                    out.outerStride(), false);
  }
}

template Block<double> DenseCovariance<float>::samples_matrix() const;
template Block<double> DenseCovariance<double>::samples_matrix() const;
template void DenseCovariance<float>::to_wide_features(ConstBlockView<float>, BlockView<float>) const;
template void DenseCovariance<double>::to_wide_features(ConstBlockView<double>, BlockView<double>) const;

}  // namespace hearsay
