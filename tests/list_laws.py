"""Laws of lists that loops fill: they are Python's, and the loops stay loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from oracles import outcome

import tracejit

__all__ = ["require_loop", "require_pythons", "slopes"]


def require_pythons(fn: Callable[..., Any], x: Any, n: int, *, refusable: bool,
                    guessed: bool = False) -> None:
    """Assert that a program gives what Python gives, the kinds of errors included.

    refusable -- whether it may be refused instead, at a line of its file; not where Python raises
    guessed   -- whether a list without items may have been taken for one of floats
    """
    wanted = outcome(fn, x, n)
    with tracejit.config(disable_jit=True):
        found = outcome(tracejit.jit(fn), x, n)
    if isinstance(wanted, Exception):
        assert type(found) is type(wanted), found
    elif isinstance(found, tracejit.Refusal):
        assert refusable, found
        assert fn.__code__.co_filename.rpartition("/")[2] in str(found)
    elif isinstance(found, Exception):
        raise found
    else:
        _require_same(found, wanted, guessed)


def _require_same(found: Any, wanted: Any, guessed: bool) -> None:
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            _require_same(x, y, guessed)
    elif wanted is None or isinstance(wanted, bool):
        assert found is wanted or bool(found) is wanted
    else:
        assert isinstance(found, int) is isinstance(wanted, int) or wanted == 0 or guessed
        np.testing.assert_allclose(found, wanted, rtol=1e-10)


def require_loop(fn: Callable[..., Any], x: np.ndarray, n: int) -> None:
    """Assert that nothing is unrolled, and that values and slopes are right at several lengths."""
    with tracejit.config(disable_jit=True):
        compiled = tracejit.value_and_grad(fn)
        notes = compiled.trace(x, n).why()
        assert "unrolled" not in notes
        assert "fixed at" not in notes
        for length in (n, 5, 31):
            value, slope = compiled(x, length)
            np.testing.assert_allclose(value, fn(x, length), rtol=1e-10)
            np.testing.assert_allclose(slope, slopes(fn, x, length), rtol=1e-4, atol=1e-5)


def slopes(fn: Callable[..., Any], x: np.ndarray, n: int) -> list[Any]:
    """Return the gradient of a program by differences."""
    return [(fn(x + h, n) - fn(x - h, n)) / 2e-6 for h in 1e-6 * np.eye(len(x))]
