"""The type of a value before it runs, as rules ask for it."""

from __future__ import annotations

import numpy as np

from tracejit.ir.values import Aval, LogType, Type

__all__ = ["Aval", "LogType", "Type", "is_differentiable", "scalar"]


def is_differentiable(dtype: np.dtype) -> bool:
    """Return whether values of this dtype carry derivatives: floats and complex numbers do."""
    return dtype.kind in "fc"


def scalar(dtype: np.dtype | type) -> Aval:
    """Return the aval of a scalar."""
    return Aval(np.dtype(dtype), ())
