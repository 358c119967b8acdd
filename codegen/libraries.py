"""Libraries that compiled code calls: vector math, BLAS, LAPACK, NumPy's and SciPy's functions.

Symbols are bound to addresses here, before object code that names them is loaded. BLAS is NumPy's
own OpenBLAS, or SciPy's.
"""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import sys
from collections.abc import Iterable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tracejit.errors import ExportError, Refusal
from tracejit.ir.draws import address_of_function
from tracejit.ir.scipy_functions import SPECIAL_PREFIX, address_of_special

__all__ = ["DRAWS_PREFIX", "ROUTINES", "bind_functions", "find_blas", "link_words",
           "linkable_name", "linkable_names", "load_libmvec", "threads_of_blas"]

LIBRARY = "libmvec.so.1"

DRAWS_PREFIX = "tracejit_random_"
"""The prefix of the symbols of NumPy's functions that draw random numbers."""


def bind_functions(symbols: Iterable[str]) -> None:
    """Bind the symbols of NumPy's random and SciPy's special functions, among these."""
    for name in symbols:
        if name.startswith(DRAWS_PREFIX):
            llvm.add_symbol(name, address_of_function(name.removeprefix("tracejit_")))
        elif name.startswith(SPECIAL_PREFIX):
            llvm.add_symbol(name, address_of_special(name))


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


_BLAS = ("gemm", "trsm")
_FOR_ALL = (*_BLAS, "potrf", "getrf", "gesdd", "geqrf", "geev", "gees", "trsyl",
            "gbsv")
_FOR_REAL = ("sbevd", "syevd", "syevr", "orgqr")
_FOR_COMPLEX = ("hbevd", "heevd", "heevr", "ungqr")

ROUTINES = tuple(letter + name for letters, names in (
    ("sdcz", _FOR_ALL), ("sd", _FOR_REAL), ("cz", _FOR_COMPLEX)) for letter in letters
    for name in names)
"""Routines of BLAS and LAPACK that programs call, by their names."""


@functools.cache
def find_blas() -> tuple[str, int]:
    """Bind the routines to addresses; return where they are from, and the bits of their integers.

    Raises `Refusal` where there is no BLAS in the process.
    """
    addresses = _from_numpy() or _from_scipy()
    if not addresses:
        raise Refusal("this program needs BLAS or LAPACK, and neither NumPy's build nor SciPy has "
                      "one that compiled code can call. Install NumPy from PyPI, or scipy", "TJ606")
    source, bits, found = addresses
    for name, address in found.items():
        llvm.add_symbol(f"tracejit_{name}", address)
    return source, bits


def _files_of_numpy() -> list[str]:
    folder = os.path.dirname(np.__file__)
    pattern = "*openblas64_*"
    return [*glob.glob(f"{folder}.libs/{pattern}"), *glob.glob(f"{folder}/.dylibs/{pattern}")]


def _from_numpy() -> tuple[str, int, dict[str, int]] | None:
    for path in _files_of_numpy():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        found = {}
        for routine in ROUTINES:
            function = getattr(library, linkable_name(routine), None)
            if function is None:
                return None
            address = ctypes.cast(function, ctypes.c_void_p).value
            assert address is not None
            found[routine] = address
        return f"NumPy ({os.path.basename(path)})", 64, found
    return None


def threads_of_blas() -> tuple[int, int] | None:
    """Return the addresses of the functions of NumPy's OpenBLAS on its number of threads.

    The first one tells it, the second one sets it, for the whole process; a build may lack them.
    """
    for path in _files_of_numpy():
        library = ctypes.CDLL(path)
        found = [getattr(library, f"scipy_openblas_{what}_num_threads64_", None)
                 for what in ("get", "set")]
        get, put = (None if f is None else ctypes.cast(f, ctypes.c_void_p).value for f in found)
        if get is not None and put is not None:
            return get, put
    return None


def narrow_kernels() -> str | None:
    """Return the CPU that OpenBLAS has kernels for, if that has narrower vectors than this one.

    OpenBLAS knows CPUs by their models, and takes one that is newer than itself for a Haswell.
    """
    if not llvm.get_host_cpu_features().get("avx512vbmi2"):
        return None
    name = _name_of_kernels()
    return name if name in ("Haswell", "Zen") else None


def _name_of_kernels() -> str | None:
    for path in _files_of_numpy():
        tell = getattr(ctypes.CDLL(path), "scipy_openblas_get_corename64_", None)
        if tell is not None:
            tell.restype = ctypes.c_char_p
            return str(tell().decode())
    return None


def linkable_name(routine: str) -> str:
    """Return the symbol of a routine in NumPy's OpenBLAS, which scipy-openblas64 also has."""
    return f"scipy_{routine}_64_"


def linkable_names() -> set[str]:
    """Return the symbols of all routines."""
    return set(map(linkable_name, ROUTINES))


def link_words() -> tuple[str, ...]:
    """Return the words that link NumPy's OpenBLAS; `ExportError` where programs call another."""
    if find_blas()[1] != 64:
        raise ExportError("the program calls BLAS or LAPACK as SciPy has it, under addresses and "
                          "no names that a linker knows. Install NumPy from PyPI, whose OpenBLAS "
                          "can be linked")
    (path, *_) = _files_of_numpy()
    folder, name = os.path.split(path)
    return f"-L{folder}", f"-l:{name}", "-Xlinker", "-rpath", "-Xlinker", folder


def _from_scipy() -> tuple[str, int, dict[str, int]] | None:
    try:
        from scipy.linalg import cython_blas, cython_lapack
    except ImportError:
        return None
    get, name = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    found = {}
    for routine in ROUTINES:
        module: Any = cython_blas if routine[1:] in _BLAS else cython_lapack
        capsule = module.__pyx_capi__[routine]
        found[routine] = get(capsule, name(capsule))
    return "SciPy", 32, found
