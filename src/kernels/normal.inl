// Included once per instruction set, with HEARSAY_NORMAL_PAIRS naming the function; compiled with -ffp-contract=off, so
// that every one gives the same bits. Loops over a batch whose bodies the compiler turns into vectors; internal linkage
// for all but the function itself, as in kernels.inl.
#include <cstdint>
#include <cstring>

#include "kernels/normal.hpp"

namespace hearsay::kernels {
namespace {

constexpr int batch = normal_batch;

inline double as_double(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline std::uint64_t as_bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// 53 bits of two words, centred in their cell: in (0, 1].
inline double uniform(std::uint32_t a, std::uint32_t b) {
  const double high = static_cast<double>(static_cast<std::int32_t>(a ^ 0x80000000u)) + 0x1p31;  // a, exactly
  const double low = static_cast<double>(static_cast<std::int32_t>(b >> 11));
  return (high * 0x1p21 + low + 0.5) * 0x1p-53;
}

// log(u), u in (0, 1]: u = 2^e m with m within a factor sqrt(2) of one, and the series of atanh.
inline double log_of(double u) {
  constexpr std::uint64_t one = 0x3FF0000000000000u, root_half = 0x3FE6A09E667F3BCDu, mantissa = 0x000FFFFFFFFFFFFFu;
  constexpr double two_52 = 0x1p52, ln2 = 0.693147180559945309417232121458;
  const std::uint64_t raised = as_bits(u) + (one - root_half);
  const double e = as_double((raised >> 52) | 0x4330000000000000u) - (two_52 + 1023);
  const double f = as_double((raised & mantissa) + root_half) - 1;
  const double s = f / (2 + f), z = s * s;  // z < 0.0295
  double tail = 1.0 / 21;
  tail = tail * z + 1.0 / 19;
  tail = tail * z + 1.0 / 17;
  tail = tail * z + 1.0 / 15;
  tail = tail * z + 1.0 / 13;
  tail = tail * z + 1.0 / 11;
  tail = tail * z + 1.0 / 9;
  tail = tail * z + 1.0 / 7;
  tail = tail * z + 1.0 / 5;
  tail = tail * z + 1.0 / 3;
  return e * ln2 + 2 * (s + s * (z * tail));
}

struct Turn {
  double cosine, sine;
};

// Of 2 pi v, v in (0, 1]: whole quarters are taken off exactly, the rest is at most pi/4.
inline Turn turn(double v) {
  constexpr double to_integer = 0x1.8p52;
  constexpr double half_pi = 1.57079632679489661923132169164;
  const double shifted = 4 * v + to_integer;
  const std::uint64_t quarter = as_bits(shifted);
  const double x = (4 * v - (shifted - to_integer)) * half_pi, z = x * x;
  double s = -1.0 / 1307674368000;  // 1/15!
  s = s * z + 1.0 / 6227020800;
  s = s * z - 1.0 / 39916800;
  s = s * z + 1.0 / 362880;
  s = s * z - 1.0 / 5040;
  s = s * z + 1.0 / 120;
  s = s * z - 1.0 / 6;
  const double sine = x + x * (z * s);
  double c = 1.0 / 20922789888000;  // 1/16!
  c = c * z - 1.0 / 87178291200;
  c = c * z + 1.0 / 479001600;
  c = c * z - 1.0 / 3628800;
  c = c * z + 1.0 / 40320;
  c = c * z - 1.0 / 720;
  c = c * z + 1.0 / 24;
  const double cosine = (1 - z / 2) + z * (z * c);
  // By bits, so that no branch is left: an odd quarter swaps them, the second and third turn the cosine, the third and
  // fourth the sine.
  const std::uint64_t swap = 0 - (quarter & 1);
  const std::uint64_t c_bits = as_bits(cosine), s_bits = as_bits(sine);
  const std::uint64_t sign = 0x8000000000000000u;
  const std::uint64_t first = (c_bits & ~swap) | (s_bits & swap), second = (s_bits & ~swap) | (c_bits & swap);
  return {.cosine = as_double(first ^ (((quarter + 1) << 62) & sign)),
          .sine = as_double(second ^ ((quarter << 62) & sign))};
}

}  // namespace

void HEARSAY_NORMAL_PAIRS(std::uint32_t k0, std::uint32_t k1, const std::uint32_t* counter0,
                          const std::uint32_t* counter1, std::uint32_t counter2, std::uint32_t counter3, double* first,
                          double* second) {
  std::uint32_t c0[batch], c1[batch], c2[batch], c3[batch];
  for (int l = 0; l < batch; ++l) {
    c0[l] = counter0[l];
    c1[l] = counter1[l];
    c2[l] = counter2;
    c3[l] = counter3;
  }
  for (int round = 0; round < 10; ++round) {
    for (int l = 0; l < batch; ++l) {
      const std::uint64_t a = std::uint64_t{0xD2511F53u} * c0[l], b = std::uint64_t{0xCD9E8D57u} * c2[l];
      c0[l] = static_cast<std::uint32_t>(b >> 32) ^ c1[l] ^ k0;
      c1[l] = static_cast<std::uint32_t>(b);
      c2[l] = static_cast<std::uint32_t>(a >> 32) ^ c3[l] ^ k1;
      c3[l] = static_cast<std::uint32_t>(a);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int l = 0; l < batch; ++l) {
    const double radius = __builtin_sqrt(-2 * log_of(uniform(c0[l], c1[l])));
    const Turn angle = turn(uniform(c2[l], c3[l]));
    first[l] = radius * angle.cosine;
    second[l] = radius * angle.sine;
  }
}

}  // namespace hearsay::kernels
