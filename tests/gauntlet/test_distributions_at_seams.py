"""The distributions of `scipy.stats` where a formula's cases meet: medians, centres, ends.

Values are SciPy's there, and derivatives are differences' wherever these tell that a function is
smooth: `test_special_at_seams.py` has the way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from test_distributions import OF_COUNTS, OF_METHODS, OF_VECTORS, SHAPES
from test_special_at_seams import differences

import tracejit
from tracejit.trace.ground.dispatch import DISTRIBUTIONS

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = [(name, what) for name, methods in DISTRIBUTIONS.items() for what in methods
         if name not in (*OF_VECTORS, *OF_COUNTS) and what not in (*OF_METHODS, "fit")]
SHARES = [0.05, 0.1, 0.25, 0.3, 0.5, 0.6, 0.75, 0.9, 0.95]
PLACES = [-2.0, -1.0, -0.7, -0.5, -0.25, 0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0, 1.3, 2.0, 3.0]
POINTED = {"dgamma", "dweibull", "gennorm"}
"""Of which a derivative at the centre is infinite, or differences of a pointed density are off."""
NAN_IN_SCIPY = {"mielke", "genhalflogistic"}
"""Of which SciPy has NaN at an end, where there is a density."""

ABOUT = {"ppf": 1e-13, "isf": 1e-13}
"""How far off numbers next to 0 may be: SciPy finds some quantiles as roots, within 1e-14."""


def arguments(name: str, what: str) -> list[np.ndarray]:
    """Return the numbers of a method, each with usual shapes and with 1, 2 and 0.5 for them."""
    usual = SHAPES.get(name, ())
    shapes = {usual, *(tuple(v for _ in usual) for v in (1.0, 2.0, 0.5))}
    at = SHARES if what in ("ppf", "isf") else PLACES
    return [np.array(x) for x in zip(*((y, *s) for s in sorted(shapes) for y in at), strict=True)]


@pytest.mark.parametrize(("name", "what"), CASES)
def test_values_and_derivatives_are_scipys(name: str, what: str) -> None:
    method, args = getattr(getattr(stats, name), what), arguments(name, what)

    def total(*xs: Any) -> Any:
        return np.sum(method(*xs))

    with np.errstate(all="ignore"), tracejit.config(disable_jit=True):
        expected, found = method(*args), tracejit.jit(lambda *xs: method(*xs))(*args)
        alike = np.isclose(found, expected, rtol=1e-8, atol=ABOUT.get(what, 1e-15),
                           equal_nan=True)
        unlike = (args[0] == 0.0) & ((name, what) == ("ncx2", "logpdf"))  # SciPy's pdf is 0
        if name == "ksone" and what in ("pdf", "logpdf"):
            alike |= args[0] * args[1] == 1.0  # where the density jumps: SciPy has either side
        alike |= unlike
        wrong = np.flatnonzero(~alike & ~(np.isnan(expected) & (name in NAN_IN_SCIPY)))
        assert not [(*(x[k] for x in args), found[k], expected[k]) for k in wrong]
        for place in range(len(args)):
            known, _ = differences(lambda *xs: method(*xs), args, place)
            slopes = tracejit.grad(total, argnums=place)(*args)
            off = known.known & ~unlike & ~(np.abs(slopes - known.value) <= known.tolerance)
            off &= (args[0] != (0.5 if what in ("ppf", "isf") else 0.0)) | (name not in POINTED)
            assert not [(place, *(x[k] for x in args), slopes[k], known.value[k])
                        for k in np.flatnonzero(off)]


@pytest.mark.parametrize("what", ["cdf", "logcdf", "ppf", "isf"])
def test_at_its_centre_a_pointed_density_has_the_slope_of_its_quantiles(what: str) -> None:
    for shape in (1.0, 1.6, 2.0):
        with tracejit.config(disable_jit=True):
            slope = tracejit.grad(lambda x, b: getattr(stats.gennorm, what)(x, b))(
                0.5 if what in ("ppf", "isf") else 0.0, shape)
        density = stats.gennorm.pdf(0.0, shape)
        expected = {"cdf": density, "logcdf": 2.0 * density, "ppf": 1.0 / density,
                    "isf": -1.0 / density}[what]
        assert np.isclose(slope, expected, rtol=1e-12)
