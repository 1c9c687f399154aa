#include "files/measured_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "files/convert.hpp"
#include "files/genotypes.hpp"
#include "files/inputs.hpp"
#include "files/run_files.hpp"
#include "files/samples.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/io/shards.hpp"
#include "hearsay/operators/compose.hpp"
#include "hearsay/operators/covariance.hpp"
#include "hearsay/operators/stored.hpp"

namespace hearsay::app {

namespace {

using Matrix = std::variant<Block<double>, CsrMatrix<double>>;

Matrix in_double(const io::Data& data) {
  return std::visit([](const auto& matrix) { return Matrix(in<double>(matrix)); }, data.matrix);
}

// Operators borrow, so that data and operator live together.
class OfSamples : public MeasuredMatrix {
 public:
  OfSamples(Matrix data, const Job& job, int exponent, std::vector<double> weights = {})
      : data_(std::move(data)), weights_(std::move(weights)) {
    exponent_ = exponent;
    if (job.missing == Missing::drop_rows) drop_rows();
    const CovarianceOptions options{.center = job.center,
                                    .standardize = job.standardize,
                                    .missing_as_mean = job.missing != Missing::refuse,
                                    .weights = weights_};
    if (const auto* dense = std::get_if<Block<double>>(&data_))
      dense_ = std::make_unique<DenseCovariance<double>>(*dense, options);
    else
      sparse_ = std::make_unique<SparseCovariance<double>>(borrow(std::get<CsrMatrix<double>>(data_)), options);
  }
  OperatorRef<double> reference() const override {
    return dense_ ? OperatorRef<double>(*dense_) : OperatorRef<double>(*sparse_);
  }

 private:
  // A file that is sparse has none that are missing.
  void drop_rows() {
    const auto* dense = std::get_if<Block<double>>(&data_);
    if (dense == nullptr) return;
    if (weights_.empty()) weights_.assign(static_cast<std::size_t>(dense->rows()), 1.0);
    for (Index i = 0; i < dense->rows(); ++i)
      if (dense->row(i).hasNaN()) weights_[static_cast<std::size_t>(i)] = 0;
  }

  Matrix data_;
  std::vector<double> weights_;
  std::unique_ptr<DenseCovariance<double>> dense_;
  std::unique_ptr<SparseCovariance<double>> sparse_;
};

class OfGenotypes : public MeasuredMatrix {
 public:
  OfGenotypes(const std::filesystem::path& path, int exponent)
      : file_(path), counts_(count_calls(file_.view())), A_(file_.view(), counts_) {
    exponent_ = exponent;
  }
  OperatorRef<double> reference() const override { return A_; }

 private:
  io::BedFile file_;
  GenotypeCounts counts_;
  GenotypeCovariance<double> A_;
};

// Entries that were filled in by EM are not filled in once more.
std::unique_ptr<MeasuredMatrix> of_samples(const Job& job, int exponent) {
  if (takes_genotypes(job)) return std::make_unique<OfGenotypes>(locate_input(job.input), exponent);
  if (job.missing == Missing::em) return nullptr;
  Samples samples = load_weighted_samples(job);
  return std::make_unique<OfSamples>(in_double(samples.data), job, exponent, std::move(samples.weights));
}

class OfMatrix : public MeasuredMatrix {
 public:
  OfMatrix(Matrix data, const Job& job, int exponent) : data_(std::move(data)) {
    exponent_ = exponent;
    shift_ = job.shift;
    if (const auto* dense = std::get_if<Block<double>>(&data_))
      dense_ = std::make_unique<DenseSymmetric<double>>(*dense);
    else
      sparse_ = std::make_unique<SparseSymmetric<double>>(std::get<CsrMatrix<double>>(data_));
    const OperatorRef<double> stored = dense_ ? OperatorRef<double>(*dense_) : OperatorRef<double>(*sparse_);
    shifted_ = std::make_unique<ShiftedOperator<double>>(stored, shift_);
  }
  OperatorRef<double> reference() const override { return *shifted_; }

 private:
  Matrix data_;
  std::unique_ptr<DenseSymmetric<double>> dense_;
  std::unique_ptr<SparseSymmetric<double>> sparse_;
  std::unique_ptr<ShiftedOperator<double>> shifted_;
};

class OfGraph : public MeasuredMatrix {
 public:
  OfGraph(const Graph& graph, int exponent) : A_(graph) { exponent_ = exponent; }
  OperatorRef<double> reference() const override { return A_; }

 private:
  NormalisedGraph<double> A_;
};

Graph graph_of(const Job& job) {
  Graph graph = load_graph(job.input).graph;
  if (job.largest_component) graph = largest_component(graph);
  if (const auto nodes = job.integer("nodes", 1); nodes && *nodes <= graph.nodes) {
    std::vector<std::int32_t> first(static_cast<std::size_t>(*nodes));
    std::iota(first.begin(), first.end(), 0);
    graph = subgraph(graph, first);
  }
  return graph;
}

// The rows of all agents' files, one below the other; none where they do not fit together.
std::optional<Matrix> pooled(const Job& job) {
  std::vector<std::filesystem::path> files(job.inputs.begin(), job.inputs.end());
  if (files.size() == 1 && !is_folder(files.front())) return in_double(load_samples(job));
  if (files.size() == 1) files = io::shard_files(files.front());
  std::vector<Block<double>> parts;
  std::vector<std::string> names;
  Index rows = 0;
  for (const auto& file : files) {
    const io::Data data = io::read_data(file, {.label_column = job.label_column});
    Matrix part = in_double(data);
    if (!std::holds_alternative<Block<double>>(part)) return std::nullopt;
    parts.push_back(std::get<Block<double>>(std::move(part)));
    if (parts.size() == 1) names = data.column_names;
    if (parts.back().cols() != parts.front().cols() || data.column_names != names) return std::nullopt;
    rows += parts.back().rows();
  }
  Block<double> all(rows, parts.front().cols());
  Index first = 0;
  for (const Block<double>& part : parts) {
    all.middleRows(first, part.rows()) = part;
    first += part.rows();
  }
  return Matrix(std::move(all));
}

}  // namespace

namespace {

// Where operators do not say, nothing.
double identity_part_of(const auto& facts) {
  if constexpr (requires { facts.shift; })
    return facts.shift;
  else
    return 0;
}

}  // namespace

double MeasuredMatrix::identity_part() const { return identity_part_of(reference().facts()); }

double MeasuredMatrix::in_unit_of_result(double eigenvalue) const {
  const double own = std::ldexp(eigenvalue, reference().facts().exponent - exponent_);
  return own - std::ldexp(shift_, -exponent_);
}

std::unique_ptr<MeasuredMatrix> measured_matrix(const Job& job, int exponent) {
  if (job.command == "pca") return of_samples(job, exponent);
  if (job.command == "eigs") return std::make_unique<OfMatrix>(in_double(load_symmetric(job.input)), job, exponent);
  const bool nodes = job.text("split", "") == "by-node";
  if (job.command == "cluster" || nodes) return std::make_unique<OfGraph>(graph_of(job), exponent);
  if (job.command != "decentralized") return nullptr;
  auto rows = pooled(job);
  return rows ? std::make_unique<OfSamples>(*std::move(rows), job, exponent) : nullptr;
}

}  // namespace hearsay::app
