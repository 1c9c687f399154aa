#define HEARSAY_NORMAL_PAIRS generic_normal_pairs
#include "kernels/normal.inl"
