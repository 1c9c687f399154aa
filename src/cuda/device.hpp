// What every CUDA call here goes through: errors become exceptions that say what failed, memory frees itself.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

#include "hearsay/device_error.hpp"

namespace hearsay::cuda {

[[noreturn]] inline void fail(cudaError_t error, const char* what) {
  cudaGetLastError();  // the next call is not to find it again
  throw DeviceError(std::string("device: ") + what + ": " + cudaGetErrorString(error));
}
inline void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(error, what);
}
inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw DeviceError(std::string("device: ") + what + ": cuBLAS says " + cublasGetStatusString(status));
}
/// After a kernel's launch.
inline void launched(const char* kernel) { check(cudaGetLastError(), kernel); }

/// Device memory of its own; nothing of it is initialised.
template <class T>
class Array {
 public:
  Array() = default;
  explicit Array(std::size_t size) { resize(size); }
  Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() { cudaFree(data_); }

  void resize(std::size_t size) {
    if (size == size_) return;
    cudaFree(data_);
    data_ = nullptr;
    size_ = 0;
    if (size == 0) return;
    const cudaError_t error = cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T));
    if (error != cudaSuccess) {
      std::size_t free = 0, all = 0;
      cudaMemGetInfo(&free, &all);
      fail(error, ("memory: " + std::to_string(size * sizeof(T) >> 20) + " MiB wanted, " + std::to_string(free >> 20) +
                   " of " + std::to_string(all >> 20) + " MiB free")
                      .c_str());
    }
    size_ = size;
  }
  void at_least(std::size_t size) {
    if (size_ < size) resize(size);
  }

  T* get() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Pinned memory of the host.
template <class T>
class Pinned {
 public:
  explicit Pinned(std::size_t size) {
    check(cudaMallocHost(reinterpret_cast<void**>(&data_), size * sizeof(T)), "pinned memory");
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(data_); }
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// A stream with a cuBLAS handle on it, on one device.
class Queue {
 public:
  explicit Queue(int device) : device_(device) {
    check(cudaSetDevice(device), "choosing it");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    check(cublasCreate(&blas_), "starting cuBLAS");
    workspace_.resize(std::size_t{32} << 20);
    check(cublasSetStream(blas_, stream_), "cuBLAS's stream");
    check(cublasSetWorkspace(blas_, workspace_.get(), workspace_.size()), "cuBLAS's workspace");
    check(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, device), "its processors");
    check(cudaDeviceGetAttribute(&major_, cudaDevAttrComputeCapabilityMajor, device), "its kind");
    check(cudaDeviceGetAttribute(&minor_, cudaDevAttrComputeCapabilityMinor, device), "its kind");
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    cublasDestroy(blas_);
    cudaStreamDestroy(stream_);
  }

  void use() const { check(cudaSetDevice(device_), "choosing it"); }
  cudaStream_t stream() const { return stream_; }
  cublasHandle_t blas() const { return blas_; }
  int processors() const { return processors_; }
  bool is_hopper() const { return major_ == 9 && minor_ == 0; }
  void wait() const { check(cudaStreamSynchronize(stream_), "waiting for it"); }

 private:
  int device_, processors_ = 0, major_ = 0, minor_ = 0;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  Array<char> workspace_;
};

}  // namespace hearsay::cuda
