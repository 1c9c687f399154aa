// What an experiment leaves behind: a CSV, figures, the verdicts on its claims, and one page with all of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"
#include "formats/experiment_file.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

struct Reproduced {
  ExperimentFile file;
  experiments::Outcome outcome;
  double seconds = 0;
};

/// What the page says of the circumstances.
struct Circumstances {
  std::string command;  ///< as it was given
  std::string processor, compiler, kernels;
  int threads = 1;
  std::string finished;  ///< date and time, UTC
  double seconds = 0;
};

/// Lines panel,curve,x,median,low,high and the error of every seed: the same bytes for the same experiment.
std::string curves_csv(const Reproduced& done);

/// Lines row,column,median,low,high; columns by the names of their facts.
std::string table_csv(const experiments::TableSpec& spec, const Reproduced& done);

/// Every claim with its number, its bounds and whether it holds.
Json claims_json(const std::vector<Reproduced>& all);

/// "at least 5", "from 0.8 to 1.2".
std::string bounds_text(const experiments::Claim& claim);

/// "holds", "fails", "departs" or "untested".
std::string_view verdict_word(const experiments::Verdict& verdict);

/// "90 of 94 claims hold, 4 depart from the paper's words as documented".
std::string tally_text(const std::vector<Reproduced>& all);

/// A self-contained page: no request leaves it.
std::string page_html(const std::vector<Reproduced>& all, const Circumstances& circumstances);

}  // namespace hearsay::app
