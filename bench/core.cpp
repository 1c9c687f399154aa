// How fast the core is, as ratios within one run: block products beside Eigen's own at the same flags as a user's
// build, the QR ladder beside Householder, and readers beside reading the bytes alone. Prints JSON; medians of repeated
// runs.
#include <fmt/format.h>
#include <zlib.h>
#include <hearsay/io/file.hpp>
#include <hearsay/io/npy.hpp>
#include <hearsay/io/table.hpp>
#include <hearsay/linalg.hpp>
#include <hearsay/operators/covariance.hpp>
#include <hearsay/qr.hpp>
#include <hearsay/random.hpp>
#include <hearsay/threads.hpp>
#include <hearsay/version.hpp>

#include <Eigen/QR>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "medians.hpp"

namespace {

using namespace hearsay;
using bench::medians;

Block<double> normal(Index rows, Index cols, std::uint64_t seed) {
  Block<double> block(rows, cols);
  fill_normal<double>({.seed = seed}, block);
  return block;
}

bool first_line = true;
void line(const std::string& json) {
  fmt::print("{}\n  {{{}}}", first_line ? "" : ",", json);
  first_line = false;
}

void dense_products() {
  for (const Index d : {1000, 4000})
    for (const Index p : {1, 11, 16, 32}) {
      const Block<double> A = normal(d, d, 1), X = normal(d, p, 2);
      const Eigen::MatrixXd A_columns = A, X_columns = X;
      Block<double> Y(d, p);
      Eigen::MatrixXd Y_columns(d, p);
      const auto t = medians({[&] { multiply<double>(borrow(A), X, Y); }, [&] { Y.noalias() = A * X; },
                              [&] { Y_columns.noalias() = A_columns * X_columns; }});
      const double flops = 2.0 * double(d) * double(d) * double(p);
      line(fmt::format(R"("what": "dense product", "d": {}, "p": {}, "gflops": {:.2f}, "gbytes_per_s": {:.2f}, )"
                       R"("eigen_rows_ratio": {:.2f}, "eigen_columns_ratio": {:.2f})",
                       d, p, flops / t[0] * 1e-9, 8.0 * double(d) * double(d) / t[0] * 1e-9, t[0] / t[1], t[0] / t[2]));
    }
}

void orthonormalisation() {
  for (const auto& [d, p] : {std::pair<Index, Index>{1000, 10}, {100000, 16}, {262111, 32}}) {
    const Block<double> Y = normal(d, p, 3);
    const Eigen::MatrixXd Y_columns = Y;
    Block<double> X;
    Small<double> R;
    Eigen::MatrixXd Q;
    const auto t = medians({[&] { X = Y, thin_qr<double>(X, R); },
                            [&] {
                              Q = Eigen::HouseholderQR<Eigen::MatrixXd>(Y_columns).householderQ() *
                                  Eigen::MatrixXd::Identity(d, p);
                            }},
                           3);
    line(fmt::format(R"("what": "thin QR", "d": {}, "p": {}, "seconds": {:.2e}, "householder_ratio": {:.2f})", d, p,
                     t[0], t[0] / t[1]));
  }
}

void covariance() {
  const Index m = 100000, d = 500, p = 20;
  const Block<double> data = normal(m, d, 4), X = normal(d, p, 5);
  Block<double> Y(d, p), U(m, p), Z(d, p);
  const DenseCovariance<double> A(data, {.gram_bytes_limit = 0});
  const auto t = medians({[&] { A.apply(X, Y); },
                          [&] {
                            multiply<double>(borrow(data), X, U);
                            Z.setZero();
                            accumulate_transposed<double>(borrow(data), U, Z);
                          },
                          [&] {
                            const DenseCovariance<double> formed(data);
                            formed.apply(X, Y);
                          }},
                         3);
  line(fmt::format(R"("what": "covariance product", "m": {}, "d": {}, "p": {}, "seconds": {:.3f}, "gflops": {:.1f}, )"
                   R"("two_products_ratio": {:.2f}, "forming_seconds": {:.3f})",
                   m, d, p, t[0], 4.0 * double(m) * double(d) * double(p) / t[0] * 1e-9, t[0] / t[1], t[2]));
}

void reading() {
  const auto directory = std::filesystem::temp_directory_path() / "hearsay_bench_core";
  std::filesystem::create_directories(directory);
  const Index m = 100000, d = 500;
  const Block<double> data = normal(m, d, 6);
  const auto npy = directory / "data.npy", csv = directory / "data.csv", csv_gz = directory / "data.csv.gz";
  io::write_npy(npy, ConstBlockView<double>(data));
  std::FILE* text = std::fopen(csv.c_str(), "w");
  gzFile packed = gzopen(csv_gz.c_str(), "wb1");
  for (Index i = 0; i < m; ++i) {
    const std::string row = fmt::format("{:.6g}\n", fmt::join(data.row(i).data(), data.row(i).data() + d, ","));
    std::fwrite(row.data(), 1, row.size(), text);
    gzwrite(packed, row.data(), static_cast<unsigned>(row.size()));
  }
  std::fclose(text);
  gzclose(packed);
  const double text_bytes = double(std::filesystem::file_size(csv)),
               npy_bytes = double(std::filesystem::file_size(npy));
  const auto t =
      medians({[&] { static_cast<void>(io::read_npy(npy)); }, [&] { static_cast<void>(io::read_table(csv, {})); },
               [&] { static_cast<void>(io::read_table(csv_gz, {})); }, [&] { static_cast<void>(io::read_whole(npy)); },
               [&] { static_cast<void>(io::read_whole(csv)); }, [&] { static_cast<void>(io::read_whole(csv_gz)); }},
              3);
  const auto rate = [](double bytes, double seconds) { return bytes / seconds * 1e-6; };
  line(fmt::format(
      R"("what": "reading 100,000 x 500", "npy_mb_per_s": {:.0f}, "csv_mb_per_s": {:.0f}, "csv_gz_mb_per_s": {:.0f}, )"
      R"("npy_over_bytes_alone": {:.2f}, "csv_over_bytes_alone": {:.2f}, "csv_gz_over_inflating_alone": {:.2f})",
      rate(npy_bytes, t[0]), rate(text_bytes, t[1]), rate(text_bytes, t[2]), t[0] / t[3], t[1] / t[4], t[2] / t[5]));
  std::filesystem::remove_all(directory);
}

}  // namespace

int main() {
  fmt::print(R"({{"version": "{}", "kernels": "{}", "threads": {}, "results": [)", hearsay::version,
             hearsay::kernel_name(), hearsay::threads());
  dense_products();
  orthonormalisation();
  covariance();
  reading();
  fmt::print("\n]}}\n");
}
