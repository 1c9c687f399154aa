// Compares a run with the theory: the noise of each product is caught on its way into the product.
#pragma once

#include <cmath>
#include <utility>

#include "hearsay/audit.hpp"
#include "hearsay/noise.hpp"
#include "hearsay/power.hpp"
#include "hearsay/spectrum.hpp"

namespace hearsay::detail {

template <class S>
class Auditor {
 public:
  Auditor(Block<double> U_k, const Spectrum& spectrum, double epsilon)
      : audit_(std::move(U_k), spectrum.lambda_k, spectrum.lambda_next, epsilon), lambda_k_(spectrum.lambda_k) {}

  NoiseModel<S> listen(NoiseModel<S> model) {
    if (!model.fill) return model;
    model.fill = [this, fill = std::move(model.fill)](std::uint64_t product, ConstBlockView<S> X, BlockView<S> Xi) {
      fill(product, X, Xi);
      Xi_ = Xi.template cast<double>();
    };
    return model;
  }

  void check(const Iteration<S>& now) {
    const Index k = now.basis.cols();
    Block<double> Xi = Block<double>::Zero(now.X.rows(), k);
    if (Xi_.size() > 0) Xi = Xi_.leftCols(k);
    if (now.entry.t == 0) Xi *= 0.5;  // the first step halves its product, and the noise with it
    const Block<double> X = now.X.leftCols(k).template cast<double>();
    audit_.check(now.entry.t, X, Xi, lambda_k_ - now.shift, 2 * std::sqrt(now.entry.momentum));
  }

  const theory::AuditReport& report() const { return audit_.report(); }

 private:
  theory::Audit audit_;
  double lambda_k_;
  Block<double> Xi_;
};

}  // namespace hearsay::detail
