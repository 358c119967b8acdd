"""The tables from functions that users call to their captures; `tracejit.ops` fills them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import lru_cache, partial, wraps
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np

from tracejit.ir.core import Op
from tracejit.trace.ground.context import current, is_tracing, refuse
from tracejit.trace.ground.keywords import checking_keywords
from tracejit.trace.ground.layouts import own_memory
from tracejit.trace.ground.modules import home_of
from tracejit.trace.ground.narrow_floats import of_lapacks_floats, of_wider_floats
from tracejit.trace.ground.public_names import public_name

__all__ = ["CREATES", "DATA_SIZED", "DISTRIBUTIONS", "FOREIGN", "FUNCTIONS", "INDEXED", "METHODS",
           "OBJECTS", "OF_FIELDS", "PROPERTIES", "SETTERS", "UFUNCS", "Changing", "Frozen",
           "calling_back", "captures", "distribution_of", "foreign_capture", "foreign_method",
           "loop_dtypes", "makes_traced", "method_of_object", "scipy_captures"]

UFUNCS: dict[Any, Op] = {}
"""From a ufunc to its elementwise op."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""From a function that users call to its capture."""

CREATES: set[Any] = set()
"""The functions that are captured even where no operand is traced: they make arrays to write to."""

FOREIGN: dict[str, Callable[..., Any]] = {}
"""Captures of SciPy's functions and classes by public name, "scipy.special.erf": importing SciPy to
have the functions costs 0.3 s."""

OBJECTS: dict[str, dict[str, Callable[..., Any]]] = {}
"""Captures of the methods of SciPy's objects, by the public names of their classes."""


def calling_back(capture: Callable[..., object]) -> Callable[..., Any]:
    """Mark the capture of a function that calls a user's, which may read traced values itself."""
    vars(capture)["calls_back"] = True
    return capture


def makes_traced(fn: object, capture: object) -> bool:
    """Return whether a function is captured even where no operand is traced."""
    return fn in CREATES or getattr(capture, "calls_back", False)


def scipy_captures(module: str, captures: dict[str, Callable[..., object]]) -> None:
    """Enter the captures of functions of one of SciPy's modules, by their names in it."""
    FOREIGN.update({f"{module}.{name}": capture for name, capture in captures.items()})
    _homes.cache_clear()


@lru_cache(maxsize=1)
def _homes() -> dict[str, list[str]]:
    """Return by name the modules and classes that have a captured function of that name."""
    homes: dict[str, list[str]] = {}
    for public in FOREIGN:
        module, _, name = public.rpartition(".")
        homes.setdefault(name, []).append(module)
    return homes


OF_FIELDS: set[Any] = set()
"""The functions that are captured of structured arrays as a whole."""

DATA_SIZED: list[Any] = []
"""The functions among them that NumPy carries out during capture, on known arrays alone."""

def foreign_capture(fn: Any) -> Callable[..., Any] | None:
    """Return the capture of a function that is one of SciPy's; None for any other of its name."""
    name = getattr(fn, "__name__", "")
    if isinstance(fn, np.ufunc):
        name = _public_name(fn)
    for home in _homes().get(name, ()) if isinstance(name, str) else ():
        if _is_content(fn, home, name):
            capture = FOREIGN[f"{home}.{name}"]
            return of_wider_floats(_composed(checking_keywords(capture, fn), fn),
                                    fn) if _is_scipys(fn) else None
    return None


def _public_name(fn: np.ufunc) -> str:
    """Return the name under which SciPy has a ufunc: `pro_cv` of SciPy 1.14 calls itself `obl_cv`.
    """
    own = str(fn.__name__)
    public = vars(sys.modules["scipy.special"]) if "scipy.special" in sys.modules else {}
    if public.get(own) is fn:
        return own
    return next((name for name, x in public.items() if x is fn), own)


_BOUND = (BuiltinMethodType, MethodType)
"""The types of methods that have their object, or their class."""


def _is_content(fn: object, home: str, name: str) -> bool:
    """Return whether a module has this function, or a class has it as a way to make instances."""
    if home in sys.modules:
        return vars(sys.modules[home]).get(name) is fn
    module, _, cls = home.rpartition(".")
    owner = vars(sys.modules[module]).get(cls) if module in sys.modules else None
    found = getattr(owner, name, None) if isinstance(owner, type) else None
    return found is fn or (isinstance(fn, _BOUND) and bool(found == fn))


def _is_scipys(fn: object) -> bool:
    """Return whether a content of one of SciPy's modules is of SciPy's own making."""
    if isinstance(fn, np.ufunc):  # `np.frompyfunc` makes those of objects
        return any("O" not in kinds for kinds in fn.types)
    if isinstance(fn, FunctionType):
        return home_of(fn).partition(".")[0] == "scipy"
    if isinstance(fn, _BOUND) and isinstance(fn.__self__, type):
        fn = fn.__self__
    own = fn.__module__ if isinstance(fn, (type, BuiltinMethodType)) else type(fn).__module__
    return str(own).partition(".")[0] in ("scipy", "uarray")


DISTRIBUTIONS: dict[str, dict[str, Callable[..., Any]]] = {}
"""Captures of the methods of SciPy's distributions, by names: of `scipy.stats`, of the method."""


def distribution_of(x: object) -> str | None:
    """Return the name under which `scipy.stats` has a distribution that is captured."""
    module = sys.modules.get("scipy.stats")
    if module is None or not type(x).__module__.startswith("scipy.stats."):
        return None
    return next((name for name in DISTRIBUTIONS if vars(module).get(name) is x), None)


