#include <Eigen/Eigenvalues>
#include <cstdint>
#include <cstdio>
#include <hearsay/operators/stored.hpp>
#include <hearsay/power.hpp>
#include <hearsay/qr.hpp>
#include <hearsay/subspace.hpp>
#include <utility>

// Compiled with settings of Eigen's that are not the library's: memory goes from here to there and back, and the
// program has matrices of Eigen's own, whose code must not take the place of the library's. Prints what the library
// computed.
namespace {

std::uint64_t digest = 14695981039346656037u;

template <class Matrix>
void tell(const Matrix& matrix) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(matrix.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.size()) * sizeof(*matrix.data()); ++i)
    digest = (digest ^ bytes[i]) * 1099511628211u;
}

// Eigen's own, as a program would use it: allocated, made another size, multiplied, decomposed, freed.
double of_eigen(Eigen::Index n) {
  Eigen::MatrixXd M = Eigen::MatrixXd::Constant(n, n, 0.5);
  M.diagonal().setLinSpaced(n, 1.0, 2.0);
  Eigen::MatrixXd product = M * M;
  product.conservativeResize(n + 3, n + 1);
  product.resize(n, n);
  product.noalias() = M.transpose() * M;
  const Eigen::VectorXd column_sums = product.colwise().sum();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(product).eigenvalues().sum() + column_sums.norm();
}

}  // namespace

int main() {
  const hearsay::Index d = 90;
  hearsay::Block<double> A(d, d);
  for (hearsay::Index i = 0; i < d; ++i)
    for (hearsay::Index j = 0; j < d; ++j) A(i, j) = i == j ? double(3 + i % 13) : 1.0 / double(1 + i + j);
  double sum = of_eigen(40);
  for (const hearsay::Index rank : {2, 5, 11}) {
    auto result = hearsay::accelerated_power<double>(hearsay::DenseSymmetric<double>(A), {.rank = rank});
    tell(result.basis);
    tell(result.eigenvalues);

    // What the library allocated grows here, what was allocated here is made another size there.
    result.basis.conservativeResize(d, rank + 3);
    result.basis.rightCols(3) = A.leftCols(3);
    hearsay::Small<double> R(50, 50);
    hearsay::thin_qr<double>(result.basis, R);
    hearsay::Block<double> moved = std::move(result.basis);
    moved = hearsay::Block<double>(moved * R);
    result.eigenvalues.resize(3 * rank);
    sum += moved.sum() + result.block.squaredNorm() + of_eigen(10 * rank);
    hearsay::Block<double> start = result.block;
    const auto again = hearsay::principal_subspace<double>(
        hearsay::DenseSymmetric<double>(A), {.rank = rank, .method = hearsay::SolveMethod::krylov}, {.start = &start});
    tell(again.basis);
    tell(again.eigenvalues);
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(digest));
  return sum == sum ? 0 : 1;
}
