// Parts of a graph, its matrices, and graphs made to order.
//
// Every function checks that the edges are as graph.hpp says and throws InvalidArgument otherwise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hearsay/block.hpp"
#include "hearsay/csr.hpp"
#include "hearsay/export.hpp"
#include "hearsay/graph.hpp"

namespace hearsay {

/// The component of each node: 0 is the largest; equal sizes by their first node.
HEARSAY_API std::vector<std::int32_t> connected_components(const Graph& graph);

/// The nodes given, in that order and without repetition, and the edges between them. Each keeps its name.
HEARSAY_API Graph subgraph(const Graph& graph, std::span<const std::int32_t> nodes);

/// The largest component, its nodes in their old order.
HEARSAY_API Graph largest_component(const Graph& graph);

/// The sum of the weights of the edges at each node.
HEARSAY_API Vector<double> degrees(const Graph& graph);

/// S, with S_ij = S_ji the weight of the edge between i and j.
HEARSAY_API CsrMatrix<double> adjacency(const Graph& graph);

/// A random graph with communities of (nearly) equal size, each node having on average so many neighbours inside its
/// own and so many in the others; every pair is joined independently. The time is linear in the nodes and edges made.
HEARSAY_API Graph planted_partition(Index nodes, Index communities, double mean_degree_inside,
                                    double mean_degree_outside, std::uint64_t seed);

/// The community planted_partition() puts each node in: consecutive nodes, named 0, 1, ...
HEARSAY_API std::vector<std::int32_t> planted_communities(Index nodes, Index communities);

}  // namespace hearsay
