"""The public name of a function, for messages, and not the private file that defines it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import MethodType, ModuleType

import numpy as np

from tracejit.trace.ground.operators import OF_UFUNC

__all__ = ["called", "public_name"]

_SIGNS = {**{o.name: o.sign for o in OF_UFUNC.values()},
          "getitem": "[]", "setitem": "[]", "delitem": "[]"}


def public_name(fn: Callable[..., object]) -> str:
    """Return how a user writes a function: "numpy.fft.fft", "scipy.stats.norm.pdf"."""
    if isinstance(fn, functools.partial):
        return public_name(fn.func)
    name = getattr(fn, "__name__", None)
    owner = getattr(fn, "__self__", None)
    for module in _homes(fn) if name is not None else ():
        if getattr(sys.modules[module], str(name), None) is fn:
            return _short(f"{module}.{name}") if isinstance(fn, np.ufunc) else f"{module}.{name}"
    if isinstance(fn, MethodType) or (owner is not None and not isinstance(owner, ModuleType)):
        if isinstance(owner, type):
            return f"{public_name(owner)}.{name}"
        return f"{_name_of_object(owner)}.{name}"
    if name is None:
        return _name_of_object(fn)
    module = getattr(fn, "__module__", None) or ""
    public = ".".join(part for part in module.split(".") if not part.startswith("_"))
    name = getattr(fn, "__qualname__", name)
    return name if public in ("", "builtins") else f"{public}.{name}"


def _homes(fn: Callable[..., object]) -> Iterator[str]:
    """Yield modules that are loaded in which something may be public, the shortest name first."""
    owner = getattr(fn, "__self__", None)
    own = (getattr(fn, "__module__", None) or getattr(
        type(fn if owner is None else owner), "__module__", "") or "")
    parts = own.split(".")
    places = [".".join(parts[:k]) for k in range(1, len(parts) + 1)]
    if isinstance(fn, np.ufunc):  # SciPy's know no module
        places = ["numpy", "scipy.special", *places]
    yield from (m for m in dict.fromkeys(places) if m in sys.modules
                and not any(part.startswith("_") for part in m.split(".")))


def _name_of_object(x: object) -> str:
    """Return the name under which its module has an object, else the name of its class."""
    for module in _homes(type(x)):
        for name, y in list(vars(sys.modules[module]).items()):
            if y is x:
                return f"{module}.{name}"
    return public_name(type(x)).removeprefix("__main__.")


def _short(name: str) -> str:
    return f"np{name.removeprefix('numpy')}" if name.startswith("numpy.") else name


def called(fn: Callable[..., object], operands: tuple[object, ...]) -> str:
    """Return how a message names a call: a function by its name, an operator by its operands."""
    symbol = _SIGNS.get(fn_name(fn)) or _SIGNS.get(fn_name(fn).removeprefix("i"))
    if getattr(fn, "__module__", "") != "_operator" or symbol is None:
        is_method = operands and getattr(type(operands[0]), fn_name(fn), None) is fn
        name = f"{_name_of_object(operands[0])}.{fn_name(fn)}" if is_method else public_name(fn)
        return name.removesuffix(".__call__")
    other = next((x for x in operands if not isinstance(x, ModuleType)
                  and type(x).__module__.partition(".")[0] != "tracejit"), None)
    return f"`{symbol}` of {'an object' if other is None else _with_article(type(other))}"


def fn_name(fn: Callable[..., object]) -> str:
    """Return the plain name of a function, "" where it has none."""
    return str(getattr(fn, "__name__", ""))


def _with_article(kind: type) -> str:
    name = public_name(kind)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
