// Where tan(theta_k) ends when the noise never does. Once U_k'X_t has settled, the component h_t of H, between
// u_k and u_j, obeys
//   h_{t+1} = (l_j/l_k+) h_t - (beta/(l_k+)^2) h_{t-1} + xi_t/l_k+,
// whose fixed point under a constant xi is xi/(l_k - l_j), and whose stationary variance under white xi is
// sigma^2 l_k/(sqrt(l_k^2 - 4 beta) (l_k^2 - l_j^2)).
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "hearsay/theory.hpp"

namespace hearsay::theory {
namespace {

// Centred damping makes unwanted eigenvalues negative; what counts is that they are the smaller ones in magnitude.
void check_pair(double lambda_k, double lambda_j) {
  check_positive("lambda_k", lambda_k);
  if (!(std::abs(lambda_j) < lambda_k)) refuse("lambda_j", lambda_j, "be smaller than lambda_k in magnitude");
}

}  // namespace

double floor_constant_push(double psi, double lambda_k, double lambda_j) {
  check_nonnegative("psi", psi);
  check_pair(lambda_k, lambda_j);
  return psi / (lambda_k - lambda_j);
}

double white_amplification(double lambda_k, double beta) {
  check_momentum(lambda_k, beta);
  const double edge = 2 * std::sqrt(beta) / lambda_k;
  return std::pow((1 - edge) * (1 + edge), -0.25);
}

double floor_white_entry(double sigma, double lambda_k, double lambda_j, double beta) {
  check_nonnegative("sigma", sigma);
  check_pair(lambda_k, lambda_j);
  return sigma / std::sqrt((lambda_k - lambda_j) * (lambda_k + lambda_j)) * white_amplification(lambda_k, beta);
}

double floor_white(double sigma, std::span<const double> wanted, std::span<const double> unwanted, double beta) {
  double sum = 0;
  for (const double lambda_i : wanted)
    for (const double lambda_j : unwanted) sum += std::pow(floor_white_entry(sigma, lambda_i, lambda_j, beta), 2);
  return std::sqrt(sum);
}

// The error of X'AX between u_i and u_j, averaged over n = N/k products, turns the one towards the other by
// sigma/(sqrt(n) (l_i - l_j)).
double statistical_limit(double sigma, std::int64_t rank, double lambda_k, double lambda_next, double products) {
  check_nonnegative("sigma", sigma);
  check_at_least("rank", rank, 1);
  check_gap(lambda_k, lambda_next);
  check_positive("products", products);
  const auto k = static_cast<double>(rank);
  return sigma * std::sqrt(k) / ((lambda_k - lambda_next) * std::sqrt(products / k));
}

double statistical_limit_of_spectrum(double sigma, std::span<const double> wanted, std::span<const double> unwanted,
                                     double products) {
  check_nonnegative("sigma", sigma);
  check_at_least("wanted eigenvalues", std::ssize(wanted), 1);
  check_positive("products", products);
  std::vector<double> columns(unwanted.size(), 0.0);
  double longest = 0;
  for (const double lambda_i : wanted) {
    double row = 0;
    for (std::size_t j = 0; j < unwanted.size(); ++j) {
      if (!(unwanted[j] < lambda_i)) refuse("lambda_j", unwanted[j], "be smaller than every wanted eigenvalue");
      const double turn = 1 / ((lambda_i - unwanted[j]) * (lambda_i - unwanted[j]));
      row += turn;
      columns[j] += turn;
    }
    longest = std::max(longest, row);
  }
  for (const double column : columns) longest = std::max(longest, column);
  return sigma * std::sqrt(longest * static_cast<double>(wanted.size()) / products);
}

double products_at_statistical_limit(double sigma, std::int64_t rank, double lambda_k, double lambda_next,
                                     double epsilon) {
  check_fraction("epsilon", epsilon);
  const double one = statistical_limit(sigma, rank, lambda_k, lambda_next, 1) / epsilon;
  return one * one;
}

}  // namespace hearsay::theory
