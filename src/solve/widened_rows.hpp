// Rows in single precision as rows in double.
#pragma once

#include "hearsay/row_source.hpp"

namespace hearsay::detail {

class WidenedRows final : public RowSource<double> {
 public:
  explicit WidenedRows(RowSource<float>& source) : source_(source) {}

  Index cols() const override { return source_.cols(); }
  std::optional<Index> rows() const override { return source_.rows(); }
  std::uint64_t bytes_per_pass() const override { return source_.bytes_per_pass(); }
  std::string name() const override { return source_.name(); }
  void rewind() override { source_.rewind(); }
  Index skip(Index count) override { return source_.skip(count); }
  Index read(BlockView<double> out) override {
    if (stored_.rows() < out.rows()) stored_.resize(out.rows(), cols());
    const Index count = source_.read(stored_.topRows(out.rows()));
    out.topRows(count) = stored_.topRows(count).cast<double>();
    return count;
  }

 private:
  RowSource<float>& source_;
  Block<float> stored_;
};

}  // namespace hearsay::detail
