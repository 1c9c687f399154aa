#include "formats/faults_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/json_reader.hpp"
#include "hearsay/error.hpp"
#include "hearsay/io/file.hpp"
#include "hearsay/io/regular_file.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

using Reader = JsonReader;

LinkFault read_link_fault(const Reader& event, std::string_view key, LinkFault::Kind kind) {
  const bool late = kind == LinkFault::Kind::delay;
  const std::string_view known[] = {key, "probability", "rounds", "by"};
  event.require_keys(std::span(known, late ? 4 : 3));
  const auto [from, to] = event.ends(key);
  const auto [first, last] = event.rounds("rounds");
  return {.kind = kind,
          .from = from,
          .to = to,
          .probability = event.probability("probability", 1),
          .first_round = first,
          .last_round = last,
          .rounds_late = late ? event.integer("by", 1) : 0};
}

AgentFault read_agent_fault(const Reader& event, std::string_view key, AgentFault::Kind kind) {
  const std::string_view known[] = {key, "iteration"};
  event.require_keys(known);
  return {.kind = kind, .agent = event.integer(key, 0), .iteration = event.integer("iteration", 1)};
}

constexpr std::string_view event_kinds[] = {"drop", "lose", "delay", "crash", "rejoin"};

void read_event(const Reader& event, Faults& faults) {
  std::string_view chosen;
  for (const std::string_view kind : event_kinds) {
    if (!event.has(kind)) continue;
    if (!chosen.empty()) throw DataError(fmt::format("{}{}: must not stand beside {}", event.where(), kind, chosen));
    chosen = kind;
  }
  if (chosen.empty()) {
    const std::string_view known[] = {"drop",        "lose",   "delay", "crash",    "rejoin",
                                      "probability", "rounds", "by",    "iteration"};
    event.require_keys(known);
    throw DataError(fmt::format("{}: must have one of drop, lose, delay, crash, rejoin",
                                event.where().substr(0, event.where().size() - 1)));
  }
  if (chosen == "drop") faults.links.push_back(read_link_fault(event, chosen, LinkFault::Kind::drop));
  if (chosen == "lose") faults.links.push_back(read_link_fault(event, chosen, LinkFault::Kind::loss));
  if (chosen == "delay") faults.links.push_back(read_link_fault(event, chosen, LinkFault::Kind::delay));
  if (chosen == "crash") faults.agents.push_back(read_agent_fault(event, chosen, AgentFault::Kind::crash));
  if (chosen == "rejoin") faults.agents.push_back(read_agent_fault(event, chosen, AgentFault::Kind::rejoin));
}

[[noreturn]] void refuse_flag(std::string_view flag, std::string_view text, std::string_view rule) {
  throw InvalidArgument(fmt::format("{} = {}: must be {}", flag, text, rule));
}

double flag_probability(std::string_view flag, std::string_view text) {
  const double value = parse_real(flag, text);
  if (!(value >= 0 && value <= 1)) refuse_flag(flag, text, "a probability in [0, 1]");
  return value;
}

// "left<separator>right"
std::pair<std::string_view, std::string_view> halves(std::string_view flag, std::string_view text, char separator,
                                                     std::string_view form) {
  const std::size_t place = text.find(separator);
  if (place == text.npos) refuse_flag(flag, text, form);
  return {text.substr(0, place), text.substr(place + 1)};
}

}  // namespace

Faults parse_faults(std::string_view text, std::string_view name) {
  const nlohmann::json json = parse_json(text, name);
  if (!json.is_object()) throw DataError(fmt::format("{}: must be a JSON object", name));
  const Reader top(json, fmt::format("{}: ", name));
  constexpr std::string_view known[] = {"seed", "patience", "quorum", "give_up", "drop", "loss", "delay", "events"};
  top.require_keys(known);

  const Faults otherwise;
  Faults faults{.seed = top.seed("seed"),
                .patience = top.integer("patience", 0, otherwise.patience),
                .quorum = top.integer("quorum", 1, otherwise.quorum),
                .give_up = top.integer("give_up", 1, otherwise.give_up)};
  if (top.has("drop"))
    faults.links.push_back({.kind = LinkFault::Kind::drop, .probability = top.probability("drop", 0)});
  if (top.has("loss"))
    faults.links.push_back({.kind = LinkFault::Kind::loss, .probability = top.probability("loss", 0)});
  if (top.has("delay")) {
    if (!top.at("delay").is_object()) top.refuse("delay", "an object with probability and by");
    const Reader delay(top.at("delay"), fmt::format("{}: delay.", name));
    constexpr std::string_view parts[] = {"probability", "by"};
    delay.require_keys(parts);
    faults.links.push_back({.kind = LinkFault::Kind::delay,
                            .probability = delay.probability("probability", 1),
                            .rounds_late = delay.integer("by", 1)});
  }
  if (!top.has("events")) return faults;
  const nlohmann::json& events = top.at("events");
  if (!events.is_array()) top.refuse("events", "a list of objects");
  for (std::size_t e = 0; e < events.size(); ++e) {
    const std::string where = fmt::format("{}: events[{}]", name, e);
    if (!events[e].is_object()) throw DataError(where + ": must be an object");
    read_event(Reader(events[e], where + "."), faults);
  }
  return faults;
}

Faults read_faults(const std::filesystem::path& path) {
  io::require_regular_file(path);
  return parse_faults(io::read_whole(path, longest_json), path.string());
}

bool set_fault_flag(Faults& faults, std::string_view flag, std::string_view text) {
  if (flag == "drop" || flag == "loss") {
    faults.links.push_back({.kind = flag == "drop" ? LinkFault::Kind::drop : LinkFault::Kind::loss,
                            .probability = flag_probability(flag, text)});
  } else if (flag == "delay") {
    const auto [probability, rounds] = halves(flag, text, ':', "PROBABILITY:ROUNDS");
    faults.links.push_back({.kind = LinkFault::Kind::delay,
                            .probability = flag_probability(flag, probability),
                            .rounds_late = parse_integer("delay rounds", rounds, 1)});
  } else if (flag == "crash" || flag == "rejoin") {
    const auto [agent, iteration] = halves(flag, text, '@', "AGENT@ITERATION");
    faults.agents.push_back({.kind = flag == "crash" ? AgentFault::Kind::crash : AgentFault::Kind::rejoin,
                             .agent = parse_integer(fmt::format("{} agent", flag), agent, 0),
                             .iteration = parse_integer(fmt::format("{} iteration", flag), iteration, 1)});
  } else if (flag == "fault-seed") {
    faults.seed = static_cast<std::uint64_t>(parse_integer(flag, text, 0));
  } else {
    return false;
  }
  return true;
}

}  // namespace hearsay::app
