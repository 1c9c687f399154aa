// bench_peers_spectra INSTANCE_DIR: Spectra's worker for bench/peers. It knows nothing of hearsay, and is compiled for
// the machine at hand, as users compile a header library.
#include <Spectra/SymEigsSolver.h>

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <optional>
#include <random>

#include "worker.hpp"

namespace {

using hearsay::bench::Json;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

struct Noise {
  double sigma = 0;
  std::uint64_t seed = 0;
};

// y <- A x on all threads. Spectra's own DenseSymMatProd uses one; Eigen's sparse product by rows uses them all.
class Product {
 public:
  using Scalar = double;

  Product(const Rows& dense, const Sparse& sparse, Noise noise)
      : dense_(dense), sparse_(sparse), sigma_(noise.sigma), generator_(noise.seed) {}

  Eigen::Index rows() const { return dense_.size() > 0 ? dense_.rows() : sparse_.rows(); }
  Eigen::Index cols() const { return rows(); }

  void perform_op(const double* x_in, double* y_out) const {
    const Eigen::Map<const Eigen::VectorXd> x(x_in, rows());
    Eigen::Map<Eigen::VectorXd> y(y_out, rows());
    ++count_;
    if (dense_.size() > 0) {
#pragma omp parallel for schedule(static)
      for (Eigen::Index i = 0; i < dense_.rows(); ++i) y[i] = dense_.row(i).dot(x);
    } else {
      y.noalias() = sparse_ * x;
    }
    if (sigma_ > 0)
      for (double& entry : y) entry += sigma_ * normal_(generator_);
  }

  long long count() const { return count_; }

 private:
  const Rows& dense_;
  const Sparse& sparse_;
  double sigma_;
  mutable std::mt19937_64 generator_;
  mutable std::normal_distribution<double> normal_;
  mutable long long count_ = 0;
};

Json answer(const Rows& dense, const Sparse& sparse, const Json& command) {
  const Json& setting = command.at("setting");
  const Eigen::Index k = command.at("rank"), ncv = setting.at("ncv");
  Noise noise;
  Eigen::Index restarts = 100000;
  if (command.contains("noise")) {
    noise = {command.at("noise").at("sigma"), command.at("noise").at("seed")};
    restarts = std::max<Eigen::Index>(1, (command.at("noise").at("budget").get<Eigen::Index>() - ncv) / (ncv - k));
  }
  const Product A(dense, sparse, noise);
  Eigen::VectorXd start(A.rows());
  std::mt19937_64 generator(command.at("seed").get<std::uint64_t>() + 1);
  std::normal_distribution<double> normal;
  for (double& entry : start) entry = normal(generator);

  std::optional<Spectra::SymEigsSolver<Product>> solver;
  Rows basis;
  Json reply = hearsay::bench::measured([&] {
    auto& op = const_cast<Product&>(A);  // Spectra 1.0 takes its operator by reference
    solver.emplace(op, k, ncv);
    solver->init(start.data());
    solver->compute(Spectra::SortRule::LargestAlge, restarts, setting.at("tol").get<double>());
    basis = solver->eigenvectors();
  });
  hearsay::bench::write_array(command.at("basis").get<std::string>(), basis.data(), basis.rows(), basis.cols());
  const bool success = solver->info() == Spectra::CompInfo::Successful;
  reply["products"] = A.count();
  reply["passes"] = A.count();
  reply["success"] = success;
  reply["status"] = success ? "success" : "not converged";
  return reply;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "bench_peers_spectra INSTANCE_DIR\n";
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  Rows dense;
  Sparse sparse;
  if (std::filesystem::exists(directory / "indptr.npy")) {
    const auto starts = hearsay::bench::read_array<std::int32_t>(directory / "indptr.npy");
    const auto columns = hearsay::bench::read_array<std::int32_t>(directory / "indices.npy");
    const auto values = hearsay::bench::read_array<double>(directory / "values.npy");
    const Eigen::Index d = starts.rows - 1;
    sparse =
        Eigen::Map<const Sparse>(d, d, columns.rows, starts.values.data(), columns.values.data(), values.values.data());
  } else {
    const auto array = hearsay::bench::read_array<double>(directory / "matrix.npy");
    dense = Eigen::Map<const Rows>(array.values.data(), array.rows, array.cols);
  }
  return hearsay::bench::serve([&](const Json& command) { return answer(dense, sparse, command); });
} catch (const std::exception& error) {
  std::cerr << "bench_peers_spectra: " << error.what() << '\n';
  return 1;
}
