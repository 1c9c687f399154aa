#include "hearsay/operators/column_moments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearsay/error.hpp"

namespace hearsay {

namespace {

constexpr Index moment_rows = 64;  // of a block that is read twice, in cache
constexpr double infinite = std::numeric_limits<double>::infinity();

std::span<const double> part_of(std::span<const double> weights, Index first, Index count) {
  if (weights.empty()) return weights;
  return weights.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

double weight_of(std::span<const double> weights, Index row) {
  return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
}

// So few digits apart that rounding explains it.
template <class S>
bool is_constant(double deviation, double least, double most) {
  const double largest = std::max(std::abs(least), std::abs(most));
  return least == most || deviation <= 10 * static_cast<double>(std::numeric_limits<S>::epsilon()) * largest;
}

void require_finite_columns(const ColumnMoments& moments, const ColumnWishes& wishes) {
  std::vector<Index> empty;
  for (Index j = 0; j < moments.columns(); ++j) {
    if (!(moments.weight(j) > 0)) {
      empty.push_back(j);
    } else if (!std::isfinite(moments.least(j)) || !std::isfinite(moments.most(j)) || !std::isfinite(moments.mean(j))) {
      throw DataError(
          fmt::format("data: {} has a value that is not finite, or so near the largest number that its "
                      "mean is not",
                      column_name(j, wishes.column_names)));
    }
  }
  if (moments.missing > 0 && !wishes.missing_as_mean)
    throw DataError(
        fmt::format("data: {} entries are missing (NaN), and missing values are refused; `missing` drop-rows, mean or "
                    "em says what to do with them",
                    moments.missing));
  if (!empty.empty())
    throw DataError(
        fmt::format("data: every entry of {} is missing; leave it out", column_list(empty, wishes.column_names)));
}

}  // namespace

std::string column_name(Index column, std::span<const std::string> names) {
  const auto at = static_cast<std::size_t>(column);
  return at < names.size() ? fmt::format("column {} ({})", column + 1, names[at])
                           : fmt::format("column {}", column + 1);
}

std::string column_list(std::span<const Index> columns, std::span<const std::string> names) {
  constexpr std::size_t most_listed = 10;
  std::string text;
  const std::size_t listed = std::min(columns.size(), most_listed);
  for (std::size_t i = 0; i < listed; ++i) text += (i > 0 ? ", " : "") + column_name(columns[i], names);
  if (columns.size() > listed) text += fmt::format(" and {} more", columns.size() - listed);
  return text;
}

void require_weights(std::span<const double> weights, Index rows) {
  if (weights.empty()) return;
  require(static_cast<Index>(weights.size()) == rows,
          fmt::format("row weights: there are {}, and must be {}, one for each row", weights.size(), rows));
  for (std::size_t i = 0; i < weights.size(); ++i)
    require(std::isfinite(weights[i]) && weights[i] >= 0,
            fmt::format("row weights: that of row {} is {}, and must be finite and not negative", i + 1, weights[i]));
}

ColumnMoments::ColumnMoments(Index columns)
    : weight(Vector<double>::Zero(columns)),
      mean(Vector<double>::Zero(columns)),
      scatter(Vector<double>::Zero(columns)),
      least(Vector<double>::Constant(columns, infinite)),
      most(Vector<double>::Constant(columns, -infinite)) {}

template <class S>
void ColumnMoments::add(const BorrowedBlock<S>& all, std::span<const double> weights) {
  for (Index first = 0; first < all.rows(); first += moment_rows) {
    const Index count = std::min(moment_rows, all.rows() - first);
    const BorrowedBlock<S> block(all.data() + first * all.outerStride(), count, all.cols(),
                                 Eigen::OuterStride<>(all.outerStride()));
    ColumnMoments part(columns());
    part.add_block(block, part_of(weights, first, count));
    add(part);
  }
}

template <class S>
void ColumnMoments::add_block(const BorrowedBlock<S>& block, std::span<const double> weights) {
  for (Index i = 0; i < block.rows(); ++i) total_weight += weight_of(weights, i);
  for (Index i = 0; i < block.rows(); ++i) add_values<S>(block.row(i), weight_of(weights, i));
  for (Index j = 0; j < columns(); ++j) mean(j) = weight(j) > 0 ? mean(j) * (total_weight / weight(j)) : 0.0;

  Vector<double> offset = Vector<double>::Zero(columns());
  for (Index i = 0; i < block.rows(); ++i) {
    const double w = weight_of(weights, i);
    if (w == 0) continue;
    for (Index j = 0; j < columns(); ++j) {
      const auto value = static_cast<double>(block(i, j));
      const double apart = value == value ? value - mean(j) : 0.0;
      offset(j) += w * apart;
      scatter(j) += w * apart * apart;
    }
  }
  for (Index j = 0; j < columns(); ++j) {
    if (!(weight(j) > 0)) continue;
    scatter(j) = std::max(0.0, scatter(j) - offset(j) * (offset(j) / weight(j)));
    mean(j) += offset(j) / weight(j);
  }
}

// A sum of weighted values could overflow where their mean does not: each is divided first. Of a row without weight,
// the values must be finite all the same.
template <class S>
void ColumnMoments::add_values(const Eigen::Ref<const Eigen::Matrix<S, 1, Eigen::Dynamic>>& row, double w) {
  const double share = w > 0 ? w / total_weight : 0.0;
  Index missing_here = 0;
  for (Index j = 0; j < columns(); ++j) {
    const auto value = static_cast<double>(row(j));
    const bool there = value == value;
    if (there && (w > 0 || std::isinf(value))) {
      least(j) = std::min(least(j), value);
      most(j) = std::max(most(j), value);
    }
    missing_here += there ? 0 : 1;
    weight(j) += there ? w : 0.0;
    mean(j) += there && w > 0 ? share * value : 0.0;
  }
  if (w == 0) return;
  ++rows;
  missing += missing_here;
  rows_missing += missing_here > 0 ? 1 : 0;
  rows_empty += missing_here == columns() ? 1 : 0;
}

void ColumnMoments::add(const ColumnMoments& later) {
  for (Index j = 0; j < columns(); ++j) {
    const double both = weight(j) + later.weight(j);
    if (later.weight(j) > 0) {
      const double apart = weight(j) > 0 ? later.mean(j) - mean(j) : 0.0;
      scatter(j) += later.scatter(j) + apart * apart * (weight(j) * (later.weight(j) / both));
      mean(j) = weight(j) > 0 ? mean(j) + apart * (later.weight(j) / both) : later.mean(j);
      weight(j) = both;
    }
    least(j) = std::min(least(j), later.least(j));
    most(j) = std::max(most(j), later.most(j));
  }
  total_weight += later.total_weight;
  rows += later.rows;
  missing += later.missing;
  rows_missing += later.rows_missing;
  rows_empty += later.rows_empty;
}

double covariance_divisor(const ColumnMoments& moments, const ColumnWishes& wishes) {
  require(moments.total_weight > 0, "row weights: all of them are zero, and nothing is left");
  if (!wishes.center) return moments.total_weight;
  if (!wishes.weighted) return std::max(1.0, moments.total_weight - 1);
  constexpr double of_shares = 1 + 1e-6;  // what shares add up to, rounding and all
  require(
      moments.total_weight > of_shares,
      fmt::format("row weights: their sum is {:g}; they count rows, and must add up to more than 1 (multiply weights "
                  "that are shares by the number of rows)",
                  moments.total_weight));
  return moments.total_weight - 1;
}

template <class S>
ColumnRule<S> column_rule(const ColumnMoments& moments, const ColumnWishes& wishes) {
  require_finite_columns(moments, wishes);
  const Index d = moments.columns();
  ColumnRule<S> rule{.mean = Vector<S>::Zero(d), .fill = moments.mean.template cast<S>(), .factor = Vector<S>::Ones(d)};
  if (wishes.center) rule.mean = rule.fill;
  if (!wishes.standardize) return rule;
  const double divisor = covariance_divisor(moments, {.center = true, .weighted = wishes.weighted});
  rule.scale = Vector<S>::Ones(d);
  for (Index j = 0; j < d; ++j) {
    const double deviation = std::sqrt(moments.scatter(j) / divisor);
    const bool same = moments.least(j) == moments.most(j);
    if (!same && (!std::isfinite(deviation) || !(moments.scatter(j) >= std::numeric_limits<double>::min())))
      throw DataError(
          fmt::format("standardize: the variance of {} leaves the range of numbers (its values go from {:g} "
                      "to {:g}); give it in another unit",
                      column_name(j, wishes.column_names), moments.least(j), moments.most(j)));
    if (is_constant<S>(deviation, moments.least(j), moments.most(j))) {
      rule.constant.push_back(j);
      rule.factor(j) = 0;
    } else {
      rule.scale(j) = static_cast<S>(deviation);
      rule.factor(j) = static_cast<S>(1 / deviation);
    }
  }
  return rule;
}

#define HEARSAY_INSTANTIATE(S)                                                           \
  template void ColumnMoments::add<S>(const BorrowedBlock<S>&, std::span<const double>); \
  template ColumnRule<S> column_rule<S>(const ColumnMoments&, const ColumnWishes&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
