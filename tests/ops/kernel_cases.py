"""Cases for `scipy.stats.gaussian_kde` and for distances between samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

__all__ = ["KERNEL_CASES"]

RNG = np.random.default_rng(3)
U, V = RNG.standard_normal(7), RNG.standard_normal(5)
SHARES, OTHERS = RNG.uniform(0.2, 1.0, 7), RNG.uniform(0.2, 1.0, 5)
PLANE, AT = RNG.standard_normal((2, 9)), RNG.standard_normal((2, 4))
KDE, KDE_OF_PLANE = stats.gaussian_kde(U), stats.gaussian_kde(PLANE, weights=np.arange(1.0, 10.0))
kde = stats.gaussian_kde

KERNEL_CASES: dict[str, list[tuple[Any, ...]]] = {
    **{f.__name__: [(f, U, V), (f, U, V, SHARES, OTHERS), (f, U.astype(np.float32), V),
                    (lambda u, v, w, f=f: f(u, v, u_weights=w), U, V, SHARES)]
       for f in (stats.wasserstein_distance, stats.energy_distance)},
    "gaussian_kde": [
        (lambda d, x: kde(d)(x), U, V), (lambda d, x: kde(d, "silverman")(x), U, 0.3),
        (lambda d, b, x: kde(d, b)(x), U, 0.4, V), (lambda d, x: kde(d, bw_method=1)(x), U, V),
        (lambda d, w, x: kde(d, weights=w).pdf(x), U, SHARES, V),
        (lambda d, x: kde(d)(x), PLANE, AT), (lambda d, x: kde(d).evaluate(x), PLANE, AT[:, 0]),
        (lambda d, x: kde(d).logpdf(x), U, V), (lambda d, x: kde(d).logpdf(x), PLANE, 20.0 * AT),
        (lambda d, a, b: kde(d).integrate_box_1d(a, b), U, -0.3, 0.8),
        (lambda x: KDE(x) + KDE.pdf(x) + KDE.logpdf(x) + KDE.evaluate(x), V),
        (lambda a: KDE.integrate_box_1d(a, 2.0), 0.1), (lambda x: KDE_OF_PLANE(x), AT),
        (lambda d, x: kde(d)(x), U.astype(np.float32), V.astype(np.float32)),
        (lambda x: kde([1.0, 2.0, 4.0])(x), V),
        (lambda d: (kde(d).covariance, kde(d).weights, kde(d).dataset), U)],
}
