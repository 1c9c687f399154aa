// Principal components of genotypes that stay packed: what geneticists call the PCA of the standardized genotypes.
//
//   const GenotypeCounts counts = count_calls(view);
//   const auto found = solve_pca(view, counts, request);
//   GenotypeCovariance<double>(view, counts).scores(found.pca.power.basis, scores);
#pragma once

#include "hearsay/export.hpp"
#include "hearsay/operators/genotypes.hpp"
#include "hearsay/solve.hpp"

namespace hearsay {

/// In the precision of the settings, from the samples' side where there are fewer of them than SNPs. Of the result,
/// `mean` is 2 p of each SNP, `scale` sqrt(2 p (1 - p)), and `constant` the SNPs that were left out, whose loadings are
/// zero. The matrix is divided by n - 1; other programs divide by the number of SNPs: theirs are the eigenvalues times
/// (n - 1) over that number. Throws DataError where no SNP varies.
HEARSAY_API PcaSolution<double> solve_pca(const GenotypeView& data, const GenotypeCounts& counts,
                                          const Request& request);

}  // namespace hearsay
