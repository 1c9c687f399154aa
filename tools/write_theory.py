"""Writes the functions of hearsay.theory anew from the table in python/src/theory.cpp; ./dev theory runs it.

Names, arguments, types, defaults and docstrings are those of the compiled functions. What stands above the mark in
theory.py is written by hand and kept.
"""

import pathlib
import re
import textwrap

from hearsay._core import theory

THEORY = pathlib.Path(__file__).parents[1] / "python" / "hearsay" / "theory.py"
MARK = "# Below: written by ./dev theory from the table in python/src/theory.cpp.\n"


def functions() -> dict[str, str]:
    """Each compiled function as the Python one that calls it."""
    written = {}
    for name, compiled in vars(theory).items():
        if not callable(compiled):
            continue
        signature, doc = compiled.__doc__.split("\n\n", 1)
        signature = signature.replace("collections.abc.", "")
        arguments = ", ".join(re.findall(r"(\w+): ", signature))
        if "\n" in doc:
            doc += "\n"
        body = f'"""{doc}"""\nreturn _theory.{name}({arguments})\n'
        written[name] = f"def {signature}:\n{textwrap.indent(body, '    ')}"
    return written


def with_functions(text: str) -> str:
    """The module as it should be, given what it is; not yet formatted."""
    by_hand = text[: text.index(MARK)]
    written = functions()
    constants = re.findall(r"^([A-Z_]+): ", by_hand, flags=re.MULTILINE)
    classes = re.findall(r"^class (\w+)", by_hand, flags=re.MULTILINE)
    names = sorted(constants) + sorted(classes) + sorted(written)
    listed = "".join(f'    "{name}",\n' for name in names)
    return f"{by_hand}{MARK}\n__all__ = [\n{listed}]\n\n\n" + "\n\n".join(written.values())


if __name__ == "__main__":
    THEORY.write_text(with_functions(THEORY.read_text()))
