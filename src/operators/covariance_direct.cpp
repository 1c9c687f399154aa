// The rows are summed about a provisional mean s, that of a few of them, and with delta = mean - s
//   (Phi - 1 mu')'(Phi - 1 mu') = G - m delta delta'.
// That takes no more digits than the sum itself where delta is small beside the deviations. Where one is not, as in a
// column that differs from what the few rows show, the rows are summed again about the mean, which is then known.
#include "operators/covariance_direct.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/gram_sum.hpp"

namespace hearsay::detail {

namespace {

constexpr Index rows_for_provisional_mean = 64;
// Of a column's sum of squares, the most that may be subtracted.
constexpr double most_subtracted = 0.5;
// Sums of squares between these are those of ordinary numbers.
constexpr double least_square = 1e-250, largest_square = 1e250;

// About the first row, so that a constant column is shifted to zero.
template <class S>
Vector<double> provisional_mean(const BorrowedBlock<S>& data) {
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

template <class S>
std::optional<FormedCovariance> form_covariance(const BorrowedBlock<S>& data, bool center) {
  const Index m = data.rows(), d = data.cols();
  FormedCovariance formed{.mean = center ? provisional_mean<S>(data) : Vector<double>(Vector<double>::Zero(d))};
  GramSum sum = gram_of<S>(data, formed.mean.data());
  const auto rows = static_cast<double>(m);
  Vector<double> offset = sum.sums() / rows;
  if (center && offset.allFinite() && !is_near(sum, offset)) {
    formed.mean += offset;
    sum = gram_of<S>(data, formed.mean.data());
    offset = sum.sums() / rows;
    ++formed.passes;
  }
  const double largest = sum.upper().diagonal().maxCoeff();
  if (!sum.upper().diagonal().allFinite() || !(largest > least_square && largest < largest_square)) return std::nullopt;
  formed.divisor = center ? std::max(1.0, rows - 1) : rows;
  formed.rounding = 0.5 * std::numeric_limits<double>::epsilon() * static_cast<double>(gram_terms(m, d) + 4) *
                    sum.upper().trace() / formed.divisor;
  formed.matrix = sum.upper();
  if (center) {
    formed.matrix.triangularView<Eigen::Upper>() -= (rows * offset) * offset.transpose();
    formed.mean += offset;
  }
  formed.matrix /= formed.divisor;
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < i; ++j) formed.matrix(i, j) = formed.matrix(j, i);
  return formed;
}

template std::optional<FormedCovariance> form_covariance<float>(const BorrowedBlock<float>&, bool);
template std::optional<FormedCovariance> form_covariance<double>(const BorrowedBlock<double>&, bool);

}  // namespace hearsay::detail
