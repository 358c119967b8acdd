"""One more function of libm takes two rows, for the CPU, for devices, for C."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.codegen.scalars import SCALARS
from tracejit.runtime.device_stages import DeviceLowered

special = pytest.importorskip("scipy.special")

X = np.array([0.0, 0.3, 2.0, -1.5, 40.0])


def bessel(x: Any) -> Any:
    return np.sum(special.j0(x) * x + special.j1(x))


def test_bessel_functions_have_values_and_derivatives() -> None:
    value, gradient = tracejit.value_and_grad(bessel)(X)
    expected = special.j0(X) - X * special.j1(X) + special.jvp(1, X)
    np.testing.assert_allclose(value, bessel(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12)
    second = tracejit.hessian(bessel)(X)
    step = 1e-6
    differences = (tracejit.grad(bessel)(X + step) - tracejit.grad(bessel)(X - step)) / (2 * step)
    np.testing.assert_allclose(np.diag(second), differences, rtol=1e-6, atol=1e-6)


def test_bessel_functions_of_single_precision_stay_single() -> None:
    gradient = tracejit.grad(bessel)(X.astype(np.float32))
    assert gradient.dtype == np.float32


def test_a_device_and_c_have_them() -> None:
    pytest.importorskip("numba_cuda")
    lowered = DeviceLowered(tracejit.grad(bessel).trace(X))
    assert "j0(" in lowered.source
    assert all("ret;" in ptx for ptx in lowered.ptx((8, 0)).values())
    assert SCALARS["j0"].device and SCALARS["j0"].libm == 1


def test_exported_code_needs_libm_alone(tmp_path: Path) -> None:
    compiled = tracejit.grad(bessel).trace(X).lower().compile()
    compiled.export(tmp_path / "bessel.o", name="bessel")
    header = (tmp_path / "bessel.h").read_text(encoding="utf-8")
    assert "-lm" in header and "openblas" not in header


def test_complex_operands_are_refused() -> None:
    with pytest.raises(tracejit.Refusal, match=r"scipy\.special\.j0 of complex numbers"):
        tracejit.jit(lambda z: special.j0(z))(X + 1j)
