// The covariance of genotypes that stay packed, two bits a call, as PLINK's .bed files store them.
//
//   z_ij = (g_ij - 2 p_j) / sqrt(2 p_j (1 - p_j))     sample i, SNP j (Patterson, Price and Reich, 2006)
//
// g is 0, 1 or 2 copies of the first allele, p_j its share among the calls of SNP j. A missing call counts as the mean,
// so that z is zero. A SNP of which only one allele was seen has no scale: it is left out, as a column of zeros.
//
// Products unpack a few calls at a time in cache and multiply them there: memory is read at two bits a call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"

namespace hearsay {

/// Calls that someone else owns, SNP by SNP. Every SNP begins on a byte; a byte holds four calls, the first in its
/// lowest bits: 0 is two copies of the first allele, 2 one copy, 3 none, and 1 a missing call.
struct GenotypeView {
  Index samples = 0;
  Index snps = 0;
  const std::uint8_t* calls = nullptr;
  std::string name = "genotypes";  ///< what messages begin with

  Index bytes_per_snp() const { return (samples + 3) / 4; }
};

/// How often each call comes, of one SNP.
struct CallCounts {
  std::uint32_t two = 0, one = 0, none = 0;  ///< copies of the first allele
  std::uint32_t missing = 0;

  std::uint32_t called() const { return two + one + none; }
  std::uint32_t alleles() const { return 2 * two + one; }  ///< of the first kind, among 2 called()
  bool varies() const { return alleles() > 0 && alleles() < 2 * called(); }
};

/// What one reading of the calls shows.
struct GenotypeCounts {
  std::vector<CallCounts> of_snp = {};
  std::vector<Index> left_out = {};  ///< SNPs, from 0, of which at most one allele was seen
  Index without_call = 0;            ///< among them, those that have no call at all
  std::int64_t missing = 0;          ///< calls
  Index samples_missing = 0;         ///< samples that have any missing call
  Index samples_empty = 0;           ///< samples that have nothing else
};

/// Throws InvalidArgument for an empty table, DataError where bits behind the last call of a SNP are set: then the
/// number of samples is wrong.
HEARSAY_API GenotypeCounts count_calls(const GenotypeView& data);

/// Z'Z / (n - 1), or from the samples' side ZZ' / (n - 1), which reads the calls once for a product and not twice.
template <class S>
class HEARSAY_API GenotypeCovariance {
 public:
  using Scalar = S;

  /// Both are borrowed.
  GenotypeCovariance(const GenotypeView& data, const GenotypeCounts& counts, bool by_samples = false);
  GenotypeCovariance(const GenotypeView&, GenotypeCounts&&, bool = false) = delete;

  Index dim() const { return by_samples_ ? data_.samples : data_.snps; }
  void apply(ConstBlockView<S> X, BlockView<S> Y) const;
  OperatorFacts facts() const;

  const Vector<double>& mean() const { return mean_; }    ///< 2 p, of each SNP; zero where there is no call
  const Vector<double>& scale() const { return scale_; }  ///< sqrt(2 p (1 - p)); one where a SNP is left out
  double divisor() const { return divisor_; }             ///< n - 1, at least 1
  double total_variance() const { return total_variance_; }

  void to_features(ConstBlockView<S> V, BlockView<S> out) const;  ///< Z'V, V n x p
  void scores(ConstBlockView<S> X, BlockView<S> out) const;       ///< Z X, X snps x p

 private:
  void unpack(Index first_snp, Index snps, Index first_sample, Index samples, S* tile) const;
  void multiply_snps(Index first, Index count, const S* V_packed, const S* sums, Index p, S* tile, S* T) const;
  void add_samples(Index first, Index count, S* T, Index p, S* tile, S* packed, S* Y) const;
  template <class Visit>
  void sum_over_snps(BlockView<S> Y, const Visit& visit) const;
  void apply_by_samples(ConstBlockView<S> V, BlockView<S> Y) const;

  GenotypeView data_;
  const GenotypeCounts* counts_;
  bool by_samples_;
  Vector<double> mean_, scale_;
  // As products see a SNP: copies of its rarer allele, less their mean, times the factor, which is negative where that
  // is the second allele. So hardly a digit cancels, and a SNP that is left out has the factor zero.
  Vector<S> offset_, factor_;
  double divisor_ = 1, total_variance_ = 0;
};

}  // namespace hearsay
