#include "hearsay/operators/genotypes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/threads.hpp"
#include "kernels/kernels.hpp"
#include "linalg/scratch.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

using detail::scratch;
using detail::ScratchUse;

namespace {

constexpr Index calls_per_byte = 4;
constexpr std::uint64_t low_bits = 0x5555555555555555;  // the lower bit of every call in a word

// What is unpacked at a time: 256 KiB of doubles, which stay in the second cache between being made and being used, and
// the 256 samples of a block of 16 columns fill 32 KiB of the first.
constexpr Index tile_snps = 128, tile_samples = 256;

// ---- Counting

std::uint64_t word_at(const std::uint8_t* bytes, Index count) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, static_cast<std::size_t>(std::min<Index>(count, 8)));
  return word;
}

std::uint64_t missing_in(std::uint64_t word) { return word & ~(word >> 1) & low_bits; }

int calls_in(std::uint64_t low_bits_set) { return std::popcount(low_bits_set); }

// Which sample of its word a bit belongs to. On a big-endian machine the first byte holds the highest bits.
Index sample_of(int bit) {
  const Index in_order = bit / 2;
  if constexpr (std::endian::native == std::endian::little) return in_order;
  return (7 - in_order / calls_per_byte) * calls_per_byte + in_order % calls_per_byte;
}

CallCounts count_snp(const GenotypeView& data, Index snp) {
  const Index bytes = data.bytes_per_snp();
  const std::uint8_t* calls = data.calls + snp * bytes;
  CallCounts counts;
  for (Index b = 0; b < bytes; b += 8) {
    const std::uint64_t word = word_at(calls + b, bytes - b), high = (word >> 1) & low_bits, low = word & low_bits;
    counts.none += static_cast<std::uint32_t>(calls_in(high & low));
    counts.one += static_cast<std::uint32_t>(calls_in(high & ~low));
    counts.missing += static_cast<std::uint32_t>(calls_in(low & ~high));
  }
  counts.two = static_cast<std::uint32_t>(data.samples) - counts.none - counts.one - counts.missing;
  return counts;
}

template <class Visit>
void for_each_missing(const std::uint8_t* calls, Index bytes, const Visit& visit) {
  for (Index b = 0; b < bytes; b += 8)
    for (std::uint64_t left = missing_in(word_at(calls + b, bytes - b)); left != 0; left &= left - 1)
      visit(b * calls_per_byte + sample_of(std::countr_zero(left)));
}

bool is_padded_with_zeros(const GenotypeView& data, Index snp) {
  const Index in_last = data.samples % calls_per_byte;
  if (in_last == 0) return true;
  return (data.calls[(snp + 1) * data.bytes_per_snp() - 1] >> (2 * in_last)) == 0;
}

void require_shape(const GenotypeView& data) {
  require(data.samples > 0 && data.snps > 0,
          fmt::format("{}: {} samples of {} SNPs: must have at least one of each", data.name, data.samples, data.snps));
  require(data.samples <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("{}: {} samples: must be less than 2^31", data.name, data.samples));
}

void count_by_sample(const GenotypeView& data, GenotypeCounts& counts) {
  std::vector<Index> of_sample(static_cast<std::size_t>(data.samples));
  for (Index j = 0; j < data.snps; ++j)
    if (counts.of_snp[static_cast<std::size_t>(j)].missing > 0)
      for_each_missing(data.calls + j * data.bytes_per_snp(), data.bytes_per_snp(),
                       [&](Index i) { ++of_sample[static_cast<std::size_t>(i)]; });
  counts.samples_missing = std::count_if(of_sample.begin(), of_sample.end(), [](Index missing) { return missing > 0; });
  counts.samples_empty = std::count(of_sample.begin(), of_sample.end(), data.snps);
}

}  // namespace

