"""Arrays without axes: unlike with scalars, a write to one is seen by all its names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from oracles import assert_close, numeric_gradient

import tracejit

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Enter a function of one vector."""
    PROGRAMS[fn.__name__] = fn
    return fn


@program
def two_names(x: Any) -> Any:
    acc = np.zeros(())
    ref = acc
    acc += x[0]
    return ref + acc * 0


@program
def of_a_number(x: Any) -> Any:
    c = np.array(x[0])
    d = c
    d += 1
    return c * 2


@program
def written_as_a_whole(x: Any) -> Any:
    c = np.zeros(())
    c[()] = x[0]
    c[...] += x[1]
    return c * 1.0


@program
def accumulator(x: Any) -> Any:
    c = np.zeros(())
    for v in x:
        c += v
    return c + 0


@program
def view_of_one_element(x: Any) -> Any:
    c = x[:1]
    d = c.reshape(())
    c += 1
    return d * 2.0


@program
def out(x: Any) -> Any:
    out = np.empty(())
    np.sum(x, out=out)
    r = out
    np.add(out, 1, out=out)
    return r * 1


@program
def twice_in_a_list(x: Any) -> Any:
    c = np.array(2.0)
    L = [c, c]
    L[0] += x[0]
    return L[1] * 1


@program
def ellipsis(x: Any) -> Any:
    c = x[0, ...] if False else x[..., 0]
    c[...] = 5
    return x[0] + c


@program
def asarray_of_a_scalar(x: Any) -> Any:
    c = np.asarray(x[0])
    c += 1.0
    return x[0] * c


@program
def squeezed(x: Any) -> Any:
    c = np.squeeze(x[:1])
    c += 1
    return x[0] * c


@program
def in_a_dict(x: Any) -> Any:
    d = {"a": np.zeros(())}
    e = d["a"]
    for v in x:
        d["a"] += v
    return e * 1.0


@program
def attribute(x: Any) -> Any:
    class S:
        pass

    s = S()
    s.t = np.zeros(())
    k = s.t
    s.t += x[0]
    return k + 0


@program
def in_branches_of_a_loop(x: Any) -> Any:
    acc = np.zeros(())
    ref = acc
    for v in x:
        if v > 0:
            acc += v * v
        else:
            acc -= v
    return acc * ref


@program
def replaced_by_a_scalar(x: Any) -> Any:
    acc = np.array(1.0)
    for v in x:
        acc = acc * v + 1
    t = acc
    acc += 1
    return t * acc


@program
def in_a_while(x: Any) -> Any:
    acc = np.array(0.0)
    k = 0
    while acc < 1.0:
        acc += abs(x[k % 3])
        k += 1
    return acc * k


@program
def changing_places(x: Any) -> Any:
    a = np.array(x[0])
    b = np.array(x[1])
    for _ in range(3):
        a += b * 0.5
        a, b = b, a
    return a * 2 + b


@program
def element_of_an_argument(x: Any) -> Any:
    row = x[..., 1]
    row *= 3
    return np.sum(x) + row


@program
def view_written_in_a_loop(x: Any) -> Any:
    u = x.copy()
    s = u[1:2].reshape(())
    for v in x:
        s += v
    return np.sum(u * u)


@program
def in_a_list_in_a_loop(x: Any) -> Any:
    L = [np.zeros(()) for _ in range(2)]
    for i in range(4):
        L[i % 2] += x[i % 3]
    return L[0] * L[1]


@program
def kept_at_every_step(x: Any) -> Any:
    s = np.zeros(())
    h = []
    for i in range(3):
        s += x[i]
        h.append(s)
    return h[0] + h[1] * 2 + h[2]


@program
def maximum(x: Any) -> Any:
    m = np.array(-1e9)
    for v in x:
        m = np.maximum(m, v)
    m -= 1
    return m * x[0]


@program
def of_ints(x: Any) -> Any:
    s = np.zeros((), np.int64)
    for i in range(3):
        s += i
    return x[0] * s


@program
def passed_to_a_function(x: Any) -> Any:
    def add(acc, v):
        acc += v
        return acc

    t = np.zeros(())
    for v in x:
        add(t, v)
    n = 0.0
    for v in x:
        add(n, v)
    return t + n


@program
def copy_of_a_scalar(x: Any) -> Any:
    s = x[0].copy()
    t = s
    s += 1
    return t * s


