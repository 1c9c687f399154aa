// Rows of integers: what private sums are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "hearsay/block.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::privacy {

constexpr Index rows_at_once = 1024;  // and fewer of many features
inline Index rows_of_a_block(const RowSource<double>& rows) {
  const Index most = std::clamp((Index{1} << 22) / std::max<Index>(rows.cols(), 1), Index{16}, rows_at_once);
  return std::clamp(rows.rows().value_or(most), Index{1}, most);
}
constexpr double shrink = 1 - 0x1p-40;  // of every bound, for the rounding of what is compared with it

// Memory that held rows, or sums of them, is zeroed before it is given back.
template <class Matrix>
class Wiped : public Matrix {
 public:
  using Matrix::Matrix;
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;
  ~Wiped() { wipe(*this); }

  static void wipe(Matrix& matrix) {
    if (matrix.size() == 0) return;  // a null pointer is not for explicit_bzero, not even with no bytes
    explicit_bzero(static_cast<void*>(matrix.data()), static_cast<std::size_t>(matrix.size()) * sizeof(*matrix.data()));
  }
};

// A row's entries, or those that are not zero, as integers of norm `radius` at most: what the noise is made for.
template <class Row>
void round_row(Row&& row, double bound, double unit, double radius) {
  const double largest = std::max(row.cwiseAbs().maxCoeff(), 0x1p-1000);
  row /= largest;
  const double norm = row.norm();
  row *= std::min(largest, bound * shrink / norm) / unit;  // the norm is 1 at least, or the row is zero
  row.array() = row.array().round();
  if (!(row.squaredNorm() <= radius * radius)) row.setZero();  // an exact sum; what was rounded is shorter
}

[[noreturn]] inline void refuse_entry() {
  throw DataError("data: an entry is not finite, and nothing more is said of it where data are private");
}

class IntegerRows {
 public:
  IntegerRows(RowSource<double>& source, const Vector<double>& center, double bound, double unit, std::int64_t radius)
      : source_(source),
        center_(center),
        bound_(bound),
        unit_(unit),
        radius_(static_cast<double>(radius)),
        rows_(rows_of_a_block(source), source.cols()) {
    source_.rewind();
  }

  /// Goes on to the next ones; false at the end.
  bool next() {
    count_ = source_.read(rows_);
    for (Index i = 0; i < count_; ++i) round(i);
    return count_ > 0;
  }
  auto rows() const { return rows_.topRows(count_); }

 private:
  void round(Index i) {
    auto row = rows_.row(i);
    if (!row.allFinite()) refuse_entry();
    row -= center_.transpose();
    round_row(row, bound_, unit_, radius_);
  }

  RowSource<double>& source_;
  const Vector<double>& center_;
  double bound_, unit_, radius_;
  Wiped<Block<double>> rows_;
  Index count_ = 0;
};

}  // namespace hearsay::privacy