GenotypeCounts count_calls(const GenotypeView& data) {
  require_shape(data);
  require_memory(static_cast<std::uint64_t>(data.snps), sizeof(CallCounts) + 6 * sizeof(double), data.name);
  GenotypeCounts counts;
  counts.of_snp.resize(static_cast<std::size_t>(data.snps));
  Index wrong = data.snps;  // the first SNP whose last byte is
#pragma omp parallel for schedule(static) reduction(min      \
                                                    : wrong) \
    num_threads(detail::worth_threads(double(data.snps) * double(data.bytes_per_snp())))
  for (Index j = 0; j < data.snps; ++j) {
    counts.of_snp[static_cast<std::size_t>(j)] = count_snp(data, j);
    if (!is_padded_with_zeros(data, j)) wrong = std::min(wrong, j);
  }
  if (wrong < data.snps)
    throw DataError(
        fmt::format("{}: SNP {}, its byte {}: bits behind the last of {} samples must be zero; the number "
                    "of samples is another, or the file is damaged",
                    data.name, wrong + 1, data.bytes_per_snp(), data.samples));
  for (Index j = 0; j < data.snps; ++j) {
    const CallCounts& snp = counts.of_snp[static_cast<std::size_t>(j)];
    counts.missing += snp.missing;
    if (snp.varies()) continue;
    counts.left_out.push_back(j);
    counts.without_call += snp.called() == 0 ? 1 : 0;
  }
  if (counts.missing > 0) count_by_sample(data, counts);
  return counts;
}

// ---- Products

namespace {

// The four calls of a byte as numbers; a missing one as zero.
template <class S>
using CallTable = std::array<std::array<S, 4>, 256>;

template <class S>
constexpr CallTable<S> call_table(bool of_second_allele) {
  CallTable<S> table{};
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t code = (byte >> (2 * i)) & 3;
      const int copies = code == 0 ? 2 : code == 2 ? 1 : 0;
      table[byte][i] = static_cast<S>(code == 1 ? 0 : of_second_allele ? 2 - copies : copies);
    }
  return table;
}

template <class S>
void unpack_calls(const CallTable<S>& table, const std::uint8_t* calls, Index bytes, S* out) {
  for (Index b = 0; b < bytes; ++b) std::memcpy(out + 4 * b, table[calls[b]].data(), 4 * sizeof(S));
}

// Independent partial sums of a product over SNPs. Their number depends on the shape alone, so that threads do not
// change a bit; it falls as each sum grows.
Index lanes_of(Index blocks, Index numbers) {
  const Index lanes = numbers <= (Index{1} << 19) ? 8 : numbers <= (Index{1} << 23) ? 4 : 2;
  return std::max<Index>(1, std::min(lanes, blocks));
}

double variance_sum(const CallCounts& snp, double mean, double scale) {
  const auto square = [&](double copies) { return (copies - mean) * (copies - mean); };
  return (snp.two * square(2) + snp.one * square(1) + snp.none * square(0)) / (scale * scale);
}

}  // namespace

template <class S>
GenotypeCovariance<S>::GenotypeCovariance(const GenotypeView& data, const GenotypeCounts& counts, bool by_samples)
    : data_(data),
      counts_(&counts),
      by_samples_(by_samples),
      mean_(Vector<double>::Zero(data.snps)),
      scale_(Vector<double>::Ones(data.snps)),
      offset_(Vector<S>::Zero(data.snps)),
      factor_(Vector<S>::Zero(data.snps)),
      divisor_(std::max<double>(1.0, static_cast<double>(data.samples) - 1)) {
  require_shape(data);
  require(static_cast<Index>(counts.of_snp.size()) == data.snps,
          fmt::format("{}: counts of {} SNPs: must be of {}", data.name, counts.of_snp.size(), data.snps));
  for (Index j = 0; j < data.snps; ++j) {
    const CallCounts& snp = counts.of_snp[static_cast<std::size_t>(j)];
    if (snp.called() > 0) mean_(j) = static_cast<double>(snp.alleles()) / snp.called();
    if (!snp.varies()) continue;
    scale_(j) = std::sqrt(mean_(j) * (1 - mean_(j) / 2));
    const bool second = mean_(j) > 1;
    offset_(j) = static_cast<S>(second ? static_cast<double>(2 * snp.none + snp.one) / snp.called() : mean_(j));
    factor_(j) = static_cast<S>((second ? -1 : 1) / scale_(j));
    total_variance_ += variance_sum(snp, mean_(j), scale_(j));
  }
  total_variance_ /= divisor_;
}

