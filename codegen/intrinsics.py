"""The functions that emitted CPU source may call, by name.

Each lowers to a few LLVM instructions at the place of the call; none uses Numba's runtime.
"""

from __future__ import annotations

from typing import Any

from tracejit.codegen import (
    checked,
    dft_calls,
    draws,
    library_calls,
    native,
    printing,
    scalar_functions,
    ticks,
)
from tracejit.codegen.context_words import Reallocate, context_names, realloc
from tracejit.codegen.parallel_calls import parallel_names
from tracejit.codegen.pointers import pointer
from tracejit.codegen.scalar_intrinsics import scalar_names
from tracejit.codegen.scipy_calls import scipy_names
from tracejit.ir.dtypes import DTYPES

__all__ = ["namespace"]


def namespace(widths: tuple[int, ...], *, reassociate: bool = True,
              reallocate: Reallocate = realloc) -> dict[str, Any]:
    """Return the functions that emitted source calls, by name.

    widths      -- the bits of the vectors that math functions may be called on, with an error of
                   up to 4 ulp; none where they must not be vectorised
    reassociate -- whether the adds of sums may be reordered
    reallocate  -- emits the call by which Logs grow
    """
    names = scalar_names(widths, reassociate=reassociate)
    names.update(context_names(reallocate))
    names.update((f"{name}_at", pointer(dtype)) for name, dtype in DTYPES.items())
    names["within"], names["show"] = checked.within, printing.show
    names.update(library_calls.names())
    names.update(draws.draw_names())
    names.update(dft_calls.dft_names())
    names.update(native.native_names())
    names.update(ticks.tick_names())
    names.update(parallel_names())
    names.update(scipy_names())
    names.update(scalar_functions.functions(names))
    return names
