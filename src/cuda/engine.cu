// The engine's verbs on a device: blocks are row-major, which to cuBLAS are their transposes.
#include "hearsay/cuda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/blocks.cuh"
#include "cuda/dense.hpp"
#include "cuda/kernels.cuh"
#include "cuda/sparse.hpp"
#include "cuda/tall.hpp"

namespace hearsay::cuda {

namespace {

constexpr int threads = 256;
constexpr Index widest_block = 128;  // whose small factorisation one block of threads can hold

class CudaEngine final : public Engine {
 public:
  CudaEngine(Device device, std::unique_ptr<Queue> queue, std::unique_ptr<Matrix> matrix)
      : device_(std::move(device)), queue_(std::move(queue)), matrix_(std::move(matrix)) {}

  EngineFacts facts() const override {
    return {.dim = matrix_->dim(),
            .positive_semidefinite = matrix_->positive_semidefinite(),
            .exponent = matrix_->exponent(),
            .rungs = matrix_->rungs(),
            .column_step = matrix_->column_step(),
            .looks_in_flight = 2,
            .where = "cuda:" + std::to_string(device_.number) + " (" + device_.name + ")"};
  }

  void prepare(Index columns, bool in_double, int blocks, int smalls) override {
    queue_->use();
    if (columns < 1 || columns > widest_block)
      throw InvalidArgument("columns = " + std::to_string(columns) + ": a block on a device has at most " +
                            std::to_string(widest_block));
    const long rows = matrix_->rows_of_blocks();
    const std::size_t bytes = static_cast<std::size_t>(rows) * columns * (in_double ? sizeof(double) : sizeof(float));
    const bool keep = !blocks_.empty() && columns_ == columns && in_double_ != in_double;
    Array<char> first;
    if (keep) {
      first.resize(bytes);
      const Seen from = seen(0);
      if (in_double)
        convert_kernel<<<grid(from.numbers()), threads, 0, stream()>>>(
            from.as<float>(), reinterpret_cast<double*>(first.get()), from.numbers());
      else
        convert_kernel<<<grid(from.numbers()), threads, 0, stream()>>>(
            from.as<double>(), reinterpret_cast<float*>(first.get()), from.numbers());
      launched("convert_kernel");
    }
    const bool same = columns_ == columns && in_double_ == in_double;
    blocks_.resize(std::max<std::size_t>(blocks_.size(), blocks));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (b == 0 && keep) {
        queue_->wait();
        blocks_[0] = std::move(first);
        continue;
      }
      blocks_[b].at_least(bytes);
      if (!(b == 0 && same)) check(cudaMemsetAsync(blocks_[b].get(), 0, bytes, stream()), "clearing a block");
    }
    smalls_.resize(std::max<std::size_t>(smalls_.size(), smalls));
    for (auto& small : smalls_) small.at_least(static_cast<std::size_t>(columns) * columns);
    arrived_.resize(smalls_.size());
    inverse_.at_least(static_cast<std::size_t>(columns) * columns);
    as_float_.at_least(static_cast<std::size_t>(columns) * columns);
    if (columns != 32 && columns != 64) turned_.at_least(bytes);
    unit_.assign(blocks_.size(), false);
    const int tiles = static_cast<int>((columns + gram_tile - 1) / gram_tile);
    partial_.at_least(static_cast<std::size_t>(tiles) * tiles * parts() * gram_tile * gram_tile);
    if (pinned_size_ < smalls_.size() * columns * columns) {
      pinned_size_ = smalls_.size() * columns * columns;
      pinned_ = std::make_unique<Pinned<double>>(pinned_size_);
    }
    columns_ = columns;
    in_double_ = in_double;
  }

  void renew() override { matrix_->renew(*queue_); }

  const void* pointer(BlockPlace X) const { return blocks_[X].get(); }
  bool in_double() const { return in_double_; }
  Index columns() const { return columns_; }
  void wait() const { queue_->wait(); }

