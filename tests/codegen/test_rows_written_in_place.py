"""Parts of an array that are made of other parts of it: right, in place where they never meet."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tracejit

WRITTEN = ["y[:, j]", "y[j, :]", "y[1:, j]", "y[j, :-1]", "y[:, -j]"]
READ = ["y[:, j - 1]", "y[j - 1, :]", "y[j - 2, :]", "y[::-1, j - 1]", "y[:, j]", "y[::-1, j]",
        "y[j, :]", "y.T[j - 1]", "y[:, 2 * j - 3]", "y[:, -j]", "y[:, 0]"]
IN_PLACE = {("y[:, j]", "y[:, j - 1]"), ("y[:, j]", "y[::-1, j - 1]"), ("y[j, :]", "y[j - 1, :]"),
            ("y[j, :]", "y[j - 2, :]"), ("y[j, :-1]", "y[j - 1, :]"), ("y[1:, j]", "y[:, j - 1]"),
            ("y[:, j]", "y.T[j - 1]"), ("y[:, j]", "y[:, j]"), ("y[j, :]", "y[j, :]")}
"""Of which the program has no copy."""

CASES = list(itertools.product(WRITTEN, READ))


def _program(written: str, read: str, folder):
    part = {"y[1:, j]": "[:-1]", "y[j, :-1]": "[1:]"}.get(written, "")
    source = f"""\
import numpy as np

def f(x):
    y = x * 1.0
    for j in range(2, (y.shape[0] + 3) // 2):
        {written} = 0.5 * np.sin({read}){part} + 0.25 * x[0, j]
    return np.sum(y * y[::-1])
"""
    file = folder / "program.py"
    file.write_text(source)
    names: dict[str, object] = {}
    exec(compile(source, str(file), "exec"), names)
    return names["f"]


@pytest.mark.parametrize(("written", "read"), CASES, ids=[f"{w} from {r}" for w, r in CASES])
def test_values_and_derivatives(written, read, tmp_path):
    f = _program(written, read, tmp_path)
    g = tracejit.value_and_grad(f)
    rng = np.random.default_rng(5)
    for n in (6, 9):
        x, v = rng.standard_normal((2, n, n))
        value, gradient = g(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        step = 1e-6
        by_difference = (f(x + step * v) - f(x - step * v)) / (2 * step)
        assert np.sum(gradient * v) == pytest.approx(by_difference, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("written", "read"), sorted(IN_PLACE))
def test_parts_that_never_meet_need_no_copy(written, read, tmp_path):
    f = _program(written, read, tmp_path)
    source = tracejit.jit(f).trace(np.ones((6, 6))).lower().source
    assert "before this write" not in source, source
    assert "the next iteration" not in source, source


OF_ANOTHER = ["y[1] += 0.5 * x[1]", "y[1] = x[0] * x[1]", "y[0] *= x[1]", "y[:, 0] = x[:, 1]",
              "y[1] += x[1] * y[0]", "y[1:] = x[:-1] * x[1:]", "y[:, 1] += x[:, 1] - x[:, 0]",
              "y[0] = x[1]; y[1] += x[1]", "y[1, 1] = x[0, 0] * x[1, 1]"]
"""Parts of `y`, an array of its own, made of `x`, which nothing reads behind the write."""


def test_parts_made_of_an_array_that_is_used_up_are_right(tmp_path):
    """Where `x` gave `y` its memory, nothing of it is left for the part."""
    steps = "\n\n".join(f"""\
def f{k}(x):
    for _ in range(3):
        y = np.stack([x[1], x[0] * 0.5]) + 0.1
        {write}
        x = y
    return np.sum(x * x[::-1] + x)""" for k, write in enumerate(OF_ANOTHER))
    file = tmp_path / "program.py"
    file.write_text(f"import numpy as np\n\n{steps}\n")
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    x, v = np.random.default_rng(6).standard_normal((2, 2, 2))
    for k, write in enumerate(OF_ANOTHER):
        f = names[f"f{k}"]
        value, gradient = tracejit.value_and_grad(f)(x)
        by_complex_step = f(x + 1e-30j * v).imag / 1e-30
        assert value == pytest.approx(f(x), rel=1e-13), write
        assert np.sum(gradient * v) == pytest.approx(by_complex_step, rel=1e-12), write


def test_a_method_of_two_stages_has_its_gradient():
    x, v = np.random.default_rng(7).standard_normal((2, 2, 3))
    gradient = tracejit.grad(_two_stages)(x)
    by_complex_step = _two_stages(x + 1e-30j * v).imag / 1e-30
    assert np.sum(gradient * v) == pytest.approx(by_complex_step, rel=1e-12)


def _slope(s):
    x, y = s
    return np.stack([0.7 * y, x * y])


def _two_stages(s):
    for _ in range(3):
        first = _slope(s)
        s = s + 0.1 * (first + 2.0 * _slope(s + 0.1 * first))
    return np.sum(s)
