// The covariance of tall data: Y = M'(M X) / n, in two passes by cuBLAS over rows in fp16, or over some rows at a time
// in double.
#include "cuda/tall.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/dense.hpp"
#include "cuda/kernels.cuh"

namespace hearsay::cuda {

namespace {

constexpr int threads = 256;
constexpr long most_formed = 1024;

// Bytes of rows that are brought to double precision at a time; rows whose fp16 products are summed before they are
// added to the rest.
constexpr long bytes_at_once = long{1} << 30;
constexpr int matrix_exponent = 4, block_exponent = 4, product_exponent = -6;

int blocks_for(const Queue& queue, long numbers) {
  return static_cast<int>(std::clamp<long>((numbers + threads - 1) / threads, 1, 16l * queue.processors()));
}

// Threads side by side along a row, and rows of them.
dim3 lanes(long columns) {
  unsigned x = 32;
  while (x < threads && x < columns) x *= 2;
  return {x, threads / x};
}

template <class T>
class Tall final : public Matrix {
 public:
  Tall(const T* M, Array<T> owned, Array<double> mean, long rows, long columns, double divisor, float largest)
      : owned_(std::move(owned)),
        M_(M),
        mean_(std::move(mean)),
        rows_(rows),
        columns_(columns),
        exponent_(largest > 0 ? 2 * std::ilogb(largest) : 0),
        divisor_(std::ldexp(divisor, exponent_)),
        scale_(largest > 0 ? std::ldexp(1.f, std::clamp(matrix_exponent - std::ilogb(largest), -120, 120)) : 1) {}

  long dim() const override { return columns_; }
  std::vector<Rung> rungs() const override { return {Rung::fp16, Rung::full}; }
  bool positive_semidefinite() const override { return true; }
  int exponent() const override { return exponent_; }
  void renew(const Queue&) override { packed_ = wide_ = false; }  // of the same mean and scale

  void multiply(const Queue& queue, Rung rung, const Seen& X, const Seen& Y) override {
    if (rung == Rung::full)
      by_double(queue, X, Y);
    else
      by_half(queue, X, Y);
  }

  // Some rows of the product in double precision: all of Z = M X, and the columns of M that were drawn.
  ProductError error(const Queue& queue, const Seen& X, const Seen& Y) override {
    drawn_.draw(queue, Y, columns_);
    const int p = X.columns, room = drawn_.room();
    const double share = 1 / divisor_, one = 1, zero = 0;
    drawn_columns_.at_least(static_cast<std::size_t>(rows_at_once()) * room);
    for_rows_in_double(queue, X, [&](long first, int some, const double*) {
      gather_columns<T><<<8 * queue.processors(), lanes(room), 0, queue.stream()>>>(
          M_ + first * columns_, mean_.get(), some, columns_, drawn_.rows(), drawn_.count(), room,
          drawn_columns_.get());
      launched("gather_columns");
      check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_T, p, room, some, &share, z_.get(), p,
                        drawn_columns_.get(), room, first == 0 ? &zero : &one, drawn_.exact(), p),
            "rows of M'Z");
    });
    return drawn_.error(queue, X, Y);
  }

 private:
  void pack(const Queue& queue) {
    if (packed_) return;
    packed_ = true;
    half_.resize(static_cast<std::size_t>(rows_) * columns_);
    centred_to_half<T><<<8 * queue.processors(), lanes(columns_), 0, queue.stream()>>>(M_, mean_.get(), rows_, columns_,
                                                                                       scale_, half_.get());
    launched("centred_to_half");
  }

