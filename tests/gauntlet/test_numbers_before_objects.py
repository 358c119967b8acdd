"""A number before an operator and a user's object: Python and NumPy say who answers, with what."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import tracejit

OWN = {"+": "radd", "-": "rsub", "*": "rmul", "/": "rtruediv", "//": "rfloordiv", "**": "rpow",
       "@": "rmatmul", "<": "gt", "==": "eq"}
"""Operators, and the methods by which an object behind them answers."""

KINDS = {
    "plain": ("", "    pass\n"),
    "like a list": ("", "    def __len__(self): return 2\n"
                        "    def __getitem__(self, k): return (1.0, 2.0)[k]\n"),
    "long": ("", "    def __len__(self): return 2\n"),
    "an array": ("", "    def __array__(self, dtype=None, copy=None): return np.ones(2)\n"),
    "a float's": ("", "    def __float__(self): return 3.0\n    def __index__(self): return 3\n"),
    "no array": ("", "    __array_ufunc__ = None\n"
                     "    def __len__(self): return 2\n"
                     "    def __getitem__(self, k): return (1.0, 2.0)[k]\n"),
    "a ufunc's": ("", "    def __array_ufunc__(self, *args, **kwargs): return 7.0\n"),
    "before": ("", "    __array_priority__ = 10.0\n"
                   "    def __array__(self, dtype=None, copy=None): return np.ones(2)\n"),
    "a list": ("list", "    pass\n"), "a dict": ("dict", "    pass\n"),
}
"""Classes: their bases, and how NumPy may take their objects."""

NUMBERS = [1.5, 3, True, 1.5 + 2j, np.float64(1.5), np.float32(0.1), np.int64(3), np.int8(3),
           np.uint8(200), np.bool(True), np.complex64(1 + 0.1j), np.complex128(2j)]


def functions_of(kind: str) -> Any:
    """Return functions of a number, with the name of an operator and whether it is in place."""
    base, body = KINDS[kind]
    text = f"class Own({base}):\n{body}"
    text += "".join(f"    def __{name}__(self, k): return (k + k) * 3 + {n}\n"
                    for n, name in enumerate(OWN.values()))
    text += "    __hash__ = None\n"
    for n, (sign, name) in enumerate(OWN.items()):
        text += f"def f{n}(x):\n    return x {sign} Own()\n"
        if name not in ("gt", "eq"):
            text += f"def g{n}(x):\n    z = x\n    z {sign}= Own()\n    return z\n"
    file = f"<before {kind}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return {name: f for name, f in scope.items() if name[0] in "fg" and name[1:].isdigit()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_before_an_object_is_answered_as_in_python(kind: str) -> None:
    right = 0
    for name, f in functions_of(kind).items():
        compiled = tracejit.jit(f)
        for number in NUMBERS:
            with warnings.catch_warnings(), tracejit.config(disable_jit=True):
                warnings.simplefilter("ignore")
                try:
                    found: Any = compiled(number)
                except tracejit.Refusal:
                    continue
                except TypeError:
                    found = TypeError
                try:
                    expected = f(number)
                except TypeError:
                    expected = TypeError
            told = (kind, name, number, found, expected)
            assert type(found) is type(expected), told
            assert np.array_equal(found, expected), told
            right += 1
    assert right >= len(NUMBERS)
