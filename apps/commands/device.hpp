// A solve on a device instead of this machine's processor.
#pragma once

#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/device_error.hpp"

namespace hearsay::app {

/// Job::engines of the device that was asked for, and what a solve there does by itself. Throws where there is no such
/// device, unless the processor was asked for after it, and for options that say nothing there.
void choose_device(Job& job);

/// After a device failed: leaves it, where the processor was asked for after it. False: it was not.
bool falls_back(Job& job, const DeviceError& error);

/// solve(), on the device first where there is one.
template <class Solve>
auto where_asked(Job& job, const Solve& solve) {
  if (job.engines == nullptr) return solve();
  try {
    return solve();
  } catch (const DeviceError& error) {
    if (!falls_back(job, error)) throw;
  }
  return solve();
}

/// A line for each, or one that says what is missing.
std::vector<std::string> describe_devices();

}  // namespace hearsay::app
