"""What is known of a value before it runs: dtype and symbolic shape, or the dtype of a Log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracejit.ir.dims import Dim, Expr, format_dim
from tracejit.ir.dtypes import dtype_name

__all__ = ["Aval", "LogType", "Type", "is_differentiable", "scalar"]

def is_differentiable(dtype: np.dtype) -> bool:
    """Return whether values of this dtype carry derivatives: floats and complex numbers do."""
    return dtype.kind in "fc"


@dataclass(frozen=True, slots=True)
class Aval:
    """An abstract array: its dtype and its shape, whose dims may be expressions."""

    dtype: np.dtype
    shape: tuple[Dim, ...] = ()

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Return whether every dim is a plain int."""
        return not any(isinstance(d, Expr) for d in self.shape)

    def with_shape(self, shape: tuple[Dim, ...]) -> Aval:
        """Return the same dtype with another shape."""
        return Aval(self.dtype, shape)

    def with_dtype(self, dtype: np.dtype) -> Aval:
        """Return the same shape with another dtype."""
        return Aval(dtype, self.shape)

    def __str__(self) -> str:
        return f"{dtype_name(self.dtype)}[{', '.join(format_dim(d) for d in self.shape)}]"


@dataclass(frozen=True, slots=True)
class LogType:
    """A linear stack of scalars of one dtype: pushed to going forward, popped from going back."""

    dtype: np.dtype

    def __str__(self) -> str:
        return f"log<{dtype_name(self.dtype)}>"


Type = Aval | LogType


def scalar(dtype: np.dtype | type) -> Aval:
    """Return the aval of a scalar."""
    return Aval(np.dtype(dtype), ())
