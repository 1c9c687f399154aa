// What a command line asks for, beyond what the solver itself is told.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "hearsay/options.hpp"

namespace hearsay::app {

struct Job {
  std::string command;
  std::string input;  ///< a file, or the name of a data set
  SolveSettings solve = {};

  bool center = true;
  bool stream = false;
  bool psd = false;
  bool largest_component = false;
  bool resume = false;
  bool quiet = false;
  std::string label_column;
  double shift = 0;
  Index block_rows = 1024;
  std::optional<double> audit;
  std::optional<Index> clusters;
  Index restarts = 10;

  std::filesystem::path start, reference;                             ///< empty: not given
  std::filesystem::path components, scores, embedding, labels, json;  ///< likewise
  std::filesystem::path checkpoint;
  Index checkpoint_every = 100;

  std::map<std::string, std::string, std::less<>> given;  ///< every option that was set, as it was spelt

  bool prints_json() const { return json == "-"; }
};

/// Every option of the table that belongs to the command.
void add_options(CLI::App& app, Commands command, Job& job);

/// The rules that involve more than one option.
void check(Job& job);

}  // namespace hearsay::app
