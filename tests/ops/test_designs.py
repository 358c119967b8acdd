"""Designed filters and linear systems: second derivatives, errors of SciPy's, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from design_cases import BOTH, SECTIONS, SYSTEM, A, B
from scipy import signal

import tracejit


def _total(found: Any) -> Any:
    """Return a number that depends on all of a result."""
    if isinstance(found, tuple):
        return sum(_total(part) for part in found)
    x = np.asarray(found) if isinstance(found, float) else found
    return np.sum(np.cos(np.arange(x.size)).reshape(x.shape) * np.abs(x) ** 2)


SECOND: dict[str, tuple[Callable[..., Any], Any]] = {
    **{f"butter {b} {o}": (lambda w, b=b, o=o: signal.butter(3, w[0], b, output=o),
                              np.array([0.3]))
       for b in ("low", "high") for o in ("ba", "zpk", "sos")},
    "band": (lambda w: signal.butter(2, w, "band"), BOTH),
    "sections": (lambda w: signal.ellip(3, 1.0, 40.0, w, "band", output="sos"), BOTH),
    "tf2sos": (lambda b: signal.tf2sos(b, A), B), "sos2tf": (signal.sos2tf, SECTIONS),
    "sos2zpk": (signal.sos2zpk, SECTIONS), "residue": (lambda b: signal.residue(b, A), B),
    "residuez of a denominator": (lambda a: signal.residuez(B, a), A),
    "analog": (lambda w: signal.butter(2, w, "stop", True, "zpk"), BOTH),
    "bilinear": (lambda b: signal.bilinear(b, A), B), "tf2zpk": (lambda b: signal.tf2zpk(b, A), B),
    "zoh": (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.3)[:3], SYSTEM[0]),
    "foh": (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.3, "foh")[:4], SYSTEM[0]),
    "tustin": (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.3, "tustin")[:4], SYSTEM[0]),
    "ss2tf": (lambda a: signal.ss2tf(a, *SYSTEM[1:]), SYSTEM[0]),
    "ss2tf of equal eigenvalues": (lambda a: signal.ss2tf(a, *SYSTEM[1:]), np.eye(3)),
    "firwin": (lambda w: signal.firwin(9, w), np.array([0.3])),
}


@pytest.mark.parametrize("name", SECOND)
def test_the_derivative_of_the_gradient_is_the_differences(name: str) -> None:
    fn, x = SECOND[name]
    direction = np.random.default_rng(5).standard_normal(x.shape)
    with tracejit.config(disable_jit=True):
        gradient = tracejit.grad(lambda a: _total(fn(a)))
        found = tracejit.grad(lambda a: np.sum(gradient(a) * direction))(x)
        h = 1e-4
        near, far = ([gradient(x + k * h * direction) for k in pair] for pair in ((1, -1), (2, -2)))
    wanted = (8 * (near[0] - near[1]) - (far[0] - far[1])) / (12 * h)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * (1 + np.abs(wanted).max()))


@pytest.mark.parametrize(("fn", "x"), [
    (lambda w: signal.butter(3, w), 1.5), (lambda w: signal.butter(3, w), -0.1),
    (lambda w: signal.butter(3, w, fs=2.0), 1.0), (lambda w: signal.butter(3, w, "low", True), 0.0),
    (lambda w: signal.butter(2, w, "band"), BOTH[::-1].copy()),
    (lambda w: signal.butter(2, w, "band"), 0.3), (lambda w: signal.butter(2, w), BOTH),
    (lambda w: signal.butter(2, w), BOTH[:1]), (lambda w: signal.butter(2, w, "no"), 0.3),
    (lambda w: signal.butter(2, w, output="no"), 0.3),
    (lambda w: signal.butter(2, w, "low", True, fs=2.0), 0.3),
    (lambda w: signal.firwin(7, w), 1.5), (lambda w: signal.firwin(7, w), BOTH[::-1].copy()),
    (lambda w: signal.firwin(8, w, pass_zero="highpass"), 0.3),
    (lambda w: signal.firwin(8, w, pass_zero="lowpass"), BOTH),
    (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.1, "gbt"), SYSTEM[0]),
    (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.1, "no"), SYSTEM[0]),
    (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.1, "gbt", 1.5), SYSTEM[0]),
    (lambda a: signal.cont2discrete((a, *SYSTEM[1:]), 0.1, "impulse"), SYSTEM[0]),
    (lambda b: signal.tf2ss(b, B), A), (lambda z: signal.zpk2sos(z, [0.5], 1.0), np.array([1j])),
    (lambda z: signal.zpk2sos(z, [0.5], 1.0, analog=True), np.array([1.0, 2.0])),
    (lambda z: signal.zpk2sos(z, [0.5], 1.0, "no"), np.array([1.0])),
    (lambda a: signal.ss2tf(a, *SYSTEM[1:], input=2), SYSTEM[0])])
def test_errors_are_scipys(fn: Any, x: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as theirs:
        fn(x)
    with tracejit.config(disable_jit=True), pytest.raises((ValueError, TypeError)) as ours:
        tracejit.jit(lambda a: fn(a))(x)
    assert type(ours.value) is type(theirs.value)


@pytest.mark.parametrize(("fn", "x", "words"), [
    (lambda r: signal.cheby1(3, r, 0.3), 1.0, "rp= or rs="),
    (lambda r: signal.firwin(9, 0.4, width=r), 0.2, "width="),
    (lambda a: signal.residue(B, a), np.array([1.0, -2.0, 1.0]), "poles that are one"),
    (lambda r: signal.invres(r, B[:2], B), B, "3 residues and 2 poles"),
    (lambda s: signal.sos2tf(s), np.array([[0.0, 1.0, 2.0, 1.0, 0.5, 0.2]]), "sos2tf"),
    (lambda p: signal.zpk2tf([], p, 1.0), np.array([1j, 2j]), "conjugate pairs"),
    (lambda b: signal.tf2zpk(b, A), np.array([0.0, 1.0, 2.0]), "first coefficient"),
    (lambda b: signal.bilinear(b, A), np.array([0.0, 1.0, 2.0]), "the first is zero"),
    (lambda a: np.poly(a), np.eye(2) * 1j, "matrix of complex numbers")])
def test_what_is_not_supported_is_refused_by_name(fn: Any, x: Any, words: str) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match=words):
        tracejit.jit(lambda a: fn(a))(x)


@pytest.mark.parametrize("name", ["butter low sos", "band", "sections", "zoh", "ss2tf"])
def test_compiled_designs_have_the_interpreters_values(name: str) -> None:
    fn, x = SECOND[name]
    for ours, theirs in zip(np.atleast_1d(_total(tracejit.jit(lambda a: fn(a))(x))),
                            np.atleast_1d(_total(fn(x))), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
