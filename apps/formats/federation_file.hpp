// The file that organisations agree on before they run together: who they are, who talks to whom, and what is computed.
// docs/reference/federation.md is the reference.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

struct FederationAgent {
  std::string name;
  std::string address = {};   ///< "host:port"; empty: it dials, and nobody can dial it
  std::string identity = {};  ///< of its certificate: "DNS:name" or "URI:text"
  int line = 0;               ///< of the file
};

/// What agents with private rows agree on; the texts are those of the options of the same names.
struct FederationDp {
  double epsilon = 0, delta = 0;
  double row_norm = 0;
  std::string trust = "none", neighbours = "add-remove";
  Index colluders = 1;            ///< of trust secure
  Index public_rows = 0;          ///< of all agents together; 0: not said
  std::vector<double> mean = {};  ///< subtracted from every row; empty: none is
};

struct FederationFile {
  std::string source = {};  ///< what messages begin with
  std::string name = {};
  std::string run = {};                      ///< told apart by this; two runs of one name refuse each other's agents
  std::vector<FederationAgent> agents = {};  ///< by number
  std::string topology = "ring";             ///< a word; empty where the edges are listed
  std::vector<std::pair<Index, Index>> edges = {};
  std::vector<std::pair<std::string, std::string>> settings =
      {};  ///< options of the table and their texts, all of them
  bool center = true;
  Index features = 0;                           ///< their number; 0: whatever the agents have
  std::vector<std::string> feature_names = {};  ///< in the order of the result's rows
  double start_seconds = 600;                   ///< until all neighbours are there
  double round_seconds = 120;                   ///< for one message of a neighbour
  double link_seconds = 30;                     ///< that a link may be gone
  bool excludes = false;    ///< agents that are gone are left out, and the others go on; else they end the run
  Index min_agents = 0;     ///< then fewer than these stop; 0: the least number that is more than half
  double wait_seconds = 0;  ///< above 0: an agent that is gone may take so long to come back, and all go on from there
  Index keep_every = 20;    ///< iterations between two states that agents keep
  std::optional<FederationDp> dp = {};
  int topology_line = 0;

  /// FederationSettings::quorum.
  Index quorum() const;

  std::string setting(std::string_view name) const;
};

/// The settings a federation has, by the names of the option table; `rank` is spelt k in the file.
std::vector<std::string_view> federation_settings();

/// Throws DataError: file, line, key, value and rule.
FederationFile read_federation(const std::filesystem::path& path);
FederationFile parse_federation(std::string_view text, std::string_view name);

/// "abort", "exclude" or "wait:SECONDS". Throws InvalidArgument.
void set_on_crash(FederationFile& file, const std::string& word);

/// Throws InvalidArgument for what private rows do not go with.
void check_dp(const FederationFile& file);

/// Every rule that the reader holds a file to, for one that was made otherwise. Throws InvalidArgument.
void set_setting(FederationFile& file, std::string_view name, const std::string& text);

/// The file, as `federation new` writes it: all settings, those that were left out at their defaults.
std::string federation_text(const FederationFile& file);

/// SHA-256 of that text: the same for files that say the same, however they are laid out.
std::string federation_digest(const FederationFile& file);

/// What the library is told.
struct FederationOptions {
  DecentralizedSettings network = {};
  SolveSettings solve = {};
};
FederationOptions federation_options(const FederationFile& file);

/// The agent of that name or number. Throws InvalidArgument.
Index find_agent(const FederationFile& file, const std::string& who);

}  // namespace hearsay::app
