#include "commands/alike.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string_view>

#include "hearsay/options.hpp"

namespace hearsay::app {
namespace {

// Numbers by their value, words by their first spelling.
std::string canonical(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return fmt::format("{}", number);
  return text == "centered" ? "centred" : text;
}

// As a command line would spell it.
std::string default_of(const OptionRecord& record, const Job& job) {
  if (record.name == "tolerance" && job.command == "decentralized")
    return fmt::format("{}", DecentralizedOptions{}.tolerance);
  if (record.name == "topology" && job.text("split", "") == "by-node") return "data";
  return std::string(record.default_text);
}

}  // namespace

std::vector<Fact> facts_of(const Job& job) {
  const Commands command = job.command == "pca" ? in_pca : in_decentralized;
  std::vector<Fact> facts = {{"DATA", job.inputs.empty() ? job.input : fmt::format("{}", fmt::join(job.inputs, " "))}};
  for (const OptionRecord& record : option_table()) {
    if ((record.commands & command) == 0) continue;
    if (record.name == "threads" || record.name == "quiet" || record.name == "agents") continue;
    facts.push_back({fmt::format("--{}", record.name), canonical(job.text(record.name, default_of(record, job)))});
  }
  return facts;
}

}  // namespace hearsay::app
