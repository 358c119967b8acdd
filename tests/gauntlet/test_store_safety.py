"""Two users on one machine: files planted in a store by another are not loaded, nor followed."""

from __future__ import annotations

import grp
import json
import logging
import os
import pwd
import random
import shutil
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.artifacts import loading
from tracejit.errors import SnapshotError
from tracejit.program import emitted
from tracejit.runtime import making
from tracejit.store import files, slots, store
from tracejit.store.digests import digest

ROOT = Path(__file__).parents[2]
OTHER = 65534
"""The number of another user."""
X = np.array([0.3, 0.5, 0.9])

needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0,
                                reason="files of another user can be made by root alone")


def square(x: Any) -> Any:
    return np.sum(x * x)


def triple(x: Any) -> Any:
    return np.sum(3.0 * x)


class Planted:
    """A store whose program for `square` has been put there by another one: it gives 3.

    cache  -- the folder that settings name
    made   -- the names of the programs that this process has compiled
    """

    def __init__(self, folder: Path, made: list[str]) -> None:
        self.folder, self.made = folder, made
        self.cache = folder / "home" / "cache"
        self.artifacts = self.cache / "artifacts"
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        with self.used():
            tracejit.grad(triple)(X)
            (other,) = self.artifacts.glob("*/*/manifest.json")
            code, symbol = (other.parent / "object.o").read_bytes(), self.symbol(other)
            tracejit.cache.clear()
            tracejit.grad(square)(X)
        (manifest,) = self.artifacts.glob("*/*/manifest.json")
        text = json.loads(manifest.read_text())
        text["symbol"], text["files"]["object.o"] = symbol, digest(code)
        (manifest.parent / "object.o").write_bytes(code)
        manifest.write_text(json.dumps(text))
        self.slot = manifest.parents[1]
        self.artifact = self.slot / digest(manifest.read_bytes())
        manifest.parent.rename(self.artifact)

    @staticmethod
    def symbol(manifest: Path) -> str:
        return str(json.loads(manifest.read_text())["symbol"])

    def used(self, folder: Path | None = None) -> Any:
        return tracejit.config(cache=True, cache_dir=str(folder or self.cache))

    def slope(self, folder: Path | None = None) -> list[float]:
        """Return the gradient of `square` as a fresh process would compute it."""
        loading._LOADED.clear()
        del self.made[:]
        with self.used(folder):
            return list(tracejit.grad(square)(X))

    def moved(self, path: Path) -> Path:
        """Move a part of the store elsewhere, and leave a link to it."""
        target = self.elsewhere / path.name
        shutil.move(path, target)
        path.symlink_to(target)
        return target


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: Any) -> Planted:
    """Return a store with a program in it that its manifest does not describe."""
    made: list[str] = []
    make = making.make
    monkeypatch.setattr(making, "make", lambda call: made.append(call.function.__name__) or make(
        call))
    monkeypatch.setattr(store, "_WARNED", set())
    return Planted(tmp_path, made)


RIGHT, EVIL = [0.6, 1.0, 1.8], [3.0, 3.0, 3.0]


def give(path: Path, *, deep: bool = False) -> None:
    """Give a file or folder to another user."""
    os.chown(path, OTHER, OTHER, follow_symlinks=False)
    for inside in path.rglob("*") if deep else ():
        os.chown(inside, OTHER, OTHER, follow_symlinks=False)


def of_another(part: str, *, deep: bool = False) -> Callable[[Planted], Any]:
    return lambda p: give(getattr(p, part), deep=deep)


def open_to(part: str, mode: int) -> Callable[[Planted], Any]:
    return lambda p: getattr(p, part).chmod(mode)


def file_of(name: str, what: Callable[[Path], Any]) -> Callable[[Planted], Any]:
    return lambda p: what(p.artifact / name)


