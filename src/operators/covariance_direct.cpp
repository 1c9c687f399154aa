// The rows are summed about a provisional mean s, that of a few of them, and with delta = mean - s
//   (Phi - 1 mu')'(Phi - 1 mu') = G - m delta delta'.
// That takes no more digits than the sum itself where delta is small beside the deviations. Where one is not, as in a
// column that differs from what the few rows show, the rows are summed again about the mean, which is then known.
//
// Rows that pass by are read once. Their few rows are the first n, and since these are among the m, no more than the
// part 1 - n/m of a sum is subtracted: two digits of 10,000 rows, four of a million. They count as rounding.
#include "operators/covariance_direct.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "operators/lane_sums.hpp"
#include "operators/row_pass.hpp"

namespace hearsay::detail {

namespace {

// Of a column's sum of squares, the most that may be subtracted.
constexpr double most_subtracted = 0.5;
// Sums of squares between these are those of ordinary numbers.
constexpr double least_square = 1e-250, largest_square = 1e250;

// Of rows from everywhere; about the first one, so that a constant column is shifted to zero.
template <class S>
Vector<double> spread_mean(const BorrowedBlock<S>& data) {
  const Index m = data.rows(), count = std::min(m, rows_for_provisional_mean);
  const Vector<double> first = data.row(0).transpose().template cast<double>();
  Vector<double> sum = Vector<double>::Zero(data.cols());
  for (Index i = 1; i < count; ++i) sum += data.row(i * m / count).transpose().template cast<double>() - first;
  return first + sum / static_cast<double>(count);
}

bool is_near(const GramSum& sum, const Vector<double>& offset) {
  const auto rows = static_cast<double>(sum.rows());
  return (rows * offset.array().square() <= most_subtracted * sum.upper().diagonal().array()).all();
}

}  // namespace

// Squares that are all zero are those of constant columns, unless something was summed.
bool is_ordinary(const GramSum& sum) {
  const double largest = sum.upper().diagonal().maxCoeff();
  if (!sum.upper().diagonal().allFinite()) return false;
  return largest == 0 ? sum.sums().isZero(0) : largest > least_square && largest < largest_square;
}

// What a sum of so many products rounds is below the terms times the root of both squares; over all entries of the
// matrix that is the trace, weighted with the terms.
FormedCovariance covariance_of(GramSum sum, Vector<double> shift, bool center, const Vector<double>& terms) {
  const auto rows = static_cast<double>(sum.rows());
  const Vector<double> offset = sum.sums() / rows;
  FormedCovariance formed{
      .mean = std::move(shift), .divisor = center ? std::max(1.0, rows - 1) : rows, .samples = sum.rows()};
  formed.rounding = 0.5 * std::numeric_limits<double>::epsilon() *
                    ((terms.array() + 4) * sum.upper().diagonal().array()).sum() / formed.divisor;
  formed.matrix = std::move(sum).take_upper();
  const Index d = formed.matrix.cols();
  for (Index i = 0; i < d; ++i) {
    auto row = formed.matrix.row(i).tail(d - i);
    if (center) row -= (rows * offset(i)) * offset.tail(d - i).transpose();
    row /= formed.divisor;
  }
  if (center) formed.mean += offset;
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < i; ++j) formed.matrix(i, j) = formed.matrix(j, i);
  return formed;
}

template <class S>
std::optional<FormedCovariance> form_covariance(const BorrowedBlock<S>& data, bool center) {
  const Index m = data.rows(), d = data.cols();
  Vector<double> shift = center ? spread_mean<S>(data) : Vector<double>(Vector<double>::Zero(d));
  GramSum sum = gram_of<S>(data, shift.data());
  const Vector<double> offset = sum.sums() / static_cast<double>(m);
  Index passes = 1;
  if (center && offset.allFinite() && !is_near(sum, offset)) {
    shift += offset;
    sum = gram_of<S>(data, shift.data());
    ++passes;
  }
  if (!is_ordinary(sum) || sum.upper().diagonal().maxCoeff() == 0) return std::nullopt;
  FormedCovariance formed = covariance_of(std::move(sum), std::move(shift), center,
                                          Vector<double>::Constant(d, static_cast<double>(gram_terms(m, d))));
  formed.passes = passes;
  return formed;
}

template <class S>
FormedCovariance form_covariance(RowSource<S>& source, bool center, const ReadingOptions& reading) {
  return covariance_of_lanes(sum_lanes<S>(source, center, reading), leaves_of_sums(source.cols()), center,
                             source.name());
}
FormedCovariance form_covariance(SparseRowSource& source, bool center, const ReadingOptions& reading) {
  return covariance_of_lanes(sum_lanes(source, center, reading), leaves_of_sparse_sums(source.cols()), center,
                             source.name());
}

std::uint64_t bytes_to_form_covariance(Index columns, Index stored_bytes) {
  const Leaves leaves = leaves_of_sums(columns);
  const auto d = static_cast<std::uint64_t>(columns);
  const auto buffered = static_cast<std::uint64_t>(buffered_rows(0, leaves, columns * stored_bytes, std::nullopt));
  const std::uint64_t buffers = ReadAhead<double>::buffers * buffered * d * static_cast<std::uint64_t>(stored_bytes);
  const std::uint64_t packed = 2 * static_cast<std::uint64_t>(gram_rows) * d * sizeof(double);
  return buffers + packed + static_cast<std::uint64_t>(leaves.lanes) * d * d * sizeof(double);
}

template FormedCovariance form_covariance<float>(RowSource<float>&, bool, const ReadingOptions&);
template FormedCovariance form_covariance<double>(RowSource<double>&, bool, const ReadingOptions&);
template std::optional<FormedCovariance> form_covariance<float>(const BorrowedBlock<float>&, bool);
template std::optional<FormedCovariance> form_covariance<double>(const BorrowedBlock<double>&, bool);

}  // namespace hearsay::detail
