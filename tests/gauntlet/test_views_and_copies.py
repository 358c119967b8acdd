"""Functions that return views, copies or their argument: a write tells which, of either's name."""

from __future__ import annotations

import itertools
import linecache
import warnings
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, numeric_gradient

import tracejit

SOURCES = {
    "an element": "x[0, 1]", "a sum": "x.sum()", "a product of numbers": "x[0, 1] * 2.0",
    "a float": "s", "NumPy's float": "np.float64(s)", "an array without axes": "np.array(s)",
    "a view without axes": "x[0, 1, ...]", "an argument without axes": "z",
    "an array of one": "x[0, :1]", "a matrix of one": "x[:1, :1]", "a row": "x[1]",
    "an argument": "x", "new memory": "x * 2.0", "the transpose": "x.T",
    "gaps": "x[:, ::2]", "Fortran's order": "np.asfortranarray(x)", "three axes": "x[None] * 1.0",
    "square": "x[:, :2]", "no elements": "x[:0]",
}
"""Arrays and numbers, made of a matrix `x`, a float `s` and an array without axes `z`."""

INDICES = ["y[0]", "y[-1]", "y[...]", "y[()]", "y[None]", "y[..., None]", "y[:]", "y[:1]",
           "y[::-1]", "y[0, ...]", "y[..., 0]", "y[0, 0]", "y[0:1, 0]", "y[[0]]", "y[[0], :]",
           "y[i]", "y[i, :]", "y[..., i]", "y[i, i]", "y[i, 0]", "y[0, i]", "y[i, ...]",
           "y[:, i]", "y[i, None]", "y[None, i]", "y[i:]", "y[:1, i]", "y[G]",
           "y[..., G]", "y[j]", "y[..., j]",
           "y[np.array(0)]", "y[np.array(0), ...]", "y[np.int64(0)]", "y[np.argmax(y)]",
           "y[y == y]", "y[np.ones_like(y, bool)]", "y[k]", "y[..., k]", "y[x > 0]"]
"""Indices: `i` and `G` are arrays without axes, `j` one of NumPy's ints, `k` an int."""

SHAPES = [
    "y.reshape(-1)", "np.reshape(y, -1)", "y.reshape(y.shape)", "y.reshape((1, *y.shape))",
    "y.reshape(1)", "y.reshape(1, 1)", "y.reshape(())", "np.reshape(y, (1,))",
    "np.reshape(y, -1, order='F')", "np.reshape(y, y.shape, copy=True)", "y.ravel()",
    "np.ravel(y)", "np.ravel(y, order='F')", "y.flatten()", "np.atleast_1d(y)",
    "np.atleast_2d(y)", "np.atleast_3d(y)", "np.expand_dims(y, 0)", "np.expand_dims(y, -1)",
    "np.squeeze(y)", "y.squeeze()", "np.squeeze(y, axis=())", "np.transpose(y)", "y.T",
    "y.transpose()", "y.mT", "np.matrix_transpose(y)", "np.swapaxes(y, 0, -1)",
    "np.moveaxis(y, 0, -1)", "np.rollaxis(y, 0)", "np.permute_dims(y)", "np.flip(y)",
    "np.flipud(y)", "np.fliplr(y)", "np.rot90(y)", "np.rot90(y, 0)", "np.rot90(y, 4)",
    "np.roll(y, 0)", "np.roll(y, 1)", "np.roll(y, 0, axis=0)", "np.broadcast_to(y, (2, *y.shape))",
    "np.broadcast_arrays(y, y)", "np.broadcast_arrays(y, 1.0)", "np.meshgrid(y, y, copy=False)",
    "np.meshgrid(y, y)", "np.split(y, 1)", "np.array_split(y, 2)", "np.vsplit(y, 1)",
    "np.hsplit(y, 1)", "np.unstack(y)", "np.diagonal(y)", "np.diag(y)", "np.diagflat(y)",
    "np.trim_zeros(y)", "np.resize(y, y.shape)", "np.tile(y, 1)", "np.repeat(y, 1)",
    "np.delete(y, [], axis=0)", "np.append(y, [])", "np.pad(y, 0)", "np.concatenate([y])",
    "np.stack([y])", "np.vstack([y])", "np.hstack([y])", "np.dstack([y])",
    "np.column_stack([y])", "np.block(y)", "np.block([y])", "np.block([[y]])"]
"""Functions of shapes."""

