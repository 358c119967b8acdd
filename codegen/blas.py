"""Calls of BLAS and LAPACK: `tracejit_dgemm` and so on, which `libraries.py` binds to addresses.

Fortran takes everything by reference, with integers of 64 bits in NumPy's library and of 32 in
SciPy's.
"""

from __future__ import annotations

from llvmlite import ir

from tracejit.codegen.libraries import find_blas

__all__ = ["call_fortran"]


def call_fortran(builder: ir.IRBuilder, name: str, kinds: str, args: list[ir.Value]) -> None:
    """Emit a call of a Fortran routine.

    kinds -- per argument: "c" a character, "i" an integer, "l" a leading dimension, "s" a scalar,
             "p" a pointer
    """
    byte = ir.IntType(8).as_pointer()
    values = []
    for kind, arg in zip(kinds, args, strict=True):
        if kind == "p":
            if isinstance(arg.type, ir.LiteralStructType):  # a pointer of verify mode
                arg = builder.extract_value(arg, 0)
            arg = builder.bitcast(arg, byte)
        values.append(arg)
    builder.call(_by_value(builder.module, name, kinds, [v.type for v in values]), values)


def _by_value(module: ir.Module, name: str, kinds: str, types: list[ir.Type]) -> ir.Function:
    """Return the function of a module that passes its arguments on by reference.

    So a call is one instruction where it stands, and places of its arguments are not the kernel's.
    """
    known = module.globals.get(f"by_value_{name}")
    if known is not None:
        return known
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), types), f"by_value_{name}")
    made.linkage = "internal"
    for attribute in ("nounwind", "noinline"):
        made.attributes.add(attribute)
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    pointers = [_reference(builder, kind, arg) for kind, arg in zip(kinds, made.args, strict=True)]
    symbol = f"tracejit_{name}"
    routine = module.globals.get(symbol) or ir.Function(
        module, ir.FunctionType(ir.VoidType(), [p.type for p in pointers]), symbol)
    builder.call(routine, pointers)
    builder.ret_void()
    return made


def _reference(builder: ir.IRBuilder, kind: str, value: ir.Value) -> ir.Value:
    """Return a pointer to an argument; to that itself if it is one."""
    if kind == "p":
        return value
    if kind == "l":  # of an empty matrix too it must be 1 at least
        value = builder.select(builder.icmp_signed("<", value, value.type(1)), value.type(1), value)
    bits = find_blas()[1]
    if kind in "il" and bits == 32:
        value = builder.trunc(value, ir.IntType(bits))
    elif kind == "c":
        value = builder.trunc(value, ir.IntType(8))
    place = builder.alloca(value.type)
    builder.store(value, place)
    return builder.bitcast(place, ir.IntType(8).as_pointer())
