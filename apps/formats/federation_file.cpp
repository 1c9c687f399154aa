#include "formats/federation_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/json_places.hpp"
#include "formats/json_reader.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"

namespace hearsay::app {

namespace {

using FileJson = nlohmann::json;

constexpr std::size_t most_federation_agents = 10000, longest_name = 200;
constexpr std::uint64_t most_iterations = 1'000'000'000;
constexpr double longest_wait = 1e7;  // seconds

// In the order in which they are written. The rank has no default.
constexpr std::string_view setting_names[] = {"rank",    "algorithm",  "gossip",         "rounds",
                                              "weights", "tolerance",  "max-iterations", "momentum",
                                              "damping", "oversample", "seed",           "message-precision"};

std::string_view file_key(std::string_view option) { return option == "rank" ? "k" : option; }

std::string default_of(std::string_view name) {
  if (name == "tolerance") return fmt::format("{}", DecentralizedOptions{}.tolerance);
  return std::string(find_option(name).default_text);
}

// The values that are for networks between organisations: the weights of a file would have to travel with it.
void check_weights(const std::string& text) {
  constexpr std::string_view words[] = {"auto", "ring", "metropolis", "lazy"};
  require(std::find(std::begin(words), std::end(words), text) != std::end(words),
          fmt::format("weights = {}: must be one of auto|ring|metropolis|lazy{}", text, did_you_mean(text, words)));
}

void apply(FederationOptions& options, std::string_view name, const std::string& text) {
  if (name == "weights") return check_weights(text);
  if (!set_option(options.network, name, text)) set_option(options.solve, name, text);
}

bool plain_text(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
  });
}

// Keys and certificates are files of this name, beside those of the authority.
bool good_agent_name(std::string_view text) {
  return plain_text(text) && text.find('/') == text.npos && text.front() != '.' && text.front() != '-' &&
         text != "authority";
}

bool good_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (!plain_text(text) || colon == text.npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon), digits = text.substr(colon + 1);
  if (host.find('/') != host.npos || (host.find(':') != host.npos && !(host.front() == '[' && host.back() == ']')))
    return false;
  int port = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return problem == std::errc() && end == digits.data() + digits.size() && port >= 1 && port <= 65535;
}

bool good_identity(std::string_view text) {
  return plain_text(text) && text.size() > 4 && (text.starts_with("DNS:") || text.starts_with("URI:")) &&
         text.find('*') == text.npos;
}

// One object of the file; every refusal names the line.
class Part {
 public:
  Part(const FileJson& object, const JsonPlaces& places, std::string_view file, std::string path)
      : object_(object), places_(places), file_(file), path_(std::move(path)) {}

  int line_of(std::string_view key) const { return places_.line_of(full(key)); }
  bool has(std::string_view key) const { return object_.contains(std::string(key)); }
  const FileJson& at(std::string_view key) const { return object_.at(std::string(key)); }

