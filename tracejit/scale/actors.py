"""The workers' side of a Dask cluster: an actor that holds chunks, and what tasks give to it."""

from __future__ import annotations

import pickle
import weakref
from dataclasses import replace

from tracejit.scale.holders import Answer, Chunk, ChunkHolder, StepRequest

__all__ = ["HolderOnWorker", "keep_on_worker"]

_ON_WORKERS: weakref.WeakValueDictionary[tuple[str, str], HolderOnWorker] = (
    weakref.WeakValueDictionary())
"""By a placement's token and a worker's address, the actor there."""


class HolderOnWorker:
    """The actor of one placement on one worker."""

    def __init__(self, token: str) -> None:
        from distributed import get_worker

        worker = get_worker()
        self.holder = ChunkHolder()
        self.threads = worker.state.nthreads
        _ON_WORKERS[token, worker.address] = self

    def put(self, number: int, chunk: Chunk) -> str:
        """Keep a chunk; return an error as text."""
        try:
            self.holder.put(number, chunk)
        except Exception as e:
            return f"{type(e).__name__}: {e}"
        return ""

    def step(self, data: bytes, numbers: list[int], programs: dict[str, bytes]) -> Answer:
        """Carry out a step on chunks that are here."""
        try:
            request: StepRequest = pickle.loads(data)
            for name, content in programs.items():
                self.holder.take(name, content)
        except Exception as e:
            return Answer(tuple(numbers), failed=(numbers[0], RuntimeError(
                f"the step cannot be read on a worker: {type(e).__name__}: {e}")))
        return self.holder.step(replace(request, threads=self.threads), numbers)


def keep_on_worker(token: str, number: int, *parts: object) -> None:
    """Give parts of a chunk, which a task has as arguments, to the actor beside it."""
    from distributed import get_worker

    _ON_WORKERS[token, get_worker().address].holder.put(number, parts)
