// Rectangular matrices with singular values that are known, and a judge of what is said of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <hearsay/angles.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/solve_svd.hpp>
#include <vector>

#include "support/random_block.hpp"
#include "support/reference.hpp"
#include "support/sparse.hpp"

namespace hearsay::test {

/// m x n, with these singular values; the vectors are random.
inline Block<double> planted_rectangle(Index m, Index n, const std::vector<double>& values, std::uint64_t seed) {
  const auto k = static_cast<Index>(values.size());
  const Dense U = reference_orthonormal(random_block(m, k, seed)),
              V = reference_orthonormal(random_block(n, k, seed + 1));
  return U * Eigen::Map<const Eigen::VectorXd>(values.data(), k).asDiagonal() * V.transpose();
}

inline Request svd_asking_for(Index rank) {
  Request request;
  request.settings.power.rank = rank;
  return request;
}

inline double apart_from_orthonormal(const Block<double>& X) {
  return (X.transpose() * X - Dense::Identity(X.cols(), X.cols())).cwiseAbs().maxCoeff();
}

/// Everything that a result claims, against all singular values and vectors of A, which must not be extreme: the number
/// of claims that do not hold, each of them told.
inline int wrong_words(const Block<double>& A, const SvdResult<double>& svd, double tolerance,
                       std::optional<double> accuracy = {}) {
  int wrong = 0;
  const auto hold = [&](bool holds, const std::string& what) {
    if (!holds) ++wrong;
    EXPECT_TRUE(holds) << what;
  };
  const Index k = svd.singular_values.size(), small = std::min(A.rows(), A.cols());
  const bool wide = A.rows() < A.cols();
  const RightVectors of_small = wide ? reference_right_vectors(A.transpose()) : reference_right_vectors(A);
  const Vector<double>& sigma = of_small.values;
  const Vector<double>& s = svd.singular_values;
  const double largest = sigma(0), own = 1e-15 * static_cast<double>(small) * largest;  // what the judge itself rounds
  hold(apart_from_orthonormal(svd.left) < 1e-12, "the left vectors are not orthonormal");
  hold(apart_from_orthonormal(svd.right) < 1e-12, "the right vectors are not orthonormal");
  const double forward = (A * svd.right - svd.left * s.asDiagonal()).norm();
  const double backward = (A.transpose() * svd.left - svd.right * s.asDiagonal()).norm();
  hold(std::max(forward, backward) <= svd.within + own, "A V = U S or A'U = V S do not hold as said");
  for (Index i = 0; i < k; ++i) {
    hold(sigma(i) >= s(i) - svd.rounding - own, "a singular value is too large");
    if (svd.errors_are == Knowledge::bound) hold(sigma(i) <= s(i) + svd.errors(i) + own, "a bound does not hold");
    if (svd.errors_are == Knowledge::estimate && svd.status == Status::converged)
      hold(sigma(i) <= s(i) + 2 * svd.errors(i) + own, "an estimate is exceeded");
  }
  const Certificate& certificate = svd.certificate;
  if (certificate.nothing_missed == Knowledge::bound) {
    const double above = certificate.nothing_missed_above * (1 + 1e-12) +
                         1e-7 * largest * (certificate.nothing_missed_above < 1e-6 * largest ? 1 : 0) + own;
    Index beyond = 0;
    for (const double value : sigma) beyond += value > above ? 1 : 0;
    hold(beyond <= certificate.nothing_missed_count, "more lie above than was said");
  }
  if (k < small && certificate.sin_theta == Knowledge::bound) {
    const Block<double> solved = of_small.V.leftCols(k);
    const double sine = sin_theta<double>(solved, wide ? svd.left : svd.right);
    const double judge = own / std::max(sigma(k - 1) - sigma(k), own);
    hold(sine <= certificate.sin_theta_bound + judge, "a bound on sin(theta) does not hold");
    if (sigma(k - 1) > 1e3 * own) {
      const RightVectors of_other =
          wide ? reference_right_vectors(Dense(A)) : reference_right_vectors(Dense(A.transpose()));
      const Block<double> other = of_other.V.leftCols(k);
      hold(sin_theta<double>(other, wide ? svd.right : svd.left) <= certificate.sin_theta_bound + judge,
           "a bound on the other side's sin(theta) does not hold");
    }
  }
  if (svd.status == Status::converged) {
    hold(svd.residual <= tolerance * 1.001, "converged above the tolerance");
    if (accuracy && k < small) {
      const Block<double> solved = of_small.V.leftCols(k);
      hold(sin_theta<double>(solved, wide ? svd.left : svd.right) <= 2 * *accuracy + own / (sigma(k - 1) - sigma(k)),
           "converged above the accuracy");
    }
  }
  return wrong;
}

}  // namespace hearsay::test
