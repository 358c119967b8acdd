"""A library's function is known by its identity, not by its name; so are transforms of it."""

from __future__ import annotations

import functools
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special
from oracles import assert_close, numeric_gradient

import tracejit
from tracejit.tree import flatten

X = np.array([0.3, -0.2, 0.9])
A = np.array([[2.0, 0.5], [0.3, 1.5]])

TAKEN_FOR = (scipy.special.logsumexp, scipy.special.softmax, scipy.special.erf, scipy.linalg.det,
             scipy.linalg.inv, scipy.linalg.norm, np.sum, np.exp, np.linalg.det, np.zeros,
             np.random.normal, math.sin, time.time, random.random, len, sum, isinstance, print,
             functools.partial, tracejit.grad)


@pytest.fixture(autouse=True)
def _interpreted() -> Iterator[None]:
    with tracejit.config(disable_jit=True, verify=True):
        yield


def _label(f: Any) -> str:
    return f"{getattr(f, '__module__', 'ufunc')}.{f.__name__}"


def _named(library: Any, fn: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(library, updated=())(fn)


def _branching(v: Any) -> Any:
    total = 0.0
    for item in v:
        if item > 0.0:
            total = total + 3.0 * item ** 2
        else:
            total = total - item
    return total


class _Callable:
    """An object with the name of a function."""

    def __init__(self, library: Any) -> None:
        functools.update_wrapper(self, library, updated=())

    def __call__(self, v: Any) -> Any:
        return _branching(v)


@pytest.mark.parametrize("library", TAKEN_FOR, ids=_label)
@pytest.mark.parametrize("dress", [
    lambda library: _named(library, lambda v: _branching(v)), _Callable,
    lambda library: functools.partial(_named(library, lambda scale, v: scale * _branching(v)), 1.0),
    lambda library: _named(library, lambda *v: _branching(*v))],
    ids=["a function", "an object", "a partial", "any arguments"])
def test_a_function_with_a_librarys_name_is_a_users_function(library: Any, dress: Any) -> None:
    f = dress(library)
    expected = _branching(X)
    assert_close(tracejit.jit(f)(X), expected)
    assert_close(tracejit.jit(lambda v: f(v))(X), expected)
    assert_close(tracejit.grad(f)(X), numeric_gradient(_branching, (X,), 0))
    assert_close(tracejit.hessian(f)(X), np.diag(np.where(X > 0.0, 6.0, 0.0)))


def test_a_function_may_say_that_it_is_of_a_librarys_module() -> None:
    def erf(v: Any) -> Any:
        return 3.0 * v

    erf.__module__ = "scipy.special"
    np.testing.assert_array_equal(tracejit.jit(erf)(X), 3.0 * X)


# --- transforms of a library's function are those of a lambda around it -------------------------

LIBRARY: dict[Any, Any] = {
    scipy.special.logsumexp: X, scipy.special.softmax: X, scipy.special.log_softmax: X,
    scipy.special.erf: X, scipy.special.expit: X, scipy.special.ndtr: X, scipy.special.log_expit: X,
    scipy.linalg.det: A, scipy.linalg.inv: A, scipy.linalg.norm: X, np.sum: X, np.prod: X,
    np.mean: X, np.exp: X, np.tanh: X, np.cumsum: X, np.sort: X, np.linalg.det: A,
    np.linalg.inv: A, np.linalg.norm: X, math.sin: 0.4, math.exp: 0.4, math.erf: 0.4, abs: -0.7,
    sum: X, max: X, np.transpose: A, np.diag: X, np.var: X, np.max: X,
}


def _jvp(f: Any, x: Any) -> Any:
    return tracejit.jvp(f, (x,), (x,))


DIRECT: dict[str, Callable[[Any, Any], Any]] = {
    "jit": lambda f, x: tracejit.jit(f)(x),
    "grad": lambda f, x: tracejit.grad(f)(x),
    "hessian": lambda f, x: tracejit.hessian(f)(x),
    "jacfwd": lambda f, x: tracejit.jacfwd(f)(x),
    "jacrev": lambda f, x: tracejit.jacrev(f)(x),
    "vmap": lambda f, x: tracejit.vmap(f)(np.stack([x, x])),
    "jvp": _jvp,
    "jvp in jit": lambda f, x: tracejit.jit(lambda v: _jvp(f, v))(x),
    "hvp": lambda f, x: tracejit.hvp(f, (x,), (x,)),
    "vjp": lambda f, x: tracejit.vjp(f, x)[1](np.asarray(f(x)) * 1.0),
    "vjp in jit": lambda f, x: tracejit.jit(lambda v: _pulled(f, v))(x),
    "grad in jit": lambda f, x: tracejit.jit(tracejit.grad(f))(x),
    "checkpoint": lambda f, x: tracejit.jit(tracejit.checkpoint(f))(x),
    "stop_gradient": lambda f, x: tracejit.jit(lambda v: tracejit.stop_gradient(f(v)))(x),
    "partial": lambda f, x: tracejit.jit(functools.partial(f))(x),
    "jit(jit)": lambda f, x: tracejit.jit(tracejit.jit(f))(x),
    "map": lambda f, x: tracejit.jit(lambda v: tracejit.map(f, v))(np.stack([x, x])),
}


def _pulled(f: Any, v: Any) -> Any:
    value, pullback = tracejit.vjp(f, v)
    return value, pullback(value)


def _outcome(how: str, f: Any, x: Any) -> Any:
    try:
        return flatten(DIRECT[how](f, x))[0]
    except (TypeError, ValueError, tracejit.Refusal) as e:
        return type(e)


@pytest.mark.parametrize("how", DIRECT)
@pytest.mark.parametrize("library", LIBRARY, ids=_label)
def test_a_transform_of_a_librarys_function_is_that_of_a_lambda(library: Any, how: str) -> None:
    x = LIBRARY[library]
    direct = _outcome(how, library, x)
    around = _outcome(how, lambda v: library(v), x)
    if isinstance(around, type):
        assert direct is around
        return
    assert not isinstance(direct, type), direct
    for a, b in zip(direct, around, strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.shape(a) == np.shape(b)


def test_the_rows_that_were_found() -> None:
    lse = scipy.special.logsumexp
    p = scipy.special.softmax(X)
    assert_close(tracejit.hessian(lse)(X), np.diag(p) - np.outer(p, p))
    assert tracejit.hessian(scipy.linalg.det)(A).shape == (2, 2, 2, 2)
    assert_close(tracejit.jit(lambda v: tracejit.vjp(scipy.special.softmax, v)[0])(X), p)

    @functools.wraps(lse)
    def twice(x: Any) -> Any:
        return 2.0 * lse(x)

    assert_close(tracejit.jit(twice)(X), 2.0 * lse(X))
    assert_close(tracejit.grad(twice)(X), 2.0 * p)


def test_a_library_has_functions_of_the_same_name_elsewhere() -> None:
    import scipy.sparse.linalg

    with pytest.raises(tracejit.Refusal, match=r"scipy\.sparse\.linalg\.norm of what"):
        tracejit.jit(lambda a: scipy.sparse.linalg.norm(a))(A)


# --- functions that are put in the place of a library's ------------------------------------------

PATCHED = ("sum", "exp", "tanh", "where", "reshape", "matmul", "log", "maximum", "mean",
           "transpose", "zeros_like", "multiply", "conj", "concatenate", "take", "sqrt")


def _many(x: Any) -> Any:
    total = np.sum(np.tanh(np.exp(x))) + np.mean(np.where(x > 0.0, np.log(np.maximum(x, 1.0)), x))
    total = total + np.sum(np.transpose(np.reshape(x, (3, 1))) @ np.reshape(x, (3, 1)))
    return total + np.sum(np.concatenate((x, np.sqrt(np.multiply(x, x) + 1.0))) * x[0])


@pytest.mark.parametrize("name", PATCHED)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_a_function_in_the_place_of_numpys_is_called_by_users_code_alone(
        name: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    original = getattr(np, name)
    assert_close(tracejit.jit(_many)(X), _many(X))

    def other(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        return result if scale == 1.0 else scale * result

    def points() -> Iterator[np.ndarray]:
        for k in range(3):
            for sign in (1.0, -1.0):
                step = np.array([0.0, 0.0, 0.0])
                step[k] = sign * 1e-6
                yield X + step

    monkeypatch.setattr(np, name, other)
    value = _many(X)
    around = [_many(x) for x in points()]
    found, slope = tracejit.value_and_grad(_many)(X)
    monkeypatch.undo()
    assert_close(found, value)
    expected = [(a - b) / 2e-6 for a, b in zip(around[::2], around[1::2], strict=True)]
    assert_close(slope, np.array(expected), 1e-6)


@pytest.mark.parametrize("name", ["logsumexp", "erf", "softmax"])
def test_a_function_in_the_place_of_scipys_is_the_users(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(v: Any) -> Any:
        return 3.0 * v

    other.__name__, other.__module__ = name, "scipy.special"
    monkeypatch.setattr(scipy.special, name, other)
    np.testing.assert_array_equal(
        tracejit.jit(lambda v: getattr(scipy.special, name)(v))(X), 3.0 * X)


SHADOWED = {"sum": lambda v: sum(v) * 2.0, "abs": lambda v: abs(v) * 2.0,
            "len": lambda v: len(v) * v[1], "max": lambda v: max(v) * 2.0}


@pytest.mark.parametrize("name", SHADOWED)
def test_a_function_in_the_place_of_a_builtin_is_the_users(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), name, lambda v: v[0] * 7.0)
    np.testing.assert_array_equal(tracejit.jit(SHADOWED[name])(X), SHADOWED[name](X))


def test_a_callable_object_is_not_asked_for_its_hash_or_whether_it_is_equal() -> None:
    class Odd:
        def __hash__(self) -> int:
            return hash(np.sum)

        def __eq__(self, other: object) -> bool:
            return True

        def __call__(self, v: Any) -> Any:
            return np.prod(v)

    odd = Odd()
    np.testing.assert_array_equal(tracejit.jit(lambda v: odd(v))(X), np.prod(X))


PLACES = {"numpy": (np, "tanh", lambda v: np.sum(np.tanh(v)), np.arctan),
          "numpy's fold": (np, "sum", lambda v: np.sum(v * v), np.max),
          "numpy.linalg": (np.linalg, "norm", lambda v: np.linalg.norm(v), np.max),
          "math": (math, "exp", lambda v: v[0] * math.exp(0.5) + math.exp(v[1]), np.arctan),
          "scipy": (scipy.special, "erf", lambda v: np.sum(scipy.special.erf(v)), np.arctan)}
"""A function's module and name, a program that calls it, and a function that can stand for it."""


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_library_function_that_is_replaced_later_is_seen(
        place: str, is_compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, f, stand = PLACES[place]
    original = getattr(module, name)
    with tracejit.config(disable_jit=not is_compiled, verify=not is_compiled):
        g = tracejit.value_and_grad(f)
        before = g(X)
        for other in (lambda v: 3.0 * stand(v), original, lambda v: 5.0 + stand(v)):
            monkeypatch.setattr(module, name, other)
            value, slope = g(X)
            assert_close(value, f(X))
            assert_close(slope, numeric_gradient(f, (X,), 0))
        monkeypatch.setattr(module, name, original)
        np.testing.assert_array_equal(g(X)[1], before[1])


ONE_FOR_ANOTHER = """
import numpy as np
np.{name} = np.{other}
import tracejit
try:
    tracejit.grad(lambda x: np.sum(np.sin(x)))(np.ones(3))
except tracejit.Refusal as e:
    print("refused", "which is not NumPy's {last}" in str(e))
"""


@pytest.mark.parametrize(("name", "other"), [("sin", "cos"), ("sum", "prod"), ("clip", "minimum"),
                                             ("linalg.norm", "linalg.det"), ("where", "add")])
def test_one_of_numpys_functions_in_the_place_of_another_is_refused(name: str, other: str) -> None:
    program = ONE_FOR_ANOTHER.format(name=name, other=other, last=name.rpartition(".")[2])
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            check=False)
    assert result.stdout.splitlines() == ["refused True"], result.stderr


ANOTHER_OF_ITS_NAME = """
import numpy as np
import numpy._core.umath
numpy._core.umath.real = np.conjugate
import tracejit
print(tracejit.grad(lambda x: np.sum(x * x))(np.ones(2)))
"""


def test_a_ufunc_of_numpys_inside_may_have_the_name_of_a_function() -> None:
    """As `real` and `imag` in NumPy 2.5."""
    result = subprocess.run([sys.executable, "-c", ANOTHER_OF_ITS_NAME], capture_output=True,
                            text=True, check=False)
    assert result.stdout.split() == ["[2.", "2.]"], result.stderr


REPLACED_BEFORE = """
import numpy as np, tracejit
original = np.{name}
np.{name} = lambda *args, **kwargs: 2.0 * original(*args, **kwargs)
try:
    tracejit.grad(lambda x: np.sum(np.tanh(x)))(np.ones(3))
except tracejit.Refusal as e:
    print("refused", "which is not NumPy's" in str(e))
np.{name} = original
print(tracejit.grad(lambda x: np.sum(2.0 * x))(np.ones(3)))
"""


@pytest.mark.parametrize("name", ["sum", "tanh", "linalg.inv"])
def test_numpy_has_to_be_numpy_when_it_is_first_seen(name: str) -> None:
    result = subprocess.run([sys.executable, "-c", REPLACED_BEFORE.format(name=name)],
                            capture_output=True, text=True, check=False)
    assert result.stdout.splitlines() == ["refused True", "[2. 2. 2.]"], result.stderr


def test_scipy_is_not_imported_to_know_its_functions() -> None:
    program = """
import sys, numpy as np, tracejit
def logsumexp(x):
    return np.sum(x) * 3.0
print(tracejit.jit(logsumexp)(np.ones(2)), "scipy.special" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                            check=True, env={**os.environ,
                                             "TRACEJIT_DISABLE_JIT": "1"})
    assert result.stdout.split() == ["6.0", "False"], result.stdout


NUMBERS = (0.0, -0.0, 1.0, 1.0 + 1e-10, 1.0 + 2e-9, -1.0, math.inf, -math.inf, math.nan, 1e308,
           5e-324, 2)


@pytest.mark.parametrize("tolerances", [(1e-9, 0.0), (0.0, 0.0), (0.5, 1e-3), (-1.0, 0.0),
                                        (0.1, -1.0)])
def test_numbers_are_close_as_in_python(tolerances: tuple[float, float]) -> None:
    def f(a: Any, b: Any, rel: Any, least: Any) -> Any:
        return math.isclose(a, b, rel_tol=rel, abs_tol=least)

    compiled = tracejit.jit(f)
    for a in NUMBERS:
        for b in NUMBERS:
            if min(tolerances) < 0.0:
                with pytest.raises(ValueError, match="tolerances must be non-negative"):
                    compiled(a, b, *tolerances)
            else:
                assert compiled(a, b, *tolerances) == f(a, b, *tolerances)


def test_a_loop_ends_where_numbers_are_close() -> None:
    def mean(a: Any, b: Any) -> Any:
        while True:
            a, b = (a + b) / 2.0, math.sqrt(a * b)
            if math.isclose(a, b, rel_tol=1e-14):
                return a

    value, slope = tracejit.value_and_grad(mean)(2.0, 3.0)
    assert value == mean(2.0, 3.0)
    assert_close(slope, (mean(2.0 + 1e-6, 3.0) - mean(2.0 - 1e-6, 3.0)) / 2e-6, 1e-8)