// Rows of the tile are SNPs. A missing call becomes the offset, so that nothing of it is left.
template <class S>
void GenotypeCovariance<S>::unpack(Index first_snp, Index snps, Index first_sample, Index samples, S* tile) const {
  static constexpr CallTable<S> first_allele = call_table<S>(false), second_allele = call_table<S>(true);
  const Index stride = data_.bytes_per_snp(), bytes = (samples + calls_per_byte - 1) / calls_per_byte;
  for (Index j = 0; j < snps; ++j) {
    const Index snp = first_snp + j;
    const std::uint8_t* calls = data_.calls + snp * stride + first_sample / calls_per_byte;
    S* row = tile + j * tile_samples;
    unpack_calls(factor_(snp) < 0 ? second_allele : first_allele, calls, bytes, row);
    if (counts_->of_snp[static_cast<std::size_t>(snp)].missing > 0)
      for_each_missing(calls, bytes, [&](Index i) { row[i] = offset_(snp); });
  }
}

// T (count x p) <- Z'V of some SNPs; `sums` are those of the columns of V.
template <class S>
void GenotypeCovariance<S>::multiply_snps(Index first, Index count, const S* V_packed, const S* sums, Index p, S* tile,
                                          S* T) const {
  const auto& kernel = kernels::table<S>();
  const Index n = data_.samples;
  for (Index i = 0; i < n; i += tile_samples) {
    const Index samples = std::min(tile_samples, n - i);
    unpack(first, count, i, samples, tile);
    kernel.multiply(count, samples, p, tile, tile_samples, 1, V_packed + i * kernels::tile_columns<S>(), n, T, p,
                    i > 0);
  }
  for (Index j = 0; j < count; ++j)
    for (Index c = 0; c < p; ++c) T[j * p + c] = factor_(first + j) * (T[j * p + c] - offset_(first + j) * sums[c]);
}

// Y (n x p, and a row that goes to all of them) += Z T of some SNPs. T is used up.
template <class S>
void GenotypeCovariance<S>::add_samples(Index first, Index count, S* T, Index p, S* tile, S* packed, S* Y) const {
  const auto& kernel = kernels::table<S>();
  const Index n = data_.samples;
  S* everyone = Y + n * p;
  for (Index j = 0; j < count; ++j)
    for (Index c = 0; c < p; ++c) {
      T[j * p + c] *= factor_(first + j);
      everyone[c] -= offset_(first + j) * T[j * p + c];
    }
  kernel.pack(count, p, T, p, packed);
  for (Index i = 0; i < n; i += tile_samples) {
    const Index samples = std::min(tile_samples, n - i);
    unpack(first, count, i, samples, tile);
    kernel.multiply(samples, count, p, tile, 1, tile_samples, packed, count, Y + i * p, p, true);
  }
}

// Y (n x p) <- the sum over blocks of SNPs of what visit(first, count, tile, T, sum) adds.
template <class S>
template <class Visit>
void GenotypeCovariance<S>::sum_over_snps(BlockView<S> Y, const Visit& visit) const {
  const Index n = data_.samples, p = Y.cols(), size = (n + 1) * p, snps = data_.snps;
  const Index blocks = (snps + tile_snps - 1) / tile_snps, lanes = lanes_of(blocks, size);
  S* sums = scratch<S, ScratchUse::partial_sums>(lanes * size);
#pragma omp parallel for schedule(static, 1) \
    num_threads(detail::worth_threads(2.0 * double(n) * double(snps) * double(p)))
  for (Index lane = 0; lane < lanes; ++lane) {
    S* sum = sums + lane * size;
    std::fill_n(sum, size, S(0));
    S* tile = scratch<S, ScratchUse::centred_rows>(tile_snps * tile_samples);
    for (Index block = lane * blocks / lanes; block < (lane + 1) * blocks / lanes; ++block) {
      const Index first = block * tile_snps;
      visit(first, std::min(tile_snps, snps - first), tile, sum);
    }
  }
  for (Index lane = 1; lane < lanes; ++lane)
    Eigen::Map<Vector<S>>(sums, size) += Eigen::Map<const Vector<S>>(sums + lane * size, size);
  Y = Eigen::Map<const Block<S>>(sums, n, p).rowwise() +
      Eigen::Map<const Eigen::RowVector<S, Eigen::Dynamic>>(sums + n * p, p);
}

