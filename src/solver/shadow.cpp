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

// Whether at most q eigenvalues lie above x: group by group of Ritz values, from the largest down.
class Shadow::Question {
 public:
  Question(const Shadow& shadow, const Space& space, Index q, double x)
      : shadow_(shadow),
        space_(space),
        theta_(space.theta),
        q_(q),
        x_(x),
        r_(space.T.colwise().norm()),
        // the eigenvectors asked about are u_{a+1} .. u_{b+1} for some 0 <= a < b <= q
        each_(2 * miss_probability / (static_cast<double>(q + 1) * static_cast<double>(q + 2))),
        fixed_(shadow.cycles_.empty()) {
    if (fixed_) {
      L_ = padded(lambda(0), theta_.size());
      LU_ = space.times_vectors(L_);
    } else {
      U_ = space.vectors();
    }
  }

  Proof answer() {
    Proof proof;
    const Index m = shadow_.columns_;
    const double norm = std::max(std::abs(theta_(0)), std::abs(theta_(theta_.size() - 1)));
    double high = std::max(theta_(0), x_) + std::max(theta_(0) - x_, 0.5 * norm);
    for (Index first = 0; first < q_ || (q_ == 0 && !proof.complete);) {
      const Index end = end_of_group(first), c = end - first;
      const bool uncut = end == 0;
      if ((uncut && q_ > 0) || c + 1 > m) {
        proof.too_few = (uncut ? q_ - first : c) + 1 > m;
        return proof;
      }
      const double low = end == q_ ? x_ : (theta_(end - 1) + theta_(end)) / 2;
      if (!holds_no_more(first, c, low, high)) return proof;
      proof.proved = {.count = end, .above = low};
      high = low;
      first = end;
      proof.complete = first == q_;
    }
    return proof;
  }

 private:
  // What eigenvalues mu of sign * A cast: those of A are sign * mu.
  Small<double> lambda(double mu) const { return shadow_.lambda(space_.sign * mu); }

  // The gap of a cut above the e-th value, counted from zero; 0 where it is not clear of the residuals.
  double clear_gap(Index e) const {
    const double below = e == q_ ? x_ : theta_(e);
    const double gap = theta_(e - 1) - below;
    return gap > clear_of_residuals * (r_(e - 1) + (e == q_ ? 0 : r_(e))) + 2 * space_.error ? gap : 0;
  }

  // The widest cut among the next few; 0 where there is none.
  Index end_of_group(Index first) const {
    Index end = 0;
    double widest = 0;
    const Index few = std::max<Index>(1, shadow_.columns_ / 2);
    for (Index e = first + 1; e <= q_ && (e <= first + few || widest == 0); ++e)
      if (const double gap = clear_gap(e); gap > widest || (e == q_ && gap > 0 && e <= first + few))
        widest = gap, end = e;
    return end;
  }

  // Columns of Lambda U, each at its own Ritz value, where they differ from those at mu.
  Small<double> at_poles(Index first, Index c) const {
    Small<double> columns(shadow_.columns_, fixed_ ? 0 : c);
    for (Index i = 0; i < columns.cols(); ++i)
      columns.col(i) = padded(lambda(theta_(first + i)), theta_.size()) * U_.col(first + i);
    return columns;
  }

  // Whether [low, high] holds at most the c eigenvalues of the group: one more would cast too small a shadow.
  bool holds_no_more(Index first, Index c, double low, double high) {
    const Small<double> poles = at_poles(first, c);
    const double threshold = least_shadow(shadow_.columns_, c + 1, each_) / std::sqrt(static_cast<double>(c + 1));
    for (const double part : {0.0, 0.1, 0.3, 0.6, 1.0})
      if (!(shadow_bound(low + part * (high - low), first, c, poles, threshold) < threshold)) return false;
    return true;
  }

  // The shadow at mu is at most this: in Frobenius norms where those show enough, for spectral norms are smaller, and
  // cost more.
  double shadow_bound(double mu, Index first, Index c, const Small<double>& poles, double enough) {
    if (!fixed_) L_ = padded(lambda(mu), theta_.size());
    Vector<double> weights = (mu - theta_.array()).inverse();
    weights.segment(first, c).setZero();
    const Block<double> weighted = weights.asDiagonal() * space_.T.transpose();
    const Small<double> others = fixed_ ? times(LU_, weighted) : times(L_, times(U_, weighted));
    const double error = space_.error * weights.cwiseAbs().maxCoeff();
    double own = 0;
    for (Index i = 0; i < poles.cols(); ++i)
      if (mu != theta_(first + i))
        own += r_(first + i) / std::abs(mu - theta_(first + i)) * (L_ * U_.col(first + i) - poles.col(i)).norm();
    const double in_frobenius = others.norm() + L_.norm() * error + own;
    if (in_frobenius < enough) return in_frobenius;
    if (!fixed_ || norm_L_ < 0) norm_L_ = norm_of(L_);
    return norm_of(others) + norm_L_ * error + own;
  }

  const Shadow& shadow_;
  const Space& space_;
  const Vector<double>& theta_;
  Index q_;
  double x_;
  Vector<double> r_;  // norms of the residuals
  double each_;       // what each statement may fail with
  bool fixed_;        // Lambda does not depend on mu, and Lambda U is made once
  Small<double> L_;   // Lambda at the latest mu
  Small<double> LU_;  // where it is fixed
  Small<double> U_;   // where it is not
  double norm_L_ = -1;
};

Shadow::Proof Shadow::prove(const Space& space, Index q, double x) const {
  const Index n = space.theta.size();
  if (columns_ == 0 || q > n || !(q > 0 || x > space.theta(0))) return {};
  if (lambda(space.sign * x).cols() > n) return {};  // columns have joined that no product has met yet
  return Question(*this, space, q, x).answer();
}

}  // namespace hearsay::detail
