#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "hearsay/error.hpp"
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

}  // namespace hearsay
