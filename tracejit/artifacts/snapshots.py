"""Compiled programs as files of their own: `compiled.save(path)` and `tracejit.load(path)`.

A snapshot needs no source: what the function reads from outside is in it, as it was.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.artifacts.code import code_of
from tracejit.artifacts.fingerprints import Unstorable, digest
from tracejit.artifacts.loading import load_runner, require_environment, require_portable
from tracejit.artifacts.manifest import InterfaceReader, interface_text
from tracejit.artifacts.places import Missing
from tracejit.artifacts.request import spec_text, structure_of_text, structure_text
from tracejit.artifacts.symbols import BadObject
from tracejit.errors import SnapshotError
from tracejit.runtime.specialisation import Specialisation, not_here
from tracejit.trace.paths import Holder, Leaf
from tracejit.trace.paths import Path as StatePath
from tracejit.trace.specs import ArgSpec, spec_of_leaf
from tracejit.tree import flatten

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram
    from tracejit.runtime.cuda.stages import DeviceCompiled
    from tracejit.runtime.stages import Compiled

__all__ = ["Snapshot", "load", "save_snapshot"]


def save_snapshot(compiled: Compiled | DeviceCompiled, path: Path) -> Path:
    """Write a compiled program to a file, whole or not at all."""
    arguments = compiled.lowered.traced.arguments
    if arguments is None:
        raise TypeError("a graph that was not traced from a function has no arguments to be called "
                        "with, and cannot be saved")
    specs, structure = arguments
    interface = compiled.interface
    leaves = [s for s in interface.sources if isinstance(s, Leaf)]
    contents = io.BytesIO()
    np.savez(contents, *[x.path.read() for x in leaves])  # arrays alone, never pickled objects
    try:
        static = [s for s in specs if s.kind == "static"]
        if static:
            raise Unstorable("an argument is neither an array nor a number")
        code, files = code_of(compiled)
        manifest = {
            **code, "arguments": [spec_text(s) for s in specs],
            "structure": structure_text(structure), "interface": interface_text(interface, leaves),
            "kinds": [type(x.path.read()).__name__ for x in leaves],
        }
    except Unstorable as e:
        raise TypeError(f"{interface.name} cannot be saved: {e}") from None
    files |= {"leaves.npz": contents.getvalue(), "graph.txt": str(compiled.graph).encode()}
    manifest["files"] = {name: digest(data) for name, data in files.items()}
    text = json.dumps(manifest, indent=1, sort_keys=True).encode()
    new = path.with_name(f"{path.name}.new-{os.getpid()}")
    with zipfile.ZipFile(new, "w") as archive:
        for name, data in {**files, "manifest.json": text, "digest": digest(text).encode()}.items():
            archive.writestr(name, data)
    os.replace(new, path)
    return path


class Snapshot:
    """A compiled program from a file: call it as the function that it was made of.

    Raises `TypeError` for arguments of other kinds than those that it was compiled for.
    """

    def __init__(self, specialisation: Specialisation, graph: str, source: str,
                 device: DeviceProgram | None = None) -> None:
        self._specialisation = specialisation
        self.graph, self.source = graph, source
        self._device = device
        self.__name__ = specialisation.interface.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program."""
        leaves, structure = flatten((args, kwargs))
        held = self._specialisation
        specs, leaves = self._specs(leaves)
        found = [(s.kind, s.dtype, s.ndim) for s in specs]
        if structure != held.structure or found != [(s.kind, s.dtype, s.ndim) for s in held.specs]:
            raise TypeError(f"{self.__name__} was compiled for ({_shown(held.specs)}), not for "
                            f"({_shown(specs)})")
        result = held.attempt(leaves)
        if result is NotImplemented:
            raise TypeError(f"{self.__name__} was compiled for other sizes: the first line of its "
                            f"graph says which\n{self.graph.splitlines()[0]}")
        return result

    def _specs(self, leaves: list[Any]) -> tuple[tuple[ArgSpec, ...], list[Any]]:
        """Return the specs of arguments, and these, what lies on a device in one form."""
        if self._device is None:
            return tuple(map(spec_of_leaf, leaves)), leaves
        from tracejit.runtime.cuda.arrays import specs_of_arguments

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

    It is a snapshot of the function and of what that read from outside, and needs neither its
    source nor Numba. Raises `SnapshotError`, a `ValueError`, where the file is damaged, or was
    made by other versions or for another processor.
    """
    data = Path(path).read_bytes()
    try:
        files = _unpacked(data)
        if digest(files["manifest.json"]).encode() != files["digest"]:
            raise BadObject("its manifest is damaged")
        m = json.loads(files["manifest.json"])
        for name, known in m["files"].items():
            if digest(files[name]) != known:
                raise BadObject(f"its {name} is damaged")
        (require_portable if "device" in m else require_environment)(m["environment"])
        with np.load(io.BytesIO(files["leaves.npz"]), allow_pickle=False) as arrays:
            contents = [_as_kind(arrays[f"arr_{k}"], kind) for k, kind in enumerate(m["kinds"])]
        leaves = [Leaf(StatePath(Holder(x), "constant"), x) for x in contents]
        interface = InterfaceReader(m["interface"], leaves, []).interface()
        runner = load_runner(m, files.__getitem__, interface)
        specs = [ArgSpec(kind, np.dtype(dtype), ndim) for kind, dtype, ndim in m["arguments"]]
        structure = structure_of_text(m["structure"])
    except (BadObject, Missing, KeyError, ValueError, EOFError) as e:
        raise SnapshotError(
            f"{path} cannot be loaded: {e}. Save it again from the function") from None
    held = Specialisation(interface, runner, specs, structure, not_here)
    return Snapshot(held, files["graph.txt"].decode(), files["kernel.py"].decode(),
                    getattr(runner, "program", None))


def _unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive; `BadObject` where it is damaged, whatever that looks like."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception as e:  # each way of packing has errors of its own
        raise BadObject(f"the archive is damaged ({e})") from None


def _as_kind(x: np.ndarray, kind: str) -> Any:
    if kind in ("float", "int", "complex"):
        return x.item()
    return x if x.ndim or kind == "ndarray" else x[()]
