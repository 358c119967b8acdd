"""SciPy's C functions as one op, with their derivatives.

The param `function` is a name of `C_FUNCTIONS`: that of `scipy.special`, followed by the number of
a result and by `_z` where operands are complex. `scipy_partials.py` and `complex_partials.py` have
the derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.errors import IRError
from tracejit.ir.core import Block, Eqn, Params
from tracejit.ir.lowering import Pointwise
from tracejit.ir.scipy_functions import C_FUNCTIONS
from tracejit.ir.types import Aval
from tracejit.ops.kinds import NoFormula, broadcast_shapes, only, partial_rules, structural
from tracejit.trace.values.equations import apply, cast

__all__ = ["PARTIALS", "UNKNOWN", "Formula", "special"]

Formula = Callable[..., Any]
"""A formula of operands."""

PARTIALS: dict[str, Callable[..., tuple[object, ...]]] = {}
"""Partial derivatives by name: (output, *operands) -> one for each operand, as `elementwise` has
them; a function without any is not differentiable."""


def special(name: str, *operands: object) -> Any:
    """Return one of SciPy's C functions of operands, which are cast to the types that it takes."""
    dtypes = C_FUNCTIONS[name].dtypes
    return apply("special", *(cast(x, t) for x, t in zip(operands, dtypes, strict=False)),
                 function=name)


def _infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
    f = C_FUNCTIONS.get(params["function"])
    if f is None or f.dtypes[:-1] != tuple(a.dtype for a in avals):
        raise IRError(f"special {params['function']} of {', '.join(map(str, avals))}")
    return only(Aval(f.dtypes[-1], broadcast_shapes([a.shape for a in avals])))


def _reference(*operands: np.ndarray, function: str) -> Any:
    return C_FUNCTIONS[function](*operands)


UNKNOWN = NoFormula("this parameter of a function of scipy.special", "Keep it constant, with "
                     "tracejit.stop_gradient, say")


def _partials(eqn: Eqn) -> Callable[..., tuple[object, ...]]:
    known = PARTIALS.get(eqn.params["function"])
    return known or (lambda z, *operands: (UNKNOWN,) * len(operands))


structural("special", _reference, _infer, Pointwise("c_ber({0})", function=True),
           *partial_rules(_partials), cost=500.0, samples=lambda n: [
    ((n,), lambda t: special("ber", np.exp(cast(t, np.float64)))),
    ((n, 1), lambda t: special("pbdv_0", 1.5, t)),
    ((n,), lambda t: special("jve", 1.5, np.exp(cast(t, np.float64)))),
    ((n,), lambda t: special("erf_z", apply("complex", t, 0.3 * t + 0.5)))])
