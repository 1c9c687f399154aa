"""From Python's keywords to the texts of the one option table, which checks them, and back for its messages."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np

from hearsay import _core
from hearsay._errors import Error, InvalidArgument

__all__ = ["KEYWORDS", "Options", "accuracy_on", "in_python_words", "option_texts", "seed_from"]

Options = list[tuple[str, str]]

#: Keywords that are spelt otherwise in the table; every other one only changes its hyphens into underscores.
KEYWORDS = {
    "n_components": "rank",
    "k": "rank",
    "tol": "tolerance",
    "max_iter": "max-iterations",
    "oversampling": "oversample",
    "random_state": "seed",
}


def option_name(keyword: str) -> str:
    return KEYWORDS.get(keyword, keyword.replace("_", "-"))


def _text(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(operator.index(value))
    if isinstance(value, Real):
        return repr(float(value))
    return str(value)


def option_texts(**keywords: Any) -> Options:
    """What was given, as the table spells it; None leaves the table's default."""
    return [(option_name(keyword), _text(value)) for keyword, value in keywords.items() if value is not None]


@contextlib.contextmanager
def in_python_words(*keywords: str) -> Iterator[None]:
    """Lets the core's messages speak of the keywords that the caller used."""
    try:
        yield
    except Error as error:
        spelt = {option_name(keyword): keyword for keyword in keywords}
        subject, sign, rest = str(error).partition(" = ")
        message = _core.in_words(spelt.get(subject, subject) + sign + rest, list(spelt.items()))
        if message == str(error):
            raise
        raise type(error)(message) from None


def accuracy_on(device: str, tol: float | None, accuracy: float | None) -> float | None:
    """The sine that is aimed at: on a device 1e-4 by itself, and no tolerance stands beside it."""
    if device == "cpu":
        return accuracy
    if tol is not None:
        raise InvalidArgument(f"tol = {tol:g}: says nothing on a device; use accuracy, or leave out device")
    return accuracy or 1e-4


def seed_from(random_state: Any) -> int:
    """The seed of the start block: an int is itself, None and generators draw one."""
    if random_state is None:
        return int(np.random.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int64).max))
    try:
        return operator.index(random_state)
    except TypeError:
        raise InvalidArgument(
            f"random_state = {random_state!r}: must be an int, None, a RandomState or a Generator"
        ) from None
