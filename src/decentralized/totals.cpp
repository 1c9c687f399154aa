#include <fmt/format.h>

#include <algorithm>

#include "decentralized/scaling.hpp"
#include "decentralized/totals.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"

namespace hearsay {

using detail::ByteReader;
using detail::ByteWriter;
using detail::ShardShape;

std::string detail::shapes_of(const Shards& shards) {
  ByteWriter here;
  for (std::size_t i = 0; i < shards.local.size(); ++i) {
    here.put(shards.local[i]);
    here.put(shards.rows[i].rows());
    here.put(shards.rows[i].cols());
    here.put(detail::largest_magnitude(shards.rows[i]));
    here.put(std::string_view(i < shards.names.size() ? shards.names[i] : fmt::format("shard {}", shards.local[i])));
  }
  return here.bytes();
}

std::vector<ShardShape> detail::shapes_from(std::span<const std::string> said) {
  std::vector<ShardShape> shapes;
  for (const std::string& bytes : said)
    for (ByteReader reader(bytes); !reader.at_end();) {
      ShardShape& shape = shapes.emplace_back();
      shape.agent = reader.get<Index>();
      shape.rows = reader.get<Index>();
      shape.cols = reader.get<Index>();
      shape.largest = reader.get<double>();
      shape.name = reader.text();
    }
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const ShardShape& a, const ShardShape& b) { return a.agent < b.agent; });
  return shapes;
}

namespace {

constexpr Index most_rows = Index{1} << 53;

void validate_shapes(const std::vector<ShardShape>& shapes, Index agents) {
  require(agents >= 1, fmt::format("agents = {}: must be at least 1", agents));
  for (Index i = 0; i < agents; ++i) {
    const auto held = std::count_if(shapes.begin(), shapes.end(), [&](const ShardShape& s) { return s.agent == i; });
    require(held == 1, fmt::format("agent {} has {} shards: must have one", i, held));
  }
  const auto stray =
      std::find_if(shapes.begin(), shapes.end(), [&](const ShardShape& s) { return s.agent < 0 || s.agent >= agents; });
  require(stray == shapes.end(),
          fmt::format("{} belongs to agent {}: must lie in [0, {})", stray == shapes.end() ? "" : stray->name,
                      stray == shapes.end() ? 0 : stray->agent, agents));
  for (const ShardShape& shape : shapes)
    if (!(shape.rows >= 0 && shape.rows < most_rows && shape.cols >= 0 && shape.largest >= 0))
      throw CommunicationError(fmt::format("{} has {} x {} numbers up to {}: none of these must be negative",
                                           shape.name, shape.rows, shape.cols, shape.largest));
  for (const ShardShape& shape : shapes)
    if (shape.cols != shapes.front().cols)
      throw DataError(fmt::format("{} has {} columns: must have {}, as {} has", shape.name, shape.cols,
                                  shapes.front().cols, shapes.front().name));
}

// Row by row, so that the order of the sum is that of the rows alone; of 2^-exponent times the rows.
Block<double> sum_of_rows(const Block<double>& rows, int exponent) {
  Block<double> sum = Block<double>::Zero(1, rows.cols());
  for (Index r = 0; r < rows.rows(); ++r) {
    Block<double> row = rows.row(r);
    detail::divide_by_power(row, exponent);
    sum += row;
  }
  return sum;
}

void require_row(const Block<double>& block, Index columns, const std::string& what) {
  if (block.rows() != 1 || block.cols() != columns)
    throw CommunicationError(fmt::format("{} of {} x {}: must be 1 x {}", what, block.rows(), block.cols(), columns));
}

// The sums of everyone's rows, by agent, from what each rank told.
std::vector<Block<double>> sums_by_agent(std::span<const std::string> told, const ShardTotals& totals) {
  std::vector<Block<double>> sums(totals.sizes.size());
  for (std::size_t rank = 0; rank < told.size(); ++rank)
    for (ByteReader reader(told[rank]); !reader.at_end();) {
      const auto agent = reader.get<Index>();
      const bool known = agent >= 0 && agent < static_cast<Index>(sums.size());
      if (!known || sums[static_cast<std::size_t>(agent)].rows() > 0)
        throw CommunicationError(
            fmt::format("rank {} sent a sum of agent {}: must be of each of {} agents once", rank, agent, sums.size()));
      sums[static_cast<std::size_t>(agent)] = reader.block();
      require_row(sums[static_cast<std::size_t>(agent)], totals.dimension,
                  fmt::format("rank {} sent a sum of agent {}", rank, agent));
    }
  for (std::size_t agent = 0; agent < sums.size(); ++agent)
    if (sums[agent].rows() == 0)
      throw CommunicationError(fmt::format("agent {}: no rank sent the sum of its rows", agent));
  return sums;
}

}  // namespace

