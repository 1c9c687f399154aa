"""Leading eigenvectors of torch's tensors, where they lie.

    values, vectors, info = hearsay.torch.top_eigenvectors(A, 32)

Wants torch, which hearsay does not install.
"""

from __future__ import annotations

from typing import Any

from hearsay._eigsh import eigsh
from hearsay._errors import InvalidArgument
from hearsay._result import EigshResult
from hearsay._tensors import device_of

__all__ = ["top_eigenvectors"]


def top_eigenvectors(
    A: Any,
    k: int,
    *,
    accuracy: float = 1e-4,
    certify: str = "residual",
    start: Any = None,
    precision: str = "auto",
    random_state: Any = 0,
) -> EigshResult:
    """The k largest eigenvalues of a symmetric positive semidefinite tensor, and their eigenvectors.

    A tensor on a CUDA device stays there and is not copied, and the answer lies there; another is solved by the
    processor. ``start`` is a block of known vectors, those of a matrix that has changed a little since, say: with
    ``certify="full"``, which looks for what they miss, they spare products. ``accuracy`` is of the sine of the largest
    angle; ``info.certificate`` says what is known of it, with ``certify="full"`` a bound. Gradients are not tracked.
    """
    import torch

    if not isinstance(A, torch.Tensor):
        raise InvalidArgument(f"matrix of {type(A).__name__}: must be a torch.Tensor")
    options: dict[str, Any] = dict(
        accuracy=accuracy, certify=certify, precision=precision, random_state=random_state, psd=True, start=start
    )
    if device_of(A) is not None:
        found: EigshResult = eigsh(A, k, **options)
        return found
    if start is not None:
        options["start"] = start.detach().cpu().numpy()
    values, vectors, info = eigsh(A.detach().numpy(), k, **options)
    return EigshResult(torch.from_numpy(values), torch.from_numpy(vectors), info)
