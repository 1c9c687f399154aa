#include <fmt/format.h>

#include <algorithm>

#include "decentralized/scaling.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/error.hpp"
#include "network/bytes.hpp"

namespace hearsay {

using detail::ByteReader;
using detail::ByteWriter;

namespace {

struct ShardShape {
  Index agent, rows, cols;
  double largest;  // magnitude
  std::string name;
};

// Of every agent, by agent, at every rank.
std::vector<ShardShape> shapes_of(Transport& ranks, const Shards& shards) {
  ByteWriter here;
  for (std::size_t i = 0; i < shards.local.size(); ++i) {
    here.put(shards.local[i]);
    here.put(shards.rows[i].rows());
    here.put(shards.rows[i].cols());
    here.put(detail::largest_magnitude(shards.rows[i]));
    here.put(std::string_view(i < shards.names.size() ? shards.names[i] : fmt::format("shard {}", shards.local[i])));
  }
  std::vector<ShardShape> shapes;
  for (const std::string& bytes : ranks.gather_everywhere(here.bytes()))
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

void validate(const std::vector<ShardShape>& shapes, Index agents) {
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

// The sums of everyone's rows, by agent, from what each rank told rank 0.
std::vector<Block<double>> sums_by_agent(const std::vector<std::string>& told, const ShardTotals& totals) {
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

ShardTotals totals_of(Transport& ranks, const Shards& shards) {
  ranks.everywhere([&] {
    require(shards.local.size() == shards.rows.size(),
            fmt::format("{} shards for {} agents: must be one each", shards.rows.size(), shards.local.size()));
  });
  const std::vector<ShardShape> shapes = shapes_of(ranks, shards);
  validate(shapes, shards.agents);
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

  ByteWriter here;
  for (std::size_t i = 0; i < shards.local.size(); ++i) {
    here.put(shards.local[i]);
    here.put(sum_of_rows(shards.rows[i], totals.exponent));
  }
  const std::vector<std::string> told = ranks.gather(here.bytes());
  ByteWriter agreed;
  ranks.everywhere([&] {
    if (ranks.rank() != 0) return;
    Block<double> total = Block<double>::Zero(1, totals.dimension);
    for (const Block<double>& sum : sums_by_agent(told, totals)) total += sum;
    total /= static_cast<double>(totals.samples);
    detail::divide_by_power(total, -totals.exponent);
    agreed.put(total);
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
