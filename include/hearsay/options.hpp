// Every option a user can set, in one table: it feeds --help, the reference page and the keywords of the bindings; and
// the way from an option's text to its value.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/decentralized.hpp"
#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"
#include "hearsay/message.hpp"
#include "hearsay/pca.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

enum class OptionKind { flag, integer, real, choice, text, file };

/// The commands an option belongs to, as a set of bits.
enum Commands : unsigned {
  in_pca = 1,
  in_eigs = 2,
  in_cluster = 4,
  in_plan = 8,
  in_decentralized = 16,
  in_experiments = 32,  ///< reproduce and experiment
  in_svd = 128,
  in_project = 256
};
inline constexpr unsigned in_solves = in_pca | in_eigs | in_cluster;

/// What an option is about: the heading it is listed under.
enum class OptionGroup {
  solver,
  network,
  faults,
  noise,
  input,
  privacy,
  theory,
  clustering,
  checkpoint,
  output,
  running
};
HEARSAY_API std::string_view title(OptionGroup group);

struct OptionRecord {
  std::string_view name;     ///< as in --name; with underscores, the keyword of the bindings
  std::string_view aliases;  ///< other spellings, separated by blanks; "-k" is a short one
  std::string_view metavar;
  OptionKind kind;
  std::string_view default_text;  ///< empty: none
  std::string_view range;         ///< the rule a value must obey, in words
  std::string_view help;
  OptionGroup group;
  unsigned commands;
};

HEARSAY_API std::span<const OptionRecord> option_table();

/// Throws InvalidArgument, naming the nearest one, for a name that is not in the table.
HEARSAY_API const OptionRecord& find_option(std::string_view name);

/// The arithmetic. On a device (Request::engines), what products are made in: automatic, fp16, tf32, single or full.
enum class Precision { full, single, mixed, automatic, tf32, fp16 };
HEARSAY_API const char* name(Precision precision);

/// Where to compute, by its words: "cpu", "cuda", "cuda:1", "cuda:1,cpu".
struct DeviceChoice {
  bool on_device = false;
  int number = 0;
  bool or_here = false;  ///< by the processor, where that device cannot
};
/// Throws InvalidArgument.
HEARSAY_API DeviceChoice device_choice(std::string_view text);

/// Noise asked for by name; the model itself may need the eigenvectors, which the caller has.
struct NoiseChoice {
  enum class Kind { none, gaussian, sphere, adversarial };
  Kind kind = Kind::none;
  double level = 0;  ///< sigma for gaussian, the spectral norm otherwise
};

/// How many components, where that is no number: as few as explain more than a share of the variance, or as many as
/// Minka's criterion finds.
struct RankRule {
  enum class Kind { count, share, mle };
  Kind kind = Kind::count;
  double share = 0;
};

/// What the doors let a user say about a solve.
struct SolveSettings {
  PowerOptions power = {};
  RankRule rank_rule = {};        ///< of solve_pca() alone; power.rank counts where it is a number
  bool optimal_momentum = false;  ///< momentum from lambda_{k+1}, which the caller finds
  bool plain = false;             ///< method npm: no momentum whatever the other options say
  NoiseChoice noise = {};
  std::uint64_t noise_seed = 0;
  Precision precision = Precision::full;
};

/// A policy by its name; throws InvalidArgument.
HEARSAY_API Missing missing_policy(std::string_view text);

/// Sets what the option `name` stands for. False: the option is none of the solver's, and is the caller's to handle.
/// Throws InvalidArgument (name, value, rule) for a text that is no legal value.
HEARSAY_API bool set_option(SolveSettings& settings, std::string_view name, std::string_view text);

/// What only the whole says: a plain method with a momentum is refused; the tolerance is filled in, for the precision.
HEARSAY_API void settle(SolveSettings& settings);

/// What a decentralized solve is told beyond that: only the rank, momentum, damping, iterations and seed of
/// SolveSettings count for it.
struct DecentralizedSettings {
  DecentralizedOptions solver = {};
  MessagePrecision precision = MessagePrecision::real64;
};

HEARSAY_API bool set_option(DecentralizedSettings& settings, std::string_view name, std::string_view text);

/// The two together.
HEARSAY_API DecentralizedOptions settle(const DecentralizedSettings& settings, const SolveSettings& solve);

/// The graph that a word names: ring, path, star, complete, grid, grid:RxC, torus, torus:RxC, erdos:P, regular:D; a
/// grid without sizes is as square as the number of agents allows. Nothing where the word is none of these, and may be
/// the name of a file. The seed drives erdos and regular.
HEARSAY_API std::optional<Graph> named_topology(std::string_view text, Index agents, std::uint64_t seed);

/// Numbers as options spell them. Throw InvalidArgument: "rank = x: must be a whole number of at least 1".
HEARSAY_API std::int64_t parse_integer(std::string_view name, std::string_view text, std::int64_t least);
HEARSAY_API double parse_real(std::string_view name, std::string_view text);

/// The candidate a misspelt word most likely means; empty when none is near.
HEARSAY_API std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// A message of the library as a door says it. The library writes an option as `name`, in backquotes, as the table has
/// it; `spell` gives the door's own word for that, or nothing for what is no option, and stays as it is.
HEARSAY_API std::string in_words(std::string_view message,
                                 const std::function<std::optional<std::string>(std::string_view name)>& spell);

/// "; did you mean X?", or nothing.
HEARSAY_API std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace hearsay
