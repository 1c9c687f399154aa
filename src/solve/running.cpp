#include "solve/running.hpp"

#include <fmt/format.h>

#include "hearsay/error.hpp"

namespace hearsay::detail {

namespace {

template <class S>
bool is_noisy(const Request<S>& request) {
  return request.noise || request.settings.noise.kind != NoiseChoice::Kind::none;
}

}  // namespace

template <class S>
SolveSettings settled(const Request<S>& request) {
  SolveSettings settings = request.settings;
  settle(settings);
  const bool mixed = settings.precision == Precision::mixed;
  require(!mixed || !is_noisy(request),
          "precision = mixed: takes no `noise`; its single-precision products are the noise");
  require(!mixed || (!request.checkpoint && !request.resume && !request.audit),
          "precision = mixed: takes neither `checkpoint` nor `audit`");
  require(!request.resume || !request.audit,
          "audit: follows a run from its first step, so it cannot `resume` one");
  return settings;
}

template <class T, class S>
NoiseModel<T> in_noise(const NoiseModel<S>& model) {
  if constexpr (std::is_same_v<T, S>) {
    return model;
  } else {
    if (!model.fill) return {};
    return {.name = model.name,
            .level = model.level,
            .fill = [fill = model.fill](std::uint64_t product, ConstBlockView<T> X, BlockView<T> Xi) {
              const Block<S> block = X.template cast<S>();
              Block<S> error = Xi.template cast<S>();
              fill(product, block, error);
              Xi = error.template cast<T>();
            }};
  }
}

template <class S>
Running<S>::Running(const Request<S>& request, Index dimension, const std::function<Spectrum()>& find_spectrum)
    : request_(request), settings_(settled(request)), options_(settings_.power) {
  const Index d = dimension, k = options_.rank;
  require(k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
  if (request.reference) {
    require(request.reference->rows() == d && request.reference->cols() >= k,
            fmt::format("reference of {} x {}: must have {} rows, and {} columns or more", request.reference->rows(),
                        request.reference->cols(), d, k));
    reference_ = request.reference->leftCols(k);
  }
  const bool adversarial = !request.noise && settings_.noise.kind == NoiseChoice::Kind::adversarial;
  const bool needs_vectors = adversarial || (request.audit && !reference_);
  require(!needs_vectors || d <= largest_dense_dimension,
          fmt::format("{}: needs all eigenvectors of the matrix, which are computed up to dimension {} only; this one "
                      "has {}{}",
                      adversarial ? "noise = adversarial" : "audit", largest_dense_dimension, d,
                      adversarial ? "" : ", so give the answer with `reference`"));
  std::optional<Spectrum> spectrum;
  if (settings_.optimal_momentum || adversarial || request.audit) spectrum = find_spectrum();
  choose_momentum(spectrum);
  choose_noise(spectrum);
  if (request.audit) audit(*spectrum);

  hooks_.observe_basis = request.observe_basis || auditor_.has_value();
  if (request.observe || auditor_)
    hooks_.observe = [this](const Iteration<S>& now) {
      if (auditor_) auditor_->check(now);
      return !request_.observe || request_.observe(now);
    };
  hooks_.checkpoint = request.checkpoint;
  hooks_.checkpoint_every = request.checkpoint_every;
  if (request.resume) hooks_.resume = &*request.resume;
  if (request.start) hooks_.start = &*request.start;
  if (reference_) hooks_.reference = &*reference_;
}

template <class S>
void Running<S>::choose_momentum(const std::optional<Spectrum>& spectrum) {
  if (!settings_.optimal_momentum) return;
  options_.momentum = Momentum::optimal(spectrum->lambda_next);
  notes_.push_back(
      fmt::format("optimal momentum: lambda_(k+1) = {:.10g}, from {}", spectrum->lambda_next, spectrum->source));
}

template <class S>
void Running<S>::choose_noise(const std::optional<Spectrum>& spectrum) {
  if (request_.noise) {
    noise_ = *request_.noise;
    return;
  }
  const auto [kind, level] = settings_.noise;
  if (kind == NoiseChoice::Kind::gaussian) noise_ = gaussian_noise<S>(level, settings_.noise_seed);
  if (kind == NoiseChoice::Kind::sphere) noise_ = sphere_noise<S>(level, settings_.noise_seed);
  if (kind == NoiseChoice::Kind::adversarial)
    noise_ = adversarial_noise<S>(spectrum->vectors.template cast<S>(), level, settings_.noise_seed);
}

// Step by step, as the theorem has it.
template <class S>
void Running<S>::audit(const Spectrum& spectrum) {
  options_.method = SolveMethod::anpm;
  options_.qr_every = 1;
  if (!reference_) reference_ = Block<S>(spectrum.vectors.leftCols(options_.rank).template cast<S>());
  auditor_.emplace(reference_->template cast<double>(), spectrum, *request_.audit);
  noise_ = auditor_->listen(std::move(noise_));
}

#define HEARSAY_INSTANTIATE(S)                             \
  template SolveSettings settled<S>(const Request<S>&);    \
  template NoiseModel<S> in_noise<S, double>(const NoiseModel<double>&); \
  template class Running<S>;
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::detail
