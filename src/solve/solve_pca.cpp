#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "hearsay/error.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/minibatch.hpp"
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

template <class S>
MinibatchCovariance<S> in_batches(const BorrowedBlock<S>& data, const MinibatchOptions& options) {
  return MinibatchCovariance<S>(data, options);
}
template <class S>
SparseMinibatchCovariance<S> in_batches(const CsrView<S>& data, const MinibatchOptions& options) {
  return SparseMinibatchCovariance<S>(data, options);
}

template <class S>
Index samples(const BorrowedBlock<S>& data) {
  return data.rows();
}
template <class S>
Index samples(const CsrView<S>& data) {
  return data.rows;
}
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
template <class S, class Covariance>
PcaSolution<S> described(Solution<S> solved, const Covariance& A, Index sample_count) {
  PcaSolution<S> solution{.audit = std::move(solved.audit), .seconds = solved.seconds};
  PcaResult<S>& result = solution.pca;
  result.samples = sample_count;
  result.mean = A.mean();
  result.singular_values = (solved.power.eigenvalues.cwiseMax(S(0)) * static_cast<S>(A.divisor())).cwiseSqrt();
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
  PcaSolution<double> solution = described<double>(solve_mixed(A_single, A, request), A, samples(data));
  solution.seconds += set_up;
  solution.pca.total_variance = std::ldexp(A.total_variance(), A.facts().exponent - solution.pca.power.exponent);
  if constexpr (requires { A.formed(); }) solution.pca.formed = A.formed();
  return solution;
}

// ---- By batches

void require_fit_for_batches(const Request& request, Index batch) {
  const SolveSettings& asked = request.settings;
  const auto refuse = [batch](bool wrong, std::string_view what) {
    require(!wrong, fmt::format("batch = {}: {}", batch, what));
  };
  refuse(asked.precision == Precision::mixed, "takes no `precision` mixed, whose end needs exact products");
  refuse(asked.power.method == SolveMethod::krylov, "makes noisy products; leave `method` krylov out");
  refuse(asked.optimal_momentum, "takes no `momentum` optimal, which needs exact products first");
  refuse(request.audit.has_value(), "takes no `audit`, which needs exact products first");
  refuse(asked.noise.kind == NoiseChoice::Kind::adversarial,
         "takes no `noise` adversarial, which needs exact products");
  refuse(batch <= asked.power.rank, fmt::format("must be above the `rank`, {}: fewer rows cannot tell so many "
                                                "components apart",
                                                asked.power.rank));
}

// A solve whose products see parts of the rows spends a pass, or what it is given, to the end: the averages of whole
// passes are the best. The answer is measured on the last batch.
template <class Covariance>
class ByPasses {
 public:
  ByPasses(const Request& asked, const Covariance& A) : asked_(asked), A_(A), request_(asked) {
    PowerOptions& power = request_.settings.power;
    limited_ = !power.product_budget && !power.max_iterations;
    if (!power.product_budget) power.product_budget = std::numeric_limits<Index>::max() / 4;
    request_.observe = [this](const Iteration<double>& now) { return goes_on(asked_.observe, now); };
    request_.observe_single = [this](const Iteration<float>& now) { return goes_on(asked_.observe_single, now); };
  }
  ByPasses(const ByPasses&) = delete;  // the request points into it
  ByPasses& operator=(const ByPasses&) = delete;

  template <class S>
  Solution<S> solution() {
    Solution<S> solved = solve<S>(A_, request_);
    if (ended_) solved.power.status = solved.power.bar.exists() ? Status::noise_floor : Status::iteration_limit;
    return solved;
  }

 private:
  template <class Observe, class Iteration>
  bool goes_on(const Observe& observe, const Iteration& now) {
    if (observe && !observe(now)) return A_.hold(), false;
    if (!limited_ || A_.passes() < batch_passes) return true;
    A_.hold();
    ended_ = true;
    return false;
  }

  const Request& asked_;
  const Covariance& A_;
  Request request_;
  bool limited_ = false, ended_ = false;
};

template <class S, class Data>
PcaSolution<S> by_batches(const Data& data, const Request& request, const PcaSettings& settings) {
  require_fit_for_batches(request, *settings.batch);
  const auto begin = std::chrono::steady_clock::now();
  const auto A =
      in_batches<S>(data, {.center = settings.center, .batch = *settings.batch, .seed = request.settings.noise_seed});
  const double set_up = detail::seconds_since(begin);
  Solution<S> solved = ByPasses(request, A).template solution<S>();
  const auto& whole = A.of_all_rows();
  PcaSolution<S> solution = described<S>(std::move(solved), whole, samples(data));
  solution.seconds += set_up;
  PowerResult<S>& power = solution.pca.power;
  const auto parts = static_cast<std::uint64_t>(A.batches_per_pass());
  power.passes = static_cast<Index>((A.position() + parts - 1) / parts) + whole.facts().extra_passes;
  solution.pca.total_variance = std::ldexp(whole.total_variance(), whole.facts().exponent - power.exponent);
  return solution;
}

// ---- In one precision

template <class S, class Data>
PcaSolution<S> in_one(const Data& data, const Request& request, const PcaSettings& settings) {
  if (settings.batch) return by_batches<S>(data, request, settings);
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
    if (request.settings.precision == Precision::mixed && !settings.batch) return in_both(data, request, settings);
    if (request.settings.precision == Precision::single)
      return in_double(in_one<float>(borrow(detail::rounded(data)), request, settings));
  }
  require(request.settings.precision != Precision::mixed || settings.batch,
          "precision = mixed: needs data in double precision");
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
  if (settings.batch) {
    require_fit_for_batches(request, *settings.batch);
    const ArrivingCovariance<double> A(rows, settings.center, *settings.batch);
    Solution<double> solved = ByPasses(request, A).template solution<double>();
    PcaSolution<double> solution = described<double>(std::move(solved), A, A.samples());
    solution.pca.power.passes = std::max<Index>(1, A.passes());
    solution.pca.total_variance = A.total_variance();
    return solution;
  }
  const StreamedCovariance<double> A(rows, settings.center, block_rows);
  Solution<double> solved = solve<double>(A, request);  // A knows its samples after that
  return described<double>(std::move(solved), A, A.samples());
}

#define HEARSAY_INSTANTIATE(S)                                                                       \
  template PcaSolution<S> solve_pca<S>(const BorrowedBlock<S>&, const Request&, const PcaSettings&); \
  template PcaSolution<S> solve_pca<S>(const CsrView<S>&, const Request&, const PcaSettings&);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
