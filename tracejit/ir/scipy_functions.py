"""The C functions of `scipy.special`: their names, types and addresses.

`scipy.special.cython_special` hands out a pointer for each, with its C type in the name of a
capsule. Compiled code calls them as SciPy's ufuncs do, so that values are SciPy's; derivatives are
written in `tracejit/ops/scipy_functions.py`.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.errors import Refusal

__all__ = ["C_FUNCTIONS", "SpecialFunction", "SPECIAL_PREFIX", "address_of_special"]

SPECIAL_PREFIX = "tracejit_special_"
"""The prefix of the symbols under which compiled code calls these functions."""


@dataclass(frozen=True, slots=True)
class SpecialFunction:
    """A C function of `scipy.special`, or one of the results of a function that has several.

    name     -- in `scipy.special`
    operands -- "d" for each double, "z" for each complex number
    result   -- "d" or "z"
    part     -- which of the results, where a function has several, and how many it has
    """

    name: str
    operands: str
    result: str = "d"
    part: tuple[int, int] | None = None

    @property
    def symbol(self) -> str:
        """Return the symbol under which compiled code calls the function."""
        return f"{SPECIAL_PREFIX}{self.name}_{self.operands}"

    @property
    def dtypes(self) -> tuple[np.dtype, ...]:
        """Return the dtypes of the operands, then the result's."""
        return tuple(np.dtype({"d": np.float64, "z": np.complex128}[kind])
                     for kind in (*self.operands, self.result))

    def __call__(self, *operands: np.ndarray) -> np.ndarray:
        """Return the values that compiled code computes, element by element."""
        from scipy import special

        with np.errstate(all="ignore"):
            found = getattr(special, self.name)(*operands)
        return np.asarray(found if self.part is None else found[self.part[0]], self.dtypes[-1])


_ROWS = {
    "d": "bei beip ber berp kei keip ker kerp kolmogi kolmogorov ndtri_exp wrightomega it2struve0 "
         "itmodstruve0 itstruve0",
    "dd": "chdtriv elliprc hyp0f1 jve mathieu_a mathieu_b modstruve pdtrik smirnov "
          "smirnovi stdtridf tklmbda yve",
    "ddd": "bdtrik bdtrin besselpoly btdtria btdtrib chndtr chndtridf chndtrinc chndtrix "
           "elliprg fdtridfd gdtria gdtrib hyperu log_wright_bessel nbdtrik nbdtrin nctdtr "
           "nctdtridf nctdtrinc nctdtrit nrdtrimn nrdtrisd obl_cv pro_cv wright_bessel",
    "dddd": "elliprj ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc",
}
_OF_COMPLEX = {
    "z": "dawsn erf erfc erfcx erfi exp1 expi gamma log_ndtr loggamma ndtr psi rgamma spence "
         "wrightomega",
    "dz": "hankel1 hankel1e hankel2 hankel2e hyp0f1 iv ive jv jve kv kve yv yve",
    "ddz": "hyp1f1", "dddz": "hyp2f1",
}
_PARTS = {
    ("it2i0k0", "d"): 2, ("it2j0y0", "d"): 2, ("itairy", "d"): 4, ("iti0k0", "d"): 2,
    ("itj0y0", "d"): 2, ("ellipj", "dd"): 4, ("pbdv", "dd"): 2, ("pbvv", "dd"): 2,
    ("pbwa", "dd"): 2, **{(f"mathieu_{name}", "ddd"): 2 for name in (
        "cem", "sem", "modcem1", "modcem2", "modsem1", "modsem2")},
    **{(f"{shape}_{kind}{how}", "dddd" + own): 2 for shape in ("obl", "pro")
       for kind in ("ang1", "rad1", "rad2") for how, own in (("", ""), ("_cv", "d"))}}
_COMPLEX_PARTS = {("sici", "z"): 2, ("shichi", "z"): 2, ("fresnel", "z"): 2, ("airy", "z"): 4,
                  ("airye", "z"): 4, ("modfresnelp", "d"): 2, ("modfresnelm", "d"): 2}


def _functions() -> Iterator[tuple[str, SpecialFunction]]:
    for rows, result in ((_ROWS, "d"), (_OF_COMPLEX, "z")):
        for operands, names in rows.items():
            for name in names.split():
                key = name if result == "d" else f"{name}_z"
                yield key, SpecialFunction(name, operands, result)
    for parts, result in ((_PARTS, "d"), (_COMPLEX_PARTS, "z")):
        for (name, operands), count in parts.items():
            for k in range(count):
                key = f"{name}_{k}" if result == "d" else f"{name}_{k}_z"
                yield key, SpecialFunction(name, operands, result, (k, count))


C_FUNCTIONS = dict(_functions())
"""The functions that compiled code may call, by the names that ops and Loop IR have for them."""

_C = {"d": "double", "z": "__pyx_t_double_complex"}


def _c_type(f: SpecialFunction) -> str:
    """Return the type that the name of a function's capsule has."""
    given = [_C[kind] for kind in f.operands]
    if f.part is not None:
        return f"void ({', '.join(given + [f'{_C[f.result]} *'] * f.part[1])})"
    return f"{_C[f.result]} ({', '.join(given)}, int __pyx_skip_dispatch)"


@functools.cache
def _capsules() -> dict[tuple[str, str], object]:
    """Return SciPy's capsules by the name of the function and its C type."""
    from scipy.special import cython_special

    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    capsules: dict[str, Any] = cython_special.__pyx_capi__
    found = {}
    for key, capsule in capsules.items():
        own: bytes = name(capsule)
        plain = re.sub(r"^__pyx_fuse_\d+(?:_\d+)?", "", key)
        found[plain, own.decode()] = capsule
    return found


@functools.cache
def address_of_special(symbol: str) -> int:
    """Return the address of a function by its symbol; `Refusal` where SciPy has it no more."""
    f = next((f for f in C_FUNCTIONS.values() if f.symbol == symbol), None)
    capsule = None if f is None else _capsules().get((f.name, _c_type(f)))
    if f is None or capsule is None:
        raise Refusal(f"SciPy as it is installed here does not hand out the C function {symbol}, "
                      "which compiled code calls. Install SciPy 1.15 or later from PyPI", "TJ606")
    pointer, name = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_GetName
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address: int = pointer(capsule, name(capsule))
    return address
