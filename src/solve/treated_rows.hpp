// Rows that pass by, made such that their plain mean of outer products is the covariance that is asked for: centred,
// scaled, weighted, what is missing filled in with the mean, or left out. One reading of the source beforehand finds
// what that needs.
#pragma once

#include <functional>

#include "hearsay/operators/column_moments.hpp"
#include "hearsay/row_source.hpp"
#include "hearsay/solve.hpp"

namespace hearsay::detail {

class TreatedRows final : public RowSource<double> {
 public:
  /// Reads all rows once, and says every now and then how many it has read. The source must outlive it, and so must the
  /// weights of the settings.
  TreatedRows(RowSource<double>& source, const PcaSettings& settings, const std::function<void(Index)>& watch = {});

  Index cols() const override { return source_.cols(); }
  std::optional<Index> rows() const override { return moments_.rows; }
  std::uint64_t bytes_per_pass() const override { return source_.bytes_per_pass(); }
  std::string name() const override { return source_.name(); }
  void rewind() override;
  Index read(BlockView<double> out) override;

  const ColumnMoments& moments() const { return moments_; }
  const ColumnRule<double>& columns() const { return columns_; }
  double divisor() const { return divisor_; }
  Index dropped() const { return dropped_; }
  double total_variance() const;

 private:
  double weight_of(Index row) const;
  bool drops(const Eigen::Ref<const Eigen::RowVectorXd>& row) const;
  void measure(const std::function<void(Index)>& watch);

  RowSource<double>& source_;
  const PcaSettings settings_;
  ColumnMoments moments_;
  ColumnRule<double> columns_;
  double divisor_ = 1, gain_ = 1;
  Index dropped_ = 0;
  Index row_ = 0;  // of the source, that comes next
};

}  // namespace hearsay::detail
