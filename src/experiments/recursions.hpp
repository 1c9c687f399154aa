// The recursions of the proof of the main theorem, held against a run.
//
//   H_t = (U_-k'X_t)(U_k'X_t)^{-1}      E_t = L_k^{-1} (U_k'Xi_t)(U_k'X_t)^{-1}      Psi_t = (U_-k'Xi_t)(U_k'X_t)^{-1}
//   G_0 = (I/2 + E_0)^{-1}              G_{t+1} = (I - beta L_k^{-1} G_t L_k^{-1} + E_{t+1})^{-1}
//   C_0 = I                             C_{t+1} = L_k G_t^{-1} C_t
//
//   Lemma ht_3term   H_{t+1} C_{t+1} = L_-k H_t C_t - beta H_{t-1} C_{t-1} + Psi_t C_t
//   main text        C_{t+1} = L_k C_t - beta C_{t-1} + L_k E_t C_t
//   well_defined     ||G_t|| <= 1/(1/2 - c Delta)
//
// Reference   Aguie, Even, Massoulie (2026), appendix. The sketch in the main text has L_k for L_k^{-1} in E_t.
// Departures  H is compared after division by C_{t+1}, whose columns grow apart geometrically.
#pragma once

#include <map>
#include <string>

#include "hearsay/block.hpp"

namespace hearsay::experiments {

class Recursions {
 public:
  /// In the eigenbasis: eigenvalues descending, the first k wanted.
  Recursions(const Vector<double>& eigenvalues, Index k, double beta);

  /// X_t and the noise in Y_{t+1}, t = 0 first.
  void follow(ConstBlockView<double> X, ConstBlockView<double> Xi);

  /// H_deviation and C_deviation, the largest relative ones, and G_over_bound, the largest norm over its bound.
  void tell(std::map<std::string, double>& facts) const;

 private:
  Vector<double> wanted_, unwanted_;
  double beta_, G_bound_;
  bool first_ = true;
  Block<double> H_prev_, H_expected_;
  Small<double> G_prev_, C_prev_, C_;
  double H_deviation_ = 0, C_deviation_ = 0, G_over_bound_ = 0;
};

}  // namespace hearsay::experiments
