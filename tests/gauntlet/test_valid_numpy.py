"""Valid NumPy works: what the interpreter of Python gives for a program, captured code gives too.

Each case is called as it is and under `jit`; results agree in structure, dtype, shape and elements,
and an error is of the type that NumPy raises. What is refused says so at the user's line; an error
of tracejit's own is never right.
"""

from __future__ import annotations

import copy
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit

A = np.arange(12.0).reshape(3, 4)
B = np.arange(1.0, 5.0)
K = np.array([3, -1, 4, 1])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])
STACK = np.stack([S, 2.0 * S + np.eye(3)])
DEEP = np.stack([STACK, STACK + 0.1 * np.eye(3), 3.0 * STACK])
Z = np.array([1 + 2j, -0.5 + 0.25j, 1 - 1j, 1 + 2j])
MASK = np.array([True, False, True, True])
ROWS = np.array([True, False, True])
LABELS = np.array([2, 0, 2, 1])
PARENTS = [-1, 0, 0, 1]


def leaves(x: Any) -> list[Any]:
    if isinstance(x, (tuple, list)):
        return [y for part in x for y in leaves(part)]
    if isinstance(x, dict):
        return leaves(list(x.values()))
    return [x]


def outcome(fn: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return fn(*copy.deepcopy(args))
    except Exception as e:
        return e


def difference(found: Any, expected: Any) -> str:
    """Return how an outcome differs from what NumPy does, "" where it does not."""
    if isinstance(found, Exception):
        if isinstance(expected, Exception) and isinstance(found, type(expected)):
            return ""
        text = "".join(traceback.format_exception(found))
        return f"raises {text}, where NumPy gives {expected!r}"
    if isinstance(expected, Exception):
        return f"gives {found!r}, where NumPy raises {expected!r}"
    if len(leaves(found)) != len(leaves(expected)):
        return f"{found!r}, not {expected!r}"
    for ours, theirs in zip(leaves(found), leaves(expected), strict=True):
        x, y = np.asarray(ours), np.asarray(theirs)
        if (x.dtype, x.shape) != (y.dtype, y.shape):
            return f"{x.dtype}{x.shape}, not {y.dtype}{y.shape}"
        if not np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True):
            return f"{x}, not {y}"
    return ""


def check(fn: Callable[..., Any], args: tuple[Any, ...], *, interpreted: bool = True) -> None:
    with tracejit.config(disable_jit=interpreted):
        found = outcome(tracejit.jit(fn), args)
    assert difference(found, outcome(fn, args)) == ""


Case = tuple[Any, ...]
FOUND: dict[str, Case] = {}
"""By name, the programs that found.md has: a function and its arguments."""


def found(*args: Any) -> Callable[[Any], Any]:
    def enter(fn: Any) -> Any:
        FOUND[fn.__name__] = (fn, *args)
        return fn

    return enter


FOUND |= {
    "inv of a stack": (np.linalg.inv, STACK), "det of a stack": (np.linalg.det, STACK),
    "slogdet of a stack": (lambda a: np.linalg.slogdet(a), STACK),
    "cholesky of a stack": (np.linalg.cholesky, STACK),
    "solve of a stack": (np.linalg.solve, STACK, np.ones((2, 3, 2))),
    "solve of a stack, one vector": (np.linalg.solve, STACK, np.arange(3.0)),
    "index by a range": (lambda w: w[range(len(w))], B),
    "index by a tuple": (lambda w: w[(0, 1),], B),
    "fftfreq": (lambda x: x * np.fft.fftfreq(len(x)), B),
    "len of a selection": (lambda x: len(x[x > 2]) * x[0], B),
    "cross": (lambda x, y: np.cross(x, y, axis=None), B[:3], B[1:]),
    "column_stack": (np.column_stack, np.ones(2)),
    "norm of order 0": (lambda v: np.linalg.norm(v, 0) * v[0], B),
    "logabsdet": (lambda a: np.linalg.slogdet(a).logabsdet * np.linalg.slogdet(a).sign, S),
    "uint64 == int64": (lambda x, y: x == y, np.array([1, 2**63, 3], np.uint64),
                        np.array([1, -(2**63), 3])),
    "uint64 >> uint64": (lambda x, y: x >> y, np.array([1, 2**63, 3], np.uint64),
                         np.array([1, 62, 64], np.uint64)),
    "complex expm1": (np.expm1, Z), "complex log1p": (np.log1p, Z), "complex sort": (np.sort, Z),
    "complex max": (np.max, Z), "complex maximum": (np.maximum, Z, Z[::-1].copy()),
    "complex >": (lambda x, y: x > y, Z, Z[::-1].copy()), "complex round": (np.round, Z * 1.7),
    "clip of uint16": (lambda x: np.clip(x, -1, 3), np.array([1, 2, 5], np.uint16)),
    "pow of three": (lambda a, b, c: pow(a, b, c), 7, 5, 11),
    "hypot of three": (lambda a, b, c: math.hypot(a, b, c), 2.0, 3.0, 4.0),
    "hash of an int": (lambda n, x: (hash(n) % 7) * x, 12, 2.0),
    "a global mask": (lambda x: np.where(MASK)[0] * x[0], B),
    "delete in a view": (lambda a, j: np.delete(a[1:], j, axis=1), A, 2),
}


@found(S)
def diagonal_by_ranges(a: Any) -> Any:
    n = len(a)
    a[range(n), range(n)] = 0
    return a


@found(B)
def shape_assigned(x: Any) -> Any:
    y = x * 2.0
    y.shape = (2, 2)
    return y


@found(B)
def flat_assigned(x: Any) -> Any:
    y = np.outer(x, x)
    y.flat = 3.0
    y.flat[5] = x[0]
    return y


@found(B[:1])
def one_element_broadcast(y: Any) -> Any:
    z = np.zeros(4)
    z[:] = y
    return z


@dataclass
class Doubled:
    a: Any

    def __post_init__(self) -> None:
        self.c = self.a * 2.0


@found(Doubled(B))
def post_init(d: Any) -> Any:
    return d.a * d.c


@found(B)
def writes_behind_none(b: Any) -> Any:
    for i in range(3):
        b[None][0][i] = b[i] * 2.0
    return b[None][0] * 1.0


@found(B)
def arange_in_arange(x: Any) -> Any:
    total = 0.0
    for i in np.arange(3):
        total = total + np.sum(np.arange(0, i + 1) * x[i])
    return total


@found(B, PARENTS)
def appends_by_parents(x: Any, parents: Any) -> Any:
    out: list[Any] = []
    for i in range(len(parents)):
        if parents[i] == -1:
            out.append(x[i])
        else:
            out.append(out[parents[i]] * x[i])
    return sum(out)


@found(A)
def delete_in_a_loop(a: Any) -> Any:
    total = 0.0
    for j in range(4):
        total = total + np.sum(np.delete(a[1:], j, axis=1)) * (j + 1)
    return total


@found(np.ones((1,) * 32))
def thirty_two_axes(x: Any) -> Any:
    return np.sum(x * 2.0)


@pytest.mark.parametrize("interpreted", [True, False])
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_numpys(name: str, interpreted: bool) -> None:
    fn, *args = FOUND[name]
    check(fn, tuple(args), interpreted=interpreted)
