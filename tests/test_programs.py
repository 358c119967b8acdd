"""Random whole programs: Python, interpreter, passes and kernel agree, in value and derivatives.

The default run makes 300 programs, of which a third is compiled; `tests/fuzz.py` makes as many as
one likes. A failure prints the program, shrunk, its graph, and a blob that makes it again.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, reject, settings
from hypothesis import strategies as st
from program_laws import Mismatch, Program, Rejected, arguments, check_program
from programs import programs

UNHURRIED = settings(
    deadline=None, print_blob=True,
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


@SHARDS
@settings(UNHURRIED, max_examples=45)
@given(source=programs(16))
def test_interpreter_computes_what_python_does(shard: int, source: str) -> None:
    """Value, writes and gradient of a program, before and after each pass."""
    _check(source, compiled=False, verify=True)


@SHARDS
@settings(UNHURRIED, max_examples=20)
@given(source=programs(12), verify=st.booleans())
def test_kernel_computes_what_python_does(shard: int, source: str, verify: bool) -> None:
    """The same in machine code; in verify mode with unset memory NaN and every index checked."""
    _check(source, compiled=True, verify=verify)


@SHARDS
@settings(UNHURRIED, max_examples=10)
@given(source=programs(8), compiled=st.sampled_from((False, False, True)))
def test_second_order_and_forward_mode(shard: int, source: str, compiled: bool) -> None:
    """The gradient of the gradient is its difference; the tangent is the gradient times v."""
    _check(source, compiled=compiled, verify=True, second=True)
