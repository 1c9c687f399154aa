#include "cuda/matrix.hpp"

#include <algorithm>
#include <cmath>

#include "cuda/kernels.cuh"

namespace hearsay::cuda {

namespace {

// Rows that a product is compared on; a matrix of no more is compared whole.
constexpr long rows_compared = 512;

constexpr int threads = 256;

int parts_for(const Queue& queue) { return 2 * queue.processors(); }
int threads_of_columns(int p) { return std::max(threads / p, 1) * p; }

template <class T>
void squares_into(const Queue& queue, const Seen& X, const Seen* Y, const double* theta, double* partial) {
  const int wide = threads_of_columns(X.columns);
  column_squares<T><<<parts_for(queue), wide, wide * sizeof(double), queue.stream()>>>(
      X.as<T>(), Y == nullptr ? nullptr : Y->as<T>(), theta, X.rows, X.columns, partial);
  launched("column_squares");
}
void squares_into(const Queue& queue, const Seen& X, const Seen* Y, const double* theta, double* partial) {
  X.in_double ? squares_into<double>(queue, X, Y, theta, partial) : squares_into<float>(queue, X, Y, theta, partial);
}

}  // namespace

const float* ColumnScale::of(const Queue& queue, const Seen& X, int exponent) {
  const auto columns = static_cast<std::size_t>(X.columns);
  if (X.unit) {
    if (unit_columns_ < columns || unit_exponent_ != exponent) {
      of_unit_.at_least(columns);
      fill_kernel<<<1, threads, 0, queue.stream()>>>(of_unit_.get(), X.columns, std::ldexp(1.f, exponent));
      launched("fill_kernel");
      unit_columns_ = columns;
      unit_exponent_ = exponent;
    }
    return of_unit_.get();
  }
  const int parts = parts_for(queue);
  partial_.at_least(static_cast<std::size_t>(parts) * X.columns);
  scale_.at_least(X.columns);
  squares_into(queue, X, nullptr, nullptr, partial_.get());
  add_partial_squares<<<X.columns, 32, 0, queue.stream()>>>(partial_.get(), parts, X.columns, nullptr, scale_.get(),
                                                            exponent);
  launched("add_partial_squares");
  return scale_.get();
}

Vector<double> column_norms(const Queue& queue, const Seen& X, const Seen* Y, const Vector<double>* theta,
                            Array<double>& work) {
  const int p = X.columns, parts = parts_for(queue);
  work.at_least(static_cast<std::size_t>(parts) * p + 2 * p);
  double *squares = work.get(), *values = squares + p, *partial = values + p;
  if (theta != nullptr)
    check(cudaMemcpyAsync(values, theta->data(), p * sizeof(double), cudaMemcpyHostToDevice, queue.stream()),
          "sending Ritz values");
  squares_into(queue, X, Y, values, partial);
  add_partial_squares<<<p, 32, 0, queue.stream()>>>(partial, parts, p, squares, nullptr, 0);
  launched("add_partial_squares");
  Vector<double> norms(p);
  check(cudaMemcpyAsync(norms.data(), squares, p * sizeof(double), cudaMemcpyDeviceToHost, queue.stream()),
        "reading norms");
  queue.wait();
  return norms.cwiseSqrt();
}

void DrawnRows::draw(const Queue& queue, const Seen& Y, long dim) {
  const long wished = dim <= 2 * rows_compared ? dim : rows_compared;
  room_ = static_cast<int>(std::min(dim, wished + 8 * static_cast<long>(std::sqrt(static_cast<double>(wished)))));
  squares_.at_least(dim);
  const int parts = static_cast<int>(std::min<long>((dim + 7) / 8, 8l * queue.processors()));
  sum_.at_least(1 + parts);
  count_.at_least(1);
  rows_.at_least(room_);
  weight_.at_least(room_);
  for (Array<double>* block : {&exact_, &E_, &Xw_}) block->at_least(static_cast<std::size_t>(room_) * Y.columns);
  along_.at_least(static_cast<std::size_t>(Y.columns) * Y.columns);
  const cudaStream_t stream = queue.stream();
  check(cudaMemsetAsync(count_.get(), 0, sizeof(int), stream), "clearing a count");
  double* partial = sum_.get() + 1;
  if (Y.in_double)
    row_squares<double><<<parts, threads, 0, stream>>>(Y.as<double>(), dim, Y.columns, squares_.get(), partial);
  else
    row_squares<float><<<parts, threads, 0, stream>>>(Y.as<float>(), dim, Y.columns, squares_.get(), partial);
  launched("row_squares");
  add_partial_sums<<<1, 32, 0, stream>>>(partial, parts, sum_.get());
  launched("add_partial_sums");
  draw_rows<<<static_cast<int>((dim + threads - 1) / threads), threads, 0, stream>>>(
      squares_.get(), sum_.get(), dim, static_cast<int>(wished), room_, ++draws_, count_.get(), rows_.get(),
      weight_.get());
  launched("draw_rows");
}

ProductError DrawnRows::error(const Queue& queue, const Seen& X, const Seen& Y) {
  const int p = X.columns;
  const cudaStream_t stream = queue.stream();
  if (X.in_double)
    weigh_errors<double><<<room_, p, 0, stream>>>(X.as<double>(), Y.as<double>(), exact_.get(), rows_.get(),
                                                  weight_.get(), count_.get(), p, E_.get(), Xw_.get());
  else
    weigh_errors<float><<<room_, p, 0, stream>>>(X.as<float>(), Y.as<float>(), exact_.get(), rows_.get(), weight_.get(),
                                                 count_.get(), p, E_.get(), Xw_.get());
  launched("weigh_errors");
  const double one = 1, zero = 0;
  check(cublasDgemm(queue.blas(), CUBLAS_OP_N, CUBLAS_OP_T, p, p, room_, &one, Xw_.get(), p, E_.get(), p, &zero,
                    along_.get(), p),
        "comparing products");
  ProductError found{.norms = {}, .along = Small<double>(p, p)};
  check(cudaMemcpyAsync(found.along.data(), along_.get(), sizeof(double) * p * p, cudaMemcpyDeviceToHost, stream),
        "reading errors");
  found.norms = column_norms(queue, {E_.get(), room_, p, true}, nullptr, nullptr, squares_);
  return found;
}

}  // namespace hearsay::cuda