def linked(part: str, *, mine: bool = True) -> Callable[[Planted], Any]:
    def plant(p: Planted) -> None:
        path = getattr(p, part)
        p.moved(path)
        if not mine:
            give(path)
    return plant


def linked_file(name: str) -> Callable[[Planted], Any]:
    return lambda p: p.moved(p.artifact / name)


def home(p: Planted) -> Path:
    return p.cache.parent


def piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


LINKS: dict[str, Callable[[Planted], Any]] = {
    "the folder of artifacts is a link": linked("artifacts"),
    "a slot is a link": linked("slot"),
    "an artifact is a link": linked("artifact"),
    "its manifest is a link": linked_file("manifest.json"),
    "its object code is a link": linked_file("object.o"),
    "its object code is a pipe": file_of("object.o", piped),
}
OPEN: dict[str, Callable[[Planted], Any]] = {
    "anybody can write to the folder of artifacts": open_to("artifacts", 0o777),
    "a group can write to the folder of artifacts": open_to("artifacts", 0o770),
    "sticky does not do for the folder of artifacts": open_to("artifacts", 0o1777),
    "anybody can write to a slot": open_to("slot", 0o702),
    "a group can write to a slot": open_to("slot", 0o720),
    "anybody can write to an artifact": open_to("artifact", 0o777),
    "anybody can write to a manifest": file_of("manifest.json", lambda f: f.chmod(0o666)),
    "a group can write to object code": file_of("object.o", lambda f: f.chmod(0o660)),
    "anybody can write to the cache folder": open_to("cache", 0o777),
    "anybody can write above the cache folder": lambda p: home(p).chmod(0o777),
    "a group can write above the cache folder": lambda p: home(p).chmod(0o775),
    "anybody can write far above": lambda p: p.folder.chmod(0o707),
}
FOREIGN: dict[str, Callable[[Planted], Any]] = {
    "all of it is another's": of_another("cache", deep=True),
    "the cache folder is another's": of_another("cache"),
    "the folder above is another's": lambda p: give(home(p)),
    "the folder of artifacts is another's": of_another("artifacts"),
    "a slot is another's": of_another("slot"),
    "an artifact is another's": of_another("artifact"),
    "a manifest is another's": file_of("manifest.json", give),
    "object code is another's": file_of("object.o", give),
    "another's link to a slot": linked("slot", mine=False),
    "another's link to the folder of artifacts": linked("artifacts", mine=False),
    "another's link to the cache folder": linked("cache", mine=False),
}


def test_what_is_planted_would_be_loaded_if_it_were_this_users(planted: Planted) -> None:
    assert planted.slope() == EVIL
    assert planted.made == []


@pytest.mark.parametrize("how", [*LINKS, *OPEN])
def test_what_others_could_have_planted_is_not_loaded(planted: Planted, how: str,
                                                      caplog: Any) -> None:
    ({**LINKS, **OPEN})[how](planted)
    with caplog.at_level(logging.WARNING, "tracejit"):
        for _ in range(2):
            assert planted.slope() == RIGHT
    assert caplog.text or how == "an artifact is a link"  # it is none, and another takes its place


@needs_root
@pytest.mark.parametrize("how", FOREIGN)
def test_what_another_user_owns_is_not_loaded(planted: Planted, how: str, caplog: Any) -> None:
    FOREIGN[how](planted)
    with caplog.at_level(logging.WARNING, "tracejit"):
        for _ in range(2):
            assert planted.slope() == RIGHT
    assert caplog.text


@needs_root
def test_sticky_folders_above_serve_and_what_another_has_put_there_does_not(
        planted: Planted) -> None:
    home(planted).chmod(0o1777)
    assert planted.slope() == EVIL  # this user's own folder, as in /tmp
    give(planted.cache)
    assert planted.slope() == RIGHT


@needs_root
def test_a_link_above_is_followed_if_this_user_or_root_has_made_it(planted: Planted) -> None:
    link = planted.folder / "link"
    link.symlink_to("home/../home")
    assert planted.slope(link / "cache") == EVIL
    give(link)
    assert planted.slope(link / "cache") == RIGHT


