#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "hearsay/error.hpp"
#include "hearsay/graph_tools.hpp"
#include "hearsay/network.hpp"
#include "network/diameter.hpp"
#include "network/entries.hpp"

namespace hearsay {

using detail::append;
using detail::each_entry;
using detail::each_in_row;
using detail::end_row;
using detail::find_entry;

namespace {

// What a user's matrix may miss a rule by: the rounding of a file.
constexpr double slack = 1e-9;

CsrMatrix<double> without_zeros(const CsrMatrix<double>& W) {
  CsrMatrix<double> kept{.rows = W.rows, .cols = W.cols};
  for (Index i = 0; i < W.rows; ++i) {
    each_in_row(W, i, [&](Index j, double value) {
      if (value != 0) append(kept, j, value);
    });
    end_row(kept);
  }
  return kept;
}

void require_well_formed(const CsrMatrix<double>& W) {
  require(W.rows == W.cols && W.rows > 0,
          fmt::format("gossip matrix of {} x {}: must be square and not empty", W.rows, W.cols));
  require(static_cast<Index>(W.row_start.size()) == W.rows + 1 && W.values.size() == W.columns.size() &&
              W.row_start.back() == W.nonzeros(),
          "gossip matrix: its compressed rows do not fit together");
  for (Index i = 0; i < W.rows; ++i) {
    Index before = -1;
    each_in_row(W, i, [&](Index j, double) {
      if (!(j > before && j < W.cols))
        throw InvalidArgument(
            fmt::format("gossip matrix: column {} of row {}: must lie in [0, {}), ascending", j, i, W.cols));
      before = j;
    });
  }
}

void validate(const CsrMatrix<double>& W) {
  each_entry(W, [&](Index i, Index j, double value) {
    const double* mirrored = find_entry(W, j, i);
    if (!(std::isfinite(value) && value >= 0))
      throw InvalidArgument(fmt::format("gossip matrix: W({}, {}) = {}: must be finite and not negative", i, j, value));
    if (!(mirrored != nullptr && std::abs(value - *mirrored) <= slack))
      throw InvalidArgument(fmt::format("gossip matrix: W({}, {}) = {}: must equal W({}, {}) = {}, for W is symmetric",
                                        i, j, value, j, i, mirrored == nullptr ? 0.0 : *mirrored));
  });
  for (Index i = 0; i < W.rows; ++i) {
    const double* own = find_entry(W, i, i);
    require(
        own != nullptr && *own > 0,
        fmt::format("gossip matrix: W({}, {}) = 0: must be positive, because an agent keeps a part of its own block", i,
                    i));
  }
  Vector<double> sum = Vector<double>::Zero(W.rows);
  each_entry(W, [&](Index i, Index, double value) { sum(i) += value; });
  for (Index i = 0; i < W.rows; ++i)
    require(std::abs(sum(i) - 1) <= slack,
            fmt::format("gossip matrix: row {} sums to {}: must sum to 1, for W is doubly stochastic", i, sum(i)));
}

// Exactly symmetric, and each row's rounding on its diagonal.
void tidy(CsrMatrix<double>& W) {
  each_entry(W, [&](Index i, Index j, double& value) {
    if (i > j) value = *find_entry(W, j, i);
  });
  for (Index i = 0; i < W.rows; ++i) {
    double others = 0;
    each_in_row(W, i, [&](Index j, double value) { others += j == i ? 0 : value; });
    each_in_row(W, i, [&](Index j, double& value) { value = j == i ? 1 - others : value; });
  }
}

// Off the diagonal weight(i, j) on the edges of the graph, and the rest on the diagonal.
template <class Weight>
CsrMatrix<double> weighted(const Graph& graph, const Weight& weight) {
  const CsrMatrix<double> S = adjacency(graph);
  CsrMatrix<double> W{.rows = S.rows, .cols = S.cols};
  for (Index i = 0; i < S.rows; ++i) {
    bool passed = false;
    each_in_row(S, i, [&](Index j, double) {
      if (j > i && !std::exchange(passed, true)) append(W, i, 0);
      append(W, j, weight(i, j));
    });
    if (!passed) append(W, i, 0);
    end_row(W);
  }
  tidy(W);
  return W;
}

Graph support(const CsrMatrix<double>& W) {
  Graph graph{.nodes = W.rows};
  each_entry(W, [&](Index i, Index j, double) {
    if (i < j) graph.edges.emplace_back(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
  });
  return graph;
}

CsrMatrix<double> sparse(const Block<double>& W) {
  CsrMatrix<double> entries{.rows = W.rows(), .cols = W.cols()};
  for (Index i = 0; i < W.rows(); ++i) {
    for (Index j = 0; j < W.cols(); ++j)
      if (!(W(i, j) == 0)) append(entries, j, W(i, j));
    end_row(entries);
  }
  return entries;
}

}  // namespace

struct GossipMatrix::Impl {
  CsrMatrix<double> W;
  Index diameter = detail::diameter(W);
  std::optional<GossipSpectrum> known_spectrum = {};
};

GossipMatrix::GossipMatrix(Impl impl) : impl_(std::make_shared<const Impl>(std::move(impl))) {
  if (diameter() < 0) require_connected(graph());
}

Index GossipMatrix::agents() const { return impl_->W.rows; }
const CsrMatrix<double>& GossipMatrix::matrix() const { return impl_->W; }
Index GossipMatrix::edges() const { return static_cast<Index>(impl_->W.nonzeros() - impl_->W.rows) / 2; }
Index GossipMatrix::diameter() const { return impl_->diameter; }
const std::optional<GossipSpectrum>& GossipMatrix::known_spectrum() const { return impl_->known_spectrum; }
Graph GossipMatrix::graph() const { return support(impl_->W); }

GossipMatrix GossipMatrix::ring(Index agents) {
  const Graph graph = ring_graph(agents);
  Impl ring{.W = weighted(graph, [&](Index, Index) { return agents == 2 ? 0.5 : 0.25; })};
  // (1 + cos(2 pi j/n))/2 for j = 0 .. n - 1
  const auto eigenvalue = [&](Index j) {
    const double angle = std::numbers::pi * static_cast<double>(j) / static_cast<double>(agents);
    return std::cos(angle) * std::cos(angle);
  };
  ring.known_spectrum =
      agents == 1 ? GossipSpectrum{} : GossipSpectrum{.lo = eigenvalue(agents / 2), .hi = eigenvalue(1)};
  return GossipMatrix(std::move(ring));
}

GossipMatrix GossipMatrix::metropolis(const Graph& graph) {
  require(graph.nodes >= 1, fmt::format("graph of {} nodes: must have at least one", graph.nodes));
  Graph plain = graph;
  plain.weights.clear();  // who is joined to whom is all that counts here
  const Vector<double> degree = degrees(plain);
  return GossipMatrix(
      {.W = weighted(plain, [&](Index i, Index j) { return 1 / (1 + std::max(degree(i), degree(j))); })});
}

GossipMatrix GossipMatrix::lazy(const GossipMatrix& W) {
  Impl half = *W.impl_;
  each_entry(half.W, [](Index i, Index j, double& value) { value = (value + (i == j ? 1 : 0)) / 2; });
  if (auto& known = half.known_spectrum; known && W.agents() > 1)
    known = {.lo = (1 + known->lo) / 2, .hi = (1 + known->hi) / 2};
  return GossipMatrix(std::move(half));
}

GossipMatrix GossipMatrix::from(const Block<double>& W) { return from(sparse(W)); }

GossipMatrix GossipMatrix::from(const Block<double>& W, const Graph& graph) { return from(sparse(W), graph); }

GossipMatrix GossipMatrix::from(CsrMatrix<double> W) {
  require_well_formed(W);
  W = without_zeros(W);
  validate(W);
  tidy(W);
  return GossipMatrix({.W = std::move(W)});
}

GossipMatrix GossipMatrix::from(CsrMatrix<double> W, const Graph& graph) {
  require(W.rows == graph.nodes, fmt::format("gossip matrix of {} x {}: must be {} x {}, as the graph has {} nodes",
                                             W.rows, W.cols, graph.nodes, graph.nodes, graph.nodes));
  require_well_formed(W);
  const CsrMatrix<double> S = adjacency(graph);
  each_entry(W, [&](Index i, Index j, double value) {
    if (i != j && value != 0 && find_entry(S, i, j) == nullptr)
      throw InvalidArgument(
          fmt::format("gossip matrix: W({}, {}) = {}: must be 0, for no edge joins {} and {}", i, j, value, i, j));
  });
  each_entry(S, [&](Index i, Index j, double) {
    const double* weight = find_entry(W, i, j);
    if (weight == nullptr || *weight == 0)
      throw InvalidArgument(
          fmt::format("gossip matrix: W({}, {}) = 0: must be positive, because an edge joins {} and {}", i, j, i, j));
  });
  return from(std::move(W));
}

}  // namespace hearsay
