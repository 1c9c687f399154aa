#include "hearsay/random.hpp"

#include <algorithm>

#include "hearsay/linalg.hpp"
#include "hearsay/qr.hpp"
#include "kernels/normal.hpp"
#include "linalg/worth_threads.hpp"

namespace hearsay {

namespace {

struct Halves {
  std::uint32_t high, low;
};

Halves product_halves(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t product = std::uint64_t{a} * b;
  return {static_cast<std::uint32_t>(product >> 32), static_cast<std::uint32_t>(product)};
}

// Uniform in (0, 1), never 0 or 1: 53 bits from two words, centred in their cell.
double uniform(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t bits = (std::uint64_t{a} << 32 | b) >> 11;
  return (static_cast<double>(bits) + 0.5) * 0x1p-53;
}

// The seed is the cipher's key; place (40 bits of row, 24 of column), agent, purpose and iteration are its counter.
std::uint32_t second_counter(std::uint64_t row, std::uint32_t column) {
  return static_cast<std::uint32_t>(row >> 32) ^ (column << 8);
}

std::uint32_t third_counter(const RandomKey& key) { return key.agent ^ (static_cast<std::uint32_t>(key.stream) << 24); }

}  // namespace

RandomWords random_words(const RandomKey& key, std::uint64_t row, std::uint32_t column) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key.seed), k1 = static_cast<std::uint32_t>(key.seed >> 32);
  std::uint32_t c0 = static_cast<std::uint32_t>(row);
  std::uint32_t c1 = second_counter(row, column), c2 = third_counter(key);
  std::uint32_t c3 = key.iteration;
  for (int round = 0; round < 10; ++round) {
    const Halves first = product_halves(0xD2511F53u, c0), second = product_halves(0xCD9E8D57u, c2);
    c0 = second.high ^ c1 ^ k0;
    c1 = second.low;
    c2 = first.high ^ c3 ^ k1;
    c3 = first.low;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

double random_uniform(const RandomKey& key, std::uint64_t row, std::uint32_t column) {
  const RandomWords words = random_words(key, row, column);
  return uniform(words.word[0], words.word[1]);
}

template <class S>
void fill_normal(const RandomKey& key, BlockView<S> out) {
  const Index d = out.rows(), p = out.cols(), pairs = (p + 1) / 2, all = d * pairs;
  const kernels::NormalPairs make = kernels::normal_pairs();
  const std::uint32_t c2 = third_counter(key);
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(2.0 * double(d) * double(p)))
  for (Index first = 0; first < all; first += kernels::normal_batch) {  // one counter, two neighbouring columns
    std::uint32_t c0[kernels::normal_batch], c1[kernels::normal_batch];
    double even[kernels::normal_batch], odd[kernels::normal_batch];
    Index row = first / pairs, pair = first % pairs;
    for (int l = 0; l < kernels::normal_batch; ++l) {
      c0[l] = static_cast<std::uint32_t>(row);
      c1[l] = second_counter(static_cast<std::uint64_t>(row), static_cast<std::uint32_t>(pair));
      if (++pair == pairs) ++row, pair = 0;
    }
    make(static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32), c0, c1, c2, key.iteration,
         even, odd);
    row = first / pairs, pair = first % pairs;
    const Index count = std::min<Index>(kernels::normal_batch, all - first);
    for (Index l = 0; l < count; ++l) {
      out(row, 2 * pair) = static_cast<S>(even[l]);
      if (2 * pair + 1 < p) out(row, 2 * pair + 1) = static_cast<S>(odd[l]);
      if (++pair == pairs) ++row, pair = 0;
    }
  }
}

template <class S>
Block<S> random_orthonormal(Index d, Index p, const RandomKey& key) {
  Block<S> X(d, p);
  fill_normal<S>(key, X);
  Small<S> R;
  thin_qr<S>(X, R);
  return X;
}

template void fill_normal<float>(const RandomKey&, BlockView<float>);
template void fill_normal<double>(const RandomKey&, BlockView<double>);
template Block<float> random_orthonormal<float>(Index, Index, const RandomKey&);
template Block<double> random_orthonormal<double>(Index, Index, const RandomKey&);

}  // namespace hearsay