def as_user(number: int, what: Callable[[], Any]) -> None:
    """Carry something out as another user, in a child."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)
            what()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


@needs_root
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_user_uses_what_is_roots_and_not_what_a_third_has_planted(planted: Planted,
                                                                    tmp_path: Path) -> None:
    for path in [tmp_path, *tmp_path.parents][:-1]:
        if path != Path("/tmp"):
            path.chmod(0o755)
    for path in [planted.cache.parent, *planted.cache.parent.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)

    def expect(found: list[float]) -> Callable[[], Any]:
        def look() -> None:
            assert planted.slope() == found
        return look

    as_user(4242, expect(EVIL))
    give(planted.cache, deep=True)
    as_user(4242, expect(RIGHT))
    as_user(OTHER, expect(EVIL))


@needs_root
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_group_in_which_a_user_is_alone_may_write_above(tmp_path: Path) -> None:
    """With such groups systems have `umask 002`."""
    users = [u for u in pwd.getpwall() if u.pw_uid and u.pw_uid == u.pw_gid
             and grp.getgrgid(u.pw_gid).gr_name == u.pw_name
             and not grp.getgrgid(u.pw_gid).gr_mem]
    if not users:
        pytest.skip("no user here has a group of the same name")
    number = users[0].pw_uid
    for path in [tmp_path, *tmp_path.parents][:-1]:
        if path != Path("/tmp"):
            path.chmod(0o755)
    above = tmp_path / "project"
    (above / "cache").mkdir(parents=True)
    for path in (above, above / "cache"):
        os.chown(path, number, number)
        path.chmod(0o775)
    as_user(number, lambda: files.Folder.reach(above / "cache").path)
    inside = files.Folder.reach
    for change in (lambda: os.chown(above, number, 4242), lambda: above.chmod(0o777)):
        change()

        def look() -> None:
            with pytest.raises(PermissionError, match="other users can write"):
                inside(above / "cache")

        as_user(number, look)
        os.chown(above, number, number)


# --- nothing is written or deleted elsewhere ------------------------------------------------------


def use_everything(planted: Planted) -> None:
    """Do all that writes to a store, or deletes from it."""
    with planted.used():
        tracejit.grad(square)(X)
        tracejit.grad(lambda x: np.sum(x) * 2.0)(X)
        store.shared_object("thing", lambda: b"")
        emitted.define("x = 1\n", "probe", {})
        tracejit.cache.ls()
        tracejit.cache.info()
        tracejit.cache.verify()
        tracejit.cache.prune()
        with tracejit.config(cache_size=1):
            tracejit.cache.prune()
        tracejit.cache.clear()


def content_of(folder: Path) -> dict[str, Any]:
    return {str(p.relative_to(folder)): (p.lstat().st_mode, p.read_bytes() if p.is_file() else b"")
            for p in folder.rglob("*")}


VICTIMS: dict[str, Callable[[Planted, Path, Path], Any]] = {
    "a slot": lambda p, d, f: (p.artifacts / ("0" * 32)).symlink_to(d),
    "the slot that is asked for": lambda p, d, f: (
        shutil.rmtree(p.slot), p.slot.symlink_to(d)),
    "an artifact": lambda p, d, f: (p.slot / ("0" * 32)).symlink_to(d),
    "a folder in an artifact": lambda p, d, f: (p.artifact / "more").symlink_to(d),
    "an artifact's file": lambda p, d, f: (p.artifact / "more").symlink_to(f),
    "a lock": lambda p, d, f: ((p.slot / "lock").unlink(), (p.slot / "lock").symlink_to(f)),
    "shared": lambda p, d, f: (shutil.rmtree(p.artifacts / "shared", ignore_errors=True),
                               (p.artifacts / "shared").symlink_to(d)),
    "emitted": lambda p, d, f: (shutil.rmtree(p.cache / "emitted"),
                                (p.cache / "emitted").symlink_to(d)),
    "emitted source": lambda p, d, f: (
        p.cache / "emitted" / f"probe_{emitted.digest_of('x = 1' + chr(10))}.py").symlink_to(f),
    "what the store holds": lambda p, d, f: (p.artifacts / "sizes.json").symlink_to(f),
    "the folder of artifacts": lambda p, d, f: (shutil.rmtree(p.artifacts),
                                                p.artifacts.symlink_to(d)),
    "what is being written": lambda p, d, f: (p.slot / f"new-{os.getpid()}-0").symlink_to(d),
    "what was being written": lambda p, d, f: (
        (p.artifacts / "new-1-0").symlink_to(d),
        os.utime(p.artifacts / "new-1-0", (1, 1), follow_symlinks=False)),
}


@pytest.mark.parametrize("mine", [True, False])
@pytest.mark.parametrize("where", VICTIMS)
def test_nothing_is_written_or_deleted_through_a_link(planted: Planted, where: str, mine: bool,
                                                      tmp_path: Path) -> None:
    if not mine and os.geteuid():
        pytest.skip("files of another user can be made by root alone")
    victims = tmp_path / "victims"
    inside = victims / ("f" * 32) / ("e" * 32)
    inside.mkdir(parents=True)
    for path in (victims / "file", inside / "manifest.json", victims / "object.o"):
        path.write_text("a victim's")
    before = content_of(victims)
    VICTIMS[where](planted, victims, victims / "file")
    if not mine:
        for path in planted.cache.rglob("*"):
            if path.is_symlink():
                give(path)
    use_everything(planted)
    assert content_of(victims) == before


def test_a_snapshot_is_not_written_through_a_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("a victim's")
    path = tmp_path / "f.tracejit"
    path.symlink_to(victim)
    for name in (f"f.tracejit.new-{os.getpid()}", f"new-{os.getpid()}"):
        (tmp_path / name).symlink_to(victim)
    compiled = tracejit.grad(square).trace(X).lower().compile()
    compiled.save(path)
    assert victim.read_text() == "a victim's"
    assert list(tracejit.load(path)(X)) == RIGHT


# --- modes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o277])
def test_all_of_a_store_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with tracejit.config(cache=True, cache_dir=str(tmp_path / "a" / "cache")):
            tracejit.grad(square)(X)
            store.shared_object("thing", lambda: b"")
        compiled = tracejit.grad(square).trace(X).lower().compile()
        saved = compiled.save(tmp_path / "f.tracejit")
    finally:
        os.umask(before)
    found = [tmp_path / "a", *(tmp_path / "a").rglob("*")]
    assert len(found) > 10
    for path in found:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode | (0o200 if umask & 0o200 else 0) == (0o700 if path.is_dir() else 0o600)
    assert not saved.stat().st_mode & 0o022


def test_folders_of_an_earlier_version_are_made_private(planted: Planted) -> None:
    for path in (planted.artifacts, planted.slot, planted.cache / "emitted"):
        path.chmod(0o755)
    with planted.used():
        tracejit.grad(lambda x: np.sum(x) * 2.0)(X)
        assert planted.artifacts.stat().st_mode & 0o077 == 0
        assert (planted.cache / "emitted").stat().st_mode & 0o077 == 0


# --- recovery -------------------------------------------------------------------------------------


def folder_in_place(path: Path) -> None:
    path.unlink(missing_ok=True)
    (path / "inside").mkdir(parents=True)


def loop(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(path.name)


def file_in_place(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    path.write_text("")


OBSTACLES: dict[str, Callable[[Planted], Any]] = {
    f"{what} {name}": (lambda p, part=part, how=how: how(part(p)))
    for what, how, parts in (
        ("a folder in place of", folder_in_place, ("lock", "manifest", "object", "sizes")),
        ("a link loop in place of", loop, ("lock", "manifest", "object", "sizes", "artifact",
                                           "slot", "emitted", "shared")),
        ("a file in place of", file_in_place, ("artifact", "slot", "emitted", "shared")))
    for name in parts
    for part in [{
        "lock": lambda p: p.slot / "lock", "manifest": lambda p: p.artifact / "manifest.json",
        "object": lambda p: p.artifact / "object.o", "sizes": lambda p: p.artifacts / "sizes.json",
        "artifact": lambda p: p.artifact, "slot": lambda p: p.slot,
        "emitted": lambda p: p.cache / "emitted",
        "shared": lambda p: p.artifacts / "shared"}[name]]
}


@pytest.mark.parametrize("what", OBSTACLES)
def test_an_obstacle_is_overcome(planted: Planted, what: str) -> None:
    """The program is made, and the next one finds it."""
    with planted.used():
        tracejit.cache.clear()
    assert planted.slope() == RIGHT
    (manifest,) = planted.artifacts.glob("*/*/manifest.json")
    planted.slot, planted.artifact = manifest.parents[1], manifest.parent
    OBSTACLES[what](planted)
    for _ in range(2):
        assert planted.slope() == RIGHT
    assert planted.made == []
    with planted.used():
        assert store.shared_object("thing", lambda: b"") == b""
        assert tracejit.cache.verify() == []
        assert tracejit.cache.info().count == 1
        name, names = emitted.define("x = 1\n", "probe", {})
        assert Path(name).read_text() == "x = 1\n"
        assert names["x"] == 1


@pytest.mark.parametrize("harm", ["", "x = ", "x = 2\n", "x = 1\nimport os\n"])
def test_emitted_source_that_was_altered_is_written_again(tmp_path: Path, harm: str) -> None:
    with tracejit.config(cache=True, cache_dir=str(tmp_path)):
        name, _ = emitted.define("x = 1\n", "probe", {})
        Path(name).write_text(harm)
        again, names = emitted.define("x = 1\n", "probe", {})
    assert (again, names["x"]) == (name, 1)
    assert Path(name).read_text() == "x = 1\n"


def test_emitted_source_alone_does_not_outgrow_the_store(tmp_path: Path) -> None:
    with tracejit.config(cache=True, cache_dir=str(tmp_path), cache_size=10_000):
        for k in range(40):
            emitted.define(f"x = {k}\n" + "# a comment\n" * 100, "probe", {})
        left = sum(p.stat().st_size for p in (tmp_path / "emitted").iterdir())
    assert left < 10_000 + 16 * 1300


def test_what_killed_writers_have_left_goes(planted: Planted) -> None:
    left = [f / name for f in (planted.artifacts, planted.artifacts / "shared", planted.slot,
                               planted.cache / "emitted")
            for name in ("new-999999999-ab", "new-1-ab", "new-odd")]
    for path in left:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.mkdir()
        (path / "object.o").write_text("")
    kept = planted.slot / f"new-{os.getpid()}-cd"
    kept.mkdir()
    old = time.time() - 2 * files.ABANDONED
    for path in left:
        os.utime(path, (old, old))
    with planted.used():
        tracejit.cache.prune()
    assert [p for p in left if p.exists()] == []
    assert kept.exists()


# --- what is off, how much there is, how long it takes --------------------------------------------


OFF = """
import sys
import numpy as np
import tracejit

