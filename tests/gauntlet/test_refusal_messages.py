"""A refusal names the function that the user wrote, the user's line, and a remedy.

And an error inside of tracejit, which is no refusal, says whose fault it is.
"""

from __future__ import annotations

import calendar
import dataclasses
import datetime
import decimal
import fractions
import functools
import math
import random
import re
import statistics
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.special
import scipy.stats

import tracejit
from tracejit.errors import InternalError, IRError, Refusal

B = np.arange(1.0, 5.0)
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])
SPARSE = scipy.sparse.csr_matrix(np.eye(4))
RNG = np.random.default_rng(0)
t = scipy.stats.t

Case = tuple[Callable[..., Any], tuple[Any, ...], str]
FOUND: dict[str, Case] = {
    "t.moment": (lambda x: t.moment(2, x), (B,), "scipy.stats.t.moment"),
    "stats.weightedtau": (lambda x: scipy.stats.weightedtau(x, B)[0], (B,),
                          "scipy.stats.weightedtau"),
    "solve_ivp": (lambda k: scipy.integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), [k],
                                                      method="Radau", dense_output=True).y,
                  (2.0,), "scipy.integrate.solve_ivp"),
    "sparse **": (lambda x: (SPARSE * x[0]) ** 2, (B,), "power or absolute value of a sparse"),
    "lqn": (lambda x: scipy.special.lqn(1, x[0])[0], (B,), "scipy.special.lqn"),
    "seeded generator": (lambda x: x * np.random.Generator(np.random.PCG64(0)).normal(), (B,),
                         "PCG64 of a seed gives the same numbers"),
}
NEIGHBOURS: dict[str, Case] = {
    "cubature": (lambda a: scipy.integrate.cubature(lambda t: t[:, 0] * a, [0.0], [1.0]).estimate,
                 (2.0,), "scipy.integrate.cubature"),
    "odeint": (lambda k: scipy.integrate.odeint(lambda y, t: -k * y, 1.0, B,
                                                full_output=True)[0], (2.0,),
               "scipy.integrate.odeint"),
    "gamma.moment": (lambda x: scipy.stats.gamma.moment(2, x), (B,), "scipy.stats.gamma.moment"),
    "multivariate normal": (lambda x: scipy.stats.multivariate_normal.cdf(x), (B,),
                            "scipy.stats.multivariate_normal.cdf"),
    "wilcoxon": (lambda x: scipy.stats.wilcoxon(x)[0], (B,), "scipy.stats.wilcoxon"),
    "fhtoffset": (lambda x: scipy.fft.fhtoffset(x[0], 0.0), (B,), "scipy.fft.fhtoffset"),
    "peaks": (lambda x: scipy.signal.find_peaks(x)[0], (B,), "scipy.signal.find_peaks"),
    "label": (lambda x: scipy.ndimage.label(x)[0], (B,), "scipy.ndimage.label"),
    "basinhopping": (lambda a: scipy.optimize.basinhopping(lambda t: (t - a) ** 2, a).x, (2.0,),
                     "scipy.optimize.basinhopping"),
    "leastsq": (lambda a: scipy.optimize.leastsq(lambda t: t * t - a, a)[0], (2.0,),
                "scipy.optimize.leastsq"),
    "fmin": (lambda a: scipy.optimize.fmin(lambda t: (t - a) ** 2, a)[0], (2.0,),
             "scipy.optimize.fmin"),
    "griddata": (lambda x: scipy.interpolate.griddata(np.outer(B, [1.0, 2.0]), x, (2.5, 5.0),
                                                      method="cubic"), (B,),
                 "scipy.interpolate.griddata by method 'cubic'"),
    "lmbda": (lambda x: scipy.special.lmbda(1.5, x[0])[0], (B,), "scipy.special.lmbda"),
    "isnat": (lambda x: np.isnat(x), (B,), "np.isnat"),
    "sparse.max": (lambda x: SPARSE.multiply(x).max(), (B,), "`max` of a sparse matrix"),
    "statistics.linear_regression": (
        lambda x, y: statistics.linear_regression([x, y], [1.0, 2.0]).slope, (1.0, 2.0),
        "statistics.linear_regression"),
    "statistics.quantiles": (lambda x, y: statistics.quantiles([x, y]), (1.0, 2.0),
                             "statistics.quantiles"),
    "math.ulp": (lambda x: math.ulp(x), (2.0,), "math.ulp"),
    "np.random.normal": (lambda x: x * np.random.normal(), (B,), "numpy.random.normal"),
    "a global generator": (lambda x: x * RNG.beta(1.0, 2.0), (B,), "numpy.random.Generator.beta"),
    "RandomState": (lambda x: x * np.random.RandomState(3).rand(), (B,),
                    "RandomState of a seed gives the same numbers"),
    "random.Random": (lambda x: x * random.Random(3).random(), (B,),
                      "random.Random of a seed gives the same numbers"),
    "random.gauss": (lambda x: x * random.gauss(0.0, 1.0), (B,), "random.gauss"),
    "time.time": (lambda x: x * time.time(), (B,), "time.time"),
    "a clock as a result": (lambda x: (x, time.perf_counter()), (B,), "time.perf_counter"),
    "a clock in a decision": (lambda x: x if time.time() > 1.0 else -x, (B,), "time.time"),
    "time.sleep": (lambda x: (time.sleep(0.0), x)[1], (B,), "time.sleep would sleep once"),
    "breakpoint": (lambda x: (breakpoint(), x)[1], (B,), "breakpoint()"),
    "hash": (lambda x: hash(x) * x, (2.0,), "hash()"),
    "np.r_ of a text": (lambda x: np.r_["0,2", x, x], (B,), "np.r_"),
    "unique rows": (lambda x: np.unique(x[:, None], axis=0), (B,), "np.unique"),
}


