"""SciPy's functions and objects on tracers: each in terms of ops, and without importing SciPy."""

from tracejit.scipy_api import (  # noqa: F401  (importing fills the dispatch tables)
    bessel,
    bessel_kin,
    bsplines,
    combinatorics,
    complex_arguments,
    convolutions,
    distances,
    distributions,
    elliptic,
    filters,
    fourier,
    grids,
    hypergeometric,
    images,
    integrals,
    interpolation1d,
    interpolators,
    odes,
    piecewise,
    probability,
    quadrature,
    resampling,
    roots,
    sample_tests,
    samples,
    scores,
    sparse,
    sparse_assembly,
    sparse_making,
    spectral,
    spline_making,
    vector_distributions,
)
from tracejit.trace.ground.own_numpy import keep_numpy

keep_numpy()
