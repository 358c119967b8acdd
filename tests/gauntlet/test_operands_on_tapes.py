"""Operands of recorded calls: what a user changes later, and sizes that data decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tracejit

X = np.array([1.5, 0.5, 2.5, 1.0])


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    with tracejit.config(disable_jit=True):
        yield


def _taped(fn: Callable[[Any], Any], x: np.ndarray,
           afterwards: Callable[[], object] = lambda: None) -> np.ndarray:
    """Return the gradient by a tape; `afterwards` is called between recording and asking."""
    held = tracejit.constant(x)
    with tracejit.GradientTape() as tape:
        tape.watch(held)
        y = fn(held)
    afterwards()
    found: np.ndarray = tape.gradient(y, held).numpy()
    return found


def _differences(fn: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    found = np.empty(x.shape)
    for at in np.ndindex(x.shape):
        h = np.zeros(x.shape)
        h[at] = 1e-6
        found[at] = (fn(x + h) - fn(x - h)) / 2e-6
    return found


# --- arrays of the user's -----------------------------------------------------------------------


def _read_only(x: np.ndarray) -> np.ndarray:
    view = x.view()
    view.flags.writeable = False
    return view


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "array": lambda a: a, "view": lambda a: a[:], "read-only": _read_only,
    "broadcast": lambda a: np.broadcast_to(a, (4, 4)),
    "broadcast number": lambda a: np.broadcast_to(a[0], (4,)),
    "broadcast pair": lambda a: np.broadcast_arrays(a, np.ones((4, 1)))[0],
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, 4),
    "strided": lambda a: np.lib.stride_tricks.as_strided(a, (4, 4), (0, 8), writeable=False),
    "diagonal": lambda a: np.diagonal(np.broadcast_to(a, (4, 4)).T),
    "view of read-only": lambda a: _read_only(a)[::-1],
    "imaginary part": lambda a: _read_only(a).real,
    "frozen": lambda a: _read_only(a).reshape(2, 2).reshape(4),
}


USES: dict[str, Callable[[Any, Any], Any]] = {
    "mul": lambda x, v: np.sum(x * v), "rdiv": lambda x, v: np.sum(v / x),
    "power": lambda x, v: np.sum(x ** v), "matmul": lambda x, v: np.sum(v @ x),
    "ufunc": lambda x, v: np.sum(np.hypot(x, v)), "dot": lambda x, v: np.sum(np.dot(v, x)),
    "where": lambda x, v: np.sum(np.where(v > 1.5, x * x, x)),
    "where=": lambda x, v: np.sum(x * x * v, where=_read_only(v > 1.5)),
    "einsum": lambda x, v: np.sum(np.einsum("...i,i->...", v, x * x)),
    "stack": lambda x, v: np.sum(np.prod(np.stack([x, np.ravel(v)[:4]]), axis=0)),
    "jit": lambda x, v: np.sum(MULTIPLIED(x, v)),
    "custom": lambda x, v: np.sum(CUSTOM(x, v)),
}
MULTIPLIED = tracejit.jit(lambda x, v: x * v * v)
CUSTOM = tracejit.custom_gradient(lambda x, v: (x * v, lambda u: (np.sum(u * v, axis=0) if
                                                                  v.ndim > 1 else u * v, None)))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_change_of_an_operand_leaves_the_recording(view: str, use: str) -> None:
    for _ in range(3):  # the second time there is a plan
        base = np.array([1.0, 2.0, 3.0, 4.0])
        v = VIEWS[view](base)
        expected = _differences(lambda x, v=v: USES[use](x, v), X)

        def change(base: np.ndarray = base) -> None:
            base[...] = [9.0, 1.0, 7.0, 0.5]

        found = _taped(lambda x, v=v: USES[use](x, v), X, change)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


# --- sizes by data ------------------------------------------------------------------------------

CHOSEN: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "repeat": lambda x, n: np.repeat(x, n),
    "method": lambda x, n: x.repeat(n),
    "repeat by value": lambda x, n: np.repeat(x, tracejit.constant(n) if _is_taped(x) else n),
    "extract": lambda x, n: np.extract(n > 0, x),
    "extract by value": lambda x, n: np.extract(_held(x, n > 0), x),
    "compress": lambda x, n: np.compress(_held(x, n > 0), x),
    "mask": lambda x, n: x[n > 0],
    "mask by value": lambda x, n: x[_held(x, n > 0)],
    "mask of itself": lambda x, n: (x * n)[x * n > 0.2],
    "unique": lambda x, n: np.unique(x * (n * [1.0, 1.1, 1.2, 1.3])),
}
READ: dict[str, Callable[[Any], Any]] = {
    "mean": np.mean, "method": lambda y: y.mean(), "squares": lambda y: (y * y).sum(),
    "var": np.var, "add": lambda y: np.sum((y + y) * y) / len(y), "dot": lambda y: y @ y,
    "norm": np.linalg.norm, "sin": lambda y: np.sum(np.sin(y) * y), "cumsum":
    lambda y: np.sum(np.cumsum(y) ** 2), "reverse": lambda y: np.sum(y[::-1] * y * y),
}
COUNTS = [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1], [2, 1, 0, 3], [0, 0, 2, 2]]


def _is_taped(x: Any) -> bool:
    return not isinstance(x, np.ndarray)


def _held(x: Any, mask: np.ndarray) -> Any:
    return tracejit.constant(mask) if _is_taped(x) else mask


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize("chosen", CHOSEN)
def test_a_result_of_another_size_has_a_type_of_its_own(chosen: str, read: str) -> None:
    for counts in map(np.array, COUNTS * 2):
        def fn(x: Any, counts: np.ndarray = counts) -> Any:
            return READ[read](CHOSEN[chosen](x, counts))

        found = _taped(fn, X)
        np.testing.assert_allclose(found, _differences(fn, X), rtol=1e-5, atol=1e-6)


# --- vmap ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [{"w": 0, "bias": 0}, {"w": 0}, {"w": 0, "b": 0, "c": 0}, {}])
def test_vmap_takes_axes_under_the_keys_of_the_argument(axes: dict[str, int]) -> None:
    mapped = tracejit.vmap(lambda p: np.sum(p["w"] * p["b"]), in_axes=(axes,))
    with pytest.raises(ValueError, match=r"does not fit what it is for.* 'b'"):
        mapped({"w": np.ones((3, 2)), "b": np.ones((3, 2))})
