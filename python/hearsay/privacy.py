"""What a private release costs, and what it will be worth: gaussian differential privacy, exactly.

A release is mu-GDP where telling two neighbouring data sets apart by it is no easier than telling N(0, 1) from
N(mu, 1). Releases of the same rows together have the root of the sum of their mu squared.

>>> from hearsay import privacy
>>> round(privacy.gaussian_mu(1.0, 1e-6), 6)
0.236704
>>> round(privacy.gaussian_epsilon(2**0.5 * 0.236704, 1e-6), 3)  # two such releases
1.455
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hearsay import _core

__all__ = ["Expected", "expected", "gaussian_delta", "gaussian_epsilon", "gaussian_mu"]


class Expected(NamedTuple):
    """What private components will be worth, before anything is spent."""

    #: the sine of the largest angle to the components without noise
    sin_theta: float
    #: of the variance that so many components can capture, the share that these will
    captured: float
    #: the noise's standard deviation in the sums of squares of the features
    sigma: float
    #: the least epsilon for the sine that was asked for; None where none was, or 100 is not enough
    epsilon_needed: float | None


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu that keeps (epsilon, delta)."""
    return _core.gaussian_mu(epsilon, delta)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least epsilon, at this delta, of releases that are mu-GDP together."""
    return _core.gaussian_epsilon(mu, delta)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The least delta, at this epsilon."""
    return _core.gaussian_delta(mu, epsilon)


def expected(
    n_components: int,
    spectrum: npt.ArrayLike,
    *,
    n_features: int,
    public_rows: int,
    epsilon: float,
    delta: float,
    row_norm: float,
    neighbours: str = "add-remove",
    center: str = "none",
    sin_theta: float | None = None,
) -> Expected:
    """What ``PrivatePCA`` will find, of public numbers and a guess at the variances, descending; those that are not
    given are zero. No data are read. With ``sin_theta`` the epsilon that it takes is told too."""
    setup = _core.Privacy(epsilon, delta, row_norm, neighbours, center, None, public_rows, "auto")
    variances = np.ascontiguousarray(spectrum, dtype=np.float64)
    return Expected(*_core.private_plan(setup, n_components, n_features, variances, sin_theta))
