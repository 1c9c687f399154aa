#include "operators/read_ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace hearsay::detail {

template <class S>
ReadAhead<S>::ReadAhead(RowSource<S>& source, Index rows_at_once)
    : source_(source),
      rows_at_once_(rows_at_once),
      lying_(dynamic_cast<const RowsInMemory<S>*>(&source)),
      buffer_(buffers) {}

template <class S>
void ReadAhead<S>::fill(Buffer& buffer) {
  if (buffer.rows.rows() == 0) buffer.rows.resize(rows_at_once_, source_.cols());
  buffer.count = source_.read(buffer.rows);
}

template <class S>
void ReadAhead<S>::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

template <class S>
void ReadAhead<S>::rewind() {
  stop();
  lying_next_ = 0;
  if (lying_) return;
  source_.rewind();
  filled_ = taken_ = 0;
  all_ = stop_ = begun_ = alone_ = ended_ = false;
  failed_ = nullptr;
}

// The first rows are read by the caller: there is nothing yet to do beside it.
template <class S>
void ReadAhead<S>::begin() {
  fill(buffer_[0]);
  begun_ = true;
  filled_ = 1;
  all_ = last(buffer_[0]);
  if (all_) return;
  try {
    thread_ = std::thread([this] { read_all(); });
  } catch (const std::system_error&) {
    alone_ = true;
  }
}

template <class S>
void ReadAhead<S>::read_all() {
  for (bool more = true; more;) {
    std::unique_lock lock(mutex_);
    // The buffer taken last is in use until the next is asked for.
    changed_.wait(lock, [this] { return stop_ || filled_ - taken_ < buffers - 1; });
    if (stop_) return;
    Buffer& buffer = buffer_[filled_ % buffers];
    lock.unlock();
    std::exception_ptr failed;
    try {
      fill(buffer);
      more = !last(buffer);
    } catch (...) {
      failed = std::current_exception();
      more = false;
    }
    lock.lock();
    if (failed)
      failed_ = failed;
    else
      ++filled_;
    all_ = !more;
    lock.unlock();
    changed_.notify_all();
  }
}

template <class S>
BorrowedBlock<S> ReadAhead<S>::next() {
  if (lying_) {
    const Index count = std::min(rows_at_once_, lying_->data().rows() - lying_next_),
                stride = lying_->data().outerStride();
    const S* const first = lying_->data().data() + std::exchange(lying_next_, lying_next_ + count) * stride;
    return {first, count, lying_->cols(), Eigen::OuterStride<>(stride)};
  }
  const auto nothing = [this] {
    return BorrowedBlock<S>(nullptr, 0, source_.cols(), Eigen::OuterStride<>(source_.cols()));
  };
  if (ended_) return nothing();
  if (!begun_) {
    begin();
  } else if (alone_) {
    fill(buffer_[filled_ % buffers]);
    ++filled_;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ > taken_ || all_; });
  if (filled_ == taken_) {
    ended_ = true;
    if (failed_) std::rethrow_exception(failed_);
    return nothing();
  }
  const Buffer& buffer = buffer_[taken_ % buffers];
  ++taken_;
  ended_ = last(buffer);
  lock.unlock();
  changed_.notify_all();
  return {buffer.rows.data(), buffer.count, source_.cols(), Eigen::OuterStride<>(source_.cols())};
}

template class ReadAhead<float>;
template class ReadAhead<double>;

}  // namespace hearsay::detail
