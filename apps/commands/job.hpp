// What a command line asks for, beyond what the solver itself is told.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "commands/commands.hpp"
#include "hearsay/decentralized_on_ranks.hpp"
#include "hearsay/engine_maker.hpp"
#include "hearsay/faults.hpp"
#include "hearsay/options.hpp"

namespace CLI {
class App;
}

namespace hearsay::app {

struct Job {
  std::string command;
  std::string input;                ///< a file, or the name of a data set
  std::vector<std::string> inputs;  ///< of agents: one, or a shard each
  SolveSettings solve = {};
  DecentralizedSettings network = {};
  Faults faults = {};                 ///< of the flags
  std::filesystem::path faults_file;  ///< to be read before them

  bool center = true;
  bool standardize = false;
  bool whiten = false;
  bool stream = false;
  bool psd = false;
  bool largest_component = false;
  bool resume = false;
  bool quiet = false;
  bool one_per_rank = false;
  bool quick = false;
  std::string label_column, weights_column, dataset;
  Missing missing = Missing::refuse;
  ColumnMatch columns = ColumnMatch::by_name;
  double shift = 0;
  std::string device = "cpu";
  std::shared_ptr<EngineMaker> engines = {};  ///< of that device; none: the processor computes
  std::string instead = {};                   ///< why the processor does so, where a device was asked for
  double timeout = 600;
  Index block_rows = 1024;
  std::optional<double> audit;
  std::optional<Index> clusters;
  Index restarts = 10;

  std::filesystem::path start, reference, row_weights;                                            ///< empty: not given
  std::filesystem::path components_from, mean_from, scale_from;                                   ///< empty: not given
  std::filesystem::path components, scores, left, right, embedding, labels, json, trace, report;  ///< empty: not given
  std::filesystem::path out = "figures";
  std::filesystem::path checkpoint;
  Index checkpoint_every = 100;

  std::map<std::string, std::string, std::less<>> given;  ///< every option that was set, as it was spelt

  bool prints_json() const { return json == "-"; }

  /// What was given for an option, or its default; parsed by the table's rules where it must be a number.
  std::string text(std::string_view name, std::string_view otherwise) const;
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least) const;
  std::optional<double> real(std::string_view name) const;
  std::uint64_t network_seed() const;
};

/// A command that takes options of the table, and perhaps something to read.
struct CommandText {
  std::string name, summary;
  std::string input = {}, input_help = {};  ///< empty: it reads nothing but what options name
  bool many_inputs = false;
  std::string footer;
  Commands options;
};

/// Adds it to the command line; chosen, it leaves `run` to be done.
void add_command(CLI::App& root, Action& action, const CommandText& text, std::function<int(const Job&)> run);

/// The job of a command with these arguments and options, as Job::given spells them; to look at its data once more.
Job remade(const std::string& command, const std::vector<std::string>& inputs,
           const std::map<std::string, std::string, std::less<>>& given);

/// The rules that involve more than one option.
void check(Job& job);

}  // namespace hearsay::app
