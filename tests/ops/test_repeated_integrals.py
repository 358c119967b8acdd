"""`dblquad`, `tplquad`, `nquad`, and `quad` in `quad`: SciPy's numbers, and derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad, nquad, quad, tplquad

import tracejit

Case = tuple[Callable[[Any], Any], Callable[[float], float]]
SCALE = 3.0


def _disc(r: Any) -> Any:
    return dblquad(lambda y, x: 1.0 + 0.0 * x, 0, 1, 0, lambda x: r * (2.0 - x))[0]


def _in_turn(p: Any) -> Any:
    return quad(lambda x: quad(lambda y: math.exp(-p * x * y), 0.0, x)[0], 0.0, 1.0)[0]


def _moment(p: float) -> float:
    """Return the derivative of `_in_turn`, by a rule of Gauss."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x, u = 0.5 + 0.5 * nodes[:, None], 0.5 + 0.5 * nodes
    inner = 0.25 * weights[:, None] * weights * x
    return float(np.sum(inner * -x * x * u * np.exp(-p * x * x * u)))


INTEGRALS: dict[str, Case] = {
    "constants": (lambda p: dblquad(lambda y, x: p * p * x * y, 0, 1, 0, 2)[0],
                  lambda p: 2.0 * p),
    "ends that are functions": (_disc, lambda r: 1.5),
    "all ends": (lambda p: dblquad(lambda y, x, k: k * x * y, p, 2 * p, lambda x: p,
                                   lambda x: 2.0 * p * x, args=(p,))[0],
                 lambda p: 7 * (7.5 * p ** 6) - 5 * 0.75 * p ** 4),
    "options": (lambda p: nquad(lambda x, y, k: k * x * y, [lambda y, k: (0.0, y), [0.0, 1.0]],
                                args=(p,), opts=[{"epsabs": 1e-6}, lambda k: {"limit": 20}])[0],
                lambda p: 0.125),
    "one number": (lambda p: nquad(lambda x: math.exp(p * x), [[0.0, 1.0]])[0],
                   lambda p: ((p - 1.0) * math.exp(p) + 1.0) / p ** 2),
    "a number of the module": (lambda p: nquad(lambda x, y: SCALE * p * x * y, [
        [0, 1], [0, 1]])[0], lambda p: 0.75),
    "in turn": (_in_turn, _moment),
    "three numbers": (lambda p: tplquad(lambda z, y, x: p * x * z, 0, 1, 0, lambda x: x, 0,
                                        lambda x, y: x + p * y)[0],
                      lambda p: 0.1 + 0.2 * p + 0.1 * p * p)}


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_are_scipys_and_derivatives_are_right(name: str) -> None:
    f, slope = INTEGRALS[name]
    with tracejit.config(disable_jit=True):
        value, found = tracejit.value_and_grad(f)(0.37)
    assert type(value) is float
    assert value == pytest.approx(f(0.37), rel=1e-13)
    assert found == pytest.approx(slope(0.37), rel=1e-9)


@pytest.mark.parametrize("name", ["in turn", "ends that are functions"])
def test_kernels_compute_the_same_integrals(name: str) -> None:
    f, slope = INTEGRALS[name]
    value, found = tracejit.value_and_grad(f)(0.37)
    np.testing.assert_allclose(value, f(0.37), rtol=1e-13)
    np.testing.assert_allclose(found, slope(0.37), rtol=1e-9)


def test_errors_are_the_largest_of_all_levels() -> None:
    def f(p: Any) -> Any:
        return dblquad(lambda y, x: abs(y - p) + (x > 0.5) * x, 0, 1, 0, 1, epsabs=1e-3)

    with tracejit.config(disable_jit=True):
        (value, error), tangents = tracejit.jvp(f, (0.37,), (1.0,))
    assert value == pytest.approx(f(0.37)[0], rel=1e-13)
    assert error == pytest.approx(f(0.37)[1], rel=1e-6)
    np.testing.assert_allclose(tangents, (2.0 * 0.37 - 1.0, 0.0), rtol=1e-2)


def test_second_derivatives_and_batches_are_right() -> None:
    def f(p: Any) -> Any:
        return dblquad(lambda y, x: p ** 3 * x * y, 0, p, 0, 1)[0]  # p ** 5 / 4

    p = np.array([0.4, 0.9])
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.grad(tracejit.grad(f))(0.4), 5.0 * 0.4 ** 3, rtol=1e-9)
        np.testing.assert_allclose(tracejit.vmap(f)(p), p ** 5 / 4.0, rtol=1e-13)


def test_integrands_print_once_for_each_place(capsys: pytest.CaptureFixture[str]) -> None:
    def f(p: Any) -> Any:
        def g(y: Any, x: Any) -> Any:
            print("here")
            return p * x * y

        return dblquad(g, 0, 1, 0, 1)[0]

    f(0.5)
    plain = capsys.readouterr().out
    with tracejit.config(disable_jit=True):
        tracejit.grad(f)(0.5)
    assert capsys.readouterr().out == plain != ""


@pytest.mark.parametrize(("f", "message"), [
    (lambda p: nquad(lambda x: x * p, [[0, 1]], full_output=True)[0], "full_output="),
    (lambda p: nquad(lambda x: x * p, [[0, 1]], opts={"weight": "cos", "wvar": 1.0})[0],
     "weight as a factor"),
    (lambda p: nquad(lambda x, y: x * p, [[0, 1], [0, 1]], opts={"complex_func": True})[0],
     "Integrate the real")])
def test_refusals_of_several_numbers_name_a_remedy(f: Any, message: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match=message):
        tracejit.jit(f)(0.5)


@pytest.mark.parametrize(("f", "error"), [
    (lambda p: nquad(lambda x: x * p, [[0, 1]], opts={"limit": 0})[0], ValueError),
    (lambda p: dblquad(lambda y, x: y * p, 0, 1, 0, 1, epsabs=0.0, epsrel=1e-20)[0], ValueError),
    (lambda p: nquad(lambda x: x * p, [[0, 1, 2]])[0], ValueError),
    (lambda p: nquad(lambda x: x * p, [])[0], IndexError),
    (lambda p: nquad(lambda x: x * p, [[0, 1]], opts={"limits": 3})[0], TypeError)])
def test_wrong_arguments_are_errors_as_scipys(f: Any, error: type[Exception]) -> None:
    for g in (f, tracejit.jit(f)):
        with tracejit.config(disable_jit=True), pytest.raises(error):
            g(0.5)
