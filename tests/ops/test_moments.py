"""Means, variances, entropies, medians and intervals of `scipy.stats`: SciPy's, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_distributions import (
    OF_COUNTS,
    OF_METHODS,
    OF_VECTORS,
    SHAPES,
    broken_of,
    with_whole,
)
from test_numpy_cases import check_case

import tracejit
from tracejit.trace.ground.dispatch import DISTRIBUTIONS

COMPOSED = ("std", "median", "stats")
"""Methods that are made of others: asked of a few distributions."""
CASES = [(name, what) for name, methods in DISTRIBUTIONS.items() for what in methods
         if what in OF_METHODS and (what not in COMPOSED or name in ("norm", "gamma", "poisson"))
         and name not in OF_VECTORS]  # which have tables of their own
NAN_IN_SCIPY = {("truncpareto", "var")}
"""Of which SciPy has NaN where a formula's parts meet, and there is a number."""
INTEGRATED = {"recipinvgauss"}
"""Of which SciPy integrates numerically: differences are those of what is captured."""
SOME = [("norm", "interval"), ("gamma", "entropy"), ("t", "var"), ("f", "mean"), ("poisson", "std")]


def _call(name: str, what: str, *args: Any, **kwargs: Any) -> Any:
    first = (np.array([[0.0], [0.3], [0.9], [1.0]]),) if what == "interval" else ()
    found = getattr(getattr(stats, name), what)(*first, *args, **kwargs)
    return np.stack(found) if isinstance(found, tuple) else found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "what"), CASES)
def test_moments_are_scipys(name: str, what: str) -> None:
    usual = SHAPES.get(name, ())
    many = tuple(np.array([s, 2.0, 0.7, 0.0, -1.0, np.nan, 20.0]) for s in usual)
    moved = {"loc": np.array([-2.0, np.nan, 1.5] * 2 + [0.0])}
    if name not in OF_COUNTS:
        moved["scale"] = np.array([2.5, 1.0, 0.5, 1.0, 2.0, 1.0, -1.0])
    for shapes, given in ((usual, {}), (usual, moved), (many, {}), (many, moved)):
        with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
            expected = _call(name, what, *shapes, **given)
            found = tracejit.jit(lambda *args, **given: _call(name, what, *args, **given))(
                *shapes, **given)
        assert type(found) is type(expected)
        assert found.dtype == expected.dtype
        if (name, what) in NAN_IN_SCIPY:
            expected = np.where(np.isnan(expected), found, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-11)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "what"), CASES)
def test_their_derivatives_are_differences(name: str, what: str) -> None:
    broken = broken_of(name)
    if name in OF_COUNTS and (what in ("median", "interval") or not broken):
        return
    moved = (0.3,) if name in OF_COUNTS else (0.3, 1.7)

    def f(*args: Any) -> Any:
        count = len(broken)
        found = getattr(getattr(stats, name), what)(
            *((0.5,) if what == "interval" else ()), *with_whole(name, args[:count]),
            *args[count:])
        return found[0] + 2.0 * found[1] if isinstance(found, tuple) else found

    with tracejit.config(disable_jit=True):
        check_case(tracejit.jit(f) if name in INTEGRATED else f, (*broken, *moved))


def test_compiled_and_frozen_they_are_the_same() -> None:
    for name, what in SOME:
        expected = _call(name, what, *SHAPES.get(name, ()))
        found = tracejit.jit(lambda *args, name=name, what=what: _call(name, what, *args))(
            *SHAPES.get(name, ()))
        np.testing.assert_allclose(found, expected, rtol=1e-9)

    def f(a: float, s: float) -> Any:
        made = stats.gamma(a, scale=s)
        low, high = made.interval(confidence=0.5)
        return made.mean() + made.std() * made.median() - made.entropy() + low * high

    check_case(f, (2.3, 1.4))


def test_other_moments_and_wrong_confidences_are_refused() -> None:
    with pytest.raises(tracejit.Refusal, match="other moments than the mean and the variance"):
        tracejit.jit(lambda a: stats.gamma.stats(a, moments="mvs")[2])(2.0)
    for call in (lambda c: stats.norm.interval(c, c)[0],
                 tracejit.jit(lambda c: stats.norm.interval(c, c)[0])):
        with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
            call(1.5)


def test_which_moments_may_be_said_by_position() -> None:
    calls = [lambda m: stats.gamma.stats(m, 0, 1, "m"), lambda m: stats.gamma.stats(m, 0, 1, "mv"),
             lambda m: stats.norm.stats(m, 2.0, "v"), lambda m: stats.poisson.stats(m, 0, "v"),
             lambda m: stats.gamma.stats(m, moments="v")]
    wrong = [lambda m: stats.gamma.stats(m, 0, 1, "m", moments="v"),
             lambda m: stats.poisson.stats(m, 0, "m", 1)]
    with tracejit.config(disable_jit=True):
        for f in calls:
            np.testing.assert_allclose(tracejit.jit(lambda m, f=f: f(m))(2.5), f(2.5))
        for f in wrong:
            for call in (f, tracejit.jit(lambda m, f=f: f(m))):
                with pytest.raises(TypeError, match="_parse_args_stats"):
                    call(2.5)
