"""Random whole programs: Python, interpreter, passes and kernel agree, in value and derivatives.

`--full` makes 328 programs, of which a third is compiled; the default run makes a quarter of them,
other ones every day: the seed is TRACEJIT_SAMPLE_SEED, which every run prints, and `tests/fuzz.py`
makes as many as one likes. A failure prints the program, shrunk, its graph, and a blob that makes
it again.
"""

from __future__ import annotations

import datetime
import os
import zlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, reject, seed, settings
from hypothesis import strategies as st
from program_laws import (
    LAYOUTS,
    OVERLAPS,
    Mismatch,
    Plan,
    Program,
    Rejected,
    arguments,
    check_program,
)
from random_programs import programs

DAY = os.environ.get("TRACEJIT_SAMPLE_SEED", datetime.date.today().isoformat())
SEED = zlib.crc32(DAY.encode())
UNHURRIED = settings(
    deadline=None, print_blob=True, database=None,
    # a program is some hundred choices, and a compiled one takes half a second
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.large_base_example])

SHARDS = pytest.mark.parametrize("shard", range(8))
"""Equal tests, for processes to share; each draws programs of its own."""

LAID_OUT = {"layouts": st.tuples(st.sampled_from(list(LAYOUTS)), st.sampled_from(
    [name for name in LAYOUTS if name != "broadcast"]))}


def _check(source: str, **options: Any) -> None:
    note(source)
    plan = Plan(**options)
    note(str(plan))
    try:
        check_program(source, plan)
    except Rejected:
        reject()
    except Mismatch:
        note(Program(source).graph(arguments(4, rank=1 if plan.overlap else 2)))
        raise


def _check_programs(shard: int, count: int, size: int, pair: bool = False,
                    **choices: Any) -> None:
    """Check `count` programs of a shard; `choices` are of a `Plan`, or strategies for them."""
    strategies = {name: x if isinstance(x, st.SearchStrategy) else st.just(x)
                  for name, x in choices.items()}
    law = given(source=programs(size, pair), **strategies)(_check)
    seed(100 * SEED + shard)(settings(UNHURRIED, max_examples=count)(law))()


@SHARDS
def test_interpreter_computes_what_python_does(shard: int) -> None:
    """Value, writes and gradient of a program, before and after each pass."""
    _check_programs(shard, 16, 16, verify=True, changes=1, **LAID_OUT)


@SHARDS
def test_interpreter_computes_what_python_does_on_shared_memory(shard: int) -> None:
    """Value, writes and gradient where x and y overlap."""
    _check_programs(shard, 5, 12, pair=True, verify=True,
                    overlap=st.sampled_from(sorted(OVERLAPS)))


@SHARDS
def test_later_calls_compute_what_python_does(shard: int) -> None:
    """Values and gradients within other transforms, after changes of state, after a reload."""
    _check_programs(shard, 5, 10, verify=True, changes=2, reload=True,
                    nested=st.sampled_from(("jit", "vmap")), seed=st.integers(0, 9))


@SHARDS
def test_kernel_computes_what_python_does(shard: int) -> None:
    """The same in machine code; in verify mode with unset memory NaN and every index checked."""
    _check_programs(shard, 10, 12, compiled=True, verify=st.booleans(), **LAID_OUT)


@SHARDS
def test_second_order_and_forward_mode(shard: int) -> None:
    """The gradient of the gradient is its difference; the tangent is the gradient times v."""
    _check_programs(shard, 5, 8, compiled=st.sampled_from((False, False, True)), verify=True,
                    second=True)
