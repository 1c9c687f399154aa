#include "cuda/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/kernels.cuh"

namespace hearsay::cuda {

namespace {

constexpr int threads = 256;
constexpr int block_exponent = 8;  // norms of columns of X in fp16; entries may be as small as 2^-24

int blocks_for(const Queue& queue, long numbers) {
  return static_cast<int>(std::clamp<long>((numbers + threads - 1) / threads, 1, 16l * queue.processors()));
}

template <class S>
class Sparse final : public Matrix {
 public:
  Sparse(const Queue& queue, const CsrView<S>& A, bool psd)
      : d_(A.rows),
        psd_(psd),
        start_(A.row_start.size()),
        column_(std::max<std::size_t>(1, A.columns.size())),
        value_(column_.size()) {
    std::vector<RowPart> parts;
    std::vector<long> long_rows;
    for (long r = 0; r < d_; ++r) {
      const long entries = A.row_start[r + 1] - A.row_start[r];
      for (long first = 0; first == 0 || first < entries; first += row_part)
        parts.push_back({static_cast<int>(r), static_cast<int>(first)});
      if (entries > row_part) long_rows.push_back(r);
    }
    number_ = static_cast<long>(parts.size());
    parts_.resize(parts.size());
    long_rows_.resize(long_rows.size());
    const auto send = [&](void* to, const void* from, std::size_t bytes) {
      if (bytes > 0)
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, queue.stream()), "sending a matrix");
    };
    static_assert(sizeof(long) == sizeof(std::int64_t));
    send(start_.get(), A.row_start.data(), A.row_start.size_bytes());
    send(column_.get(), A.columns.data(), A.columns.size_bytes());
    S largest = 0;
    for (const S value : A.values) largest = std::max(largest, std::abs(value));
    exponent_ = largest > 0 ? std::ilogb(largest) : 0;
    std::vector<S> values(A.values.begin(), A.values.end());  // of 2^-exponent A
    for (S& value : values) value = std::ldexp(value, -exponent_);
    send(value_.get(), values.data(), values.size() * sizeof(S));
    send(parts_.get(), parts.data(), parts.size() * sizeof(RowPart));
    send(long_rows_.get(), long_rows.data(), long_rows.size() * sizeof(long));
    queue.wait();
  }

  long dim() const override { return d_; }
  std::vector<Rung> rungs() const override { return {Rung::fp16, Rung::single, Rung::full}; }
  bool positive_semidefinite() const override { return psd_; }
  int exponent() const override { return exponent_; }
  void renew(const Queue&) override {}  // a copy

  void multiply(const Queue& queue, Rung rung, const Seen& X, const Seen& Y) override {
    const int p = X.columns, blocks = blocks_for(queue, X.numbers());
    const cudaStream_t stream = queue.stream();
    if (rung == Rung::fp16) {
      const float* scale = column_scale_.of(queue, X, block_exponent);
      half_.at_least(X.numbers());
      if (X.in_double)
        to_half_kernel<double><<<blocks, threads, 0, stream>>>(X.as<double>(), scale, X.numbers(), p, half_.get());
      else
        to_half_kernel<float><<<blocks, threads, 0, stream>>>(X.as<float>(), scale, X.numbers(), p, half_.get());
      launched("to_half_kernel");
      if (p == 32 || p == 64) {
        Y.in_double ? gather_wide(queue, scale, Y.as<double>(), p) : gather_wide(queue, scale, Y.as<float>(), p);
        return;
      }
      sums_.at_least(X.numbers());
      gather(queue, half_.get(), sums_.get(), p);
      if (Y.in_double)
        unscale_kernel<double><<<blocks, threads, 0, stream>>>(sums_.get(), scale, 1, X.numbers(), p, Y.as<double>());
      else
        unscale_kernel<float><<<blocks, threads, 0, stream>>>(sums_.get(), scale, 1, X.numbers(), p, Y.as<float>());
      launched("unscale_kernel");
    } else if (X.in_double) {
      gather(queue, X.as<double>(), Y.as<double>(), p);
    } else if (rung == Rung::single) {
      gather(queue, X.as<float>(), Y.as<float>(), p);
    } else {
      product_.at_least(X.numbers());
      gather(queue, X.as<float>(), product_.get(), p);
      convert_kernel<<<blocks, threads, 0, stream>>>(product_.get(), Y.as<float>(), X.numbers());
      launched("convert_kernel");
    }
  }

