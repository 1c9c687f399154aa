// JSON that users write, read with errors that name the file, the key, its value and the rule.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearsay/block.hpp"

namespace hearsay::app {

/// Of a file, in bytes: an experiment has some thousand.
inline constexpr std::uint64_t longest_json = std::uint64_t{16} << 20;

/// Throws DataError, with line and column, for a text that is no JSON, and for a key given twice, of which the parser
/// would keep the last and say nothing. Messages begin with `name`.
nlohmann::json parse_json(std::string_view text, std::string_view name);

/// One object of the file, under the name it has in messages: "faults.json: events[2]."
class JsonReader {
 public:
  JsonReader(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[noreturn]] void refuse(std::string_view key, std::string_view rule) const;
  [[noreturn]] void miss(std::string_view key, std::string_view rule) const;

  bool has(std::string_view key) const { return object_.contains(std::string(key)); }
  const nlohmann::json& at(std::string_view key) const { return object_.at(std::string(key)); }
  const std::string& where() const { return where_; }

  Index integer(std::string_view key, Index least) const;
  Index integer(std::string_view key, Index least, Index otherwise) const {
    return has(key) ? integer(key, least) : otherwise;
  }
  std::vector<Index> integers(std::string_view key, Index least) const;  ///< a list, not empty
  std::uint64_t seed(std::string_view key) const;                        ///< 0 where it is missing
  double probability(std::string_view key, double otherwise) const;
  double real(std::string_view key) const;
  double real(std::string_view key, double otherwise) const { return has(key) ? real(key) : otherwise; }
  std::optional<double> optional_real(std::string_view key) const;
  std::string text(std::string_view key) const;  ///< not empty
  std::string text(std::string_view key, std::string_view otherwise) const;

  std::pair<Index, Index> ends(std::string_view key) const;    ///< two agents
  std::pair<Index, Index> rounds(std::string_view key) const;  ///< the first and the last; null for no end

  /// Throws DataError for a key that is none of these, naming the nearest.
  void require_keys(std::span<const std::string_view> known) const;

 private:
  const nlohmann::json& object_;
  std::string where_;
};

}  // namespace hearsay::app
