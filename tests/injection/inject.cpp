// Loaded before a program (LD_PRELOAD), makes the n-th call of one kind fail, as a full disk, a table of open files at
// its limit or a machine out of memory would.
//   INJECT_KIND  open, read, write, sync, rename, thread or memory
//   INJECT_AT    which call fails, from 1; 0: none
//   INJECT_HOW   kill: the process is killed in that call, a write in the middle of its bytes
//   INJECT_LOG   where to write, at the end, how many there were
// Calls count from main() on: what fails before it is none of the program's.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace {

enum Kind { no_kind, opening, reading, writing, syncing, renaming, threading, allocating };

Kind chosen = no_kind;
long fail_at = 0;
bool killing = false;
std::atomic<long> calls{0};
std::atomic<bool> in_main{false};

void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

// Whether this call of that kind is the one to fail.
bool is_turn_of(Kind kind) {
  if (kind != chosen || !in_main.load(std::memory_order_relaxed)) return false;
  return calls.fetch_add(1, std::memory_order_relaxed) + 1 == fail_at;
}

bool fails(Kind kind, int error) {
  if (!is_turn_of(kind)) return false;
  if (killing) raise(SIGKILL);
  errno = error;
  return true;
}

Kind kind_named(const char* name) {
  const char* names[] = {"", "open", "read", "write", "sync", "rename", "thread", "memory"};
  for (int kind = opening; kind <= allocating; ++kind)
    if (name != nullptr && strcmp(name, names[kind]) == 0) return static_cast<Kind>(kind);
  return no_kind;
}

void tell() {
  in_main = false;
  const char* path = getenv("INJECT_LOG");
  if (path == nullptr) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", calls.load());
  const auto real_open = reinterpret_cast<int (*)(const char*, int, ...)>(next("open"));
  const auto real_write = reinterpret_cast<ssize_t (*)(int, const void*, size_t)>(next("write"));
  const int file = real_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  static_cast<void>(!real_write(file, text, static_cast<size_t>(length)));
  close(file);
}

int (*real_main)(int, char**, char**) = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  chosen = kind_named(getenv("INJECT_KIND"));
  const char* at = getenv("INJECT_AT");
  fail_at = at == nullptr ? 0 : atol(at);
  const char* how = getenv("INJECT_HOW");
  killing = how != nullptr && strcmp(how, "kill") == 0;
  atexit(tell);
  in_main = true;
  const int code = real_main(argc, argv, environment);
  in_main = false;
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*program)(int, char**, char**), int argc, char** argv, int (*init)(int, char**, char**),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  real_main = program;
  return reinterpret_cast<decltype(&__libc_start_main)>(next("__libc_start_main"))(counted_main, argc, argv, init, fini,
                                                                                   rtld_fini, stack_end);
}

// mode is read where it was given.
#define HEARSAY_OPEN(name)                                                                       \
  int name(const char* path, int flags, ...) {                                                   \
    static const auto real = reinterpret_cast<int (*)(const char*, int, ...)>(next(#name));      \
    va_list rest;                                                                                \
    va_start(rest, flags);                                                                       \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : mode_t{0}; \
    va_end(rest);                                                                                \
    return fails(opening, EMFILE) ? -1 : real(path, flags, mode);                                \
  }
HEARSAY_OPEN(open)
HEARSAY_OPEN(open64)

int mkstemp(char* path) {
  static const auto real = reinterpret_cast<int (*)(char*)>(next("mkstemp"));
  return fails(opening, EMFILE) ? -1 : real(path);
}
int mkostemp(char* path, int flags) {
  static const auto real = reinterpret_cast<int (*)(char*, int)>(next("mkostemp"));
  return fails(opening, EMFILE) ? -1 : real(path, flags);
}
FILE* fopen(const char* path, const char* mode) {
  static const auto real = reinterpret_cast<FILE* (*)(const char*, const char*)>(next("fopen"));
  return fails(opening, EMFILE) ? nullptr : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  static const auto real = reinterpret_cast<FILE* (*)(const char*, const char*)>(next("fopen64"));
  return fails(opening, EMFILE) ? nullptr : real(path, mode);
}

ssize_t read(int file, void* buffer, size_t count) {
  static const auto real = reinterpret_cast<ssize_t (*)(int, void*, size_t)>(next("read"));
  return fails(reading, EIO) ? -1 : real(file, buffer, count);
}
ssize_t write(int file, const void* buffer, size_t count) {
  static const auto real = reinterpret_cast<ssize_t (*)(int, const void*, size_t)>(next("write"));
  if (!is_turn_of(writing)) return real(file, buffer, count);
  if (killing) {
    static_cast<void>(!real(file, buffer, count / 2));
    raise(SIGKILL);
  }
  errno = ENOSPC;
  return -1;
}
int fsync(int file) {
  static const auto real = reinterpret_cast<int (*)(int)>(next("fsync"));
  return fails(syncing, EIO) ? -1 : real(file);
}
int fdatasync(int file) {
  static const auto real = reinterpret_cast<int (*)(int)>(next("fdatasync"));
  return fails(syncing, EIO) ? -1 : real(file);
}
int rename(const char* from, const char* to) {
  static const auto real = reinterpret_cast<int (*)(const char*, const char*)>(next("rename"));
  return fails(renaming, EIO) ? -1 : real(from, to);
}
int renameat(int a, const char* from, int b, const char* to) {
  static const auto real = reinterpret_cast<int (*)(int, const char*, int, const char*)>(next("renameat"));
  return fails(renaming, EIO) ? -1 : real(a, from, b, to);
}
int linkat(int a, const char* from, int b, const char* to, int flags) {
  static const auto real = reinterpret_cast<int (*)(int, const char*, int, const char*, int)>(next("linkat"));
  return fails(renaming, EIO) ? -1 : real(a, from, b, to, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  static const auto real =
      reinterpret_cast<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(next("pthread_create"));
  return fails(threading, EAGAIN) ? EAGAIN : real(thread, how, run, with);
}

#ifndef HEARSAY_INJECT_NO_MEMORY
// The allocator itself is reached by glibc's own names: dlsym() allocates.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) { return fails(allocating, ENOMEM) ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails(allocating, ENOMEM) ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return fails(allocating, ENOMEM) ? nullptr : __libc_realloc(old, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails(allocating, ENOMEM) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (fails(allocating, ENOMEM)) return ENOMEM;
  *out = __libc_memalign(alignment, bytes);
  return *out == nullptr ? ENOMEM : 0;
}
#endif

}  // extern "C"
