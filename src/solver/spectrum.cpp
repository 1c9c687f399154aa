#include "hearsay/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hearsay/dense_eigen.hpp"
#include "hearsay/error.hpp"
#include "hearsay/subspace.hpp"

namespace hearsay {

template <class S>
Spectrum find_spectrum(OperatorRef<S> exact, const PowerOptions& options) {
  const Index d = exact.dim(), k = options.rank;
  require(k >= 1 && k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
  Spectrum spectrum{.dimension = d};
  Vector<double>& values = spectrum.values;
  if (d <= largest_dense_dimension) {
    const DenseEigen<S> eigen = dense_eigen<S>(exact, largest_dense_dimension);
    values = eigen.values.template cast<double>();
    spectrum.vectors = eigen.vectors.template cast<double>();
    spectrum.source = "a dense eigensolver";
  } else {
    const PowerOptions exactly{.rank = std::min(k + 1, d),
                               .tolerance = std::max(tolerance_of<S>(options), 1e-8),
                               .max_iterations = std::max<Index>(iteration_limit(options), 10000),
                               .seed = options.seed};
    const PowerResult<S> solved = principal_subspace<S>(exact, exactly);
    values = solved.eigenvalues.template cast<double>();
    spectrum.source = fmt::format("a noise-free solve for {} eigenvalues ({}, residual {:.1e}, {} passes)",
                                  exactly.rank, name(solved.status), solved.residual, solved.passes);
  }
  spectrum.lambda_k = values(k - 1);
  spectrum.lambda_next = k < d ? std::max(0.0, values(k)) : 0.0;
  return spectrum;
}

template Spectrum find_spectrum<float>(OperatorRef<float>, const PowerOptions&);
template Spectrum find_spectrum<double>(OperatorRef<double>, const PowerOptions&);

}  // namespace hearsay
