"""The text of `docs/coverage.md`: from the tables that capture reads."""

from __future__ import annotations

import cmath
import math
import pkgutil
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tracejit.api  # (fills the tables)
from tracejit.trace.ground import dispatch
from tracejit.trace.ground.reasons import REASONS
from tracejit.trace.python.builtin_calls import BUILTINS
from tracejit.trace.values.equations import ACCUMULATIONS, COMPOSITES, REDUCTIONS
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

PACKAGE = Path(tracejit.__file__).parent

PAGE = """\
# What is captured

Written by `python -m pytest tests/house/test_docs.py --golden` from the tables that the capture
itself reads; a test fails when it is no longer true.

A call outside of these lists is refused with the user's line, unless none of its arguments is
traced: then it is simply made. User functions, methods and classes written in Python, `@njit`
functions and `functools.partial` are followed into. Gradients exist for everything on floating and
complex operands except where it says so.

## Ufuncs

{ufuncs}.

No gradient flows through {marked}.

The method `reduce` of {reduced}; `accumulate` of {accumulated}; `at` of `add` and `subtract`;
`outer`, `out=`, `dtype=`, `casting=`, `order=`, and `where=` together with `out=`, of all.

## Functions of NumPy

{numpy}.

`r_[...]` and `c_[...]`. Of `numpy.linalg`: {linalg}. Of `numpy.fft`: {fft}. Of
`numpy.lib.stride_tricks`: {strides}. Of `numpy.emath`: {emath}. Of `numpy.polynomial`, with the
classes {series}: {coefficients}, those of the same names in the other bases, and `cheb2poly`,
`poly2cheb` and their like.

Of arrays that no argument comes into (globals, constants, what is computed from these and from
sizes), whose elements are looked at during the capture, under a guard: {data_sized}; `insert` at
several places.

## Methods and attributes of arrays

Methods: {methods}.

Attributes: {attributes}.

Operators: {operators}.

In place: {inplace}.

## Functions of `math` and `cmath`

{math}.

All of `cmath`: {cmath}.

## Builtins and `functools`

{builtins}.

All others (`print`, `id` and so on) run in Python while the function is captured.

## Functions of SciPy

{scipy}.

Of the distributions of `scipy.stats`, with location and scale, called as
`stats.norm.logpdf(x, m, s)` or `stats.norm(m, s).logpdf(x)`: {distributions}.

## Every public function, by module

Of the installed NumPy and SciPy. What is captured is listed above. What is not is refused where an
argument of the call is traced, with your line, the reason that is written here and what to do
instead. Functions that are *evaluated in the capture* are called as they are where their
arguments are known then (dtypes, sizes, constants), and refused of numbers that only the run knows.

{status}

What is refused, and what to write instead, is [on a page of its own](refusals.md).
"""


def _listed(names: Iterable[str]) -> str:
    """Return names in order, as code."""
    ordered = sorted(set(names), key=lambda name: (name.lower(), name))
    return ", ".join(f"`{name}`" for name in ordered)


def _filled(page: str) -> str:
    """Return a page with its paragraphs in lines of 100 characters."""
    return "\n\n".join(textwrap.fill(p, 100, break_long_words=False, break_on_hyphens=False)
                       for p in page.split("\n\n"))


def _numpy_names(module: Any) -> Iterator[str]:
    for name in dir(module):
        function = getattr(module, name, None)
        if callable(function) and not isinstance(function, (type, np.ufunc)) and (
                function in dispatch.FUNCTIONS) and function not in dispatch.DATA_SIZED:
            yield name


def _scipy_names() -> Iterator[str]:
    for public in dispatch.FOREIGN:
        pkgutil.resolve_name(public)  # of a module or a class
        yield public


def _listed_by_method() -> str:
    """Return per method of distributions which of them have it captured."""
    methods: dict[str, list[str]] = {}
    for name, captured in dispatch.DISTRIBUTIONS.items():
        for method in captured:
            methods.setdefault(method, []).append(name)
    return "; ".join(f"`{method}` of {_listed(methods[method])}" for method in sorted(methods))


OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "invert": "~",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "abs": "abs()",
}


def _operators(kind: type, prefix: str = "", suffix: str = "") -> Iterator[str]:
    own = vars(kind)
    yield from (sign + suffix for name, sign in OPERATORS.items()
                if own.get(f"__{prefix}{name}__") is not None)


def _ufunc_names() -> Iterator[str]:
    captured = {*dispatch.UFUNCS, *COMPOSITES}
    for name in dir(np):
        function = getattr(np, name)
        if isinstance(function, np.ufunc) and function in captured:
            yield name


def _builtin_names() -> Iterator[str]:
    for function in BUILTINS:
        module = function.__module__.lstrip("_")
        yield function.__name__ if module == "builtins" else f"{module}.{function.__name__}"


