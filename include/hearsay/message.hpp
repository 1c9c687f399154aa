// What a block becomes on its way to a neighbour: numbers of fewer bits.
//
// Agents tell each other changes. Every one knows what its neighbours have been told so far, and sends the rounded
// difference to what it now holds; so the rounding is relative to the change, and fades as the agents come to rest. An
// agent mixes with the blocks everybody knows, its own among them, and keeps what it has not yet been able to tell: the
// mean over the agents never changes.
#pragma once

#include <cstddef>
#include <span>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

enum class MessagePrecision { real64, real32, bfloat16 };

/// "double", "single", "bfloat16".
HEARSAY_API const char* name(MessagePrecision precision);

HEARSAY_API Index bytes_per_number(MessagePrecision precision);

/// Half the distance from 1 to the next number, the relative error of one rounding.
HEARSAY_API double unit_roundoff(MessagePrecision precision);

/// The message holds numbers.size() * bytes_per_number(precision) bytes. To the nearest, ties to even; numbers beyond
/// the range of float become infinite.
HEARSAY_API void encode(MessagePrecision precision, std::span<const double> numbers, std::byte* message);
HEARSAY_API void decode(MessagePrecision precision, const std::byte* message, std::span<double> numbers);

/// What decode() makes of encode().
HEARSAY_API double rounded(MessagePrecision precision, double number);

/// told <- told + rounded(Z - told), and unsent <- Z - told.
HEARSAY_API void tell(MessagePrecision precision, ConstBlockView<double> Z, BlockView<double> told,
                      BlockView<double> unsent);

}  // namespace hearsay
