// The principal subspace of a positive semidefinite matrix by products as cheap as the accuracy allows
// (docs/algorithms/low-precision.md). A solve climbs: the paper's iteration on rounded products, to where their
// rounding ends its use; then one accurate product, and steps that correct it by rounded products of the residual;
// then, where that is not enough, the same in double precision. What it says at the end is measured in double
// precision.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearsay/engine.hpp"
#include "hearsay/power.hpp"

namespace hearsay {

/// What products are made in; automatic: the cheapest whose floor allows the accuracy, and better ones where it does
/// not.
enum class ProductPrecision { automatic, fp16, tf32, single, full };
HEARSAY_API const char* name(ProductPrecision precision);
/// By its name: auto, fp16, tf32, single, double. Throws InvalidArgument.
HEARSAY_API ProductPrecision product_precision(std::string_view text);

/// What one rung of the ladder did.
struct RungReport {
  Rung rung = Rung::full;  ///< of its products
  bool corrects = false;   ///< its products were of residuals
  bool in_double = false;  ///< its blocks were in double precision
  Index passes = 0;        ///< times A was read
  Index products = 0;      ///< columns multiplied
  double seconds = 0;      ///< from its first verb to its last look
  double sin_theta = 1;    ///< estimated at its end, rounding included; 1 where nobody looked
  double rounding = 0;     ///< of a product's column, as measured at its end; 0 where nobody looked
  bool at_floor = false;   ///< it ended because rounding allowed no better
};

/// What a solve on an engine tells beyond its result.
struct ClimbFacts {
  std::string where = {};  ///< for people: the device
  ProductPrecision precision = ProductPrecision::automatic;
  double accuracy = 0;  ///< the sine that was aimed at
  std::vector<RungReport> rungs = {};
};

struct LadderOptions {
  ProductPrecision precision = ProductPrecision::automatic;
  Index rank = 1;
  double accuracy = 1e-4;  ///< of sin(theta)
  std::optional<Index> oversample = {};
  Index max_passes = 1000;
  std::uint64_t seed = 0;
  /// full: fresh random columns look for what was missed, and prove a bound; residual: an estimate
  Certify certify = Certify::full;
  bool load_basis =
      true;  ///< false: it stays in the first columns of the block LadderResult::place, and the result has none
  std::optional<Block<double>> start = {};  ///< d x any number of columns; missing ones are random
  /// Called with every entry of the history; false stops the solve with the best basis so far.
  std::function<bool(const HistoryEntry&)> observe = {};
};

struct [[nodiscard]] LadderResult : PowerResult<double> {
  std::vector<RungReport> rungs;
  Engine::BlockPlace place = 0;  ///< of the basis on the engine; overwritten where something looked for what was missed
};

/// Throws DataError for a matrix with a negative eigenvalue.
HEARSAY_API LadderResult climb(Engine& engine, const LadderOptions& options);

/// A's products on an engine, for solvers whose blocks are the host's. The engine's blocks are its own meanwhile.
class HEARSAY_API EngineOperator {
 public:
  using Scalar = double;
  EngineOperator(Engine& engine, Rung rung) : engine_(engine), rung_(rung) {}
  Index dim() const { return engine_.facts().dim; }
  void apply(ConstBlockView<double> X, BlockView<double> Y) const;
  OperatorFacts facts() const;

 private:
  Engine& engine_;
  Rung rung_;
  mutable Index columns_ = 0;
};

}  // namespace hearsay
