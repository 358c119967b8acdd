"""Arrays of more bytes than there are: programs that NumPy refuses, for a process of its own.

A workspace whose size wraps round is read and written outside of it, which ends a process. Prints a
line for each program that does not raise `ValueError` or `MemoryError`, and "done".
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import tracejit

BY_NUMBERS: dict[str, Callable[[Any, int, int], Any]] = {
    "sort": lambda x, n, m: np.sort(np.ones((n, m)) * x[0], axis=None)[:2],
    "kron": lambda x, n, m: np.kron(np.ones(n) * x[0], np.ones((m, n))),
    "indices": lambda x, n, m: np.indices((n, m))[0, 0, 0] * x[0],
    "sum": lambda x, n, m: np.sum(np.ones((n, m)) * x[0]),
    "largest": lambda x, n, m: np.max(np.ones((n, m)) * x[0]),
    "counted": lambda x, n, m: np.count_nonzero(np.ones((n, m)) > x[0]),
    "size": lambda x, n, m: np.zeros((n, m)).size * x[0],
    "flat item": lambda x, n, m: np.ones((n, m)).ravel()[5] * x[0],
    "result": lambda x, n, m: np.zeros((n, m)) + x[0],
    "outer": lambda x, n, m: np.outer(np.ones(n), np.ones(m)) * x[0],
    "broadcast": lambda x, n, m: np.sum(np.broadcast_to(x[0], (n, m))),
    "tile": lambda x, n, m: np.sum(np.tile(x, (n, m))),
    "repeat": lambda x, n, m: np.sort(np.repeat(np.repeat(x, n), m))[0],
    "reshape": lambda x, n, m: np.reshape(x[:0], (0, n, m)) * 2,
    "wrong reshape": lambda x, n, m: np.reshape(x[:0], (n, m)) * 2,
    "size by data": lambda x, n, m: np.zeros((int(x[2] * 2.0 ** 60 / 3), 4)) + x[0],
}

CONSTANT: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x[:0].reshape(0, 2 ** 62, 4) * 2,
    "empty reshape": lambda x: np.zeros(0).reshape(0, 2 ** 62, 4) + x[0],
    "wrong reshape": lambda x: x[:0].reshape(2 ** 62, 4) * 2,
    "any reshape": lambda x: x[:0].reshape(-1, 2 ** 62, 4) * 2,
    "wide reshape": lambda x: x.reshape(2 ** 64, 4) * 2,
    "broadcast": lambda x: np.broadcast_to(x[:0], (2 ** 62, 4, 0)) * 2,
    "sum of a broadcast": lambda x: np.sum(np.broadcast_to(x[0], (2 ** 62, 4))),
    "sort": lambda x: np.sort(np.ones((2 ** 32, 2 ** 31)) * x[0], axis=None)[0],
    "zeros": lambda x: np.zeros(2 ** 64) * x[0], "full": lambda x: np.full((2 ** 70,), x[0]),
    "arange": lambda x: np.arange(2 ** 64) * x[0], "repeat": lambda x: np.repeat(x, 2 ** 62),
    "tile": lambda x: np.tile(x, 2 ** 62), "pad": lambda x: np.pad(x, 2 ** 62),
    "outer": lambda x: np.outer(np.ones(2 ** 40), np.ones(2 ** 40)) * x[0],
    "eye": lambda x: np.eye(2 ** 33) * x[0],
}


def _require_error(name: str, f: Callable[..., Any], *args: object) -> None:
    try:
        found = f(*args)
    except (ValueError, MemoryError, OverflowError):
        return
    except Exception as error:
        found = repr(error)
    print(f"{name}: {found}")


def main(kind: str) -> None:
    """Run the programs of a kind; where sizes are arguments, first calls and later ones."""
    x = np.array([1.0, 2.0, 3.0])
    if kind == "constant":
        for name, whole in CONSTANT.items():
            _require_error(name, tracejit.jit(whole), x)
    else:
        for name, by in BY_NUMBERS.items():
            f = tracejit.jit(by)
            _require_error(name, f, x, 2 ** 40, 2 ** 30)
            if "reshape" not in name and "data" not in name:
                f(x, 4, 3)
            _require_error(name, f, x, 2 ** 40, 2 ** 30)
            _require_error(name, f, x, 2 ** 62, 4)
    print("done")


if __name__ == "__main__":
    main(sys.argv[1])
