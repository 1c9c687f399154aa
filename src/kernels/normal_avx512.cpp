#define HEARSAY_NORMAL_PAIRS avx512_normal_pairs
#include "kernels/normal.inl"