@program
def scalar_of_numpy(x: Any) -> Any:
    t = np.float64(2.0)
    u = t
    t += x[0]
    return u * t


@program
def copy_of_an_element(x: Any) -> Any:
    s = np.asarray(x[0])
    s[...] = x[1]
    return s + x[0]


@program
def add_at(x: Any) -> Any:
    s = np.zeros(())
    np.add.at(s, (), x[0])
    return s * 2


@program
def reshaped(x: Any) -> Any:
    s = np.sum(x, keepdims=True).reshape(())
    s /= 2
    return s * x[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_arrays_without_axes_are_arrays(name: str) -> None:
    fn, x = PROGRAMS[name], np.array([0.7, -0.4, 1.6])
    with tracejit.config(disable_jit=True):
        value, slope = tracejit.value_and_grad(fn)(x)
        assert_close(value, fn(x.copy()))
        assert_close(slope, numeric_gradient(lambda x: fn(x.copy()), [x], 0))


@pytest.mark.parametrize(
    "name",
    [
        "in_branches_of_a_loop",
        "changing_places",
        "kept_at_every_step",
        "view_written_in_a_loop",
        "passed_to_a_function",
    ],
)
def test_kernels_have_them_too(name: str) -> None:
    fn, x = PROGRAMS[name], np.array([0.7, -0.4, 1.6])
    value, slope = tracejit.value_and_grad(fn)(x)
    assert_close(value, fn(x.copy()))
    assert_close(slope, numeric_gradient(lambda x: fn(x.copy()), [x], 0))


RETURNED: dict[str, Callable[[Any], Any]] = {
    "made": lambda x: np.zeros(()), "full": lambda x: np.full((), x[0]),
    "reshaped": lambda x: x[:1].reshape(()), "a view": lambda x: x[0, ...],
    "squeezed": lambda x: np.squeeze(x[:1]), "a sum": np.sum, "an item": lambda x: x[0],
    "of ints": lambda x: np.asarray(3), "a conversion": lambda x: np.astype(x[0], np.float32),
    "a product": lambda x: np.array(x[0]) * 2.0, "cast": lambda x: np.array(x[0]).astype(int),
    "several": lambda x: (np.sum(x), np.array(x[0]), x, 2.0, {"a": np.copy(x[1])}),
    "twice": lambda x: (lambda y: [y, y])(np.array(x[0])),
    "of both paths": lambda x: np.zeros(()) if x[0] > 0.0 else np.array(x[1]),
    **{name: PROGRAMS[name] for name in ("two_names", "accumulator", "of_a_number")},
}


def _kinds(result: object) -> Any:
    """Return the types and dtypes in nested results."""
    if isinstance(result, (tuple, list)):
        return [_kinds(x) for x in result]
    if isinstance(result, dict):
        return {name: _kinds(x) for name, x in result.items()}
    return type(result), getattr(result, "dtype", None), np.shape(result)


@pytest.mark.parametrize("name", RETURNED)
def test_an_array_without_axes_is_returned_as_one_and_a_number_as_one(name: str) -> None:
    f, x = RETURNED[name], np.array([0.5, -1.5, 2.0])
    expected = _kinds(f(x))
    with tracejit.config(disable_jit=True):
        assert _kinds(tracejit.jit(f)(x)) == expected
    if name in ("several", "accumulator"):
        compiled = tracejit.jit(f)
        assert [_kinds(compiled(x)) for _ in range(3)] == [expected] * 3  # then by the fast entry


def test_the_value_beside_a_gradient_is_the_functions_own() -> None:
    def f(x: Any) -> Any:
        total = np.zeros(())
        total += np.sum(x * x)
        return total

    x, kind = np.array([1.0, 2.0]), (np.ndarray, np.float64, ())
    with tracejit.config(disable_jit=True):
        assert _kinds(tracejit.value_and_grad(f)(x)[0]) == kind
        assert _kinds(tracejit.grad(lambda x: (f(x), (2.0, f(x))), has_aux=True)(x)[1][1]) == kind
        assert _kinds(tracejit.vjp(f, x)[0]) == kind
        assert _kinds(tracejit.jvp(f, (x,), (x,))[0]) == kind
        assert tracejit.vmap(f)(np.ones((2, 3))).tolist() == [3.0, 3.0]
