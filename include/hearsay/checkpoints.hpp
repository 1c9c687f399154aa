// Where a solve keeps its states, to go on from one another day.
#pragma once

#include "hearsay/export.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

/// Whatever the arithmetic; io::CheckpointFile is one.
class HEARSAY_API Checkpoints {
 public:
  virtual ~Checkpoints() = default;
  /// What it throws does not end the solve: it becomes a note.
  virtual void save(const PowerState<double>& state) = 0;
  virtual void save(const PowerState<float>& state) = 0;
  /// The state to go on from; false: there is none, so begin.
  virtual bool load(PowerState<double>& state) = 0;
  virtual bool load(PowerState<float>& state) = 0;
};

}  // namespace hearsay