  void fill_normal(std::uint64_t seed, BlockPlace X) override {
    unit_[X] = false;
    const Seen x = seen(X);
    const int p = x.columns;
    if (in_double_)
      fill_normal_kernel<<<grid(x.numbers()), threads, 0, stream()>>>(x.as<double>(), matrix_->dim(), p, seed);
    else
      fill_normal_kernel<<<grid(x.numbers()), threads, 0, stream()>>>(x.as<float>(), matrix_->dim(), p, seed);
    launched("fill_normal_kernel");
  }

  void store(ConstBlockView<double> from, BlockPlace X) override {
    unit_[X] = false;
    in_double_ ? store_as<double>(from, X) : store_as<float>(from, X);
  }
  void load(BlockPlace X, BlockView<double> to) override {
    in_double_ ? load_as<double>(X, to) : load_as<float>(X, to);
  }

  void store_small(const Small<double>& from, SmallPlace H) override {
    // waits for no earlier verb, but the copy is made before it returns
    double* staged = pinned_->get() + static_cast<std::size_t>(H) * columns_ * columns_;
    queue_->wait();
    std::copy(from.data(), from.data() + from.size(), staged);
    check(cudaMemcpyAsync(small(H), staged, from.size() * sizeof(double), cudaMemcpyHostToDevice, stream()),
          "sending a small matrix");
  }
  void load_small(SmallPlace H, Small<double>& to) override {
    to.resize(columns_, columns_);
    check(cudaEventSynchronize(arrived_[H].get()), "waiting for a small matrix");
    const double* staged = pinned_->get() + static_cast<std::size_t>(H) * columns_ * columns_;
    std::copy(staged, staged + to.size(), to.data());
  }

  void copy(BlockPlace from, BlockPlace to) override {
    if (from == to) return;
    unit_[to] = unit_[from];
    check(cudaMemcpyAsync(seen(to).data, seen(from).data, bytes(), cudaMemcpyDeviceToDevice, stream()),
          "copying a block");
  }
  void multiply(Rung rung, BlockPlace X, BlockPlace Y) override {
    unit_[Y] = false;
    matrix_->multiply(*queue_, rung, seen(X), seen(Y));
  }

  // On its way to the host at once.
  void gram(BlockPlace X, BlockPlace Y, SmallPlace H) override {
    gram_on_device(X, Y, small(H));
    double* staged = pinned_->get() + static_cast<std::size_t>(H) * columns_ * columns_;
    check(cudaMemcpyAsync(staged, small(H), sizeof(double) * columns_ * columns_, cudaMemcpyDeviceToHost, stream()),
          "reading a small matrix");
    check(cudaEventRecord(arrived_[H].get(), stream()), "an event");
  }

  void subtract(BlockPlace X, SmallPlace H, BlockPlace Y) override {
    unit_[Y] = false;
    multiply_small(seen(X), small(H), -1, 1, seen(Y).data);
  }
  void add(BlockPlace X, SmallPlace H, BlockPlace Y) override {
    unit_[Y] = false;
    multiply_small(seen(X), small(H), 1, 1, seen(Y).data);
  }
  void turn(BlockPlace X, SmallPlace U) override { turn_all({X}, small(U)); }

  void combine(BlockPlace Y, double scale, double shift, BlockPlace X, double beta, BlockPlace Z) override {
    unit_[Y] = false;
    const Seen y = seen(Y);
    if (in_double_)
      combine_kernel<double><<<grid(y.numbers()), threads, 0, stream()>>>(
          y.as<double>(), scale, shift, seen(X).as<double>(), beta, seen(Z).as<double>(), y.numbers());
    else
      combine_kernel<float><<<grid(y.numbers()), threads, 0, stream()>>>(
          y.as<float>(), static_cast<float>(scale), static_cast<float>(shift), seen(X).as<float>(),
          static_cast<float>(beta), seen(Z).as<float>(), y.numbers());
    launched("combine_kernel");
  }

