// Readings that may end early: by whoever watches, by a budget of passes, or because the source fails.
//
// The first reading is the last chance to refuse: what goes wrong there is thrown. Later the solver has a basis, and a
// product that could not be made is handed to it as one that is not finite, upon which it ends with the best basis so
// far, measured as always. Why it ended is told here.
#pragma once

#include <atomic>
#include <limits>
#include <optional>
#include <string>

#include "hearsay/error.hpp"
#include "hearsay/operator.hpp"
#include "hearsay/power.hpp"
#include "hearsay/reading.hpp"

namespace hearsay::detail {

/// Rows that end where somebody says so.
template <class S>
class StoppableRows final : public RowSource<S> {
 public:
  explicit StoppableRows(RowSource<S>& source) : source_(source) {}

  Index cols() const override { return source_.cols(); }
  std::optional<Index> rows() const override { return source_.rows(); }
  std::uint64_t bytes_per_pass() const override { return source_.bytes_per_pass(); }
  std::string name() const override { return source_.name(); }
  void rewind() override { source_.rewind(); }
  Index read(BlockView<S> out) override { return stopped_ ? 0 : source_.read(out); }

  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

 private:
  RowSource<S>& source_;
  std::atomic<bool> stopped_ = false;
};

class StoppableSparseRows final : public SparseRowSource {
 public:
  explicit StoppableSparseRows(SparseRowSource& source) : source_(source) {}

  Index cols() const override { return source_.cols(); }
  std::optional<Index> rows() const override { return source_.rows(); }
  std::int64_t entries() const override { return source_.entries(); }
  std::string name() const override { return source_.name(); }
  void rewind() override { source_.rewind(); }
  Index read_sparse(Index count, CsrMatrix<double>& out) override {
    return source_.read_sparse(stopped_ ? 0 : count, out);
  }

  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

 private:
  SparseRowSource& source_;
  std::atomic<bool> stopped_ = false;
};

/// Why readings came to an end before the solver did.
struct EarlyEnd {
  std::optional<Status> status = {};
  std::string note = {};
};

/// Thrown by a watcher of readings, and caught by GuardedProducts.
struct ReadingStopped {};

/// Products with a streamed covariance.
template <class Covariance>
class GuardedProducts {
 public:
  using Scalar = typename Covariance::Scalar;

  GuardedProducts(const Covariance& A, std::optional<Index> most) : A_(A), most_(most) {}

  Index dim() const { return A_.dim(); }
  OperatorFacts facts() const { return A_.facts(); }
  void apply(ConstBlockView<Scalar> X, BlockView<Scalar> Y) const {
    if (end_.status || (most_ && made_ >= *most_)) {
      if (!end_.status) end_.status = Status::iteration_limit;
      return Y.setConstant(std::numeric_limits<Scalar>::quiet_NaN()), void();
    }
    try {
      A_.apply(X, Y);
      ++made_;
    } catch (const ReadingStopped&) {
      end_.status = Status::stopped_by_observer;
    } catch (const DataError& error) {
      if (made_ == 0) throw;
      end_.status = Status::breakdown;
      end_.note = error.what();
    }
    if (end_.status) Y.setConstant(std::numeric_limits<Scalar>::quiet_NaN());
  }

  Index made() const { return made_; }
  const EarlyEnd& end() const { return end_; }

 private:
  const Covariance& A_;
  const std::optional<Index> most_;
  mutable Index made_ = 0;
  mutable EarlyEnd end_;
};

}  // namespace hearsay::detail
