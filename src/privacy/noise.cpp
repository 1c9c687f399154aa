#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/private_noise.hpp"
#include "hearsay/random.hpp"

namespace hearsay {

namespace {

void read_system_words(std::span<std::uint64_t> words) {
  auto* bytes = reinterpret_cast<unsigned char*>(words.data());
  std::size_t left = words.size_bytes();
  while (left > 0) {
    const ssize_t count = ::getrandom(bytes, left, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(fmt::format("random numbers: the system gives none: {}", std::strerror(errno)));
    bytes += count;
    left -= static_cast<std::size_t>(count);
  }
}

}  // namespace

SecretWords system_words() { return read_system_words; }

SecretWords insecure_words(std::uint64_t seed) {
  return [key = RandomKey{.seed = seed, .stream = Stream::noise, .agent = 0xD1FFu},
          row = std::uint64_t{0}](std::span<std::uint64_t> words) mutable {
    for (std::uint64_t& word : words) {
      const RandomWords four = random_words(key, row++, 0);
      word = std::uint64_t{four.word[0]} << 32 | four.word[1];
    }
  };
}

ExactNormals::~ExactNormals() {
  explicit_bzero(buffer_.data(), sizeof buffer_);
  explicit_bzero(&spare_, sizeof spare_);
}

std::uint64_t ExactNormals::word() {
  if (next_ == buffer_.size()) {
    words_(buffer_);
    next_ = 0;
  }
  return std::exchange(buffer_[next_++], 0);
}

std::uint32_t ExactNormals::half_word() {
  if (!has_spare_) spare_ = word();
  has_spare_ = !has_spare_;
  return static_cast<std::uint32_t>(has_spare_ ? spare_ >> 32 : spare_);
}

// Uniform in 0, ..., n - 1 (Lemire, 2019).
std::uint32_t ExactNormals::below(std::uint32_t n) {
  for (;;) {
    const std::uint64_t product = std::uint64_t{half_word()} * n;
    if (const auto low = static_cast<std::uint32_t>(product); low >= n || low >= (0u - n) % n)
      return static_cast<std::uint32_t>(product >> 32);
  }
}

// Whether a fresh uniform number lies below x, whose digits are drawn as they are needed.
bool ExactNormals::below(Digits& x) {
  const std::uint64_t first = word();
  if (first != x.first) return first < x.first;
  if (!x.two) x.second = word(), x.two = true;
  return word() < x.second;
}

// True with probability e^{-1/2}. As everywhere below, e^{-g} for g <= 1 is the probability that the first of events
// of probability g, g/2, g/3, ... to fail has an odd number.
bool ExactNormals::half_exponential() {
  std::uint32_t n = 1;
  while (below(2 * n) == 0) ++n;
  return n % 2 == 1;
}

// True with probability exp(-x (2k + x) / (2k + 2)).
bool ExactNormals::exponential(std::uint32_t k, Digits& x) {
  const auto happens = [&](std::uint32_t n) {
    if (n > 1 && below(n) != 0) return false;
    if (!below(x)) return false;
    const std::uint32_t part = below(2 * k + 2);
    return part < 2 * k || (part == 2 * k && below(x));
  };
  std::uint32_t n = 1;
  while (happens(n)) ++n;
  return n % 2 == 1;
}

// k + x, where k has probability proportional to exp(-k/2) exp(-k(k-1)/2) and x is kept with exp(-x(2k+x)/2): the
// three make exp(-(k+x)^2/2).
std::int64_t ExactNormals::next(int s) {
  require(s >= 1 && s <= 56, fmt::format("scale = {}: must lie in [1, 56]", s));
  for (;;) {
    std::uint32_t k = 0;
    while (half_exponential()) ++k;
    bool kept = k <= 64;  // beyond lies less than e^-2000
    for (std::uint32_t i = 0; kept && i < k * (k - 1); ++i) kept = half_exponential();
    if (!kept) continue;
    Digits x{.first = word()};
    for (std::uint32_t i = 0; kept && i <= k; ++i) kept = exponential(k, x);
    if (!kept) continue;
    const auto whole = static_cast<std::int64_t>((std::uint64_t{k} << s) + (x.first >> (64 - s)));
    return below(2) == 0 ? whole : -whole - 1;
  }
}

}  // namespace hearsay
