"""NumPy's functions, methods and attributes, and `math`'s, on tracers: each in terms of ops."""

from tracejit.numpy_api import (  # noqa: F401  (importing fills the dispatch tables)
    arrangements,
    attributes,
    comparisons,
    complex_numbers,
    compositions,
    conditions,
    creation,
    data_sizes,
    distributions,
    editing,
    elementwise,
    frequencies,
    generators,
    linalg,
    mathematics,
    matrices,
    missing_numbers,
    number_lines,
    ordering,
    placing,
    polynomials,
    reductions,
    selection,
    shapes,
    singular,
    special,
    spectra,
    triangles,
)
from tracejit.trace.ground.own_numpy import keep_numpy

keep_numpy()
