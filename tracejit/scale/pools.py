"""Chunks in this process's memory, and chunks in files that the processes of a pool map."""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tracejit.configuration import config
from tracejit.scale.cutting import DaskBlock
from tracejit.scale.holders import (
    Answer,
    ChunkHolder,
    ChunkMaker,
    StepRequest,
    dumps,
    in_plain_form,
    one_thread_of_blas,
)
from tracejit.scale.programs import Shipped

__all__ = ["Crew", "Engine", "InFiles", "InMemory", "Runner", "array_of", "ranges"]

Runner = Callable[[Callable[..., Any], list[tuple[Any, ...]]], Iterable[Any]]
"""What calls a function on several tuples of arguments, and yields the results in any order."""


class Engine(Protocol):
    """Where chunks are, and who computes on them."""

    def place(self, chunks: Sequence[tuple[object, ...]]) -> None:
        """Bring chunks to where they stay."""

    def step(self, request: StepRequest, programs: Sequence[Shipped]) -> Iterator[Answer]:
        """Yield answers that are about each chunk once."""

    def close(self) -> None:
        """Let go of the chunks."""


class Crew:
    """Workers of a pool without places of their own.

    run     -- calls a function on several tuples of arguments
    size    -- how many calls it carries out at once
    """

    def __init__(self, run: Runner, size: int) -> None:
        self.run, self.size = run, size


def array_of(x: Any, what: str) -> Any:
    """Return a part of a chunk as an array here; a function that makes arrays as a `ChunkMaker`."""
    if isinstance(x, DaskBlock):
        x = x.delayed.compute()
    elif callable(getattr(x, "compute", None)) and hasattr(x, "__dask_graph__"):
        x = x.compute()
    elif callable(getattr(x, "result", None)):
        x = x.result()
    elif callable(x) and not hasattr(x, "__array__"):
        return ChunkMaker(x)
    if isinstance(x, np.ndarray):
        return x
    return in_plain_form(x, what)  # which raises


def ranges(count: int, parts: int) -> list[range]:
    """Return the numbers from 0 to count - 1 in stretches of about one length."""
    ends = [count * k // parts for k in range(parts + 1)]
    return [range(a, b) for a, b in pairwise(ends) if a < b]


class InMemory:
    """Chunks where they are: workers are threads of this process, or the calling one alone."""

    def __init__(self, crew: Crew | None) -> None:
        self.crew, self.holder = crew, ChunkHolder()

    def place(self, chunks: Sequence[tuple[object, ...]]) -> None:
        """Keep the arrays themselves: what is written to them later is seen."""
        self.holder.chunks = {k: tuple(array_of(x, f"chunk {k}") for x in chunk)
                              for k, chunk in enumerate(chunks)}

    def step(self, request: StepRequest, programs: Sequence[Shipped]) -> Iterator[Answer]:
        """Compute in this thread, or in those of the crew."""
        for program in programs:
            self.holder.take(program.name, program.data)
        if self.crew is None:
            yield self.holder.step(request, range(request.count))
        else:
            yield from self.crew.run(self.holder.step, [
                (request, part) for part in ranges(request.count, self.crew.size)])

    def close(self) -> None:
        """Let go of the chunks."""
        self.holder.chunks = {}


# --- processes of a pool -------------------------------------------------------------------------


class InFiles:
    """Chunks in files of a temporary folder, which processes of this machine map into memory."""

    def __init__(self, crew: Crew) -> None:
        self.crew, self.folder, self._sent = crew, "", set[str]()
        self._remove: Callable[[], object] = lambda: None

    def place(self, chunks: Sequence[tuple[object, ...]]) -> None:
        """Write the chunks, one after another."""
        self.folder = tempfile.mkdtemp(prefix="tracejit-")
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        for number, chunk in enumerate(chunks):
            for k, part in enumerate(chunk):
                _write(Path(self.folder, f"{number}-{k}"), array_of(part, f"chunk {number}"))
        Path(self.folder, "parts").write_text(str(len(chunks[0])))

    def step(self, request: StepRequest, programs: Sequence[Shipped]) -> Iterator[Answer]:
        """Give each process a stretch of chunks."""
        for program in programs:
            if program.name not in self._sent:
                Path(self.folder, program.name).write_bytes(program.data)
                self._sent.add(program.name)
        data = dumps(request)
        yield from self.crew.run(step_in_files, [
            (self.folder, data, part) for part in ranges(request.count, self.crew.size)])

    def close(self) -> None:
        """Remove the files."""
        self._remove()


def _write(path: Path, x: Any) -> None:
    if isinstance(x, ChunkMaker):
        path.with_suffix(".recipe").write_bytes(pickle.dumps(x))
    else:
        np.save(path.with_suffix(".npy"), in_plain_form(x, "a chunk"), allow_pickle=False)


_HOLDERS: dict[str, ChunkHolder] = {}
"""In a process of a pool, by folder, the programs and the maps of chunks."""


def step_in_files(folder: str, data: bytes, numbers: Sequence[int]) -> Answer:
    """Carry out a step on chunks in files, in a process of a pool."""
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{folder} is not there: the pool's processes are on another "
                                "machine, or the sum is closed. Pass on= a Dask client, or split "
                                "the work by hand as docs/scale.md shows")
    for old in [name for name in _HOLDERS if not os.path.isdir(name)]:
        del _HOLDERS[old]
    holder = _HOLDERS.setdefault(folder, ChunkHolder())
    request: StepRequest = pickle.loads(data)
    parts = int(Path(folder, "parts").read_text())
    for name in request.programs:
        if name not in holder.programs:
            holder.take(name, Path(folder, name).read_bytes())
    for number in numbers:
        if number not in holder.chunks:
            holder.put(number, tuple(_read(Path(folder, f"{number}-{k}")) for k in range(parts)))
    with one_thread_of_blas(), config(threads=request.threads):
        return holder.step(request, numbers)


def _read(path: Path) -> Any:
    recipe, array = path.with_suffix(".recipe"), path.with_suffix(".npy")
    if recipe.exists():
        return pickle.loads(recipe.read_bytes())
    found = np.load(array, mmap_mode="r") if array.stat().st_size > 1 << 16 else np.load(array)
    return found
