"""What compiled code calls and does not bring along: glibc's vector math, BLAS and LAPACK.

Symbols are bound to addresses here, before object code that names them is loaded. BLAS is NumPy's
own OpenBLAS, or what SciPy exports.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import sys
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tracejit.errors import Refusal

__all__ = ["find_blas", "load_libmvec"]

LIBRARY = "libmvec.so.1"


@functools.cache
def load_libmvec() -> ctypes.CDLL | None:
    """Load libmvec into the process, for compiled code to find; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    llvm.load_library_permanently(LIBRARY)
    return library


ROUTINES = ("gemm", "trsm", "potrf", "getrf")
_LAPACK = {"potrf", "getrf"}


@functools.cache
def find_blas() -> tuple[str, int]:
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
