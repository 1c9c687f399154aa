// What a command tells when it is done, as JSON and as a text for people.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "commands/job.hpp"
#include "hearsay/block.hpp"
#include "hearsay/solve_stream.hpp"
#include "hearsay/solve_svd.hpp"

namespace hearsay::app {

using Json = nlohmann::ordered_json;

/// What PCA adds to a solve.
struct SampleFacts {
  Index samples = 0;
  bool centred = true;
  double total_variance = 0;  ///< NaN where it is not known
  Vector<double> mean, singular_values;
  Vector<double> scale = {};         ///< empty unless standardized
  std::vector<Index> constant = {};  ///< columns, from 0, that standardizing left at zero
  double weight = 0;                 ///< of all rows
  MissingFacts missing = {};
  std::vector<std::string> features = {};  ///< names of the columns; empty where the file has none
  std::optional<StreamPlan> plan = {};     ///< of rows that passed by
};

/// What singular values add: the outcome's `eigenvalues` are they, its basis the right vectors.
struct SingularFacts {
  Index rows = 0, columns = 0;
  const SvdFacts& of;
};

/// A solve with what it was about.
struct Report {
  const Job& job;
  Index dimension = 0;
  const Solution<double>& outcome;
  std::optional<SampleFacts> samples = {};
  std::optional<SingularFacts> singular = {};
};

/// JSON has no NaN and no infinity: null stands for both.
Json number(double value);
Json numbers(const Vector<double>& values);

/// The result with the keys that docs/reference/json.md lists.
Json result_json(const Report& report);

/// Status first and in plain words, then eigenvalues, accuracy, what was chosen, cost and notes.
std::string summary(const Report& report);

/// One aligned line of a summary.
template <class... Args>
std::string line(std::string_view label, fmt::format_string<Args...> text, Args&&... args) {
  return fmt::format("  {:<12} {}\n", label, fmt::format(text, std::forward<Args>(args)...));
}
std::string bytes_text(std::int64_t bytes);
/// With shares where the total is known, and with standard errors where there are any.
std::string eigenvalue_table(const Vector<double>& eigenvalues, double total_variance = 0,
                             const Vector<double>& standard_errors = {});
/// A text about eigenvalues, said of singular values.
std::string of_singular_values(std::string text);
std::string notes_text(const std::vector<std::string>& notes);

std::string_view name(theory::Condition condition);

}  // namespace hearsay::app
