// Gaussian noise whose law holds to the last bit, from random words that nobody can foretell.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>

#include "hearsay/export.hpp"

namespace hearsay {

/// Fills what it is given with independent, uniform words.
using SecretWords = std::function<void(std::span<std::uint64_t>)>;

/// The operating system's generator: no state of it lies in this process, so none is copied by a fork or a snapshot of
/// its memory. Throws Error where the system gives none; there is no other source to fall back on.
HEARSAY_API SecretWords system_words();

/// Words that a seed repeats. What is made of them is NOT private: for tests alone.
HEARSAY_API SecretWords insecure_words(std::uint64_t seed);

/// floor(2^s N) for N normal, exactly. N is drawn digit by digit by comparing uniform numbers (Karney, "Sampling
/// exactly from the normal distribution", ACM TOMS 42, 2016): no logarithm, no rounding, and no value that can not
/// occur. Digits beyond the 128th are taken to differ, which errs with probability 2^-128.
class HEARSAY_API ExactNormals {
 public:
  explicit ExactNormals(SecretWords words) : words_(std::move(words)) {}
  ExactNormals(const ExactNormals&) = delete;  // the same numbers must never come twice
  ExactNormals& operator=(const ExactNormals&) = delete;
  ~ExactNormals();

  /// For s from 1 to 56.
  std::int64_t next(int s);

 private:
  struct Digits {
    std::uint64_t first = 0, second = 0;
    bool two = false;
  };

  std::uint64_t word();
  std::uint32_t half_word();
  std::uint32_t below(std::uint32_t n);
  bool below(Digits& x);
  bool half_exponential();
  bool exponential(std::uint32_t k, Digits& x);

  SecretWords words_;
  std::array<std::uint64_t, 512> buffer_ = {};
  std::size_t next_ = buffer_.size();
  std::uint64_t spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace hearsay
