// The covariance of rows, released once under differential privacy: C + E, with C = sum x x' over rows clipped to norm
// B, and E symmetric and gaussian (GOE). Whatever is made of it afterwards costs no privacy.
//
//   diagonal of E        standard deviation sigma = B^2 / mu    (replaced rows: sqrt(2) B^2 / mu)
//   beside it            sigma / sqrt(2)
//
// The promise holds for the numbers in the machine, not only for real ones: rows are rounded to integers, sums are of
// integers and exact, and floor(N) of an exactly normal N is added to each. docs/algorithms/private.md has the proof.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"
#include "hearsay/operator.hpp"
#include "hearsay/privacy.hpp"
#include "hearsay/private_noise.hpp"
#include "hearsay/row_source.hpp"

namespace hearsay {

/// Which data sets must look alike: one has a row more than the other, or another row in its place, and as many.
enum class Neighbours { add_remove, replace };
HEARSAY_API std::string_view name(Neighbours neighbours);

/// What is subtracted from every row: nothing; a mean that is public; one that is released too, for a share of mu^2.
enum class PrivateCenter { none, given, dp_mean };
HEARSAY_API std::string_view name(PrivateCenter center);

/// How C + E is released: d x d numbers at once; or products with it, its noise drawn as they are asked for
/// (private_products.hpp), which is for more features than fit and reads the rows for every block of products. By
/// itself the first is taken where its four copies fit half of memory_limit(): that and d are public. Fresh: three
/// products, each with noise of its own; for rows that may be read three times and no more, and never as accurate.
enum class ReleaseForm { automatic, stored, lazy, fresh };
HEARSAY_API std::string_view name(ReleaseForm form);

/// The share of mu^2 that a released mean takes: its error enters the covariance divided by the number of rows.
inline constexpr double mean_share = 0.1;

struct PrivacySettings {
  PrivacyBudget budget = {};
  double row_norm = 0;  ///< B: longer rows are shortened to it. Must be chosen without a look at the data
  Neighbours neighbours = Neighbours::add_remove;
  PrivateCenter center = PrivateCenter::none;
  Vector<double> mean = {};  ///< d numbers, where it is given
  Index public_rows = 0;     ///< how many rows there are, where everyone may know; 0: not said
  ReleaseForm form = ReleaseForm::automatic;
};

/// What `automatic` comes to.
HEARSAY_API ReleaseForm form_for(const PrivacySettings& settings, Index features);

/// Throws InvalidArgument where the settings do not go together; who spends a budget first asks before.
HEARSAY_API void check(const PrivacySettings& settings);

/// What a release costs and what was added to it: from the settings alone, so that it may be told, and told before.
struct ReleasePlan {
  double mu = 0;            ///< of the whole release
  double matrix_mu = 0;     ///< of C + E
  double mean_mu = 0;       ///< of the mean; 0 where none is released
  double sigma = 0;         ///< the standard deviation of E's diagonal, in squared units of the data
  double mean_sigma = 0;    ///< of the noise in each entry of the sum of the rows; 0 where none is released
  double unit = 0;          ///< rows are rounded to multiples of it
  double mean_unit = 0;     ///< the same, of rows on their way into the mean
  int scale = 0;            ///< noise is floor(2^scale N) in units of unit^2
  int mean_scale = 0;       ///< the same of the mean, in units of mean_unit
  std::int64_t radius = 0;  ///< the largest norm of a row of integers
  std::int64_t mean_radius = 0;
};

/// For rows of so many features.
HEARSAY_API ReleasePlan plan_release(const PrivacySettings& settings, Index features);

/// The only reader of the rows: once, or twice where it releases their mean. Products are with the released matrix and
/// exact. Errors say nothing of what the rows hold, except that some entry is not finite, which data must not be.
class HEARSAY_API PrivateCovariance {
 public:
  using Scalar = double;

  PrivateCovariance(RowSource<double>& rows, const PrivacySettings& settings, const SecretWords& words);

  Index dim() const { return matrix_.rows(); }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const;
  OperatorFacts facts() const;

  const Block<double>& matrix() const& { return matrix_; }  ///< C + E, both triangles: public by now
  Block<double> matrix() && { return std::move(matrix_); }
  const Vector<double>& mean() const { return mean_; }  ///< zero, given, or released
  const ReleasePlan& plan() const { return plan_; }

 private:
  ReleasePlan plan_;
  Vector<double> mean_;
  Block<double> matrix_;
};

}  // namespace hearsay
