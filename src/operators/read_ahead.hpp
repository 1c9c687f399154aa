// Rows read ahead: while the rows of one buffer are multiplied, the next ones are read and decoded by a thread of its
// own, into so many buffers and no more.
//
// What goes wrong there arrives here in its place: after the rows before it. A source that fits one buffer needs no
// thread, and where the system gives none everything is read by the caller. Rows that lie in memory are handed on as
// they are.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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

template <class S>
class ReadAhead {
 public:
  static constexpr int buffers = 3;  // one that is multiplied, one that waits, one that is filled

  /// The source must outlive it, and nobody else may read it between rewind() and the end of a pass.
  ReadAhead(RowSource<S>& source, Index rows_at_once);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() { stop(); }

  /// To the first row of a new pass.
  void rewind();

  /// The next rows, as many as at once but for the last ones; none at the end. They stay until the next call.
  BorrowedBlock<S> next();

  Index rows_at_once() const { return rows_at_once_; }

 private:
  struct Buffer {
    Block<S> rows;
    Index count = 0;
  };

  void fill(Buffer& buffer);
  void begin();
  void read_all();
  void stop();
  bool last(const Buffer& buffer) const { return buffer.count < rows_at_once_; }

  RowSource<S>& source_;
  const Index rows_at_once_;
  const RowsInMemory<S>* const lying_;  // nothing is read, then
  Index lying_next_ = 0;
  std::vector<Buffer> buffer_;
  std::thread thread_;
  bool begun_ = false;  // the first rows have been read
  bool alone_ = false;  // no thread reads: the caller does
  bool ended_ = false;  // the caller has had the last rows
  // What both look at:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0, taken_ = 0;  // buffers so far; those between the two wait, the last taken one is in use
  bool all_ = false, stop_ = false;
  std::exception_ptr failed_;
};

}  // namespace hearsay::detail
