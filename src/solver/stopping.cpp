#include "solver/stopping.hpp"

#include <algorithm>
#include <cmath>

#include "solver/tuning.hpp"

namespace hearsay::detail {

namespace {

double least_residual(const std::vector<HistoryEntry>& history, std::size_t first, std::size_t last) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < last; ++i) least = std::min(least, history[i].residual);
  return least;
}

}  // namespace

// With momentum acosh(1 + gap / (2 sqrt(beta))), which is log(lambda^+ / sqrt(beta)); without, log(theta_k /
// theta_{k+1}).
double rate(const StoppingFacts& facts, const HistoryEntry& now, double resolution) {
  if (now.edge > 0) {
    const double two_sqrt_beta = facts.damping == Damping::centred ? now.edge / 2 : now.edge;
    return std::acosh(1 + std::max(now.theta_k - now.edge, resolution) / two_sqrt_beta);
  }
  return -std::log1p(-std::min(0.9, std::max(now.theta_k - now.theta_next, resolution) / now.theta_k));
}

template <class S>
double noise_from_asymmetry(const Small<S>& H) {
  const auto p = static_cast<double>(H.rows());
  if (p < 2) return 0;
  return static_cast<double>((H - H.transpose()).norm()) / std::sqrt(2 * p * (p - 1));
}

double recent_noise(const std::vector<HistoryEntry>& history) {
  std::vector<double> recent;
  for (std::size_t i = history.size() - std::min(tuning::noise_window, history.size()); i < history.size(); ++i)
    recent.push_back(history[i].noise);
  if (recent.empty()) return 0;
  std::nth_element(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(recent.size() / 2), recent.end());
  return recent[recent.size() / 2];
}

bool products_are_noisy(const StoppingFacts& facts, const std::vector<HistoryEntry>& history) {
  if (facts.noisy) return true;
  if (!facts.watch || history.size() < tuning::least_history_for_noise) return false;
  const double rounding = tuning::noise_above_rounding * facts.epsilon * std::sqrt(static_cast<double>(facts.d));
  double largest = 0;  // a start that A takes to nothing shows what A is later
  for (const HistoryEntry& entry : history) largest = std::max(largest, std::abs(entry.theta_1));
  return recent_noise(history) > rounding * largest;
}

bool stagnant(const std::vector<HistoryEntry>& history) {
  const std::size_t size = history.size(), window = std::max(tuning::least_window, size / 4);
  if (size < 2 * window) return false;
  return least_residual(history, size - window, size) >
         tuning::no_progress * least_residual(history, size - 2 * window, size - window);
}

bool transient_is_over(const StoppingFacts& facts, const std::vector<HistoryEntry>& history) {
  const HistoryEntry& now = history.back();
  if (!std::isfinite(now.theta_next)) return false;  // a block of k columns: no gap to predict from
  if (!(now.theta_k > 0)) return now.t >= tuning::transient_without_rate;
  const double d = static_cast<double>(facts.d), k = static_cast<double>(facts.k), noise = recent_noise(history);
  const double floor = std::max(noise * std::sqrt(d) / now.theta_k, facts.epsilon);
  const double needed = std::log(std::max(2.0, tuning::unlucky_start * std::sqrt(d * k) / floor));
  const double least_gap = std::max(tuning::gap_in_noise * noise, tuning::least_gap * now.theta_k);
  return static_cast<double>(now.t) * rate(facts, now, least_gap) >= tuning::transient_margin * needed;
}

bool at_rounding_floor(const StoppingFacts& facts, const std::vector<HistoryEntry>& history) {
  const double rounding = std::max(tuning::floor_in_root_epsilon * std::sqrt(facts.epsilon),
                                   tuning::floor_in_epsilon * facts.epsilon * std::sqrt(static_cast<double>(facts.d)));
  return history.size() >= tuning::least_history_for_floor && least_residual(history, 0, history.size()) <= rounding &&
         stagnant(history);
}

template double noise_from_asymmetry<float>(const Small<float>&);
template double noise_from_asymmetry<double>(const Small<double>&);

}  // namespace hearsay::detail
