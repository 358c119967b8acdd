"""BLAS and LAPACK by pointer: NumPy's own OpenBLAS first, then what SciPy exports.

Compiled code calls `tracejit_dgemm` and so on; those names are bound to addresses here. Fortran
takes everything by reference, with integers of 64 bits in NumPy's library and of 32 in SciPy's.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir

from tracejit.errors import Refusal

__all__ = ["call_fortran", "find_library"]

ROUTINES = ("gemm", "trsm", "potrf", "getrf")
_LAPACK = {"potrf", "getrf"}


@functools.cache
def find_library() -> tuple[str, int]:
    """Bind the routines to addresses; return where they are from, and the bits of their integers.

    Raises `Refusal` where there is no BLAS in the process.
    """
    addresses = _from_numpy() or _from_scipy()
    if not addresses:
        raise Refusal("this program needs BLAS or LAPACK, and neither NumPy's build nor SciPy has "
                      "one that compiled code can call. Install NumPy from PyPI, or scipy")
    source, bits, found = addresses
    for name, address in found.items():
        llvm.add_symbol(f"tracejit_{name}", address)
    return source, bits


def _from_numpy() -> tuple[str, int, dict[str, int]] | None:
    folder = os.path.dirname(np.__file__)
    pattern = "*openblas64_*"
    for path in (*glob.glob(f"{folder}.libs/{pattern}"), *glob.glob(f"{folder}/.dylibs/{pattern}")):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        found = {}
        for letter in "sd":
            for routine in ROUTINES:
                function = getattr(library, f"scipy_{letter}{routine}_64_", None)
                if function is None:
                    return None
                address = ctypes.cast(function, ctypes.c_void_p).value
                assert address is not None
                found[letter + routine] = address
        return f"NumPy ({os.path.basename(path)})", 64, found
    return None


def _from_scipy() -> tuple[str, int, dict[str, int]] | None:
    try:
        from scipy.linalg import cython_blas, cython_lapack
    except ImportError:
        return None
    get, name = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found = {}
    for letter in "sd":
        for routine in ROUTINES:
            module: Any = cython_lapack if routine in _LAPACK else cython_blas
            capsule = module.__pyx_capi__[letter + routine]
            found[letter + routine] = get(capsule, name(capsule))
    return "SciPy", 32, found


def call_fortran(builder: Any, name: str, kinds: str, args: list[Any]) -> None:
    """Emit a call of a Fortran routine.

    kinds -- per argument: "c" a character, "i" an integer, "l" a leading dimension, "s" a scalar,
             "p" a pointer
    """
    bits = find_library()[1]
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
