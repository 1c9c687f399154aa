"""Principal subspaces from inexact products.

``PCA`` is scikit-learn's in its interface; ``eigsh`` finds the leading eigenvectors of anything that can be multiplied
by, ``svds`` and ``TruncatedSVD`` the singular vectors of rectangular matrices; ``DecentralizedPCA`` lets agents find
them by gossip, and ``Agent`` is one of them, for a network of your own. A result says why the solve ended: converged,
at the noise floor, or at a limit.

>>> import numpy as np, hearsay
>>> values, vectors, info = hearsay.eigsh(np.diag([3.0, 2.0, 1.0]), 1)
>>> values.round(12), info.status
(array([3.]), 'converged')
"""

import os as _os
import typing as _typing

from hearsay import _core, gossip, noise, privacy, theory
from hearsay._eigsh import eigsh
from hearsay._errors import CommunicationError, DataError, DeviceError, Error, InvalidArgument
from hearsay._ledger import Ledger
from hearsay._plan import Plan, plan
from hearsay._result import Certificate, Cluster, DecentralizedInfo, EigshResult, ErrorBar, Info, Rung
from hearsay._svds import SvdInfo, SvdsResult, svds

if _typing.TYPE_CHECKING:
    from hearsay import plots as plots
    from hearsay._agent import Agent as Agent
    from hearsay._agent import AgentResult as AgentResult
    from hearsay._agent import LinkCounts as LinkCounts
    from hearsay._decentralized import DecentralizedPCA as DecentralizedPCA
    from hearsay._pca import PCA as PCA
    from hearsay._private_pca import PrivatePCA as PrivatePCA
    from hearsay._rows import RowSource as RowSource
    from hearsay._rows import rows_of as rows_of
    from hearsay._spectral import SpectralClustering as SpectralClustering
    from hearsay._spectral import SpectralEmbedding as SpectralEmbedding
    from hearsay._truncated_svd import TruncatedSVD as TruncatedSVD
    from hearsay._warnings import ConvergenceWarning as ConvergenceWarning

__version__: str = _core.version

# scikit-learn and matplotlib take longer to import than all the rest: they wait until they are asked for.
_LAZY = {
    "Agent": "hearsay._agent",
    "AgentResult": "hearsay._agent",
    "ConvergenceWarning": "hearsay._warnings",
    "DecentralizedPCA": "hearsay._decentralized",
    "LinkCounts": "hearsay._agent",
    "PCA": "hearsay._pca",
    "PrivatePCA": "hearsay._private_pca",
    "RowSource": "hearsay._rows",
    "rows_of": "hearsay._rows",
    "SpectralClustering": "hearsay._spectral",
    "SpectralEmbedding": "hearsay._spectral",
    "TruncatedSVD": "hearsay._truncated_svd",
}

__all__ = [
    "PCA",
    "Agent",
    "AgentResult",
    "Certificate",
    "Cluster",
    "CommunicationError",
    "ConvergenceWarning",
    "DataError",
    "DecentralizedInfo",
    "DecentralizedPCA",
    "DeviceError",
    "EigshResult",
    "Error",
    "ErrorBar",
    "Info",
    "InvalidArgument",
    "Ledger",
    "LinkCounts",
    "Plan",
    "PrivatePCA",
    "RowSource",
    "Rung",
    "SpectralClustering",
    "SpectralEmbedding",
    "SvdInfo",
    "SvdsResult",
    "TruncatedSVD",
    "eigsh",
    "gossip",
    "noise",
    "plan",
    "plots",
    "privacy",
    "rows_of",
    "set_threads",
    "svds",
    "theory",
    "threads",
]


def threads() -> int:
    """How many threads a solve may use. Results never depend on it."""
    return _core.threads()


def set_threads(count: int) -> None:
    """Sets it for the whole process."""
    _core.set_threads(count)


def __getattr__(name: str) -> _typing.Any:
    import importlib

    if name in ("plots", "torch"):
        return importlib.import_module(f"hearsay.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'hearsay' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({name for name in globals() if name.startswith("__")} | set(__all__))


# The threads of OpenMP do not survive a fork, and waiting for them would never end: a forked child goes on with one.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=lambda: _core.set_threads(1))
