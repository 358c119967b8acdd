"""`tracejit.profile`: where the time of a call goes, beside the limits of the machine.

The program is compiled again with clocks between its steps (`instrument.py`). A first variant,
which also counts how often each loop runs, says which steps are long enough for the clock; a second
one has clocks around these only, and is measured. Both compute the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from tracejit.configuration import config
from tracejit.inspection.profiles.instrumented import LEAST, Instrumented, copied
from tracejit.inspection.profiles.limits import machine_limits
from tracejit.inspection.profiles.origins import Origins
from tracejit.inspection.profiles.profile import Profile
from tracejit.ir.draws import is_generator
from tracejit.runtime.function import Function
from tracejit.runtime.ticks import LOCK, clear_ticks, read_ticks
from tracejit.tree import flatten

__all__ = ["profile"]

def profile(function: Callable[..., object], /, *args: object, seconds: float = 0.5,
            **kwargs: object) -> Profile:
    """Measure where the time of a call goes: loop nest by loop nest, with GB/s and GFLOP/s.

    function -- a transformed function: `tracejit.grad(f)`, `tracejit.jit(f)`, ...
    args, kwargs -- the arguments of the call; arrays that it writes to are copied before, and
                variables that it assigns to are given back their values
    seconds  -- about how long to measure; it takes three compilations besides

    The result prints as a table, and shows as one in a notebook. Of each loop nest it has the
    user's lines, the time, and, from the bounds of the loops, flops and bytes:

    - flops are `+ - * /`, negations and comparisons of floats, two for a multiplication and an
      addition; calls such as `exp` are counted by themselves and are no flops;
    - bytes count the distinct elements of arrays that the nest reads, and the elements that it
      writes; registers are no bytes;
    - shares are of the limits of one core of this machine, measured once: for bytes, the fastest
      of the caches that holds the nest's elements, or memory; for flops, vectors of fused
      multiply-adds.

    The program is compiled once more with clocks between the nests, and computes the same bits.
    Reading the clock is taken off the times. Nests of a block, or of a loop of the program, that
    are too short for the clock are one row together; a row that is itself too short has no rates.
    `profile.call` is the time of an ordinary call, without clocks, and `profile.instrumented` the
    time of one with them.

    Raises `TypeError` for a function that is not transformed or has target="cuda", and the errors
    of a call.

    >>> import numpy as np, tracejit
    >>> slope = tracejit.grad(lambda x: np.sum(x * np.exp(-x * x)))
    >>> found = tracejit.profile(slope, np.linspace(0.0, 1.0, 100_000), seconds=0.02)
    >>> found.rows[0].calls
    {'exp': 100000}
    >>> found.call > 0.0 and sum(row.seconds for row in found.rows) <= found.instrumented
    True
    """
    known = _compiled_for_cpu(function)
    with config(verify=False, disable_jit=False, dump=None), LOCK:
        program = Instrumented(known, args, kwargs)
        ordinary, times, slots = _measured(known, program, args, kwargs, seconds)
    return _profile_of(program, ordinary, *_faster_half(times, slots))


def _compiled_for_cpu(function: object) -> Function:
    """Return a transformed function whose time can be measured, or raise `TypeError`."""
    if not isinstance(function, Function):
        if callable(function):
            name = getattr(function, "__name__", "f")
            raise TypeError(f"profile measures compiled code, and {name} is not compiled. Write "
                            f"tracejit.profile(tracejit.jit({name}), ...), or its gradient: "
                            f"tracejit.profile(tracejit.grad({name}), ...)")
        raise TypeError(f"profile takes a transformed function and its arguments, not {function!r}")
    if function._target != "cpu":
        raise TypeError(f'{function!r} has target="cuda", and profile measures code of the CPU. '
                        "Measure it with NVIDIA's Nsight Systems; .lower().resources((8, 0)) says "
                        "what its kernels take")
    return function


BATCH = 5
"""How many calls without clocks and with clocks take turns."""

MOST = 2000
"""No more calls than that are measured, however short."""


def _measured(function: Function, program: Instrumented, args: tuple[object, ...],
              kwargs: Mapping[str, object],
              seconds: float) -> tuple[float, list[float], list[list[int]]]:
    """Return the time of an ordinary call, and times and slots of instrumented ones.

    They take turns, so that both meet the same disturbances.
    """
    call = _Call(program, args, kwargs)
    ordinary: list[float] = []
    times: list[float] = []
    slots: list[list[int]] = []
    call.time(function)
    call.time(program.twin)
    deadline = time.perf_counter() + seconds
    while not times or (time.perf_counter() < deadline and len(times) < MOST):
        ordinary += [call.time(function) for _ in range(BATCH)]
        for _ in range(BATCH):
            clear_ticks(program.slots)
            times.append(call.time(program.twin))
            slots.append(read_ticks(program.slots))
    return fmean(sorted(ordinary)[:len(ordinary) // 2 + 1]), times, slots


def _faster_half(times: list[float], slots: list[list[int]]) -> tuple[float, list[float]]:
    """Return mean time and mean slots of the faster calls: other work slows the others.

    Being of the same calls, the slots add up to no more than the time.
    """
    kept = sorted(range(len(times)), key=times.__getitem__)[:len(times) // 2 + 1]
    return (fmean(times[k] for k in kept),
            [fmean(column) for column in zip(*(slots[k] for k in kept), strict=True)])


def _profile_of(program: Instrumented, ordinary: float, instrumented: float,
                slots: list[float]) -> Profile:
    limits = machine_limits()
    stretches = program.stretches()
    origins = Origins(program.lowered.kernel, program.symbols)
    rows = []
    for stretch in stretches:
        laps = slots[stretch.slot + 1]
        seconds = max(slots[stretch.slot] - laps * program.cost, 0.0) / 1e9
        if laps:
            is_short = seconds * 1e9 < LEAST * laps * program.cost
            rows.append(origins.row(stretch, seconds, is_short, limits))
    rows.sort(key=lambda row: -row.seconds)
    clock = program.cost / 1e9 * sum(slots[s.slot + 1] for s in stretches)
    return Profile(program.lowered.kernel.graph.name, tuple(rows), ordinary, instrumented, clock,
                   limits)


class _Call:
    """A call that is repeated; where it writes to its arguments, it gets copies."""

    def __init__(self, program: Instrumented, args: tuple[object, ...],
                 kwargs: Mapping[str, object]) -> None:
        self.program, self.args, self.kwargs = program, args, kwargs
        self.writes: bool | None = None

    def time(self, function: Callable[..., object]) -> float:
        """Return the seconds of one call."""
        args, kwargs = (self.args, self.kwargs) if self.writes is False else copied(
            self.args, self.kwargs)
        start = time.perf_counter()
        function(*args, **kwargs)
        elapsed = time.perf_counter() - start
        self.program.restore()
        if self.writes is None:
            self.writes = not _equal(flatten((args, kwargs))[0],
                                     flatten((self.args, self.kwargs))[0])
        return elapsed


def _equal(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether arrays have the same bits, and nothing is drawn from generators."""
    if any(map(is_generator, left)):
        return False
    return all(a.tobytes() == b.tobytes() for a, b in zip(left, right, strict=True)
               if isinstance(a, np.ndarray))
