#include "hearsay/noise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "hearsay/angles.hpp"
#include "hearsay/error.hpp"
#include "hearsay/linalg.hpp"
#include "hearsay/random.hpp"

namespace hearsay {

namespace {

RandomKey noise_key(std::uint64_t seed, std::uint64_t product) {
  return {.seed = seed, .stream = Stream::noise, .iteration = static_cast<std::uint32_t>(product)};
}

void require_level(const char* name, double level) {
  require(std::isfinite(level) && level >= 0, fmt::format("{} = {}: must be finite and not negative", name, level));
}

}  // namespace

template <class S>
NoiseModel<S> gaussian_noise(double sigma, std::uint64_t seed) {
  require_level("gaussian noise sigma", sigma);
  return {"gaussian", sigma, [=](std::uint64_t product, ConstBlockView<S>, BlockView<S> Xi) {
            fill_normal<S>(noise_key(seed, product), Xi);
            Xi *= static_cast<S>(sigma);
          }};
}

template <class S>
NoiseModel<S> sphere_noise(double xi, std::uint64_t seed) {
  require_level("sphere noise norm", xi);
  return {"sphere", xi, [=](std::uint64_t product, ConstBlockView<S>, BlockView<S> Xi) {
            fill_normal<S>(noise_key(seed, product), Xi);
            Xi *= static_cast<S>(xi) / spectral_norm<S>(Xi);
          }};
}

template <class S>
NoiseModel<S> adversarial_noise(Block<S> U, double xi, std::uint64_t seed) {
  require_level("adversarial noise norm", xi);
  require(U.rows() == U.cols() && U.rows() > 0,
          fmt::format("eigenvector basis of {} x {}: must be square", U.rows(), U.cols()));
  return {"adversarial", xi,
          [=, basis = std::make_shared<const Block<S>>(std::move(U)), V = Block<S>()](
              std::uint64_t product, ConstBlockView<S>, BlockView<S> Xi) mutable {
            V.resize(Xi.rows(), Xi.cols());
            fill_normal<S>(noise_key(seed, product), V);
            V = V.cwiseAbs();
            V *= static_cast<S>(-xi) / spectral_norm<S>(V);
            multiply<S>(borrow(*basis), V, Xi);
          }};
}

template <class S>
NoiseModel<S> adversarial_noise(double xi, std::uint64_t seed) {
  require_level("adversarial noise norm", xi);
  return {"adversarial", xi, [=](std::uint64_t product, ConstBlockView<S>, BlockView<S> Xi) {
            fill_normal<S>(noise_key(seed, product), Xi);
            Xi = Xi.cwiseAbs();
            Xi *= static_cast<S>(-xi) / spectral_norm<S>(Xi);
          }};
}

template <class S>
NoiseModel<S> tight_outside_noise(Vector<S> v_next, Index k, double xi) {
  require_level("tight noise norm", xi);
  return {"tight-outside", xi, [=](std::uint64_t product, ConstBlockView<S>, BlockView<S> Xi) {
            Xi.setZero();
            Xi.col(k - 1) = static_cast<S>(product == 0 ? 2 * xi : xi) * v_next;
          }};
}

template <class S>
NoiseModel<S> tight_inside_noise(Block<S> U_k, double lambda_k, double two_sqrt_beta) {
  const double width = lambda_k - two_sqrt_beta;
  require(width > 0, fmt::format("2 sqrt(beta) = {}: must be below lambda_k = {}", two_sqrt_beta, lambda_k));
  return {"tight-inside", width, [=, U = std::move(U_k)](std::uint64_t, ConstBlockView<S> X, BlockView<S> Xi) {
            const Index k = U.cols();
            Xi.setZero();
            Xi.col(k - 1) = -static_cast<S>(width) * cos_theta<S>(U, X.leftCols(k)) * U.col(k - 1);
          }};
}

template <class S>
void NoisyOperator<S>::apply(ConstBlockView<S> X, BlockView<S> Y) const {
  A_.apply(X, Y);
  add_noise(X, Y);
}

template <class S>
bool NoisyOperator<S>::apply_step(ConstBlockView<S> X, S shift, S beta, ConstBlockView<S> Z, BlockView<S> Y) const {
  if (!A_.apply_step(X, shift, beta, Z, Y)) return false;
  add_noise(X, Y);
  return true;
}

template <class S>
void NoisyOperator<S>::add_noise(ConstBlockView<S> X, BlockView<S> Y) const {
  Xi_.setZero(Y.rows(), Y.cols());
  if (model_.fill) {
    model_.fill(products_, X, Xi_);
    const int exponent = A_.facts().exponent;
    if (exponent != 0) Xi_ *= std::ldexp(S(1), -exponent);
    Y += Xi_;
  }
  ++products_;
}

template <class S>
OperatorFacts NoisyOperator<S>::facts() const {
  OperatorFacts facts = A_.facts();
  facts.noisy = facts.noisy || static_cast<bool>(model_.fill);
  facts.exact = facts.exact && !facts.noisy;
  return facts;
}

template <class S>
void NoisyOperator<S>::seek(std::uint64_t position) const {
  A_.seek(position);
  products_ = position;
}

#define HEARSAY_INSTANTIATE(S)                                                  \
  template NoiseModel<S> gaussian_noise<S>(double, std::uint64_t);              \
  template NoiseModel<S> sphere_noise<S>(double, std::uint64_t);                \
  template NoiseModel<S> adversarial_noise<S>(Block<S>, double, std::uint64_t); \
  template NoiseModel<S> adversarial_noise<S>(double, std::uint64_t);           \
  template NoiseModel<S> tight_outside_noise<S>(Vector<S>, Index, double);      \
  template NoiseModel<S> tight_inside_noise<S>(Block<S>, double, double);       \
  template class NoisyOperator<S>;
HEARSAY_INSTANTIATE(float)
HEARSAY_INSTANTIATE(double)
#undef HEARSAY_INSTANTIATE

}  // namespace hearsay
