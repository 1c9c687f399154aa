// One solve as every command runs it: noise, momentum from a known spectrum, reference, audit, checkpoints, progress
// and Ctrl-C around the library's solver.
#pragma once

#include <functional>
#include <optional>

#include "commands/job.hpp"
#include "hearsay/audit.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"
#include "hearsay/spectrum.hpp"

namespace hearsay::app {

/// Sees every iteration, in whatever arithmetic; false stops the solve.
using Watch = std::function<bool(const HistoryEntry&)>;

/// What differs between the commands.
template <class S>
struct Problem {
  Index dimension = 0;
  /// Of the exact matrix; called only if an option needs it.
  std::function<Spectrum()> spectrum;
  /// Hooks already call the watch; it is handed over for solvers that also iterate in another arithmetic.
  std::function<PowerResult<S>(const PowerOptions&, const NoiseModel<S>&, const Hooks<S>&, const Watch&)> solve;
};

struct Outcome {
  PowerResult<double> power;  ///< whatever the arithmetic was; its notes include the door's own
  std::optional<theory::AuditReport> audit;
  double seconds = 0;  ///< of the solve alone
};

template <class S>
Outcome solve(const Job& job, const Problem<S>& problem);

/// The solver on A with the noise asked for, if any.
template <class S>
PowerResult<S> power(OperatorRef<S> A, const NoiseModel<S>& noise, const PowerOptions& options, const Hooks<S>& hooks);

/// The solver in two arithmetics, both watched.
PowerResult<double> mixed_power(OperatorRef<float> A_single, OperatorRef<double> A, const PowerOptions& options,
                                const Hooks<double>& hooks, const Watch& watch);

}  // namespace hearsay::app
