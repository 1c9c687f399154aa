// A dense symmetric matrix on a device, row-major, both triangles: in single precision or double, the caller's or a
// copy.
#include "cuda/dense.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/half_read.cuh"
#include "cuda/kernels.cuh"

namespace hearsay::cuda {

namespace {

constexpr int threads = 256;

// Below, the matrix lies in the second cache, where reading half of it gains nothing.
constexpr long least_half_read = 4097;

// Tiles after which the sums of an accurate product are added to Y.
constexpr int flush_accurate = 8, never = 1 << 30;

// Where the largest entry of A, and the norm of a column of X over the root of its length, are brought to.
constexpr int matrix_exponent = 13;
int block_exponent(long d) { return static_cast<int>(std::lround(0.5 * std::log2(static_cast<double>(d)))); }

int blocks_for(const Queue& queue, long numbers) {
  return static_cast<int>(std::clamp<long>((numbers + threads - 1) / threads, 1, 16l * queue.processors()));
}

template <class T>
class Dense final : public Matrix {
 public:
  Dense(const T* borrowed, Array<T> owned, long d, long lda, bool psd, const Queue& queue)
      : owned_(std::move(owned)),
        A_(borrowed),
        d_(d),
        lda_(lda),
        psd_(psd),
        half_read_(queue.is_hopper() && d >= least_half_read) {
    find_scale(queue);
  }

  long dim() const override { return d_; }
  long rows_of_blocks() const override { return half_read_ ? panels() * panel_rows : d_; }
  int column_step() const override { return half_read_ ? 32 : 8; }
  std::vector<Rung> rungs() const override { return {Rung::fp16, Rung::tf32, Rung::single, Rung::full}; }
  bool positive_semidefinite() const override { return psd_; }
  int exponent() const override { return exponent_; }
  void renew(const Queue& queue) override {
    packed_ = halved_ = panel_is_A_ = single_made_ = false;
    find_scale(queue);
  }

  void multiply(const Queue& queue, Rung rung, const Seen& X, const Seen& Y) override {
    const bool tiles = half_read_ && (X.columns == 32 || X.columns == 64);
    switch (rung) {
      case Rung::fp16:
        return tiles ? by_tiles(queue, X, Y, false) : by_half(queue, X, Y);
      case Rung::tf32:
        return by_single(queue, X, Y, CUBLAS_COMPUTE_32F_FAST_TF32);
      case Rung::single:
        return tiles ? by_tiles(queue, X, Y, true) : by_single(queue, X, Y, CUBLAS_COMPUTE_32F_PEDANTIC);
      case Rung::full:
        return by_double(queue, X, Y);
    }
  }

  ProductError error(const Queue& queue, const Seen& X, const Seen& Y) override {
    const int p = X.columns;
    drawn_.draw(queue, Y, d_);
    gathered_.at_least(static_cast<std::size_t>(drawn_.room()) * d_);
    gather_rows<T>
        <<<drawn_.room(), threads, 0, queue.stream()>>>(A_, lda_, d_, drawn_.rows(), drawn_.count(), gathered_.get());
    launched("gather_rows");
    const double* x = in_double(queue, X);
    multiply_drawn(queue, x, p);
    return drawn_.error(queue, X, Y);
  }

 private:
  // The rows that were drawn, times x: few rows of a long sum, which is cut so that all processors share it.
  void multiply_drawn(const Queue& queue, const double* x, int p) {
    const double scale = std::ldexp(1.0, -exponent_), one = 1, zero = 0;
    const int d = static_cast<int>(d_), room = drawn_.room(), cuts = d >= 4096 ? 16 : 1, length = d / cuts,
              left = d - cuts * length;
    const long numbers = static_cast<long>(room) * p;
    cut_.at_least(static_cast<std::size_t>(cuts) * numbers);
    double* to = cuts > 1 ? cut_.get() : drawn_.exact();
    check(cublasDgemmStridedBatched(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, room, length, &scale, x, p,
                                    static_cast<long>(length) * p, gathered_.get(), d, length, &zero, to, p, numbers,
                                    cuts),
          "rows of a product");
    if (cuts == 1) return;
    if (left > 0)
      check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, room, left, &scale,
                        x + static_cast<long>(d - left) * p, p, gathered_.get() + (d - left), d, &one, to, p),
            "rows of a product");
    add_cuts<<<blocks_for(queue, numbers), threads, 0, queue.stream()>>>(cut_.get(), cuts, numbers, drawn_.exact());
    launched("add_cuts");
  }

