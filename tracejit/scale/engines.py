"""The engine for what users pass as `on=`: a Dask client, joblib's Parallel, an executor, None."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from typing import Any

from tracejit.scale.pools import Crew, Engine, InFiles, InMemory

__all__ = ["crew_of", "engine_for", "is_client", "shares_memory"]


def engine_for(on: object) -> Engine:
    """Return a new engine; `TypeError` for what is none."""
    if on is None:
        return InMemory(None)
    if is_client(on):
        from tracejit.scale.cluster import DaskWorkers

        return DaskWorkers(on)
    crew = crew_of(on)
    return InMemory(crew) if shares_memory(on) else InFiles(crew)


def is_client(on: object) -> bool:
    """Return whether something is a client of Dask's."""
    return any(kind.__module__ == "distributed.client" and kind.__name__ == "Client"
               for kind in type(on).__mro__)


def shares_memory(on: Any) -> bool:
    """Return whether the workers of a pool are threads of this process."""
    if isinstance(on, Executor):
        return isinstance(on, ThreadPoolExecutor)
    return bool(getattr(on._backend, "supports_sharedmem", False))


def crew_of(on: Any) -> Crew:
    """Return the workers of an executor or of joblib."""
    if isinstance(on, Executor):
        if type(on).__module__.startswith("distributed."):
            raise TypeError("pass the Client itself, and not its executor")

        def run(f: Any, calls: list[tuple[Any, ...]]) -> Iterator[Any]:
            for future in as_completed([on.submit(f, *call) for call in calls]):
                yield future.result()

        return Crew(run, getattr(on, "_max_workers", None) or os.cpu_count() or 1)
    if any(kind.__module__.startswith("joblib.") and kind.__name__ == "Parallel"
           for kind in type(on).__mro__):
        from joblib import delayed, effective_n_jobs

        return Crew(lambda f, calls: on(delayed(f)(*call) for call in calls),
                    effective_n_jobs(on.n_jobs))
    raise TypeError(f"on= is a Dask Client, joblib's Parallel, an executor or None, not a "
                    f"{type(on).__name__}")
