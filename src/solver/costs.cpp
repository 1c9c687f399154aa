// Nanoseconds on one thread of an EPYC with AVX-512, fitted to covariances of 50 to 1200 columns with eigenvalues 1/i,
// exp(-i/60) and flat ones, k = 1, 10 and 50 (./dev bench shapes ways). What is weighed are ratios, which differ less
// from machine to machine than the times. Spectra differ more: a Krylov space takes a third to twice what is said here.
#include "solver/costs.hpp"

#include <algorithm>
#include <cmath>

namespace hearsay::detail {

namespace {

// Tridiagonal form, which is two products of vectors a row; QR steps on it; the vectors wanted.
double by_all_eigenvalues(double n, double k) { return 1.2e5 + n * n * (15 + 0.07 * n + 0.2 * k); }

// A space of so many columns: products, orthogonality, small eigenproblems.
double by_krylov_space(double n, double k, double digits) {
  const double block = k < 4 ? 12 : 19;  // columns that another digit takes
  const double columns = std::min(n, 3 * k + block * digits);
  return 3e5 + columns * (0.04 * n * n + columns * (0.16 * n + 0.4 * columns));
}

// In single precision a space is near rounding all the way, and measures it at the end: so many times the time, as
// fitted to rows of 50 to 1000 columns. Beyond a few dozen vectors rounding is often as large as the gaps, and what a
// space finds is found again in double.
double by_krylov_space(double n, double k, double digits, bool single) {
  constexpr double few = 32, of_few = 1.8, of_many = 5;
  return (!single ? 1.0 : k < few ? of_few : of_many) * by_krylov_space(n, k, digits);
}

// A number that is read again, and a multiply-add in double precision rather than single.
constexpr double number_read = 0.4, single_read = 0.2, wider = 0.004;

}  // namespace

bool leaves_the_way_open(const PowerOptions& options, bool watched) {
  return !watched && !options.method && options.which == Which::largest &&
         options.momentum.rule == Momentum::Rule::automatic && !options.damping && !options.extraction &&
         options.products != Products::noisy && !options.qr_every && !options.oversample && !options.max_iterations &&
         !options.product_budget && options.turning.value_or(Turning::none) == Turning::none;
}

template <class S>
double digits_of(const PowerOptions& options) {
  const double least = std::min(tolerance_of<S>(options), options.accuracy.value_or(1));
  return std::clamp(-std::log10(least), 1.0, 12.0);
}

bool eigenvalues_are_cheap(Index dimension, Index wanted, double digits, bool single) {
  const auto n = static_cast<double>(dimension), k = static_cast<double>(wanted);
  return by_all_eigenvalues(n, k) <= by_krylov_space(n, k, digits, single);
}

// The other way reads the rows once more, for the mean, and forms the matrix in the precision of the rows.
bool covariance_goes_directly(const TallData& data) {
  const auto m = static_cast<double>(data.rows), n = static_cast<double>(data.columns);
  const auto k = static_cast<double>(data.wanted);
  const double saved = m * n * (data.single ? single_read : number_read);
  const double lost = data.single ? m * n * n / 2 * wider : 0;
  return by_all_eigenvalues(n, k) + lost <= by_krylov_space(n, k, data.digits, data.single) + saved;
}

template double digits_of<float>(const PowerOptions&);
template double digits_of<double>(const PowerOptions&);

}  // namespace hearsay::detail