  float unit() const { return std::ldexp(1.f, -exponent_); }
  long panels() const { return (d_ + panel_rows - 1) / panel_rows; }

  // A power of two for A, which is solved as 2^-exponent A; of a positive semidefinite matrix no entry exceeds the
  // largest of the diagonal.
  void find_scale(const Queue& queue) {
    Array<unsigned>& bits = bits_;
    bits.at_least(1);
    check(cudaMemsetAsync(bits.get(), 0, sizeof(unsigned), queue.stream()), "clearing");
    if (psd_)
      largest_of_diagonal<T><<<1, 1024, 0, queue.stream()>>>(A_, d_, lda_, bits.get());
    else
      largest_magnitude<T><<<16 * queue.processors(), threads, 0, queue.stream()>>>(A_, d_, lda_, bits.get());
    launched("the largest entry");
    float largest = 0;
    check(cudaMemcpyAsync(&largest, bits.get(), sizeof largest, cudaMemcpyDeviceToHost, queue.stream()),
          "reading the largest entry");
    queue.wait();
    if (!std::isfinite(largest)) throw DataError("matrix: an entry is not finite, or beyond single precision");
    exponent_ = largest > 0 ? std::ilogb(largest) : 0;
    scale_ = std::ldexp(1.f, std::clamp(matrix_exponent - exponent_, -120, 120));
  }

  // ---- fp16

  void pack(const Queue& queue) {
    if (packed_) return;
    packed_ = true;
    const std::size_t tiles = tiles_of(panels()), numbers = tiles * panel_rows * tile_columns;
    high_.resize(numbers);
    low_.resize(numbers);
    pack_triangle<T>
        <<<static_cast<int>(tiles), threads, 0, queue.stream()>>>(A_, lda_, d_, high_.get(), low_.get(), scale_);
    launched("pack_triangle");
  }

  void by_tiles(const Queue& queue, const Seen& X, const Seen& Y, bool accurate) {
    pack(queue);
    if (X.in_double)
      X.columns == 32 ? by_tiles<double, 32>(queue, X, Y, accurate) : by_tiles<double, 64>(queue, X, Y, accurate);
    else
      X.columns == 32 ? by_tiles<float, 32>(queue, X, Y, accurate) : by_tiles<float, 64>(queue, X, Y, accurate);
  }

  template <class B, int N>
  void by_tiles(const Queue& queue, const Seen& X, const Seen& Y, bool accurate) {
    const cudaStream_t stream = queue.stream();
    const float* scale = column_scale_.of(queue, X, block_exponent(d_));
    x_high_.at_least(X.numbers());
    if (accurate) x_low_.at_least(X.numbers());
    sums_.at_least(X.numbers());
    const int blocks = static_cast<int>(X.rows / tile_columns);
    pack_block<B, N>
        <<<blocks, threads, 0, stream>>>(X.as<B>(), scale, x_high_.get(), accurate ? x_low_.get() : nullptr);
    launched("pack_block");
    check(cudaMemsetAsync(sums_.get(), 0, X.numbers() * sizeof(float), stream), "clearing a product");
    half_read<N>(queue, high_.get(), x_high_.get(), accurate ? flush_accurate : never);
    if (accurate) {
      half_read<N>(queue, high_.get(), x_low_.get(), never);
      half_read<N>(queue, low_.get(), x_high_.get(), never);
    }
    unpack_product<B, N><<<static_cast<int>((X.numbers() + threads - 1) / threads), threads, 0, stream>>>(
        sums_.get(), scale, unit() / scale_, X.numbers(), Y.as<B>());
    launched("unpack_product");
  }

  template <int N>
  void half_read(const Queue& queue, const __half* A, const __half* X, int flush) {
    using Shape = HalfReadShape<N>;
    if (!allowed_[N == 64]) {
      check(cudaFuncSetAttribute(half_read_kernel<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::shared_bytes),
            "shared memory for the half-read product");
      allowed_[N == 64] = true;
    }
    half_read_kernel<N><<<queue.processors(), 384, Shape::shared_bytes, queue.stream()>>>(
        A, X, sums_.get(), static_cast<int>(tiles_of(panels())), flush);
    launched("half_read_kernel");
  }

