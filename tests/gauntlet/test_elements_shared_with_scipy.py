"""Objects of SciPy share the arrays that they are made of, or copy them: a later write tells.

Each program makes an object, writes to an array that it was made of, and reads the object. SciPy
runs natively as the oracle, so that both mistakes are found, an element shared and one copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.interpolate as si
import scipy.sparse as sp
import scipy.sparse.linalg as sl
from oracles import numeric_gradient

import tracejit

ROWS, COLUMNS = np.array([0, 1, 2, 0, 2]), np.array([0, 1, 2, 2, 1])
ENDS, INDICES = np.array([0, 2, 3, 5]), np.array([0, 2, 1, 1, 2])
ELEMENTS = np.array([3.1, 2.2, 4.3, 0.7, 0.4])
V = np.array([0.7, -1.3, 0.4])

DATA: dict[str, Callable[[Any], Any]] = {
    **{f"{form}_{kind} of {arrays}{copy}": lambda d, name=f"{form}_{kind}", at=places, copy=copy: (
        getattr(sp, name)((d, *at), shape=(3, 3), copy=bool(copy)))
       for form, arrays, places in (
           ("csr", "compressed", (INDICES, ENDS)), ("csc", "compressed", (INDICES, ENDS)),
           ("coo", "places", ((ROWS, COLUMNS),)), ("csr", "places", ((ROWS, COLUMNS),)),
           ("csc", "places", ((ROWS, COLUMNS),)))
       for kind in ("array", "matrix") for copy in ("", ", copy")},
    **{f"{form} of dense": lambda d, form=form: getattr(sp, f"{form}_array")(_square(d))
       for form in ("csr", "csc", "coo")},
    "diags": lambda d: sp.diags_array([d[:3], d[:2]], offsets=[0, 1]),
    "kron": lambda d: sp.kron(sp.csr_array((d, INDICES, ENDS), shape=(3, 3)), sp.eye_array(1))}
"""By name: what makes a matrix of elements, and lets the elements be written to afterwards."""


def _square(d: Any) -> Any:
    """Return three elements as a dense matrix."""
    return np.diag(d[:3]) + 0.0


def _remade(kind: str, copy: bool) -> Callable[[Any], Any]:
    return lambda a: getattr(sp, kind)(a, copy=copy)


READ: dict[str, Callable[[Any], Any]] = {
    "itself": lambda a: a, "T": lambda a: a.T, "T.T": lambda a: a.T.T.T.T,
    "transpose": lambda a: a.transpose(copy=True), "copy": lambda a: a.copy(),
    "tocsr": lambda a: a.tocsr(), "tocsc": lambda a: a.tocsc(), "tocoo": lambda a: a.tocoo(),
    "tocsr copy": lambda a: a.tocsr(copy=True), "tocoo copy": lambda a: a.tocoo(copy=True),
    "tocoo no copy": lambda a: a.tocoo(copy=False), "T.tocsr": lambda a: a.T.tocsr(),
    "asformat": lambda a: a.asformat("coo"),
    "asformat copy": lambda a: a.asformat("csr", copy=True),
    "back": lambda a: a.tocoo().tocsr().tocoo(), "2 a": lambda a: 2.0 * a, "-a": lambda a: -a,
    "a + a": lambda a: a + a, "item": lambda a: a.tocsr()[0:2],
    "stacked": lambda a: sp.vstack([a, a]), "blocks": lambda a: sp.block_diag([a, a]),
    "multiply": lambda a: a.multiply(np.ones((3, 3))),
    **{f"{kind}{', copy' * copy}": _remade(kind, copy) for copy in (False, True)
       for kind in ("csr_array", "csc_array", "coo_array", "csr_matrix", "coo_matrix")}}
"""By name: what makes another matrix of one."""


def _assert_as_scipy(program: Callable[[Any], Any], x: np.ndarray) -> None:
    expected = program(x.copy())
    with tracejit.config(disable_jit=True):
        np.testing.assert_allclose(tracejit.jit(program)(x.copy()), expected, rtol=1e-12)
        found = tracejit.grad(lambda x: np.sum(program(x)))(x.copy())
    by_differences = numeric_gradient(lambda x: np.sum(program(x.copy())), [x], 0, 1e-6)
    np.testing.assert_allclose(found, by_differences, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("made", "read"), [
    (made, read) for made in DATA for read in READ if (made, read) != ("kron", "item")])
def test_a_matrix_shares_elements_where_scipys_does(made: str, read: str) -> None:
    def program(x: Any) -> Any:
        d = x * 1.0
        other = READ[read](DATA[made](d))
        d[1] = 9.0 * x[0]
        d *= 2.0
        return other.T @ V if other.shape[0] == 3 else other @ np.ones(other.shape[1])

    _assert_as_scipy(program, ELEMENTS)


@pytest.mark.parametrize("name", ["splu", "factorized"])
def test_factors_are_of_the_elements_as_they_were(name: str) -> None:
    def program(x: Any) -> Any:
        d = x * 1.0
        made = getattr(sl, name)(sp.csc_array((d, INDICES, ENDS), shape=(3, 3)))
        d[1] = 9.0
        return made(V) if name == "factorized" else made.solve(V)

    _assert_as_scipy(program, ELEMENTS)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_matrix_of_a_dense_one_has_elements_of_its_own(form: str) -> None:
    def program(x: Any) -> Any:
        dense = np.outer(x, x)
        made = getattr(sp, f"{form}_array")(dense)
        dense[0, 0] = 100.0
        return made @ V

    _assert_as_scipy(program, np.array([1.5, 2.5, -0.5]))


@pytest.mark.parametrize(("form", "copy"), [
    ("coo_array", True), ("coo_matrix", False), ("coo_matrix", True), ("csr_array", False),
    ("csc_matrix", True)])
def test_places_that_scipy_copies_may_change(form: str, copy: bool) -> None:
    def program(x: Any) -> Any:
        rows, columns = np.argsort(x) * 1, np.array([2, 1, 0])
        made = getattr(sp, form)((x, (rows, columns)), shape=(3, 3), copy=copy)
        rows[0], columns[1] = 2, 2
        return made @ V

    _assert_as_scipy(program, np.array([1.5, 2.5, -0.5]))


NODES = np.array([0.0, 1.0, 2.0, 3.5, 5.0, 5.6])
HEIGHTS = np.array([1.0, 2.0, 0.3, 1.0, 3.0, 2.5])
BETWEEN = np.array([0.31, 1.21, 1.8, 4.41, 5.3])

MADE: dict[str, Callable[[Any, Any], Any]] = {
    **{f"interp1d {kind}{', sorted' * is_sorted}": lambda x, y, kind=kind, s=is_sorted: (
        si.interp1d(x, y, kind=kind, assume_sorted=s))
       for kind in ("linear", "previous", "next", "nearest", "nearest-up", "zero", "slinear",
                    "quadratic", "cubic") for is_sorted in (False, True)},
    **{f"interp1d {kind}, not copied": lambda x, y, kind=kind: (
        si.interp1d(x, y, kind=kind, assume_sorted=True, copy=False))
       for kind in ("linear", "previous", "next", "nearest", "nearest-up", "slinear", "quadratic",
                    "cubic")},
    **{f"spline of degree {k}": lambda x, y, k=k: si.make_interp_spline(x, y, k)
       for k in (1, 2, 3)},
    **{name: lambda x, y, name=name: getattr(si, name)(x, y) for name in (
        "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "KroghInterpolator",
        "BarycentricInterpolator", "InterpolatedUnivariateSpline")},
    "univariate": lambda x, y: si.UnivariateSpline(x, y, s=0),
    "Hermite's": lambda x, y: si.CubicHermiteSpline(x, y, y * 0.5)}
"""By name: what makes an interpolator through points."""


@pytest.mark.parametrize("name", MADE)
def test_an_interpolator_shares_its_values_where_scipys_does(name: str) -> None:
    def program(y: Any) -> Any:
        heights = y * 1.0
        made = MADE[name](NODES, heights)
        heights[1] = 9.0 * y[2]
        heights[3:] += 1.0
        return made(BETWEEN)

    _assert_as_scipy(program, HEIGHTS)


@pytest.mark.parametrize("name", [name for name in MADE if "sorted" in name])
def test_an_interpolator_that_copies_keeps_its_nodes(name: str) -> None:
    def program(y: Any) -> Any:
        nodes = np.cumsum(1.0 + 0.01 * y * y)
        made = MADE[name](nodes, y)
        nodes += 0.3
        return made(np.array([1.5, 2.2, 3.7]))

    _assert_as_scipy(program, HEIGHTS)


CLASSES: dict[str, tuple[Callable[[Any], Any], type]] = {
    **{name: (lambda y, name=name: getattr(si, name)(NODES, y), getattr(si, name)) for name in (
        "interp1d", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator",
        "KroghInterpolator", "BarycentricInterpolator", "InterpolatedUnivariateSpline")},
    "BSpline": (lambda y: si.make_interp_spline(NODES, y), si.BSpline),
    "PPoly": (lambda y: si.CubicSpline(NODES, y), si.PPoly),
    "derivative": (lambda y: si.CubicSpline(NODES, y).derivative(), si.PPoly),
    "grid": (lambda y: si.RegularGridInterpolator((NODES,), y), si.RegularGridInterpolator),
    "splu": (lambda y: sl.splu(sp.csc_array(np.diag(y))), sl.SuperLU)}


@pytest.mark.parametrize("name", CLASSES)
def test_an_object_that_is_made_passes_for_scipys(name: str) -> None:
    make, kind = CLASSES[name]

    def program(y: Any) -> Any:
        made = make(y)
        of_kind = isinstance(made, kind) and not isinstance(made, (dict, np.ndarray))
        return y * (2.0 if of_kind else 3.0) + len(type(made).__name__)

    _assert_as_scipy(program, HEIGHTS)


@pytest.mark.parametrize("name", ["fill_value", "x", "y", "ext", "extrapolate", "c", "mine"])
@pytest.mark.parametrize("made", CLASSES)
def test_what_is_assigned_to_a_made_object_is_refused(made: str, name: str) -> None:
    def program(y: Any) -> Any:
        one = CLASSES[made][0](y)
        setattr(one, name, 7.0)
        return y

    with pytest.raises(tracejit.Refusal, match=f"assigning to the attribute '{name}'"):
        tracejit.jit(program)(HEIGHTS)


PIECES = {
    "PPoly": lambda: si.PPoly(np.array([[1.0, 2.0], [3.0, 4.0]]), np.arange(3.0)),
    "CubicSpline": lambda: si.CubicSpline(np.arange(4.0), np.array([1.0, 3.0, 2.0, 5.0])),
    "Akima": lambda: si.Akima1DInterpolator(np.arange(5.0), np.arange(5.0) ** 2),
    "Pchip": lambda: si.PchipInterpolator(np.arange(5.0), np.arange(5.0) ** 2),
}
QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "value": lambda p, x: p(x), "slope": lambda p, x: p(x, 1), "integral": lambda p, x: (
        p.integrate(0.1, x)), "derivative": lambda p, x: p.derivative()(x), "number": lambda p, x: (
            x * p(0.3)), "antiderivative": lambda p, x: p.antiderivative()(x),
    "shape": lambda p, x: x * p.c.shape[0],
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", PIECES)
def test_a_polynomial_that_gets_other_coefficients(kind: str, question: str) -> None:
    p, ask = PIECES[kind](), QUESTIONS[question]
    of_argument = tracejit.jit(ask)
    calls = [tracejit.jit(lambda x: ask(p, x)), lambda x: of_argument(p, x)]
    rng = np.random.default_rng(0)
    with tracejit.config(disable_jit=True):
        for rows in (len(p.c), 2, 4, 1, 3, len(p.c), 5):
            p.c = rng.uniform(1.0, 2.0, (rows, p.c.shape[1]))
            for call in calls:
                try:
                    expected = ask(p, 0.7)
                except ValueError:  # SciPy has no derivative of so low a degree
                    continue
                np.testing.assert_allclose(call(0.7), expected, err_msg=f"{rows} rows")
