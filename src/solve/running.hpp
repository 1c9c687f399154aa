// A request on its way: what it needs to know first is found, and it becomes what a solver takes.
#pragma once

#include <chrono>

#include "hearsay/solve.hpp"
#include "hearsay/spectrum.hpp"
#include "solve/auditor.hpp"

namespace hearsay::detail {

/// The settings after settle(), and the rules that only a request as a whole can break.
template <class S>
SolveSettings settled(const Request<S>& request);

/// A model of a request in another arithmetic.
template <class T, class S>
NoiseModel<T> in_noise(const NoiseModel<S>& model);

template <class S>
class Running {
 public:
  /// `spectrum` is asked where an option must know it.
  Running(const Request<S>& request, Index dimension, const std::function<Spectrum()>& spectrum);

  const PowerOptions& options() const { return options_; }
  const NoiseModel<S>& noise() const { return noise_; }
  const Hooks<S>& hooks() const { return hooks_; }
  bool mixed() const { return settings_.precision == Precision::mixed; }

  /// solve() on the clock; its result with what is to be said beside it.
  template <class Solve>
  Solution<S> time(const Solve& solve) {
    const auto begin = std::chrono::steady_clock::now();
    Solution<S> solution{.power = solve()};
    solution.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    solution.power.notes.insert(solution.power.notes.begin(), notes_.begin(), notes_.end());
    if (auditor_) solution.audit = auditor_->report();
    return solution;
  }

 private:
  void choose_momentum(const std::optional<Spectrum>& spectrum);
  void choose_noise(const std::optional<Spectrum>& spectrum);
  void audit(const Spectrum& spectrum);

  const Request<S>& request_;
  const SolveSettings settings_;
  PowerOptions options_;
  NoiseModel<S> noise_;
  Hooks<S> hooks_;
  std::optional<Block<S>> reference_;
  std::optional<Auditor<S>> auditor_;
  std::vector<std::string> notes_;
};

}  // namespace hearsay::detail
