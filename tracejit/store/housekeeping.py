"""How much the store holds, and which files go where it is too much."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from tracejit.configuration import settings
from tracejit.store.files import TEMPORARY, Folder
from tracejit.store.slots import LENGTH, MANIFEST, MOST, is_named, uses
from tracejit.store.store import ArtifactStore

__all__ = ["clear", "contents", "prune", "sources", "tidy"]

SIZES = "sizes.json"
SPARE = 0.1
"""The part of the store's size that is made free once it is full, so that pruning is rare."""
RECENT = 2_000_000_000
"""For how many nanoseconds the time of a folder may be that of two changes."""

Content = tuple[int, int, int]
"""A slot's content: the time of its folder in nanoseconds, how many artifacts, their bytes."""


def contents(store: ArtifactStore) -> dict[str, Content]:
    """Return the contents of each slot. A slot that is as it was is not looked through again."""
    known, found, looked, now = _known(store), {}, 0, time.time_ns()
    settled: dict[str, Content] = {}
    for entry in store.folder.entries():
        if not is_named(entry):
            continue
        with suppress(OSError):
            changed = entry.stat(follow_symlinks=False).st_mtime_ns
            content = known.get(entry.name)
            is_whole = True
            if content is None or content[0] != changed:
                count, size, is_whole = _measure(store.inner(entry.name))
                content, looked = (changed, count, size), looked + 1
            found[entry.name] = content
            if is_whole and now - changed > RECENT:
                settled[entry.name] = content
    if looked > len(found) // 16 + MOST:
        with suppress(OSError):
            store.folder.replace(SIZES, json.dumps(settled).encode())
    return found


def _known(store: ArtifactStore) -> dict[str, Content]:
    try:
        known = json.loads(store.folder.read(SIZES))
        return {str(k): (int(t), int(count), int(size)) for k, (t, count, size) in
                known.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def prune(store: ArtifactStore, *, spare: float = 0.0) -> int:
    """Remove artifacts over the limit, and files of killed processes; return how many artifacts.

    Emitted source, which is for reading, goes first, then artifacts not used for longest.

    spare -- which part of the store's size is to be free then, if anything has to go
    """
    for name in ("", "shared", "emitted"):
        with suppress(OSError):
            _part(store, name).remove_abandoned()
    limit = settings().cache_size
    total = sum(size for _, _, size in contents(store).values())
    emitted = sources(store)
    excess = total + sum(size for _, size, _ in emitted) - limit
    if excess <= 0:
        return 0
    excess += int(spare * limit)
    for _, size, name in emitted:
        if excess > 0:
            store.emitted().remove(name)
            excess -= size
    return _remove_oldest(store, excess)


_PUT: dict[Path, int] = {}


def tidy(store: ArtifactStore) -> None:
    """Prune the store for about every 16th file put into it, of all processes; called for each."""
    _PUT[store.path] = _PUT.get(store.path, os.getpid()) + 1
    if _PUT[store.path] % 16 == 0:
        prune(store, spare=SPARE)


def sources(store: ArtifactStore) -> list[tuple[float, int, str]]:
    """Return when emitted source was last used, its bytes and its name, the oldest first."""
    try:
        folder = store.home.folder("emitted")
        states = [(e.stat(follow_symlinks=False), e.name) for e in folder.entries()]
    except OSError:
        return []
    return sorted((state.st_mtime, state.st_size, name) for state, name in states)


def _remove_oldest(store: ArtifactStore, excess: int) -> int:
    found, removed = [], 0
    for slot in store.slots() if excess > 0 else ():
        with suppress(OSError):
            folder = store.inner(slot)
            found += [(used, slot, key) for used, key in uses(folder)]
    for _, slot, key in sorted(found):
        if excess <= 0:
            break
        with suppress(OSError):
            excess -= _size(store.inner(slot), key)
            removed += store.remove(slot, key)
    return removed


def clear(store: ArtifactStore) -> int:
    """Remove all artifacts and all emitted source; return how many artifacts there were."""
    count = sum(count for _, count, _ in contents(store).values())
    for name in [e.name for e in store.folder.entries()]:
        if len(name) == LENGTH or name in ("shared", SIZES) or name.startswith(TEMPORARY):
            store.folder.remove(name)
    store.home.remove("emitted")
    return count


def _part(store: ArtifactStore, name: str) -> Folder:
    if name == "emitted":
        return store.home.folder(name)
    return store.inner(name) if name else store.folder


def _measure(folder: Folder) -> tuple[int, int, bool]:
    """Return how many artifacts a slot has, their bytes, and whether nothing is being written."""
    count = total = 0
    is_whole = True
    for entry in list(folder.entries()):
        if entry.name.startswith(TEMPORARY):
            is_whole = False
        elif is_named(entry):
            size = _size(folder, entry.name)
            count, total = count + (size > 0), total + size
    if not is_whole:
        folder.remove_abandoned()
    return count, total, is_whole


def _size(folder: Folder, key: str) -> int:
    """Return the bytes of an artifact; 0 where it has no manifest."""
    with suppress(OSError):
        sizes = {e.name: e.stat(follow_symlinks=False).st_size
                 for e in folder.folder(key).entries()}
        return sum(sizes.values()) if MANIFEST in sizes else 0
    return 0
