#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "hearsay/error.hpp"
#include "hearsay/memory.hpp"
#include "hearsay/options.hpp"

namespace hearsay {

std::int64_t parse_integer(std::string_view name, std::string_view text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    throw InvalidArgument(fmt::format("{} = {}: must be a whole number of at least {}", name, text, least));
  return value;
}

double parse_real(std::string_view name, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    throw InvalidArgument(fmt::format("{} = {}: must be a finite number", name, text));
  return value;
}

std::uint64_t parse_bytes(std::string_view name, std::string_view text, std::uint64_t least) {
  constexpr std::string_view units = "KMGT";
  double value = 0, scale = 1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.ends_with('B')) unit.remove_suffix(1);
  const std::size_t power = unit.size() == 1 ? units.find(unit[0]) : units.npos;
  for (std::size_t i = 0; power != units.npos && i <= power; ++i) scale *= 1000;
  const bool known = error == std::errc() && (unit.empty() || power != units.npos);
  if (!known || !(value * scale >= static_cast<double>(least)) || !(value * scale <= 1e18))
    throw InvalidArgument(fmt::format(
        "{} = {}: must be a number of bytes, with K, M, G or T behind it or without, of at least {} and at most 1e18",
        name, text, least));
  return static_cast<std::uint64_t>(value * scale);
}

}  // namespace hearsay
