// Matrices whose memory is ours. Eigen's own are allocated and freed as EIGEN_MAX_ALIGN_BYTES and the instruction set
// say when a file is compiled: two files that disagree must not share one. These any two files may share.
//
// To Eigen an OwnedMatrix is a matrix like its own: every expression, view and product takes it. What differs is below
// PlainObjectBase, in DenseStorage: that class is chosen by the options of a matrix, and ours has one that no other
// has. (Eigen 3.4; its internals are named in this file and nowhere else.)
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace hearsay {

using Index = Eigen::Index;

template <class S, int Cols, int Order>
class OwnedMatrix;

namespace detail {

/// Where every OwnedMatrix begins: on a cache line, so that no load of up to 64 bytes crosses two.
inline constexpr std::size_t owned_alignment = 64;

/// The option of OwnedMatrix that is none of Eigen's.
inline constexpr int owned_option = 1 << 16;

// The first byte on a cache line of what malloc gave; there is room for a pointer before it.
inline std::byte* aligned_within(void* whole) noexcept {
  static_assert(alignof(std::max_align_t) >= sizeof(void*));
  const std::size_t past = reinterpret_cast<std::uintptr_t>(whole) % owned_alignment;
  std::byte* const data = static_cast<std::byte*>(whole) + (owned_alignment - past);
  std::memcpy(data - sizeof(void*), &whole, sizeof(void*));
  return data;
}

inline void* whole_of(const void* data) noexcept {
  void* whole;
  std::memcpy(&whole, static_cast<const std::byte*>(data) - sizeof(void*), sizeof(void*));
  return whole;
}

inline void free_owned(void* data) noexcept {
  if (data != nullptr) std::free(whole_of(data));
}

/// Throws std::bad_alloc. Nothing is allocated for nothing.
inline void* allocate_owned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const whole = std::malloc(bytes + owned_alignment);
  if (whole == nullptr) throw std::bad_alloc();
  return aligned_within(whole);
}

/// What fits of the old bytes is kept. Throws std::bad_alloc, and everything stays as it was. A large one may stay
/// where it is, which needs no second copy in memory.
inline void* reallocate_owned(void* data, std::size_t bytes_before, std::size_t bytes) {
  if (data == nullptr) return allocate_owned(bytes);
  if (bytes == 0) return free_owned(data), nullptr;
  void* whole = whole_of(data);
  const auto offset = static_cast<std::byte*>(data) - static_cast<std::byte*>(whole);
  whole = std::realloc(whole, bytes + owned_alignment);
  if (whole == nullptr) throw std::bad_alloc();
  std::byte* const moved = static_cast<std::byte*>(whole) + offset;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(whole) % owned_alignment;
  std::byte* const begin = static_cast<std::byte*>(whole) + (owned_alignment - past);
  if (moved != begin) std::memmove(begin, moved, std::min(bytes_before, bytes));
  return aligned_within(whole);
}

/// rows x cols numbers and their memory. What needs new memory gets it before the old is given back: a matrix that
/// could not be resized is what it was.
template <class S, int Cols>
class OwnedStorage {
  static_assert(std::is_trivially_copyable_v<S> && alignof(S) <= owned_alignment);

 public:
  OwnedStorage() = default;
  explicit OwnedStorage(Eigen::internal::constructor_without_unaligned_array_assert) {}
  OwnedStorage(Index count, Index rows, Index cols)
      : data_(static_cast<S*>(allocate_owned(bytes(count)))), rows_(rows), cols_(cols) {}
  OwnedStorage(const OwnedStorage& other) : OwnedStorage(other.rows() * other.cols(), other.rows(), other.cols()) {
    if (data_ != nullptr) std::memcpy(data_, other.data_, bytes(rows() * cols()));
  }
  OwnedStorage(OwnedStorage&& other) noexcept { swap(other); }
  OwnedStorage& operator=(OwnedStorage other) noexcept {
    swap(other);
    return *this;
  }
  ~OwnedStorage() { free_owned(data_); }

  void swap(OwnedStorage& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
  }

  Index rows() const noexcept { return rows_; }
  Index cols() const noexcept { return Cols == Eigen::Dynamic ? cols_ : Cols; }
  S* data() noexcept { return data_; }
  const S* data() const noexcept { return data_; }

  /// What it holds is lost, unless there are as many numbers as before.
  void resize(Index count, Index rows, Index cols) {
    if (count != this->rows() * this->cols()) {
      void* const fresh = allocate_owned(bytes(count));
      free_owned(data_);
      data_ = static_cast<S*>(fresh);
    }
    rows_ = rows;
    cols_ = cols;
  }

  /// The numbers stay, in the order they lie in.
  void conservativeResize(Index count, Index rows, Index cols) {
    data_ = static_cast<S*>(reallocate_owned(data_, bytes(this->rows() * this->cols()), bytes(count)));
    rows_ = rows;
    cols_ = cols;
  }

 private:
  static std::size_t bytes(Index count) {
    constexpr std::size_t most = (std::numeric_limits<std::size_t>::max() / 2 - owned_alignment) / sizeof(S);
    if (static_cast<std::size_t>(count) > most) throw std::bad_alloc();
    return static_cast<std::size_t>(count) * sizeof(S);
  }

  S* data_ = nullptr;
  Index rows_ = 0, cols_ = 0;
};

}  // namespace detail
}  // namespace hearsay