  ProductError error(const Queue& queue, const Seen& X, const Seen& Y) override {
    drawn_.draw(queue, Y, d_);
    const int wide = std::min(1024, (X.columns + 31) / 32 * 32);
    if (X.in_double)
      gather_drawn<<<drawn_.room(), wide, 0, queue.stream()>>>(start_.get(), column_.get(), value_.get(), drawn_.rows(),
                                                               drawn_.count(), X.columns, X.as<double>(),
                                                               drawn_.exact());
    else
      gather_drawn<<<drawn_.room(), wide, 0, queue.stream()>>>(start_.get(), column_.get(), value_.get(), drawn_.rows(),
                                                               drawn_.count(), X.columns, X.as<float>(),
                                                               drawn_.exact());
    launched("gather_drawn");
    return drawn_.error(queue, X, Y);
  }

 private:
  // Their parts are added up.
  template <class Y>
  void clear_long_rows(const Queue& queue, Y* to, int p) {
    if (long_rows_.empty()) return;
    clear_rows<<<static_cast<unsigned>(long_rows_.size()), 64, 0, queue.stream()>>>(long_rows_.get(), p, to);
    launched("clear_rows");
  }
  template <class Y>
  void gather_wide(const Queue& queue, const float* scale, Y* to, int p) {
    clear_long_rows(queue, to, p);
    const int lanes = p / 8;
    const auto blocks = static_cast<unsigned>((number_ * lanes + threads - 1) / threads);
    const auto go = [&](auto kernel) {
      kernel<<<blocks, threads, 0, queue.stream()>>>(start_.get(), column_.get(), value_.get(), parts_.get(), number_,
                                                     half_.get(), scale, to);
    };
    if (lanes == 8)
      go(gather_half<S, Y, 8>);
    else
      go(gather_half<S, Y, 4>);
    launched("gather_half");
  }
  template <class X, class Y>
  void gather(const Queue& queue, const X* from, Y* to, int p) {
    clear_long_rows(queue, to, p);
    for (int first = 0; first < p;) {
      const int left = p - first, lanes = left > 32 ? 64 : left > 16 ? 32 : left > 8 ? 16 : 8;
      const auto blocks = static_cast<unsigned>((number_ * lanes + threads - 1) / threads);
      const auto go = [&](auto kernel) {
        kernel<<<blocks, threads, 0, queue.stream()>>>(start_.get(), column_.get(), value_.get(), parts_.get(), number_,
                                                       p, first, from, to);
      };
      if (lanes == 64) go(gather_product<X, S, Y, 64>);
      if (lanes == 32) go(gather_product<X, S, Y, 32>);
      if (lanes == 16) go(gather_product<X, S, Y, 16>);
      if (lanes == 8) go(gather_product<X, S, Y, 8>);
      launched("gather_product");
      first += lanes;
    }
  }

  long d_;
  bool psd_;
  int exponent_ = 0;
  long number_ = 0;
  Array<long> start_;
  Array<int> column_;
  Array<S> value_;
  Array<RowPart> parts_;
  Array<long> long_rows_;
  Array<__half> half_;
  Array<float> sums_;
  Array<double> product_;
  ColumnScale column_scale_;
  DrawnRows drawn_;
};

}  // namespace

template <class S>
std::unique_ptr<Matrix> sparse(const Queue& queue, const CsrView<S>& A, bool positive_semidefinite) {
  return std::make_unique<Sparse<S>>(queue, A, positive_semidefinite);
}
template std::unique_ptr<Matrix> sparse<float>(const Queue&, const CsrView<float>&, bool);
template std::unique_ptr<Matrix> sparse<double>(const Queue&, const CsrView<double>&, bool);

}  // namespace hearsay::cuda
