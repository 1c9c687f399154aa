// The two sums behind a private covariance, as whoever keeps rows makes them: of the rows, and of their outer products;
// in integers, with noise added, modulo 2^64. Such words add up to those of all rows together, so that keepers who
// each add a part of the noise release one covariance among them (docs/algorithms/private.md, "Among agents").
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/private_covariance.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay {

/// Words that may show rows to whoever has not the other parts of the noise: overwritten when they go.
class HEARSAY_API PrivateWords {
 public:
  PrivateWords() = default;
  explicit PrivateWords(std::size_t count) : words_(count, 0) {}
  PrivateWords(PrivateWords&& other) noexcept : words_(std::exchange(other.words_, {})) {}
  PrivateWords& operator=(PrivateWords&& other) noexcept;
  PrivateWords(const PrivateWords&) = delete;
  PrivateWords& operator=(const PrivateWords&) = delete;
  ~PrivateWords();

  std::span<std::uint64_t> span() { return words_; }
  std::span<const std::uint64_t> span() const { return words_; }
  std::size_t size() const { return words_.size(); }
  std::uint64_t& operator[](Index i) { return words_[static_cast<std::size_t>(i)]; }
  std::uint64_t operator[](Index i) const { return words_[static_cast<std::size_t>(i)]; }

 private:
  std::vector<std::uint64_t> words_;
};

/// A release of which one keeper adds 1/parts of the variance of the noise: sigma, mean_sigma and the scales are what
/// it adds; mu, matrix_mu and mean_mu are what noise of `parts` keepers together leaves.
HEARSAY_API ReleasePlan plan_part(const PrivacySettings& settings, Index features, Index parts);

/// d words. Throws DataError, which says no more, for an entry that is not finite.
HEARSAY_API PrivateWords noisy_sum_of_rows(RowSource<double>& rows, const PrivacySettings& settings,
                                           const ReleasePlan& plan, ExactNormals& normals);
/// d (d + 1) / 2 words: the upper triangle by columns, entries beside the diagonal twice.
HEARSAY_API PrivateWords noisy_sum_of_squares(RowSource<double>& rows, const Vector<double>& center,
                                              const PrivacySettings& settings, const ReleasePlan& plan,
                                              ExactNormals& normals);

/// What was released, of the words of all keepers added up.
HEARSAY_API Vector<double> mean_from(const PrivateWords& sum, const ReleasePlan& plan, Index public_rows);
HEARSAY_API Block<double> matrix_from(const PrivateWords& sum, const ReleasePlan& plan, Index features);

}  // namespace hearsay