ShardTotals detail::sizes_of(const std::vector<ShardShape>& shapes, Index agents) {
  validate_shapes(shapes, agents);
  ShardTotals totals{.dimension = shapes.front().cols, .samples = 0, .mean = {}, .exponent = 0, .sizes = {}};
  double largest = 0;
  for (const ShardShape& shape : shapes) {
    largest = std::max(largest, shape.largest);
    totals.samples += shape.rows;
    totals.sizes.push_back(shape.rows);
  }
  if (totals.samples == 0)
    throw DataError(fmt::format("{} shards, the first of them {}: at least one must have a row", shapes.size(),
                                shapes.front().name));
  totals.exponent = data_exponent(largest);
  return totals;
}

std::string detail::sums_of(const Shards& shards, const ShardTotals& totals) {
  ByteWriter here;
  for (std::size_t i = 0; i < shards.local.size(); ++i) {
    here.put(shards.local[i]);
    here.put(sum_of_rows(shards.rows[i], totals.exponent));
  }
  return here.bytes();
}

Block<double> detail::mean_from(std::span<const std::string> told, const ShardTotals& totals) {
  Block<double> total = Block<double>::Zero(1, totals.dimension);
  for (const Block<double>& sum : sums_by_agent(told, totals)) total += sum;
  total /= static_cast<double>(totals.samples);
  divide_by_power(total, -totals.exponent);
  return total;
}

ShardTotals totals_of(Transport& ranks, const Shards& shards) {
  ranks.everywhere([&] {
    require(shards.local.size() == shards.rows.size(),
            fmt::format("{} shards for {} agents: must be one each", shards.rows.size(), shards.local.size()));
  });
  ShardTotals totals =
      detail::sizes_of(detail::shapes_from(ranks.gather_everywhere(detail::shapes_of(shards))), shards.agents);
  const std::vector<std::string> told = ranks.gather(detail::sums_of(shards, totals));
  ByteWriter agreed;
  ranks.everywhere([&] {
    if (ranks.rank() == 0) agreed.put(detail::mean_from(told, totals));
  });
  const std::string said = ranks.broadcast(agreed.bytes());
  const Block<double> mean = ByteReader(said).block();
  require_row(mean, totals.dimension, "rank 0 sent a mean");
  totals.mean = mean.row(0).transpose();
  return totals;
}

std::vector<CovarianceShard> covariance_shards(Shards shards, const ShardTotals& totals, bool center) {
  const double weight = static_cast<double>(shards.agents) / covariance_divisor(totals.samples, center);
  Block<double> mean = totals.mean.transpose();
  detail::divide_by_power(mean, totals.exponent);
  std::vector<CovarianceShard> operators;
  for (Block<double>& rows : shards.rows) {
    require(rows.cols() == totals.dimension,
            fmt::format("shard of {} columns: must have {}, as the totals say", rows.cols(), totals.dimension));
    detail::divide_by_power(rows, totals.exponent);
    if (center) rows.rowwise() -= mean.row(0);
    operators.emplace_back(std::move(rows), weight, totals.exponent);
  }
  return operators;
}

}  // namespace hearsay
