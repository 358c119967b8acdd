"""The state that uncaptured calls may read: one table of functions, which keeps results right.

A function that is not captured runs while its caller is captured, and its result becomes part of
the program. It reads nothing but its arguments; or it only looks at state, and is asked again at
every call; or it gives another value at every call, and is refused; or nobody knows, and the
program is captured anew at every call. `docs/state.md` is the page on this.
"""

from __future__ import annotations

import contextvars
import functools
import os
import sys
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from tracejit.trace.ground.attributes import own_entries
from tracejit.trace.ground.modules import home_of, home_of_class, is_standard

__all__ = ["asks_again", "differs_elsewhere", "gives_another_value", "is_cached", "is_opaque",
           "looks_at_frames", "looks_inside", "module_of", "reads_nothing", "reads_state"]

PURE = {"numpy", "scipy", "numba", "llvmlite", "tracejit", "functools", "operator", "itertools",
        "collections", "math", "cmath", "dataclasses", "typing", "enum", "abc", "copy", "copyreg",
        "types", "numbers", "string", "re", "builtins", "warnings", "contextlib", "statistics",
        "fractions", "decimal", "bisect", "heapq", "array", "struct", "textwrap", "inspect",
        "datetime", "calendar", "uuid", "json", "base64", "binascii", "hashlib", "zlib",
        "unicodedata", "keyword", "colorsys", "ast", "reprlib", "pprint", "difflib", "ipaddress",
        "posixpath", "ntpath", "genericpath", "logging", "sre"}
"""Modules whose functions read nothing but their arguments, but for the functions in `READS`."""

READS = {
    "builtins": {"open", "input", "eval", "exec", "compile", "__import__", "breakpoint", "dir"},
    "numpy": {"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "DataSource", "fromregex",
              "show_config", "getbufsize", "show_runtime", "array2string", "array_repr",
              "array_str", "geterrcall", "open_memmap", "read_array", "read_magic"},
    "scipy": {"loadmat", "mmread", "load_npz", "imread", "read", "hb_read", "readsav", "loadarff",
              "netcdf_file", "whosmat", "mminfo", "read_ints", "read_reals", "read_record",
              "geterr", "get_workers"},
    "numba": {"get_num_threads", "get_thread_id", "threading_layer"},
    "reprlib": {"repr"}, "abc": {"get_cache_token"},
    "functools": {"cache_info", "dispatch"},
    "decimal": {"getcontext"},
    "datetime": {"fromtimestamp", "timestamp", "astimezone", "strftime", "strptime"},
    "calendar": {"monthdayscalendar", "monthdatescalendar", "monthdays2calendar", "iterweekdays",
                 "itermonthdates", "itermonthdays", "getfirstweekday", "formatmonth", "formatyear",
                 "formatweek", "formatweekheader"},
    "warnings": {"catch_warnings"},
    "inspect": {"currentframe", "stack", "trace", "getsource", "getsourcelines", "getsourcefile",
                "getframeinfo", "getouterframes", "getclosurevars", "getmodule"},
    "uuid": {"getnode"},
    "posixpath": {"expanduser", "expandvars", "realpath", "abspath", "relpath", "ismount",
                  "samefile", "exists", "lexists", "isfile", "isdir", "islink", "getsize",
                  "getmtime", "getatime", "getctime"},
    "genericpath": {"exists", "isfile", "isdir", "getsize", "getmtime", "getatime", "getctime",
                    "samefile"},
    "logging": {"getLogger", "getLevelName", "isEnabledFor", "getEffectiveLevel", "hasHandlers",
                "getLevelNamesMapping", "getLoggerClass", "getLogRecordFactory", "getChild"},
    "json": {"load"}, "hashlib": {"file_digest"},
}
"""By module, the functions and methods in it that may read the world."""

SETS = {
    "numpy": {"set_printoptions", "setbufsize", "seterrcall", "save", "savez", "savez_compressed",
              "savetxt", "write_array"}, "decimal": {"setcontext"},
    "scipy": {"seterr", "set_global_backend", "register_backend", "write", "savemat", "mmwrite",
              "hb_write", "save_npz", "write_record", "flush"}, "numba": {"set_num_threads"},
    "calendar": {"setfirstweekday", "prmonth", "pryear", "prweek", "prcal"},
    "logging": {"setLevel", "addHandler", "removeHandler", "addFilter", "removeFilter", "disable",
                "basicConfig", "addLevelName", "setLoggerClass", "setLogRecordFactory",
                "captureWarnings", "shutdown"},
    "warnings": {"simplefilter", "filterwarnings", "resetwarnings"}, "pprint": {"pprint", "pp"},
    "copyreg": {"pickle", "constructor", "add_extension"}, "functools": {"cache_clear"},
}
"""By module, the functions and methods in it that change the process: each call has to run them."""

LOOKS_INSIDE: dict[str, set[str] | None] = {
    "inspect": None, "dataclasses": None, "pprint": None, "reprlib": None, "string": None,
    "builtins": {"repr", "str", "ascii", "format", "format_map", "print", "dir"},
    "typing": {"get_type_hints", "get_overloads", "get_protocol_members", "is_typeddict"},
    "operator": {"attrgetter", "methodcaller"},
    "functools": {"update_wrapper", "singledispatch", "total_ordering"},
}
"""By module, the functions that read attributes of functions and classes; None for all."""

