"""The store of compiled programs, as users see it: `tracejit.cache`.

Programs are kept for other processes in the user's cache directory; `TRACEJIT_CACHE_DIR` names
another one, `TRACEJIT_CACHE=0` switches it off, `TRACEJIT_CACHE_SIZE` is its limit in bytes.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tracejit.artifacts.fingerprints import Unstorable
from tracejit.artifacts.loading import reasons, require_environment
from tracejit.artifacts.places import Missing
from tracejit.configuration import cache_directory, settings
from tracejit.store import housekeeping
from tracejit.store.files import Folder
from tracejit.store.slots import is_named
from tracejit.store.store import Artifact, find_store
from tracejit.store.symbols import BadObject, undefined_symbols

__all__ = ["Entry", "Info", "clear", "explain", "info", "ls", "prune", "verify"]


@dataclass(frozen=True, slots=True)
class Info:
    """The state of the store.

    path    -- its folder; None where it is switched off or cannot be used
    count   -- how many programs it has
    size    -- their bytes, and the bytes of the source emitted for them
    limit   -- how many bytes it may have
    """

    path: str | None
    count: int
    size: int
    limit: int

    def __str__(self) -> str:
        if self.path is None:
            return f"off, or not usable: {cache_directory() / 'artifacts'}"
        return (f"{self.path}: {self.count} programs, {self.size / 1e6:.1f} of "
                f"{self.limit / 1e6:.0f} MB")


@dataclass(frozen=True, slots=True)
class Entry:
    """One program in the store: its key, function, bytes, and seconds since it was used.

    device -- the compute capability that it is for; "" for the CPU
    """

    key: str
    function: str
    transform: str
    arguments: str
    size: int
    age: float
    device: str = ""

    def __str__(self) -> str:
        device = f" for compute capability {self.device}" if self.device else ""
        return (f"{self.key}  {self.transform} of {self.function}({self.arguments}){device}  "
                f"{self.size / 1e3:.0f} kB, used {_ago(self.age)}")


def _ago(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return "now"


def info() -> Info:
    """Return where the store is, and how large.

    >>> import tracejit
    >>> tracejit.cache.info().count >= 0
    True
    """
    store = find_store()
    if store is None:
        return Info(None, 0, 0, settings().cache_size)
    contents = housekeeping.contents(store).values()
    programs = sum(size for _, _, size in contents)
    emitted = sum(size for _, size, _ in housekeeping.sources(store))
    return Info(str(store.path), sum(count for _, count, _ in contents), programs + emitted,
                settings().cache_size)


def ls() -> list[Entry]:
    """Return all programs in the store, the last used program first."""
    store = find_store()
    entries = []
    for a in store.all() if store is not None else ():
        try:
            entries.append(_entry(a))
        except FileNotFoundError:  # another process has removed it
            continue
    return sorted(entries, key=lambda e: e.age)


def _entry(a: Artifact) -> Entry:
    request = a.manifest["request"]
    arguments = ", ".join(kind if kind in ("float", "int", "complex", "static")
                          else f"{dtype}[{', '.join(':' * ndim)}]"
                          for kind, dtype, ndim in (tuple(x) + (0,) * (3 - len(x))
                                                    for x in request["arguments"]))
    return Entry(a.key, request["function"], request["name"], arguments, a.size,
                 max(0.0, time.time() - a.used), a.manifest.get("device", {}).get("capability", ""))


def explain(what: Any, *args: object, **kwargs: object) -> str:
    """Return the conditions of a stored program, or why a call would find none.

    what         -- a key, or the beginning of one, as `ls` gives it; or a transformed function
    args, kwargs -- with a function: arguments of the call, or specs of them

    Raises `KeyError` where no program has the key.
    """
    if isinstance(what, str):
        return _explain_key(what)
    call = what._request(args, kwargs)
    try:
        found = reasons(call)
    except Unstorable as e:
        return f"such calls are not kept: {e}"
    if any(not reason for _, reason in found):
        key = next(key for key, reason in found if not reason)
        return f"{key} serves this call"
    lines = [f"{key} does not: {reason}" for key, reason in found]
    if what._unstored:
        lines.append(f"the last program was not kept: {what._unstored}")
    return "\n".join(lines) or "no program was kept for such calls"


def _explain_key(key: str) -> str:
    store = find_store()
    for a in () if store is None else store.all():
        if a.key.startswith(key):
            m = a.manifest
            lines = [str(_entry(a)), "", "It holds as long as these are what they were:",
                     f"  the code and defaults of {m['request']['function']}"]
            lines += [f"  the code of {name}" for name, _ in m["functions"]]
            lines += [f"  the registered gradient of op type {name!r}" for name in m["rules"]]
            lines += [f"  {_path_text(path)} ({_KINDS[known[0]]})" for path, known in m["guards"]]
            lines += ["It reads at every call:"] if m["leaves"] else []
            lines += [f"  {_path_text(path)}" for path, _ in m["leaves"]]
            if "device" in m:
                lines += ["It is for a device of:",
                          f"  compute capability {m['device']['capability']}"]
            lines += ["It was made with:"]
            lines += [f"  {name}: {text[:70]}" for name, text in m["environment"].items()]
            return "\n".join(lines)
    raise KeyError(f"no stored program has a key that begins with {key!r}; see "
                   "`python -m tracejit cache ls`")


_KINDS = {"is": "what it is", "same": "that it is one array with another name",
          "shape": "its type, and its length or keys", "absent": "that it is not there"}


def _path_text(path: Any) -> str:
    root, name, steps = path
    text = f"{root[1]}.{name}" if root[0] == "module" else name
    for kind, key in steps:
        text += f".{key}" if kind == "attr" else f"[{key!r}]"
    return text


def verify() -> list[str]:
    """Check every file in the store, remove the damaged programs, and return a line on each."""
    store = find_store()
    complaints = []
    for slot in [] if store is None else store.slots():
        assert store is not None
        with suppress(OSError):
            folder = store.inner(slot)
            for key in sorted(e.name for e in folder.entries() if is_named(e)):
                fault = _fault(slot, folder, key)
                if fault:
                    complaints.append(f"{key}: {fault}; removed")
                    store.remove(slot, key)
    return complaints


def _fault(slot: str, folder: Folder, key: str) -> str:
    """Return the fault of an artifact; "" if there is none."""
    try:
        a = Artifact(slot, folder.folder(key))
        for name in a.manifest["files"]:
            a.file(name)
        if "symbol" in a.manifest:
            undefined_symbols(a.file("object.o"))
    except FileNotFoundError:
        return "a file is missing"
    except (OSError, BadObject, ValueError, KeyError) as e:
        return str(e)
    return ""


def prune() -> int:
    """Remove the programs of other versions, and programs over the limit; return how many."""
    store = find_store()
    if store is None:
        return 0
    count = 0
    for a in list(store.all()):
        try:
            require_environment(a.manifest["environment"])
        except Missing:
            count += store.remove(a.slot, a.key)
    return count + housekeeping.prune(store)


def clear() -> int:
    """Remove all programs and the source that was emitted for them; return how many there were."""
    store = find_store()
    return 0 if store is None else housekeeping.clear(store)
