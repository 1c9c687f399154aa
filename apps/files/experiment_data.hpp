// The data sets that experiments among agents name, loaded once each.
#pragma once

#include "experiments/experiment.hpp"

namespace hearsay::app {

/// Gives every run among agents what its agents hold: heart, digits, digits-by-label or ego-facebook, from the data
/// directory. Throws DataError for data that are not there, or of an unknown name.
void load_data(experiments::Experiment& experiment);

}  // namespace hearsay::app
