"""`y[i] += v` adds to its part on the way back, too: no cotangent is taken out and put back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracejit

ADDED = ["y[k] += v[k]", "y[k] = v[k] + y[k]", "y[k] -= v[k]", "y[1:3] += v[k]",
         "y[::2] += v[::2] * v[k]", "y[k] += y[k - 1] * v[k]", "y[k:k + 1] += v[k]"]
REPLACED = ["y[k] = 2.0 * y[k] + v[k]", "y[k] = y[k] + y[k]", "y[k] += y[k] * v[k]",
            "y[k] = y[k - 1] + v[k]", "y[k] = v[k]; y[k] += y[k]", "y[k] = y[k] + v[k] + y[k]",
            "y[k] += v[k]; y[k - 1] *= v[k]", "y[1:3] += y[0:2]", "y[:2] += y[:2] * v[0]"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> dict[str, Any]:
    texts = {f"f{n}": write for n, write in enumerate([*ADDED, *REPLACED])}
    file = tmp_path_factory.mktemp("additions") / "program.py"
    file.write_text("import numpy as np\n" + "".join(f"""
def {name}(x, v):
    y = np.sin(x)
    for k in range(1, len(x)):
        {write}
    return np.sum(y * y * x)
""" for name, write in texts.items()))
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return {write: names[name] for name, write in texts.items()}


@pytest.mark.parametrize("write", [*ADDED, *REPLACED])
def test_derivatives_are_those_of_a_complex_step(write, programs):
    f = programs[write]
    x, v, dx, dv = np.random.default_rng(3).standard_normal((4, 5))
    with tracejit.config(disable_jit=True):
        by_x, by_v = tracejit.grad(f, argnums=(0, 1))(x, v)
    step = 1e-30j
    expected = f(x + step * dx, v + step * dv).imag / 1e-30
    assert by_x @ dx + by_v @ dv == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("write", ADDED)
def test_nothing_is_cleared_on_the_way_back(write, programs):
    way_back = str(tracejit.grad(programs[write]).trace(np.ones(5), np.ones(5)).graph).split(
        "-- backward")[1]
    assert "update" not in way_back, way_back
