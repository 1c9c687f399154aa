// A product with the covariance of rows that pass by, in two halves: lanes (row_pass.hpp), which sum up the rows that
// they are given, and a pass, which adds up the lanes of one process or of several.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hearsay/reading.hpp"
#include "operators/lane_rows.hpp"

namespace hearsay::detail {

template <class S>
struct ProductLane {
  Block<S> Y = {};
  Vector<double> sums = {};
  double squares = 0;
};

template <class S>
class ProductLanes {
 public:
  virtual ~ProductLanes() = default;

  /// Reads all rows of the part: Y of each lane <- its sum (x - shift)(x - shift)'X; with `first` also the sums of
  /// x - shift and of their squares. Says how many rows there were.
  virtual Index read(ConstBlockView<S> X, bool first) = 0;

  /// From the first rows of the source, which goes to its beginning.
  virtual void find_shift() = 0;
  /// As near to the mean as the rows can be shifted.
  virtual void shift_to(const Vector<S>& mean) { shift_ = mean; }

  void set_shift(Vector<S> shift) { shift_ = std::move(shift), shift_found_ = true; }
  const Vector<S>& shift() const { return shift_; }
  std::vector<ProductLane<S>>& lanes() { return lanes_; }

 protected:
  Vector<S> shift_ = {};
  bool shift_found_ = false;  // otherwise by the first rows of the first reading
  std::vector<ProductLane<S>> lanes_ = {};
};

/// Lanes of a product, dealt to the part.
inline constexpr Index product_lane_count = 8;
Leaves leaves_of_products(Index columns);
Leaves leaves_of_sparse_products();

template <class S, class Stored>
std::unique_ptr<ProductLanes<S>> product_lanes(RowSource<Stored>& source, bool center, ReadingOptions reading,
                                               ReadingPart part = {});
std::unique_ptr<ProductLanes<double>> product_lanes(SparseRowSource& source, bool center, ReadingOptions reading,
                                                    ReadingPart part = {});

template <class S>
class StreamPass {
 public:
  virtual ~StreamPass() = default;

  /// Y <- sum (x - shift)(x - shift)'X of all rows, and how many they are; `first` as above.
  virtual Index multiply(ConstBlockView<S> X, BlockView<S> Y, bool first) = 0;
  virtual void shift_to(const Vector<S>& mean) = 0;
  virtual const Vector<S>& shift() const = 0;

  const Vector<double>& sums() const { return sums_; }
  double squares() const { return squares_; }

 protected:
  // Lanes one after the other, in their order.
  void begin_adding() { next_ = 0; }
  void add(const ProductLane<S>& lane, BlockView<S> Y) {
    if (next_++ == 0) {
      Y = lane.Y;
      sums_ = lane.sums;
      squares_ = lane.squares;
    } else {
      Y += lane.Y;
      sums_ += lane.sums;
      squares_ += lane.squares;
    }
  }

 private:
  Index next_ = 0;
  Vector<double> sums_ = {};
  double squares_ = 0;
};

/// All lanes are here.
template <class S>
class WholePass final : public StreamPass<S> {
 public:
  explicit WholePass(std::unique_ptr<ProductLanes<S>> lanes) : lanes_(std::move(lanes)) {}

  Index multiply(ConstBlockView<S> X, BlockView<S> Y, bool first) override {
    const Index count = lanes_->read(X, first);
    this->begin_adding();
    for (const ProductLane<S>& lane : lanes_->lanes()) this->add(lane, Y);
    return count;
  }
  void shift_to(const Vector<S>& mean) override { lanes_->shift_to(mean); }
  const Vector<S>& shift() const override { return lanes_->shift(); }

 private:
  std::unique_ptr<ProductLanes<S>> lanes_;
};

}  // namespace hearsay::detail
