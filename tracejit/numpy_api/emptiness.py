"""Whether an array is empty: sizes that arguments say, and sizes that data decides in the run."""

from __future__ import annotations

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.dims import Dim
from tracejit.trace.ground.context import current
from tracejit.trace.values.equations import as_operand
from tracejit.trace.values.python_numbers import require, require_ours

__all__ = ["is_nothing", "require_items"]


def is_nothing(d: Dim) -> bool:
    """Return whether a size is 0, which the program is then made for."""
    return current().decide(d, "==", "whether an array is empty") is True


def require_items(d: Dim, error: type[Exception], message: str) -> None:
    """Require that a size is not 0: here, or in the run where data decides it."""
    if is_nothing(d):
        raise error(message)
    if current().decide(d, "==", "whether an array is empty") is None:
        (require_ours if issubclass(error, Refusal) else require)(
            np.greater(as_operand(d), 0), error, message)
