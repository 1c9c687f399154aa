#include "operators/read_ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace hearsay::detail {

template <class Buffer>
void FilledAhead<Buffer>::stop() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  filled_ = taken_ = 0;
  all_ = stop_ = begun_ = alone_ = ended_ = false;
  failed_ = nullptr;
}

// The first rows are read by the caller: there is nothing yet to do beside it.
template <class Buffer>
void FilledAhead<Buffer>::begin() {
  fill(buffer_[0]);
  begun_ = true;
  filled_ = 1;
  all_ = buffer_[0].last;
  if (all_) return;
  try {
    thread_ = std::thread([this] { fill_all(); });
  } catch (const std::system_error&) {
    alone_ = true;
  }
}

template <class Buffer>
void FilledAhead<Buffer>::fill_all() {
  for (bool more = true; more;) {
    std::unique_lock lock(mutex_);
    // The buffer taken last is in use until the next is asked for.
    changed_.wait(lock, [this] { return stop_ || filled_ - taken_ < read_ahead_buffers - 1; });
    if (stop_) return;
    Place& place = buffer_[filled_ % read_ahead_buffers];
    lock.unlock();
    std::exception_ptr failed;
    try {
      fill(place);
      more = !place.last;
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

template <class Buffer>
const Buffer* FilledAhead<Buffer>::next() {
  if (ended_) return nullptr;
  if (!begun_) {
    begin();
  } else if (alone_) {
    fill(buffer_[filled_ % read_ahead_buffers]);
    ++filled_;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ > taken_ || all_; });
  if (filled_ == taken_) {
    ended_ = true;
    if (failed_) std::rethrow_exception(failed_);
    return nullptr;
  }
  const Place& place = buffer_[taken_ % read_ahead_buffers];
  ++taken_;
  ended_ = place.last;
  lock.unlock();
  changed_.notify_all();
  return &place.buffer;
}

template class FilledAhead<RowBuffer<float>>;
template class FilledAhead<RowBuffer<double>>;
template class FilledAhead<CsrMatrix<double>>;

template <class S>
ReadAhead<S>::ReadAhead(RowSource<S>& source, Index rows_at_once)
    : source_(source),
      rows_at_once_(rows_at_once),
      lying_(dynamic_cast<const RowsInMemory<S>*>(&source)),
      filled_([this](RowBuffer<S>& buffer) {
        if (buffer.rows.rows() == 0) buffer.rows.resize(rows_at_once_, source_.cols());
        buffer.count = source_.read(buffer.rows);
        return buffer.count < rows_at_once_;
      }) {}

template <class S>
void ReadAhead<S>::rewind() {
  filled_.stop();
  lying_next_ = 0;
  if (!lying_) source_.rewind();
}

template <class S>
BorrowedBlock<S> ReadAhead<S>::next() {
  if (lying_) {
    const Index count = std::min(rows_at_once_, lying_->data().rows() - lying_next_),
                stride = lying_->data().outerStride();
    const S* const first = lying_->data().data() + std::exchange(lying_next_, lying_next_ + count) * stride;
    return {first, count, lying_->cols(), Eigen::OuterStride<>(stride)};
  }
  const RowBuffer<S>* const buffer = filled_.next();
  const Eigen::OuterStride<> stride(source_.cols());
  if (buffer == nullptr) return {nullptr, 0, source_.cols(), stride};
  return {buffer->rows.data(), buffer->count, source_.cols(), stride};
}

template class ReadAhead<float>;
template class ReadAhead<double>;

SparseReadAhead::SparseReadAhead(SparseRowSource& source, Index rows_at_once)
    : source_(source), filled_([this, rows_at_once](CsrMatrix<double>& buffer) {
        return source_.read_sparse(rows_at_once, buffer) < rows_at_once;
      }) {}

void SparseReadAhead::rewind() {
  filled_.stop();
  source_.rewind();
}

CsrView<double> SparseReadAhead::next() {
  const CsrMatrix<double>* const buffer = filled_.next();
  return buffer == nullptr ? CsrView<double>{.cols = source_.cols()} : borrow(*buffer);
}

}  // namespace hearsay::detail
