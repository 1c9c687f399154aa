"""What has been spent of a privacy budget: the file that ``hearsay pca --dp`` keeps too."""

from __future__ import annotations

import os
import time
from typing import Any

from hearsay import _core
from hearsay._errors import InvalidArgument

__all__ = ["Ledger"]

Receipt = tuple[str, int, str]


class Ledger:
    """A privacy ledger: one file for a data set and site, to which lines are only ever added.

    What is about to be spent is on the disk before a row is read, and what would exceed the budget is refused; the
    command line's ``hearsay ledger show`` and ``verify`` read the same file. Several processes may spend from one.

    Parameters
    ----------
    path : str or path-like
        Begun where there is no such file, and then ``data``, ``epsilon`` and ``delta`` are needed. Where there is one,
        what is given must be what it says.
    data : str
        Whose rows: a name that their keeper gives.
    epsilon, delta : float
        All that may ever be spent.
    site : str
    neighbours : {"add-remove", "replace"}
        Which data sets must look alike.

    Examples
    --------
    >>> import hearsay, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "patients.ledger")
    >>> ledger = hearsay.Ledger(path, data="patients", epsilon=2.0, delta=1e-6)
    >>> receipt = ledger.spend(hearsay.privacy.gaussian_mu(1.0, 1e-6), query="a histogram")
    >>> round(ledger.spent, 6), ledger.records[0]["query"]
    (1.0, 'a histogram')
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        data: str | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        site: str | None = None,
        neighbours: str | None = None,
    ) -> None:
        self.path = os.fspath(path)
        stated = {"data": data, "site": site, "neighbours": neighbours, "epsilon": epsilon, "delta": delta}
        if not os.path.lexists(self.path):
            if data is None or epsilon is None or delta is None:
                raise InvalidArgument(f"{self.path}: there is no such ledger; one begins with data, epsilon and delta")
            if neighbours not in (None, "add-remove", "replace"):
                raise InvalidArgument(f"neighbours = {neighbours!r}: must be 'add-remove' or 'replace'")
            begun = (data, site or "", neighbours or "add-remove", float(epsilon), float(delta))
            _core.ledger_begin(self.path, *begun, int(time.time()))
        now = self._now()
        for name, value in stated.items():
            if value is not None and value != now[name]:
                raise InvalidArgument(f"{name} = {value!r}: {self.path} was begun with {now[name]!r}, and stays that")

    def _now(self) -> dict[str, Any]:
        return _core.ledger_show(self.path)

    def spend(self, mu: float, *, query: str, command: str = "", neighbours: str | None = None) -> Receipt:
        """Pays for a query that is mu-GDP, on the disk when this returns; raises ``InvalidArgument``, and nothing is
        spent, where it would exceed the budget. To be called before a row is read."""
        kind = self.neighbours if neighbours is None else neighbours
        return _core.ledger_reserve(self.path, float(mu), kind, query, command, int(time.time()))

    def released(self, receipt: Receipt, digest: str) -> None:
        """Notes the SHA-256 of what a query released, before anything is shown. The same digest passes again; another
        one is a second draw, and is refused."""
        _core.ledger_released(self.path, receipt, digest, int(time.time()))

    @property
    def data(self) -> str:
        return str(self._now()["data"])

    @property
    def site(self) -> str:
        return str(self._now()["site"])

    @property
    def neighbours(self) -> str:
        return str(self._now()["neighbours"])

    @property
    def epsilon(self) -> float:
        """All that may ever be spent, at ``delta``."""
        return float(self._now()["epsilon"])

    @property
    def delta(self) -> float:
        return float(self._now()["delta"])

    @property
    def spent(self) -> float:
        """The epsilon that was spent, at ``delta``."""
        return float(self._now()["epsilon_spent"])

    @property
    def mu_spent(self) -> float:
        return float(self._now()["mu_spent"])

    @property
    def mu_left(self) -> float:
        """The largest mu that would be granted."""
        return float(self._now()["mu_left"])

    @property
    def records(self) -> list[dict[str, Any]]:
        return list(self._now()["records"])

    @property
    def sha256(self) -> str:
        """The seal of the last record: kept elsewhere, it shows whether the file was put back to an older state."""
        return str(self._now()["sha256"])

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"
