"""Arguments in every layout: a result is a view or a copy as in NumPy, or is refused."""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda x: x[:3, :4].copy(),
    "F": lambda x: np.asfortranarray(x[:3, :4]),
    "transposed": lambda x: x[:4, :3].copy().T,
    "every other row": lambda x: x[:6:2, :4],
    "every other column": lambda x: x[:3, :8:2],
    "rows of more": lambda x: x[1:4],
    "columns of more": lambda x: x.T[1:4, :4],
    "rows reversed": lambda x: x[:3, :4].copy()[::-1],
    "columns reversed": lambda x: x[:3, :4].copy()[:, ::-1],
    "both reversed": lambda x: x[:3, :4].copy()[::-1, ::-1],
    "F reversed": lambda x: np.asfortranarray(x[:3, :4])[::-1],
    "a row repeated": lambda x: np.broadcast_to(x[0, :4], (3, 4)),
    "a column repeated": lambda x: np.broadcast_to(x[:3, :1], (3, 4)),
    "an element repeated": lambda x: np.broadcast_to(x[0, 0], (3, 4)),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x[0, :6], 4),
    "one row": lambda x: x[:1, :4],
    "one column": lambda x: x[:3, :1],
    "a column of F": lambda x: np.asfortranarray(x[:3, :4])[:, :1],
    "one element": lambda x: x[2:3, 3:4],
    "no rows": lambda x: x[:0, :4],
    "read-only": lambda x: read_only(x[:3, :4]),
    "read-only F": lambda x: read_only(np.asfortranarray(x[:3, :4])),
}
"""By name, an array of two axes made of 8 × 9 numbers."""

DEEP: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda x: x.reshape(2, 3, 12)[:, :, :4].copy(),
    "F": lambda x: np.asfortranarray(x.reshape(2, 3, 12)[:, :, :4]),
    "1 0 2": lambda x: x.reshape(3, 2, 12)[:, :, :4].copy().transpose(1, 0, 2),
    "2 0 1": lambda x: x[:4, :6].reshape(4, 2, 3).copy().transpose(1, 2, 0),
    "0 2 1": lambda x: x[:2].reshape(2, 9)[:, :8].reshape(2, 4, 2)[:, :, :1].transpose(0, 2, 1),
    "middle axis sliced": lambda x: x.reshape(2, 9, 4)[:, 2:8:2],
    "middle axis reversed": lambda x: x.reshape(2, 9, 4)[:, 5:2:-1],
    "repeated": lambda x: np.broadcast_to(x[:3, None, :4].transpose(1, 0, 2), (2, 3, 4)),
    "one in the middle": lambda x: np.asfortranarray(x[:2, None, :4]),
}
"""The same with three axes."""


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy(order="K")
    x.flags.writeable = False
    return x


