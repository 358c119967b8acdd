"""Files and folders that only this user, or root, can have written: reached by open descriptors.

A folder is opened component by component from the root, and each is looked at once it is open, so
that nothing can be put in its place between the look and the use. Above a folder of ours a link is
followed if this user or root made it; within, no link is followed, whoever made it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["SHOWN", "TEMPORARY", "Folder", "open_parent", "read_file",
           "temporary_name"]

TEMPORARY = "new-"
"""How the names of unfinished files begin."""
ABANDONED = 3600.0
"""After how many seconds a file that was being written is taken to be left behind, whoever wrote
it; at once where its process has ended."""

PRIVATE, SHOWN = 0o600, 0o644
"""Modes of files: in a store, and saved by users to be given to others."""

_FOLDER = (os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
           | getattr(os, "O_CLOEXEC", 0))
_FILE = (getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
         | getattr(os, "O_NONBLOCK", 0))  # a FIFO that was planted would wait for its writer
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
MOST_LINKS = 40

IS_SUPPORTED = os.open in os.supports_dir_fd and hasattr(os, "geteuid")
"""Whether this platform opens files relative to a folder, and files have owners."""

Check = Callable[[os.stat_result, Path], None]
"""Raises `PermissionError` for the state of a file that others may have written."""


class Folder:
    """An open folder that others cannot write to, and its entries.

    path -- its name, for messages alone
    """

    descriptor: int
    path: Path

    def __init__(self, descriptor: int, path: Path) -> None:
        self.descriptor, self.path = descriptor, path

    def __del__(self) -> None:
        with suppress(OSError):
            os.close(self.descriptor)

    @classmethod
    def reach(cls, path: Path, *, make: bool = False) -> Folder:
        """Open a folder; `PermissionError` where others could have written to it or put it there.

        make -- whether it and the folders above it are made where they are not there
        """
        if not IS_SUPPORTED:
            raise PermissionError(errno.EPERM, "this platform does not tell who can write to files")
        return cls(_walk(path, make), path)

    def folder(self, name: str, *, make: bool = False) -> Folder:
        """Open a folder in this one; as files in it are ours, others may not even be let in."""
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self.descriptor)
        found = Folder(_open(name, _FOLDER, self.descriptor, self.path), self.path / name)
        state = os.fstat(found.descriptor)
        _require_ours(state, found.path)
        if make and state.st_mode & 0o077 and state.st_uid == os.geteuid():
            os.fchmod(found.descriptor, 0o700)
        return found

    def read(self, name: str, require: Check | None = None) -> bytes:
        """Return the content of a file that others cannot write to.

        require -- looks at the state of the open file; of one in a store, nobody else may write it
        """
        with open(self._file(name, os.O_RDONLY, require), "rb") as f:
            return f.read()

    def add(self, name: str, data: bytes, mode: int = PRIVATE) -> None:
        """Write a file that is not there yet.

        mode -- its permissions, without bits that the umask forbids, unless it is private
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE
        descriptor = _open(name, flags, self.descriptor, self.path, mode)
        with open(descriptor, "wb") as f:
            if mode == PRIVATE:
                os.fchmod(descriptor, mode)
            f.write(data)

    def replace(self, name: str, data: bytes, mode: int = PRIVATE) -> None:
        """Write a file in place of any entry of its name, whole or not at all."""
        new = temporary_name()
        self.add(new, data, mode)
        try:
            self.rename(new, name)
        except OSError:
            self.remove(new)
            raise

    def rename(self, old: str, new: str) -> None:
        """Move an entry to another name; a folder in place of a file goes."""
        try:
            os.replace(old, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except (IsADirectoryError, NotADirectoryError):
            self.remove(new)
            os.replace(old, new, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def lock_file(self, name: str) -> int:
        """Return a descriptor of a file to be locked; another entry of its name is removed."""
        try:
            return self._file(name, os.O_RDWR | os.O_CREAT)
        except OSError:
            self.remove(name)
            return self._file(name, os.O_RDWR | os.O_CREAT | os.O_EXCL)

    def _file(self, name: str, flags: int, require: Check | None = None) -> int:
        descriptor = _open(name, flags | _FILE, self.descriptor, self.path)
        try:
            _require_file(os.fstat(descriptor), self.path / name, require)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def entries(self) -> Iterator[os.DirEntry[str]]:
        """Yield its entries; `stat` of an entry needs `follow_symlinks=False`."""
        with os.scandir(self.descriptor) as found:
            yield from found

    def state(self, name: str) -> os.stat_result:
        """Return the state of an entry, of a link its own."""
        return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)

    def touch(self, name: str) -> None:
        """Note that a file was used now."""
        os.utime(name, dir_fd=self.descriptor, follow_symlinks=False)

    def remove(self, name: str) -> bool:
        """Remove an entry, with its content; a link itself, and not its target.

        Return whether it is gone.
        """
        try:
            os.unlink(name, dir_fd=self.descriptor)
        except FileNotFoundError:
            return True
        except OSError:  # a folder
            try:
                inner = Folder(_open(name, _FOLDER, self.descriptor, self.path), self.path / name)
                for inside in os.listdir(inner.descriptor):
                    inner.remove(inside)
                os.rmdir(name, dir_fd=self.descriptor)
            except FileNotFoundError:
                return True
            except OSError:
                return False
        return True

    def remove_abandoned(self) -> None:
        """Remove the files left behind by processes that were killed while they wrote."""
        for entry in self.entries():
            with suppress(OSError):
                if entry.name.startswith(TEMPORARY) and _is_abandoned(entry):
                    self.remove(entry.name)


def temporary_name() -> str:
    """Return a name for an unfinished file; the process that writes it can be told by it."""
    return f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
    if age > ABANDONED:
        return True
    process = entry.name.removeprefix(TEMPORARY).partition("-")[0]
    if age < 60.0 or not process.isdigit():  # in a shared folder, a process of another machine
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


# --- files that users name ------------------------------------------------------------------------


def open_parent(path: Path) -> tuple[Folder, str]:
    """Open the folder of a file that is to be written, whoever owns that; return the name, too."""
    parent = Path(os.path.abspath(path)).parent
    return Folder(os.open(parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)), parent), path.name