  [[noreturn]] void fail(std::string_view key, std::string_view message) const {
    throw DataError(fmt::format("{}:{}: {}", file_, line_of(key), message));
  }
  [[noreturn]] void refuse(std::string_view key, std::string_view rule) const {
    const bool there = has(key);
    std::string value = there ? at(key).dump(-1, ' ', true) : std::string();
    if (value.size() > 80) value = value.substr(0, 77) + "...";
    fail(key, there ? fmt::format("{} = {}: must be {}", full(key), value, rule)
                    : fmt::format("{}: missing; must be {}", full(key), rule));
  }
  std::string text(std::string_view key, std::string_view rule) const {
    if (!has(key) || !at(key).is_string()) refuse(key, rule);
    return at(key).get<std::string>();
  }
  double seconds(std::string_view key, double otherwise) const {
    if (!has(key)) return otherwise;
    const double value = at(key).is_number() ? at(key).get<double>() : -1;
    if (!(value >= 0.1 && value <= 1e7)) refuse(key, "a number of seconds in [0.1, 1e7]");
    return value;
  }
  void require_keys(std::span<const std::string_view> known) const {
    for (const auto& [key, value] : object_.items())
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(key, fmt::format("{}: no such key here{}", full(key).substr(0, 80), did_you_mean(key, known)));
  }
  Part inside(std::string_view key) const {
    if (!at(key).is_object()) refuse(key, "an object");
    return {at(key), places_, file_, full(key)};
  }
  Part element(std::string_view key, std::size_t index) const {
    const std::string path = fmt::format("{}[{}]", full(key), index);
    const FileJson& value = at(key)[index];
    if (!value.is_object())
      throw DataError(fmt::format("{}:{}: {}: must be an object", file_, places_.line_of(path), path));
    return {value, places_, file_, path};
  }
  const JsonPlaces& places() const { return places_; }
  std::string full(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

 private:
  const FileJson& object_;
  const JsonPlaces& places_;
  std::string_view file_;
  std::string path_;
};

constexpr std::string_view name_rule = "a text of at most 200 letters, digits and signs, without blanks";

FederationAgent read_agent(const Part& part) {
  constexpr std::string_view known[] = {"name", "address", "identity"};
  part.require_keys(known);
  const std::string agent_rule =
      fmt::format("{}; its files are called so: no /, no . or - at the beginning, and not \"authority\"", name_rule);
  FederationAgent agent{.name = part.text("name", agent_rule), .line = part.line_of("name")};
  if (!good_agent_name(agent.name)) part.refuse("name", agent_rule);
  constexpr std::string_view address_rule = "\"host:port\", or null where nobody can dial it";
  if (part.has("address") && !part.at("address").is_null()) {
    agent.address = part.text("address", address_rule);
    if (!good_address(agent.address)) part.refuse("address", address_rule);
  }
  constexpr std::string_view identity_rule = "\"DNS:name\" or \"URI:text\", without a wildcard";
  agent.identity = part.has("identity") ? part.text("identity", identity_rule) : "DNS:" + agent.name;
  if (!good_identity(agent.identity)) part.refuse("identity", identity_rule);
  return agent;
}

// Two agents that look alike would be taken for each other.
void require_new(const Part& part, const FederationFile& file, const FederationAgent& agent) {
  for (std::size_t i = 0; i < file.agents.size(); ++i) {
    const FederationAgent& other = file.agents[i];
    const auto clash = [&](std::string_view key, const std::string& value) {
      part.fail(key, fmt::format("{} = \"{}\": must be of one agent alone, and agents[{}] has it too", part.full(key),
                                 value, i));
    };
    if (agent.name == other.name) clash("name", agent.name);
    if (agent.identity == other.identity) clash("identity", agent.identity);
    if (!agent.address.empty() && agent.address == other.address) clash("address", agent.address);
  }
}

void read_agents(const Part& top, FederationFile& file) {
  if (!top.has("agents") || !top.at("agents").is_array() || top.at("agents").empty() ||
      top.at("agents").size() > most_federation_agents)
    top.refuse("agents", "a list of 1 to 10000 agents");
  for (std::size_t i = 0; i < top.at("agents").size(); ++i) {
    const Part part = top.element("agents", i);
    FederationAgent agent = read_agent(part);
    require_new(part, file, agent);
    file.agents.push_back(std::move(agent));
  }
}

void read_topology(const Part& top, FederationFile& file) {
  file.topology_line = top.line_of("topology");
  if (!top.has("topology")) return;
  const FileJson& value = top.at("topology");
  constexpr std::string_view rule =
      "ring, path, star, complete, grid:RxC or torus:RxC, or a list of edges [agent, agent]";
  if (value.is_string()) {
    file.topology = value.get<std::string>();
    constexpr std::string_view words[] = {"ring", "path", "star", "complete", "grid", "torus"};
    if (std::find(std::begin(words), std::end(words), file.topology.substr(0, file.topology.find(':'))) ==
        std::end(words))
      top.refuse("topology", fmt::format("{}{}", rule, did_you_mean(file.topology, words)));
    return;
  }
  if (!value.is_array() || value.empty()) top.refuse("topology", rule);
  file.topology.clear();
  std::set<std::pair<Index, Index>> seen;
  const auto agents = static_cast<Index>(file.agents.size());
  for (std::size_t e = 0; e < value.size(); ++e) {
    const auto whole = [&](const FileJson& end) {
      return end.is_number_unsigned() && end.get<std::uint64_t>() < std::uint64_t(agents);
    };
    const bool edge = value[e].is_array() && value[e].size() == 2 && whole(value[e][0]) && whole(value[e][1]) &&
                      value[e][0] != value[e][1];
    const std::pair<Index, Index> ends =
        edge ? std::minmax({value[e][0].get<Index>(), value[e][1].get<Index>()}) : std::pair<Index, Index>{};
    if (edge && seen.insert(ends).second) continue;
    const std::string path = fmt::format("topology[{}]", e);
    throw DataError(fmt::format("{}:{}: {} = {}: must be {}", file.source, top.places().line_of(path), path,
                                value[e].dump(-1, ' ', true).substr(0, 60),
                                edge ? "there once" : fmt::format("two different agents below {}", agents)));
  }
  file.edges.assign(seen.begin(), seen.end());
}

// As the command line would spell it.
std::string setting_text(const Part& top, std::string_view key) {
  const FileJson& value = top.at(key);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number_float()) return value.dump();
  top.refuse(key, "a number or a text");
}

