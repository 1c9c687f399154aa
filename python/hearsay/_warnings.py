"""The warning that no early end goes without."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning

from hearsay._result import Outcome

__all__ = ["ConvergenceWarning", "warn_unless_converged"]


class ConvergenceWarning(_SklearnConvergenceWarning):  # type: ignore[misc]
    """The solve stopped before its tolerance; the result is the best so far, and its status says why it stopped."""


ConvergenceWarning.__module__ = "hearsay"


def warn_unless_converged(outcome: Outcome, stacklevel: int = 3) -> None:
    """The warning points at the caller: `stacklevel` frames above this one."""
    if not outcome.converged:
        warnings.warn(outcome.why(), ConvergenceWarning, stacklevel=stacklevel)
