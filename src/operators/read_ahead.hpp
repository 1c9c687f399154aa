// Rows read ahead: while the rows of one buffer are multiplied, the next ones are read and decoded by a thread of its
// own, into so many buffers and no more.
//
// What goes wrong there arrives here in its place: after the rows before it. A source that fits one buffer needs no
// thread, and where the system gives none everything is read by the caller. Rows that lie in memory are handed on as
// they are.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "hearsay/csr.hpp"
#include "hearsay/reading.hpp"

namespace hearsay::detail {

/// Rows that lie in memory for as long as the source lives.
template <class S>
class RowsInMemory : public RowSource<S> {
 public:
  explicit RowsInMemory(const BorrowedBlock<S>& data) : data_(data) {}

  const BorrowedBlock<S>& data() const { return data_; }
  Index cols() const override { return data_.cols(); }
  std::optional<Index> rows() const override { return data_.rows(); }
  std::string name() const override { return "data"; }
  void rewind() override { next_ = 0; }
  Index read(BlockView<S> out) override {
    const Index count = std::min(out.rows(), data_.rows() - next_);
    out.topRows(count) = data_.middleRows(next_, count);
    next_ += count;
    return count;
  }

 private:
  const BorrowedBlock<S> data_;
  Index next_ = 0;
};

/// Rows of a buffer, of which the last may be fewer.
template <class S>
struct RowBuffer {
  Block<S> rows = {};
  Index count = 0;
};

inline constexpr int read_ahead_buffers = 3;  // one that is multiplied, one that waits, one that is filled

template <class Buffer>
class FilledAhead {
 public:
  /// Fills a buffer and says whether it is the last one. Called one at a time, not always from the same thread.
  using Fill = std::function<bool(Buffer&)>;

  explicit FilledAhead(Fill fill) : fill_(std::move(fill)), buffer_(read_ahead_buffers) {}
  FilledAhead(const FilledAhead&) = delete;
  FilledAhead& operator=(const FilledAhead&) = delete;
  ~FilledAhead() { stop(); }

  /// No buffer is filled from here on until the next one is asked for, which is then the first again.
  void stop();

  /// The next buffer, which stays until the next call; none after the last one.
  const Buffer* next();

 private:
  struct Place {
    Buffer buffer = {};
    bool last = false;
  };

  void begin();
  void fill_all();
  void fill(Place& place) { place.last = fill_(place.buffer); }

  const Fill fill_;
  std::vector<Place> buffer_;
  std::thread thread_;
  bool begun_ = false;  // the first buffer has been filled
  bool alone_ = false;  // no thread fills: the caller does
  bool ended_ = false;  // the caller has had the last one
  // What both look at:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0, taken_ = 0;  // buffers so far; those between the two wait, the last taken one is in use
  bool all_ = false, stop_ = false;
  std::exception_ptr failed_;
};

template <class S>
class ReadAhead {
 public:
  static constexpr int buffers = read_ahead_buffers;

  /// The source must outlive it, and nobody else may read it between rewind() and the end of a pass.
  ReadAhead(RowSource<S>& source, Index rows_at_once);

  /// To the first row of a new pass.
  void rewind();

  /// The next rows, as many as at once but for the last ones; none at the end. They stay until the next call.
  BorrowedBlock<S> next();

  Index rows_at_once() const { return rows_at_once_; }

 private:
  RowSource<S>& source_;
  const Index rows_at_once_;
  const RowsInMemory<S>* const lying_;  // nothing is read, then
  Index lying_next_ = 0;
  FilledAhead<RowBuffer<S>> filled_;
};

/// The same of rows without their zeros.
class SparseReadAhead {
 public:
  SparseReadAhead(SparseRowSource& source, Index rows_at_once);

  void rewind();
  CsrView<double> next();

 private:
  SparseRowSource& source_;
  FilledAhead<CsrMatrix<double>> filled_;
};

}  // namespace hearsay::detail
