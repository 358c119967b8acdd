"""Random whole programs: Python, interpreter, passes and kernel agree, in value and derivatives.

The default run makes 300 programs, of which a third is compiled, always the same ones, so that a
run says something about the code and not about luck; TRACEJIT_TEST_SEED=... makes others, and
`tests/fuzz.py` as many as one likes. A failure prints the program, shrunk, its graph, and a blob
that makes it again.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, reject, seed, settings
from hypothesis import strategies as st
from program_laws import Mismatch, Program, Rejected, arguments, check_program
from random_programs import programs

SEED = int(os.environ.get("TRACEJIT_TEST_SEED", "0"))
UNHURRIED = settings(
    deadline=None, print_blob=True, database=None,
    # a program is some hundred choices, and a compiled one takes half a second
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.large_base_example])

SHARDS = pytest.mark.parametrize("shard", range(4))
"""Equal tests, for processes to share; each draws programs of its own."""


def _check(source: str, **options: bool) -> None:
    note(source)
    try:
        check_program(source, **options)
    except Rejected:
        reject()
    except Mismatch:
        note(Program(source).graph(arguments(4)))
        raise


def _check_programs(shard: int, count: int, size: int, **choices: Any) -> None:
    """Check `count` programs of a shard; `choices` are options, or strategies for them."""
    strategies = {name: x if isinstance(x, st.SearchStrategy) else st.just(x)
                  for name, x in choices.items()}
    law = given(source=programs(size), **strategies)(_check)
    seed(100 * SEED + shard)(settings(UNHURRIED, max_examples=count)(law))()


@SHARDS
def test_interpreter_computes_what_python_does(shard: int) -> None:
    """Value, writes and gradient of a program, before and after each pass."""
    _check_programs(shard, 45, 16, compiled=False, verify=True)


@SHARDS
def test_kernel_computes_what_python_does(shard: int) -> None:
    """The same in machine code; in verify mode with unset memory NaN and every index checked."""
    _check_programs(shard, 20, 12, compiled=True, verify=st.booleans())


@SHARDS
def test_second_order_and_forward_mode(shard: int) -> None:
    """The gradient of the gradient is its difference; the tangent is the gradient times v."""
    _check_programs(shard, 10, 8, compiled=st.sampled_from((False, False, True)), verify=True,
                    second=True)
