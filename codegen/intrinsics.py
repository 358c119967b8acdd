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
from tracejit.codegen.recipes import Recipe, Widths, made
from tracejit.codegen.scalar_intrinsics import FAST_MATH, scalar_names
from tracejit.codegen.scipy_calls import scipy_names
from tracejit.codegen.small_products import small_gemm_at_with, small_gemm_with
from tracejit.ir.dtypes import DTYPES

__all__ = ["namespace", "recipes"]


def recipes(widths: Widths, *, reassociate: bool = True,
            reallocate: Reallocate = realloc) -> dict[str, object]:
    """Return the functions that emitted source calls by name, or how they are made.

    The arguments are those of `namespace`; functions of `scalar_functions.py` are not among them.
    """
    names = scalar_names(widths, reassociate=reassociate)
    flags = FAST_MATH if reassociate else ()
    names["small_gemm"] = Recipe(small_gemm_with, (flags,))
    names["small_gemm_at"] = Recipe(small_gemm_at_with, (flags,))
    names.update(context_names(reallocate))
    names.update((f"{name}_at", Recipe(pointer, (dtype,))) for name, dtype in DTYPES.items())
    names["within"], names["show"] = checked.within, printing.show
    names["call_back"] = printing.call_back
    for more in (library_calls.names, draws.draw_names, dft_calls.dft_names, native.native_names,
                 ticks.tick_names, parallel_names, scipy_names):
        names.update(more())
    return names


def namespace(widths: tuple[int, ...], *, reassociate: bool = True,
              reallocate: Reallocate = realloc) -> dict[str, Any]:
    """Return the functions that emitted source calls, by name.

    widths      -- the bits of the vectors that math functions may be called on, with an error of
                   up to 4 ulp; none where they must not be vectorised
    reassociate -- whether the adds of sums may be reordered
    reallocate  -- emits the call by which Logs grow
    """
    names = made(recipes(widths, reassociate=reassociate, reallocate=reallocate))
    names.update(scalar_functions.functions(names))
    return names
