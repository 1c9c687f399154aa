// cuBLAS, opened at its first call. Were it linked, every start of a program would pay for it, device or not: 170 MB of
// memory and 0.4 s.
#pragma GCC visibility push(hidden)  // these names are for this library alone: a program may have cuBLAS of its own
#include <cublas_v2.h>
#pragma GCC visibility pop
#include <dlfcn.h>

#include <string>

#include "hearsay/device_error.hpp"

#define HEARSAY_TEXT_OF(x) #x
#define HEARSAY_TEXT(x) HEARSAY_TEXT_OF(x)

namespace {

constexpr const char* name_of_library = "libcublas.so." HEARSAY_TEXT(CUBLAS_VER_MAJOR);

/// First where the system looks, then where it was when this was built.
void* library() {
  static void* const opened = [] {
    void* const found = dlopen(name_of_library, RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(HEARSAY_CUBLAS, RTLD_NOW | RTLD_LOCAL);
  }();
  if (!opened)
    throw hearsay::DeviceError(
        std::string("device: ") + name_of_library +
        " does not open; install NVIDIA's cuBLAS of this version, or add its folder to LD_LIBRARY_PATH");
  return opened;
}

template <class Function>
Function* look_up(const char* name) {
  void* const found = dlsym(library(), name);
  if (!found) throw hearsay::DeviceError(std::string("device: ") + name_of_library + " has no " + name);
  return reinterpret_cast<Function*>(found);
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  static const auto there = look_up<decltype(cublasCreate_v2)>("cublasCreate_v2");
  return there(handle);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  static const auto there = look_up<decltype(cublasDestroy_v2)>("cublasDestroy_v2");
  return there(handle);
}

const char* cublasGetStatusString(cublasStatus_t status) {
  static const auto there = look_up<decltype(cublasGetStatusString)>("cublasGetStatusString");
  return there(status);
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  static const auto there = look_up<decltype(cublasSetStream_v2)>("cublasSetStream_v2");
  return there(handle, stream);
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  static const auto there = look_up<decltype(cublasSetWorkspace_v2)>("cublasSetWorkspace_v2");
  return there(handle, workspace, bytes);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
                              int k, const float* alpha, const float* A, int lda, const float* B, int ldb,
                              const float* beta, float* C, int ldc) {
  static const auto there = look_up<decltype(cublasSgemm_v2)>("cublasSgemm_v2");
  return there(handle, turn_a, turn_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
                              int k, const double* alpha, const double* A, int lda, const double* B, int ldb,
                              const double* beta, double* C, int ldc) {
  static const auto there = look_up<decltype(cublasDgemm_v2)>("cublasDgemm_v2");
  return there(handle, turn_a, turn_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b,
                                         int m, int n, int k, const double* alpha, const double* A, int lda,
                                         long long step_a, const double* B, int ldb, long long step_b,
                                         const double* beta, double* C, int ldc, long long step_c, int count) {
  static const auto there = look_up<decltype(cublasDgemmStridedBatched)>("cublasDgemmStridedBatched");
  return there(handle, turn_a, turn_b, m, n, k, alpha, A, lda, step_a, B, ldb, step_b, beta, C, ldc, step_c, count);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t turn_a, cublasOperation_t turn_b, int m, int n,
                            int k, const void* alpha, const void* A, cudaDataType type_a, int lda, const void* B,
                            cudaDataType type_b, int ldb, const void* beta, void* C, cudaDataType type_c, int ldc,
                            cublasComputeType_t how, cublasGemmAlgo_t algorithm) {
  using Function = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                  const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                  cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);  // the header has two
  static const auto there = look_up<Function>("cublasGemmEx");
  return there(handle, turn_a, turn_b, m, n, k, alpha, A, type_a, lda, B, type_b, ldb, beta, C, type_c, ldc, how,
               algorithm);
}

}  // extern "C"
