// Where a solve by ladder (ladder.hpp) computes: an engine holds a symmetric matrix and the tall blocks of a solve in
// its own memory, and does with them what a dozen verbs say. Decisions, and all that is p x p, stay with the solver on
// the host. A verb may return before it is done; what reads a number waits for it.
//
// Blocks and small matrices are numbered places. In the words below X, Y, Z are blocks of d rows and p columns, H, U
// small matrices of p x p.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

/// What the factors of a product are rounded to, the cheapest first. Sums are at least of single precision.
enum class Rung {
  fp16,    ///< eleven bits, scaled by powers of two
  tf32,    ///< eleven bits, the range of single precision
  single,  ///< as good as single precision, by whatever means is quickest
  full     ///< double precision
};
HEARSAY_API const char* name(Rung rung);

/// How far Y is from A X, measured in double precision: on all rows, or on those that weigh most and others at random.
struct ProductError {
  Vector<double> norms;  ///< ||A x_i - y_i||
  Small<double> along;   ///< x_j'(y_i - A x_i): what turns one column into another
};

struct EngineFacts {
  Index dim = 0;
  bool positive_semidefinite = false;  ///< known for certain
  int exponent = 0;                    ///< the matrix is 2^exponent times what multiply() computes
  std::vector<Rung> rungs = {};        ///< of products it can make, ascending
  Index column_step = 1;               ///< blocks should be a multiple of so many columns wide
  Index looks_in_flight =
      0;  ///< small matrices that should be asked for before the first is read: 0 where verbs are done when they return
  std::string where = {};  ///< for people
};

class HEARSAY_API Engine {
 public:
  using BlockPlace = int;
  using SmallPlace = int;

  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual EngineFacts facts() const = 0;

  /// Makes places for so many blocks and small matrices; in double precision or single. What block 0 held stays, as far
  /// as there are columns for it; all else is undefined.
  virtual void prepare(Index columns, bool in_double, int blocks, int smalls) = 0;

  /// The matrix's numbers, borrowed, were changed where they lie: what was made of them is to be made anew.
  virtual void renew() = 0;

  // ---- To and from the host
  virtual void fill_normal(std::uint64_t seed, BlockPlace X) = 0;     ///< independent N(0, 1)
  virtual void store(ConstBlockView<double> from, BlockPlace X) = 0;  ///< the first columns; the others stay
  virtual void load(BlockPlace X, BlockView<double> to) = 0;          ///< the first columns
  virtual void store_small(const Small<double>& from, SmallPlace H) = 0;
  virtual void load_small(SmallPlace H, Small<double>& to) = 0;

  // ---- Blocks
  virtual void copy(BlockPlace from, BlockPlace to) = 0;
  virtual void multiply(Rung rung, BlockPlace X, BlockPlace Y) = 0;     ///< Y <- A X
  virtual void gram(BlockPlace X, BlockPlace Y, SmallPlace H) = 0;      ///< H <- X'Y, summed in double
  virtual void subtract(BlockPlace X, SmallPlace H, BlockPlace Y) = 0;  ///< Y <- Y - X H
  virtual void add(BlockPlace X, SmallPlace H, BlockPlace Y) = 0;       ///< Y <- Y + X H
  virtual void turn(BlockPlace X, SmallPlace U) = 0;                    ///< X <- X U

  /// Y <- scale (Y - shift X) - beta Z: a step of the recurrence. Z is not read where beta is zero.
  virtual void combine(BlockPlace Y, double scale, double shift, BlockPlace X, double beta, BlockPlace Z) = 0;

  /// Y = Q R: Y <- Q, and every other W <- W R^-1. A column of Y that rounding cannot tell from the others becomes
  /// zero, and those of the others with it. One pass leaves Q'Q = I to the rounding of Y times the square of its
  /// condition, two to rounding.
  virtual void orthonormalise(BlockPlace Y, const std::vector<BlockPlace>& others, int passes) = 0;

  // ---- What is measured
  virtual Vector<double> residuals(BlockPlace X, BlockPlace Y,
                                   const Vector<double>& theta) = 0;  ///< ||y_i - theta_i x_i||
  virtual ProductError product_error(BlockPlace X, BlockPlace Y) = 0;
};

}  // namespace hearsay
