#include "files/rectangular_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "files/convert.hpp"
#include "files/inputs.hpp"

namespace hearsay::app {

namespace {

constexpr int plain_exponent = 200;  // squares of 2^200 are no trouble

void bring_into_range(std::span<double> values, int& exponent) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  if (largest == 0 || !std::isfinite(largest) || std::abs(std::ilogb(largest)) < plain_exponent) return;
  exponent = std::ilogb(largest);
  for (double& value : values) value = std::ldexp(value, -exponent);
}

}  // namespace

RectangularMatrix::RectangularMatrix(const Job& job, int exponent) : told_in_(exponent) {
  const io::Data data = load_samples(job);
  std::visit([this](const auto& matrix) { matrix_ = in<double>(matrix); }, data.matrix);
  if (auto* dense = std::get_if<Block<double>>(&matrix_))
    bring_into_range({dense->data(), static_cast<std::size_t>(dense->size())}, held_in_);
  else
    bring_into_range(std::get<CsrMatrix<double>>(matrix_).values, held_in_);
}

double RectangularMatrix::in_own_unit(double told) const { return std::ldexp(told, told_in_ - held_in_); }

Index RectangularMatrix::rows() const {
  if (const auto* dense = std::get_if<Block<double>>(&matrix_)) return dense->rows();
  return std::get<CsrMatrix<double>>(matrix_).rows;
}

Index RectangularMatrix::columns() const {
  return std::visit([](const auto& matrix) { return columns_of(matrix); }, matrix_);
}

Block<double> RectangularMatrix::product(const Block<double>& X, bool forward) const {
  if (const auto* dense = std::get_if<Block<double>>(&matrix_))
    return forward ? Block<double>(*dense * X) : Block<double>(dense->transpose() * X);
  const auto& sparse = std::get<CsrMatrix<double>>(matrix_);
  Block<double> out = Block<double>::Zero(forward ? sparse.rows : sparse.cols, X.cols());
  for (Index i = 0; i < sparse.rows; ++i)
    for (auto e = sparse.row_start[static_cast<std::size_t>(i)]; e < sparse.row_start[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index j = sparse.columns[static_cast<std::size_t>(e)];
      const double value = sparse.values[static_cast<std::size_t>(e)];
      if (forward)
        out.row(i) += value * X.row(j);
      else
        out.row(j) += value * X.row(i);
    }
  return out;
}

Small<double> RectangularMatrix::normal() const {
  const bool by_rows = rows() < columns();
  const Index small = std::min(rows(), columns());
  return product(product(Block<double>::Identity(small, small), !by_rows), by_rows);
}

}  // namespace hearsay::app
