"""The workers' side: chunks that stay in a process, and the programs that are run on them."""

from __future__ import annotations

import contextlib
import ctypes
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracejit.artifacts.snapshots import Snapshot, read_snapshot
from tracejit.configuration import Threads, config
from tracejit.scale.trees import Branch, TreeSum, require_numbers
from tracejit.trace.values.specs import spec_of_leaf
from tracejit.transforms.pickling import find_cloudpickle
from tracejit.tree import flatten

__all__ = ["Answer", "Chunk", "ChunkHolder", "ChunkMaker", "Slot", "StepRequest", "dumps",
           "in_plain_form", "one_thread_of_blas", "sendable"]

_LOADING = threading.Lock()
"""Held while machine code is loaded: several workers may be threads of one process."""

Chunk = tuple[object, ...]
"""Per argument that is split: an array, or a `ChunkMaker` of one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a chunk's k-th part among the arguments of a call."""

    k: int


class ChunkMaker:
    """A function without arguments that makes a part of a chunk, at every step anew."""

    def __init__(self, function: Callable[[], object]) -> None:
        self.make = function

    def __reduce__(self) -> Any:
        return _recipe_again, (dumps(self.make),)


def _recipe_again(pickled: bytes) -> ChunkMaker:
    return ChunkMaker(pickle.loads(pickled))


def dumps(x: object) -> bytes:
    """Return something pickled, functions and classes of scripts by value where that can be."""
    by_value = find_cloudpickle() or pickle
    text: bytes = by_value.dumps(x)
    return text


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One step: a call without its chunks.

    count    -- how many chunks there are on all workers together
    name     -- the function's, for messages
    programs -- the names of the programs to try, in order
    halved   -- whether the holder of chunk 0 also computes on its halves
    """

    count: int
    name: str
    programs: tuple[str, ...]
    args: tuple[object, ...]
    kwargs: dict[str, object]
    threads: Threads = None
    halved: bool = False

    def of_chunk(self, parts: Sequence[object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return the arguments of the call for a chunk."""
        def put(x: object) -> object:
            return parts[x.k] if isinstance(x, Slot) else x

        return tuple(map(put, self.args)), {name: put(x) for name, x in self.kwargs.items()}


@dataclass(slots=True)
class Answer:
    """The sums of some chunks, or why there are none.

    used    -- the names of the programs that computed them
    missing -- shapes and dtypes of the parts of chunks, by number, for which no program was right
    failed  -- the number of the first chunk with an error, and the error
    halves  -- if asked for, the first leaves of the results of chunk 0 and of its halves, and the
               largest of its numbers
    """

    numbers: tuple[int, ...]
    branches: list[Branch] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    missing: dict[int, list[tuple[tuple[int, ...], np.dtype]]] = field(default_factory=dict)
    failed: tuple[int, Exception] | None = None
    halves: tuple[Any, ...] | None = None


def in_plain_form(x: object, what: str) -> np.ndarray:
    """Return an array as a contiguous one of its own class, dtype and shape, or itself.

    Raises `Refusal` for an array of another library, `TypeError` for what is no array.
    """
    spec = spec_of_leaf(x, what)
    if spec.kind != "array":
        raise TypeError(f"{what} is a {type(x).__name__}; a chunk is a NumPy array")
    return np.asarray(x, spec.dtype, order="C")


class ChunkHolder:
    """Chunks and programs in one process."""

    def __init__(self) -> None:
        self.chunks: dict[int, Chunk] = {}
        self.programs: dict[str, Snapshot] = {}

    def put(self, number: int, chunk: Chunk) -> None:
        """Keep a chunk, whose arrays nobody else writes to."""
        self.chunks[number] = tuple(
            x if isinstance(x, ChunkMaker) else in_plain_form(x, f"chunk {number}") for x in chunk)

    def take(self, name: str, data: bytes) -> None:
        """Keep a program."""
        with _LOADING:
            if name not in self.programs:
                self.programs[name] = read_snapshot(data, "the program that came with a step")

    def step(self, request: StepRequest, numbers: Sequence[int]) -> Answer:
        """Return the sums of some chunks, added in the order of the tree."""
        answer, total = Answer(tuple(numbers)), TreeSum(request.count)
        with config(threads=request.threads):
            for number in sorted(numbers):
                try:
                    found = self._of_chunk(request, number, answer)
                    if found is not None and not answer.missing:
                        total.add(number, found)
                except Exception as e:
                    e.add_note(f"in chunk {number} of {request.count}")
                    answer.failed = number, sendable(e)
                    return answer
            if request.halved and 0 in numbers and not answer.missing:
                answer.halves = self._halves(request)
        answer.branches = [] if answer.missing else list(total.branches())
        return answer

    def _halves(self, request: StepRequest) -> tuple[Any, ...] | None:
        """Return what `Answer.halves` says; None where halves cannot be computed."""
        parts: list[Any] = [in_plain_form(x.make() if isinstance(x, ChunkMaker) else x, "chunk 0")
                            for x in self.chunks[0]]
        half = min(map(len, parts)) // 2
        if not half:
            return None
        found = []
        for rows in (slice(None), slice(half), slice(half, None)):
            try:
                name, result = self.attempt(request.programs, request, [x[rows] for x in parts])
            except Exception:  # the user's: the whole chunk has been computed
                return None
            leaves = flatten(result)[0]
            if name is None or not leaves:
                return None
            found.append(leaves[0])
        return *found, max(float(np.max(np.abs(x), initial=0.0)) for x in parts)

    def _of_chunk(self, request: StepRequest, number: int, answer: Answer) -> list[Any] | None:
        """Return a chunk's result; None where no program is right, which the answer notes."""
        parts = [in_plain_form(x.make() if isinstance(x, ChunkMaker) else x, f"chunk {number}")
                 for x in self.chunks[number]]
        name, result = self.attempt(request.programs, request, parts)
        if name is None:
            answer.missing[number] = [(np.shape(x), np.asarray(x).dtype) for x in parts]
            return None
        leaves = flatten(result)[0]
        require_numbers(leaves, request.name)
        answer.used.add(name)
        return leaves

    def attempt(self, programs: Sequence[str], request: StepRequest,
                parts: Sequence[object]) -> tuple[str | None, object]:
        """Return the name of the first program that is right for a call, and the result."""
        args, kwargs = request.of_chunk(parts)
        for name in programs:
            result = self.programs[name].attempt(args, kwargs)
            if result is not NotImplemented:
                return name, result
        return None, None


def sendable(e: Exception) -> Exception:
    """Return an error in a form that gets to another process, with its notes."""
    try:
        again = pickle.loads(pickle.dumps(e))
        if type(again) is type(e):
            return e
    except Exception:  # of a class that cannot be pickled, whatever it raises for that
        pass
    made = RuntimeError(f"{type(e).__name__}: {e}")
    made.__notes__ = list(getattr(e, "__notes__", ()))
    return made


@contextlib.contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Keep NumPy's OpenBLAS to one thread within a block, as other workers have the cores."""
    from tracejit.codegen.libraries import threads_of_blas

    found = threads_of_blas()
    if found is None:
        yield
        return
    get = ctypes.CFUNCTYPE(ctypes.c_int)(found[0])
    put = ctypes.CFUNCTYPE(None, ctypes.c_int)(found[1])
    before = get()
    put(1)
    try:
        yield
    finally:
        put(before)