void read_settings(const Part& top, FederationFile& file) {
  for (const std::string_view name : setting_names) {
    const std::string_view key = file_key(name);
    if (!top.has(key)) {
      if (name == "rank") top.refuse(key, "the number of components, from 1");
      continue;
    }
    const std::string text = setting_text(top, key);
    try {
      set_setting(file, name, text);
    } catch (const InvalidArgument& problem) {
      top.fail(key, problem.what());
    }
  }
}

void read_features(const Part& top, FederationFile& file) {
  if (!top.has("features") || top.at("features").is_null()) return;
  const FileJson& value = top.at("features");
  constexpr std::string_view rule = "their number, or the list of their names, each once";
  if (value.is_number_unsigned() && value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= (1u << 30)) {
    file.features = value.get<Index>();
    return;
  }
  if (!value.is_array() || value.empty()) top.refuse("features", rule);
  std::set<std::string> seen;
  for (const FileJson& name : value) {
    if (!name.is_string() || name.get_ref<const std::string&>().empty() || !seen.insert(name.get<std::string>()).second)
      top.refuse("features", rule);
    file.feature_names.push_back(name.get<std::string>());
  }
  file.features = static_cast<Index>(value.size());
}

void read_deadlines(const Part& top, FederationFile& file) {
  if (!top.has("deadlines")) return;
  const Part part = top.inside("deadlines");
  constexpr std::string_view known[] = {"start", "round", "link"};
  part.require_keys(known);
  file.start_seconds = part.seconds("start", file.start_seconds);
  file.round_seconds = part.seconds("round", file.round_seconds);
  file.link_seconds = part.seconds("link", file.link_seconds);
}

void read_crashes(const Part& top, FederationFile& file) {
  constexpr std::string_view rule = R"("abort", "exclude" or "wait:SECONDS")";
  try {
    set_on_crash(file, top.has("on-crash") ? top.text("on-crash", rule) : "abort");
  } catch (const InvalidArgument& problem) {
    top.fail("on-crash", problem.what());
  }
  if (top.has("checkpoint-every")) {
    const FileJson& every = top.at("checkpoint-every");
    if (!every.is_number_unsigned() || every.get<std::uint64_t>() < 1 || every.get<std::uint64_t>() > most_iterations)
      top.refuse("checkpoint-every", "a whole number of iterations in [1, 1e9]");
    file.keep_every = every.get<Index>();
  }
  if (!top.has("min-agents")) return;
  const auto agents = static_cast<Index>(file.agents.size());
  const FileJson& value = top.at("min-agents");
  const bool number = value.is_number_unsigned() && value.get<std::uint64_t>() <= most_federation_agents;
  file.min_agents = number ? value.get<Index>() : 0;
  if (!file.excludes || 2 * file.min_agents <= agents || file.min_agents > agents)
    top.refuse("min-agents",
               fmt::format("given only where on-crash is \"exclude\", and lie in [{}, {}]: more than half "
                           "of the agents, so that no two groups go on by themselves",
                           agents / 2 + 1, agents));
}

