#pragma once

#include <hearsay/row_source.hpp>

#include <algorithm>
#include <utility>

namespace hearsay::test {

/// Rows in memory, handed over as if they passed by.
class VectorOfRows : public RowSource<double> {
 public:
  explicit VectorOfRows(Block<double> rows) : rows_(std::move(rows)) {}
  Index cols() const override { return rows_.cols(); }
  void rewind() override { next_ = 0, ++passes; }
  Index read(BlockView<double> out) override {
    const Index count = std::min(out.rows(), rows_.rows() - next_);
    out.topRows(count) = rows_.middleRows(next_, count);
    next_ += count;
    return count;
  }
  int passes = 0;

 private:
  Block<double> rows_;
  Index next_ = 0;
};

}  // namespace hearsay::test