def _is_marked(ufunc: Any) -> bool:
    op = dispatch.UFUNCS.get(ufunc)
    return op is not None and op.marked


STATUS = ("numpy", "numpy.linalg", "numpy.fft", "numpy.polynomial",
          *(f"numpy.polynomial.{name}" for name in (
              "polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre")),
          "numpy.emath", "scipy.special", "scipy.linalg", "scipy.fft",
          "scipy.stats", "scipy.signal", "scipy.interpolate", "scipy.spatial.distance",
          "scipy.integrate", "scipy.ndimage", "scipy.optimize", "scipy.sparse",
          "scipy.sparse.linalg")
"""The modules of which the page says of every public function whether it is captured."""


def public_functions(module: str) -> dict[str, Any]:
    """Return the public functions, classes and distributions of a module."""
    home = pkgutil.resolve_name(module)
    found = {name: getattr(home, name) for name in home.__all__ if hasattr(home, name)}
    return {name: x for name, x in found.items() if callable(x) and not (
        isinstance(x, type) and (issubclass(x, (Exception, np.generic)) or module == "numpy"))}


def is_captured(module: str, name: str, x: Any) -> bool:
    """Return whether calls of a function on traced arguments are captured."""
    if module == "scipy.stats" and name in dispatch.DISTRIBUTIONS:
        return True
    known = getattr(type(x), "__hash__", None) is not None and (
        x in dispatch.FUNCTIONS or x in dispatch.UFUNCS or x in COMPOSITES or x in BUILTINS)
    return known or dispatch.foreign_capture(x) is not None


NO_REASON = "nothing of tracejit says yet what it computes"
WITHOUT_REASONS = (
    "scipy.stats",
)
"""The modules that may have functions for which no table has a reason."""


def uncaptured(module: str) -> list[str]:
    """Return the names of a module that are not captured."""
    return [name for name, x in public_functions(module).items()
            if not is_captured(module, name, x)]


def reasons(module: str) -> dict[str, str]:
    """Return the reasons for the names of a module that are not captured."""
    return {name: f"{'evaluated in the capture' if reason.plain else 'refused'}: {reason.text}"
            for reason, names in REASONS.get(module, {}).items() for name in names.split()}


def _status(module: str) -> str:
    functions, missing, why = public_functions(module), uncaptured(module), reasons(module)
    by_reason: dict[str, list[str]] = {}
    for name in missing:
        by_reason.setdefault(why.get(name, f"refused: {NO_REASON}"), []).append(name)
    count = len(functions) - len(missing)
    kind = "functions, classes and distributions" if module == "scipy.stats" else (
        "functions and classes")
    parts = [f"{text[0].upper()}{text[1:]}: {_listed(names)}."
             for text, names in sorted(by_reason.items())]
    return f"`{module}`: {count} of {len(functions)} {kind} are captured. " + (
        " ".join(parts) or "No others.")


def coverage_page() -> str:
    """Return the page."""
    math_names = (name for name in dir(math)
                  if callable(getattr(math, name)) and getattr(math, name) in dispatch.FUNCTIONS)
    methods = (name for name in dispatch.METHODS if not name.startswith("_"))
    own = (name for name, value in vars(Tracer).items() if isinstance(value, property))
    attributes = {*dispatch.PROPERTIES, *own} & set(dir(np.ndarray))
    return _filled(PAGE.format(
        ufuncs=_listed(_ufunc_names()),
        marked=_listed(u.__name__ for u in dispatch.UFUNCS if _is_marked(u)),
        reduced=_listed(u.__name__ for u in REDUCTIONS),
        accumulated=_listed(u.__name__ for u in ACCUMULATIONS),
        numpy=_listed(_numpy_names(np)), linalg=_listed(_numpy_names(np.linalg)),
        strides="`sliding_window_view`",
        fft=_listed(_numpy_names(np.fft)), emath=_listed(_numpy_names(np.emath)),
        series=_listed(name for name in np.polynomial.__all__ if isinstance(
            getattr(np.polynomial, name), type)),
        coefficients=_listed(_numpy_names(np.polynomial.polynomial)),
        data_sized=_listed(f.__name__ for f in dispatch.DATA_SIZED),
        methods=_listed(methods), attributes=_listed(attributes),
        operators=_listed(_operators(TracedOperand)), inplace=_listed(_operators(Tracer, "i", "=")),
        math=_listed(math_names), cmath=_listed(
            name for name in dir(cmath) if callable(getattr(cmath, name)) and name[0] != "_"),
        builtins=_listed(_builtin_names()),
        status="\n\n".join(map(_status, STATUS)), scipy=_listed(_scipy_names()),
        distributions=_listed_by_method())) + "\n"
