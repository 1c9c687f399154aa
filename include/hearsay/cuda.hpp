// Engines (engine.hpp) on a CUDA device: hearsay::cuda, where it was built.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hearsay/csr.hpp"
#include "hearsay/engine_maker.hpp"

namespace hearsay::cuda {

struct Device {
  int number = 0;
  std::string name = {};
  std::int64_t memory_bytes = 0;
  int major = 0, minor = 0;  ///< its compute capability
};

/// Those that there are. Where there is none, `why` says what is missing.
HEARSAY_API std::vector<Device> devices(std::string* why = nullptr);

/// Throws DeviceError unless there is a device of that number, of compute capability 8.0 or more.
HEARSAY_API Device require_device(int number);

/// Makes all of these, for Request::engines. Throws DeviceError as require_device() does.
HEARSAY_API std::unique_ptr<EngineMaker> engines(int device);

/// A symmetric matrix of the host, copied to the device in its own precision.
template <class S>
HEARSAY_API std::unique_ptr<Engine> dense_engine(int device, const BorrowedBlock<S>& A,
                                                 bool positive_semidefinite = false);
template <class S>
HEARSAY_API std::unique_ptr<Engine> sparse_engine(int device, const CsrView<S>& A, bool positive_semidefinite = false);

/// A block where it lies, row-major: the engine's, until its next verb.
struct DeviceBlock {
  const void* data = nullptr;
  Index rows = 0, columns = 0;
  bool in_double = false;
};
HEARSAY_API DeviceBlock block_on_device(const Engine& engine, Engine::BlockPlace place);

template <class S>
HEARSAY_API CovarianceEngine covariance_engine(int device, const BorrowedBlock<S>& data, bool centre = true);

/// Of numbers that lie on the device already, row-major and both triangles, and stay the caller's.
template <class S>
HEARSAY_API std::unique_ptr<Engine> dense_engine_on(int device, const S* A, Index dim,
                                                    bool positive_semidefinite = false);
template <class S>
HEARSAY_API CovarianceEngine covariance_engine_on(int device, const S* data, Index rows, Index columns,
                                                  bool centre = true);

/// A block in memory of its own on a device, row-major, which is freed with its last owner.
template <class S>
HEARSAY_API std::shared_ptr<S> sent_to_device(int device, ConstBlockView<double> block);

/// Until all that was asked of the device before is done, on whatever stream.
HEARSAY_API void wait_for_device(int device);

}  // namespace hearsay::cuda
