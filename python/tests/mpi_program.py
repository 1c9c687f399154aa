"""Run by mpiexec on each rank (test_mpi4py.py): says what this rank found, or was told, as a line of JSON."""

import json
import sys
import warnings

import numpy as np
from mpi4py import MPI

import hearsay

warnings.simplefilter("error")
case = sys.argv[1]
comm = MPI.COMM_WORLD
rank = comm.Get_rank()


def rows_of(agent):
    generator = np.random.default_rng(agent)
    return generator.standard_normal((60 + agent, 12)) * 0.75 ** np.arange(12) + 2


def told(solve):
    try:
        return solve()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def bits(**settings):
    mine = hearsay.DecentralizedPCA(3, comm=comm, **settings).fit(rows_of(rank))
    whole = hearsay.DecentralizedPCA(3, **settings).fit([rows_of(agent) for agent in range(comm.Get_size())])
    assert mine.info_.digest == whole.info_.digest
    assert np.array_equal(mine.components_, whole.agent_components_[rank])
    assert np.array_equal(mine.agent_components_, whole.agent_components_)
    assert np.array_equal(mine.mean_, whole.mean_) and mine.n_samples_ == whole.n_samples_
    assert np.array_equal(mine.explained_variance_, whole.info_.eigenvalues[rank])
    ratio = whole.explained_variance_ratio_.sum() * mine.explained_variance_.sum() / whole.explained_variance_.sum()
    assert np.isclose(mine.explained_variance_ratio_.sum(), ratio, rtol=1e-14)
    assert mine.traffic_ == whole.traffic_ and mine.history_.tobytes() == whole.history_.tobytes()
    assert mine.transform(rows_of(rank)).shape == (60 + rank, 3)
    return f"{mine.info_.digest:016x}"


def callback_that_fails(now):
    if rank == 1 and now.t == 2:
        raise RuntimeError("mine")


cases = {
    "bits": lambda: [bits(topology=topology) for topology in ("ring", "complete", "star", "path")],
    "bfloat16": lambda: bits(message_precision="bfloat16", random_state=3),
    "uncentred": lambda: bits(center=False),
    "drawn": lambda: f"{hearsay.DecentralizedPCA(3, comm=comm, random_state=None).fit(rows_of(rank)).info_.digest}",
    "list": lambda: hearsay.DecentralizedPCA(3, comm=comm).fit([rows_of(rank)] if rank == 1 else rows_of(rank)),
    "rank": lambda: hearsay.DecentralizedPCA(99, comm=comm).fit(rows_of(rank)),
    "width": lambda: hearsay.DecentralizedPCA(3, comm=comm).fit(rows_of(rank)[:, : 11 if rank == 1 else 12]),
    "callback": lambda: hearsay.DecentralizedPCA(3, comm=comm, callback=callback_that_fails).fit(rows_of(rank)),
    "comm": lambda: hearsay.DecentralizedPCA(3, comm="world").fit(rows_of(rank)),
}
line = json.dumps({"rank": rank, "said": told(cases[case])})
for turn in range(comm.Get_size()):  # or lines meet
    comm.Barrier()
    if turn == rank:
        print(line, flush=True)
