// Genotypes with their table of calls, and the dense matrix that products with them stand for.
#pragma once

#include <hearsay/operators/genotypes.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace hearsay::test {

struct Genotypes {
  Eigen::MatrixXi calls;  ///< samples x SNPs: copies of the first allele, -1 where missing
  std::vector<std::uint8_t> packed = {};

  void pack() {
    const Index stride = (calls.rows() + 3) / 4;
    packed.assign(static_cast<std::size_t>(stride * calls.cols()), 0);
    for (Index j = 0; j < calls.cols(); ++j)
      for (Index i = 0; i < calls.rows(); ++i) {
        const int copies = calls(i, j);
        const unsigned code = copies == 2 ? 0U : copies == 1 ? 2U : copies == 0 ? 3U : 1U;
        std::uint8_t& byte = packed[static_cast<std::size_t>(j * stride + i / 4)];
        byte = static_cast<std::uint8_t>(byte | (code << (2 * (i % 4))));
      }
  }
  GenotypeView view() const { return {.samples = calls.rows(), .snps = calls.cols(), .calls = packed.data()}; }
};

/// Each SNP with a frequency of its own; of the calls so large a share is missing.
inline Genotypes random_genotypes(Index samples, Index snps, double missing, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Genotypes made{.calls = Eigen::MatrixXi(samples, snps)};
  for (Index j = 0; j < snps; ++j) {
    const double p = 0.02 + 0.96 * uniform();
    for (Index i = 0; i < samples; ++i) {
      made.calls(i, j) = (uniform() < p ? 1 : 0) + (uniform() < p ? 1 : 0);
      if (uniform() < missing) made.calls(i, j) = -1;
    }
  }
  made.pack();
  return made;
}

/// By the formula: centred at 2 p, divided by sqrt(2 p (1 - p)), a missing call and a SNP without variation at zero.
inline Block<double> standardized(const Eigen::MatrixXi& calls) {
  Block<double> Z = Block<double>::Zero(calls.rows(), calls.cols());
  for (Index j = 0; j < calls.cols(); ++j) {
    double alleles = 0, called = 0;
    for (Index i = 0; i < calls.rows(); ++i)
      if (calls(i, j) >= 0) alleles += calls(i, j), ++called;
    const double p = called > 0 ? alleles / (2 * called) : 0;
    if (!(p > 0 && p < 1)) continue;
    for (Index i = 0; i < calls.rows(); ++i)
      if (calls(i, j) >= 0) Z(i, j) = (calls(i, j) - 2 * p) / std::sqrt(2 * p * (1 - p));
  }
  return Z;
}

}  // namespace hearsay::test
