"""The knowledge that a capture has of an argument: dtype and rank, not its sizes."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.draws import is_generator
from tracejit.ir.dtypes import DTYPES, remedy_for_dtype
from tracejit.trace.ground.strangers import remedy_for

__all__ = ["ArgSpec", "is_spec", "parameter_names", "spec", "spec_of_leaf"]


@dataclass(frozen=True, slots=True)
class ArgSpec:
    """The knowledge that a capture has of one leaf of the arguments.

    kind  -- "array", "scalar" (a NumPy scalar), "float", "int", "complex", "generator" (of
             random numbers: the address of its state), or "static"
    sizes -- for an array, a name or number per axis where a spec gives one, else None
    """

    kind: str
    dtype: np.dtype | None = None
    ndim: int = 0
    content: Any = None
    sizes: tuple[Any, ...] | None = None

    is_leaf: ClassVar[bool] = True
    """Where a spec stands for an argument it is one leaf, not a dataclass of several."""

    @property
    def is_traced(self) -> bool:
        """Return whether the leaf becomes an input of the graph."""
        return self.kind != "static"


_BY_TYPE = {float: "float", int: "int", complex: "complex"}
_DTYPE_OF = {"float": np.dtype(np.float64), "int": np.dtype(np.int64),
             "complex": np.dtype(np.complex128), "generator": np.dtype(np.int64)}


ON_DEVICE = "__cuda_array_interface__"
"""The attribute of arrays in the memory of a CUDA device."""


@functools.lru_cache(maxsize=256)
def is_plain_subclass(cls: type) -> bool:
    """Return whether a subclass of arrays overrides none of their methods and attributes."""
    if issubclass(cls, np.memmap):
        return cls is np.memmap
    own = {name for base in cls.__mro__[:cls.__mro__.index(np.ndarray)] for name in vars(base)}
    return not (own - {"__module__", "__doc__", "__dict__", "__weakref__", "__slots__"}) & {
        *dir(np.ndarray), "__array_ufunc__", "__array_function__", "__getattr__"}


def spec_of_leaf(x: Any, what: str = "an argument") -> ArgSpec:
    """Return the spec of an argument's leaf, `what` in messages; `Refusal` where it has none."""
    if isinstance(x, ArgSpec):
        return x
    kind = _BY_TYPE.get(type(x))
    if kind is not None:
        if kind == "int" and not -1 << 63 <= x < 1 << 63:
            raise Refusal(f"{what} is the int {x}, which does not fit into 64 bits. Pass a "
                          "float, if it need not be exact", "TJ303")
        return ArgSpec(kind, _DTYPE_OF[kind])
    if isinstance(x, np.ndarray):
        kind_of_array: Any = type(x)
        if kind_of_array is not np.ndarray and not is_plain_subclass(kind_of_array):
            instead = ("Pass x.data and np.ma.getmaskarray(x) as two arrays"
                       if isinstance(x, np.ma.MaskedArray) else "Pass np.asarray(x)")
            raise Refusal(f"{what} is a {type(x).__name__}, whose operations mean something "
                          f"else than an array's. {instead}", "TJ304")
        dtype = x.dtype if x.dtype.isnative else x.dtype.newbyteorder("=")
        if dtype not in DTYPES.values():
            raise Refusal(f"{what} is an array of dtype {x.dtype}, which cannot be captured. "
                          f"{remedy_for_dtype(x.dtype)}", "TJ301")
        return ArgSpec("array", dtype, x.ndim)
    if isinstance(x, np.generic) and x.dtype in DTYPES.values():
        return ArgSpec("scalar", x.dtype)
    if is_generator(x):
        return ArgSpec("generator", _DTYPE_OF["generator"])
    if hasattr(type(x), ON_DEVICE) and hasattr(x, ON_DEVICE):
        raise Refusal(f"{what} is an array on a CUDA device, and this runs on the CPU. Give "
                      'the transform target="cuda", or pass a copy: x.get() in CuPy, '
                      "x.cpu().numpy() in PyTorch, x.copy_to_host() in Numba", "TJ305")
    remedy = remedy_for(x)
    if remedy is not None:
        from tracejit.trace.ground.public_names import public_name

        raise Refusal(f"{what} is a {public_name(type(x))}, which is no array of NumPy's. "
                      f"{remedy}", "TJ305")
    return ArgSpec("static", content=x)


def parameter_names(fn: Callable[..., object]) -> list[str]:
    """Return the names of the positional arguments of a call: of a bound method without self."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


# --- specs that users write ----------------------------------------------------------------------

_SPEC = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*$")
_BEGINNING = re.compile(rf"\s*({'|'.join(DTYPES)})\s*\[")


def spec(text: str) -> Any:
    """Return a spec, which stands for an argument of a type wherever examples are taken.

    text -- a dtype with sizes, named or fixed: "f64[n, 3]", "i64[]", or "float", "int", "complex"
            for Python numbers

    Raises `ValueError` for any other text.

    >>> import tracejit
    >>> tracejit.spec("f64[n, 3]").ndim
    2
    """
    python_numbers = {"float": "f64", "int": "i64", "complex": "c128"}
    if text.strip() in python_numbers:
        return ArgSpec(text.strip(), DTYPES[python_numbers[text.strip()]])
    m = _SPEC.match(text)
    if m is None or m[1] not in DTYPES or m[2] is None:
        raise ValueError(f"{text!r} is no spec: write a dtype ({', '.join(DTYPES)}) with sizes in "
                         "brackets, as in 'f64[n, 3]', or 'float', 'int', 'complex'")
    parts = [p.strip() for p in m[2].split(",") if p.strip()]
    for p in parts:
        if not (p.isdigit() or p.isidentifier()):
            raise ValueError(f"{text!r} is no spec: a size is a number or a name, not {p!r}")
    sizes = tuple(int(p) if p.isdigit() else p for p in parts)
    if not sizes:
        return ArgSpec("scalar", DTYPES[m[1]])
    return ArgSpec("array", DTYPES[m[1]], len(sizes), None, sizes)


def is_spec(text: str) -> bool:
    """Return whether a text is a spec, or a try at one; other strings are arguments themselves."""
    if _BEGINNING.match(text):
        return True
    try:
        spec(text)
    except ValueError:
        return False
    return True
