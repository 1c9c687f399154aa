// One result as a page with pictures, for --report: self-contained, no script, no request.
#pragma once

#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "reports/decentralized_report.hpp"
#include "reports/report.hpp"

namespace hearsay::app {

/// What a page shows beyond the report; whatever is empty is left out.
struct PageData {
  Block<double> scores = {};               ///< a row per sample or node, a column per component
  std::vector<std::string> groups = {};    ///< of each row: its label, or its cluster
  std::string group_name = {};             ///< "label", "cluster"
  std::vector<std::string> features = {};  ///< the names of the rows of the basis
  std::vector<Index> cluster_sizes = {};
  std::string more = {};     ///< what follows the summary
  std::string without = {};  ///< why there are no scores
};

/// For the file job.report: the page where it ends in .html, its pictures alone where it ends in .svg.
std::string run_page(const Report& report, const PageData& data);
std::string run_page(const DecentralizedReport& report);

}  // namespace hearsay::app
