"""Arguments of tapes: cotangents in the targets' structure, and their names in messages."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from tracejit.tape.noting import user_line
from tracejit.tape.values import Operand, TapeValue
from tracejit.tape.variables import Variable

__all__ = ["checked_cotangent", "described", "match", "warn_of_integers"]


def checked_cotangent(y: TapeValue, ct: Any, name: str) -> TapeValue | None:
    """Return a target's cotangent as a tape value of its shape and dtype; None for ones."""
    if ct is None:
        return None
    if not isinstance(ct, Operand):
        ct = TapeValue(np.array(ct)[()])
    elif isinstance(ct, Variable):
        ct = ct.read_value()
    if ct.shape != y.shape:
        raise ValueError(f"the cotangent of {name} has shape {ct.shape}, but {name} has shape "
                         f"{y.shape}")
    if ct.dtype.kind == "c" and y.dtype.kind != "c":
        raise ValueError(f"the cotangent of {name} is complex, but {name} is {y.dtype}")
    found: TapeValue = ct if ct.dtype == y.dtype else ct.astype(y.dtype)
    return found


def match(target: object, given: object, leaves: list[object]) -> None:
    """Collect the cotangents given for a nest of targets, None where there is none."""
    if isinstance(target, (list, tuple)):
        if not isinstance(given, (list, tuple)) or len(given) != len(target):
            raise ValueError("output_gradients has another structure than the target: "
                             f"{len(target)} targets need as many")
        for t, g in zip(target, given, strict=True):
            match(t, g, leaves)
    elif isinstance(target, dict):
        if not isinstance(given, dict) or given.keys() != target.keys():
            raise ValueError("output_gradients has other keys than the target")
        for k, t in target.items():
            match(t, given[k], leaves)
    else:
        leaves.append(given[0] if isinstance(given, (list, tuple)) and len(given) == 1 else given)


def described(x: object) -> str:
    """Return the words of messages for an object that a user gave."""
    if isinstance(x, np.ndarray):
        return f"a NumPy array of dtype {x.dtype} and shape {x.shape}"
    if x is None:
        return "None"
    kind = type(x).__name__
    return f"the {kind} {x!r}" if isinstance(x, (str, int, float, complex, np.generic)) else (
        f"an object of type {kind}")


_WARNED: set[np.dtype] = set()


def warn_of_integers(dtype: np.dtype, what: str = "watched value") -> None:
    """Warn, once per dtype, that values of other dtypes than float and complex have no gradient."""
    if dtype not in _WARNED:
        _WARNED.add(dtype)
        code, _ = user_line()
        depth = 1
        frame = sys._getframe(1)
        while frame.f_code is not code and frame.f_back is not None:
            frame = frame.f_back
            depth += 1
        warnings.warn(f"a {what} has dtype {dtype}: only floats and complex numbers have "
                      "gradients, so this one gets None. Use tracejit.constant(x, "
                      "dtype=np.float64)", stacklevel=depth + 1)
