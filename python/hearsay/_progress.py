"""A bar that fills as the residual falls, decade by decade, towards the tolerance."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from typing import Any

from hearsay._result import Callback

__all__ = ["watching"]


class _Line:
    """What tqdm would do, for those who do not have it: one line on standard error."""

    def __init__(self, total: float, desc: str) -> None:
        self.total, self.desc, self.n, self.text = total, desc, 0.0, ""

    def set_postfix_str(self, text: str, refresh: bool = False) -> None:
        self.text = text

    def refresh(self) -> None:
        done = 0.0 if not self.total > 0 else min(1.0, self.n / self.total)
        bar = "#" * round(30 * done)
        print(f"\r{self.desc}: {done:4.0%} |{bar:<30}| {self.text:<40}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)


def _new_bar(total: float, desc: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total, desc)
    return tqdm(total=total, desc=desc, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}")


@contextlib.contextmanager
def watching(callback: Callback | None, verbose: bool, tolerance: float, desc: str) -> Iterator[Callback | None]:
    """The callback to hand to the solver: the caller's own, behind a bar if one is wanted."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback = {callback!r}: must be a function of one argument, or None")
    if not verbose:
        yield callback
        return

    bar: Any = None
    first = 0.0

    def decades(residual: float) -> float:
        return math.log10(first / residual) if 0 < residual < first else 0.0

    def observe(now: Any) -> Any:
        nonlocal bar, first
        if bar is None:
            first = now.residual
            total = math.log10(first / tolerance) if 0 < tolerance < first else 1.0
            bar = _new_bar(total, desc)
        bar.n = min(bar.total, max(bar.n, decades(now.residual)))
        bar.set_postfix_str(f"iteration {now.t}, residual {now.residual:.2e}", refresh=False)
        bar.refresh()
        return None if callback is None else callback(now)

    try:
        yield observe
    finally:
        if bar is not None:
            bar.close()