MADE = (
    "a * 2.0", "2.0 - a", "-a", "a + c", "c + a", "a + c.T.T", "a * c[0]", "a + c[:, :1]",
    "np.sin(a)", "abs(a)", "a**2", "a / (1.0 + c)", "np.maximum(a, c)", "np.maximum(a, 0.5)",
    "np.hypot(a, c)", "np.arctan2(a, c)", "(a > 0.5) * 1.0", "a + a.copy('C')", "a + a.copy('F')",
    "a.copy('F') + c", "np.add(a, c)", "np.multiply(a, c.copy('F'))", "np.square(np.exp(a))",
    "np.copy(a)", "np.copy(a, order='C')", "np.copy(a, order='F')", "np.copy(a, order='A')",
    "a.copy()", "a.copy('K')", "a.copy('A')", "a.astype(float)", "a.astype(float, order='C')",
    "a.astype(float, order='A')", "a.astype(np.float32)", "a.astype(float, copy=False)",
    "np.array(a)", "np.array(a, order='C')", "np.array(a, order='F')", "np.array(a, order='A')",
    "np.array(a, copy=True, ndmin=3)", "np.asarray(a)", "np.asarray(a, order='C')",
    "np.asarray(a, order='F')", "np.asarray(a, dtype=np.float32)", "np.ascontiguousarray(a)",
    "np.asfortranarray(a)", "np.zeros_like(a)", "np.ones_like(a) * 0.3", "np.full_like(a, 0.2)",
    "np.empty_like(a) * 0 + a", "np.zeros_like(a, order='C')", "np.zeros_like(a, order='F')",
    "np.zeros_like(a, dtype=np.float32)", "np.zeros_like(a, shape=(2, 5))",
    "np.zeros_like(a.T)", "np.zeros_like(a[:2])", "np.zeros(a.shape)",
    "np.zeros(a.shape, order='F')",
    "np.where(a > 0.5, a, 0.0)", "np.where(a > 0.5, a, c)", "np.where(c > 0.5, a, c)",
    "np.where(c > 0.5, 1.0, a)", "np.select([a > 0.5], [a], c)", "np.select([c > 0.5], [a], 1.0)",
    "np.piecewise(a, [c > 0.5], [2.0, 3.0])",
    "np.clip(a, 0.2, 0.8)", "a.clip(0.2, 0.8)", "np.clip(c, a, 2.0)",
    "np.round(a, 1)", "a.round(2)", "np.nan_to_num(a)", "np.real(a * 1.0)", "a.conj()",
    "np.sum(a[None] * 2.0, axis=0)", "np.sum(a, axis=0, keepdims=True)", "a.mean(1, keepdims=True)",
    "np.cumsum(a, axis=0)", "np.cumsum(a, axis=1)", "np.sort(a, axis=0)", "np.sort(a, axis=1)",
    "np.flip(a) * 1.0", "np.flip(a)", "a[::-1]", "a[:, ::-1].copy('K')", "np.roll(a, 1)",
    "np.roll(a, 1, axis=0)", "np.tile(a, 2)", "np.tile(a, (2, 1))", "np.repeat(a, 2, axis=0)",
    "np.concatenate([a, a])", "np.concatenate([a, c])", "np.concatenate([a, c], axis=1)",
    "np.stack([a, c])", "np.stack([a, a], axis=-1)", "np.vstack([a, a])", "np.hstack([a, c])",
    "np.dstack([a, c])", "np.column_stack([a, a])", "np.block([[a, a], [c, a]])",
    "np.append(a, c, axis=0)", "np.insert(a, 1, 0.5, axis=0)", "np.delete(a, 0, axis=1)",
    "a[[0, 0]]", "a[:, [0, 0]]", "a[[0, 0], :][:, [0, 0]]", "np.take(a, [0, 0], axis=0)",
    "np.take(a, [0, 0], axis=1)", "a[:1]", "a[:, :1]", "a[:, ::2]", "a[::2]", "a[None]",
    "a[:, None]",
    "a[..., None] * 1.0", "np.expand_dims(a, 0)", "np.squeeze(a[None])", "np.atleast_3d(a)",
    "a.T", "a.T * 1.0", "a.T + a.T", "a.swapaxes(0, 1)", "np.moveaxis(a, 0, 1) * 2.0",
    "np.transpose(a).copy()", "np.transpose(a).copy('K')", "a @ c.T", "a.T @ a", "a @ a.T",
    "np.dot(a, c.T)", "np.matmul(a, a.T)", "np.outer(a[:, 0], a[0])", "np.kron(a, c[:1])",
    "np.einsum('ij->ji', a)", "np.einsum('ij->ji', a) * 1.0", "np.einsum('ij,ij->ij', a, c)",
    "np.einsum('ij,kj->ik', a, c)", "np.einsum('ij,kj->ki', a, c)", "np.tensordot(a, c, (1, 1))",
    "np.tensordot(a, c, (0, 0))", "np.linalg.inv(a @ a.T + np.eye(len(a)))",
    "np.linalg.solve(a @ a.T + np.eye(len(a)), a)", "np.linalg.cholesky(a @ a.T + np.eye(len(a)))",
    "np.tril(a)", "np.triu(a)", "np.diff(a, axis=0)", "np.diff(a, axis=1)",
    "np.gradient(np.tile(a, (2, 1)), axis=0)",
    "np.pad(a, 1)", "np.pad(a, 1, mode='edge')", "np.broadcast_to(a, (2, *a.shape)) * 1.0",
    "np.copy(np.broadcast_to(a, (2, *a.shape)))", "np.broadcast_to(a[0], (3, a.shape[1])) + a * 0",
    "np.copy(np.broadcast_to(a[0], (3, a.shape[1])))", "np.meshgrid(a[0], a[:, 0])[0]",
    "np.array([a[0], a[0]])", "np.array([[x * 2.0 for x in r] for r in a])",
    "np.eye(3, order='F')",
    "np.identity(3) + a[:1, :1]", "np.outer(a[0], a[0]).T", "a.reshape(-1)", "a.reshape(a.shape)",
    "a.reshape(a.shape[1], -1)", "a.reshape(a.shape[1], -1, order='F')", "a.ravel()",
    "a.ravel('F')",
    "a.ravel('K')", "a.ravel('A')", "a.flatten()", "a.flatten('F')", "a.T.ravel()",
    "a.T.reshape(-1)", "a.view()", "a[...]", "a.squeeze()", "np.split(a, 1)[0]",
    "np.array_split(a, 2, axis=1)[0]",
    "np.vsplit(a, 1)[0]", "np.rot90(a)", "np.fliplr(a)", "np.flipud(a) + 0.0", "np.diagonal(a)",
    "np.cross(a[:, :3], c[:, :3])" , "np.ix_(a[0] > 0)[0] * 1.0", "np.choose([0], [a[0]])",
    "np.nancumsum(a, axis=0)", "np.cumprod(a, axis=0)", "np.ptp(a, axis=0, keepdims=True)",
    "np.average(a, axis=0, keepdims=True)", "np.median(a, axis=0, keepdims=True)",
    "np.logaddexp(a, c)", "np.power(a, 2.0)", "np.divmod(a, 0.3)[0]", "np.modf(a)[0]",
    "np.ldexp(a, 1)", "np.float_power(a, 2)", "np.heaviside(a - 0.5, 0.5)", "np.copysign(a, -c)",
    "np.interp(a, c[0], c[1])", "np.sinc(a)", "np.trapezoid(a[None], axis=0)",
    "np.vectorize(lambda t: 2.0 * t)(a)", "np.vectorize(lambda t, u: t * u)(a, c)",
    "np.vectorize(lambda t, u: t * u)(a, c[0])", "np.vectorize(lambda t: t)(a.T)",
    "np.apply_along_axis(lambda r: r, 0, a)", "np.apply_along_axis(lambda r: r, 1, a)",
    "np.apply_along_axis(lambda r: r * 2.0, 0, a)", "np.apply_along_axis(lambda r: r[:2], 0, a)",
    "np.apply_along_axis(lambda r: np.outer(r, r), 0, a)",
    "np.apply_along_axis(lambda r: r.sum(), 0, np.stack([a, a]))",
    "np.apply_along_axis(lambda r: r * 2.0, 1, np.stack([a, a]))",
    "np.meshgrid(a[0], c[:, 0], copy=False)[1] * 1.0",
    "np.meshgrid(a[:1, 0], a[0, :1], copy=False)[0]",
    "np.meshgrid(a[:, 0], c[0], copy=False, sparse=True)[0]", "np.broadcast_arrays(a, a)[0]",
    "np.broadcast_arrays(a, c[:1])[1]", "np.broadcast_arrays(a, 1.0)[0]", "np.argwhere(a > 0.5)",
    "np.nonzero(a > 0.5)[0]", "np.where(a > 0.5)[1]", "np.nonzero(a[0] > 0.5)[0]",
    "(a > 0.5).nonzero()[0]", "np.nonzero(a[None] > 0.5)[2]", "np.flatnonzero(a > 0.5)",
    "np.unravel_index(np.arange(4), (3, 3))[0]", "np.unravel_index(np.arange(4), 9)[0]",
    "np.unravel_index(np.array([[1, 4]]), (3, 3))[1]",
)
"""What may be made of `a`, and of `c`, which lies in C order."""

