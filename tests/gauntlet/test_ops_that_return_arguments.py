"""What a user's op or gradient of one's own returns may be its argument, as in Python.

Each program runs as it is, with the functions that it is made of, and captured: the result and the
argument afterwards are the same, or the program is refused at its line.
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

FUNCTIONS: dict[str, Of] = {
    "itself": lambda a: a,
    "all of it": lambda a: a[:],
    "backwards": lambda a: a[::-1],
    "reshaped": lambda a: a.reshape(a.shape[0]),
    "one of two": lambda a: a if a[0] > 0.0 else a * 2.0,
    "the other of two": lambda a: a * 2.0 if a[0] > 0.0 else a,
    "a copy": lambda a: a.copy(),
    "computed": lambda a: a * 2.0,
}
SEPARATE = {"a copy", "computed"}


def _ops(name: str, fn: Of) -> dict[str, Of]:
    return {
        "native": tracejit.register_op(f"Returns native {name}", numba.njit(fn)),
        "captured": tracejit.register_op(f"Returns captured {name}", fn),
        "custom": tracejit.custom_gradient(lambda a: (fn(a), lambda u: u)),
    }


OPS = {name: _ops(name, fn) for name, fn in FUNCTIONS.items()}


def _argument_is_written(op: Of, x: Any) -> Any:
    y = op(x)
    x[0] = 7.0
    return np.sum(y * WEIGHTS)


def _result_is_written(op: Of, x: Any) -> Any:
    y = op(x)
    y[0] = 7.0
    return np.sum(x * WEIGHTS) + np.sum(y)


def _result_is_added_to(op: Of, x: Any) -> Any:
    y = op(x)
    y += 1.0
    return np.sum(x * WEIGHTS) + np.sum(y)


def _result_takes_its_name(op: Of, x: Any) -> Any:
    x = op(x)
    x[0] = 7.0
    return np.sum(x * WEIGHTS)


def _in_a_branch(op: Of, x: Any) -> Any:
    y = op(x) if x[1] < 0.0 else x * 2.0
    y[0] = 7.0
    return np.sum(x * WEIGHTS)


def _in_a_loop(op: Of, x: Any) -> Any:
    y = x + 1.0
    z = y
    for k in range(x.shape[0]):
        y = op(y)
        y[k] += 1.0
    return np.sum(z * WEIGHTS) + np.sum(y)


def _in_a_list(op: Of, x: Any) -> Any:
    ys = [op(x), x * 2.0]
    ys[0][1] = 7.0
    return np.sum(x * WEIGHTS) + np.sum(ys[1])


def _as_out(op: Of, x: Any) -> Any:
    y = op(x)
    np.multiply(x, 2.0, out=y)
    return np.sum(x * WEIGHTS)


def _twice(op: Of, x: Any) -> Any:
    y, z = op(x), op(x)
    y[0] = 7.0
    return np.sum(z * WEIGHTS)


def _in_a_row(op: Of, x: Any) -> Any:
    y = op(op(x))
    y[0] = 7.0
    return np.sum(x * WEIGHTS)


def _compared(op: Of, x: Any) -> Any:
    return 1.0 if op(x) is x else 2.0


WRITERS = (_argument_is_written, _result_is_written, _result_is_added_to, _result_takes_its_name,
           _in_a_branch, _in_a_loop, _in_a_list, _as_out, _twice, _in_a_row, _compared)


def _only_read(op: Of, x: Any) -> Any:
    y = op(x)
    return np.sum(y * WEIGHTS) + np.sum(op(y) * x)


def _of_a_temporary(op: Of, x: Any) -> Any:
    y = op(x + 1.0)
    y[0] = 7.0
    return np.sum(y * WEIGHTS) + np.sum(x)


def _copied(op: Of, x: Any) -> Any:
    y = op(x).copy()
    y[0] = 7.0
    x[1] = 3.0
    return np.sum(x * WEIGHTS) + np.sum(y)


HARMLESS = (_only_read, _of_a_temporary, _copied)


@pytest.mark.parametrize("kind", ["native", "captured", "custom"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("program", [*WRITERS, *HARMLESS], ids=lambda f: f.__name__)
def test_a_result_that_is_an_argument_is_one_or_refused(program: Any, name: str, kind: str) -> None:
    op = OPS[name][kind]
    native, mine = X.copy(), X.copy()
    expected = program(op, native)
    refused = ""
    with tracejit.config(disable_jit=True):
        try:
            found = tracejit.jit(lambda x: program(op, x))(mine)
        except tracejit.Refusal as e:
            refused = str(e)
    if refused:
        assert program not in HARMLESS, refused
        assert name not in SEPARATE, refused
        assert "test_ops_that_return_arguments.py:" in refused
        return
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(mine, native)


@pytest.mark.parametrize("kind", ["native", "captured", "custom"])
@pytest.mark.parametrize("program", HARMLESS, ids=lambda f: f.__name__)
def test_machine_code_of_an_op_that_returns_its_argument(program: Any, kind: str) -> None:
    op = OPS["itself"][kind]
    native, mine = X.copy(), X.copy()
    assert tracejit.jit(lambda x: program(op, x))(mine) == program(op, native)
    np.testing.assert_array_equal(mine, native)


def test_the_refusal_names_the_op() -> None:
    op = OPS["itself"]["captured"]
    with pytest.raises(tracejit.Refusal, match="op 'Returns captured itself' decides which array"):
        tracejit.jit(lambda x: _result_is_written(op, x))(X.copy())