INDEXED: dict[Any, Callable[[Any], Any]] = {}
"""The captures of objects that are indexed to make arrays, `np.r_` and `np.c_`."""

METHODS: dict[str, Callable[..., Any]] = {}
"""From the name of an array method to the function that captures it, the array first."""

PROPERTIES: dict[str, Callable[..., Any]] = {}
"""From the name of an array attribute to the function that captures it."""

SETTERS: dict[str, Callable[[Any, Any], None]] = {}
"""From the name of an array attribute to the function that captures an assignment to it."""


class Changing:
    """A stand-in for a value that is assigned to as a whole: functions see the present one."""

    __slots__ = ()

    def read_value(self) -> Any:
        """Return the present value, which no assignment changes."""
        raise NotImplementedError


def _require_fields_taken(function: Callable[..., object], operands: Iterable[object]) -> None:
    """Refuse a function of NumPy's of a structured array, but for those that take one."""
    if function not in OF_FIELDS and any(hasattr(type(x), "as_fields") for x in operands):
        raise refuse(f"{public_name(function)} of a structured array cannot be captured",
                     "Use its fields: np.sum(a['x']), say", "TJ302")


def _of_present_values(capture: Callable[..., object],
                       function: Callable[..., object]) -> Callable[..., Any]:
    """Return a capture that is given the present values of operands that change."""

    @wraps(capture)
    def reading(*args: object, **kwargs: object) -> Any:
        _require_fields_taken(function, (*args, *kwargs.values()))
        if any(isinstance(x, Changing) for x in args):
            args = tuple([x.read_value() if isinstance(x, Changing) else x for x in args])
        return capture(*args, **kwargs)

    return reading


def _composed(capture: Callable[..., Any], function: object) -> Callable[..., Any]:
    """Return a capture during which ufuncs do not say how their results lie in memory.

    The result of a NumPy function is a view of an argument, or in memory of its own.
    """
    makes_arrays = (getattr(function, "__module__", None) or "").startswith(("numpy", "scipy"))

    @wraps(capture)
    def composing(*args: object, **kwargs: object) -> Any:
        if not is_tracing():
            return capture(*args, **kwargs)
        trace = current()
        trace.composing += 1
        try:
            result = capture(*args, **kwargs)
        finally:
            trace.composing -= 1
        return own_memory(result, (args, kwargs)) if makes_arrays else result

    return composing


def foreign_method(fn: Any) -> Callable[..., Any] | None:
    """Return the capture of a method of one of SciPy's objects; None for any other."""
    name, own = distribution_of(fn.__self__), getattr(fn, "__name__", None)
    if own is None:  # a `partial` that a `partialmethod` has given the object
        return None
    if name is None:
        return method_of_object(fn.__self__, own)
    if own not in DISTRIBUTIONS[name]:
        return None
    return of_wider_floats(_composed(DISTRIBUTIONS[name][own], fn), fn)


def method_of_object(x: object, method: str) -> partial[Any] | None:
    """Return the capture of a method of one of SciPy's objects, bound to it; None for any other."""
    if not type(x).__module__.startswith(("scipy.", "numpy.polynomial.")):
        return None
    for cls in type(x).__mro__:
        for public, methods in OBJECTS.items():
            module, _, name = public.rpartition(".")
            known = vars(sys.modules[module]).get(name) if module in sys.modules else None
            if known is cls and method in methods:
                capture = _composed(methods[method], cls)
                ours = cls.__module__.startswith("scipy.")
                return partial(of_wider_floats(capture, cls) if ours else capture, x)
    return None


class Frozen:
    """A distribution with its parameters, as calling one of `scipy.stats` makes it."""

    def __init__(self, distribution: Any, name: str, args: tuple[object, ...],
                 kwargs: dict[str, object]) -> None:
        self.__dict__.update(_made_of=(distribution, name, args, kwargs))

    def __getattr__(self, method: str) -> Any:
        """Return the capture of a method, or SciPy's own method where there is no capture."""
        distribution, name, args, kwargs = self.__dict__["_made_of"]
        if method not in DISTRIBUTIONS[name]:
            return getattr(distribution(*args, **kwargs), method)
        capture = of_wider_floats(_composed(DISTRIBUTIONS[name][method], distribution),
                                   getattr(distribution, method))

        def of_parameters(*own: object, **named: object) -> Any:
            first = [named.pop(key) for key in ("x", "k", "q", "confidence") if key in named]
            return capture(*own, *first, *args, **named, **kwargs)

        return of_parameters


Capturing = TypeVar("Capturing", bound=Callable[..., Any])


def captures(*functions: Any, method: str | None = None) -> Callable[[Capturing], Capturing]:
    """Enter the decorated function as the capture of these functions, and of an array method."""

    def enter(fn: Capturing) -> Capturing:
        for function in functions:
            FUNCTIONS[function] = _of_present_values(_composed(
                of_lapacks_floats(checking_keywords(fn, function), function), function), function)
        if method is not None:
            METHODS[method] = _composed(checking_keywords(fn, functions[0], method),
                                        functions[0])
        return fn

    return enter


@lru_cache(maxsize=4096)
def loop_dtypes(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[np.dtype, ...]:
    """Return the dtypes that NumPy computes a ufunc in: its operands', then its result's.

    Operands are dtypes, or `int`, `float`, `complex` for Python scalars, which are weak.
    """
    operands = tuple(np.dtype(t) if t is bool else t for t in operands)
    if all(t is int for t in operands):  # NumPy compares two Python ints as objects
        operands = (np.dtype(np.int64),) * len(operands)
    dtypes: tuple[np.dtype, ...] = ufunc.resolve_dtypes((*operands, *(None,) * ufunc.nout))
    return dtypes