FLAT = ("b.reshape(-1)", "b.ravel()", "b.T.reshape(-1)", "b.T.ravel()", "b[:1].reshape(-1)",
        "b.ravel('F')", "b.reshape(-1, order='F')", "b.flatten()", "b.reshape(b.shape[::-1])",
        "b.swapaxes(0, -1).ravel()", "np.ravel(b)", "np.ascontiguousarray(b)",
        "np.asfortranarray(b)", "b.reshape(-1, 1)", "b[..., ::-1].reshape(-1)",
        "b.reshape(b.shape)", "np.asarray(b, order='C').ravel()")

WRITES = ("r[0:1] = 50.0", "b[0:1] = 50.0", "r *= 3.0", "b += 1.0")

TEXT = """def f(a, c):
    b = {made}
    r = {flat}
    {write}
    return np.sum(b * 1.25) + np.sum(r * 0.5) + np.sum(a * 0.1)
"""


def function(made: str, flat: str, write: str) -> Callable[..., Any]:
    """Return a program of three parts: a base array, an array made of it, and a write."""
    source = TEXT.format(made=made, flat=flat, write=write)
    file = f"<layouts {made} {flat} {write}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    found: Callable[..., Any] = namespace["f"]
    return found


def numbers() -> np.ndarray:
    """Return the numbers that arguments are made of."""
    return np.random.default_rng(5).uniform(0.2, 0.9, (8, 9))


