"""Two results of a user's op may be one array, or views of one, as in Python.

Each program runs as it is and captured: the results are the same, or the program is refused at its
line. Ops whose results are apart are not refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import tracejit

X = np.array([1.5, -0.5, 2.0])
WEIGHTS = np.array([1.0, 10.0, 100.0])
Of = Callable[[Any], Any]
_itself = numba.njit(lambda a: a)
_doubled = numba.njit(lambda a: a * 2.0)


def one(a: Any) -> Any:
    b = a * 2.0
    return b, b


def a_view(a: Any) -> Any:
    b = a * 2.0
    return b, b[::-1]


def a_slice_of_all(a: Any) -> Any:
    b = a * 2.0
    return b[:], b[:]


def one_of_two(a: Any) -> Any:
    b = a * 2.0
    c = b if a[0] > 0.0 else a * 3.0
    return c, b


def at_one_return(a: Any) -> Any:
    b = a * 2.0
    if a[0] < 0.0:
        return b, a * 3.0
    return b, b


def changing_places(a: Any) -> Any:
    b, c = a * 2.0, a * 3.0
    d = b
    for _ in range(2):
        b, c = c, b
    return b, d


def added_to(a: Any) -> Any:
    b = a * 2.0
    c = b
    c += 1.0
    return b, c


def out_of_a_tuple(a: Any) -> Any:
    pair = (a * 2.0, a * 3.0)
    return pair[0], pair[0]


def out_of_a_function(a: Any) -> Any:
    b = a * 2.0
    return b, _itself(b)


def argument_or_result(a: Any) -> Any:
    b = a * 2.0
    c = a if a[0] < 0.0 else b
    return c, b


def given_to_sine(a: Any) -> Any:
    b = a * 2.0
    return np.sin(a, b), b


def computed(a: Any) -> Any:
    return a * 2.0, a * 3.0


def copied(a: Any) -> Any:
    b = a * 2.0
    return b, b.copy()


def filled(a: Any) -> Any:
    b, c = np.zeros(a.shape[0]), np.empty_like(a)
    for k in range(a.shape[0]):
        b[k] = a[k]
        c[k] = b[k] + 1.0
    return b, c


def of_functions(a: Any) -> Any:
    return _doubled(a), _doubled(a)


def of_ufuncs(a: Any) -> Any:
    b = np.sin(a)
    return b, np.exp(b)


TOGETHER = (one, a_view, a_slice_of_all, one_of_two, at_one_return, changing_places, added_to,
            out_of_a_tuple, out_of_a_function, argument_or_result, given_to_sine)
APART = (computed, copied, filled, of_functions, of_ufuncs)
NATIVE_ALONE = (out_of_a_function, of_functions)


def _ops(fn: Of) -> dict[str, Of]:
    made = {"native": tracejit.register_op(f"Twice native {fn.__name__}", numba.njit(fn), 2)}
    if fn not in NATIVE_ALONE:
        made["captured"] = tracejit.register_op(f"Twice captured {fn.__name__}", fn, 2)
        made["custom"] = tracejit.custom_gradient(lambda a: (fn(a), lambda u, v: u + v))
    return made


OPS = {(fn.__name__, kind): op for fn in (*TOGETHER, *APART) for kind, op in _ops(fn).items()}
APART_NAMES = {fn.__name__ for fn in APART}


def _first_is_written(op: Of, x: Any) -> Any:
    y, z = op(x)
    y[0] = 7.0
    return np.sum(z * WEIGHTS)


def _second_is_written(op: Of, x: Any) -> Any:
    y, z = op(x)
    z[0] = 7.0
    return np.sum(y * WEIGHTS)


def _added_to(op: Of, x: Any) -> Any:
    y, z = op(x)
    y += z
    return np.sum(z * WEIGHTS) + np.sum(y)


def _in_a_loop(op: Of, x: Any) -> Any:
    y, z = op(x)
    for k in range(x.shape[0]):
        y[k] += z[0]
    return np.sum(z * WEIGHTS)


def _in_a_branch(op: Of, x: Any) -> Any:
    y, z = op(x)
    if x[0] > 0.0:
        y[1] = 7.0
    return np.sum(z * WEIGHTS)


def _in_a_list(op: Of, x: Any) -> Any:
    found = list(op(x))
    found[0][1] = 7.0
    return np.sum(found[1] * WEIGHTS)


def _by_a_view(op: Of, x: Any) -> Any:
    y, z = op(x)
    part = y[1:]
    part[:] = 3.0
    return np.sum(z * WEIGHTS)


def _out(op: Of, x: Any) -> Any:
    y, z = op(x)
    np.add(z, 1.0, out=y)
    return np.sum(z * WEIGHTS)


WRITERS = (_first_is_written, _second_is_written, _added_to, _in_a_loop, _in_a_branch, _in_a_list,
           _by_a_view, _out)


def _only_read(op: Of, x: Any) -> Any:
    y, z = op(x)
    w = y + 1.0
    for k in range(x.shape[0]):
        w[k] += w[0] * k
    return np.sum(y * w) + np.sum(z * WEIGHTS)


def _one_is_dropped(op: Of, x: Any) -> Any:
    y = op(x)[0]
    y[0] = 7.0
    return np.sum(y * WEIGHTS)


HARMLESS = (_only_read, _one_is_dropped)


@pytest.mark.parametrize("program", [*WRITERS, *HARMLESS], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("name", "kind"), OPS)
def test_results_that_are_one_array_are_one_or_refused(name: str, kind: str, program: Any) -> None:
    op = OPS[name, kind]
    native, mine = X.copy(), X.copy()
    expected = program(op, native)
    refused = ""
    with tracejit.config(disable_jit=True):
        try:
            found = tracejit.jit(lambda x: program(op, x))(mine)
        except tracejit.Refusal as e:
            refused = str(e)
    if refused:
        assert program not in HARMLESS or name == "argument_or_result", refused
        assert name not in APART_NAMES, refused
        assert "test_ops_with_one_result_twice.py:" in refused
        return
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(mine, native)


@pytest.mark.parametrize("program", HARMLESS, ids=lambda f: f.__name__)
def test_machine_code_of_an_op_with_one_result_twice(program: Any) -> None:
    op = OPS["one", "native"]
    assert tracejit.jit(lambda x: program(op, x))(X.copy()) == program(op, X.copy())


def test_the_refusal_names_the_op() -> None:
    op = OPS["one", "native"]
    with pytest.raises(tracejit.Refusal, match="op 'Twice native one' decides which array it is"):
        tracejit.jit(lambda x: _first_is_written(op, x))(X.copy())


def test_a_number_among_the_results_is_no_array() -> None:
    op = tracejit.register_op("Doubled and summed", numba.njit(lambda a: (a * 2.0, a.sum())), 2)

    def program(x: Any) -> Any:
        y, total = op(x)
        x[0], y[1] = 7.0, 3.0
        return total + np.sum(y) + np.sum(x)

    with tracejit.config(disable_jit=True):
        assert tracejit.jit(program)(X.copy()) == program(X.copy())


def test_an_op_from_numbas_cache_is_taken_for_one_that_may() -> None:
    """Numba keeps no code of a cached function to read: the types alone tell."""
    from tracejit.ops.native_aliases import results_in_common

    class Cached:
        type_annotation = "text"

    array, number = numba.float64[::1], numba.float64
    assert results_in_common(Cached(), [array, number, array, array]) == [(0, 2), (0, 3), (2, 3)]
    assert results_in_common(Cached(), [number, array]) == []