g = tracejit.grad(lambda x: np.sum(np.sin(x)))
g(np.ones(3))
compiled = g.trace(np.ones(3)).lower().compile()
compiled.asm_with_lines()
str(compiled.llvm)
import linecache
assert linecache.getline(compiled.path, 1), compiled.path
"""


@pytest.mark.parametrize("off", [{"TRACEJIT_CACHE": "0"}, {"TRACEJIT_CACHE_SIZE": "0"}])
def test_where_nothing_is_kept_nothing_is_written(tmp_path: Path, off: dict[str, str]) -> None:
    given = {k: v for k, v in os.environ.items() if k != "TRACEJIT_CACHE"}
    done = subprocess.run(
        [sys.executable, "-c", OFF], capture_output=True, text=True, check=False,
        env={**given, **off, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path),
             "TRACEJIT_CACHE_DIR": str(tmp_path / "cache")})
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "cache").exists()


def test_emitted_source_counts_and_goes_with_the_rest(tmp_path: Path) -> None:
    with tracejit.config(cache=True, cache_dir=str(tmp_path)):
        tracejit.grad(square)(X)
        source = [p for p in (tmp_path / "emitted").iterdir()]
        assert source
        size = sum(p.stat().st_size for p in source)
        programs = sum(e.size for e in tracejit.cache.ls())
        assert tracejit.cache.info().size == size + programs
        with tracejit.config(cache_size=programs):
            assert tracejit.cache.prune() == 0
        assert list((tmp_path / "emitted").iterdir()) == []
        emitted.define("x = 1\n", "probe", {})
        assert tracejit.cache.clear() == 1
        assert not (tmp_path / "emitted").exists()
        assert tracejit.cache.info().size == 0


class Counting:
    """Counts how often the operating system is asked to open, list or stat files."""

    def __init__(self, monkeypatch: Any) -> None:
        self.count = 0
        for name in ("open", "scandir", "stat"):
            monkeypatch.setattr(files.os, name, self._counted(getattr(os, name)))

    def _counted(self, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return function(*args, **kwargs)
        return call

    def of(self, what: Callable[[], Any]) -> int:
        before = self.count
        what()
        return self.count - before


def test_a_hit_takes_no_longer_among_many_programs(planted: Planted, monkeypatch: Any) -> None:
    with planted.used():
        tracejit.cache.clear()
        planted.slope()
        (manifest,) = planted.artifacts.glob("*/*/manifest.json")
        asked = Counting(monkeypatch)
        few = asked.of(planted.slope)
        for k in range(500):
            slot = planted.artifacts / f"{k:032x}"
            slot.mkdir(mode=0o700)
            (slot / manifest.parent.name).mkdir(mode=0o700)
            for path in manifest.parent.iterdir():
                os.link(path, slot / path.parent.name / path.name)
            os.utime(slot, (1, 1))
        assert asked.of(planted.slope) == few
        assert planted.made == []
        first = asked.of(tracejit.cache.info)
        assert asked.of(tracejit.cache.info) < first / 10
        assert tracejit.cache.info().count == 501
        del planted.made[:]
        shutil.rmtree(planted.artifacts / f"{7:032x}" / manifest.parent.name)
        assert tracejit.cache.info().count == 500


def test_a_slot_is_cut_to_the_most_that_it_may_hold(planted: Planted) -> None:
    for k in range(3 * slots.MOST):
        (planted.slot / f"{k:032x}").mkdir(mode=0o700)
        path = planted.slot / f"{k:032x}" / "manifest.json"
        path.write_text("")
        os.utime(path, (k, k))
    assert planted.slope() == EVIL  # the one that was used last
    assert len(list(planted.slot.glob("*/manifest.json"))) <= slots.MOST


def test_who_waits_long_for_another_process_says_so(planted: Planted, monkeypatch: Any,
                                                    caplog: Any) -> None:
    import fcntl

    monkeypatch.setattr(store, "SILENCE", 0.1)
    monkeypatch.setattr(store, "PATIENCE", 0.4)
    with planted.used():
        tracejit.cache.clear()
        planted.slope()
        shutil.rmtree(next(planted.slot.glob("*/manifest.json")).parent)
        with open(planted.slot / "lock") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with caplog.at_level(logging.WARNING, "tracejit"):
                assert planted.slope() == RIGHT
    assert caplog.text.count("waiting for it") == 1


def test_threads_that_save_to_one_path_leave_a_whole_file(tmp_path: Path) -> None:
    compiled = tracejit.grad(square).trace(X).lower().compile()
    path, faults = tmp_path / "f.tracejit", []

    def save() -> None:
        try:
            for _ in range(20):
                compiled.save(path)
        except BaseException as e:
            faults.append(e)

    threads = [threading.Thread(target=save) for _ in range(8)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        if path.exists():
            assert list(tracejit.load(path)(X)) == RIGHT
    assert faults == []
    assert [p.name for p in tmp_path.iterdir()] == ["f.tracejit"]


# --- snapshots ------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a snapshot."""
    folder = tmp_path / "work" / "models"
    folder.mkdir(parents=True, mode=0o755)
    compiled = tracejit.grad(square).trace(X).lower().compile()
    return Path(compiled.save(folder / "f.tracejit"))


SNAPSHOTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "anybody can write to it": (lambda p: p.chmod(0o666), "can write"),
    "a group can write to it": (lambda p: p.chmod(0o664), "can write"),
    "anybody can write to its folder": (lambda p: p.parent.chmod(0o777), "can write"),
    "anybody can write above": (lambda p: p.parents[1].chmod(0o777), "can write"),
    "it is another's": (give, "belongs to another user"),
    "its folder is another's": (lambda p: give(p.parent), "belongs to another user"),
    "a link of another's": (lambda p: (p.rename(p.with_suffix(".real")), p.symlink_to(
        p.with_suffix(".real")), give(p)), "belongs to another user"),
    "a link of this user's to another's": (lambda p: (
        p.rename(p.with_suffix(".real")), p.symlink_to(p.with_suffix(".real")),
        give(p.with_suffix(".real"))), "belongs to another user"),
    "it is a pipe": (piped, "is no file"),
    "it is a folder": (folder_in_place, "is no file"),
}


@needs_root
@pytest.mark.parametrize("what", SNAPSHOTS)
def test_a_snapshot_that_others_could_have_written_is_refused(saved: Path, what: str) -> None:
    plant, text = SNAPSHOTS[what]
    plant(saved)
    with pytest.raises(SnapshotError, match=rf"{text}.*load a copy in a folder of your own"):
        tracejit.load(saved)


