#define HEARSAY_NORMAL_PAIRS avx2_normal_pairs
#include "kernels/normal.inl"
