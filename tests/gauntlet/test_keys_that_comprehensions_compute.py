"""Comprehensions of sets and dicts of which data decides on the keys, made of tables."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracejit

KEYS = ("int(v)", "int(v > 1.0)", "(int(v), int(2.0 * v))", "int(v) % 2 + n", "int(noted(v))")
VALUES = ("v * v", "x[0] * v", "len(log)", "(v, 2.0 * v)", "[v, v * x[1]]")
ITERABLES = ("x", "[x[0], x[1], x[0] * x[1]]", "x[::-1]", "x[1:] * 2.0",
             "(u + w for u in x for w in x)")
FILTERS = ("", " if v > 0.0", " for v in (v, v + 1.1)")
OF_DICTS = ("sum(d.values())", "len(d)", "sum(k * c for k, c in d.items())", "d.get(1, x[0])",
            "sum(a * b for a, b in d.values())", "sum(d) + len(list(d))")
OF_SETS = ("len(d)", "int(1 in d)", "max(d)", "sorted(d)[0]", "sum(d)", "len([*sorted(d)])")


def made(made_by: str, use: str) -> Callable[..., Any]:
    source = f"""def f(x):
    log, n = [], 3
    def noted(v):
        log.append(v)
        return v
    d = {made_by}
    return x[0] * {use} + sum(log) * len(log)"""
    name = f"<keys {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), names)
    f: Callable[..., Any] = names["f"]
    return f


POINTS = ((1.137, 4.213, -2.371, 9.137), (1.537, 4.119, 2.349), (-1.411, -2.517),
          (-1.313, 2.219, -3.177, 4.419, 4.647, 1.231, 5.573, -3.329))


def outcome(f: Callable[..., Any], x: Any) -> Any:
    try:
        return f(x)
    except (ValueError, KeyError, IndexError, tracejit.Refusal) as e:
        return type(e)


def is_right(f: Callable[..., Any]) -> bool:
    """Return whether a program is captured; assert that it is right then."""
    both = tracejit.value_and_grad(f)
    for point in POINTS:
        x = np.array(point)
        expected, found = outcome(f, x), outcome(both, x)
        if found is tracejit.Refusal:
            return False
        if isinstance(expected, type):
            assert found is expected, point
            continue
        value, slope = found
        assert value == pytest.approx(expected, rel=1e-12), point
        slopes = [(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(len(x))]
        assert slope == pytest.approx(np.array(slopes), rel=1e-5, abs=1e-5), point
    return True


DICTS = [(f"{{{k}: {v} for v in {xs}{test}}}", use) for k, v, xs, test, use in itertools.product(
    KEYS, VALUES, ITERABLES, FILTERS, OF_DICTS) if ("a, b" in use) == (v[0] in "([")]
SETS = [(f"{{{k} for v in {xs}{test}}}", use) for k, xs, test, use in itertools.product(
    KEYS, ITERABLES, FILTERS, OF_SETS)]


@pytest.mark.parametrize("case", [*DICTS[::23], *SETS[::11]], ids="-".join)
def test_keys_that_data_decides(case: tuple[str, str]) -> None:
    with tracejit.config(disable_jit=True):
        is_right(made(*case))


SURE = [("{int(v): v * v for v in x}", OF_DICTS[0]), ("{int(v) for v in x}", OF_SETS[0]),
        ("{(int(v), int(2.0 * v)): x[0] * v for v in x}", OF_DICTS[0]),
        ("{int(v > 1.0): [v, v * x[1]] for v in x}", OF_DICTS[4])]


@pytest.mark.parametrize("case", SURE, ids="-".join)
def test_common_ones_are_captured(case: tuple[str, str]) -> None:
    with tracejit.config(disable_jit=True):
        assert is_right(made(*case))


def test_compiled() -> None:
    assert is_right(made(*SURE[0]))
