"""PyTorch's references in NumPy as a user's code: in PyTorch's folder they are not captured."""

from __future__ import annotations

import functools
import inspect
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

__all__ = ["as_users"]

_HOMES: dict[str, dict[str, Any]] = {}
"""By file of PyTorch's: the names that its functions read, with functions of ours."""

_FOLDER = Path(tempfile.mkdtemp(prefix="op_db_"))


def as_users(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of PyTorch's tests as one of a file of ours, any other as it is."""
    if isinstance(fn, functools.partial):
        return functools.partial(as_users(fn.func), *fn.args, **fn.keywords)
    if not isinstance(fn, FunctionType) or not fn.__globals__["__name__"].startswith("torch.test"):
        return fn
    names = _names_of(fn)
    cells = tuple(CellType(as_users(c.cell_contents)) for c in fn.__closure__ or ())
    code = fn.__code__.replace(co_filename=names["__file__"])
    made = FunctionType(code, names, fn.__name__, fn.__defaults__, cells)
    made.__kwdefaults__ = fn.__kwdefaults__
    return made


def _names_of(fn: FunctionType) -> dict[str, Any]:
    """Return the names of a copy of a function's file."""
    file = inspect.getsourcefile(fn) or ""
    if file not in _HOMES:
        copy = Path(shutil.copy(file, _FOLDER))
        names = _HOMES[file] = {**fn.__globals__, "__name__": copy.stem, "__file__": str(copy)}
        for name in [n for n, x in names.items() if "ref" in n or "_np" in n or "numpy" in n]:
            names[name] = as_users(names[name])
    return _HOMES[file]
