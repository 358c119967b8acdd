"""`print` in captured code: an equation that prints when the program runs, as Python would."""

from __future__ import annotations

import builtins
import io
import sys
from typing import Any

import numpy as np

from tracejit.trace.ground.context import current
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.values.equations import emit
from tracejit.trace.values.known_numbers import TextField
from tracejit.trace.values.text import OpenText

__all__ = ["print_in_run"]


def print_in_run(args: tuple[object, ...], kwargs: dict[str, object]) -> bool:
    """Let the program print; return whether it does.

    What goes to other streams than the standard ones, or shows a clock's reading, does not.
    """
    stream = _stream_of(kwargs.get("file"))
    if stream is None:
        return False
    current().captured.forget_last(kwargs.get("file"))
    sep, end = (default if kwargs.get(name) is None else kwargs[name]
                for name, default in (("sep", " "), ("end", "\n")))
    if not (isinstance(sep, str) and isinstance(end, str)) or (
            kwargs.keys() - {"sep", "end", "file", "flush"}):
        wrong: dict[str, Any] = {**kwargs, "file": io.StringIO()}
        builtins.print("", **wrong)  # Python's error
    texts = [x if isinstance(x, str) else ABOVE.call_function(str, (x,), {}) for x in args]
    if any(hasattr(type(n), "as_result") for text in (*texts, sep, end)
           if isinstance(text, OpenText) for n in text.numbers):
        return False
    letters = [str.__str__(text) for text in texts]
    text = str.__str__(sep).join(letters) + str.__str__(end)
    template, atoms = _template(text)
    current().note("print() prints at each call: calls take the slower path, and the program "
                   "cannot be called from @njit code, exported, or run on a device", "TJ709")
    flushed = ", flushed" if kwargs.get("flush") else ""
    emit("print", atoms, {"format": template, "stream": stream + flushed})
    return True


def _stream_of(file: object) -> str | None:
    """Return the name of a standard stream; None for any other."""
    return "stdout" if file is None or file is sys.stdout else (
        "stderr" if file is sys.stderr else None)


def _template(text: str) -> tuple[str, list[Any]]:
    """Return the format of a text with traced values in it, and what these were in the text."""
    text = text.replace("{", "{{").replace("}", "}}")
    atoms: list[Any] = []
    for field in current().text_fields:
        if field.mark in text:
            text = text.replace(field.mark, _field(len(atoms), field))
            atoms.append(field.atom)
    return text, atoms


def _field(number: int, field: TextField) -> str:
    """Return the field of a value in a format: its number, what it is, and its spec."""
    kind: Any = type_of(field.x)
    of_python = kind in (bool, int, float, complex)
    how = "" if field.how == "f" else f"!{field.how}"
    if of_python:
        how = "!q" if how else "!p"
    if kind is np.ndarray and not field.x.ndim and field.how == "r":
        how = "!d"
    if field.spec and field.how == "f":
        sample = np.zeros((1,) * field.x.ndim, field.x.dtype)
        format(kind(0) if of_python else sample if kind is np.ndarray else sample[()], field.spec)
    return f"{{{number}{how}{f':{field.spec}' if field.spec else ''}}}"
