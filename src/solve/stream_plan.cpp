#include "solve/stream_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "linalg/memory_limit.hpp"
#include "operators/covariance_direct.hpp"
#include "operators/lane_sums.hpp"
#include "solver/choices.hpp"
#include "solver/tuning.hpp"

namespace hearsay {

const char* name(StreamWay way) {
  switch (way) {
    case StreamWay::covariance:
      return "covariance";
    case StreamWay::products:
      return "products";
    case StreamWay::batches:
      return "batches";
  }
  return "unknown";
}

namespace detail {

namespace {

// Readings that a solve by products takes where nothing is known of the spectrum: to a sine of 1e-4 and to ten digits.
constexpr Index usual_passes = 6, usual_passes_to_rounding = 12;
// Forming the matrix takes d multiply-adds an entry of the data, halved, a product with p columns 2p. It is formed
// where d is at most so many p: four times what eight products multiply.
constexpr Index most_columns_formed = 64;
// What the process is taken to hold where the answer must not depend on what it does hold.
constexpr std::uint64_t process_bytes = 32'000'000;

std::uint64_t block_bytes(Index d, Index columns) {
  return static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(columns) * sizeof(double);
}

// Of a Krylov space and what lies around it (krylov_space.hpp), in blocks of s columns.
Index krylov_columns(Index d, Index k, Index s) {
  const Index p = std::min(d, k + std::max<Index>(k, 4)), blocks = d > tuning::roomy_dimension ? 5 : 10;
  return std::min(d, p + (blocks + tuning::spare_blocks) * s) + 3 * s + p + k;
}

// The power iteration's five blocks and the answer.
Index power_columns(Index k) { return 5 * (k + std::max<Index>(k, 4)) + k; }

std::uint64_t bytes_by_covariance(const StreamShape& shape, Index k) {
  const Index d = shape.columns;
  const std::uint64_t forming = shape.entries
                                    ? bytes_to_form_sparse_covariance(d, shape.rows.value_or(0), *shape.entries)
                                    : bytes_to_form_covariance(d, shape.stored_bytes);
  const std::uint64_t solving =
      block_bytes(d, d) + (d <= 200 ? 5 * block_bytes(d, d) : block_bytes(d, krylov_columns(d, k, 16)));
  return std::max(forming, solving);
}

// Eight lanes of a product, buffers of the least size or of some megabytes, and the solver's blocks.
std::uint64_t bytes_by_products(const StreamShape& shape, Index k, bool lean) {
  const Index d = shape.columns, p = std::min(d, k + std::max<Index>(k, 4)), s = std::min(d, whole_lines(p));
  const std::uint64_t row = static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(shape.stored_bytes);
  const std::uint64_t buffer = lean ? 8 * row : std::max<std::uint64_t>(64 * row, std::uint64_t{4} << 20);
  return 3 * buffer + block_bytes(d, 8 * s + (lean ? power_columns(k) : krylov_columns(d, k, s)));
}

// Whether the matrix is worth its forming: of dense rows a row takes d multiply-adds an entry, halved; of sparse ones
// as many as it has entries, scattered over the matrix, which costs four times as much. A formed matrix that is much
// larger than the data is slower to multiply by than they are.
bool worth_forming(const StreamShape& shape, Index p) {
  constexpr double scattered = 4, most_larger = 16;
  const auto d = static_cast<double>(shape.columns), most = static_cast<double>(most_columns_formed * p);
  if (!shape.entries) return d <= most;
  const auto entries = static_cast<double>(*shape.entries);
  return scattered * entries <= most * static_cast<double>(shape.rows.value_or(1)) && d * d <= most_larger * entries;
}

}  // namespace

SettledPlan plan_stream(const StreamShape& shape, const SolveSettings& settled, const StreamSettings& settings) {
  const Index k = std::min(settled.power.rank, shape.columns), before = shape.measured_before ? 1 : 0;
  const std::uint64_t limit = settings.memory > 0 ? settings.memory : memory_limit(), used = memory_in_use();
  SettledPlan settled_plan{
      .told = {.bytes_per_pass = shape.bytes_per_pass, .rows = shape.rows, .memory_allowed = limit}};
  StreamPlan& plan = settled_plan.told;
  const auto fits = [&](std::uint64_t bytes) { return bytes <= limit && used <= limit - bytes; };
  const auto takes = [&](StreamWay way, Index passes, bool certain, std::uint64_t bytes) {
    plan.way = way;
    plan.passes = passes;
    plan.certain = certain;
    plan.memory = used + bytes;
  };
  const std::uint64_t formed = bytes_by_covariance(shape, k), roomy = bytes_by_products(shape, k, false),
                      lean = bytes_by_products(shape, k, true);
  const Index p = std::max<Index>(2 * k, 16);
  const bool worth = worth_forming(shape, p) || settings.passes == before + 1;
  if (settings.batch) {
    takes(StreamWay::batches, batch_passes + before, false, roomy);
  } else if (worth && fits(formed)) {
    takes(StreamWay::covariance, 1 + before, true, formed);
  } else if (fits(lean)) {
    settled_plan.lean = !fits(roomy);
    settled_plan.spare = limit - std::min(limit, roomy + process_bytes);
    const Index usual = tolerance_of<double>(settled.power) < 1e-6 ? usual_passes_to_rounding : usual_passes;
    takes(StreamWay::products, std::min(before + usual, settings.passes.value_or(before + usual)), false,
          settled_plan.lean ? lean : roomy);
  } else {
    throw DataError(
        fmt::format("{}: rows of {} columns and {} components need {} of memory beside {} in use, and the "
                    "limit (`memory`) is {}; the least that does is {}",
                    shape.name, shape.columns, k, readable_bytes(std::min(lean, formed)), readable_bytes(used),
                    readable_bytes(limit), readable_bytes(used + std::min(lean, formed) + (std::uint64_t{1} << 20))));
  }
  return settled_plan;
}

}  // namespace detail

}  // namespace hearsay
