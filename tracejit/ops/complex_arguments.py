"""Functions of complex numbers that have names: the Faddeeva function and Lambert's W."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.ir import complex_arguments
from tracejit.ops.asymptotic import wofz_partial
from tracejit.ops.kinds import elementwise
from tracejit.trace.values.equations import apply

__all__: list[str] = []


def _of_complex(function: Callable[..., complex]) -> Callable[..., Any]:
    """Return a function of complex numbers as one of arrays, which keeps their dtype."""
    whole = np.vectorize(lambda *zs: function(*map(complex, zs)), otypes=[np.complex128])
    return lambda *zs: whole(*zs).astype(np.asarray(zs[0]).dtype)


elementwise("wofz", None, "{t}(faddeeva({0}))", lambda w, z: (wofz_partial(w, z),),
            cost=200.0, kinds="c", reference=_of_complex(complex_arguments.faddeeva))
elementwise("lambert_w", None, "{t}(lambert_w({0}, {1}))",
            lambda w, z, k: (np.exp(-w) / (1.0 + w), None), cost=500.0, kinds="c",
            reference=_of_complex(complex_arguments.lambert_w), samples=lambda n: [
                ((n,), lambda z, k=k: apply("lambert_w", z * z + z.dtype.type(0.5j),
                                            z.dtype.type(k)))
                for k in (0.0, -1.0, 2.0)])
