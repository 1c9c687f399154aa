"""Arrays of other packages that lie on a device: what they are, and their like."""

from __future__ import annotations

from typing import Any

import numpy as np

from hearsay import _core
from hearsay._errors import DeviceError, InvalidArgument

__all__ = ["device_of", "like", "on_host", "ready_on_device"]

CUDA = 2  # DLPack's kDLCUDA


def device_of(A: Any) -> str | None:
    """ "cuda:0" of a tensor there; None of everything else."""
    ask = getattr(A, "__dlpack_device__", None)
    if ask is None:
        return None
    kind, number = ask()
    return f"cuda:{int(number)}" if int(kind) == CUDA else None


def ready_on_device(A: Any, asked: str) -> Any:
    """The tensor with its rows one after the other, where this package can take it."""
    there = device_of(A)
    if asked not in ("cpu", "cuda", there) and asked != f"{there},cpu":
        raise InvalidArgument(f"device = {asked}: the matrix lies on {there}")
    if not hasattr(_core, "eigs_on_device"):
        raise DeviceError(
            f"matrix on {there}: this package was built without CUDA; install it with "
            "-C cmake.define.HEARSAY_CUDA=ON, or give the matrix in the processor's memory"
        )
    if str(A.dtype).removeprefix("torch.") not in ("float32", "float64"):
        raise InvalidArgument(f"matrix of {A.dtype}: must be float32 or float64 on a device")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise InvalidArgument(f"matrix of shape {tuple(A.shape)}: must be square and not empty")
    if hasattr(A, "contiguous"):  # torch
        return A.detach().contiguous()
    if type(A).__module__.startswith("cupy"):
        import cupy

        return cupy.ascontiguousarray(A)
    return A


def on_host(block: Any) -> Any:
    """A tensor as an array of NumPy; what lies here already stays as it is."""
    if device_of(block) is None:
        return block
    return block.detach().cpu().numpy() if hasattr(block, "detach") else block.get()


def like(A: Any, made: Any) -> Any:
    """A tensor that the core made, or numbers of NumPy, in the kind and on the device of A."""
    kind = type(A).__module__.partition(".")[0]
    if kind == "torch":
        import torch

        if isinstance(made, np.ndarray):
            return torch.as_tensor(made, dtype=A.dtype, device=A.device)
        return torch.from_dlpack(made)
    if kind == "cupy":
        import cupy

        return cupy.asarray(made, dtype=A.dtype) if isinstance(made, np.ndarray) else cupy.from_dlpack(made)
    return made
