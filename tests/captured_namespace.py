"""A namespace of the array API standard of which every call is captured and interpreted.

`array_api_suite.py` gives it to the standard's own test suite, in the place of an array library.
What the suite does with an array, an operator, an index or a function, is written as a program and
captured: `x[1, :] + 2.0` is two, with the lines `return x0[k0, k1]` and `return x0 + k0`. Programs
are kept by their text and by what is no array in them. TRACEJIT_SUITE_OF names the module whose
functions are called, `tracejit.numpy` if it is not set.
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import tempfile
import types
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import tracejit

OF = importlib.import_module(os.environ.get("TRACEJIT_SUITE_OF", "tracejit.numpy"))

BINARY = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
          "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<",
          "rshift": ">>"}
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}
UNARY = {"neg": "-", "pos": "+", "invert": "~"}
CALLS = {"abs": abs, "bool": bool, "int": int, "float": float, "complex": complex,
         "index": operator.index}
ATTRIBUTES = ("dtype", "device", "ndim", "shape", "size", "T", "mT")

_FOLDER = tempfile.TemporaryDirectory(prefix="captured_namespace")


class CapturedArray:
    """An array of which every use is captured; `value` is NumPy's array or number."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)

    def __getitem__(self, key: object) -> object:
        return run("return {}[{}]", self, key)

    def __setitem__(self, key: object, value: object) -> None:
        run("{}[{}] = {}", self, key, value)

    def __array_namespace__(self, *, api_version: str | None = None) -> types.ModuleType:
        if api_version is not None:
            run("return {}.__array_namespace__(api_version={})", self, api_version)
        return importlib.import_module(__name__)

    def __dlpack__(self, *, stream: object = None, max_version: object = None,
                   dl_device: object = None, copy: object = None) -> object:
        return self.value.__dlpack__(  # type: ignore[attr-defined]
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> object:
        return self.value.__dlpack_device__()  # type: ignore[attr-defined]

    def to_device(self, device: object, /, *, stream: object = None) -> object:
        return run("return {}.to_device({}, stream={})", self, device, stream)


class _Writer:
    """Writes an operand as an expression, and notes what the names in it stand for."""

    def __init__(self) -> None:
        self.arrays: list[object] = []
        self.others: list[object] = []

    def write(self, x: object) -> str:
        if isinstance(x, CapturedArray):
            self.arrays.append(x.value)
            return f"x{len(self.arrays) - 1}"
        if type(x) is tuple:
            return "(" + "".join(self.write(y) + ", " for y in x) + ")"
        if type(x) is list:
            return "[" + ", ".join(map(self.write, x)) + "]"
        if type(x) is slice:
            return f"slice({self.write(x.start)}, {self.write(x.stop)}, {self.write(x.step)})"
        self.others.append(x)
        return f"k{len(self.others) - 1}"


@functools.lru_cache(None)
def _maker(text: str) -> Callable[..., Callable[..., object]]:
    """Return what makes a program of a text; it is a file, so that it can be captured."""
    path = Path(_FOLDER.name) / f"program{_maker.cache_info().misses}.py"
    path.write_text(text)
    found: dict[str, Callable[..., Callable[..., object]]] = {}
    exec(compile(text, str(path), "exec"), found)
    return found["make"]


@functools.lru_cache(20_000)
def _program(text: str, key: str, function: object) -> Callable[..., object]:
    return tracejit.jit(_maker(text)(function, *_OTHERS))


_OTHERS: Sequence[object] = ()


def _wrap(x: object) -> object:
    """Return a result with its arrays as captured arrays."""
    if isinstance(x, (np.ndarray, np.generic)):
        return CapturedArray(x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(_wrap, x))
    return type(x)(map(_wrap, x)) if type(x) in (list, tuple) else x


def _run(writer: _Writer, line: str, function: object = None) -> object:
    """Capture and run the program of one line; `f` in it is the function."""
    global _OTHERS
    parameters = ", ".join(f"x{i}" for i in range(len(writer.arrays)))
    names = "".join(f", k{i}" for i in range(len(writer.others)))
    text = (f"def make(f{names}):\n    def program({parameters}):\n        {line}\n"
            "    return program\n")
    _OTHERS = writer.others
    key = repr([(type(k), k, np.signbit(k) if type(k) is float else None) for k in writer.others])
    with tracejit.config(disable_jit=True):
        return _program(text, key, function)(*writer.arrays)


def run(line: str, *operands: object) -> object:
    """Run a line whose `{}` are the operands."""
    writer = _Writer()
    return _wrap(_run(writer, line.format(*map(writer.write, operands))))


def captured(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of the namespace, of which every call is a program."""
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        writer = _Writer()
        written = [writer.write(x) for x in args]
        written += [f"{name}={writer.write(x)}" for name, x in kwargs.items()]
        return _wrap(_run(writer, f"return f({', '.join(written)})", function))

    return call


def _method(line: str) -> Callable[..., object]:
    def method(self: CapturedArray, other: object, /) -> object:
        return run(line, self, other)

    return method


def _reflected(symbol: str) -> Callable[..., object]:
    def method(self: CapturedArray, other: object, /) -> object:
        return run(f"return {{}} {symbol} {{}}", other, self)

    return method


def _in_place(symbol: str) -> Callable[..., object]:
    """Return an operator that writes to its array; one that cannot be written to is bound anew."""
    def method(self: CapturedArray, other: object, /) -> object:
        writer = _Writer()
        x, y = writer.write(self), writer.write(other)
        found = _run(writer, f"{x} {symbol}= {y}; return {x}")
        return self if found is self.value else _wrap(found)

    return method


def _of_one(line: str) -> Callable[..., object]:
    def method(self: CapturedArray) -> object:
        return run(line, self)

    return method


def _conversion(name: str) -> Callable[..., object]:
    def method(self: CapturedArray) -> object:
        writer = _Writer()
        return _wrap(_run(writer, f"return f({writer.write(self)})", CALLS[name]))

    return method


def _make_methods() -> None:
    methods: dict[str, object] = {}
    for name, symbol in BINARY.items():
        methods[f"__{name}__"] = _method(f"return {{}} {symbol} {{}}")
        methods[f"__r{name}__"] = _reflected(symbol)
        methods[f"__i{name}__"] = _in_place(symbol)
    for name, symbol in COMPARISONS.items():
        methods[f"__{name}__"] = _method(f"return {{}} {symbol} {{}}")
    for name, symbol in UNARY.items():
        methods[f"__{name}__"] = _of_one(f"return {symbol}{{}}")
    for name in CALLS:
        methods[f"__{name}__"] = _conversion(name)
    for name in ATTRIBUTES:
        methods[name] = property(_of_one(f"return {{}}.{name}"))
    for name, method in methods.items():
        setattr(CapturedArray, name, method)


def _names_of(module: object) -> dict[str, object]:
    """Return the module's names, functions captured, and so those of `fft` and `linalg`."""
    found: dict[str, object] = {}
    for name in getattr(module, "__all__", dir(module)):
        x = getattr(module, name)
        if isinstance(x, types.ModuleType):
            found[name] = types.SimpleNamespace(**_names_of(x))
        elif name == "__array_namespace_info__" or isinstance(x, type) or not callable(x):
            found[name] = x
        elif not name.startswith("_"):
            found[name] = captured(x)
    return found


_make_methods()
globals().update(_names_of(OF))
globals().update({name: getattr(OF, name) for name in ("finfo", "iinfo")})
