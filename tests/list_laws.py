"""Laws of programs with lists: they are Python's, with their derivatives, and loops stay loops."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from oracles import numeric_gradient, outcome

import tracejit
from tracejit import Refusal

__all__ = ["loaded", "require_compiled", "require_loop", "require_pythons",
           "require_right_or_refused", "require_same_as_python", "require_values_and_derivatives",
           "slopes"]


def require_pythons(fn: Callable[..., Any], x: Any, n: int, *, refusable: bool,
                    guessed: bool = False) -> None:
    """Assert that a program gives Python's result, or an error of Python's kind.

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


def require_right_or_refused(fn: Callable[..., Any], calls: Sequence[tuple[Any, ...]],
                             may_be_refused: bool = True, rtol: float = 1e-10) -> None:
    """Assert that calls give Python's results, one after another, or a refusal at a line of `fn`.

    may_be_refused -- else a refusal fails, too
    """
    with tracejit.config(disable_jit=True):
        captured = tracejit.jit(fn)
        for args in calls:
            wanted, found = outcome(fn, *args), outcome(captured, *args)
            if isinstance(found, tracejit.Refusal):
                assert may_be_refused, found
                assert fn.__code__.co_filename.rpartition("/")[2] in str(found)
            elif isinstance(wanted, Exception):
                assert type(found) is type(wanted), found
            elif isinstance(found, Exception):
                raise found
            else:
                np.testing.assert_allclose(found, wanted, rtol=rtol)


def _require_same(found: Any, wanted: Any, guessed: bool) -> None:
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            _require_same(x, y, guessed)
    elif wanted is None or isinstance(wanted, bool):
        assert found is wanted or (isinstance(found, np.bool_) and bool(found) is wanted)
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


def require_values_and_derivatives(f: Callable[..., Any], xs: Sequence[np.ndarray],
                                   raises: tuple[type[Exception], ...] = ()) -> None:
    """Assert that an interpreted program is right at several points, forwards and backwards.

    raises -- the kinds of errors that Python may raise at some points, and then it as well
    """
    with tracejit.config(disable_jit=True):
        f_jit, g = tracejit.jit(f), tracejit.grad(f)
        for x in xs:
            try:
                expected = f(x)
            except raises as e:
                require_error(f_jit, x, type(e))
                continue
            slope = numeric_gradient(f, [x], 0)
            np.testing.assert_allclose(f_jit(x), expected, rtol=1e-12, err_msg=f.__name__)
            np.testing.assert_allclose(g(x), slope, rtol=1e-6, atol=1e-5, err_msg=f.__name__)
            v = np.linspace(1.0, 2.0, x.size)
            _, dot = tracejit.jvp(f, (x,), (v,))
            np.testing.assert_allclose(dot, slope @ v, rtol=1e-6, atol=1e-5, err_msg=f.__name__)


def require_compiled(f: Callable[..., Any], xs: Sequence[np.ndarray],
                     raises: tuple[type[Exception], ...] = ()) -> None:
    """Assert that a compiled gradient within a compiled function is right at several points."""

    def both(x: Any) -> Any:
        return f(x), tracejit.grad(f)(x)

    compiled = tracejit.jit(both)
    for x in xs:
        try:
            expected = f(x)
        except raises as e:
            require_error(compiled, x, type(e))
            continue
        value, slope = compiled(x)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        np.testing.assert_allclose(slope, numeric_gradient(f, [x], 0), rtol=1e-6, atol=1e-5)


def require_error(f: Callable[..., Any], x: np.ndarray, kind: type[Exception]) -> None:
    """Assert that a call raises an error of a kind."""
    found = outcome(f, x)
    assert isinstance(found, kind), found


def loaded(text: str, path: Path) -> Callable[..., Any]:
    """Return the function that a text defines."""
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f  # type: ignore[no-any-return]


def require_same_as_python(f: Callable[..., Any], xs: list[Any], where: str) -> None:
    """Require that a function is right, with its gradient where no jump is near, or refused."""
    with tracejit.config(disable_jit=True):
        f_jit, g = tracejit.jit(f), tracejit.grad(f)
        for x in xs:
            expected, found = outcome(f, x), outcome(f_jit, x)
            if isinstance(found, Refusal):
                assert where in str(found)
                return
            if isinstance(expected, Exception) or isinstance(found, Exception):
                assert type(found) is type(expected), found
                continue
            np.testing.assert_allclose(found, expected, rtol=1e-11)
            slopes = [numeric_gradient(f, [x], 0, step) for step in (1e-6, 2e-6)]
            if np.allclose(*slopes, rtol=1e-4, atol=1e-4):
                np.testing.assert_allclose(g(x), slopes[0], rtol=1e-5, atol=1e-4)