def refusal(fn: Callable[..., Any], args: tuple[Any, ...]) -> str:
    with pytest.raises(Refusal) as caught:
        tracejit.jit(fn)(*args)
    return str(caught.value)


def check(name: str, case: Case) -> None:
    fn, args, text = case
    message = refusal(fn, args)
    place, _, rest = message.partition(": ")
    lines = range(fn.__code__.co_firstlineno, fn.__code__.co_firstlineno + 3)
    assert place.rpartition(":")[0] == __file__
    assert int(place.rpartition(":")[2]) in lines
    assert text in rest
    assert len(re.findall(r"\. [A-Z]|, or |register_op", rest)) > 0, f"no remedy: {rest}"


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_named(name: str) -> None:
    check(name, FOUND[name])


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_refusal_names_function_line_and_remedy(name: str) -> None:
    check(name, NEIGHBOURS[name])


# --- clocks ---------------------------------------------------------------------------------------


def timed(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def wrapper(*args: Any) -> Any:
        start = time.perf_counter()
        result = fn(*args)
        print(f"{fn.__name__} took {(time.perf_counter() - start) * 1e3:.1f} ms")
        return result

    return wrapper


def test_a_decorator_may_time_a_function(capsys: Any) -> None:
    f = tracejit.grad(timed(lambda x: np.sum(x * x)))
    with tracejit.config(disable_jit=True):
        np.testing.assert_array_equal(f(B), 2.0 * B)
    assert "took" in capsys.readouterr().out


# --- arguments ------------------------------------------------------------------------------------


def test_a_pair_names_has_aux() -> None:
    with pytest.raises(TypeError, match="has_aux=True"):
        tracejit.grad(lambda x: (np.sum(x), x))(B)


def test_an_argument_that_is_passed_by_name_is_named() -> None:
    def f(*, x: Any) -> Any:
        return np.sum(x * x)

    with pytest.raises(TypeError, match='argnums="x"'):
        tracejit.grad(f)(x=B)
    np.testing.assert_array_equal(tracejit.grad(f, argnums="x")(x=B), 2.0 * B)


class Table:
    """Stands for a data frame: of that library, with a shape."""

    shape = (2, 2)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return np.ones((2, 2))


@pytest.fixture
def table(monkeypatch: Any) -> Any:
    module = types.ModuleType("pandas")
    monkeypatch.setitem(sys.modules, "pandas", module)
    monkeypatch.setattr(Table, "__module__", "pandas")
    module.__dict__["Table"] = Table
    return Table()


def test_a_table_as_an_argument_is_refused_with_a_remedy(table: Any) -> None:
    with pytest.raises(Refusal, match=r"pandas\.Table.*Pass x\.to_numpy\(\)"):
        tracejit.jit(lambda t: t)(table)


def test_a_table_from_outside_is_refused_at_the_users_line(table: Any) -> None:
    message = refusal(lambda x: x * table, (B,))
    assert message.startswith(__file__)
    assert "pandas.Table" in message
    assert "to_numpy" in message


# --- faults of tracejit ---------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "error"), [
    ("tracejit.transforms.gradient.gradient_graph", KeyError("planted")),
    ("tracejit.runtime.stages.optimize", AssertionError()),
    ("tracejit.transforms.gradient.gradient_graph", IRError("planted")),
])
def test_a_fault_says_whose_it_is_and_how_to_go_on(place: str, error: Exception,
                                                   monkeypatch: Any) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise error

    module, _, name = place.rpartition(".")
    if not hasattr(sys.modules.get(module), name):
        pytest.skip(f"{place} is not there")
    from tracejit.autodiff import activity

    code = broken.__code__.replace(co_filename=activity.__file__, co_firstlineno=1)
    monkeypatch.setattr(place, types.FunctionType(code, {"error": error}, "broken", None,
                                                  broken.__closure__))
    with pytest.raises((InternalError, IRError)) as caught:
        tracejit.grad(lambda x: np.sum(x * x))(B)
    for part in ("fault of tracejit", "disable_jit=True", "TRACEJIT_DUMP"):
        assert part in str(caught.value)


