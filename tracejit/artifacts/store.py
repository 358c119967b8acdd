"""The folder that keeps artifacts: who may write to it, atomic writes, locks, what is evicted.

    SLOT/NAME/            one artifact: its files, named by the digest of its manifest
    SLOT/lock             held by the process that makes an artifact for this slot
    shared/NAME           object code that all programs use

A slot stands for a function, a transform and the dtypes and ranks of arguments. A new artifact is
written beside its place and moved there, so that it is there whole or not at all.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tracejit.artifacts.environment import environment_digest
from tracejit.artifacts.fingerprints import digest
from tracejit.artifacts.symbols import BadObject, undefined_symbols
from tracejit.configuration import cache_directory, settings

__all__ = ["Artifact", "Store", "find_store", "shared_object"]

LOG = logging.getLogger("tracejit")
PATIENCE = 60.0
"""For how many seconds a process waits for another one that makes the same artifact."""
ABANDONED = 3600.0
"""After how many seconds a file that was being written is taken to be left behind."""
MOST = 32
"""The most artifacts of one slot: versions of one function, or sizes that were fixed."""


class Artifact:
    """One artifact in the store: its manifest, and its files when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path, self.key = path, path.name
        text = _read(path / "manifest.json")
        if digest(text) != self.key:
            raise BadObject("its manifest is damaged")
        self.manifest: dict[str, Any] = json.loads(text)

    def file(self, name: str) -> bytes:
        """Return the content of a file; `BadObject` if it is not what was written."""
        data = _read(self.path / name)
        if digest(data) != self.manifest["files"][name]:
            raise BadObject(f"its {name} is damaged")
        return data

    @property
    def size(self) -> int:
        """Return its size in bytes."""
        return sum(f.stat().st_size for f in self.path.iterdir())

    @property
    def used(self) -> float:
        """Return when it was last used, in seconds of the epoch."""
        return (self.path / "manifest.json").stat().st_mtime

    def touch(self) -> None:
        """Note that it was used now."""
        try:
            if time.time() - self.used > 60:
                os.utime(self.path / "manifest.json")
        except OSError:
            pass


