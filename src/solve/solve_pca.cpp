#include <cmath>

#include "hearsay/operators/covariance.hpp"
#include "hearsay/solve.hpp"
#include "hearsay/subspace.hpp"
#include "solve/convert.hpp"
#include "solve/running.hpp"

namespace hearsay {

using detail::Running;

namespace {

template <class S>
DenseCovariance<S> covariance(const BorrowedBlock<S>& data, bool center, bool form_at_once = true) {
  return DenseCovariance<S>(data, {.center = center, .form_at_once = form_at_once});
}
template <class S>
SparseCovariance<S> covariance(const CsrView<S>& data, bool center, bool = true) {
  return SparseCovariance<S>(data, center);
}

template <class S>
Index features(const BorrowedBlock<S>& data) {
  return data.cols();
}
template <class S>
Index features(const CsrView<S>& data) {
  return data.cols;
}
template <class S>
Index samples(const BorrowedBlock<S>& data) {
  return data.rows();
}
template <class S>
Index samples(const CsrView<S>& data) {
  return data.rows;
}

// What the data say beside a covariance that was solved without pca().
template <class Covariance>
PcaSolution<double> described(Solution<double> solved, const Covariance& A, Index sample_count) {
  PcaSolution<double> solution{.audit = std::move(solved.audit), .seconds = solved.seconds};
  PcaResult<double>& result = solution.pca;
  result.samples = sample_count;
  result.mean = A.mean();
  result.singular_values = (solved.power.eigenvalues.cwiseMax(0.0) * A.divisor()).cwiseSqrt();
  result.power = std::move(solved.power);
  return solution;
}

// Products in single precision first, then in double.
template <class Data>
PcaSolution<double> solve_mixed(const Data& data, const PcaSettings& settings, const Request<double>& request) {
  const auto A = covariance(data, settings.center, false);  // one product may do
  const auto single_data = detail::rounded(data);
  const auto A_single = covariance(borrow(single_data), settings.center);
  PcaSolution<double> solution = described(solve(A_single, A, request), A, samples(data));
  solution.pca.total_variance = std::ldexp(A.total_variance(), A.facts().exponent - solution.pca.power.exponent);
  if constexpr (requires { A.formed(); }) solution.pca.formed = A.formed();
  return solution;
}

template <class S, class Data>
PcaSolution<S> solve_data(const Data& data, const PcaSettings& settings, const Request<S>& request) {
  if constexpr (std::is_same_v<S, double>) {
    if (request.settings.precision == Precision::mixed) return solve_mixed(data, settings, request);
    if (request.settings.precision == Precision::single) {
      const auto single_data = detail::rounded(data);
      return detail::in_double(solve_pca<float>(borrow(single_data), settings, detail::in_single(request)));
    }
  }
  Running<S> running(request, features(data),
                     [&] { return find_spectrum<S>(covariance(data, settings.center), request.settings.power); });
  PcaSolution<S> solution;
  Solution<S> solved = running.time([&] {
    const PcaOptions<S> options{.power = running.options(),
                                .center = settings.center,
                                .noise = running.noise(),
                                .sharpen_to = settings.sharpen_to};
    solution.pca = pca<S>(data, options, running.hooks());
    return std::move(solution.pca.power);
  });
  solution.pca.power = std::move(solved.power);
  solution.audit = std::move(solved.audit);
  solution.seconds = solved.seconds;
  return solution;
}

}  // namespace

template <class S>
PcaSolution<S> solve_pca(const BorrowedBlock<S>& data, const PcaSettings& settings, const Request<S>& request) {
  return solve_data<S>(data, settings, request);
}

template <class S>
PcaSolution<S> solve_pca(const CsrView<S>& data, const PcaSettings& settings, const Request<S>& request) {
  return solve_data<S>(data, settings, request);
}

PcaSolution<double> solve_pca(RowSource<double>& rows, const PcaSettings& settings, const Request<double>& request) {
  require(request.settings.precision == Precision::full,
          "stream: works in double precision only; leave `precision` out");
  const StreamedCovariance<double> A(rows, settings.center, settings.block_rows);
  PcaSolution<double> solution = described(solve<double>(A, request), A, 0);
  solution.pca.samples = A.samples();
  solution.pca.total_variance = std::nan("");
  return solution;
}

#define HEARSAY_INSTANTIATE(S)                                                                             \
  template PcaSolution<S> solve_pca<S>(const BorrowedBlock<S>&, const PcaSettings&, const Request<S>&);    \
  template PcaSolution<S> solve_pca<S>(const CsrView<S>&, const PcaSettings&, const Request<S>&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
