#include <cmath>
#include <type_traits>

#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/solve.hpp"
#include "solve/prepared.hpp"
#include "solve/rounded.hpp"

namespace hearsay {

using detail::Prepared;

namespace {

template <class S>
DenseCovariance<S> covariance(const BorrowedBlock<S>& data, bool center, bool form_at_once = true) {
  return DenseCovariance<S>(data, {.center = center, .form_at_once = form_at_once});
}
template <class S>
SparseCovariance<S> covariance(const CsrView<S>& data, bool center, bool = true) {
  return SparseCovariance<S>(data, center);
}

Index samples(const BorrowedBlock<double>& data) { return data.rows(); }
Index samples(const CsrView<double>& data) { return data.rows; }
template <class S>
Index features(const BorrowedBlock<S>& data) {
  return data.cols();
}
template <class S>
Index features(const CsrView<S>& data) {
  return data.cols;
}

PcaSolution<double> in_double(PcaSolution<float> solution) {
  PcaResult<float>& pca = solution.pca;
  return {.pca = {.power = in_arithmetic<double>(std::move(pca.power)),
                  .mean = pca.mean.cast<double>(),
                  .singular_values = pca.singular_values.cast<double>(),
                  .total_variance = pca.total_variance,
                  .samples = pca.samples,
                  .by_samples = pca.by_samples,
                  .formed = pca.formed},
          .audit = std::move(solution.audit),
          .seconds = solution.seconds};
}

// A covariance that was solved without pca(), and what the data say beside it.
template <class Covariance>
PcaSolution<double> described(Solution<double> solved, const Covariance& A, Index sample_count) {
  PcaSolution<double> solution{.audit = std::move(solved.audit), .seconds = solved.seconds};
  PcaResult<double>& result = solution.pca;
  result.samples = sample_count;
  result.mean = A.mean();
  result.singular_values = (solved.power.eigenvalues.cwiseMax(0.0) * A.divisor()).cwiseSqrt();
  result.total_variance = std::nan("");
  result.power = std::move(solved.power);
  return solution;
}

// Products in single precision first, then in double.
template <class Data>
PcaSolution<double> in_both(const Data& data, const Request& request, const PcaSettings& settings) {
  require(!settings.wished_accuracy, "precision = mixed: takes no wished accuracy; ask for an `accuracy`");
  const auto begin = std::chrono::steady_clock::now();
  const auto A = covariance<double>(data, settings.center, false);  // one product may do
  const auto single = detail::rounded(data);
  const auto A_single = covariance<float>(borrow(single), settings.center);
  const double set_up = detail::seconds_since(begin);
  PcaSolution<double> solution = described(solve_mixed(A_single, A, request), A, samples(data));
  solution.seconds += set_up;
  solution.pca.total_variance = std::ldexp(A.total_variance(), A.facts().exponent - solution.pca.power.exponent);
  if constexpr (requires { A.formed(); }) solution.pca.formed = A.formed();
  return solution;
}

template <class S, class Data>
PcaSolution<S> in_one(const Data& data, const Request& request, const PcaSettings& settings) {
  Prepared<S> prepared(request, features(data),
                       [&] { return find_spectrum<S>(covariance<S>(data, settings.center), request.settings.power); });
  PcaSolution<S> solution;
  Solution<S> solved = prepared.time([&] {
    const PcaOptions<S> options{.power = prepared.options(),
                                .center = settings.center,
                                .noise = prepared.noise(),
                                .wished_accuracy = settings.wished_accuracy};
    solution.pca = pca<S>(data, options, prepared.hooks());
    return std::move(solution.pca.power);
  });
  solution.pca.power = std::move(solved.power);
  solution.audit = std::move(solved.audit);
  solution.seconds = solved.seconds;
  return solution;
}

template <class S, class Data>
PcaSolution<S> in_precision(const Data& data, const Request& request, const PcaSettings& settings) {
  if constexpr (std::is_same_v<S, double>) {
    if (request.settings.precision == Precision::mixed) return in_both(data, request, settings);
    if (request.settings.precision == Precision::single)
      return in_double(in_one<float>(borrow(detail::rounded(data)), request, settings));
  }
  require(request.settings.precision != Precision::mixed, "precision = mixed: needs data in double precision");
  return in_one<S>(data, request, settings);
}

}  // namespace

template <class S>
PcaSolution<S> solve_pca(const BorrowedBlock<S>& data, const Request& request, const PcaSettings& settings) {
  return in_precision<S>(data, request, settings);
}

template <class S>
PcaSolution<S> solve_pca(const CsrView<S>& data, const Request& request, const PcaSettings& settings) {
  return in_precision<S>(data, request, settings);
}

PcaSolution<double> solve_pca(RowSource<double>& rows, const Request& request, const PcaSettings& settings,
                              Index block_rows) {
  require(request.settings.precision == Precision::full,
          "precision: rows that pass by are solved in double precision only; leave `precision` out");
  require(!settings.wished_accuracy, "wished accuracy: needs data in memory; ask for an `accuracy`");
  const StreamedCovariance<double> A(rows, settings.center, block_rows);
  Solution<double> solved = solve<double>(A, request);  // A knows its samples after that
  return described(std::move(solved), A, A.samples());
}

#define HEARSAY_INSTANTIATE(S)                                                                       \
  template PcaSolution<S> solve_pca<S>(const BorrowedBlock<S>&, const Request&, const PcaSettings&); \
  template PcaSolution<S> solve_pca<S>(const CsrView<S>&, const Request&, const PcaSettings&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