def read_file(path: Path) -> bytes:
    """Return a file that only this user or root can have written, and put where it is."""
    parent = Folder.reach(Path(os.path.abspath(path)).parent)
    name = path.name
    for _ in range(MOST_LINKS):
        state = parent.state(name)
        if not stat.S_ISLNK(state.st_mode):
            return parent.read(name, _require_unwritable)
        _require_owner(state, parent.path / name)
        target = parent.path / os.readlink(name, dir_fd=parent.descriptor)
        parent, name = Folder.reach(target.parent), target.name
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


# --- the way from the root, and who may have written ----------------------------------------------


def _walk(path: Path, make: bool) -> int:
    """Return a descriptor of a folder that others could not have put there."""
    opened = [os.open("/", _FOLDER)]
    rest = list(reversed(Path(os.path.abspath(path)).parts[1:]))
    links, place = 0, Path("/")
    try:
        _require_safe(os.fstat(opened[0]), place)
        while rest:
            name = rest.pop()
            if name == "..":
                if len(opened) > 1:
                    os.close(opened.pop())
                place = place.parent
                continue
            try:
                opened.append(_step(name, opened[-1], place, make))
                place /= name
                continue
            except OSError as e:
                links += 1
                if e.errno != errno.ELOOP or links > MOST_LINKS:
                    raise
            target = Path(_link_target(name, opened[-1], place))
            if target.is_absolute():
                while len(opened) > 1:
                    os.close(opened.pop())
                place = Path("/")
            rest += reversed(target.parts[target.is_absolute():])
        return opened.pop()
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _link_target(name: str, parent: int, place: Path) -> str:
    """Return where a link leads that this user or root has made."""
    _require_owner(os.stat(name, dir_fd=parent, follow_symlinks=False), place / name)
    return os.readlink(name, dir_fd=parent)


def _step(name: str, parent: int, place: Path, make: bool) -> int:
    """Open a folder on the way; others may write to it only if they cannot move its entries."""
    try:
        descriptor = _open(name, _FOLDER, parent, place)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
        descriptor = _open(name, _FOLDER, parent, place)
    try:
        _require_safe(os.fstat(descriptor), place / name)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _open(name: str, flags: int, parent: int, place: Path, mode: int = PRIVATE) -> int:
    try:
        return os.open(name, flags, mode, dir_fd=parent)
    except OSError as e:
        is_link = e.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, parent)
        if is_link:
            raise OSError(errno.ELOOP, f"{place / name} is a link, which is not followed") from None
        raise OSError(e.errno, f"{place / name}: {os.strerror(e.errno or 0)}") from None


def _is_link(name: str, parent: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _require_owner(found: os.stat_result, path: Path) -> None:
    if found.st_uid not in (os.geteuid(), 0):
        raise PermissionError(errno.EPERM, f"{path} belongs to another user")


def _require_safe(found: os.stat_result, path: Path) -> None:
    """Require of a folder that others cannot replace our entries in it."""
    _require_owner(found, path)
    if not found.st_mode & stat.S_ISVTX:
        _require_unwritable(found, path)


def _require_unwritable(found: os.stat_result, path: Path) -> None:
    is_alone = not found.st_mode & stat.S_IWOTH and _is_own_group(found.st_gid)
    if found.st_mode & _OTHERS and not is_alone:
        raise PermissionError(errno.EPERM, f"other users can write to {path}; chmod go-w {path}")


def _require_ours(found: os.stat_result, path: Path) -> None:
    """Require of an entry of a store that nobody else has written to it, or can."""
    _require_owner(found, path)
    if found.st_mode & _OTHERS:
        raise PermissionError(errno.EPERM, f"other users can write to {path}; chmod go-w {path}")


def _require_file(found: os.stat_result, path: Path, require: Check | None = None) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise PermissionError(errno.EPERM, f"{path} is no file")
    _require_owner(found, path)
    (require or _require_ours)(found, path)


def _is_own_group(group: int) -> bool:
    """Return whether a group is a user's own, made by the system, with nobody else in it.

    With such groups `umask 002` is usual, and folders above a store can be written to by the group.
    """
    import grp
    import pwd

    me = os.geteuid()
    try:
        user, found = pwd.getpwuid(me), grp.getgrgid(group)
    except KeyError:
        return False
    return (me != 0 and user.pw_gid == group and found.gr_name == user.pw_name
            and set(found.gr_mem) <= {user.pw_name})
