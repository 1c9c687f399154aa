// The rows are summed about a provisional mean s, that of a few of them, and with delta = mean - s
//   (Phi - 1 mu')'(Phi - 1 mu') = G - m delta delta'.
// That takes no more digits than the sum itself where delta is small beside the deviations. Where one is not, as in a
// column that differs from what the few rows show, the rows are summed again about the mean, which is then known.
//
// Rows that pass by are read once. Their few rows are the first n, and since these are among the m, no more than the
// part 1 - n/m of a sum is subtracted: two digits of 10,000 rows, four of a million. They count as rounding.
#include "operators/covariance_direct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "hearsay/error.hpp"
#include "linalg/gram_sum.hpp"
#include "operators/row_pass.hpp"

namespace hearsay::detail {

namespace {

constexpr Index rows_for_provisional_mean = 64;
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

// Squares that are all zero are those of constant columns, unless something was summed.
bool is_ordinary(const GramSum& sum) {
  const double largest = sum.upper().diagonal().maxCoeff();
  if (!sum.upper().diagonal().allFinite()) return false;
  return largest == 0 ? sum.sums().isZero(0) : largest > least_square && largest < largest_square;
}

// The matrix of sums about `shift`, of at most `terms` terms one after the other.
FormedCovariance covariance_of(GramSum sum, Vector<double> shift, bool center, Index terms) {
  const auto rows = static_cast<double>(sum.rows());
  const Vector<double> offset = sum.sums() / rows;
  FormedCovariance formed{
      .mean = std::move(shift), .divisor = center ? std::max(1.0, rows - 1) : rows, .samples = sum.rows()};
  formed.rounding = 0.5 * std::numeric_limits<double>::epsilon() * static_cast<double>(terms + 4) *
                    sum.upper().trace() / formed.divisor;
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

// ---- Rows that pass by

// Sums of whole matrices: eight of them up to 700 columns, four up to 4,000, by which time they are half a gigabyte.
Leaves leaves_of_sums(Index d) { return {.rows = gram_rows, .lanes = d <= 700 ? 8 : d <= 4000 ? 4 : 2}; }

Index terms_of_pass(Index rows, const Leaves& leaves) {
  const Index blocks = (rows + leaves.rows - 1) / leaves.rows;
  return std::min(rows, leaves.rows) + (blocks + leaves.lanes - 1) / leaves.lanes + leaves.lanes;
}

template <class S>
GramSum sum_of_pass(ReadAhead<S>& rows, const Leaves& leaves, const std::function<void(Index)>& after,
                    Vector<double>& shift, bool find_shift) {
  const Index d = shift.size();
  std::vector<GramSum> lanes(static_cast<std::size_t>(leaves.lanes), GramSum(d));
  visit_leaves<S>(
      rows, leaves,
      [&](const BorrowedBlock<S>& first) {
        if (find_shift) shift = provisional_mean<S>(first, rows_for_provisional_mean);
      },
      [&](Index lane, const BorrowedBlock<S>& leaf) {
        lanes[static_cast<std::size_t>(lane)].template add<S>(leaf, shift.data());
      },
      after);
  GramSum sum = std::move(lanes.front());
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) {
    sum.add(lanes[lane]);
    lanes[lane] = GramSum(0);
  }
  return sum;
}

}  // namespace

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
  FormedCovariance formed = covariance_of(std::move(sum), std::move(shift), center, gram_terms(m, d));
  formed.passes = passes;
  return formed;
}

template <class S>
FormedCovariance form_covariance(RowSource<S>& source, bool center, const ReadingOptions& reading) {
  const Index d = source.cols();
  const Leaves leaves = leaves_of_sums(d);
  ReadAhead<S> rows(source,
                    buffered_rows(reading.rows_at_once, leaves, d * static_cast<Index>(sizeof(S)), source.rows()));
  Vector<double> shift = Vector<double>::Zero(d);
  GramSum sum = sum_of_pass<S>(
      rows, leaves,
      [&](Index count) {
        if (reading.watch) reading.watch({.pass = 1, .rows = count});
      },
      shift, center);
  const Index samples = sum.rows();
  if (samples == 0) throw DataError(fmt::format("{}: has no rows", source.name()));
  if (!is_ordinary(sum))
    throw DataError(fmt::format(
        "{}: an entry is not finite, or entries are so large or so small that their squares are no numbers; scale them",
        source.name()));
  return covariance_of(std::move(sum), std::move(shift), center, terms_of_pass(samples, leaves));
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
