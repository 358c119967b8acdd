"""Vector math for hand-written Numba code: calls that LLVM replaces by glibc's libmvec.

It works through the attribute `vector-function-abi-variant` of the call, which names a vector
function for each width; the declared names are kept alive in `llvm.compiler.used`.
"""

from __future__ import annotations

import ctypes
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

__all__ = ["vectorised"]

llvm.load_library_permanently("libmvec.so.1")
LIBRARY = ctypes.CDLL("libmvec.so.1")
WIDEST = next(bits for feature, bits in (("avx512f", 512), ("avx2", 256), ("", 128))
              if not feature or llvm.get_host_cpu_features().get(feature))
DOUBLE, BYTES = ir.DoubleType(), ir.IntType(8).as_pointer()


def _variants(name: str) -> list[tuple[int, str]]:
    """Return lanes and symbol of each vector function that this processor can run."""
    found = [(bits // 64, f"_ZGV{isa}N{bits // 64}v_{name}")
             for isa, bits in (("b", 128), ("d", 256), ("e", 512)) if bits <= WIDEST]
    return [(lanes, symbol) for lanes, symbol in found if hasattr(LIBRARY, symbol)]


def _keep(module: Any, functions: list[Any]) -> None:
    """Add functions to `llvm.compiler.used`, which llvmlite can only replace."""
    name = "llvm.compiler.used"
    old = module.globals.pop(name, None)
    if old is not None:
        module.scope._useset.discard(name)
    kept = (old.initializer.constant if old is not None else [])
    kept = [*kept, *(f.bitcast(BYTES) for f in functions)]
    used = ir.GlobalVariable(module, ir.ArrayType(BYTES, len(kept)), name)
    used.linkage, used.section = "appending", "llvm.metadata"
    used.initializer = ir.Constant(used.value_type, kept)


def vectorised(name: str) -> Any:
    """Return a function of one float64 for compiled code: `name` of the C library."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        module = builder.module
        scalar = module.globals.get(name) or ir.Function(
            module, ir.FunctionType(DOUBLE, [DOUBLE]), name)
        declared, mapping = [], []
        for lanes, symbol in _variants(name):
            if symbol not in module.globals:
                vector = ir.VectorType(DOUBLE, lanes)
                declared.append(ir.Function(module, ir.FunctionType(vector, [vector]), symbol))
            mapping.append(f"_ZGV_LLVM_N{lanes}v_{name}({symbol})")
        if declared:
            _keep(module, declared)
        call = builder.call(scalar, args)
        names = ",".join(mapping)
        for attribute in ("nounwind", "memory(none)", "willreturn",
                          f'"vector-function-abi-variant"="{names}"'):
            set.add(call.attributes, attribute)  # past llvmlite's list of known attributes
        return call

    @intrinsic
    def function(typing_context: Any, x: Any) -> Any:
        return types.float64(types.float64), codegen

    return function
