"""Compiled programs as files of their own: `compiled.save(path)` and `tracejit.load(path)`.

A snapshot needs no source: the state that the function reads from outside is in it, as it was. It
is an archive in which nothing is packed, so that it takes no more memory than the file is long.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.artifacts.code import Keepable
from tracejit.artifacts.fingerprints import Unstorable
from tracejit.artifacts.loading import load_runner, require_environment, require_portable
from tracejit.artifacts.manifest import InterfaceReader, interface_text
from tracejit.artifacts.places import Missing
from tracejit.artifacts.request import spec_text, structure_of_text, structure_text
from tracejit.errors import SnapshotError, TracejitError
from tracejit.ir.draws import is_generator
from tracejit.program.nested_calls import fast_call
from tracejit.program.specialisation import Specialisation, not_here
from tracejit.signals import keeping_signals
from tracejit.store.digests import digest
from tracejit.store.files import SHOWN, open_parent, read_file
from tracejit.store.symbols import BadObject
from tracejit.trace.state.paths import READING_FAILS, Holder, Leaf
from tracejit.trace.state.paths import Path as StatePath
from tracejit.trace.values.specs import ArgSpec, spec_of_leaf
from tracejit.tree import Structure, flatten_call

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram

__all__ = ["Snapshot", "digest_of_snapshot", "load", "read_snapshot", "save_snapshot",
           "snapshot_of"]


def save_snapshot(compiled: Keepable, path: Path) -> Path:
    """Write a compiled program to a file, whole or not at all."""
    data = snapshot_of(compiled)
    folder, name = open_parent(path)
    folder.replace(name, data, SHOWN)
    return path


def snapshot_of(compiled: Keepable) -> bytes:
    """Return a compiled program as the content of a file."""
    arguments = compiled._arguments
    if arguments is None:
        raise TypeError("a graph that was not traced from a function has no arguments to be called "
                        "with, and cannot be saved")
    specs, structure = arguments
    interface = compiled.interface
    leaves = [s for s in interface.sources if isinstance(s, Leaf)]
    contents = [_present(x, interface.name) for x in leaves]
    changed = next((why for g in interface.guards if (why := g.why_not())), None)
    if changed is not None:
        raise TypeError(f"{interface.name} cannot be saved: it was compiled before a change of "
                        f"what it reads: {changed}. Trace it again")
    try:
        static = [s for s in specs if s.kind == "static"]
        if static:
            raise Unstorable("an argument is neither an array nor a number")
        code, files = compiled._kept_code()
        manifest = {
            **code, "arguments": [spec_text(s) for s in specs],
            "structure": structure_text(structure), "interface": interface_text(interface, leaves),
            "leaves": [_leaf_text(x) for x in contents],
        }
    except Unstorable as e:
        raise TypeError(f"{interface.name} cannot be saved: {e}") from None
    files |= {f"leaf{k}": np.asarray(x).tobytes() for k, x in enumerate(contents)}
    files["graph.txt"] = str(compiled.graph).encode()
    manifest["files"] = {name: digest(data) for name, data in files.items()}
    manifest["seal"] = _seal(manifest, files)
    text = json.dumps(manifest, indent=1, sort_keys=True).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in {**files, "manifest.json": text, "digest": digest(text).encode()}.items():
            archive.writestr(name, data)
    return packed.getvalue()


def digest_of_snapshot(data: bytes) -> str:
    """Return the digest of all that is in the content of a file."""
    return _unpacked(data)["digest"].decode()


def _present(leaf: Leaf, name: str) -> Any:
    """Return the array or number that a program reads from outside, as it is now."""
    try:
        return leaf.read()
    except READING_FAILS:
        raise TypeError(f"{name} cannot be saved: {leaf.path} is of another kind than when it was "
                        "compiled. Trace it again") from None


def _leaf_text(x: object) -> Any:
    """Return the description of an array or number besides its bytes."""
    if is_generator(x):
        raise Unstorable("it draws from a Generator that is no argument, whose state is not the "
                         "file's. Make it an argument")
    held = np.asarray(x)
    if held.dtype.kind not in "biufc":
        raise Unstorable(f"it reads an array of {held.dtype}")
    return [type(x).__name__, held.dtype.str, list(held.shape)]


ABOUT_MAKING = {"environment", "files", "seal"}
"""The parts of a manifest that say how a program was made, or how to read it: they are compared."""


def _seal(manifest: dict[str, Any], files: dict[str, bytes]) -> str:
    """Return a digest of all that a loaded program is made of: its interface and code agree."""
    held = hashlib.blake2b(digest_size=16, person=b"snapshot")
    text = {k: v for k, v in manifest.items() if k not in ABOUT_MAKING}
    held.update(json.dumps(text, sort_keys=True).encode())
    for name in sorted(manifest["files"]):
        held.update(f"\0{name}\0{len(files[name])}\0".encode() + files[name])
    return held.hexdigest()


class Snapshot:
    """A compiled program from a file: call it as the function that it was made of.

    Raises `TypeError` for arguments of other kinds than it was compiled for.
    """

    graph: str
    source: str
    __name__: str

    def __init__(self, specialisation: Specialisation, graph: str, source: str,
                 device: DeviceProgram | None = None) -> None:
        self._specialisation = specialisation
        self.graph, self.source = graph, source
        self._device = device
        self.__name__ = specialisation.interface.name
        self._fast = fast_call(specialisation, not_here) or not_here

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Run the program."""
        result = self._fast(*args, **kwargs)
        if result is NotImplemented:
            result = self.attempt(args, kwargs)
        if result is not NotImplemented:
            return result
        specs, _ = self._specs(flatten_call(args, kwargs)[0])
        if not self._is_for(specs, flatten_call(args, kwargs)[1]):
            raise TypeError(f"{self.__name__} was compiled for "
                            f"({_shown(self._specialisation.specs)}), not for ({_shown(specs)})")
        raise TypeError(f"{self.__name__} was compiled for other sizes: the first line of its "
                        f"graph says which\n{self.graph.splitlines()[0]}")

    def attempt(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Run the program; return `NotImplemented` where it is for other kinds or sizes."""
        leaves, structure = flatten_call(args, kwargs)
        specs, leaves = self._specs(leaves)
        if not self._is_for(specs, structure):
            return NotImplemented
        return self._specialisation.attempt(leaves)

    def _is_for(self, specs: Sequence[ArgSpec], structure: Structure) -> bool:
        """Return whether the program was compiled for arguments of these kinds."""
        held = self._specialisation
        return structure == held.structure and [(s.kind, s.dtype, s.ndim) for s in specs] == [
            (s.kind, s.dtype, s.ndim) for s in held.specs]

    def _specs(self, leaves: list[object]) -> tuple[tuple[ArgSpec, ...], list[Any]]:
        """Return the specs of arguments, and the arguments, arrays of a device in one form."""
        if self._device is None:
            return tuple(map(spec_of_leaf, leaves)), leaves
        from tracejit.program.cuda.arrays import specs_of_arguments

        return specs_of_arguments(leaves)

    @property
    def capability(self) -> tuple[int, int] | None:
        """Return the lowest compute capability that it runs on; None if it runs on the CPU."""
        return None if self._device is None else min(self._device.ptx)

    def ptx(self) -> dict[str, str]:
        """Return the PTX of every kernel; of a program for the CPU there is none."""
        return {} if self._device is None else self._device.ptx[min(self._device.ptx)]

    def __repr__(self) -> str:
        return f"<{self.__name__}, compiled for ({_shown(self._specialisation.specs)})>"


def _shown(specs: Sequence[ArgSpec]) -> str:
    return ", ".join(f"{s.dtype}{[':'] * s.ndim if s.ndim else ''}".replace("'", "")
                     if s.kind in ("array", "scalar") else s.kind for s in specs)


def load(path: str | Path) -> Snapshot:
    """Return a compiled program from a file that `compiled.save` wrote.

    path -- the file; it holds machine code, so load only files that you trust

    It is a snapshot of the function and of its state from outside, and needs neither its
    source nor Numba. Raises `SnapshotError`, a `ValueError`, where the file is damaged, was made by
    other versions or for another processor, or where others than this user and root could have
    written it.

    >>> import os, tempfile, tracejit
    >>> cube = tracejit.jit(lambda x: x * x * x).trace(2.0).lower().compile()
    >>> path = os.path.join(tempfile.mkdtemp(), "cube.tj")
    >>> tracejit.load(cube.save(path))(2.0)
    8.0
    """
    with keeping_signals():
        return _load(Path(path))


def _load(path: Path) -> Snapshot:
    try:
        data = read_file(path)
    except PermissionError as e:
        if e.errno != errno.EPERM:
            raise
        raise SnapshotError(f"{path} cannot be loaded: {e.strerror}. If you trust who wrote it, "
                            "load a copy in a folder of your own") from None
    return read_snapshot(data, str(path))


def read_snapshot(data: bytes, name: str) -> Snapshot:
    """Return the program that the content of a file holds; `name` stands for it in messages."""
    try:
        return _loaded(data)
    except TracejitError:
        raise
    except Exception as e:  # an altered file can lead to any
        text = str(e) if isinstance(e, (BadObject, Missing)) else f"it is damaged ({e!r})"
        raise SnapshotError(
            f"{name} cannot be loaded: {text}. Save it again from the function") from None


def _loaded(data: bytes) -> Snapshot:
    files = _unpacked(data)
    if digest(files["manifest.json"]).encode() != files["digest"]:
        raise BadObject("its manifest is damaged")
    m = json.loads(files["manifest.json"])
    for name, known in m["files"].items():
        if digest(files[name]) != known:
            raise BadObject(f"its {name} is damaged")
    (require_portable if "device" in m else require_environment)(m["environment"])
    _require_sealed(m, files)
    contents = [_content(kind, dtype, shape, files[f"leaf{k}"])
                for k, (kind, dtype, shape) in enumerate(m["leaves"])]
    leaves = [Leaf(StatePath(Holder(x), "constant"), x) for x in contents]
    interface = InterfaceReader(m["interface"], leaves, []).interface()
    runner = load_runner(m, files.__getitem__, interface)
    specs = [ArgSpec(kind, np.dtype(dtype), ndim) for kind, dtype, ndim in m["arguments"]]
    held = Specialisation(interface, runner, specs, structure_of_text(m["structure"]), not_here)
    return Snapshot(held, files["graph.txt"].decode(), files["kernel.py"].decode(),
                    getattr(runner, "program", None))


def _require_sealed(m: dict[str, Any], files: dict[str, bytes]) -> None:
    missing = {name for name, _ in m.get("device", {}).get("kernels", ())} - {
        name.removesuffix(".ptx") for name in files}
    if missing:
        raise BadObject(f"its {min(missing)}.ptx is not there")
    if m["seal"] != _seal(m, files):
        raise BadObject("its parts do not belong together")


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive; `BadObject` where it is damaged in any way."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if any(e.compress_type != zipfile.ZIP_STORED for e in entries):
                raise BadObject("something is packed")
            if sum(e.file_size for e in entries) > len(data):
                raise BadObject("it holds more than it has room for")
            return {e.filename: archive.read(e) for e in entries}
    except Exception as e:  # each way of packing has errors of its own
        raise BadObject(f"the archive is damaged ({e})") from None


def _content(kind: str, dtype: str, shape: list[int], data: bytes) -> Any:
    """Return the state that the function read from outside: an array or a number."""
    held = np.dtype(dtype)
    if held.kind not in "biufc" or math.prod(shape) * held.itemsize != len(data):
        raise BadObject("an array is damaged")
    x = np.frombuffer(data, held).reshape(shape).copy()
    if kind in ("float", "int", "complex"):
        return x.item()
    return x if x.ndim or kind == "ndarray" else x[()]
