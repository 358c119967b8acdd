"""The token by which Dask knows a transformed function: all that its results depend on.

Of the function, the fingerprint that stored programs have. A stored program reads numbers and
arrays from outside at every call, and Dask keeps results: so their contents are in the token.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tracejit.artifacts.fingerprints import (
    Unstorable,
    describe,
    fingerprint,
    functions_in,
    is_users,
)
from tracejit.runtime.function import Function

__all__ = ["token_of"]


def token_of(transform: Any) -> tuple[object, ...]:
    """Return the token of a transform; one that nothing else has where it cannot be told."""
    try:
        return ("tracejit", transform.home, transform.name, str(describe(transform.settings)),
                repr(transform.options), *_parts(transform.fn, set()))
    except Unstorable:
        return ("tracejit", uuid.uuid4().hex)


def _parts(fn: Callable[..., object], seen: set[int]) -> Iterator[object]:
    """Yield the fingerprint of a function, what it reads, and the same of functions it names."""
    from dask.base import normalize_token

    seen.add(id(fn))
    yield fingerprint(fn)
    for f in functions_in(fn):
        for name, x in _read(f):
            inner: Any = x.transform.fn if isinstance(x, Function) else x
            if isinstance(inner, FunctionType) and is_users(inner.__module__):
                if isinstance(x, Function):
                    yield from (x.transform.home, str(describe(x.transform.settings)))
                if id(inner) not in seen:
                    yield from (name, *_parts(inner, seen))
            elif not isinstance(x, ModuleType):
                yield name, normalize_token(x)


def _read(f: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield names and contents of a function's cells, of globals that it names, and of modules'."""
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # which has no content yet
            yield name, None
    names = sorted(set(_names(f.__code__)))
    for name in names:
        x = f.__globals__.get(name)
        if x is not None:
            yield name, x
        if isinstance(x, ModuleType) and is_users(x.__name__):
            yield from ((f"{name}.{k}", vars(x)[k]) for k in names if k in vars(x))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from _names(x)
