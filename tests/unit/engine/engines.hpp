// The engines that the suites here are run on: all of them must do the same mathematics.
#pragma once

#include <gtest/gtest.h>
#include <hearsay/host_engine.hpp>

#include <memory>
#include <string>

#ifdef HEARSAY_TEST_CUDA
#include <hearsay/cuda.hpp>
#endif

namespace hearsay::test {

struct OnHost {
  static std::string missing() { return {}; }
  static std::unique_ptr<Engine> dense(const Block<double>& A, bool psd = false) {
    return std::make_unique<HostEngine>(borrow(A), psd);
  }
};

#ifdef HEARSAY_TEST_CUDA
struct OnCuda {
  static std::string missing() {
    std::string why;
    return cuda::devices(&why).empty() ? "SKIP: no CUDA device: " + why : "";
  }
  static std::unique_ptr<Engine> dense(const Block<double>& A, bool psd = false) {
    return cuda::dense_engine<double>(0, borrow(A), psd);
  }
};
using Engines = ::testing::Types<OnHost, OnCuda>;
#else
using Engines = ::testing::Types<OnHost>;
#endif

template <class Where>
class OnEngines : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = Where::missing(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

}  // namespace hearsay::test
