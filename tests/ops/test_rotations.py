"""`scipy.spatial.transform.Rotation` of traced data: SciPy's numbers and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from test_numpy_cases import check_case

import tracejit
from tracejit.errors import NotCaptured, Refusal

V = np.array([0.3, -0.4, 0.8])
STACK = np.array([V, 2.0 * V[::-1], [0.0, 0.0, 0.0], -7.0 * V])
FAR = STACK[[0, 1, 3]]
QUATERNIONS = np.array([[0.2, -0.5, 0.4, 0.9], [-0.3, 0.1, 2.0, -0.2]])
NEAR_ROTATIONS = Rotation.from_rotvec(FAR).as_matrix() + 0.2 * np.eye(3)
GLOBAL, GLOBALS = Rotation.from_rotvec([0.1, 0.2, 0.3]), Rotation.from_rotvec(STACK[::-1] + 0.1)
TIMES = np.array([0.0, 1.0, 2.5])
PATH = Slerp(TIMES, Rotation.from_rotvec(FAR))
SEQUENCES = ("xyz", "ZYX", "zxz", "XYX", "yxz", "YZX")
of = Rotation.from_rotvec


def _chain(v: Any) -> Any:
    r = Rotation.identity()
    for k in range(4):
        r = r * of(v[k])
    return r.as_quat()


CASES: dict[str, tuple[Any, ...]] = {
    **{f"{name} of {kind}": (f, x) for name, f in {
        "matrix": lambda v: of(v).as_matrix(), "vector": lambda v: of(v).as_rotvec(),
        "quaternion": lambda v: of(v).as_quat(), "inverse": lambda v: of(v).inv().as_rotvec(),
        "canonical": lambda v: of(v).as_quat(canonical=True),
        "turned": lambda v: of(v).apply(V), "back": lambda v: of(v).apply(V, inverse=True),
        "Rodrigues": lambda v: Rotation.from_mrp(of(v).as_mrp()).as_quat(scalar_first=True),
        "power": lambda v: (of(v) ** 0.4).as_quat(), "once": lambda v: (of(v) ** 1).as_quat(),
        "by matrix": lambda v: Rotation.from_matrix(of(v).as_matrix()).as_quat(),
        "global": lambda v: (GLOBAL * of(v) * GLOBAL).as_rotvec(),
        "globals": lambda v: (of(v) * GLOBALS).as_quat()}.items()
       for kind, x in {"one": V, "several": STACK, "nothing": 0.0 * V}.items()},
    "degrees": (lambda v: of(v, degrees=True).as_rotvec(degrees=True), 30.0 * STACK),
    "angles": (lambda v: of(v).magnitude(), FAR),
    "of quaternions": (lambda q: Rotation.from_quat(q).as_quat(), QUATERNIONS),
    "of quaternions the other way": (
        lambda q: Rotation.from_quat(q, scalar_first=True).as_matrix(), QUATERNIONS),
    "of matrices": (lambda m: Rotation.from_matrix(m).as_quat(), NEAR_ROTATIONS),
    **{f"Euler {s}": (lambda a, s=s: Rotation.from_euler(s, a).as_quat(), FAR) for s in SEQUENCES},
    **{f"degrees {s}": (lambda a, s=s: Rotation.from_euler(s, a, degrees=True).as_quat(), 30.0 * V)
       for s in SEQUENCES},
    **{f"as Euler {s}": (lambda v, s=s: of(v).as_euler(s), FAR) for s in SEQUENCES},
    "as Euler in degrees": (lambda v: of(v).as_euler("xyz", degrees=True), V),
    "two axes": (lambda a: Rotation.from_euler("yz", a).as_quat(), FAR[:, :2]),
    "one axis": (lambda a: Rotation.from_euler("Z", a).as_quat(), 0.7),
    "one axis several times": (lambda a: Rotation.from_euler("z", a).as_quat(), FAR[:, :1]),
    "vectors": (lambda v, x: of(v).apply(x), V, STACK),
    "a vector each": (lambda v, x: of(v).apply(x, inverse=True), STACK, STACK[::-1].copy()),
    "by a global": (lambda x: GLOBAL.apply(x) + GLOBALS.apply(x, inverse=True), STACK),
    "a known vector by a global": (lambda x: GLOBAL.apply([1.0, 2.0, 3.0]) * x, V),
    "known ones by a global": (lambda x: (GLOBAL * GLOBALS).as_matrix() @ x, V),
    "item": (lambda v: of(v)[1].as_quat(), STACK),
    "slice": (lambda v: of(v)[1:].as_quat(), STACK),
    "each": (lambda v: sum(r.as_quat() for r in of(v)), STACK),
    "length": (lambda v: v * len(of(v)), STACK),
    "class": (lambda v: v * (isinstance(of(v), Rotation) + of(v[0]).single), STACK),
    "in a row": (lambda v: Rotation.concatenate(
        [GLOBAL, of(v), of(v[1]), GLOBALS]).as_matrix(), STACK),
    "globals first": (lambda v: (GLOBALS * (GLOBAL.inv() * of(v))).as_quat(), V),
    "a row of one": (lambda v: Rotation.concatenate(of(v)).as_rotvec(), STACK),
    "chain": (_chain, STACK), "none": (lambda v: of(v).as_matrix(), np.zeros((0, 3))),
    "half a turn": (lambda v: of(v).as_matrix(), np.array([np.pi, 0.0, 0.0])),
    "mean": (lambda v: of(v).mean().as_matrix(), STACK),
    "weighted mean": (lambda v, w: of(v).mean(weights=w).as_matrix(), STACK, np.arange(1.0, 5.0)),
    "mean of one": (lambda v: of(v).mean().as_matrix(), V),
    "paths": (lambda v, s, t: Slerp(s, of(v))(t).as_quat(), FAR, TIMES, np.array([0.1, 0.9, 2.4])),
    "a path": (lambda v, t: Slerp(TIMES, of(v))(t).as_rotvec(), FAR, 1.3),
    "a global path": (lambda t: PATH(t).as_quat(), np.array([0.1, 0.9, 1.3, 2.4])),
    "ends of a path": (lambda v: Slerp(TIMES, of(v))(TIMES).as_quat(), FAR),
    "single": (lambda v: of(v).apply(v), V.astype(np.float32)),
    "ints": (lambda v: of(v).as_quat(), np.array([1, 0, 2])),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys_and_derivatives_differences(name: str) -> None:
    function, *args = CASES[name]
    with tracejit.config(disable_jit=True):
        check_case(function, tuple(args))


@pytest.mark.parametrize("form", ["as_matrix", "as_quat", "as_rotvec"])
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.0999, 0.1001, 2.0])
def test_second_derivatives_are_differences_of_first_ones(form: str, size: float) -> None:
    weights = np.random.default_rng(2).standard_normal(12)

    def f(v: Any) -> Any:
        found = [getattr(r, form)() for r in (of(v), of(v) * of(0.5 * v))]
        return sum(np.sum(np.sin(x.reshape(-1)) * weights[:x.size]) for x in found)

    x, d = size * V / np.linalg.norm(V), np.array([0.4, 1.0, -0.7])
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(f)
        second = tracejit.grad(lambda v: np.sum(slope(v) * d))(x)
        t = 1e-4
        wanted = (8.0 * (slope(x + t * d) - slope(x - t * d))
                  - (slope(x + 2 * t * d) - slope(x - 2 * t * d))) / (12.0 * t)
    assert np.all(np.isfinite(second))
    np.testing.assert_allclose(second, wanted, rtol=1e-8, atol=1e-9)


def test_a_global_rotation_that_changes_is_read_anew() -> None:
    stack = of(STACK)
    f = tracejit.jit(lambda x: stack.apply(x) + (stack * of(x)).as_rotvec())
    for _ in range(2):
        np.testing.assert_allclose(f(V), stack.apply(V) + (stack * of(V)).as_rotvec(), rtol=1e-12)
        stack[0] = of([0.7, 0.0, 0.1])


@pytest.mark.parametrize(("f", "x", "words"), [
    (lambda v: of(v), STACK, "as_quat"),
    (lambda v: of(v)[:, None].as_quat(), STACK, "several axes"),
    (lambda v: (of(v) ** v[0]).as_quat(), V, "from_rotvec"),
    (lambda v: Rotation.from_matrix(v, assume_valid=True).as_quat(), np.eye(3), "assume_valid="),
    (lambda v: Rotation.from_euler("z", v).as_quat(), V, r"\(N, 1\)"),
    (lambda v: of(v).as_euler("xyx"), 0.0 * V, "gimbal lock"),
    (lambda v: Rotation.from_matrix(v).as_quat(), (1.0 + 1e-6) * np.eye(3), "np.linalg.svd"),
    (lambda v: Rotation.from_matrix(v).as_quat(), np.diag([1.0, 1e-9, 1.0]), "np.linalg.svd"),
    (lambda v: Slerp(TIMES, of(v)), FAR, "a result"),
    (lambda v: of(v).mean(axis=0).as_quat(), FAR, "axis="),
    (lambda v: of(v).as_quat(), V + 1j, "complex"),
    (lambda v: of(v).as_quat(), np.zeros((2, 2, 3)), "more than one axis"),
])
def test_what_is_not_captured_is_refused(f: Callable[[Any], Any], x: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises((Refusal, NotCaptured), match=words):
        tracejit.jit(f)(x)


@pytest.mark.parametrize(("f", "x", "error"), [
    (lambda v: of(v).as_quat(), np.ones(4), ValueError),
    (lambda v: Rotation.from_quat(v).as_quat(), np.zeros((2, 4)), ValueError),
    (lambda v: Rotation.from_matrix(v).as_quat(), -np.eye(3), ValueError),
    (lambda v: Rotation.from_euler("xx", v).as_quat(), np.ones(2), ValueError),
    (lambda v: Rotation.from_euler("xY", v).as_quat(), np.ones(2), ValueError),
    (lambda v: of(v).as_euler("xy"), V, ValueError), (lambda v: of(v)[0].as_quat(), V, TypeError),
    (lambda v: len(of(v)) * v, V, TypeError), (lambda v: of(v) * 2.0, V, TypeError),
    (lambda v: (of(v) * of(v[:2])).as_quat(), STACK, ValueError),
    (lambda v: of(v).apply(v[:2]), STACK, ValueError),
    (lambda v: of(v)[9].as_quat(), STACK, IndexError),
])
def test_wrong_calls_raise_what_scipy_raises(f: Callable[[Any], Any], x: Any, error: Any) -> None:
    for g in (f, tracejit.jit(f)):
        with tracejit.config(disable_jit=True), pytest.raises(error):
            g(x)


def test_a_nan_is_a_nan() -> None:
    with tracejit.config(disable_jit=True):
        found = tracejit.jit(lambda v: of(v).as_rotvec())(np.array([[np.nan, 0.0, 0.0], V]))
    assert np.all(np.isnan(found[0]))
    np.testing.assert_allclose(found[1], V, rtol=1e-14)


def test_machine_code_has_the_same_numbers() -> None:
    check_case(lambda v: GLOBAL.apply(of(v).as_euler("xyz")) + of(v).apply(V), (FAR,))


@pytest.mark.parametrize(("f", "x"), [
    (lambda t: PATH(t).as_quat(), np.array([0.5, 2.6])), (lambda t: PATH(t).as_quat(), STACK),
    (lambda v: Slerp([0.0, 1.0], of(v))(0.5).as_quat(), STACK),
    (lambda v: Slerp([0.0], of(v))(0.5).as_quat(), STACK[:1]),
    (lambda t: Slerp(t, of(FAR))(0.5).as_quat(), TIMES[::-1].copy()),
    (lambda w: of(STACK).mean(w).as_matrix(), -np.ones(4)),
    (lambda w: of(STACK).mean(w).as_matrix(), np.ones(3))])
def test_paths_and_means_that_do_not_fit_are_errors(f: Callable[[Any], Any], x: Any) -> None:
    with pytest.raises(ValueError):
        f(x)
    with tracejit.config(disable_jit=True), pytest.raises(ValueError):
        tracejit.jit(f)(x)
