// Rows in memory, as if they passed by.
#pragma once

#include <algorithm>

#include "hearsay/csr.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay::detail {

class DenseRows final : public RowSource<double> {
 public:
  explicit DenseRows(const BorrowedBlock<double>& data) : data_(data) {}
  Index cols() const override { return data_.cols(); }
  std::optional<Index> rows() const override { return data_.rows(); }
  void rewind() override { next_ = 0; }
  Index read(BlockView<double> out) override {
    const Index count = std::min(out.rows(), data_.rows() - next_);
    out.topRows(count) = data_.middleRows(next_, count);
    next_ += count;
    return count;
  }

 private:
  const BorrowedBlock<double> data_;
  Index next_ = 0;
};

class SparseRows final : public RowSource<double> {
 public:
  explicit SparseRows(const CsrView<double>& data) : data_(data) {}
  Index cols() const override { return data_.cols; }
  std::optional<Index> rows() const override { return data_.rows; }
  void rewind() override { next_ = 0; }
  Index read(BlockView<double> out) override {
    const Index count = std::min(out.rows(), data_.rows - next_);
    out.topRows(count).setZero();
    for (Index i = 0; i < count; ++i, ++next_)
      for (auto e = data_.row_start[next_]; e < data_.row_start[next_ + 1]; ++e)
        out(i, data_.columns[static_cast<std::size_t>(e)]) += data_.values[static_cast<std::size_t>(e)];
    return count;
  }

 private:
  const CsrView<double> data_;
  Index next_ = 0;
};

}  // namespace hearsay::detail