  void orthonormalise(BlockPlace Y, const std::vector<BlockPlace>& others, int passes) override {
    const int p = static_cast<int>(columns_);
    const std::size_t shared = (static_cast<std::size_t>(p) * (p + 1) + p) * sizeof(double);
    if (!inverse_allowed_) {
      check(cudaFuncSetAttribute(dropping_inverse_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>((widest_block * (widest_block + 1) + widest_block) * sizeof(double))),
            "shared memory for a factorisation");
      inverse_allowed_ = true;
    }
    for (int pass = 0; pass < passes; ++pass) {
      gram_on_device(Y, Y, inverse_.get());
      const double least = in_double_ ? 1e-7 : 1e-6;
      if (p == 64)
        dropping_inverse_in_registers<64><<<1, 512, 0, stream()>>>(inverse_.get(), least, inverse_.get());
      else if (p == 32)
        dropping_inverse_in_registers<32><<<1, 512, 0, stream()>>>(inverse_.get(), least, inverse_.get());
      else
        dropping_inverse_kernel<<<1, 512, shared, stream()>>>(inverse_.get(), p, least, inverse_.get());
      launched("dropping_inverse_kernel");
      std::vector<BlockPlace> all = {Y};
      all.insert(all.end(), others.begin(), others.end());
      turn_all(all, inverse_.get());
    }
    unit_[Y] = true;  // but for columns that became zero
  }

  Vector<double> residuals(BlockPlace X, BlockPlace Y, const Vector<double>& theta) override {
    const Seen y = seen(Y);
    return column_norms(*queue_, seen(X), &y, &theta, norms_);
  }
  ProductError product_error(BlockPlace X, BlockPlace Y) override { return matrix_->error(*queue_, seen(X), seen(Y)); }

 private:
  class Event {
   public:
    Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "an event"); }
    Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
    ~Event() {
      if (event_ != nullptr) cudaEventDestroy(event_);
    }
    cudaEvent_t get() const { return event_; }

