"""Chunks on the workers of a Dask cluster: an actor on each holds them and computes on them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from typing import Any

from tracejit.scale.actors import HolderOnWorker, keep_on_worker
from tracejit.scale.cutting import DaskBlock
from tracejit.scale.holders import Answer, ChunkMaker, StepRequest, dumps
from tracejit.scale.pools import ranges
from tracejit.scale.programs import Shipped

__all__ = ["DaskWorkers"]

PATIENCE = 30.0
"""For how many seconds a step waits for a worker in the place of a lost one."""
LOOKS = 5.0
"""After how many seconds without an answer the scheduler is asked whether a worker is there."""


MOST_TRIES = 5
"""How often chunks are brought to workers of which one is lost meanwhile."""


class Lost(Exception):
    """A worker that does not answer any more."""


class _Post:
    """A worker as the client knows it: its actor, its chunks, and the programs that it has."""

    def __init__(self, address: str, created: Any) -> None:
        self.address, self.created = address, created
        self.actor = created.result()
        self.numbers: list[int] = []
        self.programs: set[str] = set()


class DaskWorkers:
    """Chunks on the workers of a client's cluster.

    A worker that is lost is made good: its chunks are sent again to others, or made again by Dask,
    and only they are computed again.
    """

    def __init__(self, client: Any) -> None:
        if client.asynchronous:
            raise TypeError("the client is asynchronous, and the sum is waited for. Pass a Client "
                            "without asynchronous=True")
        self.client, self.token = client, secrets.token_hex(8)
        self.posts: dict[str, _Post] = {}
        self.chunks: Sequence[tuple[Any, ...]] = ()

    def place(self, chunks: Sequence[tuple[object, ...]]) -> None:
        """Put the chunks on workers: those that are there already stay where they are."""
        self.chunks = chunks
        self._assign(set())

    def close(self) -> None:
        """Let the actors go, and with them the chunks."""
        self.posts, self.chunks = {}, ()

    # --- steps ----------------------------------------------------------------------------------

    def step(self, request: StepRequest, programs: Sequence[Shipped]) -> Iterator[Answer]:
        """Ask all workers at once, and yield their answers; ask others where one is lost."""
        data, lost = dumps(request), set[str]()
        to_do = set(range(request.count))
        while to_do:
            self._assign(lost)
            asked = [(post, self._ask(post, data, sorted(to_do & set(post.numbers)), programs))
                     for post in self.posts.values() if to_do & set(post.numbers)]
            gone = []
            for post, future in asked:
                try:
                    answer = self._answer(post, future)
                except Lost:
                    gone.append(post)
                    continue
                to_do -= set(answer.numbers)
                yield answer
            for post in gone:
                lost.add(post.address)
                del self.posts[post.address]

    def _ask(self, post: _Post, data: bytes, numbers: list[int],
             programs: Sequence[Shipped]) -> Any:
        """Return the future of a worker's answer; None if it is known to be lost."""
        new = {p.name: p.data for p in programs if p.name not in post.programs}
        post.programs |= set(new)
        try:
            return post.actor.step(data, numbers, new)
        except Exception:  # whatever Dask raises for an actor that is not there
            return None

    def _answer(self, post: _Post, future: Any) -> Any:
        """Wait for an actor; `Lost` where its worker has ended.

        Errors of the user's function are part of answers: what is raised here, Dask raises.
        """
        if future is None:
            raise Lost(post.address)
        while True:
            try:
                return future.result(timeout=LOOKS)
            except TimeoutError:
                if post.address not in self.client.nthreads():
                    raise Lost(post.address) from None
            except Exception as e:
                if isinstance(e, OSError) or self._is_gone(post.address):
                    raise Lost(post.address) from e
                raise

    def _is_gone(self, address: str) -> bool:
        """Return whether a worker is not there, or will not be in a second."""
        ends = time.monotonic() + 1.0
        while address in self.client.nthreads():
            if time.monotonic() > ends:
                return False
            time.sleep(0.05)
        return True

    # --- who has which chunks -------------------------------------------------------------------

    def _assign(self, lost: set[str]) -> None:
        """Bring chunks that nobody has to workers that are there; `RuntimeError` if that fails."""
        for _ in range(MOST_TRIES):
            held = {n for post in self.posts.values() for n in post.numbers}
            left = [n for n in range(len(self.chunks)) if n not in held]
            if not left:
                return
            try:
                self._bring(left, self._addresses(lost))
            except Lost as e:
                lost.add(str(e))
                self.posts.pop(str(e), None)
        raise RuntimeError("workers are lost faster than chunks can be brought to others")

    def _addresses(self, lost: set[str]) -> list[str]:
        """Return the workers that are there, and wait for some where there are none."""
        ends = time.monotonic() + PATIENCE
        while True:
            found = sorted(set(self.client.nthreads()) - lost)
            if found:
                return found
            if time.monotonic() > ends:
                raise RuntimeError("the cluster has no workers" + (
                    f" besides the lost ones, {', '.join(sorted(lost))}" if lost else ""))
            time.sleep(0.1)

    def _bring(self, numbers: list[int], addresses: list[str]) -> None:
        there = [n for n in numbers if any(map(_is_with_dask, self.chunks[n]))]
        if there:
            self._bring_from_dask(there, addresses)
        numbers = [n for n in numbers if n not in set(there)]
        pending: list[tuple[_Post, int, Any]] = []
        for address, n in _by_turns(numbers, addresses):
            post = self._post(address)
            chunk = tuple(ChunkMaker(x) if _is_recipe(x) else x for x in self.chunks[n])
            try:
                pending.append((post, n, post.actor.put(n, chunk)))
            except Exception:
                raise Lost(address) from None
            if len(pending) > 2 * len(addresses):
                self._put(*pending.pop(0))
        for each in pending:
            self._put(*each)

    def _put(self, post: _Post, number: int, future: Any) -> None:
        why = self._answer(post, future)
        if why:
            raise TypeError(f"chunk {number} cannot be kept on a worker: {why}")
        post.numbers.append(number)

    def _post(self, address: str) -> _Post:
        """Return the actor's post on a worker, made if it is not there."""
        if address not in self.posts:
            created = self.client.submit(HolderOnWorker, self.token, actor=True, pure=False,
                                         workers=[address], allow_other_workers=False)
            try:
                self.posts[address] = _Post(address, created)
            except Exception as e:
                if self._is_gone(address):
                    raise Lost(address) from e
                raise
        return self.posts[address]

    def _bring_from_dask(self, numbers: list[int], addresses: list[str]) -> None:
        """Let Dask compute chunks, or leave them where they are, and give them to the actors."""
        held: dict[int, list[Any]] = {}
        for address, piece in zip(addresses, ranges(len(numbers), len(addresses)), strict=False):
            names = [numbers[k] for k in piece]
            parts = [x.delayed if isinstance(x, DaskBlock) else x
                     for n in names for x in self.chunks[n]]
            futures = iter(_as_futures(self.client, parts, address))
            for n in names:
                held[n] = [next(futures) for _ in self.chunks[n]]
        from distributed import wait

        flat = [f for parts in held.values() for f in parts if _is_future(f)]
        wait(flat)  # type: ignore[no-untyped-call]
        where = self.client.who_has(flat)
        tasks = []
        for k, n in enumerate(numbers):
            first = next(f for f in held[n] if _is_future(f))
            homes = sorted(set(where.get(first.key, ())) & set(addresses))
            goal = homes[0] if homes else addresses[k * len(addresses) // len(numbers)]
            self._post(goal)
            tasks.append((n, goal, self.client.submit(
                keep_on_worker, self.token, n, *held[n], workers=[goal], pure=False,
                allow_other_workers=False)))
        for n, goal, task in tasks:
            self._wait_for(task, n, goal)
            self.posts[goal].numbers.append(n)

    def _wait_for(self, task: Any, number: int, goal: str) -> None:
        while True:
            try:
                task.result(timeout=LOOKS)
                return
            except TimeoutError:
                if goal not in self.client.nthreads():
                    raise Lost(goal) from None
            except Exception as e:
                if self._is_gone(goal):
                    raise Lost(goal) from e
                e.add_note(f"while chunk {number} was computed or brought to a worker")
                raise


def _by_turns(numbers: Sequence[int], addresses: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield workers with chunks: a stretch of numbers is for one worker, and they take turns."""
    pieces = ranges(len(numbers), len(addresses))
    for k in range(max(map(len, pieces), default=0)):
        for address, piece in zip(addresses, pieces, strict=False):
            if k < len(piece):
                yield address, numbers[piece[k]]


def _is_future(x: object) -> bool:
    return type(x).__module__.startswith("distributed") and hasattr(x, "key")


def _is_with_dask(x: object) -> bool:
    return isinstance(x, DaskBlock) or _is_future(x) or hasattr(x, "__dask_graph__")


def _is_recipe(x: object) -> bool:
    return callable(x) and not hasattr(x, "__array__")


def _as_futures(client: Any, parts: Sequence[Any], address: str) -> list[Any]:
    """Return futures in the places of delayed objects, computed near a worker in one go."""
    lazy = [x for x in parts if not _is_future(x) and hasattr(x, "__dask_graph__")]
    made = iter(client.compute(lazy, workers=[address], allow_other_workers=True) if lazy else ())
    return [next(made) if not _is_future(x) and hasattr(x, "__dask_graph__") else
            ChunkMaker(x) if _is_recipe(x) else x for x in parts]
