// Normal numbers from counters, a batch at a time.
#pragma once

#include <cstdint>

namespace hearsay::kernels {

/// Counters of one call.
inline constexpr int normal_batch = 64;

/// first[l] and second[l] are the two N(0, 1) numbers that Philox4x32-10 and the transform of Box and Muller make of
/// counter (c0[l], c1[l], c2, c3) under key (k0, k1), for all l < normal_batch. The same bits on every instruction set:
/// nothing is fused or reassociated. Log, sine and cosine are good to 2e-16 relative to the largest value.
using NormalPairs = void (*)(std::uint32_t k0, std::uint32_t k1, const std::uint32_t* c0, const std::uint32_t* c1,
                             std::uint32_t c2, std::uint32_t c3, double* first, double* second);

NormalPairs normal_pairs();  ///< the best this processor can run

void generic_normal_pairs(std::uint32_t k0, std::uint32_t k1, const std::uint32_t* c0, const std::uint32_t* c1,
                          std::uint32_t c2, std::uint32_t c3, double* first, double* second);
void avx2_normal_pairs(std::uint32_t k0, std::uint32_t k1, const std::uint32_t* c0, const std::uint32_t* c1,
                       std::uint32_t c2, std::uint32_t c3, double* first, double* second);
void avx512_normal_pairs(std::uint32_t k0, std::uint32_t k1, const std::uint32_t* c0, const std::uint32_t* c1,
                         std::uint32_t c2, std::uint32_t c3, double* first, double* second);

}  // namespace hearsay::kernels