namespace {

// The block packed for the kernel, and the sums of its columns.
template <class S>
struct PackedSamples {
  explicit PackedSamples(const ConstBlockView<S>& V)
      : packed(V.rows(), kernels::round_up(V.cols(), kernels::tile_columns<S>())), sums(V.colwise().sum()) {
    kernels::table<S>().pack(V.rows(), V.cols(), V.data(), V.outerStride(), packed.data());
  }
  Block<S> packed;
  Vector<S> sums;
};

}  // namespace

template <class S>
void GenotypeCovariance<S>::apply_by_samples(ConstBlockView<S> V, BlockView<S> Y) const {
  const Index p = V.cols(), padded = kernels::round_up(p, kernels::tile_columns<S>());
  const PackedSamples<S> all(V);
  sum_over_snps(Y, [&](Index first, Index count, S* tile, S* sum) {
    S* T = scratch<S, ScratchUse::products>(tile_snps * (p + padded));
    multiply_snps(first, count, all.packed.data(), all.sums.data(), p, tile, T);
    add_samples(first, count, T, p, tile, T + tile_snps * p, sum);
  });
}

template <class S>
void GenotypeCovariance<S>::scores(ConstBlockView<S> X, BlockView<S> out) const {
  const Index p = X.cols(), padded = kernels::round_up(p, kernels::tile_columns<S>());
  sum_over_snps(out, [&](Index first, Index count, S* tile, S* sum) {
    S* T = scratch<S, ScratchUse::products>(tile_snps * (p + padded));
    Eigen::Map<Block<S>>(T, count, p) = X.middleRows(first, count);
    add_samples(first, count, T, p, tile, T + tile_snps * p, sum);
  });
}

template <class S>
void GenotypeCovariance<S>::to_features(ConstBlockView<S> V, BlockView<S> out) const {
  const Index p = V.cols(), snps = data_.snps, blocks = (snps + tile_snps - 1) / tile_snps;
  const PackedSamples<S> all(V);
#pragma omp parallel for schedule(static) \
    num_threads(detail::worth_threads(double(data_.samples) * double(snps) * double(p)))
  for (Index block = 0; block < blocks; ++block) {
    const Index first = block * tile_snps, count = std::min(tile_snps, snps - first);
    S* tile = scratch<S, ScratchUse::centred_rows>(tile_snps * tile_samples);
    S* T = scratch<S, ScratchUse::products>(tile_snps * p);
    multiply_snps(first, count, all.packed.data(), all.sums.data(), p, tile, T);
    out.middleRows(first, count) = Eigen::Map<const Block<S>>(T, count, p);
  }
}

template <class S>
void GenotypeCovariance<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  if (by_samples_) {
    apply_by_samples(X, Y);
  } else {
    Block<S> of_samples(data_.samples, X.cols());
    scores(X, of_samples);
    to_features(of_samples, Y);
  }
  Y /= static_cast<S>(divisor_);
}

template <class S>
OperatorFacts GenotypeCovariance<S>::facts() const {
  return {.positive_semidefinite = true,
          .extra_passes = 1,
          .exact = true,
          .multiply_adds = 2.0 * static_cast<double>(data_.samples) * static_cast<double>(data_.snps),
          .terms = data_.samples + data_.snps};
}

template class GenotypeCovariance<float>;
template class GenotypeCovariance<double>;

}  // namespace hearsay