@pytest.mark.parametrize("error", [KeyError("k"), ValueError("v"), ZeroDivisionError("z"),
                                   AttributeError("a"), AssertionError("s"), StopIteration("i")])
def test_errors_of_users_pass_unchanged(error: Exception) -> None:
    def f(x: Any) -> Any:
        raise error

    with pytest.raises(type(error)) as caught:
        tracejit.jit(f)(B)
    assert caught.value is error
    table: dict[str, float] = {}
    with pytest.raises(KeyError):
        tracejit.jit(lambda x: x * table["missing"])(B)


def test_lists_of_other_lengths_in_branches_are_pythons() -> None:
    def f(x: Any, n: int) -> Any:
        items = [u * w for u, w in zip(x, x, strict=True)]
        for k in range(n):
            if x[k] < -0.21:
                items = [v * -0.4 for v in items]
            else:
                items = [*items[-3:], x[0]]
            items = [*items[-3:], -1.0]
        return sum(items)

    x = np.array([-1.0, 2.0, -3.0, -0.5])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(f)(x, 4), f(x, 4))
        np.testing.assert_allclose(tracejit.grad(f)(x, 4), [0.16, 0.0, 0.0, 0.0])


def test_a_list_of_ints_that_no_capture_settles_on_is_refused_at_its_line() -> None:
    def f(x: Any, n: int) -> Any:
        sums = [0 for _ in range(n)]
        steps = [1, 0.3]
        if x[0] < -0.21:
            for i in range(1, n):
                for j in range(i + 1, n):
                    for k in range(len(x)):
                        sums[k] += steps[j % len(steps)]
        return sum(sums)

    with pytest.raises(Refusal, match=r"test_refusal_messages\.py:\d+: "):
        tracejit.jit(f)(np.array([-1.0, 2.0, 3.0, 4.0]), 4)


@pytest.mark.parametrize("make", [
    lambda n: float(fractions.Fraction(n, 4)), lambda n: float(decimal.Decimal(n)),
    lambda n: datetime.timedelta(days=n).days, lambda n: np.sum(np.hanning(n + 0.5)),
    lambda n: calendar.monthrange(2020, n)[1]])
def test_what_asks_for_the_type_of_a_traced_number_is_refused_by_name(make: Any) -> None:
    with pytest.raises(tracejit.Refusal, match=r"test_refusal_messages.py:\d+: "):
        tracejit.jit(lambda n: make(n))(3)



@dataclasses.dataclass(order=True)
class _Price:
    amount: float


def test_an_order_by_methods_of_data_classes_is_pythons_or_refused_in_place() -> None:
    def least(x: Any) -> Any:
        return sorted([_Price(x), _Price(2.0)])[0].amount

    def in_place(x: Any) -> Any:
        prices = [_Price(x), _Price(2.0)]
        prices.sort()
        return prices[0].amount

    assert [tracejit.jit(least)(x) for x in (1.0, 3.0)] == [1.0, 2.0]
    with pytest.raises(tracejit.Refusal, match=r"test_refusal_messages.py:\d+: "):
        tracejit.jit(in_place)(1.0)


def of_sparse(x: Any) -> Any:
    """Return a sparse matrix, of which no result can be."""
    return SPARSE * x[0]


@pytest.mark.parametrize("transform", [tracejit.jit, tracejit.grad, tracejit.jacobian,
                                       tracejit.vmap, lambda f: tracejit.jit(tracejit.grad(f))])
def test_a_refused_result_names_the_line_of_its_function(transform: Any) -> None:
    """A result is looked at after its function has returned: its caller's line says nothing."""
    line = of_sparse.__code__.co_firstlineno
    with pytest.raises(Refusal, match=rf"test_refusal_messages\.py:{line}: a sparse matrix"):
        transform(of_sparse)(np.stack([B, B]) if transform is tracejit.vmap else B)
