#include "solver/conditional.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace hearsay::detail {

template <class S>
Conditional<S>::Conditional(const PcaResult<S>& result)
    : V_(result.power.basis.template cast<double>()), mean_(result.mean.template cast<double>()) {
  scale_ = result.scale.size() > 0 ? Eigen::VectorXd(result.scale.template cast<double>())
                                   : Eigen::VectorXd(Eigen::VectorXd::Ones(mean_.size()));
  const Eigen::VectorXd variances = result.power.eigenvalues.template cast<double>();
  sigma2_ = noise_variance(result);
  L_ = (variances.array() - sigma2_).max(0.0).sqrt();
  // Where the components explain everything, fewer entries than components would leave z open.
  constexpr double least_share = 1e-12;
  sigma2_ = std::max(sigma2_, least_share * (variances.size() > 0 ? std::max(variances(0), 0.0) : 0.0));
  if (!(sigma2_ > 0)) sigma2_ = 1;  // no variance at all: z is zero
}

template <class S>
double Conditional<S>::centred(S value, Index column) const {
  return (static_cast<double>(value) - mean_(column)) / scale_(column);
}

template <class S>
Eigen::VectorXd Conditional<S>::expected(const Told& told) const {
  Eigen::MatrixXd M = L_.asDiagonal() * told.P * L_.asDiagonal();
  M.diagonal().array() += sigma2_;
  return L_.asDiagonal() * Eigen::VectorXd(M.ldlt().solve(Eigen::VectorXd(L_.asDiagonal() * told.q)));
}

template <class S>
Vector<S> Conditional<S>::scores(const Row& row) const {
  const Index k = V_.cols();
  Told told{Eigen::MatrixXd::Zero(k, k), Eigen::VectorXd::Zero(k)};
  for (Index j = 0; j < row.size(); ++j) {
    if (std::isnan(row(j))) continue;
    told.P.noalias() += V_.row(j).transpose() * V_.row(j);
    told.q += V_.row(j).transpose() * centred(row(j), j);
  }
  const Eigen::VectorXd made = expected(told);
  return (told.q + made - told.P * made).template cast<S>();
}

template <class S>
void Conditional<S>::fill(Eigen::Ref<Eigen::Matrix<S, 1, Eigen::Dynamic>, 0, Eigen::InnerStride<>> row,
                          std::span<const std::int32_t> missing) const {
  const Index k = V_.cols();
  // V'V = 1: what is there is told by what is not, of which there is less.
  Told told{Eigen::MatrixXd::Identity(k, k), Eigen::VectorXd::Zero(k)};
  for (const auto j : missing) told.P.noalias() -= V_.row(j).transpose() * V_.row(j);
  std::size_t next = 0;
  for (Index j = 0; j < row.size(); ++j) {
    if (next < missing.size() && missing[next] == j)
      ++next;
    else
      told.q += V_.row(j).transpose() * centred(row(j), j);
  }
  const Eigen::VectorXd made = expected(told);
  for (const auto j : missing) row(j) = static_cast<S>(mean_(j) + scale_(j) * V_.row(j).dot(made));
}

template class Conditional<float>;
template class Conditional<double>;

}  // namespace hearsay::detail
