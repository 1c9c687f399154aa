#include "hearsay/kmeans.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cluster/kmeans_steps.hpp"
#include "hearsay/error.hpp"
#include "linalg/labels.hpp"

namespace hearsay {
namespace {

void validate(ConstBlockView<double> points, const KMeansOptions& options) {
  require(points.rows() >= 1 && points.cols() >= 1,
          fmt::format("points are {} x {}: neither side may be empty", points.rows(), points.cols()));
  require(options.clusters >= 1 && options.clusters <= points.rows(),
          fmt::format("clusters = {}: must lie in [1, {}], the number of points", options.clusters, points.rows()));
  require(options.restarts >= 1, fmt::format("restarts = {}: must be at least 1", options.restarts));
  require(options.max_iterations >= 1, fmt::format("max_iterations = {}: must be at least 1", options.max_iterations));
  require(options.tolerance >= 0 && std::isfinite(options.tolerance),
          fmt::format("tolerance = {}: must be finite and not negative", options.tolerance));
  for (Index i = 0; i < points.rows(); ++i)
    for (Index t = 0; t < points.cols(); ++t)
      if (!std::isfinite(points(i, t)))
        throw DataError(fmt::format("points({}, {}) = {}: must be finite", i, t, points(i, t)));
}

// The exponent e for which the largest |entry| of 2^-e X lies in [1/2, 1): squares then neither overflow nor vanish,
// and the scaling itself is exact.
int scale_exponent(ConstBlockView<double> points) {
  int exponent = 0;
  std::frexp(points.cwiseAbs().maxCoeff(), &exponent);
  return exponent;
}

KMeansResult with_canonical_names(KMeansResult result) {
  const auto k = result.centers.rows();
  const auto names = detail::canonical_names(result.assignment, static_cast<std::size_t>(k));
  for (std::int32_t& label : result.assignment) label = names[static_cast<std::size_t>(label)];
  Block<double> centers(k, result.centers.cols());
  for (Index j = 0; j < k; ++j) centers.row(names[static_cast<std::size_t>(j)]) = result.centers.row(j);
  result.centers = std::move(centers);
  return result;
}

}  // namespace

KMeansResult kmeans(ConstBlockView<double> points, const KMeansOptions& options) {
  validate(points, options);
  const int exponent = scale_exponent(points);
  const auto rescale = [](double value, int power) { return std::ldexp(value, power); };
  const Block<double> X = points.unaryExpr([&](double x) { return rescale(x, -exponent); });

  KMeansResult best;
  best.inertia = detail::infinity;
  for (Index restart = 0; restart < options.restarts; ++restart) {
    Block<double> centers =
        detail::seed_centers(X, options.clusters, options.seed, static_cast<std::uint32_t>(restart));
    KMeansResult result = detail::lloyd(X, std::move(centers), options);
    if (result.inertia < best.inertia) best = std::move(result);
  }

  best = with_canonical_names(std::move(best));
  best.centers = best.centers.unaryExpr([&](double c) { return rescale(c, exponent); });
  best.inertia = rescale(best.inertia, 2 * exponent);
  return best;
}

}  // namespace hearsay