@needs_root
def test_a_copy_of_anothers_snapshot_and_own_links_serve(saved: Path, tmp_path: Path) -> None:
    give(saved)
    copy = tmp_path / "copy"
    shutil.copyfile(saved, copy)
    link = tmp_path / "link"
    link.symlink_to("copy")
    for path in (copy, link):
        assert list(tracejit.load(path)(X)) == RIGHT
    with pytest.raises(FileNotFoundError):
        tracejit.load(tmp_path / "none")
    saved.parent.chmod(0o1777)
    os.chown(saved, 0, 0)
    assert list(tracejit.load(saved)(X)) == RIGHT


# --- snapshots that were altered ------------------------------------------------------------------


def honest(path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], Any],
           **options: Any) -> None:
    """Alter a snapshot, and renew the digests that its manifest and its file `digest` hold."""
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(held["manifest.json"])
    change(manifest, held)
    manifest["files"] = {name: digest(data) for name, data in held.items()
                         if name not in ("manifest.json", "digest")}
    held["manifest.json"] = json.dumps(manifest).encode()
    held["digest"] = digest(held["manifest.json"]).encode()
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in held.items():
            archive.writestr(name, data)


def places_in(x: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every part of a manifest."""
    inner = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places_in(value, (*path, key))


OTHERS = [None, 0, -1, 1 << 40, "", "x", [], {}, [0], True, 0.5, "<i8", "leaf0"]
SHIFT = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return a snapshot that reads an array, has an argument of each kind, and can fail."""
    def f(x: Any, k: int, c: float) -> Any:
        if c < 0.0:
            raise ValueError("negative")
        return np.sum((x + SHIFT) ** 2)[None] * k * c, x[0] * c

    compiled = tracejit.jit(f).trace(X, 2, 3.0).lower().compile()
    return Path(compiled.save(tmp_path / "f.tracejit"))


def altered(x: Any, path: tuple[Any, ...], value: Any) -> None:
    for step in path[:-1]:
        x = x[step]
    x[path[-1]] = value


@pytest.mark.parametrize("seed", range(24))
def test_a_manifest_that_was_altered_is_refused_whatever_its_digests_say(kept: Path,
                                                                         seed: int) -> None:
    """TypeErrors got out, and processes died, since the interface was not the code's."""
    data, rng = kept.read_bytes(), random.Random(seed)
    with zipfile.ZipFile(kept) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    places = [p for p in places_in(manifest) if p[0] not in ("environment", "files")]
    for _ in range(20):
        place, value = rng.choice(places), rng.choice(OTHERS)
        before = manifest
        for step in place:
            before = before[step]
        if json.dumps(value) == json.dumps(before):
            continue
        kept.write_bytes(data)
        honest(kept, lambda m, held, place=place, value=value: altered(m, place, value))
        with pytest.raises(SnapshotError, match="cannot be loaded"):
            tracejit.load(kept)


def _other_array(m: Any, held: Any) -> None:
    held["leaf0"] = np.zeros(3).tobytes()


def _longer_array(m: Any, held: Any) -> None:
    held["leaf0"] = np.zeros(300).tobytes()


def _shorter_array(m: Any, held: Any) -> None:
    held["leaf0"], m["leaves"][0][2] = b"", [0]


def _huge_array(m: Any, held: Any) -> None:
    m["leaves"][0][2] = [1 << 50]


def _negative(m: Any, held: Any) -> None:
    m["leaves"][0][2] = [-3, -1]


def _objects(m: Any, held: Any) -> None:
    m["leaves"][0][1] = "|O"


def _other_code(m: Any, held: Any) -> None:
    held["object.o"] = b"\0" * len(held["object.o"])


def _cut_code(m: Any, held: Any) -> None:
    held["object.o"] = held["object.o"][:-100]


def _no_code(m: Any, held: Any) -> None:
    del held["object.o"]


def _no_text(m: Any, held: Any) -> None:
    del held["graph.txt"]


def _one_more(m: Any, held: Any) -> None:
    held["more"] = b"more"


def _no_seal(m: Any, held: Any) -> None:
    del m["seal"]


def _not_text(m: Any, held: Any) -> None:
    held["graph.txt"] = b"\xff\xfe"


@pytest.mark.parametrize("change", [
    _other_array, _longer_array, _shorter_array, _huge_array, _negative, _objects, _other_code,
    _cut_code, _no_code, _no_text, _one_more, _no_seal, _not_text])
def test_files_that_were_altered_are_refused_whatever_their_digests_say(
        kept: Path, change: Callable[[Any, Any], None]) -> None:
    honest(kept, change)
    with pytest.raises(SnapshotError, match="cannot be loaded"):
        tracejit.load(kept)


@pytest.mark.parametrize("packing", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_snapshot_unpacks_to_no_more_than_it_is(kept: Path, packing: int) -> None:
    """0.6 MB gave 1.3 GB."""
    def swell(m: Any, held: Any) -> None:
        held["leaf0"] = bytes(1 << 26)

    honest(kept, swell, compression=packing)
    assert kept.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(SnapshotError, match="something is packed"):
        tracejit.load(kept)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


@pytest.mark.parametrize("content", [b"", b"PK", b"\0" * 100, b"PK\x05\x06" + b"\0" * 18,
                                     b"not a snapshot", bytes(range(256)) * 64])
def test_what_is_no_snapshot_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(SnapshotError, match="cannot be loaded"):
        tracejit.load(tmp_path / "f")