constexpr std::string_view trust_words[] = {"none", "neighbours", "secure"},
                           neighbour_words[] = {"add-remove", "replace"};

double positive(const Part& part, std::string_view key, double most) {
  const double value = part.has(key) && part.at(key).is_number() ? part.at(key).get<double>() : -1;
  if (!(value > 0 && value <= most)) part.refuse(key, fmt::format("a number above 0, at most {:g}", most));
  return value;
}

std::string one_of(const Part& part, std::string_view key, std::span<const std::string_view> words) {
  const std::string rule = fmt::format("one of {}", fmt::join(words, ", "));
  const std::string text = part.has(key) ? part.text(key, rule) : std::string(words.front());
  if (std::find(words.begin(), words.end(), text) == words.end()) part.refuse(key, rule);
  return text;
}

Index whole_number(const Part& part, std::string_view key, Index otherwise, Index least, Index most) {
  if (!part.has(key)) return otherwise;
  const FileJson& value = part.at(key);
  const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= static_cast<std::uint64_t>(least) &&
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  if (!fits) part.refuse(key, fmt::format("a whole number in [{}, {}]", least, most));
  return value.get<Index>();
}

void read_mean(const Part& part, FederationDp& dp) {
  if (!part.has("mean")) return;
  constexpr std::string_view rule = "a list of numbers, one for each feature";
  if (!part.at("mean").is_array() || part.at("mean").empty()) part.refuse("mean", rule);
  for (const FileJson& number : part.at("mean")) {
    if (!number.is_number()) part.refuse("mean", rule);
    dp.mean.push_back(number.get<double>() + 0.0);  // of zeros there is one
  }
}

void read_dp(const Part& top, FederationFile& file) {
  if (!top.has("dp")) return;
  const Part part = top.inside("dp");
  constexpr std::string_view known[] = {"epsilon",    "delta",     "row-norm",    "trust",
                                        "neighbours", "colluders", "public-rows", "mean"};
  part.require_keys(known);
  FederationDp& dp = file.dp.emplace();
  dp.epsilon = positive(part, "epsilon", 1e6), dp.delta = positive(part, "delta", 1);
  dp.row_norm = positive(part, "row-norm", 1e100);
  dp.trust = one_of(part, "trust", trust_words), dp.neighbours = one_of(part, "neighbours", neighbour_words);
  dp.colluders = whole_number(part, "colluders", 1, 0, static_cast<Index>(most_federation_agents));
  dp.public_rows = whole_number(part, "public-rows", 0, 1, Index{1} << 26);
  read_mean(part, dp);
  try {
    check_dp(file);
  } catch (const InvalidArgument& problem) {
    top.fail("dp", problem.what());
  }
}

std::string dp_text(const FederationDp& dp) {
  std::string text =
      fmt::format("{{\"epsilon\": {}, \"delta\": {}, \"row-norm\": {}, \"neighbours\": \"{}\", \"trust\": \"{}\"",
                  dp.epsilon, dp.delta, dp.row_norm, dp.neighbours, dp.trust);
  if (dp.trust == "secure") text += fmt::format(", \"colluders\": {}", dp.colluders);
  if (dp.public_rows > 0) text += fmt::format(", \"public-rows\": {}", dp.public_rows);
  if (!dp.mean.empty()) text += fmt::format(", \"mean\": [{}]", fmt::join(dp.mean, ", "));
  return text + "}";
}

// 1e-8 and 0.00000001 are the same number, and must have the same digest.
std::string one_spelling(const std::string& text) {
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_number_float() && std::isfinite(parsed.get<double>()) ? fmt::format("{}", parsed.get<double>())
                                                                         : text;
}

// A number as such, so that the file reads well; what is no number stays a text.
nlohmann::ordered_json setting_json(const std::string& text) {
  const auto parsed = nlohmann::ordered_json::parse(text, nullptr, false);
  if (parsed.is_number_integer() && parsed.dump() == text) return parsed;
  if (parsed.is_number_float() && fmt::format("{}", parsed.get<double>()) == text) return parsed;
  return text;
}

}  // namespace

