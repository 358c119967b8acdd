"""A `finally` between an error of the run and the `except` that catches it.

Whole programs, made of tables: each is as Python runs it, and so is its derivative.
"""

from __future__ import annotations

import itertools
import linecache
import random
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit


class Odd(Exception):
    """An error of the programs' own, with a number."""

    def __init__(self, number: Any) -> None:
        super().__init__("odd")
        self.number = number


def root(v: Any) -> Any:
    if v < 0.0:
        raise ValueError("no root")
    return np.sqrt(v + 0.3)


BODIES = ("y = y * root(v)", "y = y + v\nz = z * root(v - 0.7)",
          "if v > 1.1: raise Odd(3.0 * v)\ny = y * root(v)", "seen.append(root(v))\nseen.append(v)",
          "y = y + {0: v, 1: 2.0 * v}[int(v > 1.1) + int(v > 2.2)]", "y = y * v",
          "for u in (v, v - 0.9): y = y + root(u)", "a[0] = v\na[1] = root(v)", "int('boom')",
          "d['k'] = v\nd['m'] = root(v)")
INNER = ("", "except KeyError:\n    z = z + 1.0", "except ValueError:\n    y = y - 1.0",
         "except ValueError:\n    y = y + root(v + 0.4)\nelse:\n    z = z + root(v - 1.2)",
         "except ValueError as e:\n    raise KeyError(1) from e")
FINALS = ("z = z + 1.0", "y = 2.0 * y", "seen.append(y)", "z = root(v + 0.8)",
          "if z > 1.5: y = y + z", "try: y = y + root(v - 0.5)\n    except ValueError: z = z + 3.0",
          "a[2] = a[2] + z", "if seen: z = z + seen.pop()", "d['n'] = y",
          "w = 0.1 * y\n    z = z + w", "for u in (v, z): y = y + u")
JUMPS = ("break", "z = z + 1.0; continue", "if z > 1.5: break", "if y > 0.9: continue",
         "return y + z", "if y < 0.7: return z", "y = y + 1.0\n    if z < 1.2: continue\n    break")
"""Code of a `finally` that ends an error on its way."""
HANDLERS = ("y = y + z", "pass", "y = y * z + len(seen)", "seen.append(2.0)", "y = y + a[0]")
LOOPS = {"once": "for v in [x[0]]:", "array": "for v in x:",
         "list": "for v in [x[0], x[1], -x[0]]:"}


def program(body: str, inner: str, final: str, handler: str, loop: str, inside: bool) -> str:
    """Return a program; its loop is within the outer `try`, or around."""
    tried = f"try:\n{textwrap.indent(body, '    ')}\n{inner}\nfinally:\n    {final}"
    caught = f"except (ValueError, KeyError, Odd):\n    {handler}"
    if inside:
        tried = f"try:\n    {LOOPS[loop]}\n{textwrap.indent(tried, ' ' * 8)}\n{caught}"
    else:
        tried = f"{LOOPS[loop]}\n    try:\n{textwrap.indent(tried, ' ' * 8)}\n" + (
            textwrap.indent(caught, "    "))
    return f"""def f(x):
    y, z, seen, a, d = x[0], 1.0, [], np.zeros(3), dict(k=1.0, m=2.0, n=3.0)
{textwrap.indent(tried, "    ")}
    return y * z + sum(seen) + len(seen) + np.sum(a) + d['k'] * d['m'] + d['n']"""


def made(source: str) -> Callable[..., Any]:
    name = f"<finally {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"root": root, "Odd": Odd, "np": np}
    exec(compile(source, name, "exec"), names)
    f: Callable[..., Any] = names["f"]
    return f


POINTS = ((0.513, 2.017), (-0.531, 1.733), (2.619, -1.547, 0.461), (-0.617, -1.223),
          tuple(0.9531 + 0.0977 * k for k in range(15)))


def outcome(f: Callable[..., Any], x: Any) -> Any:
    """Return a result, or the class of an error."""
    try:
        return f(x)
    except (ValueError, KeyError, Odd, tracejit.Refusal) as e:
        return type(e)


def is_right(source: str) -> bool:
    """Return whether a program is captured; assert that it is right then."""
    f = made(source)
    both = tracejit.value_and_grad(f)
    for point in POINTS:
        x = np.array(point)
        expected, found = outcome(f, x.copy()), outcome(both, x)
        if found is tracejit.Refusal:
            return False
        if isinstance(expected, type):
            assert found is expected, (source, point)
            continue
        value, slope = found
        assert value == pytest.approx(expected, rel=1e-12), (source, point)
        steps = 1e-6 * np.eye(len(x))
        slopes = [(f(x + s) - f(x - s)) / 2e-6 for s in steps]
        assert slope == pytest.approx(np.array(slopes), rel=1e-5, abs=1e-5), (source, point)
    return True


SIMPLE = list(itertools.product(BODIES, INNER[:3], FINALS[:4], HANDLERS[:1], LOOPS, (True, False)))


@pytest.mark.parametrize("case", SIMPLE, ids=lambda c: "-".join(map(str, c)).replace(" ", ""))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_finally_runs_where_an_error_passes_it(case: Any) -> None:
    with tracejit.config(disable_jit=True):
        is_right(program(*case))


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "around"])
@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_jump_out_of_finally_ends_an_error(jump: str, inside: bool) -> None:
    with tracejit.config(disable_jit=True):
        captured = [is_right(program(body, inner, jump, HANDLERS[0], loop, inside))
                    for body in (BODIES[0], BODIES[2], BODIES[8])
                    for inner in INNER[1:3] for loop in ("array", "list")]
    assert any(captured)


def drawn(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [program(rng.choice(BODIES), rng.choice(INNER), rng.choice(FINALS), rng.choice(HANDLERS),
                    rng.choice([*LOOPS]), rng.random() < 0.5) for _ in range(count)]


@pytest.mark.parametrize("part", range(4))
def test_random_programs_are_right_or_refused(part: int) -> None:
    with tracejit.config(disable_jit=True):
        captured = [is_right(source) for source in drawn(40, 5)[part::4]]
    assert sum(captured) >= 7


def test_compiled() -> None:
    assert is_right(program(BODIES[0], INNER[0], JUMPS[3], HANDLERS[0], "array", True))
    assert is_right(program(BODIES[1], INNER[3], FINALS[2], HANDLERS[2], "array", False))