  void by_half(const Queue& queue, const Seen& X, const Seen& Y) {
    if (!halved_) {
      halved_ = true;
      half_.resize(static_cast<std::size_t>(d_) * d_);
      scale_to_half<T><<<16 * queue.processors(), threads, 0, queue.stream()>>>(A_, lda_, d_, d_, scale_, half_.get());
      launched("scale_to_half");
    }
    const float* scale = column_scale_.of(queue, X, block_exponent(d_));
    const int p = X.columns, blocks = blocks_for(queue, X.numbers());
    x_high_.at_least(X.numbers());
    sums_.at_least(X.numbers());
    if (X.in_double)
      to_half_kernel<double><<<blocks, threads, 0, queue.stream()>>>(X.as<double>(), scale, d_ * p, p, x_high_.get());
    else
      to_half_kernel<float><<<blocks, threads, 0, queue.stream()>>>(X.as<float>(), scale, d_ * p, p, x_high_.get());
    launched("to_half_kernel");
    const float one = 1, zero = 0;
    check(cublasGemmEx(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, static_cast<int>(d_), static_cast<int>(d_), &one,
                       x_high_.get(), CUDA_R_16F, p, half_.get(), CUDA_R_16F, static_cast<int>(d_), &zero, sums_.get(),
                       CUDA_R_32F, p, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "a product in fp16");
    if (Y.in_double)
      unscale_kernel<double>
          <<<blocks, threads, 0, queue.stream()>>>(sums_.get(), scale, unit() / scale_, d_ * p, p, Y.as<double>());
    else
      unscale_kernel<float>
          <<<blocks, threads, 0, queue.stream()>>>(sums_.get(), scale, unit() / scale_, d_ * p, p, Y.as<float>());
    launched("unscale_kernel");
  }

  // ---- Single precision

  const float* single(const Queue& queue, long& lda) {
    lda = lda_;
    if constexpr (std::is_same_v<T, float>) return A_;
    lda = d_;
    if (!single_made_) {
      single_made_ = true;
      single_.resize(static_cast<std::size_t>(d_) * d_);
      for (long r = 0; r < d_; r += 4096) {
        const long rows = std::min(4096l, d_ - r);
        gather_single(queue, r, rows);
      }
    }
    return single_.get();
  }
  void gather_single(const Queue& queue, long first, long rows) {
    if constexpr (std::is_same_v<T, double>) {
      check(cudaMemcpy2DAsync(panel(rows).get(), d_ * sizeof(double), A_ + first * lda_, lda_ * sizeof(double),
                              d_ * sizeof(double), rows, cudaMemcpyDeviceToDevice, queue.stream()),
            "copying rows");
      convert_kernel<<<16 * queue.processors(), threads, 0, queue.stream()>>>(panel_.get(), single_.get() + first * d_,
                                                                              rows * d_);
      launched("convert_kernel");
    }
  }

  void by_single(const Queue& queue, const Seen& X, const Seen& Y, cublasComputeType_t how) {
    long lda = 0;
    const float* A = single(queue, lda);
    const int p = X.columns;
    const float *x = X.as<float>(), one = unit(), zero = 0;
    float* y = Y.as<float>();
    if (X.in_double) {
      as_float_.at_least(X.numbers());
      sums_.at_least(X.numbers());
      convert_kernel<<<blocks_for(queue, X.numbers()), threads, 0, queue.stream()>>>(X.as<double>(), as_float_.get(),
                                                                                     X.numbers());
      launched("convert_kernel");
      x = as_float_.get(), y = sums_.get();
    }
    check(cublasGemmEx(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, static_cast<int>(d_), static_cast<int>(d_), &one, x,
                       CUDA_R_32F, p, A, CUDA_R_32F, static_cast<int>(lda), &zero, y, CUDA_R_32F, p, how,
                       CUBLAS_GEMM_DEFAULT),
          "a product in single precision");
    if (Y.in_double) {
      convert_kernel<<<blocks_for(queue, X.numbers()), threads, 0, queue.stream()>>>(y, Y.as<double>(), d_ * p);
      launched("convert_kernel");
    }
  }

  // ---- Double

  const double* in_double(const Queue& queue, const Seen& X) {
    if (X.in_double) return X.as<double>();
    as_double_.at_least(X.numbers());
    convert_kernel<<<blocks_for(queue, X.numbers()), threads, 0, queue.stream()>>>(X.as<float>(), as_double_.get(),
                                                                                   X.numbers());
    launched("convert_kernel");
    return as_double_.get();
  }

  Array<double>& panel(long rows) {
    panel_.at_least(static_cast<std::size_t>(rows) * d_);
    return panel_;
  }

  // A in double whole where there is room to spare, else some rows at a time.
  void by_double(const Queue& queue, const Seen& X, const Seen& Y) {
    const double* x = in_double(queue, X);
    const int p = X.columns;
    double* y = Y.as<double>();
    if (!Y.in_double) {
      product_.at_least(Y.numbers());
      y = product_.get();
    }
    if constexpr (std::is_same_v<T, double>) {
      multiply_rows(queue, A_, lda_, d_, x, p, y);
    } else {
      std::size_t free = 0, all = 0;
      check(cudaMemGetInfo(&free, &all), "asking for memory");
      const std::size_t whole = static_cast<std::size_t>(d_) * d_ * sizeof(double);
      const long rows = !panel_.empty() && static_cast<long>(panel_.size()) >= d_ * d_ ? d_
                        : whole < free / 2                                             ? d_
                                           : std::max(1l, static_cast<long>(free / 4 / sizeof(double) / d_));
      for (long r = 0; r < d_; r += rows) {
        const long some = std::min(rows, d_ - r);
        if (rows < d_ || !panel_is_A_) {
          panel(rows);
          widen_rows(queue, r, some);
          panel_is_A_ = rows == d_;
        }
        multiply_rows(queue, panel_.get(), d_, some, x, p, y + r * p);
      }
    }
    if (!Y.in_double) {
      convert_kernel<<<blocks_for(queue, Y.numbers()), threads, 0, queue.stream()>>>(y, Y.as<float>(), d_ * p);
      launched("convert_kernel");
    }
  }
  void widen_rows(const Queue& queue, long first, long rows) {
    if (lda_ == d_) {
      convert_kernel<<<16 * queue.processors(), threads, 0, queue.stream()>>>(A_ + first * lda_, panel_.get(),
                                                                              rows * d_);
      launched("convert_kernel");
    } else {
      for (long r = 0; r < rows; ++r) {
        convert_kernel<<<blocks_for(queue, d_), threads, 0, queue.stream()>>>(A_ + (first + r) * lda_,
                                                                              panel_.get() + r * d_, d_);
        launched("convert_kernel");
      }
    }
  }
  void multiply_rows(const Queue& queue, const double* A, long lda, long rows, const double* x, int p, double* y) {
    const double one = std::ldexp(1.0, -exponent_), zero = 0;
    check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, static_cast<int>(rows), static_cast<int>(d_), &one, x,
                      p, A, static_cast<int>(lda), &zero, y, p),
          "a product in double precision");
  }

  Array<T> owned_;
  Array<unsigned> bits_;
  const T* A_;
  long d_, lda_;
  bool psd_, half_read_, panel_is_A_ = false, packed_ = false, halved_ = false, single_made_ = false;
  bool allowed_[2] = {};
  float scale_ = 1;
  int exponent_ = 0;
  Array<__half> high_, low_, half_, x_high_, x_low_;
  Array<float> sums_, single_, as_float_;
  Array<double> panel_, as_double_, product_, gathered_, cut_;
  ColumnScale column_scale_;
  DrawnRows drawn_;
};

void require_dimension(long d) {
  if (d < 2 || d > 500000)
    throw InvalidArgument("matrix of dimension " + std::to_string(d) + ": on a device it must lie in [2, 500000]");
}

}  // namespace

template <class T>
std::unique_ptr<Matrix> dense(const Queue& queue, const T* A, long d, long lda, bool positive_semidefinite) {
  require_dimension(d);
  return std::make_unique<Dense<T>>(A, Array<T>(), d, lda, positive_semidefinite, queue);
}
template <class T>
std::unique_ptr<Matrix> dense(const Queue& queue, Array<T> A, long d, bool positive_semidefinite) {
  require_dimension(d);
  const T* data = A.get();
  return std::make_unique<Dense<T>>(data, std::move(A), d, d, positive_semidefinite, queue);
}

template std::unique_ptr<Matrix> dense<float>(const Queue&, const float*, long, long, bool);
template std::unique_ptr<Matrix> dense<double>(const Queue&, const double*, long, long, bool);
template std::unique_ptr<Matrix> dense<float>(const Queue&, Array<float>, long, bool);
template std::unique_ptr<Matrix> dense<double>(const Queue&, Array<double>, long, bool);

}  // namespace hearsay::cuda
