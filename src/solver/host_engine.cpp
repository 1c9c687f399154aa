#include "hearsay/host_engine.hpp"

#include <algorithm>
#include <cmath>

#include "hearsay/linalg.hpp"
#include "hearsay/random.hpp"
#include "solver/dropping_qr.hpp"

namespace hearsay {

const char* name(Rung rung) {
  switch (rung) {
    case Rung::fp16:
      return "fp16";
    case Rung::tf32:
      return "tf32";
    case Rung::single:
      return "single";
    case Rung::full:
      return "double";
  }
  return "unknown";
}

namespace {

// To eleven bits; below `least` numbers keep the bits that a fixed point has.
float to_eleven_bits(double value, double least) {
  if (value == 0 || !std::isfinite(value)) return static_cast<float>(value);
  int exponent;
  std::frexp(value, &exponent);
  const double unit = std::max(std::ldexp(1.0, exponent - 11), least);
  return static_cast<float>(std::nearbyint(value / unit) * unit);
}

// The least number of 16 bits, where the largest is brought to 2^13.
double least_half(double largest) { return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - 13 - 24) : 0; }

template <class Matrix>
Block<float> rounded_to(Rung rung, const Matrix& from) {
  if (rung == Rung::single) return from.template cast<float>();
  const double least = rung == Rung::fp16 ? least_half(from.cwiseAbs().maxCoeff()) : 0;
  Block<float> to(from.rows(), from.cols());
  for (Index i = 0; i < from.rows(); ++i)
    for (Index j = 0; j < from.cols(); ++j) to(i, j) = to_eleven_bits(from(i, j), least);
  return to;
}

}  // namespace

HostEngine::HostEngine(const BorrowedBlock<double>& A, bool positive_semidefinite)
    : A_(A), positive_semidefinite_(positive_semidefinite) {
  const double largest = A.size() > 0 ? A.cwiseAbs().maxCoeff() : 0;
  if (largest > 0 && std::isfinite(largest)) exponent_ = std::ilogb(largest);
}

EngineFacts HostEngine::facts() const {
  return {.dim = A_.rows(),
          .positive_semidefinite = positive_semidefinite_,
          .exponent = exponent_,
          .rungs = {Rung::fp16, Rung::tf32, Rung::single, Rung::full},
          .where = "host"};
}

void HostEngine::prepare(Index columns, bool in_double, int blocks, int smalls) {
  in_double_ = in_double;
  Block<double> first = Block<double>::Zero(A_.rows(), columns);
  if (!blocks_.empty()) {
    const Index kept = std::min(columns, blocks_[0].cols());
    first.leftCols(kept) = blocks_[0].leftCols(kept);
  }
  blocks_.assign(static_cast<std::size_t>(blocks), Block<double>::Zero(A_.rows(), columns));
  settle(first);
  blocks_[0].swap(first);
  smalls_.assign(static_cast<std::size_t>(smalls), Small<double>::Zero(columns, columns));
}

void HostEngine::renew() {
  for (Block<float>* made : {&half_, &tf32_, &single_}) made->resize(0, 0);
}

void HostEngine::settle(Block<double>& block) const {
  if (!in_double_) block = block.cast<float>().cast<double>();
}

void HostEngine::fill_normal(std::uint64_t seed, BlockPlace X) {
  hearsay::fill_normal<double>({.seed = seed, .stream = Stream::start_block}, at(X));
  settle(at(X));
}

void HostEngine::store(ConstBlockView<double> from, BlockPlace X) {
  at(X).leftCols(from.cols()) = from;
  settle(at(X));
}

void HostEngine::load(BlockPlace X, BlockView<double> to) { to = at(X).leftCols(to.cols()); }
void HostEngine::store_small(const Small<double>& from, SmallPlace H) { small(H) = from; }
void HostEngine::load_small(SmallPlace H, Small<double>& to) { to = small(H); }
void HostEngine::copy(BlockPlace from, BlockPlace to) { at(to) = at(from); }

const Block<float>& HostEngine::rounded(Rung rung) {
  Block<float>& A = rung == Rung::fp16 ? half_ : rung == Rung::tf32 ? tf32_ : single_;
  if (A.size() == 0) A = rounded_to(rung, A_ * std::ldexp(1.0, -exponent_));
  return A;
}

// A block of 16 bits has its columns brought to one scale first, as residuals need.
void HostEngine::multiply_rounded(Rung rung, const Block<double>& X, Block<double>& Y) {
  const Block<float>& A = rounded(rung);
  Vector<double> scale = Vector<double>::Ones(X.cols());
  for (Index j = 0; j < X.cols(); ++j)
    if (const double norm = X.col(j).norm(); norm > 0) scale(j) = std::ldexp(1.0, std::ilogb(norm));
  const Block<double> scaled = X * scale.cwiseInverse().asDiagonal();
  Block<float> product(X.rows(), X.cols());
  hearsay::multiply<float>(borrow(A), rounded_to(rung, scaled), product);
  Y = product.cast<double>() * scale.asDiagonal();
}

void HostEngine::exact_product(const Block<double>& X, Block<double>& Y) const {
  hearsay::multiply<double>(A_, X, Y);
  Y *= std::ldexp(1.0, -exponent_);
}

void HostEngine::multiply(Rung rung, BlockPlace X, BlockPlace Y) {
  if (rung == Rung::full)
    exact_product(at(X), at(Y));
  else
    multiply_rounded(rung, at(X), at(Y));
  settle(at(Y));
}

void HostEngine::gram(BlockPlace X, BlockPlace Y, SmallPlace H) { small(H) = hearsay::gram<double>(at(X), at(Y)); }

void HostEngine::subtract(BlockPlace X, SmallPlace H, BlockPlace Y) {
  at(Y).noalias() -= at(X) * small(H);
  settle(at(Y));
}

void HostEngine::add(BlockPlace X, SmallPlace H, BlockPlace Y) {
  at(Y).noalias() += at(X) * small(H);
  settle(at(Y));
}

void HostEngine::turn(BlockPlace X, SmallPlace U) {
  at(X) = (at(X) * small(U)).eval();
  settle(at(X));
}

void HostEngine::combine(BlockPlace Y, double scale, double shift, BlockPlace X, double beta, BlockPlace Z) {
  at(Y) = scale * (at(Y) - shift * at(X));
  if (beta != 0) at(Y) -= beta * at(Z);
  settle(at(Y));
}

void HostEngine::orthonormalise(BlockPlace Y, const std::vector<BlockPlace>& others, int passes) {
  for (int pass = 0; pass < passes; ++pass) {
    const Small<double> S = detail::dropping_inverse(hearsay::gram<double>(at(Y)), in_double_);
    at(Y) = (at(Y) * S).eval();
    settle(at(Y));
    for (const BlockPlace other : others) {
      at(other) = (at(other) * S).eval();
      settle(at(other));
    }
  }
}

Vector<double> HostEngine::residuals(BlockPlace X, BlockPlace Y, const Vector<double>& theta) {
  return (at(Y) - at(X) * theta.asDiagonal()).colwise().norm().transpose();
}

ProductError HostEngine::product_error(BlockPlace X, BlockPlace Y) {
  Block<double> error(A_.rows(), at(X).cols());
  exact_product(at(X), error);
  error = at(Y) - error;
  return {.norms = error.colwise().norm().transpose(), .along = hearsay::gram<double>(at(X), error)};
}

}  // namespace hearsay
