"""Errors added to every product on purpose: the models of the theory.

Wherever ``noise`` is asked for, one of these, its text (``"gaussian:1e-3"``), a function ``(product, X) -> Xi`` or None
will do. ``product`` counts from 0, ``X`` is the d x p block that was multiplied, and ``Xi`` is added to the result.

>>> import numpy as np, hearsay
>>> A = np.diag([4.0, 3.0, 1.0, 0.5])
>>> values, vectors, info = hearsay.eigsh(A, 2, psd=True, noise=hearsay.noise.Adversarial(1e-12))
>>> info.converged
True
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from hearsay import _core
from hearsay._errors import InvalidArgument
from hearsay._options import Options

__all__ = ["Adversarial", "Gaussian", "NoiseLike", "Sphere", "TightInside", "TightOutside"]

NoiseFunction = Callable[[int, npt.NDArray[Any]], npt.ArrayLike]


@dataclass(frozen=True)
class Gaussian:
    """Independent N(0, sigma^2) entries."""

    sigma: float
    seed: int = 0

    def _as_asked(self) -> tuple[Options, _core.Noise | None]:
        return [], _core.Noise.gaussian(self.sigma, self.seed)


@dataclass(frozen=True)
class Sphere:
    """xi V / ||V||, V independent N(0, 1): a random direction of spectral norm xi."""

    xi: float
    seed: int = 0

    def _as_asked(self) -> tuple[Options, _core.Noise | None]:
        return [], _core.Noise.sphere(self.xi, self.seed)


@dataclass(frozen=True, eq=False)
class Adversarial:
    """-xi U V / ||V||, V = |N(0, 1)| entrywise: every column pushes against every eigenvector.

    Without ``basis`` (U, d x d) the eigenvectors are computed first, up to dimension 5000.
    """

    xi: float
    seed: int = 0
    basis: npt.NDArray[np.float64] | None = None

    def _as_asked(self) -> tuple[Options, _core.Noise | None]:
        if self.basis is None:
            return [("noise", f"adversarial:{float(self.xi)!r}"), ("noise-seed", str(self.seed))], None
        return [], _core.Noise.adversarial(np.ascontiguousarray(self.basis, dtype=float), self.xi, self.seed)


@dataclass(frozen=True, eq=False)
class TightOutside:
    """The first tight example: xi along ``direction``, an unwanted eigenvector, in column ``rank``.

    With xi = 8 (lambda_k - 2 sqrt(beta)) epsilon the error stays above epsilon for ever.
    """

    direction: npt.NDArray[np.float64]
    rank: int
    xi: float

    def _as_asked(self) -> tuple[Options, _core.Noise | None]:
        direction = np.ascontiguousarray(self.direction, dtype=float)
        return [], _core.Noise.tight_outside(direction, self.rank, self.xi)


@dataclass(frozen=True, eq=False)
class TightInside:
    """The second tight example: -(lambda_k - 2 sqrt(beta)) cos(theta_k) along u_k, which freezes tan(theta_k).

    ``basis`` holds the k wanted eigenvectors.
    """

    basis: npt.NDArray[np.float64]
    lambda_k: float
    two_sqrt_beta: float

    def _as_asked(self) -> tuple[Options, _core.Noise | None]:
        basis = np.ascontiguousarray(self.basis, dtype=float)
        return [], _core.Noise.tight_inside(basis, self.lambda_k, self.two_sqrt_beta)


NoiseLike = Union[None, str, Gaussian, Sphere, Adversarial, TightOutside, TightInside, NoiseFunction]


def as_asked(noise: NoiseLike) -> tuple[Options, _core.Noise | None]:
    """What of it the option table understands, and the model that it does not."""
    if noise is None:
        return [], None
    if isinstance(noise, str):
        return [("noise", noise)], None
    if isinstance(noise, (Gaussian, Sphere, Adversarial, TightOutside, TightInside)):
        return noise._as_asked()
    if callable(noise):
        return [], _core.Noise.function(_checked(noise))
    raise InvalidArgument(
        f"noise = {noise!r}: must be None, a text, a model of hearsay.noise or a function (product, X)"
    )


def _checked(function: NoiseFunction) -> Callable[[int, npt.NDArray[Any]], npt.NDArray[Any]]:
    def fill(product: int, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        Xi = np.ascontiguousarray(function(product, X), dtype=X.dtype)
        if Xi.shape != X.shape:
            raise InvalidArgument(f"noise of shape {Xi.shape}: must be {X.shape}, as the block is")
        return Xi

    return fill