VALUES = [
    "np.asarray(y)", "np.asanyarray(y)", "np.array(y)", "np.array(y, copy=None)",
    "np.array(y, ndmin=2)", "np.array(y, copy=None, ndmin=2)", "np.asarray(y, float)",
    "np.asarray(y, np.float32)", "np.asarray(y, order='F')", "np.ascontiguousarray(y)",
    "np.asfortranarray(y)", "np.asarray_chkfinite(y)", "np.copy(y)", "y.copy()", "np.real(y)",
    "y.real", "np.imag(y)", "np.real_if_close(y)", "y.astype(float)", "y.astype(float, copy=False)",
    "np.float64(y)", "float(y)", "y.item()", "y.conj()", "y.conjugate()", "np.conj(y)", "+y",
    "np.positive(y)", "abs(y)", "np.abs(y)", "y + 0", "y * 1", "np.nan_to_num(y)",
    "np.nan_to_num(y, copy=False)", "np.round(y)", "y.round()", "np.clip(y, None, None)",
    "y.clip(-99, 99)", "np.sum(y, axis=())", "np.take(y, 0)", "np.take(y, 0, axis=0)",
    "np.take(y, i, axis=0)", "np.take(y, k, axis=-1)", "y.take(0)", "y.take([0])",
    "np.take(y, 0, axis=0, mode='clip')", "np.take(y, 0, axis=0, mode='wrap')",
    "np.compress([True], y, axis=0)", "np.choose(0, [y, y])", "np.where(True, y, y)",
    "np.select([True], [y])", "np.linalg.matrix_power(y, 1)", "np.linalg.matrix_power(y, 2)",
    "np.diff(y, n=0)", "np.einsum('ij->ij', y)", "np.einsum('ij->ji', y)", "np.einsum('ii->i', y)",
    "np.einsum('...->...', y)", "np.triu(y)", "np.tril(y, 9)", "np.sort(y)", "np.cumsum(y)",
    "np.max(y, axis=())", "np.mean(y, axis=0)", "np.max(y, keepdims=True)", "np.polyder(y, 0)",
    "np.polyint(y, 0)", "np.apply_along_axis(lambda v: v, 0, y)", "np.linalg.multi_dot([y, y.T])",
    "np.linalg.diagonal(y)", "np.linalg.matrix_transpose(y)", "np.fft.fftshift(y)", "np.unwrap(y)",
    "np.add.reduce(y, axis=())", "np.lib.stride_tricks.sliding_window_view(y, 1, axis=0)",
    "np.vectorize(lambda v: v)(y)", "np.frompyfunc(abs, 1, 1)(y)", "np.maximum(y, y)",
    "np.full_like(y, y)", "np.ones_like(y)"]
"""Functions of values."""

WRITES = {
    "the result": ("r[...] = 77.0", "x.sum() + 1000.0 * np.sum(y)"),
    "the source": ("y[...] = 66.0", "np.sum(r)"),
    "both, in place": ("r += 3.0", "x.sum() + 1000.0 * np.sum(y) + 7.0 * np.sum(r)"),
}
"""A statement, and what it changes or leaves alone."""


def program(source: str, shown: str, write: str, result: str) -> Any:
    """Return a function that makes `r` of `y`, writes, and returns what the write has changed."""
    text = (f"def f(x, s, z, i, j, k):\n    y = {source}\n    r = {shown}\n"
            f"    if type(r) in (tuple, list):\n        r = r[0]\n    {write}\n"
            f"    return {result}\n")
    name = f"<views {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np, "G": np.array(0)}
    exec(compile(text, name, "exec"), namespace)  # a program of the table
    return namespace["f"]


def arguments() -> tuple[Any, ...]:
    """Return a matrix, a float, an array without axes, and three ways to say the index 0."""
    return (np.arange(1.0, 7.0).reshape(2, 3), 2.5, np.array(3.5), np.array(0), np.int64(0), 0)


def outcome(f: Any) -> Any:
    """Return a call's result and the arguments after it; None of an error."""
    given = arguments()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = f(*given)
    except tracejit.Refusal:
        return "refused"
    except Exception:  # of NumPy or Python, whichever a write to a number or a read-only view gives
        return None
    return repr((float(found), given[0].tolist(), float(given[2])))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("group", [INDICES, SHAPES, VALUES], ids=["indices", "shapes", "values"])
def test_a_write_is_seen_by_the_names_that_see_it_in_numpy(source: str, group: list[str]) -> None:
    wrong, right, refused = [], 0, 0
    for shown, write in itertools.product(group, WRITES):
        f = program(SOURCES[source], shown, *WRITES[write])
        wanted = outcome(f)
        if wanted is None:
            continue
        with tracejit.config(disable_jit=True):
            found = outcome(tracejit.jit(f))
        if found == "refused" or found is None:
            refused += 1
        elif found != wanted:
            wrong.append(f"{shown}, a write to {write}: {found}, NumPy {wanted}")
        else:
            right += 1
    assert not wrong, "\n".join(wrong)
    assert right > 2 * refused or not refused