   private:
    cudaEvent_t event_ = nullptr;
  };

  cudaStream_t stream() const { return queue_->stream(); }
  int parts() const { return 2 * queue_->processors(); }
  int grid(long numbers) const {
    return static_cast<int>(std::clamp<long>((numbers + threads - 1) / threads, 1, 16l * queue_->processors()));
  }
  std::size_t bytes() const {
    return static_cast<std::size_t>(matrix_->rows_of_blocks()) * columns_ *
           (in_double_ ? sizeof(double) : sizeof(float));
  }
  Seen seen(BlockPlace X) const {
    return {blocks_[X].get(), matrix_->rows_of_blocks(), static_cast<int>(columns_), in_double_, unit_[X]};
  }
  double* small(SmallPlace H) const { return smalls_[H].get(); }

  template <class T>
  void store_as(ConstBlockView<double> from, BlockPlace X) {
    const Block<T> rows = from.template cast<T>();
    check(cudaMemcpy2DAsync(seen(X).data, columns_ * sizeof(T), rows.data(), rows.cols() * sizeof(T),
                            rows.cols() * sizeof(T), rows.rows(), cudaMemcpyHostToDevice, stream()),
          "sending a block");
    queue_->wait();
  }
  template <class T>
  void load_as(BlockPlace X, BlockView<double> to) {
    Block<T> rows(to.rows(), to.cols());
    check(cudaMemcpy2DAsync(rows.data(), rows.cols() * sizeof(T), seen(X).data, columns_ * sizeof(T),
                            rows.cols() * sizeof(T), rows.rows(), cudaMemcpyDeviceToHost, stream()),
          "reading a block");
    queue_->wait();
    to = rows.template cast<double>();
  }

  void gram_on_device(BlockPlace X, BlockPlace Y, double* H) {
    const Seen x = seen(X), y = seen(Y);
    const int p = x.columns, tiles = (p + gram_tile - 1) / gram_tile;
    const dim3 shape(parts(), tiles, tiles);
    if (in_double_)
      gram_kernel<double><<<shape, 256, 0, stream()>>>(x.as<double>(), y.as<double>(), x.rows, p, partial_.get());
    else
      gram_kernel<float><<<shape, 256, 0, stream()>>>(x.as<float>(), y.as<float>(), x.rows, p, partial_.get());
    launched("gram_kernel");
    add_partial_grams<<<dim3(gram_tile * gram_tile / 32, tiles, tiles), 256, 0, stream()>>>(partial_.get(), parts(), p,
                                                                                            H);
    launched("add_partial_grams");
  }

  bool has_tiles() const { return columns_ == 32 || columns_ == 64; }

  template <class T, int P>
  void by_tiles(const Pairs& pairs, int count, const double* H, double alpha, double gamma) {
    using Shape = SmallShape<T, P>;
    const auto kernel = block_times_small<T, P>;
    bool& allowed = tiles_allowed_[2 * (P == 64) + (sizeof(T) == sizeof(double))];
    if (!allowed) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::shared_bytes),
            "shared memory for a small product");
      allowed = true;
    }
    const long rows = matrix_->rows_of_blocks();
    const auto shares =
        static_cast<unsigned>(std::clamp<long>((rows + Shape::rows - 1) / Shape::rows, 1, 4l * queue_->processors()));
    kernel<<<dim3(shares, count), Shape::threads, Shape::shared_bytes, stream()>>>(pairs, H, static_cast<T>(alpha),
                                                                                   static_cast<T>(gamma), rows);
    launched("block_times_small");
  }
  void by_tiles(const Pairs& pairs, int count, const double* H, double alpha, double gamma) {
    if (in_double_)
      columns_ == 64 ? by_tiles<double, 64>(pairs, count, H, alpha, gamma)
                     : by_tiles<double, 32>(pairs, count, H, alpha, gamma);
    else
      columns_ == 64 ? by_tiles<float, 64>(pairs, count, H, alpha, gamma)
                     : by_tiles<float, 32>(pairs, count, H, alpha, gamma);
  }

  // Y <- alpha X H + beta Y, in other words Y' <- alpha H'X' + beta Y'.
  void multiply_small(const Seen& X, const double* H, double alpha, double beta, void* Y) {
    const int p = X.columns, rows = static_cast<int>(X.rows);
    if (has_tiles()) return by_tiles({{X.data}, {Y}}, 1, H, alpha, beta);
    if (in_double_) {
      check(cublasDgemm(queue_->blas(), CUBLAS_OP_T, CUBLAS_OP_N, p, rows, p, &alpha, H, p, X.as<double>(), p, &beta,
                        static_cast<double*>(Y), p),
            "a block times a small matrix");
      return;
    }
    const float a = static_cast<float>(alpha), b = static_cast<float>(beta);
    convert_kernel<<<grid(p * p), threads, 0, stream()>>>(H, as_float_.get(), static_cast<long>(p) * p);
    launched("convert_kernel");
    check(cublasSgemm(queue_->blas(), CUBLAS_OP_T, CUBLAS_OP_N, p, rows, p, &a, as_float_.get(), p, X.as<float>(), p,
                      &b, static_cast<float*>(Y), p),
          "a block times a small matrix");
  }
  void turn_all(const std::vector<BlockPlace>& blocks, const double* U) {
    for (const BlockPlace block : blocks) unit_[block] = false;
    if (!has_tiles()) {
      for (const BlockPlace block : blocks) turn_by(block, U);
      return;
    }
    for (std::size_t first = 0; first < blocks.size(); first += most_pairs) {
      const auto count = static_cast<int>(std::min<std::size_t>(most_pairs, blocks.size() - first));
      Pairs pairs = {};
      for (int b = 0; b < count; ++b) pairs.in[b] = pairs.out[b] = seen(blocks[first + b]).data;
      by_tiles(pairs, count, U, 1, 0);
    }
  }
  void turn_by(BlockPlace X, const double* U) {
    multiply_small(seen(X), U, 1, 0, turned_.get());
    std::swap(blocks_[X], turned_);
    if (turned_.size() < bytes()) turned_.resize(bytes());
  }

  Device device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Matrix> matrix_;
  Index columns_ = 0;
  bool in_double_ = false, inverse_allowed_ = false, tiles_allowed_[4] = {};
  std::vector<Array<char>> blocks_;
  std::vector<bool> unit_;  // whose columns have length one
  Array<char> turned_;
  std::vector<Array<double>> smalls_;
  std::vector<Event> arrived_;
  Array<double> inverse_, partial_, norms_;
  Array<float> as_float_;
  std::unique_ptr<Pinned<double>> pinned_;
  std::size_t pinned_size_ = 0;
};

