#include "linalg/gram_sum.hpp"

#include <algorithm>
#include <vector>

#include "hearsay/threads.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay::detail {

namespace {

// Sums of whole matrices: 32 MiB of them at most, and each of enough blocks to be worth the last addition.
Index lanes_of(Index rows, Index columns) {
  const Index blocks = (rows + gram_rows - 1) / gram_rows;
  const Index most = std::max<Index>(4, (Index{32} << 20) / (static_cast<Index>(sizeof(double)) * columns * columns));
  return std::max<Index>(1, std::min(blocks, std::clamp<Index>(blocks / 16, 4, most)));
}

}  // namespace

template <class S>
void GramSum::add(const BorrowedBlock<S>& rows, const double* shift) {
  constexpr Index tile = kernels::tile_columns<double>();
  const auto& kernel = kernels::table<double>();
  const Index d = G_.cols(), stride = rows.outerStride();
  double* packed = scratch<double, ScratchUse::packed>(gram_rows * kernels::round_up(d, tile));
  for (Index first = 0; first < rows.rows(); first += gram_rows) {
    const Index count = std::min(gram_rows, rows.rows() - first);
    kernels::table<S>().pack_shifted(count, d, rows.data() + first * stride, stride, shift, packed, sums_.data());
    for (Index top = 0; top < d; top += tile)
      kernel.multiply(std::min(tile, d - top), count, d - top, packed + top * count, 1, tile, packed + top * count,
                      count, G_.data() + top * d + top, d, true);
  }
  rows_ += rows.rows();
}

void GramSum::add(const GramSum& other) {
  G_ += other.G_;
  sums_ += other.sums_;
  rows_ += other.rows_;
}

template <class S>
GramSum gram_of(const BorrowedBlock<S>& rows, const double* shift) {
  const Index m = rows.rows(), d = rows.cols(), lanes = lanes_of(m, d);
  const Index blocks = (m + gram_rows - 1) / gram_rows;
  std::vector<GramSum> partial(static_cast<std::size_t>(lanes), GramSum(d));
#pragma omp parallel for schedule(static, 1) num_threads(worth_threads(double(m) * double(d) * (double(d) / 2 + 2)))
  for (Index lane = 0; lane < lanes; ++lane) {
    const Index first = std::min(m, lane * blocks / lanes * gram_rows),
                last = std::min(m, (lane + 1) * blocks / lanes * gram_rows);
    const BorrowedBlock<S> own(rows.data() + first * rows.outerStride(), last - first, d,
                               Eigen::OuterStride<>(rows.outerStride()));
    partial[static_cast<std::size_t>(lane)].template add<S>(own, shift);
  }
  for (std::size_t lane = 1; lane < partial.size(); ++lane) partial.front().add(partial[lane]);
  return std::move(partial.front());
}

Index gram_terms(Index rows, Index columns) {
  const Index lanes = lanes_of(rows, columns), blocks = (rows + gram_rows - 1) / gram_rows;
  return std::min(rows, gram_rows) + (blocks + lanes - 1) / lanes + lanes;
}

template void GramSum::add<float>(const BorrowedBlock<float>&, const double*);
template void GramSum::add<double>(const BorrowedBlock<double>&, const double*);
template GramSum gram_of<float>(const BorrowedBlock<float>&, const double*);
template GramSum gram_of<double>(const BorrowedBlock<double>&, const double*);

}  // namespace hearsay::detail