def test_gradients_do_not_pass_through_the_copies_of_numbers_and_of_index_arrays() -> None:
    def of_a_number(x: Any) -> Any:
        y = x[0]
        z = y.reshape(1)
        z[0] = 77.0
        return y * x[1]

    def summed(x: Any) -> Any:
        t = x[0] * 1.0
        out = t.reshape(1)
        for v in x:
            out += v
        return t * out[0]

    def picked(x: Any) -> Any:
        y = np.outer(x, x)
        row = y[np.array(0)]
        row[0] = 5.0
        return np.sum(y * y)

    x = np.array([2.0, 3.0])
    with tracejit.config(disable_jit=True):
        for f in (of_a_number, summed, picked):
            assert_close(tracejit.grad(f)(x), numeric_gradient(f, [x], 0))


def test_elements_that_a_mask_leaves_out_are_not_checked() -> None:
    def powers(n: Any) -> Any:
        a = n[n > 0]
        return np.sum(a ** a)

    def exponents(n: Any) -> Any:
        return np.sum(2 ** n[n > 0]) + np.max(2 ** n[n > 0])

    def written(n: Any) -> Any:
        y, m = np.zeros(4, int), n > 0
        y[m] = 2 ** n[m]
        return y.sum()

    def chosen(n: Any) -> Any:
        return np.sum(2 ** n[n < 4])

    n = np.array([3, -2, 5, -1])
    with tracejit.config(disable_jit=True):
        for f in (powers, exponents, written):
            assert tracejit.jit(f)(n) == f(n)
        for x in (n, n.astype(np.int32)):
            with pytest.raises(ValueError, match="negative integer powers"):
                tracejit.jit(chosen)(x)
            with pytest.raises(ValueError, match="negative integer powers"):
                tracejit.jit(lambda x: x ** np.int64(-1))(x)


def test_a_part_of_complex_numbers_that_are_written_to_is_refused_or_right() -> None:
    def kept(x: Any) -> Any:
        z = x + 1j * x
        r = PART(z)
        z[0] = 5.0
        return r.sum()

    def in_a_loop(x: Any) -> Any:
        z = x + 1j * x
        for k in range(len(x)):
            z[k] = PART(z)[k] * 2
        return z.real.sum()

    def copied(x: Any) -> Any:
        z = x + 1j * x
        r = PART(z).copy()
        z *= 2.0
        return r.sum()

    x = np.array([1.0, 2.0, 3.0])
    parts: list[Any] = [lambda z: z.real, lambda z: z.imag, np.real, np.imag]
    with tracejit.config(disable_jit=True):
        for part in parts:
            globals()["PART"] = part
            with pytest.raises(tracejit.Refusal, match=r"u = x.copy\(\)"):
                tracejit.jit(kept)(x)
            for f in (in_a_loop, copied):
                assert tracejit.jit(f)(x) == f(x)


PART: Any = np.real

STRIDED = ["x.T[::2]", "x.T", "x[:, ::2]", "x[::-1]", "x.T[1:]", "x.T[:, :1]", "x[:, 1:]",
           "x.T[::-1]", "x * 1.0", "np.asfortranarray(x)[1:]", "np.asfortranarray(x)[:, 1:]",
           "np.broadcast_arrays(x, x)[0]", "np.broadcast_to(x, (2, 3))"]
"""Arrays that lie in C order, in Fortran's, or with gaps."""

ORDERED = [*(f"{{}}.copy('{order}')" for order in "ACFK"), "{}.astype(float, order='A')",
           "np.copy({}, order='A')", "np.array({}, order='A')", "np.zeros_like({}, order='A')",
           "np.full_like({}, 2.0, order='A')", "np.einsum('ij,kj->ik', {}, {})",
           "np.einsum('ij,jk->ki', {}, {}.T)", "np.einsum('ji,jk->ik', {}, {})",
           "np.einsum('ij->ji', {})", "np.einsum('ij,j->ij', {}, {}[0])"]
"""Functions that copy in the order that is asked for, or that NumPy's iterator has."""


@pytest.mark.parametrize("source", STRIDED)
def test_the_order_of_a_result_decides_what_is_flattened_as_a_view(source: str) -> None:
    right = 0
    for ordered, flat in itertools.product(ORDERED, ("r.reshape(-1)", "r.ravel()",
                                                     "r.T.reshape(-1)")):
        result = ordered.replace("{}", "y")
        f = program(source, result, f"w = {flat}; w[0] = 77.0", "np.sum(r)")
        with tracejit.config(disable_jit=True):
            found = outcome(tracejit.jit(f))
        assert found in ("refused", outcome(f)), (result, flat)
        right += found != "refused"
    assert right > len(ORDERED)
