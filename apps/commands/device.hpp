// A solve on a device instead of this machine's processor.
#pragma once

#include <string>
#include <vector>

#include "commands/job.hpp"
#include "files/inputs.hpp"
#include "hearsay/solve.hpp"

namespace hearsay::app {

/// Whether the job is for a device: one that is there, and a job that can be done on it. Throws where it is not.
bool check_device(const Job& job);

Solution<double> solve_on_device(const Job& job, const io::Data& data);

/// A line for each, or one that says what is missing.
std::vector<std::string> describe_devices();

}  // namespace hearsay::app
