// A request made ready for a solver: what it must know first is found, and settings become options, noise and hooks.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "hearsay/solve.hpp"
#include "hearsay/spectrum.hpp"
#include "solve/auditor.hpp"
#include "solve/seconds.hpp"

namespace hearsay::detail {

/// Of the observers that a request has, the one for solves in S.
template <class S>
const auto& observer_in(const Request& request) {
  if constexpr (std::is_same_v<S, double>)
    return request.observe;
  else
    return request.observe_single;
}

/// In the arithmetic S. The request must outlive it.
template <class S>
class Prepared {
 public:
  /// `spectrum` is asked where an option must know it.
  Prepared(const Request& request, Index dimension, const std::function<Spectrum()>& spectrum);
  Prepared(const Prepared&) = delete;  // the hooks point into it
  Prepared& operator=(const Prepared&) = delete;

  const PowerOptions& options() const { return options_; }
  const NoiseModel<S>& noise() const { return noise_; }
  NoiseModel<float> noise_in_single() const;  ///< of precision mixed
  const Hooks<S>& hooks() const { return hooks_; }

  /// A PowerResult of solve() on the clock, with what is to be said beside it.
  template <class Solve>
  Solution<S> time(const Solve& solve) {
    const auto begin = std::chrono::steady_clock::now();
    Solution<S> solution{.power = solve()};
    solution.seconds = seconds_since(begin);
    solution.power.notes.insert(solution.power.notes.begin(), notes_.begin(), notes_.end());
    if (auditor_) solution.audit = auditor_->report();
    return solution;
  }

 private:
  void take_reference(Index dimension);
  void choose_momentum(const Spectrum& spectrum);
  template <class T>
  NoiseModel<T> noise_in() const;
  void audit(const Spectrum& spectrum);
  void connect();
  void save(const PowerState<S>& state);

  const Request& request_;
  SolveSettings settings_;
  PowerOptions options_;
  NoiseModel<S> noise_;
  Hooks<S> hooks_;
  std::optional<Block<S>> start_, reference_;
  std::optional<PowerState<S>> saved_;
  Block<double> eigenvectors_;  // of an adversary
  std::optional<Auditor<S>> auditor_;
  std::vector<std::string> notes_;
  bool told_of_checkpoint_ = false;
};

}  // namespace hearsay::detail