ANOTHER_VALUE = frozenset(("random", "time", "secrets"))
"""Modules of Python's whose functions give another value at every call."""
DRAWS = frozenset(("numpy.random",))
CLOCKS = {("datetime", "now"), ("datetime", "today"), ("datetime", "utcnow"), ("uuid", "uuid1"),
          ("uuid", "uuid4"), ("posix", "urandom"), ("posix", "getrandom"), ("posix", "times"),
          ("sys", "getrefcount"), ("sys", "getallocatedblocks"), ("gc", "isenabled"),
          ("gc", "get_count"), ("gc", "get_objects"), ("gc", "get_referrers"),
          ("threading", "active_count"), ("threading", "enumerate"), ("_thread", "_count")}
"""Such functions in other modules, by module and name; a capture itself changes some values."""

FRAMES = {("sys", "_getframe"), ("sys", "_getframemodulename"), ("sys", "_current_frames"),
          ("inspect", "currentframe"), ("inspect", "stack"), ("traceback", "extract_stack"),
          ("traceback", "format_stack"), ("traceback", "print_stack"), ("traceback", "walk_stack")}
"""The functions that look at the frames around their call, by module and name."""

SAFE = frozenset(("logging", "threading", "_thread", "numba", "llvmlite", "tracejit"))
"""Modules whose objects hold no state that comes into a result."""

AGAIN = (os.getenv, os.getcwd, os.cpu_count, os.path.exists, os.path.isfile, os.path.isdir,
         os.path.getsize, os.path.getmtime, sys.getrecursionlimit, np.geterr,
         np.get_printoptions)
"""Functions that only look at state, quickly: they are asked again at every call."""
LOOKS_AT: tuple[tuple[type, tuple[str, ...]], ...] = (
    (contextvars.ContextVar, ("get",)),
    (type(os.environ), ("get", "__getitem__", "__contains__")),
    (weakref.ref, ("__call__",)),
    (functools._lru_cache_wrapper, ("__call__",)),
)
"""Such methods, by the type of the object."""
LOOKS_BY_NAME = {
    "calendar": READS["calendar"], "datetime": READS["datetime"], "decimal": READS["decimal"],
    "logging": READS["logging"],
}
"""Such functions and methods of modules that need not be imported, by module and name."""


_OF_STATE = frozenset[str]().union(
    *READS.values(), *SETS.values(), (name for _, name in (*CLOCKS, *FRAMES)),
    (fn.__name__ for fn in AGAIN))


def reads_state(name: str) -> bool:
    """Return whether a library has a function of some name that reads or changes state."""
    return name in _OF_STATE


def is_cached(fn: Any) -> bool:
    """Return whether a function is one of `functools.lru_cache`, which keeps its results."""
    return isinstance(fn, functools._lru_cache_wrapper)


def module_of(fn: Any) -> str:
    """Return the module of a function, a method or a callable object."""
    if isinstance(fn, FunctionType):
        return home_of(fn)
    owner = getattr(fn, "__self__", None)
    module = getattr(fn, "__module__", None)
    if "__wrapped__" in own_entries(fn):
        return type(fn).__module__  # its own names are those of the function that it wraps
    if not isinstance(module, str) or (module == "builtins" and isinstance(owner, type)):
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    return module or ""


@functools.lru_cache(4096)
def _is_in(module: str, modules: frozenset[str]) -> bool:
    parts = module.split(".")
    return any(".".join(parts[:k]) in modules for k in range(1, len(parts) + 1))


def gives_another_value(fn: Callable[..., object]) -> bool:
    """Return whether a function gives another value at every call."""
    module, name = module_of(fn), getattr(fn, "__name__", "")
    if _is_in(module, ANOTHER_VALUE):
        return is_standard(module.partition(".")[0])
    return _is_in(module, DRAWS) or (module.partition(".")[0], name) in CLOCKS


def reads_nothing(fn: Callable[..., object]) -> bool:
    """Return whether a function is known to read nothing but its arguments."""
    module, name = module_of(fn).lstrip("_"), getattr(fn, "__name__", "")
    top = module.partition(".")[0]
    return top in PURE and name not in READS.get(top, ()) and name not in SETS.get(top, ())


def differs_elsewhere(fn: Callable[..., object]) -> bool:
    """Return whether a function may give another result for equal arguments in another process.

    Captures have functions of their own for `id` and `hash`.
    """
    return getattr(fn, "__name__", "") == "__hash__"


def is_opaque(kind: type) -> bool:
    """Return whether objects of a type may change without any guard that sees it."""
    return not _is_in(home_of_class(kind), SAFE)


def looks_at_frames(fn: Callable[..., object]) -> bool:
    """Return whether a function looks at the frames around its call, which are tracejit's."""
    return (module_of(fn), getattr(fn, "__name__", "")) in FRAMES


def looks_inside(fn: Callable[..., object]) -> bool:
    """Return whether a function may read all attributes of functions and classes it is given."""
    top = module_of(fn).lstrip("_").partition(".")[0]
    names = LOOKS_INSIDE.get(top, ())
    return names is None or getattr(fn, "__name__", type(fn).__name__) in names


def asks_again(fn: Callable[..., object]) -> tuple[Any, str] | None:
    """Return the object and the name of its method, if a call may be made again at every call."""
    if any(fn is f for f in AGAIN):
        return fn, "__call__"
    owner = getattr(fn, "__self__", fn)
    name = "__call__" if owner is fn else getattr(fn, "__name__", "")
    for kind, names in LOOKS_AT:
        if isinstance(owner, kind) and name in names:
            return owner, name
    name = getattr(fn, "__name__", "")
    if isinstance(name, str) and name in LOOKS_BY_NAME.get(module_of(fn).lstrip("_"), ()):
        return (owner, "__call__") if owner is fn else (owner, name)
    return None
