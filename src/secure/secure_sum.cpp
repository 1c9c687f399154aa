#include "secure/secure_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "hearsay/error.hpp"

namespace hearsay::secure {
namespace {

static_assert(std::endian::native == std::endian::little, "key streams are read as little-endian words");

constexpr int most_agents = 1 << 20;
constexpr std::size_t most_words = std::size_t{1} << 32;  // half the blocks that a nonce has

void require_agent(int agent, int agents) {
  if (agent < 0 || agent >= agents)
    throw CommunicationError(fmt::format("agent {}: there are {} in this sum", agent, agents));
}

void append(std::vector<std::uint8_t>& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void append(std::vector<std::uint8_t>& bytes, std::uint32_t number) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

// Both ends write the same: the lower number first.
std::vector<std::uint8_t> pair_info(int low, const PublicKey& low_key, int high, const PublicKey& high_key,
                                    int agents) {
  constexpr std::string_view name = "hearsay secure sum 1";
  std::vector<std::uint8_t> info(name.begin(), name.end());
  append(info, static_cast<std::uint32_t>(agents));
  append(info, static_cast<std::uint32_t>(low));
  append(info, static_cast<std::uint32_t>(high));
  append(info, low_key);
  append(info, high_key);
  return info;
}

}  // namespace

FixedPoint fixed_point(int agents, double bound) {
  require(agents >= 1 && agents <= most_agents, fmt::format("agents = {}: must lie in [1, {}]", agents, most_agents));
  require(bound > 0 && std::isfinite(bound), fmt::format("bound = {}: must be positive and finite", bound));
  int exponent = 0;
  std::frexp(bound, &exponent);                                            // bound < 2^exponent
  const int room = std::bit_width(static_cast<unsigned>(agents - 1)) + 1;  // agents <= 2^(room-1); 1 for the halves
  const int shift = 63 - room - exponent;
  require(shift >= -1000 && shift <= 1000,
          fmt::format("bound = {}: is too small or too large for a fixed point", bound));
  return {.agents = agents, .bound = bound, .shift = shift, .error = std::ldexp(agents, -shift - 1)};
}

void encode(const FixedPoint& format, std::span<const double> numbers, std::span<std::uint64_t> words) {
  require(numbers.size() == words.size(), "words: must be as many as there are numbers");
  bool within = true;
  for (const double x : numbers) within = within && std::abs(x) <= format.bound;
  if (!within) throw DataError("a number of the block is not within the stated bound");
  for (std::size_t i = 0; i < numbers.size(); ++i)
    words[i] =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(std::nearbyint(std::ldexp(numbers[i], format.shift))));
}

void decode(const FixedPoint& format, std::span<const std::uint64_t> words, std::span<double> numbers) {
  require(numbers.size() == words.size(), "numbers: must be as many as there are words");
  for (std::size_t i = 0; i < words.size(); ++i)
    numbers[i] = std::ldexp(static_cast<double>(static_cast<std::int64_t>(words[i])), -format.shift);
}

MaskedAgent::MaskedAgent(int agent, int agents, const RunId& run, SecretKey secret)
    : agent_(agent), agents_(agents), run_(run), secret_(std::move(secret)), public_key_(x25519_public(secret_)) {
  require(agents >= 2 && agents <= most_agents,
          fmt::format("agents = {}: must lie in [2, {}]: the sum of one shows its summand", agents, most_agents));
  require_agent(agent, agents);
}

void MaskedAgent::meet(int agent, const PublicKey& key) {
  require_agent(agent, agents_);
  if (agent == agent_ || key == public_key_)
    throw CommunicationError(fmt::format("agent {}: has the number or the key of agent {} itself", agent, agent_));
  if (const auto met = keys_.find(agent); met != keys_.end()) {
    if (met->second.key == key) return;  // a message that came twice
    throw CommunicationError(fmt::format("agent {}: sends a second key in one run", agent));
  }
  const bool lower = agent_ < agent;
  const auto info =
      lower ? pair_info(agent_, public_key_, agent, key, agents_) : pair_info(agent, key, agent_, public_key_, agents_);
  const SecretKey secret = x25519_shared(secret_, key);
  SecretKey shared;
  hkdf_sha256(secret.bytes(), run_, info, shared.bytes());
  keys_.emplace(agent, Peer{key, std::move(shared)});
  if (complete()) secret_ = SecretKey();
}

void MaskedAgent::mask(std::uint64_t round, std::span<std::uint64_t> block) {
  require(complete(), fmt::format("round {}: {} agents have not sent their keys", round,
                                  agents_ - 1 - static_cast<int>(keys_.size())));
  require(!exhausted_ && round >= next_round_,
          fmt::format("round {}: must be above the last one, for the masks of a round are used once", round));
  require(block.size() <= most_words, fmt::format("block of {} words: must be at most {}", block.size(), most_words));
  exhausted_ = round == std::numeric_limits<std::uint64_t>::max();
  next_round_ = round + 1;

  std::array<std::uint8_t, 12> nonce{};
  for (unsigned i = 0; i < 8; ++i) nonce[i] = static_cast<std::uint8_t>(round >> (8 * i));
  std::array<std::uint64_t, 512> stream{};
  for (const auto& [other, peer] : keys_) {
    ChaCha20 source(peer.shared, nonce);
    for (std::size_t at = 0; at < block.size(); at += stream.size()) {
      const std::size_t count = std::min(stream.size(), block.size() - at);
      source.next({reinterpret_cast<std::uint8_t*>(stream.data()), count * sizeof stream[0]});
      for (std::size_t i = 0; i < count; ++i)
        block[at + i] += agent_ < other ? stream[i] : std::uint64_t{0} - stream[i];
    }
  }
  wipe(stream.data(), sizeof stream);
}

MaskedRound::MaskedRound(std::uint64_t round, int agents, std::size_t words)
    : round_(round), here_(static_cast<std::size_t>(std::max(agents, 0))), sum_(words) {
  require(agents >= 2 && agents <= most_agents, fmt::format("agents = {}: must lie in [2, {}]", agents, most_agents));
}

void MaskedRound::add(int agent, std::uint64_t round, std::span<const std::uint64_t> masked) {
  require_agent(agent, static_cast<int>(here_.size()));
  const auto refuse_unless = [&](bool holds, std::string_view why) {
    if (!holds) throw CommunicationError(fmt::format("round {}: the masked block of agent {} {}", round_, agent, why));
  };
  refuse_unless(round == round_, "is of another round");
  refuse_unless(masked.size() == sum_.size(), "has another size");
  refuse_unless(!here_[static_cast<std::size_t>(agent)], "is there already");
  here_[static_cast<std::size_t>(agent)] = true;
  for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += masked[i];
}

std::span<const std::uint64_t> MaskedRound::sum() const {
  std::string missing;
  for (std::size_t agent = 0; agent < here_.size(); ++agent)
    if (!here_[agent]) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", agent);
  if (!missing.empty())
    throw CommunicationError(
        fmt::format("round {}: nothing came of agents {}: the round is refused, for only the masks of all cancel",
                    round_, missing));
  return sum_;
}

}  // namespace hearsay::secure
