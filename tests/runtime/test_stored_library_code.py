"""Programs with functions that tracejit has in Python are kept: what they read has a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import tracejit


def _root(p: Any) -> Any:
    return brentq(lambda y: y ** 3 - p, 0.0, 9.0)


def _integral(p: Any) -> Any:
    return quad(lambda y: p * y, 0.0, 1.0)[0]


@pytest.mark.parametrize("f", [_root, _integral])
def test_programs_of_roots_and_integrals_are_kept(f: Callable[..., Any], tmp_path: Path) -> None:
    """They read `np.zeros` from a copy of NumPy's names, and the numbers of a rule."""
    with tracejit.config(cache=True, cache_dir=str(tmp_path)):
        g = tracejit.value_and_grad(f)
        g(0.4)
        assert "serves this call" in tracejit.cache.explain(g, 0.4)
