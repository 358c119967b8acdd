"""Which arrays share memory: NumPy's views are views and its copies copies, or it is refused."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import tracejit

MADE = {
    (2, 3): (
        "A.T.reshape(6)", "A.reshape(6)", "A.reshape(3, 2)", "A.T.ravel()", "A.ravel()",
        "A[:, 1:].ravel()", "A[:, 1:].reshape(-1)", "A[1:].ravel()", "A[:, ::-1].reshape(-1)",
        "A.flatten()", "np.asarray(A)", "np.array(A)", "np.ascontiguousarray(A)",
        "np.ascontiguousarray(A.T)", "np.asfortranarray(A)", "np.asfortranarray(A.T)",
        "np.array(A, order='F').ravel()", "np.asarray(A, order='F')", "np.asarray(A, order='C')",
        "A.astype(float)", "A.astype(float, copy=False)", "A.real", "A.squeeze()", "A[None]",
        "np.expand_dims(A, 1)", "np.flip(A)", "np.fliplr(A)", "np.atleast_2d(A)",
        "np.split(A, 2)[1]", "np.array_split(A, 2, axis=1)[0]", "np.einsum('ij->ji', A)",
        "np.broadcast_to(A, (2, 2, 3))", "np.moveaxis(A, 0, 1)", "A.mT", "A[...]", "A[[0, 1]]",
        "A[:, 1]", "np.copy(A)", "A.copy()", "+A", "A.conj()", "np.squeeze(A[:1])", "np.tile(A, 1)",
        "np.roll(A, 0)", "np.concatenate([A])", "np.reshape(A, (3, 2), order='F')",
        "A.reshape(6, order='F')", "A.T.reshape(6, order='F')", "A.ravel('F')", "A.T.ravel('F')",
        "A.T.T.reshape(6)", "A.T.copy().reshape(6)",
        "np.zeros((2, 3), order='F').ravel()", "A.ravel('K')", "A.T.ravel('A')"),
    (6,): ("A[::2].ravel()", "A[::2].reshape(-1)", "A[::-1].ravel()", "A[::2].reshape(3, 1)",
           "A[::-1].reshape(2, 3)", "A[1:].reshape(5, 1)", "np.atleast_2d(A)"),
    (4, 3): ("A[::2].reshape(6)", "A[::2].reshape(2, 3, 1)", "A[::2].ravel()"),
    (2, 3, 4): (
        "A.reshape(6, 4)", "A[:, :, :2].reshape(6, 2)", "A[:, :2].reshape(4, 4)",
        "A.transpose(0, 2, 1).reshape(2, 12)", "A.transpose(1, 0, 2).reshape(3, 8)",
        "A.swapaxes(0, 1).reshape(3, 2, 2, 2)", "A[0].reshape(12)", "A[:, 0].reshape(8)",
        "A[:, 0].reshape(2, 2, 2)", "A[..., 0].reshape(6)", "A[:, 1:, None].reshape(2, -1)"),
    (3, 3, 4): ("A.transpose(2, 0, 1).reshape(1, 4, 1, 9).transpose(2, 3, 1, 0).reshape(-1)",),
    (1, 3): ("A.T.reshape(3)", "A.T.ravel()", "A.squeeze()", "A[:, ::2].ravel()"),
    (3, 1): ("A.T.reshape(3)", "A[:, 0].ravel()", "A[::2].reshape(2)"),
    (3, 3): ("A[:, 0].ravel()", "A[:, 0].reshape(3, 1)", "A[:1].T.reshape(-1)"),
}
"""By the shape of A, what is made of it."""

WRITES = ("B[0] = 7.0", "A[0] = 7.0", "B *= 3.0")

BASES = (
    "A", "np.sin(A)", "np.sin(A.T)", "np.zeros_like(A.T)", "A.T.copy()", "np.copy(A.T)", "A.T * 2",
    "np.array(A.T)", "A.T.astype(float)", "np.where(A.T > 0, A.T, 1.0)", "np.cumsum(A.T, axis=0)",
    "np.sort(A.T, axis=0)", "np.concatenate([A.T, A.T])", "A.T[[0, 1]]", "A.T @ A",
    "np.maximum(A.T, 0.1)", "np.ones((2, 3)).T * A.T", "np.full_like(A.T, 2.0)",
    "np.empty_like(A.T) * 0 + A.T", "A[0][:, None] * A[1]", "A.sum(axis=0, keepdims=True)",
    "np.stack([A.T, A.T]).sum(0)", "np.outer(A[0], A[1])", "A[:, [0, 1]]", "np.roll(A.T, 1)",
    "np.tile(A.T, 2)", "np.einsum('ij->ji', A) * 1", "np.clip(A.T, 0, 1)", "np.diff(A.T, axis=0)",
    "np.flip(A.T)", "np.linalg.inv(A[:, :2] + 3 * np.eye(2)).T", "np.take(A, [0, 1], axis=1)",
    "np.abs(A.T)", "-A.T", "A.T**2", "np.tril(A.T)", "np.kron(A.T, np.ones((1, 1)))",
    "A[:, ::-1] * 1", "np.pad(A.T, 1)", "np.gradient(A.T, axis=0)", "np.zeros((3, 2), order='F')",
    "A.T.copy('F')", "A.T.copy('K')", "rebound(A.T)", "rebound(A)", "chosen(A)", "written(A)")
"""What is then flattened; NumPy lays out what it makes of a transposed array column by column."""

FLAT = ("B.ravel()", "B.reshape(-1)", "B.T.ravel()", "B[:1].ravel()", "B.T.reshape(-1)")

HELPERS = """def rebound(B):
    for _ in range(2):
        B = B * 0.5
    return B

