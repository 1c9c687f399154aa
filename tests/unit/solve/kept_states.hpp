#pragma once

#include <hearsay/checkpoints.hpp>
#include <hearsay/error.hpp>

#include <optional>
#include <vector>

namespace hearsay::test {

/// Checkpoints in memory: every state that was saved, and one to go on from.
struct KeptStates : Checkpoints {
  std::vector<PowerState<double>> doubles;
  std::vector<PowerState<float>> floats;
  std::optional<PowerState<double>> resume;
  bool full = false;  ///< as a disk may be

  void save(const PowerState<double>& state) override {
    require(!full, "no space left");
    doubles.push_back(state);
  }
  void save(const PowerState<float>& state) override { floats.push_back(state); }
  bool load(PowerState<double>& state) override {
    if (resume) state = *resume;
    return resume.has_value();
  }
  bool load(PowerState<float>&) override { return false; }
};

}  // namespace hearsay::test
