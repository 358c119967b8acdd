"""`tracejit.sweep`: a function at many sets of parameters, in batches, on workers."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from tracejit.configuration import config
from tracejit.runtime.moving_lines import ProgressLine
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.scale.engines import crew_of, is_client
from tracejit.scale.holders import ChunkHolder, Slot, StepRequest, dumps, sendable
from tracejit.scale.pools import ranges
from tracejit.scale.programs import Programs, as_function
from tracejit.scale.results import plain_call, require_outside

__all__ = ["sweep"]

BATCHES = 4
"""How many batches each worker has, so that none waits long for the last one."""
MOST_PROGRAMS = 64
"""How many programs a sweep may ask for: more are a fault."""


@hiding_frames
def sweep(g: Callable[..., object], parameters: Iterable[object], on: object = None, *,
          common: Mapping[str, object] | None = None, progress: bool = False) -> list[Any]:
    """Return the results of a function at many sets of parameters, in their order.

    g          -- a function; other ones than tracejit's are compiled by `jit`
    parameters -- the sets: of each a dict of arguments by name, a tuple of them, or the first one
    on         -- who computes: a `distributed.Client`, `joblib.Parallel`, an executor of
                  `concurrent.futures`, or None for this thread
    common     -- arguments by name that all calls have
    progress   -- whether a line on stderr tells how many are done

    A worker has some batches of sets, and not a task for each. Programs are compiled here and go to
    workers as machine code, without Numba. Each result is that of a call of its own: its bits
    depend neither on batches nor on workers.

    Raises `Refusal` for a construct that cannot be captured: the message names the line and a
    remedy.
    Raises `TypeError` where workers cannot run g, see `sum_over`, or where sets differ in names;
    and the error of the first set with one, with a note of its number.

    >>> import numpy as np, tracejit
    >>> slope = tracejit.grad(lambda k, x: np.sum(np.exp(-k * x)))
    >>> tracejit.sweep(slope, [{"k": 0.0}, {"k": 1.0}], common={"x": np.array([0.0, 1.0])})
    [-1.0, -0.36787944117144233]
    """
    require_outside("a sweep")
    function = as_function(g, "sweep")
    request, members = _bound(function, list(parameters), common or {})
    programs, results, start = Programs(function), dict[int, object](), perf_counter()
    for _ in range(MOST_PROGRAMS):
        left = {k: m for k, m in enumerate(members) if k not in results}
        if not left:
            return [results[k] for k in range(len(members))]
        first = min(left)
        _make_program(programs, request, first, members)
        failed: list[tuple[int, Exception]] = []
        line = ProgressLine() if progress else None
        for answer in _answers(on, request, programs, left):
            results.update(answer.results)
            failed += [] if answer.failed is None else [answer.failed]
            if line is not None:
                line.show(f"{programs.name}: {len(results)} of {len(members)} sets, "
                          f"{perf_counter() - start:.3f} s")
        if line is not None:
            line.close()
        if failed:
            raise min(failed, key=lambda x: x[0])[1]
    raise RuntimeError(f"{programs.name} needs more than {MOST_PROGRAMS} programs")


def _bound(function: Any, parameters: Sequence[Any],
           common: Mapping[str, object]) -> tuple[StepRequest, list[tuple[object, ...]]]:
    """Return the call with slots for what differs, and per set its contents of the slots."""
    signature = inspect.signature(function)
    names: tuple[str, ...] = ()
    members: list[tuple[object, ...]] = []
    args: tuple[object, ...]
    kwargs: dict[str, object]
    request = StepRequest(len(parameters), function.__qualname__, (), (), {}, 1)
    for k, given in enumerate(parameters):
        args, kwargs = ((), given) if isinstance(given, dict) else (
            given if isinstance(given, tuple) else (given,), {})
        both = sorted(set(kwargs) & set(common))
        if both:
            raise TypeError(f"{', '.join(both)} is common, and in set {k} of the parameters too")
        bound = signature.bind(*args, **kwargs, **common)
        own = tuple(name for name in bound.arguments if name not in common)
        if k and own != names:
            raise TypeError(f"set {k} of the parameters has {', '.join(own) or 'nothing'}, and set "
                            f"0 has {', '.join(names) or 'nothing'}")
        names = own
        members.append(plain_call(tuple(bound.arguments[name] for name in names)))
        if not k:
            for place, name in enumerate(names):
                bound.arguments[name] = Slot(place)
            args, kwargs = plain_call((bound.args, bound.kwargs))
            request = replace(request, args=args, kwargs=kwargs)
    return request, members


def _make_program(programs: Programs, request: StepRequest, number: int,
                  members: Sequence[tuple[object, ...]]) -> None:
    try:
        programs.make(*request.of_chunk(members[number]))
    except Exception as e:
        e.add_note(f"in set {number} of {len(members)} of the parameters")
        raise


# --- batches -------------------------------------------------------------------------------------


@dataclass(slots=True)
class BatchAnswer:
    """The results of a batch by number, and the first error; what is in neither has no program."""

    results: dict[int, object] = field(default_factory=dict)
    failed: tuple[int, Exception] | None = None


def run_batch(data: bytes, members: dict[int, tuple[object, ...]]) -> BatchAnswer:
    """Call a function at some sets of parameters, in any process.

    data -- the pickled call without its parameters, and the content of programs by name
    """
    request, programs = pickle.loads(data)
    holder, answer = ChunkHolder(), BatchAnswer()
    for name, content in programs.items():
        holder.take(name, content)
    with config(threads=request.threads):
        for number, parts in members.items():
            try:
                name, result = holder.attempt(tuple(programs), request, parts)
            except Exception as e:
                e.add_note(f"in set {number} of {request.count} of the parameters")
                answer.failed = number, sendable(e)
                return answer
            if name is not None:
                answer.results[number] = result
    return answer


def _answers(on: Any, request: StepRequest, programs: Programs,
             members: dict[int, tuple[object, ...]]) -> Iterator[BatchAnswer]:
    """Yield the answers of batches of all sets, in any order."""
    data = dumps((request, {x.name: x.data for x in programs.current()}))
    numbers = list(members)
    size = sum(on.nthreads().values()) if is_client(on) else 1 if on is None else crew_of(on).size
    batches = [{numbers[k]: members[numbers[k]] for k in part}
               for part in ranges(len(numbers), max(1, min(len(numbers), BATCHES * size)))]
    if is_client(on):
        from distributed import as_completed

        there = on.scatter([data], broadcast=True)[0]
        futures = on.map(run_batch, [there] * len(batches), batches, pure=False)
        for future in as_completed(futures):  # type: ignore[no-untyped-call]
            yield future.result()
    elif on is None:
        yield from (run_batch(data, batch) for batch in batches)
    else:
        yield from crew_of(on).run(run_batch, [(data, batch) for batch in batches])
