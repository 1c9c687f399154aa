// A symmetric matrix on a device: its products with blocks there, and how far they are off.
#pragma once

#include <memory>
#include <vector>

#include "cuda/device.hpp"
#include "hearsay/engine.hpp"

namespace hearsay::cuda {

/// A block of rows x columns numbers, row-major, of one precision or the other. Rows beyond the matrix are zero.
struct Seen {
  void* data;
  long rows;
  int columns;
  bool in_double;
  bool unit = false;  ///< its columns have length one, or zero

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  long numbers() const { return rows * columns; }
};

class Matrix {
 public:
  virtual ~Matrix() = default;
  virtual long dim() const = 0;
  virtual long rows_of_blocks() const { return dim(); }  ///< with those that are zero
  virtual int column_step() const { return 8; }
  virtual std::vector<Rung> rungs() const = 0;
  virtual bool positive_semidefinite() const = 0;
  virtual int exponent() const { return 0; }
  virtual void renew(const Queue& queue) = 0;
  virtual void multiply(const Queue& queue, Rung rung, const Seen& X, const Seen& Y) = 0;
  virtual ProductError error(const Queue& queue, const Seen& X, const Seen& Y) = 0;
};

/// A power of two to bring the norms of columns to, and the partial sums for it.
class ColumnScale {
 public:
  /// scale(c) ||x_c|| is about 2^exponent.
  const float* of(const Queue& queue, const Seen& X, int exponent);

 private:
  Array<double> partial_;
  Array<float> scale_, of_unit_;
  int unit_exponent_ = 0;
  std::size_t unit_columns_ = 0;
};

/// Rows of a product that are looked at, and what was found there.
class DrawnRows {
 public:
  void draw(const Queue& queue, const Seen& Y, long dim);
  int room() const { return room_; }
  const long* rows() const { return rows_.get(); }
  const int* count() const { return count_.get(); }
  double* exact() { return exact_.get(); }  ///< room x columns, for the caller to fill
  ProductError error(const Queue& queue, const Seen& X, const Seen& Y);

 private:
  int room_ = 0;
  unsigned long draws_ = 0;
  Array<double> squares_, sum_, weight_, exact_, E_, Xw_, along_;
  Array<long> rows_;
  Array<int> count_;
};

/// ||.|| of columns of rows x columns numbers; waits.
Vector<double> column_norms(const Queue& queue, const Seen& X, const Seen* Y, const Vector<double>* theta,
                            Array<double>& work);

}  // namespace hearsay::cuda
