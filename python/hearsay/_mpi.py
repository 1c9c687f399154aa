"""Agents on the ranks of an mpi4py communicator: what an Agent wants to have sent, MPI carries."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any

from hearsay._agent import Agent, AgentResult
from hearsay._errors import CommunicationError, InvalidArgument

__all__ = ["Ranks"]

# Seconds between two looks for frames while there is nothing to do: at first, and at most.
FIRST_NAP, LONGEST_NAP = 20e-6, 1e-3

# Seconds. A rank that dies takes all others with it: nobody has to notice it by its silence.
PATIENCE = 86400.0


class Ranks:
    """A private duplicate of a communicator, so that no message of the caller's meets one of ours."""

    def __init__(self, comm: Any) -> None:
        try:
            from mpi4py import MPI
        except ImportError:
            raise InvalidArgument("comm: needs mpi4py (pip install mpi4py), which is not installed") from None
        if not isinstance(comm, MPI.Intracomm):
            raise InvalidArgument(f"comm = {comm!r}: must be an intracommunicator of mpi4py")
        self._mpi = MPI
        self._comm = comm.Dup()
        self.rank: int = self._comm.Get_rank()
        self.size: int = self._comm.Get_size()
        self._sends: list[tuple[Any, bytes]] = []

    def __enter__(self) -> Ranks:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):  # which all ranks have, while Ctrl-C is one's own
            self._comm.Free()

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What fails at one rank in here is raised at all of them afterwards; nobody waits for who is not coming."""
        failed: Exception | None = None
        try:
            yield
        except Exception as error:
            failed = error
        words = self._comm.allgather(None if failed is None else f"{failed}")
        if failed is not None:
            raise failed
        for rank, word in enumerate(words):
            if word is not None:
                raise CommunicationError(f"rank {rank}: {word}")

    def first(self, value: Any) -> Any:
        """What rank 0 has."""
        return self._comm.bcast(value)

    def all(self, value: Any) -> list[Any]:
        return list(self._comm.allgather(value))

    def solve(self, rows: Any, **keywords: Any) -> AgentResult:
        names = [f"rank {rank}" for rank in range(self.size)]
        agent: Agent | None = None
        with self.together():
            agent = Agent(rows, self.rank, names, start_timeout=PATIENCE, round_timeout=PATIENCE, **keywords)
        assert agent is not None
        interrupted = False
        with agent:
            try:
                self._carry(agent)
            except KeyboardInterrupt:  # a second one goes through
                interrupted = True
                agent.stop()
                self._carry(agent)
            self._finish(agent)
            with self.together():  # where the last rounds failed, some have a result and some have none
                result = agent.result()
        if interrupted:
            return replace(result, info=replace(result.info, interrupted=True))
        return result

    def _carry(self, agent: Agent) -> None:
        nap = FIRST_NAP
        while not agent.done:
            moved = self._receive(agent)
            for neighbour, frame in agent.frames():
                self._send(neighbour, frame)
                moved = True
            self._forget_what_arrived()
            if moved:
                nap = FIRST_NAP
            else:
                time.sleep(nap)
                nap = min(2 * nap, LONGEST_NAP)

    def _send(self, rank: int, frame: bytes) -> None:
        self._sends.append((self._comm.Isend([frame, self._mpi.BYTE], dest=rank), frame))

    def _forget_what_arrived(self) -> None:
        self._sends = [(request, frame) for request, frame in self._sends if not request.Test()]

    def _receive(self, agent: Agent) -> bool:
        moved = False
        status = self._mpi.Status()
        while (message := self._comm.Improbe(status=status)) is not None:
            frame = bytearray(status.Get_count(self._mpi.BYTE))
            message.Recv([frame, self._mpi.BYTE])
            agent.receive(status.Get_source(), bytes(frame))
            moved = True
        return moved

    def _finish(self, agent: Agent) -> None:
        """Frames to who has ended must be received all the same: until nobody has any on the way."""
        barrier: Any = None
        while barrier is None or not barrier.Test():
            if not self._receive(agent):
                time.sleep(LONGEST_NAP)
            self._forget_what_arrived()
            if barrier is None and not self._sends:
                barrier = self._comm.Ibarrier()
