"""Principal subspaces from inexact products.

``PCA`` is scikit-learn's in its interface; ``eigsh`` finds the leading eigenvectors of anything that can be multiplied
by; ``DecentralizedPCA`` lets agents find them by gossip. A result says why the solve ended: converged, at the noise
floor, or at a limit.

>>> import numpy as np, hearsay
>>> values, vectors, info = hearsay.eigsh(np.diag([3.0, 2.0, 1.0]), 1)
>>> float(values[0]), info.status
(3.0, 'converged')
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from hearsay import _core, noise
from hearsay._eigsh import eigsh
from hearsay._errors import CommunicationError, DataError, Error, InvalidArgument
from hearsay._result import EigshResult, Info

if TYPE_CHECKING:
    from hearsay._pca import PCA as PCA
    from hearsay._warnings import ConvergenceWarning as ConvergenceWarning

__version__: str = _core.version

# scikit-learn takes longer to import than all the rest: it waits until an estimator is asked for.
_LAZY = {
    "PCA": "hearsay._pca",
    "ConvergenceWarning": "hearsay._warnings",
}

__all__ = [
    "PCA",
    "CommunicationError",
    "ConvergenceWarning",
    "DataError",
    "EigshResult",
    "Error",
    "Info",
    "InvalidArgument",
    "eigsh",
    "noise",
    "set_threads",
    "threads",
]


def threads() -> int:
    """How many threads a solve may use. Results never depend on it."""
    return _core.threads()


def set_threads(count: int) -> None:
    """Sets it for the whole process."""
    _core.set_threads(count)


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'hearsay' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))


# The threads of OpenMP do not survive a fork, and waiting for them would never end: a forked child goes on with one.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _core.set_threads(1))