def chosen(A):
    if A[0, 0] > 9.0:
        B = A * 2.0
    else:
        B = np.sin(A.T).T
    return B

def written(A):
    B = np.zeros((2, 3))
    for i in range(2):
        B[i] = A[i]
    return B

"""


def outcome(body: str, *shapes: tuple[int, ...]) -> str:
    """Return "right" or "refused" for calls of one function; an assertion fails otherwise."""
    source = HELPERS + "def f(a):\n    A = a * 1.0\n" + "".join(
        f"    {line}\n" for line in body.splitlines())
    file = f"<layout {body}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, file, "exec"), namespace)
    f: Callable[[Any], Any] = namespace["f"]
    traced = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        for shape in shapes:
            a = np.random.default_rng(len(shape)).uniform(0.2, 1.0, shape)
            try:
                expected = f(a.copy())
            except (ValueError, IndexError):  # NumPy's is read-only, or has no such element
                continue
            try:
                value = traced(a.copy())
            except tracejit.Refusal:
                return "refused"
            np.testing.assert_allclose(value, expected, rtol=1e-12, err_msg=f"{shape}:\n{body}")
    return "right"


@pytest.mark.parametrize("shape", MADE)
def test_views_are_views_and_copies_are_copies(shape: tuple[int, ...]) -> None:
    outcomes = [outcome(f"B = {made}\n{write}\nreturn np.sum(A * 1.7) + np.sum(B)", shape)
                for made in MADE[shape] for write in WRITES]
    assert outcomes.count("right") >= 0.8 * len(outcomes)


def random_chain(seed: int) -> tuple[tuple[int, ...], str]:
    """Return a shape of A, and views of views of it."""
    choose = random.Random(seed)
    shape = tuple(choose.choice((1, 2, 3, 4)) for _ in range(choose.randint(1, 3)))
    view, text = np.zeros(shape), "A"

    def another_shape() -> tuple[int, ...]:
        sizes, rest = [], view.size
        while rest > 1 and len(sizes) < 3:
            sizes.append(choose.choice([d for d in range(1, rest + 1) if rest % d == 0]))
            rest //= sizes[-1]
        return (*sizes, rest)

    for _ in range(choose.randint(0, 3)):
        order = tuple(choose.sample(range(view.ndim), view.ndim))
        at = [choose.choice((":", "::-1", "::2", "1:", ":-1", "0", ":1", "None, :"))
              for _ in view.shape]
        step = choose.choice((f".transpose({order})", f".reshape({another_shape()})",
                              f"[{', '.join(at)}]"))
        after = eval(f"view{step}", {"view": view})
        if after.ndim and after.size:
            view, text = after, text + step
    return shape, text + choose.choice((f".reshape({another_shape()})", ".ravel()", ".reshape(-1)"))


@pytest.mark.parametrize("chunk", range(6))
def test_random_chains_of_views(chunk: int) -> None:
    for seed in range(60 * chunk, 60 * chunk + 60):
        shape, made = random_chain(seed)
        body = f"B = {made}\nB[0] = 7.0\nA[0] += 1.0\nreturn np.sum(A * 1.7) + np.sum(B)"
        assert outcome(body, shape) == "right"


@pytest.mark.parametrize("flat", FLAT)
def test_the_order_of_axes_of_what_numpy_makes(flat: str) -> None:
    outcomes = [outcome(f"B = {base}\nC = {flat}\nC[0] = 7.0\n"
                        "return np.sum(B * 1.7) + np.sum(C) + np.sum(A)", (2, 3)) for base in BASES]
    assert outcomes.count("right") >= 10


@pytest.mark.parametrize("made", [
    "A.T.reshape(-1)", "A.T.ravel()", "A[:, :2].reshape(-1)", "A[:, :2].ravel()", "A[:, 0].ravel()",
    "A[:, 0].reshape(-1)", "A[:2].reshape(-1)", "A[::2].ravel()", "A[::2].reshape(-1)",
    "A.reshape(-1, 1)", "A.T.reshape(len(A), -1)", "A[:, :1].reshape(1, -1)", "A.squeeze()",
    "A.T.squeeze().ravel()", "A[:, ::-1].ravel()", "A[None].T.reshape(-1)"])
def test_one_program_is_right_for_every_size(made: str) -> None:
    shapes = ((3, 4), (2, 2), (1, 3), (3, 1), (1, 1), (4, 2), (2, 1), (1, 2), (3, 2))
    for write in WRITES[:2]:
        body = f"B = {made}\n{write.replace('[0]', '[0:1]')}\nreturn np.sum(A * 1.7) + np.sum(B)"
        assert outcome(body, *shapes) == "right"


@pytest.mark.parametrize("made", ["np.diagonal(A)", "np.diag(A)", "np.einsum('ii->i', A)",
                                  "np.broadcast_to(A, (2, 3, 3))"])
def test_what_is_a_copy_here_is_not_taken_for_a_view(made: str) -> None:
    reads = f"B = {made}\ns = np.sum(B)\nA[0] = 7.0\nreturn np.sum(A * 1.7) + s"
    assert outcome(reads, (3, 3)) == "right"
    assert outcome(f"B = {made}\nA[0] = 7.0\nreturn np.sum(B)", (3, 3)) == "refused"


def test_arguments_that_are_not_contiguous_get_programs_of_their_own_where_it_matters() -> None:
    def writes(x: Any) -> Any:
        v = x.ravel()
        v[0] = 5.0
        return np.sum(x)

    def reads(x: Any) -> Any:
        return np.sum(x.ravel() * 2.0)

    columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for jit in (False, True):
        with tracejit.config(disable_jit=not jit):
            assert tracejit.jit(reads)(columns) == 30.0
            assert tracejit.jit(writes)(np.arange(6.0).reshape(2, 3)) == 20.0
            assert tracejit.grad(writes)(columns).tolist() == [[1.0] * 3] * 2
            assert tracejit.jit(writes)(columns) == 15.0
    slope = tracejit.grad(writes)

    @numba.njit  # type: ignore[untyped-decorator]
    def caller(x: Any) -> Any:
        return slope(x)

    with pytest.raises(numba.TypingError, match="not contiguous in C order"):
        caller(columns)
