"""The folder that keeps artifacts: atomic writes, locks, sizes, eviction.

    artifacts/SLOT/NAME/      one artifact: its files, named by the digest of its manifest
    artifacts/SLOT/lock       held by the process that makes an artifact for this slot
    artifacts/shared/NAME     object code that all programs use
    artifacts/sizes.json      the size of each slot, as of a time of the slot's folder
    emitted/NAME.py           emitted source, to be looked at

A slot stands for a function, a transform and the dtypes and ranks of arguments. A new artifact is
written beside its place and moved there, so that it is there whole or not at all.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from tracejit.configuration import cache_directory, settings
from tracejit.store.digests import digest
from tracejit.store.environment import environment_digest
from tracejit.store.files import Folder, temporary_name
from tracejit.store.slots import MANIFEST, MOST, holds, is_named, uses
from tracejit.store.symbols import BadObject, undefined_symbols

__all__ = ["Artifact", "ArtifactStore", "find_store", "shared_object"]

LOG = logging.getLogger("tracejit")
PATIENCE = 60.0
"""For how many seconds a process waits for another one that makes the same artifact."""
SILENCE = 5.0
"""After how many seconds it says so."""


class Artifact:
    """One artifact in the store: its manifest, and its files when they are asked for."""

    slot: str
    folder: Folder
    key: str

    def __init__(self, slot: str, folder: Folder) -> None:
        self.slot, self.folder, self.key = slot, folder, folder.path.name
        text = folder.read(MANIFEST)
        if digest(text) != self.key:
            raise BadObject("its manifest is damaged")
        self.manifest: dict[str, Any] = json.loads(text)

    def file(self, name: str) -> bytes:
        """Return the content of a file; `BadObject` if it is not the content that was written."""
        data = self.folder.read(name)
        if digest(data) != self.manifest["files"][name]:
            raise BadObject(f"its {name} is damaged")
        return data

    @property
    def size(self) -> int:
        """Return its size in bytes."""
        return sum(e.stat(follow_symlinks=False).st_size for e in self.folder.entries())

    @property
    def used(self) -> float:
        """Return when it was last used, in seconds of the epoch."""
        return self.folder.state(MANIFEST).st_mtime

    def touch(self) -> None:
        """Note that it was used now."""
        with suppress(OSError):
            if time.time() - self.used > 60:
                self.folder.touch(MANIFEST)


class ArtifactStore:
    """A folder of artifacts that this user alone can write to, and one of emitted source."""

    home: Folder
    folder: Folder
    path: Any

    def __init__(self, home: Folder, folder: Folder) -> None:
        self.home, self.folder, self.path = home, folder, folder.path

    # --- folders in it --------------------------------------------------------------------------

    def inner(self, name: str, *, make: bool = False) -> Folder:
        """Open a slot, or the folder of shared object code."""
        return _inner(self.folder, name, make)

    def emitted(self) -> Folder:
        """Open the folder of emitted source."""
        return _inner(self.home, "emitted", make=True)

    def slots(self) -> list[str]:
        """Return the names of all slots."""
        return sorted(e.name for e in self.folder.entries() if is_named(e))

    # --- artifacts ------------------------------------------------------------------------------

    def candidates(self, slot: str) -> Iterator[Artifact]:
        """Yield the artifacts of a slot, the last used artifact first."""
        try:
            folder = self.inner(slot)
            used = uses(folder)
        except FileNotFoundError:
            return
        except OSError as e:
            _warn_once(f"compiled programs are not looked for: {e.strerror}")
            return
        if len(used) > 2 * MOST:
            self._remove(folder, [key for _, key in used[MOST:]])
        for _, key in used[:2 * MOST]:
            try:
                yield Artifact(slot, folder.folder(key))
            except (OSError, BadObject, ValueError) as e:
                self.drop(slot, key, e)

    def drop(self, slot: str, key: str, error: Exception) -> None:
        """Remove an artifact that cannot be used, for another one to take its place; say so."""
        warn_damaged(key, error)
        self.remove(slot, key)

    def all(self) -> Iterator[Artifact]:
        """Yield all artifacts."""
        for slot in self.slots():
            yield from self.candidates(slot)

    def put(self, slot: str, manifest: dict[str, object], files: dict[str, bytes]) -> None:
        """Store an artifact, whole or not at all; where that fails, say so."""
        manifest["files"] = {name: digest(data) for name, data in files.items()}
        text = json.dumps(manifest, indent=1, sort_keys=True).encode()
        key, new = digest(text), temporary_name()
        try:
            folder = self.inner(slot, make=True)
            if not holds(folder, key):
                _put(folder, key, new, {**files, MANIFEST: text})
        except OSError as e:
            if e.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # another process was faster
                _warn_once(f"compiled programs cannot be kept in {self.path}: {e.strerror}")
            return
        used = uses(folder)
        self._remove(folder, [key for _, key in used[MOST:]])

    @contextmanager
    def making(self, slot: str) -> Iterator[bool]:
        """Hold the lock of a slot, if it can be had; yield whether another process held it."""
        try:
            import fcntl

            lock = self.inner(slot, make=True).lock_file("lock")
        except (ImportError, OSError):
            yield False
            return
        try:
            waited = False
            start = now = time.monotonic()
            while now - start < PATIENCE:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    waited = True
                    time.sleep(0.02)
                except OSError:  # a file system without locks
                    break
                before, now = now, time.monotonic()
                if before - start < SILENCE <= now - start:
                    LOG.warning("another process compiles this program; waiting for it, for at "
                                "most %.0f s", PATIENCE)
            yield waited
        finally:
            with suppress(OSError):  # a child that was forked meanwhile has the lock, too
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)

    # --- removing -------------------------------------------------------------------------------

    def remove(self, slot: str, key: str) -> bool:
        """Remove an artifact; a slot that is empty then goes, too."""
        try:
            folder = self.inner(slot)
        except OSError:
            return False
        gone = self._remove(folder, [key]) == 1
        with suppress(OSError):
            if all(e.name == "lock" for e in folder.entries()):
                self.folder.remove(slot)
        return gone

    def _remove(self, folder: Folder, keys: list[str]) -> int:
        """Remove artifacts; their manifests go first, so that none is found by half."""
        for key in keys:
            with suppress(OSError):
                folder.folder(key).remove(MANIFEST)
        return sum(folder.remove(key) for key in keys)


def _inner(parent: Folder, name: str, make: bool) -> Folder:
    """Open a folder of the store; where one is to be made, any other entry of its name goes."""
    try:
        return parent.folder(name, make=make)
    except OSError as e:
        if not make or isinstance(e, FileNotFoundError):
            raise
        _warn_once(f"{e.strerror}; it is removed from the store of compiled programs")
        parent.remove(name)
        return parent.folder(name, make=True)


def _put(folder: Folder, key: str, new: str, files: dict[str, bytes]) -> None:
    """Write an artifact beside its place, and move it there."""
    folder.remove(key)
    try:
        inner = folder.folder(new, make=True)
        for name, data in files.items():
            inner.add(name, data)
        os.rename(new, key, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except OSError:
        folder.remove(new)
        raise


# --- warnings, and the store itself ---------------------------------------------------------------


def warn_damaged(name: str, error: Exception) -> None:
    """Say that an artifact is not used."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not isinstance(error, FileNotFoundError):  # another process removed it meanwhile
        _warn_once(f"the compiled program {name} is not used and will be made again: {text}")


_WARNED: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _WARNED:
        _WARNED.add(text)
        LOG.warning("%s", text)


def find_store() -> ArtifactStore | None:
    """Return the store, or None where it is switched off or not this user's alone."""
    if not settings().cache or settings().cache_size <= 0:
        return None
    path = cache_directory()
    try:
        home = Folder.reach(path, make=True)
        return ArtifactStore(home, home.folder("artifacts", make=True))
    except OSError as e:
        _warn_once(f"compiled programs are not kept: {e.strerror} ({path / 'artifacts'})")
        return None


def shared_object(name: str, make: Callable[[], bytes]) -> bytes:
    """Return object code that all programs use: from the store, or made now and put there."""
    store = find_store()
    if store is None:
        return make()
    kept = f"{name}-{environment_digest()}"
    try:
        data = store.inner("shared", make=True).read(kept)
        if digest(data[32:]).encode() == data[:32]:
            undefined_symbols(data[32:])
            return data[32:]
        raise BadObject("it is damaged")
    except (OSError, BadObject) as e:
        warn_damaged(kept, e)
    data = make()
    with suppress(OSError):
        folder = store.inner("shared", make=True)
        folder.remove_abandoned()
        folder.replace(kept, digest(data).encode() + data)
    return data
