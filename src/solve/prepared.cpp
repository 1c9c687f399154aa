#include "solve/prepared.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "hearsay/error.hpp"
#include "solve/on_engines.hpp"

namespace hearsay::detail {

namespace {

SolveSettings settled(const Request& request) {
  check(request);
  SolveSettings settings = request.settings;
  settle(settings);
  return settings;
}

bool is_adversarial(const Request& request) {
  return !request.noise && request.settings.noise.kind == NoiseChoice::Kind::adversarial;
}

void require_vectors_in_reach(const Request& request, Index d) {
  const bool adversarial = is_adversarial(request),
             needs_vectors = adversarial || (request.audit && !request.reference);
  require(
      !needs_vectors || d <= largest_dense_dimension,
      fmt::format("{}: needs all eigenvectors of the matrix, which are computed up to dimension {} only; this one has "
                  "{}{}",
                  adversarial ? "noise = adversarial" : "audit", largest_dense_dimension, d,
                  adversarial ? "" : ", so give the answer with `reference`"));
}

template <class S>
const auto& model_in(const NoiseModels& models) {
  if constexpr (std::is_same_v<S, double>)
    return models.in_double;
  else
    return models.in_single;
}

}  // namespace

template <class S>
Prepared<S>::Prepared(const Request& request, Index dimension, const std::function<Spectrum()>& find_spectrum)
    : request_(request), settings_(settled(request)), options_(settings_.power) {
  require(settings_.rank_rule.kind == RankRule::Kind::count,
          "rank: must be a number here; a share of the variance, or mle, is for the components of samples");
  require(options_.rank <= dimension, fmt::format("rank = {}: must lie in [1, {}]", options_.rank, dimension));
  if (request.start) start_ = Block<S>(request.start->cast<S>());
  take_reference(dimension);
  require_vectors_in_reach(request, dimension);
  std::optional<Spectrum> spectrum;
  if (settings_.optimal_momentum || is_adversarial(request) || request.audit) spectrum = find_spectrum();
  if (settings_.optimal_momentum) choose_momentum(*spectrum);
  if (is_adversarial(request)) eigenvectors_ = spectrum->vectors;
  noise_ = noise_in<S>();
  if (request.audit) audit(*spectrum);
  connect();
}

template <class S>
void Prepared<S>::take_reference(Index dimension) {
  if (!request_.reference) return;
  const Block<double>& known = *request_.reference;
  const Index k = options_.rank;
  require(known.rows() == dimension && known.cols() >= k,
          fmt::format("reference: is {} x {}, but must have {} rows, and {} columns or more", known.rows(),
                      known.cols(), dimension, k));
  reference_ = Block<S>(known.leftCols(k).cast<S>());
}

template <class S>
void Prepared<S>::choose_momentum(const Spectrum& spectrum) {
  options_.momentum = Momentum::optimal(spectrum.lambda_next);
  notes_.push_back(
      fmt::format("optimal momentum: lambda_(k+1) = {:.10g}, from {}", spectrum.lambda_next, spectrum.source));
}

template <class S>
template <class T>
NoiseModel<T> Prepared<S>::noise_in() const {
  if (request_.noise) return model_in<T>(*request_.noise);
  const auto [kind, level] = settings_.noise;
  switch (kind) {
    case NoiseChoice::Kind::none:
      break;
    case NoiseChoice::Kind::gaussian:
      return gaussian_noise<T>(level, settings_.noise_seed);
    case NoiseChoice::Kind::sphere:
      return sphere_noise<T>(level, settings_.noise_seed);
    case NoiseChoice::Kind::adversarial:
      return adversarial_noise<T>(eigenvectors_.cast<T>(), level, settings_.noise_seed);
  }
  return {};
}

template <class S>
NoiseModel<float> Prepared<S>::noise_in_single() const {
  return noise_in<float>();
}

// Step by step, as the theorem has it.
template <class S>
void Prepared<S>::audit(const Spectrum& spectrum) {
  options_.method = SolveMethod::anpm;
  options_.qr_every = 1;
  options_.find_shift = false;
  const Block<double> known = request_.reference ? Block<double>(request_.reference->leftCols(options_.rank))
                                                 : Block<double>(spectrum.vectors.leftCols(options_.rank));
  reference_ = Block<S>(known.cast<S>());
  auditor_.emplace(known, spectrum, *request_.audit);
  noise_ = auditor_->listen(std::move(noise_));
}

template <class S>
void Prepared<S>::connect() {
  const auto& observe = observer_in<S>(request_);
  hooks_.observe_basis = request_.observe_basis || auditor_.has_value();
  hooks_.observe_steps = request_.observe_steps || auditor_.has_value();
  if (observe || auditor_)
    hooks_.observe = [this, &observe](const Iteration<S>& now) {
      if (auditor_) auditor_->check(now);
      return !observe || observe(now);
    };
  if (start_) hooks_.start = &*start_;
  if (reference_) hooks_.reference = &*reference_;
  if (request_.checkpoints == nullptr) return;
  if (PowerState<S> state; request_.checkpoints->load(state)) {
    require(!auditor_, "audit: follows a run from its first step, so it cannot `resume` one");
    hooks_.resume = &saved_.emplace(std::move(state));
  }
  hooks_.checkpoint_every = request_.checkpoint_every;
  hooks_.checkpoint = [this](const PowerState<S>& state) { save(state); };
}

// A checkpoint that cannot be written must not cost the solve that it was to protect. Told once.
template <class S>
void Prepared<S>::save(const PowerState<S>& state) {
  try {
    request_.checkpoints->save(state);
  } catch (const std::exception& error) {
    if (std::exchange(told_of_checkpoint_, true)) return;
    notes_.push_back(
        fmt::format("checkpoint: not written at iteration {}, and the solve went on: {}", state.t, error.what()));
    if (request_.warn) request_.warn(notes_.back());
  }
}

template class Prepared<float>;
template class Prepared<double>;

}  // namespace hearsay::detail

namespace hearsay {

void check(const Request& request) {
  SolveSettings settings = request.settings;
  settle(settings);
  if (request.engines != nullptr) return detail::require_fit_for_engines(request);
  const Precision precision = settings.precision;
  require(precision != Precision::automatic && precision != Precision::tf32 && precision != Precision::fp16,
          fmt::format("precision = {}: is for a device; give `device` as well", name(precision)));
  require(settings.precision != Precision::mixed || !request.audit,
          "precision = mixed: takes no `audit`, which follows one arithmetic");
  require(!request.audit || settings.power.turning.value_or(Turning::none) == Turning::none,
          "turn: the `audit` follows products as they are");
  require(!request.audit || settings.power.which == Which::largest,
          fmt::format("which = {}: the `audit` follows the leading end; use `which` LA", name(settings.power.which)));
  require(request.checkpoint_every >= 1,
          fmt::format("checkpoint-every = {}: must be at least 1", request.checkpoint_every));
}

}  // namespace hearsay
