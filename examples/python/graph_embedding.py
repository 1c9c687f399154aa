"""A graph with planted communities, seen only through its edges: embed, cluster, compare."""

import networkx as nx
import numpy as np

import hearsay


def main() -> None:
    communities, size = 6, 60
    graph = nx.planted_partition_graph(communities, size, p_in=0.25, p_out=0.01, seed=3)
    planted = np.repeat(np.arange(communities), size)

    clustering = hearsay.SpectralClustering(communities).fit(graph)

    print(clustering.info_)
    print("\nnodes of each community (rows) by cluster found (columns):")
    table = np.zeros((communities, communities), dtype=int)
    np.add.at(table, (planted, clustering.labels_), 1)
    print(table)
    purity = table.max(axis=1).sum() / len(planted)
    print(f"\n{purity:.1%} of the nodes lie where they were planted")
    assert purity > 0.95


if __name__ == "__main__":
    main()
