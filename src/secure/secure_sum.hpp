// The sum over agents of a block of integers, and no summand: each agent adds masks that cancel in the sum.
//
//   y_i = x_i + sum_{j > i} s_ij - sum_{j < i} s_ij   (mod 2^64),      sum_i y_i = sum_i x_i
//   s_ij  the ChaCha20 key stream of the pair's key, its nonce the number of the round
//   key   HKDF-SHA256 of the pair's X25519 secret; the salt is the run's id, the info names both agents and their
//   public keys
//
// Reference   Bonawitz et al., "Practical secure aggregation for privacy-preserving machine learning" (CCS 2017),
// Section 4. Departures  Nobody may drop out: a round without an agent is refused, and its masks stay masks. Revealing
// the keys of who is
//             missing would unmask the block of who is only late, unless each block had a second mask whose seed is
//             shared among all; and sums over changing sets of agents differ by one agent's rows, under the noise of
//             that one alone.
// Trust       Agents follow the protocol, and their channels tell who is who: public keys go over those. All agents but
// two may
//             put together what they know: of the two they learn the sum. Where noise is added by each (sigma /
//             sqrt(m)), that sum holds sigma sqrt(h / m) of it, h the agents that do not.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "secure/primitives.hpp"

namespace hearsay::secure {

using RunId = std::array<std::uint8_t, 32>;  ///< the same at every agent, another in every run

/// Real numbers as integers, such that the sum over all agents does not overflow.
struct FixedPoint {
  int agents = 1;
  double bound = 1;  ///< of every number at every agent
  int shift = 0;     ///< a unit is 2^-shift
  double error =
      0;  ///< of a sum of all agents at most, beside the rounding to double of the sum itself: agents 2^-(shift+1)
};

/// A unit such that agents (bound 2^shift + 1/2) <= 2^63 - 1, at most four times the finest. Throws InvalidArgument
/// where there is none.
FixedPoint fixed_point(int agents, double bound);

/// Rounded to nearest. Throws DataError, which tells neither number nor place, for one that is not within the bound.
/// What is exact in double, and a neighbour can move by Delta, moves by up to a unit more a number.
void encode(const FixedPoint& format, std::span<const double> numbers, std::span<std::uint64_t> words);
void decode(const FixedPoint& format, std::span<const std::uint64_t> words, std::span<double> numbers);

/// One agent's keys of one run.
class MaskedAgent {
 public:
  MaskedAgent(int agent, int agents, const RunId& run, SecretKey secret = new_secret());
  MaskedAgent(const MaskedAgent&) = delete;
  MaskedAgent& operator=(const MaskedAgent&) = delete;

  /// To be sent to every other agent, over a channel that proves whose it is.
  const PublicKey& public_key() const { return public_key_; }

  /// Another's. Throws CommunicationError for one's own number or key, another key of the same agent, and a key that
  /// none makes. When the last has come, the secret is overwritten.
  void meet(int agent, const PublicKey& key);
  bool complete() const { return static_cast<int>(keys_.size()) == agents_ - 1; }

  /// Masks a block in place. Rounds only go up: the masks of one are used once, for two blocks under the same masks
  /// would show their difference. Throws InvalidArgument for a round that is not above the last, before all have met,
  /// and for a block above 2^32 words.
  void mask(std::uint64_t round, std::span<std::uint64_t> block);

 private:
  struct Peer {
    PublicKey key;
    SecretKey shared;
  };

  int agent_, agents_;
  RunId run_;
  SecretKey secret_;
  PublicKey public_key_;
  std::map<int, Peer> keys_;
  std::uint64_t next_round_ = 0;
  bool exhausted_ = false;
};

/// The masked blocks of one round brought together, by whoever does.
class MaskedRound {
 public:
  MaskedRound(std::uint64_t round, int agents, std::size_t words);

  /// Throws CommunicationError for an agent that there is not or that has been added, another round or another size.
  void add(int agent, std::uint64_t round, std::span<const std::uint64_t> masked);

  /// Throws CommunicationError, with the agents that are missing: then the masks do not cancel, and nothing is told.
  std::span<const std::uint64_t> sum() const;

 private:
  std::uint64_t round_;
  std::vector<bool> here_;
  std::vector<std::uint64_t> sum_;
};

}  // namespace hearsay::secure