def outcome(f: Callable[..., Any], layout: Callable[[np.ndarray], np.ndarray],
            transform: Any = tracejit.jit) -> str:
    """Return "right", "refused", or "none" where NumPy raises; an assertion fails otherwise."""
    theirs, ours = layout(numbers()), layout(numbers())
    c = np.random.default_rng(7).uniform(0.2, 0.9, theirs.shape[-2:])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of means of nothing, say
            expected = f(theirs, c.copy())
    except Exception:
        expected = None
    try:
        value = transform(f)(ours, c.copy())
    except tracejit.Refusal:
        return "refused"
    except (ValueError, IndexError, TypeError, AttributeError):
        assert expected is None or "read-only" not in str(expected)
        return "raised" if expected is not None else "none"
    assert expected is not None, "NumPy raises"
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    np.testing.assert_allclose(ours, theirs)
    return "right"


def sweep(layouts: dict[str, Any], made: str, seed: int, count: int) -> list[str]:
    """Return the outcomes of some programs about one base, the interpreter running them."""
    choose = random.Random(seed)
    found = []
    with tracejit.config(disable_jit=True):
        for _ in range(count):
            f = function(made, choose.choice(FLAT), choose.choice(WRITES))
            name = choose.choice(list(layouts))
            try:
                found.append(outcome(f, layouts[name]))
            except AssertionError as e:
                raise AssertionError(f"{name}: {f.__code__.co_filename}\n{e}") from None
    return found


@pytest.mark.parametrize("made", MADE)
def test_whatever_is_made_of_an_argument(made: str) -> None:
    sweep(LAYOUTS, made, MADE.index(made), 12)


EXACT = ("a * 2.0", "a + c", "c - a", "a * c[0]", "-a", "np.sin(a)", "a + a.copy('F')",
         "np.copy(a)",
         "np.maximum(a, c)", "a.copy()", "a.copy('F')", "np.zeros_like(a)", "a.astype(float)",
         "np.full_like(a, 2.0)", "np.array(a)", "np.asfortranarray(a)", "np.ascontiguousarray(a)",
         "np.asarray(a, order='F')", "a.astype(float, order='C')", "a @ c.T", "a.T * 1.0",
         "np.where(a > 0.5, a, 0.0)", "np.where(c > 0.5, 1.0, a)", "np.where(a > 0.5, a, c)",
         "np.where(a[0] > 0.5, a, c[:, :1])", "np.select([a > 0.5, a > 0.3], [a, a * 2.0], 1.0)")
