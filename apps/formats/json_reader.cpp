#include "formats/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "hearsay/error.hpp"
#include "hearsay/faults.hpp"
#include "hearsay/options.hpp"

namespace hearsay::app {

namespace {

using Json = nlohmann::json;

bool whole(const Json& value, Index& out) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(LinkFault::forever))
    return false;
  out = value.get<Index>();
  return true;
}

// Never in the middle of a character.
std::string clipped(std::string text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return text;
  std::size_t end = longest - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

constexpr int deepest = 32;  // beyond it nothing can be meant, and recursions over the value could exhaust the stack

}  // namespace

Json parse_json(std::string_view text, std::string_view name) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > deepest) throw DataError(fmt::format("{}: must not be nested deeper than {} levels", name, deepest));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      throw DataError(fmt::format("{}: {}: given twice", name, parsed.get<std::string>()));
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = before.size() - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1) + 1;
    throw DataError(fmt::format("{}:{}:{}: must be JSON, and is not from here on", name, line, column));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: must be JSON: {}", name, error.what()));
  }
}

void JsonReader::refuse(std::string_view key, std::string_view rule) const {
  const std::string value = clipped(object_.at(std::string(key)).dump());
  throw DataError(fmt::format("{}{} = {}: must be {}", where_, key, value, rule));
}

void JsonReader::miss(std::string_view key, std::string_view rule) const {
  throw DataError(fmt::format("{}{}: missing; must be {}", where_, key, rule));
}

Index JsonReader::integer(std::string_view key, Index least) const {
  const std::string rule = fmt::format("a whole number of at least {}", least);
  if (!has(key)) miss(key, rule);
  Index value = 0;
  if (!whole(at(key), value) || value < least) refuse(key, rule);
  return value;
}

std::vector<Index> JsonReader::integers(std::string_view key, Index least) const {
  const std::string rule = fmt::format("a list of whole numbers of at least {}", least);
  if (!has(key)) miss(key, rule);
  std::vector<Index> values;
  if (!at(key).is_array() || at(key).empty()) refuse(key, rule);
  for (const Json& element : at(key)) {
    Index value = 0;
    if (!whole(element, value) || value < least) refuse(key, rule);
    values.push_back(value);
  }
  return values;
}

std::uint64_t JsonReader::seed(std::string_view key) const {
  if (!has(key)) return 0;
  if (!at(key).is_number_unsigned()) refuse(key, "a whole number in [0, 2^64)");
  return at(key).get<std::uint64_t>();
}

double JsonReader::probability(std::string_view key, double otherwise) const {
  if (!has(key)) return otherwise;
  const double value = at(key).is_number() ? at(key).get<double>() : -1;
  if (!(value >= 0 && value <= 1)) refuse(key, "a number in [0, 1]");
  return value;
}

double JsonReader::real(std::string_view key) const {
  if (!has(key)) miss(key, "a number");
  if (!at(key).is_number() || !std::isfinite(at(key).get<double>())) refuse(key, "a finite number");
  return at(key).get<double>();
}

std::optional<double> JsonReader::optional_real(std::string_view key) const {
  return has(key) ? std::optional(real(key)) : std::nullopt;
}

std::string JsonReader::text(std::string_view key) const {
  if (!has(key)) miss(key, "a text");
  if (!at(key).is_string() || at(key).get_ref<const std::string&>().empty()) refuse(key, "a text that is not empty");
  return at(key).get<std::string>();
}

std::string JsonReader::text(std::string_view key, std::string_view otherwise) const {
  return has(key) ? text(key) : std::string(otherwise);
}

std::pair<Index, Index> JsonReader::ends(std::string_view key) const {
  std::pair<Index, Index> ends;
  const Json& value = at(key);
  if (!(value.is_array() && value.size() == 2 && whole(value[0], ends.first) && whole(value[1], ends.second) &&
        ends.first >= 0 && ends.second >= 0))
    refuse(key, "[agent, agent]");
  return ends;
}

std::pair<Index, Index> JsonReader::rounds(std::string_view key) const {
  std::pair<Index, Index> range{0, LinkFault::forever};
  if (!has(key)) return range;
  const Json& value = at(key);
  if (!(value.is_array() && value.size() == 2 && whole(value[0], range.first) &&
        (value[1].is_null() || whole(value[1], range.second)) && range.first >= 0 && range.first <= range.second))
    refuse(key, "[first, last], or [first, null] for no end");
  return range;
}

void JsonReader::require_keys(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : object_.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw DataError(fmt::format("{}{}: no such key here{}", where_, clipped(key), did_you_mean(key, known)));
}

}  // namespace hearsay::app