template <class S>
Array<S> sent(const Queue& queue, const BorrowedBlock<S>& A) {
  Array<S> there(static_cast<std::size_t>(A.rows()) * A.cols());
  check(cudaMemcpy2DAsync(there.get(), A.cols() * sizeof(S), A.data(), A.outerStride() * sizeof(S),
                          A.cols() * sizeof(S), A.rows(), cudaMemcpyHostToDevice, queue.stream()),
        "sending a matrix");
  queue.wait();
  return there;
}

std::unique_ptr<Engine> engine_of(Device device, std::unique_ptr<Queue> queue, std::unique_ptr<Matrix> matrix) {
  return std::make_unique<CudaEngine>(std::move(device), std::move(queue), std::move(matrix));
}

}  // namespace

std::vector<Device> devices(std::string* why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();
    if (why != nullptr)
      *why = error == cudaErrorInsufficientDriver ? "no driver of NVIDIA's is there, or one too old for this build"
                                                  : cudaGetErrorString(error);
    return {};
  }
  std::vector<Device> found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp facts;
    check(cudaGetDeviceProperties(&facts, i), "asking what it is");
    found.push_back({i, facts.name, static_cast<std::int64_t>(facts.totalGlobalMem), facts.major, facts.minor});
  }
  if (found.empty() && why != nullptr) *why = "the driver shows no device";
  return found;
}

Device require_device(int number) {
  std::string why;
  const std::vector<Device> found = devices(&why);
  if (found.empty()) throw DeviceError("device = cuda:" + std::to_string(number) + ": there is none: " + why);
  if (number < 0 || number >= static_cast<int>(found.size()))
    throw DeviceError("device = cuda:" + std::to_string(number) + ": there are " + std::to_string(found.size()) +
                      ", counted from 0");
  const Device& device = found[number];
  if (device.major < 8)
    throw DeviceError("device = cuda:" + std::to_string(number) + ": " + device.name + " is of compute capability " +
                      std::to_string(device.major) + "." + std::to_string(device.minor) + ", and 8.0 is the least");
  return device;
}

DeviceBlock block_on_device(const Engine& engine, Engine::BlockPlace place) {
  const auto* there = dynamic_cast<const CudaEngine*>(&engine);
  if (there == nullptr) throw InvalidArgument("engine: is none of a CUDA device");
  there->wait();
  return {there->pointer(place), there->facts().dim, there->columns(), there->in_double()};
}

