// A basis that was found before, with what goes with it: mean, scale, variances, names of the columns.
#pragma once

#include <string>
#include <vector>

#include "commands/job.hpp"
#include "hearsay/pca.hpp"

namespace hearsay::app {

struct Projection {
  PcaResult<double> model = {};            ///< what pca_scores() and whiten() ask of it
  std::vector<std::string> features = {};  ///< names of the columns; empty where they are not known
  std::string mean_source, scale_source;   ///< "result", "file" or "none"
};

/// From --components-from: a result as JSON, with the basis it names, or a basis alone, with --mean-from and
/// --scale-from. Throws InvalidArgument where the options ask for what that does not bring, DataError where the files
/// do not belong together.
Projection load_projection(const Job& job);

/// Which columns of new data are the features of the analysis, in its order. Throws InvalidArgument, with their names,
/// where they differ.
std::vector<Index> matched_columns(const Projection& projection, const std::vector<std::string>& names, Index columns,
                                   const Job& job);

}  // namespace hearsay::app
