#include "commands/solve.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "commands/terminal.hpp"
#include "files/inputs.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/checkpoint.hpp"
#include "hearsay/mixed.hpp"

namespace hearsay::app {

namespace {

template <class S>
NoiseModel<S> noise_model(const SolveSettings& settings, const std::optional<Spectrum>& spectrum) {
  const auto [kind, level] = settings.noise;
  switch (kind) {
    case NoiseChoice::Kind::none:
      break;
    case NoiseChoice::Kind::gaussian:
      return gaussian_noise<S>(level, settings.noise_seed);
    case NoiseChoice::Kind::sphere:
      return sphere_noise<S>(level, settings.noise_seed);
    case NoiseChoice::Kind::adversarial:
      return adversarial_noise<S>(spectrum->vectors.cast<S>(), level, settings.noise_seed);
  }
  return {};
}

// Compares a run with the theory: the noise of each product is caught on its way into the product.
template <class S>
class Auditor {
 public:
  Auditor(Block<double> U_k, const Spectrum& spectrum, double epsilon)
      : audit_(std::move(U_k), spectrum.lambda_k, spectrum.lambda_next, epsilon), lambda_k_(spectrum.lambda_k) {}

  NoiseModel<S> listen(NoiseModel<S> model) {
    if (!model.fill) return model;
    model.fill = [this, fill = std::move(model.fill)](std::uint64_t product, ConstBlockView<S> X, BlockView<S> Xi) {
      fill(product, X, Xi);
      Xi_ = Xi.template cast<double>();
    };
    return model;
  }

  void check(const Iteration<S>& now) {
    const Index k = now.basis.cols();
    Block<double> Xi = Block<double>::Zero(now.X.rows(), k);
    if (Xi_.size() > 0) Xi = Xi_.leftCols(k);
    if (now.entry.t == 0) Xi *= 0.5;  // the first step halves its product, and the noise with it
    const Block<double> X = now.X.leftCols(k).template cast<double>();
    audit_.check(now.entry.t, X, Xi, lambda_k_ - now.shift, 2 * std::sqrt(now.entry.momentum));
  }

  const theory::AuditReport& report() const { return audit_.report(); }

 private:
  theory::Audit audit_;
  double lambda_k_;
  Block<double> Xi_;
};

// A checkpoint that cannot be written must not cost the solve that it was to protect. Told once.
template <class S>
void save(const Job& job, const PowerState<S>& state, const std::string& identity, std::vector<std::string>& notes) {
  constexpr std::string_view told = "checkpoint: ";
  try {
    io::write_checkpoint<S>(job.checkpoint, state, identity);
  } catch (const std::exception& error) {
    for (const std::string& note : notes)
      if (note.starts_with(told)) return;
    notes.push_back(
        fmt::format("{}not written at iteration {}, and the solve went on: {}", told, state.t, in_flags(error.what())));
    warn(notes.back());
  }
}

template <class S>
std::optional<Block<S>> cast_to(const std::optional<Block<double>>& block) {
  if (!block) return std::nullopt;
  return Block<S>(block->cast<S>());
}

}  // namespace

template <class S>
Outcome solve(const Job& job, const Problem<S>& problem) {
  const SolveSettings& settings = job.solve;
  const Index d = problem.dimension, k = settings.power.rank;
  require(k <= d, fmt::format("rank = {}: must lie in [1, {}]", k, d));
  const auto start = cast_to<S>(load_block(job.start, "start", d));
  auto known = load_reference(job.reference, d, k);

  PowerOptions options = settings.power;
  std::vector<std::string> notes;
  std::optional<Spectrum> spectrum;
  const bool adversarial = settings.noise.kind == NoiseChoice::Kind::adversarial;
  const bool needs_vectors = adversarial || (job.audit && !known);
  require(
      !needs_vectors || d <= largest_dense_dimension,
      fmt::format("{}: needs all eigenvectors of the matrix, which are computed up to dimension {} only; this one has "
                  "{}{}",
                  adversarial ? "noise = adversarial" : "audit", largest_dense_dimension, d,
                  adversarial ? "" : ", so give the answer with --reference"));
  if (settings.optimal_momentum || adversarial || job.audit) spectrum = problem.spectrum();
  if (settings.optimal_momentum) {
    options.momentum = Momentum::optimal(spectrum->lambda_next);
    notes.push_back(
        fmt::format("optimal momentum: lambda_(k+1) = {:.10g}, from {}", spectrum->lambda_next, spectrum->source));
  }
  NoiseModel<S> noise = noise_model<S>(settings, spectrum);
  std::optional<Auditor<S>> auditor;
  if (job.audit) {
    options.method = SolveMethod::anpm;  // step by step, as the theorem has it
    options.qr_every = 1;
    if (!known) known = Block<double>(spectrum->vectors.leftCols(k));
    auditor.emplace(*known, *spectrum, *job.audit);
    noise = auditor->listen(std::move(noise));
  }
  const auto reference = cast_to<S>(known);

  const InterruptGuard interrupt;
  ProgressLine progress(job.quiet);
  const Watch watch = [&](const HistoryEntry& entry) {
    if (progress.due()) progress.show(progress_text(entry, options.tolerance));
    return !interrupt.interrupted();
  };
  Hooks<S> hooks;
  hooks.observe_basis = job.audit.has_value();
  hooks.observe = [&](const Iteration<S>& now) {
    if (auditor) auditor->check(now);
    return watch(now.entry);
  };
  if (start) hooks.start = &*start;
  if (reference) hooks.reference = &*reference;
  std::optional<PowerState<S>> saved;
  if (!job.checkpoint.empty()) {
    const std::string identity = configuration(job);
    if (job.resume) hooks.resume = &saved.emplace(io::read_checkpoint<S>(job.checkpoint, identity));
    hooks.checkpoint_every = job.checkpoint_every;
    hooks.checkpoint = [&job, &notes, identity](const PowerState<S>& state) { save(job, state, identity, notes); };
  }

  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  outcome.power = in_arithmetic<double>(problem.solve(options, noise, hooks, watch));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (interrupt.interrupted()) notes.push_back("interrupted: this is the best basis so far");
  outcome.power.notes.insert(outcome.power.notes.begin(), notes.begin(), notes.end());
  if (auditor) outcome.audit = auditor->report();
  return outcome;
}

template <class S>
PowerResult<S> power(OperatorRef<S> A, const NoiseModel<S>& noise, const PowerOptions& options, const Hooks<S>& hooks) {
  if (!noise.fill) return principal_subspace<S>(A, options, hooks);
  const NoisyOperator<S> inexact(A, noise);
  return principal_subspace<S>(inexact, options, hooks);
}

PowerResult<double> mixed_power(OperatorRef<float> A_single, OperatorRef<double> A, const PowerOptions& options,
                                const Hooks<double>& hooks, const Watch& watch) {
  return mixed_precision_subspace(A_single, A, options, hooks,
                                  [&watch](const Iteration<float>& now) { return watch(now.entry); });
}

template PowerResult<float> power<float>(OperatorRef<float>, const NoiseModel<float>&, const PowerOptions&,
                                         const Hooks<float>&);
template PowerResult<double> power<double>(OperatorRef<double>, const NoiseModel<double>&, const PowerOptions&,
                                           const Hooks<double>&);
template Outcome solve<float>(const Job&, const Problem<float>&);
template Outcome solve<double>(const Job&, const Problem<double>&);

}  // namespace hearsay::app
