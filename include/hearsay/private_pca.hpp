// Principal components under differential privacy: one release of the covariance (private_covariance.hpp), and an
// ordinary solve of what was released. All that is told of the answer is made of the release and of public numbers.
#pragma once

#include <optional>

#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/private_covariance.hpp"
#include "hearsay/private_products.hpp"
#include "hearsay/row_source.hpp"
#include "hearsay/solve.hpp"

namespace hearsay {

/// What noise did to components, as far as the release and the size of the noise say.
struct PrivateAccuracy {
  Vector<double> values = {};  ///< k: the eigenvalues of C with the noise's share taken off; 0 where it drowns them
  double sin_theta = 1;        ///< the private error bar: of the largest angle to the components without noise
  double captured = 0;         ///< of what k components can capture, the share that these do, about
  double explained = 0;        ///< of all the variance, the share that these explain, about; NaN where nothing is known
  Index above_noise = 0;       ///< of the k components, those whose eigenvalue stands out of the noise at all
};

/// From the release's leading eigenvalues, descending, k at least and the more the better; E's sigma, the dimension,
/// and the trace of the release, or NaN.
HEARSAY_API PrivateAccuracy private_accuracy(const Vector<double>& theta, Index k, Index dimension, double sigma,
                                             double trace);

struct [[nodiscard]] PrivatePcaSolution {
  Solution<double> solution = {};  ///< of C + E: the basis d x k, its eigenvalues, how the solve ended
  PrivateAccuracy accuracy = {};
  ReleasePlan plan = {};
  ReleaseForm form = ReleaseForm::stored;
  Block<double> release = {};     ///< C + E, d x d; of other forms the products with these, which is all there is
  Block<double> directions = {};  ///< d x asked, orthonormal: of the lazy form all, of the fresh one each product's
  Vector<double> mean = {};       ///< that was subtracted: zero, given, or released
  double divisor = 1;  ///< values / divisor are variances: the public number of rows; 1, and they are sums, without it
};

/// Throws InvalidArgument for a request that asks for what a private solve does not do, before a row is read.
HEARSAY_API void check(const Request& request, const PrivacySettings& settings);

/// Components of what has been released already: no row is read, and nothing is spent. sigma is that of the matrix.
HEARSAY_API PrivatePcaSolution solve_release(Block<double> matrix, const ReleasePlan& plan, Vector<double> mean,
                                             const Request& request, const PrivacySettings& settings);

/// By a block Krylov space of all that was ever asked for: blocks of k + `oversample` directions, until what the solve
/// leaves undone is small beside what the noise did, or the tolerance, where one is given, is met.
HEARSAY_API PrivatePcaSolution solve_products(const LazyPrivateCovariance& A, const Request& request,
                                              const PrivacySettings& settings);

HEARSAY_API PrivatePcaSolution solve_private_pca(RowSource<double>& rows, const Request& request,
                                                 const PrivacySettings& settings,
                                                 const SecretWords& words = system_words());
HEARSAY_API PrivatePcaSolution solve_private_pca(const BorrowedBlock<double>& data, const Request& request,
                                                 const PrivacySettings& settings,
                                                 const SecretWords& words = system_words());
HEARSAY_API PrivatePcaSolution solve_private_pca(const CsrView<double>& data, const Request& request,
                                                 const PrivacySettings& settings,
                                                 const SecretWords& words = system_words());

/// What a release will be worth, before any budget is spent: from public numbers and a guess.
struct PrivatePlanRequest {
  PrivacySettings privacy = {};  ///< with public_rows
  Index rank = 1;
  Index dimension = 2;
  Vector<double> spectrum = {};  ///< guessed variances, descending, d at most; those beyond are zero
};

struct PrivatePlan {
  double sin_theta = 1;  ///< expected
  double captured = 0;   ///< expected, of what so many components can capture
  ReleasePlan release = {};
};

HEARSAY_API PrivatePlan plan_private_pca(const PrivatePlanRequest& request);

/// The least epsilon, at the request's delta, with which the expected sine is at most this; nothing where 100 is not
/// enough.
HEARSAY_API std::optional<double> epsilon_for_sine(PrivatePlanRequest request, double sine);

}  // namespace hearsay