"""What NumPy's rules are known for: never refused."""

NOT_ASKED = {"windows", "no rows", "a row repeated", "a column repeated", "an element repeated"}
"""Layouts of which less is known: two strides are equal, or 0, or nothing is there."""


@pytest.mark.parametrize("made", EXACT)
def test_results_of_known_layout_are_right(made: str) -> None:
    gappy = made in ("np.asfortranarray(a)", "np.ascontiguousarray(a)", "np.asarray(a, order='F')")
    with tracejit.config(disable_jit=True):
        for flat in ("b.reshape(-1)", "b.ravel()", "b.T.ravel()"):
            for write in ("r[0:1] = 50.0", "b *= 3.0"):
                f = function(made, flat, write)
                for name, layout in LAYOUTS.items():
                    found = outcome(f, layout)
                    assert found in ("right", "none") or gappy or name in NOT_ASKED, (
                        name, flat, write)


@pytest.mark.parametrize("made", MADE)
def test_whatever_is_made_of_three_axes(made: str) -> None:
    sweep(DEEP, made, 1000 + MADE.index(made), 6)


ROWS = ("a * 2.0", "np.copy(a)", "np.zeros_like(a) + a", "np.zeros_like(a)", "a.astype(float)",
        "np.ascontiguousarray(a)", "np.asfortranarray(a)")


@pytest.mark.parametrize("made", ROWS)
def test_what_was_wrong_once(made: str) -> None:
    a = np.arange(12.0).reshape(3, 4)
    for flat in ("b.reshape(-1)", "b.ravel()"):
        f = function(made, flat, "r[1] = 50.0")
        compute, value_and_slope = tracejit.jit(f), tracejit.value_and_grad(f)
        for x in (a, np.asfortranarray(a), a.T, a.T.copy().T, a[:, ::-1], a.copy()):
            x = x if x.shape == (3, 4) else np.asfortranarray(a)
            if not (made.startswith(("np.asc", "np.asf")) and not (
                    x.flags.c_contiguous or x.flags.f_contiguous)):
                expected = f(x.copy("K"), a)
                np.testing.assert_allclose(value_and_slope(x.copy("K"), a)[0], expected)
                np.testing.assert_allclose(compute(x.copy("K"), a), expected)


def test_the_gradient_is_of_what_numpy_computes() -> None:
    def f(a: Any) -> Any:
        b = a * 2.0
        r = b.reshape(-1)
        r[1] = 50.0
        return np.sum(b * b)

    a = np.arange(12.0).reshape(3, 4)
    slope = tracejit.grad(f)
    for x in (a, np.asfortranarray(a), a[::2], a[:, ::-1], np.broadcast_to(a[0], (3, 4)), a.T):
        expected = 8.0 * x
        if x.flags.c_contiguous or x is not np.asfortranarray(a):
            b = np.array(x * 2.0, order="K", copy=True)
            flat = (x * 2.0).reshape(-1)
            shares = np.shares_memory(*(lambda b: (b, b.reshape(-1)))(x * 2.0))
            del b, flat
            if shares:
                expected[0, 1] = 0.0
        np.testing.assert_allclose(slope(x), expected)
    assert "lies in C order" in slope.trace(a).why()
    assert "in another order" in slope.trace(a.T).why()


def test_a_layout_that_does_not_matter_costs_no_program() -> None:
    @tracejit.jit
    def f(a: Any) -> Any:
        return np.sum((a * 2.0).reshape(-1) ** 2)

    a = np.arange(12.0).reshape(3, 4)
    for x in (a, np.asfortranarray(a), a[::2], a.T):
        np.testing.assert_allclose(f(x), np.sum((x * 2.0) ** 2))
    assert sum(map(len, f._table.values())) == 1