class Store:
    """A folder of artifacts that this user alone can write to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def candidates(self, slot: str) -> Iterator[Artifact]:
        """Yield the artifacts of a slot, the one that was used last first."""
        folder = self.path / slot
        try:
            found = [use for p in folder.glob("*/manifest.json")
                     if not p.parent.name.startswith("new-") and (use := _use_of(p))]
        except OSError:
            return
        for _, _, path in sorted(found, reverse=True):
            try:
                yield Artifact(path)
            except (OSError, BadObject, ValueError) as e:
                self.drop(path, e)

    def drop(self, path: Path, error: Exception) -> None:
        """Remove an artifact that cannot be used, for another one to take its place; say so."""
        warn_damaged(path, error)
        self.remove_path(path)

    def all(self) -> Iterator[Artifact]:
        """Yield all artifacts."""
        for slot in self.slots():
            yield from self.candidates(slot)

    def sizes(self) -> list[int]:
        """Return the bytes of each artifact."""
        uses = map(_use_of, self.path.glob("*/*/manifest.json"))
        return [use[1] for use in uses if use is not None]

    def slots(self) -> list[str]:
        """Return the names of all slots."""
        try:
            return sorted(p.name for p in self.path.iterdir() if p.is_dir() and len(p.name) == 32)
        except OSError:
            return []

    def put(self, slot: str, manifest: dict[str, Any], files: dict[str, bytes]) -> Path | None:
        """Store an artifact, whole or not at all; None where that fails."""
        manifest["files"] = {name: digest(data) for name, data in files.items()}
        text = json.dumps(manifest, indent=1, sort_keys=True).encode()
        key = digest(text)
        folder = self.path / slot
        new = folder / f"new-{os.getpid()}-{threading.get_ident()}-{key}"
        try:
            _make_folder(folder)
            if (folder / key / "manifest.json").exists():
                return folder / key
            self.remove_path(folder / key)
            new.mkdir(mode=0o700)
            for name, data in {**files, "manifest.json": text}.items():
                _write(new / name, data)
            os.rename(new, folder / key)
        except OSError as e:
            shutil.rmtree(new, ignore_errors=True)
            if e.errno not in (errno.EEXIST, errno.ENOTEMPTY):  # another process was faster
                _warn_once(f"compiled programs cannot be kept in {self.path}: {e.strerror}")
                return None
        self.prune(slot)
        return folder / key

    @contextmanager
    def making(self, slot: str) -> Iterator[bool]:
        """Hold the lock of a slot, if it can be had; yield whether another process held it."""
        try:
            import fcntl

            _make_folder(self.path / slot)
            lock = os.open(self.path / slot / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except (ImportError, OSError):
            yield False
            return
        try:
            waited = False
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    waited = True
                    time.sleep(0.02)
                except OSError:  # a file system without locks
                    break
            yield waited
        finally:
            os.close(lock)

    def prune(self, slot: str | None = None) -> int:
        """Remove what is too much: in a slot, and in all; return how many artifacts went."""
        removed = 0
        if slot is not None:
            removed += sum(map(self.remove, list(self.candidates(slot))[MOST:]))
            if not _is_due(self.path):
                return removed
        found = sorted(filter(None, map(_use_of, self.path.glob("*/*/manifest.json"))))
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= settings().cache_size:
                break
            removed += self.remove_path(path)
            total -= size
        for path in self.path.glob("*/new-*"):
            try:
                if time.time() - path.stat().st_mtime > ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)
            except OSError:
                pass
        return removed

    def remove(self, artifact: Artifact) -> bool:
        """Remove an artifact; its manifest goes first, so that none is found by half."""
        return self.remove_path(artifact.path)

    def remove_path(self, path: Path) -> bool:
        """Remove the folder of an artifact."""
        try:
            (path / "manifest.json").unlink(missing_ok=True)
        except OSError:
            return False
        shutil.rmtree(path, ignore_errors=True)
        return True

    def clear(self) -> int:
        """Remove all artifacts and return how many there were."""
        count = sum(map(self.remove, list(self.all())))
        for slot in self.slots():
            shutil.rmtree(self.path / slot, ignore_errors=True)
        shutil.rmtree(self.path / "shared", ignore_errors=True)
        return count


def _use_of(manifest: Path) -> tuple[float, int, Path] | None:
    """Return when an artifact was last used, its bytes and its folder; None if it is gone."""
    try:
        size = sum(e.stat().st_size for e in os.scandir(manifest.parent))
        return manifest.stat().st_mtime, size, manifest.parent
    except OSError:
        return None


_PRUNED: dict[Path, int] = {}


def _is_due(path: Path) -> bool:
    """Whether to look at the whole store: at about every 16th artifact, over all processes."""
    _PRUNED[path] = _PRUNED.get(path, os.getpid()) + 1
    return _PRUNED[path] % 16 == 0


# --- files --------------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    """Return a file of this user's that nobody else can write to."""
    with open(path, "rb") as f:
        _require_own(os.fstat(f.fileno()), path)
        return f.read()


def _write(path: Path, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
        f.write(data)


def _require_own(found: os.stat_result, path: Path) -> None:
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, f"{path} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(errno.EPERM, f"other users can write to {path}; chmod go-w {path}")


def _make_folder(path: Path) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def warn_damaged(path: Path, error: Exception) -> None:
    """Say that an artifact is not used."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not isinstance(error, FileNotFoundError):  # another process removed it meanwhile
        _warn_once(f"the compiled program {path.name} is not used and will be made again: {text}")


_WARNED: set[str] = set()


def _warn_once(text: str) -> None:
    if text not in _WARNED:
        _WARNED.add(text)
        LOG.warning("%s", text)


def find_store() -> Store | None:
    """Return the store, or None where it is switched off or not this user's alone."""
    if not settings().cache or settings().cache_size <= 0:
        return None
    path = cache_directory() / "artifacts"
    try:
        try:
            found = path.stat()
        except FileNotFoundError:
            _make_folder(path)
            found = path.stat()
        _require_own(found, path)
    except OSError as e:
        _warn_once(f"compiled programs are not kept: {e.strerror} ({path})")
        return None
    return Store(path)


def shared_object(name: str, make: Callable[[], bytes]) -> bytes:
    """Return object code that all programs use: from the store, or made now and put there."""
    store = find_store()
    if store is None:
        return make()
    path = store.path / "shared" / f"{name}-{environment_digest()}"
    try:
        data = _read(path)
        if digest(data[32:]).encode() == data[:32]:
            undefined_symbols(data[32:])
            return data[32:]
    except (OSError, BadObject) as e:
        if not isinstance(e, FileNotFoundError):
            warn_damaged(path, e)
    data = make()
    new = path.with_name(f"new-{os.getpid()}-{threading.get_ident()}-{name}")
    try:
        _make_folder(path.parent)
        _write(new, digest(data).encode() + data)
        os.replace(new, path)
    except OSError:
        pass
    return data
