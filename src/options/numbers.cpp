#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <tuple>
#include <utility>

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

namespace {

std::pair<const char*, std::errc> pair_of(const std::from_chars_result& result) { return {result.ptr, result.ec}; }

}  // namespace

double parse_real(std::string_view name, std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // "Out of range" is said of 1e-320 as of 1e320; the first is a number, if a small one.
  if (error == std::errc::result_out_of_range) {
    long double wide = 0;
    std::tie(end, error) = pair_of(std::from_chars(text.data(), text.data() + text.size(), wide));
    value = static_cast<double>(wide);
  }
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
