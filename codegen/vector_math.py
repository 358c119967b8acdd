"""Math functions that LLVM's own vectoriser can vectorise, through glibc's libmvec.

A call to `exp` carries the attribute `vector-function-abi-variant`, which names the variants of
libmvec for 2, 4 and 8 lanes; the variants have to be declared in the module and kept alive in
`llvm.compiler.used`. No fast-math is needed. libmvec promises an error of at most 4 ulp; where it
is absent, or switched off, the scalar functions of libm are called.
"""

from __future__ import annotations

import functools
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from tracejit.codegen.libraries import load_libmvec

__all__ = ["align_stack", "call_math", "host_widths", "variants"]

_ISAS = {128: ("b", "sse2"), 256: ("d", "avx2"), 512: ("e", "avx512f")}
"""Per width in bits: the letter in the names of libmvec, and the feature that a CPU must have."""


_LINE = 64
"""The bytes of a line of the cache, and of the longest vector."""


def align_stack(function: ir.Function) -> None:
    """Let variables on a function's stack lie as their types ask, by a stack that is aligned.

    No register of a vector survives a call, so that a loop which calls puts its vectors on the
    stack in each iteration. Callers give 16 bytes, by chance more: then half of the vectors of 64
    bytes lie in two lines each, and a read right after a write waits.
    """
    set.add(function.attributes, f"alignstack({_LINE})")  # the set's own add() knows it not


@functools.cache
def host_widths() -> tuple[int, ...]:
    """Return the widths in bits of the vector functions that this CPU can run."""
    features = llvm.get_host_cpu_features()
    return tuple(width for width, (_, feature) in _ISAS.items() if features.get(feature))


@functools.cache
def variants(name: str, bits: int, arity: int,
             widths: tuple[int, ...]) -> tuple[tuple[int, str], ...]:
    """Return (lanes, symbol) of the vector variants of a function of libm, of some widths."""
    library = load_libmvec()
    found = []
    for width in widths:
        symbol = f"_ZGV{_ISAS[width][0]}N{width // bits}{'v' * arity}_{name}"
        if library is not None and hasattr(library, symbol):
            found.append((width // bits, symbol))
    return tuple(found)


def call_math(builder: ir.IRBuilder, name: str, args: list[ir.Value],
              widths: tuple[int, ...]) -> Any:
    """Emit a call of a function of libm on floats or doubles, vectorisable to some widths."""
    module = builder.module
    scalar = args[0].type
    bits = 64 if isinstance(scalar, ir.DoubleType) else 32
    symbol = name if bits == 64 else name + "f"
    function = module.globals.get(symbol) or ir.Function(
        module, ir.FunctionType(scalar, [scalar] * len(args)), symbol)
    call = builder.call(function, args)
    attributes = ["nounwind", "willreturn", "memory(none)"]
    known = variants(symbol, bits, len(args), widths)
    if known:
        names = []
        for lanes, variant in known:
            _keep(module, variant, ir.VectorType(scalar, lanes), len(args))
            names.append(f"_ZGV_LLVM_N{lanes}{'v' * len(args)}_{symbol}({variant})")
        attributes.append(f'"vector-function-abi-variant"="{",".join(names)}"')
    for attribute in attributes:  # the set's own add() knows only some attributes
        set.add(call.attributes, attribute)
    return call


def _keep(module: ir.Module, name: str, vector: object, arity: int) -> None:
    """Declare a variant and keep the declaration until the vectoriser has seen it."""
    if name in module.globals:
        return
    function = ir.Function(module, ir.FunctionType(vector, [vector] * arity), name)
    byte = ir.IntType(8).as_pointer()
    old = module.globals.get("llvm.compiler.used")
    kept = [] if old is None else list(old.initializer.constant)
    if old is not None:
        del module.globals["llvm.compiler.used"]
        module.scope._useset.discard("llvm.compiler.used")
    kept.append(function.bitcast(byte))
    array = ir.ArrayType(byte, len(kept))
    used = ir.GlobalVariable(module, array, "llvm.compiler.used")
    used.linkage, used.section = "appending", "llvm.metadata"
    used.initializer = ir.Constant(array, kept)
