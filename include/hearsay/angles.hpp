// Principal angles between the ranges of two orthonormal blocks of equal shape.
#pragma once

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// sin(theta_k), the largest, as ||X - U U'X||: exact down to rounding, where sqrt(1 - cos^2) stops at 1e-8.
template <class S>
HEARSAY_API S sin_theta(ConstBlockView<S> U, ConstBlockView<S> X);

/// cos(theta_k), the smallest singular value of U'X.
template <class S>
HEARSAY_API S cos_theta(ConstBlockView<S> U, ConstBlockView<S> X);

/// tan(theta_k) = ||(I - UU')X (U'X)^{-1}||; infinite where U'X is singular.
template <class S>
HEARSAY_API S tan_theta(ConstBlockView<S> U, ConstBlockView<S> X);

}  // namespace hearsay