template <class S>
std::unique_ptr<Engine> dense_engine(int number, const BorrowedBlock<S>& A, bool positive_semidefinite) {
  Device device = require_device(number);
  auto queue = std::make_unique<Queue>(number);
  auto matrix = dense(*queue, sent(*queue, A), A.rows(), positive_semidefinite);
  return engine_of(std::move(device), std::move(queue), std::move(matrix));
}
template <class S>
std::unique_ptr<Engine> dense_engine_on(int number, const S* A, Index dim, bool positive_semidefinite) {
  Device device = require_device(number);
  auto queue = std::make_unique<Queue>(number);
  auto matrix = dense(*queue, A, dim, dim, positive_semidefinite);
  return engine_of(std::move(device), std::move(queue), std::move(matrix));
}
template <class S>
std::unique_ptr<Engine> sparse_engine(int number, const CsrView<S>& A, bool positive_semidefinite) {
  Device device = require_device(number);
  auto queue = std::make_unique<Queue>(number);
  auto matrix = sparse(*queue, A, positive_semidefinite);
  return engine_of(std::move(device), std::move(queue), std::move(matrix));
}
template <class S>
CovarianceEngine covariance_engine(int number, const BorrowedBlock<S>& data, bool centre) {
  Device device = require_device(number);
  auto queue = std::make_unique<Queue>(number);
  Array<S> M = sent(*queue, data);
  const S* at = M.get();
  CovarianceEngine made;
  auto matrix = covariance(*queue, at, std::move(M), data.rows(), data.cols(), centre, made.mean, made.total_variance);
  made.engine = engine_of(std::move(device), std::move(queue), std::move(matrix));
  return made;
}
template <class S>
CovarianceEngine covariance_engine_on(int number, const S* data, Index rows, Index columns, bool centre) {
  Device device = require_device(number);
  auto queue = std::make_unique<Queue>(number);
  CovarianceEngine made;
  auto matrix = covariance(*queue, data, Array<S>(), rows, columns, centre, made.mean, made.total_variance);
  made.engine = engine_of(std::move(device), std::move(queue), std::move(matrix));
  return made;
}

namespace {

class Maker final : public EngineMaker {
 public:
  explicit Maker(int device) : device_(device) {}
  std::unique_ptr<Engine> dense(const BorrowedBlock<double>& A, bool psd) override {
    return dense_engine<double>(device_, A, psd);
  }
  std::unique_ptr<Engine> dense(const BorrowedBlock<float>& A, bool psd) override {
    return dense_engine<float>(device_, A, psd);
  }
  std::unique_ptr<Engine> sparse(const CsrView<double>& A, bool psd) override {
    return sparse_engine<double>(device_, A, psd);
  }
  std::unique_ptr<Engine> sparse(const CsrView<float>& A, bool psd) override {
    return sparse_engine<float>(device_, A, psd);
  }
  CovarianceEngine covariance(const BorrowedBlock<double>& data, bool centre) override {
    return covariance_engine<double>(device_, data, centre);
  }
  CovarianceEngine covariance(const BorrowedBlock<float>& data, bool centre) override {
    return covariance_engine<float>(device_, data, centre);
  }

 private:
  int device_;
};

}  // namespace

std::unique_ptr<EngineMaker> engines(int device) {
  (void)require_device(device);
  return std::make_unique<Maker>(device);
}

template <class S>
std::shared_ptr<S> sent_to_device(int device, ConstBlockView<double> block) {
  (void)require_device(device);
  check(cudaSetDevice(device), "choosing it");
  auto there = std::make_shared<Array<S>>(std::max<std::size_t>(1, static_cast<std::size_t>(block.size())));
  const Block<S> rows = block.template cast<S>();
  check(cudaMemcpy(there->get(), rows.data(), rows.size() * sizeof(S), cudaMemcpyHostToDevice), "sending a block");
  return {there, there->get()};
}

void wait_for_device(int device) {
  (void)require_device(device);
  check(cudaSetDevice(device), "choosing it");
  check(cudaDeviceSynchronize(), "waiting for it");
}

#define HEARSAY_INSTANTIATE(S)                                                          \
  template std::unique_ptr<Engine> dense_engine<S>(int, const BorrowedBlock<S>&, bool); \
  template std::unique_ptr<Engine> dense_engine_on<S>(int, const S*, Index, bool);      \
  template std::unique_ptr<Engine> sparse_engine<S>(int, const CsrView<S>&, bool);      \
  template CovarianceEngine covariance_engine<S>(int, const BorrowedBlock<S>&, bool);   \
  template CovarianceEngine covariance_engine_on<S>(int, const S*, Index, Index, bool); \
  template std::shared_ptr<S> sent_to_device<S>(int, ConstBlockView<double>);
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay::cuda
