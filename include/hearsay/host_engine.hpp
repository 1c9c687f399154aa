// The engine of ladder.hpp whose blocks lie in this program's memory: what others are held against. Its rungs below
// double round entries of a dense matrix and of blocks as a device would, for the sake of the result and not of speed.
#pragma once

#include "hearsay/engine.hpp"
#include "hearsay/export.hpp"

namespace hearsay {

class HEARSAY_API HostEngine final : public Engine {
 public:
  /// A symmetric matrix, borrowed.
  explicit HostEngine(const BorrowedBlock<double>& A, bool positive_semidefinite = false);

  EngineFacts facts() const override;
  void prepare(Index columns, bool in_double, int blocks, int smalls) override;
  void renew() override;
  void fill_normal(std::uint64_t seed, BlockPlace X) override;
  void store(ConstBlockView<double> from, BlockPlace X) override;
  void load(BlockPlace X, BlockView<double> to) override;
  void store_small(const Small<double>& from, SmallPlace H) override;
  void load_small(SmallPlace H, Small<double>& to) override;
  void copy(BlockPlace from, BlockPlace to) override;
  void multiply(Rung rung, BlockPlace X, BlockPlace Y) override;
  void gram(BlockPlace X, BlockPlace Y, SmallPlace H) override;
  void subtract(BlockPlace X, SmallPlace H, BlockPlace Y) override;
  void add(BlockPlace X, SmallPlace H, BlockPlace Y) override;
  void turn(BlockPlace X, SmallPlace U) override;
  void combine(BlockPlace Y, double scale, double shift, BlockPlace X, double beta, BlockPlace Z) override;
  void orthonormalise(BlockPlace Y, const std::vector<BlockPlace>& others, int passes) override;
  Vector<double> residuals(BlockPlace X, BlockPlace Y, const Vector<double>& theta) override;
  ProductError product_error(BlockPlace X, BlockPlace Y) override;

 private:
  const Block<float>& rounded(Rung rung);
  void exact_product(const Block<double>& X, Block<double>& Y) const;
  void multiply_rounded(Rung rung, const Block<double>& X, Block<double>& Y);
  Block<double>& at(BlockPlace X) { return blocks_[static_cast<std::size_t>(X)]; }
  Small<double>& small(SmallPlace H) { return smalls_[static_cast<std::size_t>(H)]; }
  void settle(Block<double>& block) const;  // what a number in its place keeps

  BorrowedBlock<double> A_;
  int exponent_ = 0;
  bool positive_semidefinite_;
  bool in_double_ = true;
  std::vector<Block<double>> blocks_;
  std::vector<Small<double>> smalls_;
  Block<float> half_, tf32_, single_;  // A, rounded when it is first asked for
};

}  // namespace hearsay
