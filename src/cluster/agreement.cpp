// Agreement of two labellings, from their contingency table n_ij = #{points labelled i by the first and j by the
// second}.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "hearsay/error.hpp"
#include "hearsay/kmeans.hpp"

namespace hearsay {
namespace {

using Labels = std::span<const std::int32_t>;

struct Contingency {
  std::map<std::pair<std::int32_t, std::int32_t>, double> joint;  // n_ij, the zeros left out
  std::map<std::int32_t, double> first, second;                   // its row and column sums
  double points = 0;
};

Contingency count(Labels first, Labels second) {
  require(first.size() == second.size(), "the labellings have " + std::to_string(first.size()) + " and " +
                                             std::to_string(second.size()) +
                                             " points: they must be of the same points");
  Contingency table;
  table.points = static_cast<double>(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    table.joint[{first[i], second[i]}] += 1;
    table.first[first[i]] += 1;
    table.second[second[i]] += 1;
  }
  return table;
}

template <class Counts>
double pairs_inside(const Counts& counts) {
  double pairs = 0;
  for (const auto& [label, n] : counts) pairs += 0.5 * n * (n - 1);
  return pairs;
}

template <class Counts>
double entropy(const Counts& counts, double points) {
  double H = 0;
  for (const auto& [label, n] : counts) H -= n / points * std::log(n / points);
  return H;
}

}  // namespace

double adjusted_rand_index(Labels first, Labels second) {
  const Contingency table = count(first, second);
  const double all_pairs = 0.5 * table.points * (table.points - 1);
  const double together = pairs_inside(table.joint);
  const double in_first = pairs_inside(table.first);
  const double in_second = pairs_inside(table.second);

  const double most = 0.5 * (in_first + in_second);
  if (together == most) return 1.0;  // the same partition; also every labelling of fewer than two points
  const double expected = in_first * in_second / all_pairs;
  return (together - expected) / (most - expected);
}

double normalized_mutual_information(Labels first, Labels second) {
  const Contingency table = count(first, second);
  const double H_first = entropy(table.first, table.points);
  const double H_second = entropy(table.second, table.points);
  if (H_first + H_second == 0) return 1.0;  // a single class in both

  const double mutual = H_first + H_second - entropy(table.joint, table.points);
  return std::clamp(2 * mutual / (H_first + H_second), 0.0, 1.0);
}

}  // namespace hearsay
