"""slepc.py INSTANCE_DIR: SLEPc's worker, alone or under mpiexec. Runs in Debian's Python, where slepc4py is.

The first process reads commands from its input, each other one from the named pipe COMMANDS.RANK: a process that waited
in an MPI call would keep a core busy while others are timed.
"""

import glob
import os
import sys

sys.path += glob.glob("/usr/lib/petscdir/*/*-real/lib/python3/dist-packages")
sys.path += glob.glob("/usr/lib/slepcdir/*/*-real/lib/python3/dist-packages")
import slepc4py

slepc4py.init([])
import numpy as np  # noqa: E402
from instances import Matrix  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402
from worker import measured, serve  # noqa: E402


class Noisy:
    """A x plus gaussian errors, one process."""

    def __init__(self, A, noise):
        self.A, self.sigma = A, noise["sigma"]
        self.random = np.random.default_rng(noise["seed"])
        self.count = 0

    def mult(self, _, x, y):
        self.count += 1
        self.A.mult(x, y)
        with y as values:
            values += self.sigma * self.random.standard_normal(len(values))


def distributed(matrix, world):
    """The rows of this process, of a matrix every process has read."""
    d = matrix.dimension
    first = d * world.rank // world.size
    last = d * (world.rank + 1) // world.size
    sizes = ((last - first, d), (last - first, d))
    if matrix.kind == "dense":
        rows = np.ascontiguousarray(matrix.A[first:last])
        A = PETSc.Mat().createDense(sizes, array=rows.ravel(order="F"), comm=world)
    else:
        rows = matrix.A[first:last]
        A = PETSc.Mat().createAIJ(sizes, csr=(rows.indptr, rows.indices, rows.data), comm=world)
    A.assemble()
    A.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    return A, first, last


def main():
    world = PETSc.COMM_WORLD
    given = distributed(Matrix(sys.argv[1]), world)
    PETSc.Log.begin()

    def answer(command):
        setting, noise, k = command["setting"], command.get("noise"), command["rank"]
        A, first, last = distributed(Matrix(command["instance"]), world) if "instance" in command else given
        d = A.getSize()[0]
        operator = A
        if noise:
            context = Noisy(A, noise)
            operator = PETSc.Mat().createPython(A.getSizes(), context, comm=world)
            operator.setUp()
        start = A.createVecRight()
        start.setArray(np.random.default_rng(command["seed"]).standard_normal(d)[first:last])
        solver = SLEPc.EPS().create(world)
        solver.setOperators(operator)
        solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
        solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
        solver.setType(SLEPc.EPS.Type.KRYLOVSCHUR)
        solver.setDimensions(k, setting["ncv"])
        restarts = max(1, (noise["budget"] - setting["ncv"]) * 2 // setting["ncv"]) if noise else 100_000
        solver.setTolerances(max(setting["tol"], 1e-15), restarts)
        solver.setInitialSpace(start)
        before = PETSc.Log.Event("MatMult").getPerfInfo()["count"]
        world.barrier()
        _, cost = measured(solver.solve)
        shares = PETSc.Vec().createMPI((1, world.size), comm=world)
        shares.setArray([cost["memory_bytes"]])
        memory = shares.sum()
        products = context.count if noise else PETSc.Log.Event("MatMult").getPerfInfo()["count"] - before
        found = min(k, solver.getConverged())
        basis, vector = np.empty((last - first, found)), A.createVecRight()
        for column in range(found):
            solver.getEigenvector(column, vector)
            basis[:, column] = vector.getArray()
        np.save(f"{command['basis']}.{world.rank}.npy", basis)
        world.barrier()
        if world.rank == 0:
            parts = [f"{command['basis']}.{rank}.npy" for rank in range(world.size)]
            np.save(command["basis"], np.concatenate([np.load(part) for part in parts]))
            for part in parts:
                os.unlink(part)
        solver.destroy()
        success = found == k
        said = {"success": success, "status": "success" if success else f"{found} of {k} converged"}
        return cost | said | {"memory_bytes": memory, "products": products, "passes": products}

    commands = sys.stdin if world.rank == 0 else open(f"{os.environ['COMMANDS']}.{world.rank}")
    if world.rank > 0:
        os.dup2(2, 1)
    serve(commands, answer)


if __name__ == "__main__":
    main()