std::vector<std::string_view> federation_settings() { return {std::begin(setting_names), std::end(setting_names)}; }

std::string FederationFile::setting(std::string_view wanted) const {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.first == wanted; });
  return found == settings.end() ? default_of(wanted) : found->second;
}

void set_setting(FederationFile& file, std::string_view name, const std::string& given) {
  FederationOptions scratch;
  apply(scratch, name, given);
  const std::string text = one_spelling(given);
  const auto found =
      std::find_if(file.settings.begin(), file.settings.end(), [&](const auto& s) { return s.first == name; });
  if (found != file.settings.end())
    found->second = text;
  else
    file.settings.emplace_back(name, text);
}

void set_on_crash(FederationFile& file, const std::string& word) {
  constexpr std::string_view wait = "wait:";
  file.excludes = word == "exclude";
  file.wait_seconds = 0;
  if (word == "abort" || word == "exclude") return;
  const std::string_view digits = word.starts_with(wait) ? std::string_view(word).substr(wait.size()) : "";
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), file.wait_seconds);
  require(!digits.empty() && problem == std::errc() && end == digits.data() + digits.size() && file.wait_seconds >= 1 &&
              file.wait_seconds <= longest_wait,
          fmt::format("on-crash = {}: must be abort, exclude, or wait:SECONDS with seconds in [1, 1e7]", word));
}

void check_dp(const FederationFile& file) {
  const FederationDp& dp = *file.dp;
  require(dp.delta < 1, fmt::format("dp: delta = {:g} must be below 1", dp.delta));
  require(!file.center,
          "dp: the mean of all rows would be a release of its own; leave `center` out, and give `dp.mean` where a mean "
          "is public");
  require(file.features > 0,
          "dp: needs `features`, for no row is read before it is paid for: their number, or their names");
  require(
      dp.mean.empty() || static_cast<Index>(dp.mean.size()) == file.features,
      fmt::format("dp: the mean has {} numbers, and must have {}, as the rows have", dp.mean.size(), file.features));
  require(dp.trust == "secure" || dp.colluders == 1, "dp: colluders is about trust secure");
  require(dp.trust == "none" || file.agents.size() >= 2, fmt::format("dp: trust {} needs 2 agents at least", dp.trust));
  require(dp.trust != "secure" || dp.colluders < static_cast<Index>(file.agents.size()),
          fmt::format("dp: colluders = {} must lie in [0, {}]", dp.colluders, file.agents.size() - 1));
  require(dp.trust != "secure" || file.topology == "complete" || file.agents.size() <= 3,
          "dp: trust secure needs topology \"complete\": the key of every pair goes over the link that proves whose it "
          "is");
  require(dp.trust == "none" || !file.excludes,
          fmt::format("dp: with trust {} an agent that is gone must end the run (on-crash abort): a sum over fewer "
                      "would show the rows of who is gone under one agent's share of the noise",
                      dp.trust));
  require(file.wait_seconds == 0,
          "dp: an agent that comes back would release its rows again; on-crash must be abort, or exclude with trust "
          "none");
}

FederationFile parse_federation(std::string_view text, std::string_view name) {
  const FileJson json = parse_json(text, name);
  if (!json.is_object()) throw DataError(fmt::format("{}: must be a JSON object", name));
  const JsonPlaces places(text);
  const Part top(json, places, name, "");
  std::vector<std::string_view> known = {"federation", "run",       "agents",   "topology",   "center",
                                         "features",   "deadlines", "on-crash", "min-agents", "checkpoint-every",
                                         "dp"};
  for (const std::string_view setting : setting_names) known.push_back(file_key(setting));
  top.require_keys(known);

  FederationFile file{.source = std::string(name)};
  file.name = top.text("federation", name_rule);
  if (!plain_text(file.name)) top.refuse("federation", name_rule);
  file.run = top.has("run") ? top.text("run", name_rule) : "1";
  if (!plain_text(file.run)) top.refuse("run", name_rule);
  read_agents(top, file);
  read_topology(top, file);
  read_settings(top, file);
  file.center = !top.has("dp");
  if (top.has("center")) {
    if (!top.at("center").is_boolean()) top.refuse("center", "true or false");
    file.center = top.at("center").get<bool>();
  }
  read_features(top, file);
  if (const Index rank = federation_options(file).solve.power.rank; file.features > 0 && rank > file.features)
    top.fail("k", fmt::format("k = {}: must be at most {}, the number of features", rank, file.features));
  read_deadlines(top, file);
  read_crashes(top, file);
  read_dp(top, file);
  return file;
}

