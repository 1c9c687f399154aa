#include "hearsay/message.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "linalg/worth_threads.hpp"

namespace hearsay {
namespace {

// The upper half of a float.
std::uint16_t to_bfloat16(double number) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
  if (std::isnan(number)) return static_cast<std::uint16_t>(bits >> 16 | 1);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

template <class Number, class Convert>
void store(std::span<const double> numbers, std::byte* message, const Convert& convert) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Number number = convert(numbers[i]);
    std::memcpy(message + i * sizeof(Number), &number, sizeof(Number));
  }
}

template <class Number, class Convert>
void load(const std::byte* message, std::span<double> numbers, const Convert& convert) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Number number;
    std::memcpy(&number, message + i * sizeof(Number), sizeof(Number));
    numbers[i] = convert(number);
  }
}

float to_float(double number) { return static_cast<float>(number); }

template <class Round>
void tell_rounded(ConstBlockView<double> Z, BlockView<double> told, BlockView<double> untold, const Round& round) {
#pragma omp parallel for schedule(static) num_threads(detail::worth_threads(10.0 * double(Z.size())))
  for (Index i = 0; i < Z.rows(); ++i)
    for (Index j = 0; j < Z.cols(); ++j) {
      told(i, j) += round(Z(i, j) - told(i, j));
      untold(i, j) = Z(i, j) - told(i, j);
    }
}

}  // namespace

const char* name(MessagePrecision precision) {
  switch (precision) {
    case MessagePrecision::real64:
      return "double";
    case MessagePrecision::real32:
      return "single";
    case MessagePrecision::bfloat16:
      return "bfloat16";
  }
  return "unknown";
}

Index bytes_per_number(MessagePrecision precision) {
  return precision == MessagePrecision::real64 ? 8 : precision == MessagePrecision::real32 ? 4 : 2;
}

double unit_roundoff(MessagePrecision precision) {
  return precision == MessagePrecision::real64 ? 0x1p-53 : precision == MessagePrecision::real32 ? 0x1p-24 : 0x1p-8;
}

void encode(MessagePrecision precision, std::span<const double> numbers, std::byte* message) {
  switch (precision) {
    case MessagePrecision::real64:
      return store<double>(numbers, message, [](double number) { return number; });
    case MessagePrecision::real32:
      return store<float>(numbers, message, to_float);
    case MessagePrecision::bfloat16:
      return store<std::uint16_t>(numbers, message, to_bfloat16);
  }
}

void decode(MessagePrecision precision, const std::byte* message, std::span<double> numbers) {
  switch (precision) {
    case MessagePrecision::real64:
      return load<double>(message, numbers, [](double number) { return number; });
    case MessagePrecision::real32:
      return load<float>(message, numbers, [](float number) { return static_cast<double>(number); });
    case MessagePrecision::bfloat16:
      return load<std::uint16_t>(message, numbers, from_bfloat16);
  }
}

double rounded(MessagePrecision precision, double number) {
  switch (precision) {
    case MessagePrecision::real64:
      return number;
    case MessagePrecision::real32:
      return to_float(number);
    case MessagePrecision::bfloat16:
      return from_bfloat16(to_bfloat16(number));
  }
  return number;
}

void tell(MessagePrecision precision, ConstBlockView<double> Z, BlockView<double> told, BlockView<double> untold) {
  switch (precision) {
    case MessagePrecision::real64:
      return tell_rounded(Z, told, untold, [](double change) { return change; });
    case MessagePrecision::real32:
      return tell_rounded(Z, told, untold, [](double change) { return double{to_float(change)}; });
    case MessagePrecision::bfloat16:
      return tell_rounded(Z, told, untold, [](double change) { return from_bfloat16(to_bfloat16(change)); });
  }
}

}  // namespace hearsay
