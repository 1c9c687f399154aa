#include "hearsay/private_covariance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/private_sums.hpp"

namespace hearsay {

namespace {

constexpr Index most_public_rows = Index{1} << 26;  // of which sums of squares fit a word twice

}  // namespace

std::string_view name(Neighbours neighbours) { return neighbours == Neighbours::replace ? "replace" : "add-remove"; }

std::string_view name(PrivateCenter center) {
  switch (center) {
    case PrivateCenter::none:
      return "none";
    case PrivateCenter::given:
      return "given";
    case PrivateCenter::dp_mean:
      return "dp-mean";
  }
  return "";
}

std::string_view name(ReleaseForm form) {
  switch (form) {
    case ReleaseForm::automatic:
      return "auto";
    case ReleaseForm::stored:
      return "stored";
    case ReleaseForm::lazy:
      return "lazy";
    case ReleaseForm::fresh:
      return "fresh";
  }
  return "";
}

// Of what is in use nothing is asked: that would tell how many rows there are.
ReleaseForm form_for(const PrivacySettings& settings, Index features) {
  if (settings.form != ReleaseForm::automatic) return settings.form;
  const double d = static_cast<double>(features);
  return 4 * sizeof(double) * d * d <= static_cast<double>(memory_limit()) / 2 ? ReleaseForm::stored
                                                                               : ReleaseForm::lazy;
}

void check(const PrivacySettings& settings) {
  gaussian_mu(settings.budget);
  require(settings.row_norm >= 1e-100 && settings.row_norm <= 1e100,
          fmt::format("row-norm = {}: must be positive, from 1e-100 to 1e100", settings.row_norm));
  require(settings.public_rows >= 0 && settings.public_rows <= most_public_rows,
          fmt::format("public-rows = {}: must be from 1 to {}", settings.public_rows, most_public_rows));
  const bool given = settings.center == PrivateCenter::given;
  require(given == (settings.mean.size() > 0),
          given ? "center = given: needs the mean" : "mean: is given, but `dp-center` is not given");
  require(settings.mean.allFinite() && (settings.mean.size() == 0 || settings.mean.cwiseAbs().maxCoeff() <= 1e150),
          "mean: must be finite, and at most 1e150");
  require(settings.center != PrivateCenter::dp_mean || settings.public_rows > 0,
          "center = dp-mean: divides a sum by the number of rows, which must be public; give `public-rows`");
}

ReleasePlan plan_release(const PrivacySettings& settings, Index features) { return plan_part(settings, features, 1); }

PrivateCovariance::PrivateCovariance(RowSource<double>& rows, const PrivacySettings& settings, const SecretWords& words)
    : plan_(plan_release(settings, rows.cols())), mean_(Vector<double>::Zero(rows.cols())) {
  const Index d = rows.cols();
  require_memory(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(d), 4 * sizeof(double),
                 "a private covariance");
  require(settings.center != PrivateCenter::given || settings.mean.size() == d,
          fmt::format("mean: has {} numbers, and must have {}, as the rows have", settings.mean.size(), d));
  ExactNormals normals(words);
  if (settings.center == PrivateCenter::given) mean_ = settings.mean;
  if (settings.center == PrivateCenter::dp_mean)
    mean_ = mean_from(noisy_sum_of_rows(rows, settings, plan_, normals), plan_, settings.public_rows);
  matrix_ = matrix_from(noisy_sum_of_squares(rows, mean_, settings, plan_, normals), plan_, d);
}

void PrivateCovariance::apply(ConstBlockView<double> X, BlockView<double> Y) const {
  multiply<double>(borrow(matrix_), X, Y);
}

OperatorFacts PrivateCovariance::facts() const {
  const double d = static_cast<double>(dim());
  return {.exact = true, .multiply_adds = d * d};
}

}  // namespace hearsay
