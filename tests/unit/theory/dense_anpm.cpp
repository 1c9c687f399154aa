#include "dense_anpm.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace hearsay::test {

QR positive_qr(const Dense& Y) {
  const Eigen::HouseholderQR<Dense> factored(Y);
  Dense Q = factored.householderQ() * Dense::Identity(Y.rows(), Y.cols());
  Dense R = factored.matrixQR().topRows(Y.cols()).triangularView<Eigen::Upper>();
  for (Index j = 0; j < R.rows(); ++j)
    if (R(j, j) < 0) {
      Q.col(j) *= -1;
      R.row(j) *= -1;
    }
  return {Q, R};
}

Dense gaussian_block(Index rows, Index columns, std::mt19937_64& generator) {
  std::normal_distribution<double> normal;
  return Dense::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

double tangent_to_first_axes(const Dense& X) {
  const Dense H = X.bottomRows(X.rows() - X.cols()) * X.topRows(X.cols()).inverse();
  return Eigen::JacobiSVD<Dense>(H).singularValues()(0);
}

double sine_of_tangent(double tangent) { return tangent / std::hypot(1.0, tangent); }

Dense no_noise(std::int64_t, const Dense& X) { return Dense::Zero(X.rows(), X.cols()); }

void dense_anpm(const Dense& A, Dense X, double beta, std::int64_t steps, const Noise& noise, const Observer& observe) {
  Dense X_prev, R;
  for (std::int64_t t = 0; t <= steps; ++t) {
    const Dense Xi = noise(t, X);
    observe(t, X, Xi);
    Dense Y = A * X;
    if (t == 0)
      Y *= 0.5;
    else if (beta > 0)
      Y -= beta * R.triangularView<Eigen::Upper>().solve<Eigen::OnTheRight>(X_prev);
    Y += Xi;
    X_prev = X;
    const QR factors = positive_qr(Y);
    X = factors.Q;
    R = factors.R;
  }
}

Dense lower_bound_matrix(Index d, Index k, double lambda_k, double beta) {
  Eigen::VectorXd eigenvalues = Eigen::VectorXd::Constant(d, 2 * std::sqrt(beta));
  eigenvalues.head(k).setConstant(lambda_k);
  return eigenvalues.asDiagonal();
}

}  // namespace hearsay::test
