// What a run is summed up by: how far the agents are apart, and a digest of what they hold.
#include "decentralized/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hearsay/angles.hpp"
#include "hearsay/decentralized.hpp"

namespace hearsay {
namespace {

constexpr std::size_t most_for_all_pairs = 64;

// FNV-1a (Fowler, Noll, Vo), 64 bits, byte by byte.
class Fnv {
 public:
  template <class T>
  void add(T value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 0x100000001b3ull;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ull;
};

}  // namespace

std::string detail::floor_note(double agreement, Index rounds) {
  return fmt::format("each agent came to rest, {:.2g} apart from the others: {} rounds an iteration allow no more",
                     agreement, rounds);
}

const char* name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::depm:
      return "depm";
    case Algorithm::adepm:
      return "adepm";
    case Algorithm::deepca:
      return "deepca";
    case Algorithm::adeepca:
      return "adeepca";
  }
  return "unknown";
}

double basis_agreement(std::span<const Block<double>> bases) {
  double largest = 0, second = 0;
  if (bases.size() <= most_for_all_pairs) {
    for (std::size_t i = 0; i < bases.size(); ++i)
      for (std::size_t j = i + 1; j < bases.size(); ++j)
        largest = std::max(largest, sin_theta<double>(bases[i], bases[j]));
    return largest;
  }
  for (const Block<double>& basis : bases.subspan(1)) {
    const double sine = sin_theta<double>(bases.front(), basis);
    second = std::max(second, std::min(sine, largest));
    largest = std::max(largest, sine);
  }
  return std::min(1.0, largest + second);
}

std::uint64_t digest_of(const Block<double>& block) {
  Fnv hash;
  hash.add(static_cast<std::int64_t>(block.rows()));
  hash.add(static_cast<std::int64_t>(block.cols()));
  for (Index i = 0; i < block.rows(); ++i)
    for (Index j = 0; j < block.cols(); ++j) hash.add(block(i, j));
  return hash.value();
}

std::uint64_t digest_of(std::span<const std::uint64_t> digests) {
  Fnv hash;
  for (const std::uint64_t digest : digests) hash.add(digest);
  return hash.value();
}

}  // namespace hearsay
