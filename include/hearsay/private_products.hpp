// Products with a private covariance whose noise is drawn as it is asked for: where d x d numbers do not fit.
//
// C + E is that of private_covariance.hpp, with the same law and for the same price, however many products there are: a
// direction that lies among those asked for before costs neither a reading of the rows nor noise. Memory is
// 2 d numbers for every direction asked for, beside a block of rows. docs/algorithms/private.md has the proof.
#pragma once

#include <memory>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/private_covariance.hpp"

namespace hearsay {

/// What such a release costs and what is added to it: noise is 2^-10 larger than that of plan_release(), for all that
/// is rounded on the way.
HEARSAY_API ReleasePlan plan_products(const PrivacySettings& settings, Index features);

/// Of the space of all directions asked for: eigenvalues, descending, and the eigenvectors of the first k.
struct PrivateRitz {
  Vector<double> values = {};
  Block<double> basis = {};
  Block<double> residual = {};  ///< (C + E) basis - basis values: its columns are worth asking for next
};

/// The only reader of the rows, which must be the same whenever they are read: a pass that meets others throws
/// DataError before anything is released. Sparse rows without a mean are rounded once, and not read again.
class HEARSAY_API LazyPrivateCovariance {
 public:
  using Scalar = double;

  LazyPrivateCovariance(RowSource<double>& rows, const PrivacySettings& settings, const SecretWords& words);
  LazyPrivateCovariance(const CsrView<double>& rows, const PrivacySettings& settings, const SecretWords& words);
  LazyPrivateCovariance(LazyPrivateCovariance&&) noexcept;
  LazyPrivateCovariance& operator=(LazyPrivateCovariance&&) noexcept;
  ~LazyPrivateCovariance();

  Index dim() const;
  /// Symmetric, linear and repeatable to rounding; not to be called from two threads at once.
  void apply(ConstBlockView<double> X, BlockView<double> Y) const;
  OperatorFacts facts() const;

  /// Releases what apply(X, Y) needs and is not known yet.
  void ask(ConstBlockView<double> X) const;
  Index asked() const;  ///< directions so far
  PrivateRitz leading(Index k) const;
  Block<double> directions() const;  ///< d x asked, orthonormal
  Block<double> products() const;    ///< (C + E) directions: all that was released, beside the mean
  const Vector<double>& mean() const;
  const ReleasePlan& plan() const;

 private:
  struct Asked;
  std::unique_ptr<Asked> asked_;
};

/// Of fresh noise: so many products share the budget, each with sqrt(3) of the noise that one would have.
inline constexpr int fresh_products = 3;

/// sigma is of every entry of a product.
HEARSAY_API ReleasePlan plan_fresh(const PrivacySettings& settings, Index features);

/// The noisy power method's products: C Q + noise of its own for orthonormal Q, one reading each, and no more of them.
class HEARSAY_API FreshPrivateProducts {
 public:
  FreshPrivateProducts(RowSource<double>& rows, const PrivacySettings& settings, const SecretWords& words);
  FreshPrivateProducts(const CsrView<double>& rows, const PrivacySettings& settings, const SecretWords& words);
  FreshPrivateProducts(FreshPrivateProducts&&) noexcept;
  FreshPrivateProducts& operator=(FreshPrivateProducts&&) noexcept;
  ~FreshPrivateProducts();

  Index dim() const;
  int left() const;
  /// Throws InvalidArgument for Q that is not orthonormal, and where none is left.
  Block<double> product(const Block<double>& Q);
  const Vector<double>& mean() const;
  const ReleasePlan& plan() const;

 private:
  struct Spent;
  std::unique_ptr<Spent> spent_;
};

}  // namespace hearsay