FederationFile read_federation(const std::filesystem::path& path) {
  io::require_regular_file(path);
  return parse_federation(io::read_whole(path, longest_json), path.string());
}

std::string federation_text(const FederationFile& file) {
  using Ordered = nlohmann::ordered_json;
  const auto quoted = [](const std::string& text) { return Ordered(text).dump(-1, ' ', true); };
  std::string agents;
  for (const FederationAgent& agent : file.agents)
    agents +=
        fmt::format("{}\n    {{\"name\": {}, \"address\": {}, \"identity\": {}}}", agents.empty() ? "" : ",",
                    quoted(agent.name), agent.address.empty() ? "null" : quoted(agent.address), quoted(agent.identity));
  std::string text = fmt::format("{{\n  \"federation\": {},\n  \"run\": {},\n  \"agents\": [{}\n  ],\n",
                                 quoted(file.name), quoted(file.run), agents);
  Ordered topology = file.topology;
  if (file.topology.empty()) {
    topology = Ordered::array();
    for (const auto& [a, b] : file.edges) topology.push_back({a, b});
  }
  text += fmt::format("  \"topology\": {},\n", topology.dump(-1, ' ', true));
  for (const std::string_view name : setting_names)
    text += fmt::format("  \"{}\": {},\n", file_key(name), setting_json(file.setting(name)).dump(-1, ' ', true));
  text += fmt::format("  \"center\": {},\n", file.center);
  if (file.dp) text += fmt::format("  \"dp\": {},\n", dp_text(*file.dp));
  if (file.features > 0)
    text += fmt::format("  \"features\": {},\n", file.feature_names.empty()
                                                     ? Ordered(file.features).dump()
                                                     : Ordered(file.feature_names).dump(-1, ' ', true));
  text += fmt::format("  \"deadlines\": {{\"start\": {}, \"round\": {}, \"link\": {}}},\n", file.start_seconds,
                      file.round_seconds, file.link_seconds);
  text += fmt::format("  \"checkpoint-every\": {},\n", file.keep_every);
  if (file.wait_seconds > 0) return text + fmt::format("  \"on-crash\": \"wait:{}\"\n}}\n", file.wait_seconds);
  if (!file.excludes) return text + "  \"on-crash\": \"abort\"\n}\n";
  return text + fmt::format("  \"on-crash\": \"exclude\",\n  \"min-agents\": {}\n}}\n", file.quorum());
}

Index FederationFile::quorum() const {
  if (!excludes) return 0;
  return min_agents > 0 ? min_agents : static_cast<Index>(agents.size()) / 2 + 1;
}

std::string federation_digest(const FederationFile& file) { return io::sha256_hex(federation_text(file)); }

FederationOptions federation_options(const FederationFile& file) {
  FederationOptions options;
  for (const auto& [name, text] : file.settings) apply(options, name, text);
  return options;
}

Index find_agent(const FederationFile& file, const std::string& who) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < file.agents.size(); ++i) {
    if (file.agents[i].name == who) return static_cast<Index>(i);
    names.push_back(file.agents[i].name);
  }
  Index number = -1;
  const auto [end, problem] = std::from_chars(who.data(), who.data() + who.size(), number);
  require(problem == std::errc() && end == who.data() + who.size() && number >= 0 &&
              number < static_cast<Index>(file.agents.size()),
          fmt::format("agent = {}: must be a name or a number of {}{}", who, file.source, did_you_mean(who, names)));
  return number;
}

}  // namespace hearsay::app
