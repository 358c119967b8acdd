"""`tracejit.sum_over`: a function's results over chunks of its arguments, added up by workers."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from tracejit.configuration import settings
from tracejit.runtime.function import Function
from tracejit.runtime.moving_lines import ProgressLine
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.scale.cutting import Cut, cut, identity_of
from tracejit.scale.engines import engine_for
from tracejit.scale.holders import Answer, Slot, StepRequest
from tracejit.scale.pools import Engine, InMemory
from tracejit.scale.programs import Programs, Shipped, as_function
from tracejit.scale.results import (
    are_finite,
    of_no_rows,
    plain_call,
    require_outside,
    require_sum_of_halves,
    structure_of,
)
from tracejit.scale.trees import TreeSum
from tracejit.transforms.arguments import argument_places
from tracejit.transforms.solvers import hessp
from tracejit.tree import unflatten

__all__ = ["SumOver", "sum_over"]

MOST_PROGRAMS = 64
"""How many programs one step may ask for: more are a fault."""


@hiding_frames
def sum_over(g: Callable[..., object], over: str | int | Sequence[str | int] = ("x", "y"),
             on: object = None, *, rows: int | None = None, progress: bool = False) -> SumOver:
    """Return the sum of a function over chunks of some arguments, which stay with their workers.

    g        -- a function whose results add up over the chunks: numbers, arrays, tuples of them;
                `value_and_grad(f)`, say. Other functions than tracejit's are compiled by `jit`
    over     -- the arguments that are split, by name or place
    on       -- who computes: a `distributed.Client`, `joblib.Parallel`, an executor of
                `concurrent.futures`, or None for this thread
    rows     -- of a chunk of a NumPy array; by default a 64th of its rows, and 4096 at least
    progress -- whether a line on stderr tells steps and chunks

    The result is called as g is, by `scipy.optimize.minimize(total, w, args=(x, y), jac=True)` for
    instance. An argument that is split is a Dask array, whose chunks of rows are computed once and
    stay; a NumPy array, which is cut along its first axis; or a list of chunks: of arrays, futures
    or delayed objects, or of functions without arguments, which make their chunk at every step and
    nothing of it is kept, for more data than there is memory.

    The first call places chunks, and later ones with the same arguments send parameters alone.
    Arrays that were written to meanwhile are sent again; to find that out they are read at every
    step, unless `x.flags.writeable` is false. Programs are compiled here, also again where what
    they read from outside changes, and go to workers as machine code, without Numba.

    Results are added in a fixed tree over the numbers of chunks, so that bits are the same for all
    numbers of workers and orders of completion. The chunks of a lost Dask worker are brought to
    others; what cannot be computed raises, and there is no sum of a part of the chunks.
    `total.hessp(w, p, *rest)` is the product of the Hessian by the first argument with p, where g
    is `value_and_grad(f)`; `total.close()` lets workers forget the chunks.

    Raises `Refusal`, when called, for a construct that cannot be captured: the message names the
    line and a remedy.
    Raises `TypeError` where workers cannot run g: it writes to arguments, reads files, or takes
    texts or objects of a user's class; `ValueError` where arrays were cut and g is found to be no
    sum over rows: of no rows it is not 0, as a mean or a penalty, which each chunk would have, or
    that of the first chunk is not that of its two halves together.

    >>> import numpy as np, tracejit
    >>> def misfit(w, x, y):
    ...     return np.sum((x @ w - y) ** 2)
    >>> total = tracejit.sum_over(tracejit.value_and_grad(misfit), over=("x", "y"), rows=2)
    >>> value, slope = total(np.zeros(1), np.ones((5, 1)), np.arange(5.0))
    >>> print(value, slope)
    30.0 [-20.]
    """
    return SumOver(as_function(g, "sum_over"), over, on, rows=rows, progress=progress)


@dataclass(slots=True)
class _Placed:
    """Chunks that are with an engine, and what they were cut from, which is kept alive."""

    engine: Engine
    arguments: tuple[object, ...]
    identity: object
    cut: Cut
    digests: tuple[object, ...]


class SumOver:
    """A function of parameters and split arguments; see `sum_over`."""

    __wrapped__: Any

    def __init__(self, g: Function, over: str | int | Sequence[str | int], on: object, *,
                 rows: int | None, progress: bool) -> None:
        self.__wrapped__, self._on, self._rows, self._progress = g, on, rows, progress
        self._over = (over,) if isinstance(over, (str, int)) else tuple(over)
        if rows is not None and rows < 1:
            raise ValueError(f"rows= is a number from 1 on, not {rows}")
        self._signature = inspect.signature(g)
        self._names = self._names_of(self._over)
        self._programs = {"value": Programs(g)}
        self._placed: _Placed | None = None
        self._steps, self._checked = 0, set[str]()
        self._parts: dict[str, list[tuple[tuple[int, ...], np.dtype]]] = {}
        """By program, shapes and dtypes of the chunk that it was made for."""
        self._lock = threading.RLock()
        engine_for(on).close()  # a TypeError here and not at the first step
        self._require_other_gradients(g)

    @hiding_frames
    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        """Return the sum of g over the chunks."""
        require_outside("a sum over chunks")
        with self._lock:
            return self._add_up("value", *self._split(args, kwargs))

    @hiding_frames
    def hessp(self, w: object, p: object, /, *args: object, **kwargs: object) -> Any:
        """Return the Hessian of the sum by its first argument, times p."""
        require_outside("a sum over chunks")
        with self._lock:
            if "hessp" not in self._programs:
                self._programs["hessp"] = Programs(self._hessian_product())
            arguments, filled, _ = self._split((w, *args), kwargs)
            return self._add_up("hessp", arguments, (filled[0], p, *filled[1:]), {})

    def close(self) -> None:
        """Let workers forget the chunks; a later call brings them again."""
        with self._lock:
            placed, self._placed = self._placed, None
            if placed is not None:
                placed.engine.close()

    def __reduce__(self) -> Any:
        raise TypeError("a sum over chunks belongs to this process and cannot be pickled. Make it "
                        "where it is called")

    def __repr__(self) -> str:
        return f"<tracejit.sum_over of {self._programs['value'].name} by {', '.join(self._names)}>"

    # --- arguments ------------------------------------------------------------------------------

    def _names_of(self, over: Sequence[str | int]) -> tuple[str, ...]:
        known = list(self._signature.parameters)
        for x in over:
            if (x not in known) if isinstance(x, str) else not -len(known) <= x < len(known):
                raise ValueError(f"over= names {x!r}, and the arguments are {', '.join(known)}")
        names = tuple(x if isinstance(x, str) else known[x] for x in over)
        if not names or len(set(names)) < len(names):
            raise ValueError("over= names arguments, each once")
        return names

    def _require_other_gradients(self, g: Function) -> None:
        """Refuse a gradient by an argument that is split: it has a row per row, and no sum."""
        if g.transform.name not in ("grad", "value_and_grad"):
            return
        names = list(self._signature.parameters)
        by = [names[k] if isinstance(k, int) and k < len(names) else k
              for k in argument_places(g.transform.fn, g.transform.settings[0])]
        split = [name for name in by if name in self._names]
        if split:
            raise ValueError(f"{g!r} differentiates by {', '.join(split)}, which is split: its "
                             "gradient is no sum over chunks. Give the transform argnums=0")

    def _split(self, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[
            tuple[object, ...], tuple[object, ...], dict[str, object]]:
        """Return the arguments that are split, and the call with slots in their places."""
        bound = self._signature.bind(*args, **kwargs)
        missing = [name for name in self._names if name not in bound.arguments]
        if missing:
            raise TypeError(f"{', '.join(missing)} is not given, which is split")
        arguments = tuple(bound.arguments[name] for name in self._names)
        for k, name in enumerate(self._names):
            bound.arguments[name] = Slot(k)
        return arguments, bound.args, bound.kwargs

    def _place(self, arguments: tuple[object, ...]) -> _Placed:
        """Return where chunks are, and bring them there if these are other ones than before."""
        identity = identity_of(arguments)
        placed = self._placed
        if placed is not None and placed.identity == identity and (
                isinstance(placed.engine, InMemory) or placed.digests == placed.cut.digests()):
            return placed
        self.close()
        found, engine = cut(arguments, self._names, self._rows), engine_for(self._on)
        digests = () if isinstance(engine, InMemory) else found.digests()
        engine.place(found.chunks)
        self._placed = _Placed(engine, arguments, identity, found, digests)
        return self._placed

    # --- steps ----------------------------------------------------------------------------------

    def _add_up(self, what: str, arguments: tuple[object, ...], args: tuple[object, ...],
                kwargs: dict[str, object]) -> Any:
        placed, programs = self._place(arguments), self._programs[what]
        args, kwargs = plain_call((args, kwargs))
        self._steps += 1
        for _ in range(MOST_PROGRAMS):
            shipped = programs.current()
            request = StepRequest(len(placed.cut.chunks), programs.name,
                                  tuple(x.name for x in shipped), args, kwargs,
                                  self._threads(placed.engine),
                                  placed.cut.is_by_rows and not self._checked)
            answers = self._answers(placed.engine, request, shipped)
            missing = {n: parts for a in answers for n, parts in a.missing.items()}
            if missing:
                self._make_program(programs, request, min(missing), missing[min(missing)])
                continue
            total = TreeSum(request.count)
            for branch in (b for a in answers for b in a.branches):
                total.add_branch(branch)
            used = [x for x in shipped if any(x.name in a.used for a in answers)]
            if placed.cut.is_by_rows and what == "value":
                self._require_sum_over_rows(used, request, total.total(), answers)
            if settings().debug_nans and not are_finite(total.total()):
                raise FloatingPointError(f"the sum of {programs.name} has a NaN or an infinity")
            return unflatten(structure_of(used), total.total())
        raise RuntimeError(f"{programs.name} needs more than {MOST_PROGRAMS} programs")

    def _make_program(self, programs: Programs, request: StepRequest, number: int,
                      parts: list[tuple[tuple[int, ...], np.dtype]]) -> None:
        """Compile a program for a chunk of which shapes and dtypes are known."""
        try:
            made = programs.make(*request.of_chunk([np.zeros(*part) for part in parts]))
        except Exception as e:
            e.add_note(f"in chunk {number} of {request.count}")
            raise
        self._parts[made.name] = parts

    def _require_sum_over_rows(self, used: Sequence[Shipped], request: StepRequest,
                               total: list[Any], answers: Sequence[Answer]) -> None:
        """Raise `ValueError` where g of no rows is not 0, or halves of a chunk do not add up."""
        for program in used:
            if program.name in self._checked or not are_finite(total):
                continue
            found = of_no_rows(program, self._parts[program.name], request)
            bad = [x for x, y in zip(found, total, strict=False)
                   if np.shape(x) != np.shape(y) or np.any(np.not_equal(x, 0))]
            if bad:
                raise ValueError(
                    f"{request.name} of no rows is {bad[0]}, and not 0: it is no sum over rows. A "
                    "penalty would count once in each chunk: add it to the sum's result. A mean "
                    "is the sum divided by the number of rows")
            for halves in (a.halves for a in answers if a.halves is not None):
                require_sum_of_halves(request.name, *halves)
            self._checked.add(program.name)

    def _answers(self, engine: Engine, request: StepRequest, shipped: Any) -> list[Answer]:
        """Return the answers of all workers; raise the error of the first chunk that has one."""
        answers, done, start = [], 0, perf_counter()
        line = ProgressLine() if self._progress else None
        for answer in engine.step(request, shipped):
            answers.append(answer)
            done += len(answer.numbers)
            if line is not None:
                line.show(f"{request.name}: step {self._steps}, {done} of {request.count} chunks, "
                          f"{perf_counter() - start:.3f} s")
        if line is not None:
            line.close()
        failed = [a.failed for a in answers if a.failed is not None]
        if failed:
            raise min(failed, key=lambda x: x[0])[1]
        return answers

    def _threads(self, engine: Engine) -> Any:
        """Return how many threads a program has where it runs; Dask's workers know it better."""
        given = self.__wrapped__._threads
        here = isinstance(engine, InMemory) and engine.crew is None
        return (settings().threads if given is None else given) if here else 1

    def _hessian_product(self) -> Function:
        transform = self.__wrapped__.transform
        if transform.name != "value_and_grad" or transform.settings[0] not in (0, (0,), None) or (
                transform.settings[1]):
            raise TypeError("hessp needs the sum of value_and_grad(f) by the first argument alone. "
                            "Sum tracejit.hessp(f) over the arguments instead")
        made: Any = hessp(transform.fn, fp=transform.options.fp, threads=transform.options.threads)
        return made  # type: ignore[no-any-return]