  // Z = M X lies in fp16 as well, brought there by a power of two that keeps the sums of a row small.
  void by_half(const Queue& queue, const Seen& X, const Seen& Y) {
    pack(queue);
    const int p = X.columns, d = static_cast<int>(columns_), n = static_cast<int>(rows_);
    const float* scale = column_scale_.of(queue, X, block_exponent);
    x_half_.at_least(X.numbers());
    z_half_.at_least(static_cast<std::size_t>(rows_) * p);
    sums_.at_least(X.numbers());
    const int blocks = blocks_for(queue, X.numbers());
    if (X.in_double)
      to_half_kernel<double>
          <<<blocks, threads, 0, queue.stream()>>>(X.as<double>(), scale, X.numbers(), p, x_half_.get());
    else
      to_half_kernel<float>
          <<<blocks, threads, 0, queue.stream()>>>(X.as<float>(), scale, X.numbers(), p, x_half_.get());
    launched("to_half_kernel");
    const float down = std::ldexp(1.f, product_exponent), one = 1, zero = 0;
    check(
        cublasGemmEx(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, n, d, &down, x_half_.get(), CUDA_R_16F, p, half_.get(),
                     CUDA_R_16F, d, &zero, z_half_.get(), CUDA_R_16F, p, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "M X in fp16");
    check(cublasGemmEx(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_T, p, d, n, &one, z_half_.get(), CUDA_R_16F, p, half_.get(),
                       CUDA_R_16F, d, &zero, sums_.get(), CUDA_R_32F, p, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "M'Z in fp16");
    const float of_matrix = static_cast<float>(1.0 / (static_cast<double>(scale_) * scale_ * down * divisor_));
    if (Y.in_double)
      unscale_kernel<double>
          <<<blocks, threads, 0, queue.stream()>>>(sums_.get(), scale, of_matrix, X.numbers(), p, Y.as<double>());
    else
      unscale_kernel<float>
          <<<blocks, threads, 0, queue.stream()>>>(sums_.get(), scale, of_matrix, X.numbers(), p, Y.as<float>());
    launched("unscale_kernel");
  }

  long rows_at_once() const {
    return std::min(rows_, std::max(1l, bytes_at_once / static_cast<long>(sizeof(double)) / columns_));
  }
  // Z = M X of some rows at a time, which lie in double in rows_in_double_, with Z in z_; then each(first, rows).
  template <class Each>
  void for_rows_in_double(const Queue& queue, const Seen& X, const Each& each) {
    const int p = X.columns, d = static_cast<int>(columns_);
    const double *x = X.as<double>(), one = 1, zero = 0;
    if (!X.in_double) {
      as_double_.at_least(X.numbers());
      convert_kernel<<<blocks_for(queue, X.numbers()), threads, 0, queue.stream()>>>(X.as<float>(), as_double_.get(),
                                                                                     X.numbers());
      launched("convert_kernel");
      x = as_double_.get();
    }
    const long at_once = rows_at_once();
    z_.at_least(static_cast<std::size_t>(at_once) * p);
    make_room(at_once);
    for (long r = 0; r < rows_; r += at_once) {
      const int some = static_cast<int>(std::min(at_once, rows_ - r));
      const double* rows = widened(queue, r, some);
      check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_N, p, some, d, &one, x, p, rows, d, &zero, z_.get(), p),
            "M X");
      each(r, some, rows);
    }
    wide_ = whole_;
  }
  // Where a third of the free memory holds all of M in double, it is made once.
  void make_room(long at_once) {
    if (!rows_in_double_.empty()) return;
    std::size_t free = 0, all = 0;
    check(cudaMemGetInfo(&free, &all), "asking for memory");
    const std::size_t numbers = static_cast<std::size_t>(rows_) * columns_;
    whole_ = numbers <= free / 3 / sizeof(double);
    rows_in_double_.resize(whole_ ? numbers : static_cast<std::size_t>(at_once) * columns_);
  }
  const double* widened(const Queue& queue, long first, int some) {
    double* to = rows_in_double_.get() + (whole_ ? first * columns_ : 0);
    if (wide_) return to;
    centred_to_double<T><<<8 * queue.processors(), lanes(columns_), 0, queue.stream()>>>(
        M_ + first * columns_, mean_.get(), some, columns_, to);
    launched("centred_to_double");
    return to;
  }

  void by_double(const Queue& queue, const Seen& X, const Seen& Y) {
    const int p = X.columns, d = static_cast<int>(columns_);
    const double one = 1, zero = 0;
    product_.at_least(X.numbers());
    for_rows_in_double(queue, X, [&](long first, int some, const double* rows) {
      check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_T, p, d, some, &one, z_.get(), p, rows, d,
                        first == 0 ? &zero : &one, product_.get(), p),
            "M'Z");
    });
    const int blocks = blocks_for(queue, X.numbers());
    if (Y.in_double)
      scaled_to<<<blocks, threads, 0, queue.stream()>>>(product_.get(), 1 / divisor_, X.numbers(), Y.as<double>());
    else
      scaled_to<<<blocks, threads, 0, queue.stream()>>>(product_.get(), 1 / divisor_, X.numbers(), Y.as<float>());
    launched("scaled_to");
  }

  Array<T> owned_;
  const T* M_;
  Array<double> mean_;
  long rows_, columns_;
  int exponent_;
  double divisor_;
  float scale_;
  bool packed_ = false, whole_ = false, wide_ = false;
  Array<__half> half_, x_half_, z_half_;
  Array<float> sums_;
  Array<double> as_double_, product_, rows_in_double_, z_, drawn_columns_;
  ColumnScale column_scale_;
  DrawnRows drawn_;
};

