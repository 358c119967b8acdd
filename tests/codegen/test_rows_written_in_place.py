"""Parts of an array that are made of other parts of it: right, in place where they never meet."""

from __future__ import annotations

import itertools

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
