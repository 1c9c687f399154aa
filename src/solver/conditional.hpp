// What components say of the entries of a row that are missing, given those that are there.
//
// Probabilistic PCA (Tipping and Bishop, 1999): a centred row is x = W z + noise, with W = V L, L^2 = Lambda - sigma^2
// and sigma^2 the variance per direction that is no component. With O the entries that are there,
//
//   z = (W_O' W_O + sigma^2)^-1 W_O' x_O,    x_j = (W z)_j for the missing ones.
//
// Filling x in with V L^2 Lambda^-1 V'x again and again comes to rest at the same values.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/pca.hpp"

namespace hearsay::detail {

template <class S>
class Conditional {
 public:
  explicit Conditional(const PcaResult<S>& result);

  using Row = Eigen::Ref<const Eigen::Matrix<S, 1, Eigen::Dynamic>, 0, Eigen::InnerStride<>>;

  /// The row's coordinates, once what is missing (NaN) has been filled in.
  Vector<S> scores(const Row& row) const;
  /// Fills it in, in the unit of the data: of `row` what is not missing counts, and `missing` says which are.
  void fill(Eigen::Ref<Eigen::Matrix<S, 1, Eigen::Dynamic>, 0, Eigen::InnerStride<>> row,
            std::span<const std::int32_t> missing) const;

 private:
  struct Told {
    Eigen::MatrixXd P;  // of the entries that are there: the sum of v v'
    Eigen::VectorXd q;  // and of v x
  };
  Eigen::VectorXd expected(const Told& told) const;  // L z
  double centred(S value, Index column) const;

  Eigen::MatrixXd V_;
  Eigen::VectorXd mean_, scale_, L_;
  double sigma2_ = 0;
};

}  // namespace hearsay::detail
