// The iteration as the paper writes it, with Eigen's Householder QR: slow, plain, independent of the library's solver.
#pragma once

#include <cstdint>
#include <functional>
#include <random>

#include "support/reference.hpp"

namespace hearsay::test {

using Noise = std::function<Dense(std::int64_t t, const Dense& X)>;
using Observer = std::function<void(std::int64_t t, const Dense& X, const Dense& Xi)>;

/// Y = Q R, the diagonal of R positive.
struct QR {
  Dense Q, R;
};
QR positive_qr(const Dense& Y);

Dense gaussian_block(Index rows, Index columns, std::mt19937_64& generator);

/// tan(theta_k) between span(e_1..e_k) and range(X).
double tangent_to_first_axes(const Dense& X);

double sine_of_tangent(double tangent);

Dense no_noise(std::int64_t t, const Dense& X);

/// Shows X_t and Xi_t for t = 0..steps.
void dense_anpm(const Dense& A, Dense X, double beta, std::int64_t steps, const Noise& noise, const Observer& observe);

/// diag(lambda_k x k, 2 sqrt(beta) x (d-k)).
Dense lower_bound_matrix(Index d, Index k, double lambda_k, double beta);

}  // namespace hearsay::test
