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
    bits = find_blas()[1]
    integer, byte = ir.IntType(bits), ir.IntType(8)
    pointers = []
    for kind, arg in zip(kinds, args, strict=True):
        if kind == "p":
            if isinstance(arg.type, ir.LiteralStructType):  # a pointer of verify mode
                arg = builder.extract_value(arg, 0)
            pointers.append(builder.bitcast(arg, byte.as_pointer()))
            continue
        value = arg
        if kind == "l":  # of an empty matrix too it must be 1 at least
            value = builder.select(builder.icmp_signed("<", arg, arg.type(1)), arg.type(1), arg)
        if kind in "il" and bits == 32:
            value = builder.trunc(value, integer)
        elif kind == "c":
            value = builder.trunc(arg, byte)
        with builder.goto_entry_block():
            place = builder.alloca(value.type)
        builder.store(value, place)
        pointers.append(builder.bitcast(place, byte.as_pointer()))
    module = builder.module
    symbol = f"tracejit_{name}"
    function = module.globals.get(symbol) or ir.Function(
        module, ir.FunctionType(ir.VoidType(), [byte.as_pointer()] * len(pointers)), symbol)
    builder.call(function, pointers)
