#include "solver/shadow.hpp"

#include <algorithm>
#include <cmath>

#include "hearsay/linalg.hpp"

namespace hearsay::detail {

namespace {

// Cycles after which the chain is no longer followed: each costs n^2 numbers, and the statement goes unproven.
constexpr std::size_t most_cycles = 40;

// A cut between two Ritz values must lie this many residuals away from both.
constexpr double clear_of_residuals = 8;

Small<double> padded(const Small<double>& M, Index columns) {
  Small<double> wide = Small<double>::Zero(M.rows(), columns);
  wide.leftCols(M.cols()) = M;
  return wide;
}

double norm_of(const Small<double>& M) {
  if (M.size() == 0) return 0;
  if (!M.allFinite()) return std::numeric_limits<double>::infinity();
  const double scale = M.cwiseAbs().maxCoeff();
  if (!(scale > 0)) return 0;
  const Small<double> scaled = M / scale;
  return scale * std::sqrt(std::max(0.0, symmetric_eigen<double>(scaled * scaled.transpose()).values(0)));
}

// L M, by kernels that know this processor.
Small<double> times(const Small<double>& L, const Block<double>& M) {
  return gram<double>(Eigen::Map<const Block<double>>(L.data(), L.cols(), L.rows()), M);
}

}  // namespace

void Shadow::add_columns(const Small<double>& rows) {
  added_.push_back({cycles_.size(), rows});
  columns_ += rows.rows();
}

void Shadow::restart(const Vector<double>& theta, const Small<double>& U, const Small<double>& T, Index kept) {
  if (cycles_.size() >= most_cycles) {  // given up
    cycles_.clear();
    added_.clear();
    columns_ = 0;
    return;
  }
  if (columns_ > 0) cycles_.push_back({theta, U, T, kept});
}

// Lambda(mu), m x n: Omega'u = Lambda K'u in the present space.
Small<double> Shadow::lambda(double mu) const {
  Small<double> L(0, 0);
  auto next = added_.begin();
  for (std::size_t c = 0; c <= cycles_.size(); ++c) {
    for (; next != added_.end() && next->cycle == c; ++next) {
      const Index columns = std::max(L.cols(), next->rows.cols());
      Small<double> taller(L.rows() + next->rows.rows(), columns);
      taller << padded(L, columns), padded(next->rows, columns);
      L.swap(taller);
    }
    if (c == cycles_.size()) break;
    const auto& [theta, U, T, p] = cycles_[c];
    const Index n = theta.size(), w = T.rows(), dropped = n - p;
    L = padded(L, std::max(L.cols(), n));
    const Small<double> LU = times(L.leftCols(n), U);
    Small<double> kept(L.rows(), p + w);
    const Vector<double> weights = (mu - theta.tail(dropped).array()).inverse();
    kept.leftCols(p) = LU.leftCols(p);
    kept.rightCols(w) = LU.rightCols(dropped) * weights.asDiagonal() * T.rightCols(dropped).transpose();
    if (L.cols() > n) kept.middleCols(p, L.cols() - n) += L.rightCols(L.cols() - n);
    L.swap(kept);
  }
  return L;
}

Shadow::Proof Shadow::prove(const Space& space, Index q, double x) const {
  Proof proof;
  const Vector<double>& theta = space.theta;
  const Index n = theta.size(), m = columns_;
  if (m == 0 || q > n || !(q > 0 || x > theta(0))) return proof;
  if (lambda(x).cols() > n) return proof;  // columns have joined that no product has met yet
  const Vector<double> r = space.T.colwise().norm();
  // the eigenvectors asked about are u_{a+1} .. u_{b+1} for some 0 <= a < b <= q
  const double each = 2 * miss_probability / (static_cast<double>(q + 1) * static_cast<double>(q + 2));
  const bool fixed = cycles_.empty();  // Lambda does not depend on mu, and Lambda U is made once
  const Small<double> U = fixed ? Small<double>() : space.vectors();
  const Small<double> L_fixed = fixed ? padded(lambda(0), n) : Small<double>();
  const Small<double> LU_fixed = fixed ? space.times_vectors(L_fixed) : Small<double>();
  double norm_fixed = -1;
  const auto clear = [&](Index e) {  // a cut above the e-th value, counted from zero
    const double below = e == q ? x : theta(e);
    const double gap = theta(e - 1) - below;
    return gap > clear_of_residuals * (r(e - 1) + (e == q ? 0 : r(e))) + 2 * space.error ? gap : 0;
  };

  double high = std::max(theta(0), x) + std::max(theta(0) - x, 0.5 * std::abs(theta(0)));
  for (Index first = 0; first < q || (q == 0 && !proof.complete);) {
    // a group of Ritz values, ended by the widest cut among the next few
    Index end = 0;
    double widest = 0;
    const Index few = std::max<Index>(1, m / 2);
    for (Index e = first + 1; e <= q && (e <= first + few || widest == 0); ++e)
      if (const double gap = clear(e); gap > widest || (e == q && gap > 0 && e <= first + few)) widest = gap, end = e;
    const Index c = end - first;
    if ((widest == 0 && q > 0) || c + 1 > m) {
      proof.too_few = (widest == 0 ? q - first : c) + 1 > m;
      return proof;
    }
    const double low = end == q ? x : (theta(end - 1) + theta(end)) / 2;
    Small<double> at_poles(m, fixed ? 0 : c);  // columns of Lambda U, each at its own Ritz value
    for (Index i = 0; i < at_poles.cols(); ++i)
      at_poles.col(i) = padded(lambda(theta(first + i)), n) * U.col(first + i);

    const double threshold = least_shadow(m, c + 1, each) / std::sqrt(static_cast<double>(c + 1));
    for (const double part : {0.0, 0.1, 0.3, 0.6, 1.0}) {
      const double mu = low + part * (high - low);
      const Small<double> L_here = fixed ? Small<double>() : padded(lambda(mu), n);
      const Small<double>& L = fixed ? L_fixed : L_here;
      Vector<double> weights = (mu - theta.array()).inverse();
      weights.segment(first, c).setZero();
      const Block<double> weighted = weights.asDiagonal() * space.T.transpose();
      const Small<double> others = fixed ? times(LU_fixed, weighted) : times(L, times(U, weighted));
      const double error = space.error * weights.cwiseAbs().maxCoeff();
      double own = 0;
      for (Index i = 0; i < at_poles.cols(); ++i)
        if (mu != theta(first + i))
          own += r(first + i) / std::abs(mu - theta(first + i)) * (L * U.col(first + i) - at_poles.col(i)).norm();
      if (others.norm() + L.norm() * error + own < threshold) continue;  // spectral norms are smaller, and cost more
      if (!fixed || norm_fixed < 0) norm_fixed = norm_of(L);
      if (!(norm_of(others) + norm_fixed * error + own < threshold)) return proof;
    }
    proof.proved = {.count = end, .above = low};
    high = low;
    first = end;
    proof.complete = first == q;
  }
  return proof;
}

}  // namespace hearsay::detail
