#include "linalg/scratch.hpp"

#include <pthread.h>

#include <cstring>
#include <new>

namespace hearsay::detail {
namespace {

constexpr std::align_val_t cache_line{64};

void give_back(void* first) {
  for (auto* buffer = static_cast<ScratchBuffer*>(first); buffer != nullptr; buffer = buffer->next)
    ::operator delete(buffer->memory, cache_line);
}

// Its value is the first buffer of a thread, and its destructor runs while those are still there.
pthread_key_t end_of_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, give_back) != 0) throw std::bad_alloc();
    return made;
  }();
  return key;
}

void make_known(ScratchBuffer& buffer) {
  const pthread_key_t key = end_of_thread();
  buffer.next = static_cast<ScratchBuffer*>(pthread_getspecific(key));
  if (pthread_setspecific(key, &buffer) != 0) throw std::bad_alloc();
  buffer.known = true;
}

}  // namespace

void grow(ScratchBuffer& buffer, std::size_t bytes) {
  if (!buffer.known) make_known(buffer);
  void* memory = ::operator new(bytes, cache_line);
  std::memset(memory, 0, bytes);
  ::operator delete(buffer.memory, cache_line);
  buffer.memory = memory;
  buffer.bytes = bytes;
}

}  // namespace hearsay::detail