template <class T>
Array<double> formed(const Queue& queue, const T* M, const double* mean, long rows, long columns, double divisor) {
  Array<double> C(static_cast<std::size_t>(columns) * columns);
  const long at_once = std::min(rows, std::max(1l, bytes_at_once / static_cast<long>(sizeof(double)) / columns));
  Array<double> some(static_cast<std::size_t>(at_once) * columns);
  const int d = static_cast<int>(columns);
  const double share = 1 / divisor, one = 1, zero = 0;
  for (long r = 0; r < rows; r += at_once) {
    const int n = static_cast<int>(std::min(at_once, rows - r));
    centred_to_double<T>
        <<<8 * queue.processors(), lanes(columns), 0, queue.stream()>>>(M + r * columns, mean, n, columns, some.get());
    launched("centred_to_double");
    check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_T, d, d, n, &share, some.get(), d, some.get(), d,
                      r == 0 ? &zero : &one, C.get(), d),
          "forming the covariance");
  }
  queue.wait();
  return C;
}

}  // namespace

template <class T>
std::unique_ptr<Matrix> covariance(const Queue& queue, const T* M, Array<T> owned, long rows, long columns, bool centre,
                                   Vector<double>& mean, double& trace) {
  if (rows < 2 || rows > 2000000000 || columns < 2)
    throw InvalidArgument("data of " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                          " columns: on a device there must be at least two of each");
  const double divisor = static_cast<double>(centre ? rows - 1 : rows);
  Array<double> centre_of(columns);
  check(cudaMemsetAsync(centre_of.get(), 0, columns * sizeof(double), queue.stream()), "clearing");
  if (centre) {
    const int parts = static_cast<int>(std::min(rows, 16l * queue.processors()));
    Array<double> partial(static_cast<std::size_t>(parts) * columns);
    column_sums<T>
        <<<dim3(parts, static_cast<unsigned>((columns + threads - 1) / threads)), threads, 0, queue.stream()>>>(
            M, rows, columns, partial.get());
    launched("column_sums");
    mean_of<<<static_cast<int>((columns + threads - 1) / threads), threads, 0, queue.stream()>>>(
        partial.get(), parts, rows, columns, centre_of.get());
    launched("mean_of");
    queue.wait();
  }
  mean.resize(columns);
  check(cudaMemcpy(mean.data(), centre_of.get(), columns * sizeof(double), cudaMemcpyDeviceToHost), "reading the mean");
  if (!mean.allFinite()) throw DataError("data: an entry is not finite, or a column's sum overflows");
  Array<unsigned> bits(1);
  Vector<double> squares(16 * queue.processors());
  Array<double> sums(squares.size());
  check(cudaMemsetAsync(bits.get(), 0, sizeof(unsigned), queue.stream()), "clearing");
  size_of_centred<T><<<static_cast<int>(squares.size()), lanes(columns), 0, queue.stream()>>>(
      M, centre_of.get(), rows, columns, bits.get(), sums.get());
  launched("size_of_centred");
  float largest = 0;
  check(
      cudaMemcpyAsync(squares.data(), sums.get(), sums.size() * sizeof(double), cudaMemcpyDeviceToHost, queue.stream()),
      "reading variances");
  check(cudaMemcpyAsync(&largest, bits.get(), sizeof largest, cudaMemcpyDeviceToHost, queue.stream()),
        "reading the largest entry");
  queue.wait();
  trace = squares.sum() / divisor;
  if (!std::isfinite(largest) || !std::isfinite(trace))
    throw DataError("data: an entry is not finite, or beyond single precision");
  if (columns > most_formed)
    return std::make_unique<Tall<T>>(M, std::move(owned), std::move(centre_of), rows, columns, divisor, largest);
  Array<double> C = formed(queue, M, centre_of.get(), rows, columns, divisor);
  return dense(queue, std::move(C), columns, true);
}

template std::unique_ptr<Matrix> covariance<float>(const Queue&, const float*, Array<float>, long, long, bool,
                                                   Vector<double>&, double&);
template std::unique_ptr<Matrix> covariance<double>(const Queue&, const double*, Array<double>, long, long, bool,
                                                    Vector<double>&, double&);

}  // namespace hearsay::cuda
