"""Builtins whose results are numbers of Python's, on traced numbers: `int`, `round` and others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.dependencies import note_hash
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.python.builtin_calls import call_natively
from tracejit.trace.python.kinds_of_values import type_of
from tracejit.trace.python.operations import binary
from tracejit.trace.python.truths import truth
from tracejit.trace.values.equations import cast
from tracejit.trace.values.known_numbers import need_int
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.python_numbers import python_int, rounded, strong
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.text import settle
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["require_scalar", "to_int", "to_float", "to_bool", "to_complex", "round_number",
           "power", "quotient_and_rest", "hash_of"]


def require_scalar(x: Tracer) -> None:
    """Raise the `TypeError` of NumPy for an array that is no single number."""
    if x.dims:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")


def to_int(x: Any = 0, *args: object) -> Any:
    """Return `int(x, *args)`."""
    if isinstance(x, Tracer):
        require_scalar(x)
        return python_int(x)
    settle(x)
    return x if isinstance(x, SymInt) else int(x, *args)


def to_float(x: Any = 0.0) -> Any:
    """Return `float(x)`."""
    if not isinstance(x, TracedOperand):
        settle(x)
        return float(x)
    if isinstance(x, Tracer):
        require_scalar(x)
        if x.dtype.kind == "c" and (x.weak or x.is_array):
            raise TypeError("float() argument must be a string or a real number, not 'complex'")
    result = cast(x, np.float64)
    result.weak = True
    return result


def to_bool(x: Any = False) -> Any:
    """Return a truth value, which is Python's own."""
    x = truth(x)
    return x if isinstance(x, bool) else tracer_of(x.value, weak=True)


def to_complex(*args: Any) -> Any:
    """Return `complex(re, im)` of numbers."""
    if not any(isinstance(x, TracedOperand) for x in args):
        settle(args)
        return complex(*args)
    for x in args:
        if isinstance(x, Tracer):
            require_scalar(x)
    re, *im = (strong(cast(x, np.complex128)) for x in args)
    result = re + 1j * im[0] if im else re
    result.weak = True
    return result


def round_number(x: Any, ndigits: Any = None) -> Any:
    """Return `round(x, ndigits)`."""
    if isinstance(x, SymInt):
        if ndigits is None or (isinstance(ndigits, int) and ndigits >= 0):
            return x
        raise refuse("rounding of ints to tens or hundreds cannot be captured",
                     "Write (x + 5) // 10 * 10, say", "TJ206")
    if not isinstance(x, Tracer):
        return round(x, ndigits)
    if x.weak and x.dtype.kind == "b":
        return round_number(to_int(x), ndigits)
    if x.dtype.kind == "c" or (not x.weak and (x.is_array or x.dtype.kind == "b")):
        raise TypeError(f"type {type_of(x).__name__} doesn't define __round__ method")
    if x.weak and x.dtype.kind == "f" and ndigits:
        return rounded(x, ndigits)
    result = FUNCTIONS[np.round](x, ndigits or 0)
    result.weak = x.weak
    return result if ndigits is not None else to_int(result)


def power(base: object, exp: object, mod: Any = None) -> Any:
    """Return a power; one modulo a number is of Python ints, which have to be known."""
    if mod is None:
        return binary("Pow", base, exp)
    operands = [base, exp, mod]
    if any(isinstance(x, Tracer) for x in operands):
        if any(isinstance(x, Tracer) and x.is_array for x in operands):
            raise TypeError("unsupported operand type(s) for ** or pow(): 'numpy.ndarray', "
                            f"'{type_of(exp).__name__}', '{type_of(mod).__name__}'")
        raise TypeError("pow() 3rd argument not allowed unless all arguments are integers")
    return pow(*(need_int(x.dim, "pow() of three numbers") if isinstance(x, SymInt) else x
                 for x in operands))


def hash_of(x: object) -> int:
    """Return `hash(x)`; refuse a traced number other than a size or an int argument."""
    if isinstance(x, Tracer):
        if x.is_array:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        raise refuse("hash() of a number that is only known at run time",
                     "Make it a Python int argument, or decide on the number with `if`", "TJ111")
    note_hash(x)
    return int(call_natively(hash, (x,), {}))


def quotient_and_rest(x: object, y: Any) -> Any:
    """Return `divmod(x, y)`."""
    if isinstance(x, TracedOperand) or isinstance(y, TracedOperand):
        return x // y, x % y
    return divmod(x, y)