namespace Eigen {

template <class S>
class DenseStorage<S, Dynamic, Dynamic, Dynamic, hearsay::detail::owned_option>
    : public hearsay::detail::OwnedStorage<S, Dynamic> {
 public:
  using hearsay::detail::OwnedStorage<S, Dynamic>::OwnedStorage;
};

template <class S>
class DenseStorage<S, Dynamic, Dynamic, 1, hearsay::detail::owned_option> : public hearsay::detail::OwnedStorage<S, 1> {
 public:
  using hearsay::detail::OwnedStorage<S, 1>::OwnedStorage;
};

namespace internal {

template <class S, int Cols, int Order>
struct traits<hearsay::OwnedMatrix<S, Cols, Order>> : traits<Matrix<S, Dynamic, Cols, Order>> {
  enum { Options = hearsay::detail::owned_option, Alignment = int{hearsay::detail::owned_alignment} };
};

template <class S, int Cols, int Order>
struct evaluator<hearsay::OwnedMatrix<S, Cols, Order>>
    : evaluator<PlainObjectBase<hearsay::OwnedMatrix<S, Cols, Order>>> {
  using XprType = hearsay::OwnedMatrix<S, Cols, Order>;
  evaluator() = default;
  explicit evaluator(const XprType& matrix) : evaluator<PlainObjectBase<XprType>>(matrix) {}
};

template <class S, int Cols, int Order>
struct eval<hearsay::OwnedMatrix<S, Cols, Order>, Dense> {
  using type = const hearsay::OwnedMatrix<S, Cols, Order>&;
};

}  // namespace internal
}  // namespace Eigen

namespace hearsay {

/// As Eigen::Matrix<S, Eigen::Dynamic, Cols, Order>, with memory that begins on a cache line and does not depend on how
/// Eigen was configured. Cols is Eigen::Dynamic or 1.
template <class S, int Cols, int Order>
class OwnedMatrix : public Eigen::PlainObjectBase<OwnedMatrix<S, Cols, Order>> {
  using Plain = Eigen::PlainObjectBase<OwnedMatrix>;

 public:
  // Eigen's decompositions and maps ask these two of a matrix: its order, and whether its options are Eigen's.
  enum { Options = Order };
  using Base = OwnedMatrix;
  static void _check_template_params() {}

  using Scalar = S;
  using Nested = typename Eigen::internal::ref_selector<OwnedMatrix>::type;

  OwnedMatrix() = default;
  OwnedMatrix(const OwnedMatrix&) = default;
  OwnedMatrix(OwnedMatrix&&) noexcept = default;

  /// Of numbers that are not set.
  OwnedMatrix(Index rows, Index cols) { Plain::resize(rows, cols); }
  explicit OwnedMatrix(Index size) requires(Cols == 1) { Plain::resize(size); }

  /// Row by row; a vector also from one row of numbers.
  explicit OwnedMatrix(std::initializer_list<std::initializer_list<S>> rows) {
    const Index height = static_cast<Index>(rows.size());
    const Index width = height == 0 ? 0 : static_cast<Index>(rows.begin()->size());
    const bool lies = Cols == 1 && height == 1;
    Plain::resize(lies ? width : height, lies ? 1 : width);
    S* next = Plain::data();
    for (Index j = 0; j < (Order == Eigen::RowMajor ? 1 : width); ++j)
      for (const auto& row : rows) {
        eigen_assert(static_cast<Index>(row.size()) == width);
        if (Order == Eigen::RowMajor)
          next = std::copy(row.begin(), row.end(), next);
        else
          *next++ = row.begin()[j];
      }
  }

  template <class Expression>
  OwnedMatrix(const Eigen::DenseBase<Expression>& expression) {
    Plain::resizeLike(expression);
    Plain::_set_noalias(expression);
  }
  template <class Expression>
  OwnedMatrix(const Eigen::EigenBase<Expression>& expression) {
    Plain::resizeLike(expression);
    *this = expression.derived();
  }
  template <class Expression>
  OwnedMatrix(const Eigen::ReturnByValue<Expression>& expression) {
    Plain::resize(expression.rows(), expression.cols());
    expression.evalTo(*this);
  }

  OwnedMatrix& operator=(const OwnedMatrix& other) { return Plain::_set(other); }
  OwnedMatrix& operator=(OwnedMatrix&& other) noexcept {
    this->m_storage.swap(other.m_storage);
    return *this;
  }
  template <class Expression>
  OwnedMatrix& operator=(const Eigen::DenseBase<Expression>& expression) {
    return Plain::_set(expression);
  }
  template <class Expression>
  OwnedMatrix& operator=(const Eigen::EigenBase<Expression>& expression) {
    return Plain::operator=(expression);
  }
  template <class Expression>
  OwnedMatrix& operator=(const Eigen::ReturnByValue<Expression>& expression) {
    return Plain::operator=(expression);
  }

  static constexpr Index innerStride() noexcept { return 1; }
  Index outerStride() const noexcept { return this->innerSize(); }

 private:
  template <class Derived, class Other, bool is_vector>
  friend struct Eigen::internal::conservative_resize_like_impl;
};

}  // namespace hearsay
