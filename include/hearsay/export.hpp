// What a shared library of ours shows. All else is hidden in it: it may change from one version to the next, and no
// symbol of Eigen's or of the kernels' meets a program's own.
#pragma once

#if defined(__GNUC__)
#define HEARSAY_API __attribute__((visibility("default")))
#else
#define HEARSAY_API
#endif
