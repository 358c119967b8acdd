"""The C functions of NumPy that draw random numbers: their names, arguments and addresses.

A `Generator` of NumPy draws by a `bitgen_t`, a C structure with the state of its bit generator and
the functions that advance it. The functions below take its address first. NumPy's methods call the
same functions, so that numbers drawn here have the same bits, and leave the same state.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.errors import Refusal

__all__ = ["DRAWS", "Draw", "address_of_function", "address_of_generator", "carry_out",
           "is_generator", "locked"]

F8, F4, I8 = map(np.dtype, ("f8", "f4", "i8"))


@dataclass(frozen=True, slots=True)
class Draw:
    """A C function that draws.

    symbol -- its name in NumPy's library
    dtype  -- of the numbers
    form   -- "fill": (bitgen, count, out); "bounded": (bitgen, low, range, count, false, out), of
              unsigned integers of the dtype's width; "each": (bitgen, parameter) gives one number;
              "below": (bitgen, 0, range, 0, false) gives one
    of     -- the dtype of the parameter, if there is one
    """

    symbol: str
    dtype: np.dtype
    form: str
    of: np.dtype | None = None


DRAWS: dict[str, Draw] = {
    "random": Draw("random_standard_uniform_fill", F8, "fill"),
    "random_f": Draw("random_standard_uniform_fill_f", F4, "fill"),
    "normal": Draw("random_standard_normal_fill", F8, "fill"),
    "normal_f": Draw("random_standard_normal_fill_f", F4, "fill"),
    "exponential": Draw("random_standard_exponential_fill", F8, "fill"),
    "exponential_f": Draw("random_standard_exponential_fill_f", F4, "fill"),
    "exponential_inv": Draw("random_standard_exponential_inv_fill", F8, "fill"),
    "exponential_inv_f": Draw("random_standard_exponential_inv_fill_f", F4, "fill"),
    "gamma": Draw("random_standard_gamma", F8, "each", F8),
    "poisson": Draw("random_poisson", I8, "each", F8),
    "interval": Draw("random_interval", I8, "each", I8),
    "below": Draw("random_bounded_uint64", I8, "below", I8),
    **{f"bounded_{np.dtype(t).name}": Draw(
        f"random_bounded_uint{8 * np.dtype(t).itemsize}_fill", np.dtype(t), "bounded", I8)
       for t in ("i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")},
}
"""By kind; captured code computes a Generator method's results of these numbers."""


def is_generator(x: object) -> bool:
    """Return whether an object is a `numpy.random.Generator`, and no subclass; imports nothing."""
    cls = type(x)
    return cls.__name__ == "Generator" and cls.__module__ == "numpy.random._generator"


def address_of_generator(generator: np.random.Generator) -> int:
    """Return the address of a generator's `bitgen_t`, which is there as long as the generator."""
    address: int = _pointer_of_capsule()(generator.bit_generator.capsule, b"BitGenerator")
    return address


@functools.cache
def _pointer_of_capsule() -> Any:
    """Return Python's function for the pointer in a capsule, for these arguments alone."""
    made = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    return made(("PyCapsule_GetPointer", ctypes.pythonapi))


@contextmanager
def locked(generators: Iterable[np.random.Generator]) -> Iterator[None]:
    """Let no other thread draw from generators, by the locks that NumPy's methods take."""
    locks = {id(g.bit_generator.lock): g.bit_generator.lock for g in generators}
    if len(locks) == 1:
        with next(iter(locks.values())):
            yield
        return
    with ExitStack() as held:
        for _, lock in sorted(locks.items()):  # in one order: no two threads wait for one another
            held.enter_context(lock)
        yield


@functools.cache
def _library() -> ctypes.CDLL:
    from numpy.random import _generator

    return ctypes.CDLL(_generator.__file__)


@functools.cache
def address_of_function(symbol: str) -> int:
    """Return the address of one of NumPy's C functions; `Refusal` where its build hides them."""
    try:
        function = getattr(_library(), symbol)
    except (AttributeError, OSError):
        raise Refusal(f"NumPy {np.__version__} as it is installed here does not export the C "
                      f"function {symbol}, by which compiled code draws random numbers. Draw them "
                      "outside and pass them as an argument", "TJ606") from None
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address


_WORD = {8: ctypes.c_uint64, 4: ctypes.c_uint32, 2: ctypes.c_uint16, 1: ctypes.c_uint8}
_OF = {F8: ctypes.c_double, I8: ctypes.c_int64}


@functools.cache
def _function(kind: str) -> Any:
    """Return the C function of a kind, callable from Python."""
    draw = DRAWS[kind]
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    result: Any = None
    if draw.form == "fill":
        parameters: list[Any] = [count, pointer]
    elif draw.form == "bounded":
        word = _WORD[draw.dtype.itemsize]
        parameters = [word, word, count, ctypes.c_bool, pointer]
    elif draw.form == "below":
        word = ctypes.c_uint64
        result, parameters = word, [word, word, word, ctypes.c_bool]
    else:
        assert draw.of is not None
        result, parameters = _OF[draw.dtype], [_OF[draw.of]]
    made = ctypes.CFUNCTYPE(result, pointer, *parameters)
    return made(address_of_function(draw.symbol))


def carry_out(generator: int, *parameters: Any, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Draw numbers, as compiled code does it.

    generator -- the address of a `bitgen_t`
    """
    draw, function = DRAWS[kind], _function(kind)
    out = np.empty(shape, draw.dtype)
    address = int(generator)
    if draw.form == "fill":
        function(address, out.size, out.ctypes.data)
    elif draw.form == "bounded":
        low, width = map(int, parameters)
        function(address, low, width, out.size, False, out.ctypes.data)
    else:
        (given,) = parameters
        flat = out.reshape(-1)
        for k, x in enumerate(np.broadcast_to(given, shape).ravel().tolist()):
            number = function(address, 0, x, 0, False) if draw.form == "below" else (
                function(address, x))
            flat[k] = number
    return out
