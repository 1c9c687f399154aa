// Timing rivals within one run.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace hearsay::bench {

/// Runs the rivals in turn, so that a drift of the machine hits all alike; median seconds of each.
inline std::vector<double> medians(const std::vector<std::function<void()>>& rivals, int repeats = 7) {
  std::vector<std::vector<double>> seconds(rivals.size());
  for (int repeat = -1; repeat < repeats; ++repeat)  // the first round warms up
    for (std::size_t i = 0; i < rivals.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      rivals[i]();
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      if (repeat >= 0) seconds[i].push_back(taken.count());
    }
  std::vector<double> result;
  for (auto& times : seconds) {
    std::sort(times.begin(), times.end());
    result.push_back(times[times.size() / 2]);
  }
  return result;
}

}  // namespace hearsay::bench
