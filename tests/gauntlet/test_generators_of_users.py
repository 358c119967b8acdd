"""Generator functions of users': loops, builtins and other generators take their items.

Programs are generated of a generator's body and of a consumer of its items; generator and program
change one array by turns, so that the order of all that happens shows in the result. Python and
central differences are the oracles.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import logging
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from generator_programs import RAISING, REFUSED, RIGHT, positive

import tracejit
from tracejit.errors import Refusal

Program = Callable[..., Any]

BODIES = {
    "several": """
        yield x[0]
        c[0] += 1.0
        yield x[1] * c[0]
        yield 2.0 * x[2]
""",
    "counted": """
        for k in range(len(x)):
            c[0] = 1.1 * c[0] + x[k]
            yield x[k] * c[0]
            c[0] += 0.5
""",
    "items": """
        for v in x:
            yield v * v
        c[0] += 1.0
""",
    "branch": """
        for v in x:
            if v > 0.0:
                yield v * c[0]
            c[0] += v
""",
    "both branches": """
        for v in x:
            if v > 0.6:
                yield v
                c[0] += 0.1
                yield v * c[0]
            else:
                yield -v
""",
    "while": """
        v = x[0] + 2.0
        while v > 0.3:
            yield v
            v = 0.6 * v + 0.01 * c[0]
""",
    "endless": """
        k, v = 0, x[0] + 2.0
        while k < 6:
            k += 1
            if v < 0.4:
                break
            yield v
            v = 0.7 * v
        else:
            yield x[1]
""",
    "return": """
        for k in range(len(x)):
            if x[k] < -0.5:
                return
            yield x[k]
            c[0] += x[k]
        yield c[0]
""",
    "continue": """
        for v in x:
            c[0] += v
            if v < 0.0:
                continue
            yield v * c[0]
""",
    "carried array": """
        y = x * 1.0
        for _ in range(3):
            yield y.sum() * c[0]
            y = y + 0.1 * np.sin(y)
""",
    "written array": """
        y = np.zeros(len(x))
        for k in range(len(x)):
            y[k] = x[k] * c[0]
            yield y.sum()
""",
    "from another": """
        def other(n):
            for k in range(n):
                yield x[k] * c[0]
            return x[0] * n
        t = yield from other(2)
        yield t
        yield from other(3)
        yield from (x[4], 2.0 * x[3])
""",
    "none": """
        if len(x) > 100:
            yield x[0]
""",
    "nothing after": """
        c[0] += 1.0
        return
        yield x[0]
""",
    "nested loops": """
        for i in range(3):
            for j in range(i + 1):
                yield x[i] * x[j] + c[0]
""",
    "finally": """
        try:
            for v in x:
                yield v
        finally:
            c[0] += 1.0
""",
    "recursion": """
        def walk(k):
            if k < len(x):
                yield x[k]
                yield from walk(2 * k + 1)
                c[0] += x[k]
                yield from walk(2 * k + 2)
        yield from walk(0)
""",
}
TAKERS = {
    "for": """
    for v in g(x, c):
        c[0] += 0.3 * v
        s = 0.9 * s + v * c[0]
""",
    "break": """
    for v in g(x, c):
        s += v * c[0]
        if s > 2.1:
            break
        c[0] += 0.1
""",
    "continue": """
    for v in g(x, c):
        if v < 0.3:
            continue
        c[0] += 0.2
        s += v * c[0]
""",
    "else": """
    for v in g(x, c):
        if v > 3.0:
            break
        s += v
    else:
        s = 3.0 * s
""",
    "return": """
    def found():
        t = 0.0
        for v in g(x, c):
            t += v
            if t > 1.3:
                return t * c[0]
        return -t
    s = found()
""",
    "branch": """
    for v in g(x, c):
        if v > 0.4:
            s, c[0] = s + v, c[0] + v
        else:
            s -= v * c[0]
""",
    "sum": """
    s = sum(g(x, c)) + sum(g(x, c), 0.5)
""",
    "list": """
    items = list(g(x, c))
    for k, v in enumerate(items):
        s += (k + 1) * v
""",
    "tuple": """
    s = np.sum(np.array(tuple(g(x, c))))
""",
    "extreme": """
    s = max(g(x, c), default=0.0) - min(g(x, c), default=1.0)
""",
    "any": """
    s = 2.0 * x[0] if any(v > 1.1 for v in g(x, c)) else x[1]
""",
    "all": """
    s = 2.0 * x[0] if all(v > -0.2 for v in g(x, c)) else x[1]
""",
    "comprehension": """
    s = sum([v * c[0] for v in g(x, c)]) + sum([v for v in g(x, c) if v > 0.5])
""",
    "expression": """
    s = sum(v * c[0] for v in g(x, c) if v > 0.1)
""",
    "enumerate": """
    for k, v in enumerate(g(x, c), 1):
        s += k * v
        c[0] += 0.1
""",
    "zip": """
    for v, w in zip(g(x, c), x[:3]):
        s += v * w + c[0]
    for w, v in zip(x[:3], g(x, c)):
        s += v * w + c[0]
""",
    "zip of two": """
    def ones(n):
        for k in range(n):
            yield 1.0 + k
    for v, w in zip(ones(3), [1.0, 2.0, 3.0, 4.0]):
        s += v * w
    for v in g(x, c):
        s += v
""",
    "map": """
    s = sum(map(lambda v: v * v * c[0], g(x, c)))
""",
    "filter": """
    for v in filter(lambda v: v > 0.2, g(x, c)):
        s += v * c[0]
""",
    "pipeline": """
    def scaled(items, by):
        for v in items:
            c[0] += 0.01
            yield v * by
    for v in scaled(scaled(g(x, c), 2.0), c[0]):
        s += v
""",
    "nested": """
    for v in g(x, c):
        for w in g(x, c):
            s += v * w
""",
    "reduce": """
    s = functools.reduce(lambda a, b: 0.5 * a + b, g(x, c), 1.0)
""",
    "islice": """
    for v in itertools.islice(g(x, c), 1, 3):
        s += v * c[0]
""",
    "takewhile": """
    for v in itertools.takewhile(lambda v: v > -0.3, g(x, c)):
        s += v * c[0]
""",
    "chain": """
    for v in itertools.chain(g(x, c), g(x, c)):
        s += v * c[0]
""",
    "next": """
    s = next(g(x, c), 7.0) + c[0]
""",
    "twice": """
    it = g(x, c)
    for v in it:
        s += v
    for v in it:
        s += 100.0 * v
    s += sum(it) + 5.0 * len(list(it))
""",
    "never": """
    it = g(x, c)
    s = c[0] + x[0]
""",
    "later": """
    it = g(x, c)
    c[0] *= 2.0
    for v in it:
        s += v
""",
    "extend": """
    items = [1.0]
    items.extend(g(x, c))
    items += g(x, c)
    s = sum(items)
""",
    "in": """
    s = c[0] if 123.0 in g(x, c) else x[0] * c[0]
""",
    "last": """
    v = x[0]
    for v in g(x, c):
        pass
    s = v * c[0]
""",
    "method": """
    class Holder:
        def __init__(self):
            self.total = 0.0
        def items(self):
            for v in g(x, c):
                self.total = self.total + v
                yield v * self.total
        def __iter__(self):
            yield from self.items()
    holder = Holder()
    for v in holder:
        s += v
        holder.total += 0.1
    s += sum(holder) + holder.total
""",
}
ENDS = """
    return s + 0.1 * c[0]
"""
X = (np.array([0.7123, -0.4231, 1.3217, 0.4519, -0.9173]),
     np.array([0.2311, 0.8337, 0.5571, 1.6213, 0.3539]),
     np.array([-0.7219, 1.4127, -0.3313, 0.6571, 0.2519]))


def _program(source: str, name: str) -> Program:
    """Make a function of a text that has lines."""
    file = f"<generators {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names: dict[str, Any] = {"np": np, "functools": functools, "itertools": itertools,
                             "__name__": __name__}
    exec(compile(source, file, "exec", dont_inherit=True), names)
    made: Program = names["f"]
    return made


def _source(body: str, taker: str, is_local: bool) -> str:
    start = "    s, c = 0.0, np.ones(1)"
    lines = body.strip("\n").splitlines()
    if is_local:
        return "\n".join(["def f(x):", start, "    def g(x, c):", *lines, taker.strip("\n"), ENDS])
    return "\n".join(["def g(x, c):", *lines, "def f(x):", start, taker.strip("\n"), ENDS])


GENERATED = {f"{body}, {taker}": _source(text, end, (k + n) % 2 == 1)
             for k, (body, text) in enumerate(BODIES.items())
             for n, (taker, end) in enumerate(TAKERS.items())}
MAY_BE_REFUSED = {
    ("finally", taker) for taker in ("break", "else", "return", "any", "all", "zip", "islice",
                                     "takewhile", "next", "in", "chain", "comprehension")}
"""A `yield` in a `try` that a loop may leave by data, or that a filter by data goes on from."""


def _slope(f: Program, x: Any) -> Any:
    h = 1e-6
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def _agrees(f: Program, x: Any) -> None:
    """Compare value and derivatives with Python's."""
    expected = f(x.copy())
    value, gradient = tracejit.value_and_grad(f)(x.copy())
    assert value == pytest.approx(expected, rel=1e-12)
    slope = _slope(f, x)
    assert gradient == pytest.approx(slope, rel=1e-5, abs=1e-5)
    direction = np.cos(np.arange(len(x)))
    tangent = tracejit.jvp(f, (x.copy(),), (direction,))[1]
    assert tangent == pytest.approx(slope @ direction, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", GENERATED)
def test_items_come_in_pythons_order(name: str) -> None:
    f = _program(GENERATED[name], name)
    with tracejit.config(disable_jit=True):
        for x in X:
            try:
                _agrees(f, x)
            except Refusal:
                if tuple(name.split(", ")) not in MAY_BE_REFUSED:
                    raise


@pytest.mark.parametrize("f", RIGHT)
def test_programs_are_right(f: Program) -> None:
    with tracejit.config(disable_jit=True):
        for x in X:
            _agrees(f, x)


@pytest.mark.parametrize("f", RAISING)
def test_programs_raise_what_python_raises(f: Program) -> None:
    with pytest.raises(Exception) as expected:
        f(X[0].copy())
    with tracejit.config(disable_jit=True), pytest.raises(type(expected.value)) as found:
        tracejit.jit(f)(X[0].copy())
    assert type(found.value) is type(expected.value)
    assert str(found.value).split("\n")[0] == str(expected.value)


@pytest.mark.parametrize("f", REFUSED)
def test_programs_are_refused_at_a_line_of_theirs(f: Program) -> None:
    with tracejit.config(disable_jit=True), pytest.raises(Refusal) as found:
        tracejit.value_and_grad(f)(X[0].copy())
    assert REFUSED[f] in str(found.value)
    assert str(found.value).startswith(f.__code__.co_filename)


@pytest.mark.parametrize("name", ["counted, for", "while, break", "both branches, list",
                                  "from another, pipeline", "carried array, zip"])
def test_compiled_programs_agree(name: str) -> None:
    f = _program(GENERATED[name], name)
    for x in X:
        _agrees(f, x)


@pytest.mark.parametrize("name", ["branch, for", "counted, sum", "carried array, enumerate"])
def test_one_program_serves_every_size(name: str, caplog: pytest.LogCaptureFixture) -> None:
    f = _program(GENERATED[name], name)
    compiled = tracejit.jit(f)
    rng = np.random.default_rng(7)
    with caplog.at_level(logging.DEBUG, "tracejit"):
        for n in (9, 30, 6, 17):
            x = rng.normal(size=n)
            assert compiled(x.copy()) == pytest.approx(f(x.copy()), rel=1e-10)
    lines = [r.getMessage() for r in caplog.records if r.getMessage().startswith("compiled ")]
    assert len(lines) == 1, lines


def test_folds_of_pairs_are_loops() -> None:
    def pairs(n: int) -> Any:
        for i in range(n):
            for j in range(i):
                yield i, j

    def energy(x: Any) -> Any:
        return sum((x[i] - x[j]) ** 2 for i, j in pairs(len(x)))

    with tracejit.config(disable_jit=True):
        traced = tracejit.jit(energy).trace(np.arange(40.0))
    assert "unrolled" not in traced.why()
    assert "fixed at" not in traced.why()


SCALE = 2.0


def scaled(x: Any) -> Any:
    for v in x:
        yield SCALE * v


def test_what_a_generator_reads_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(x: Any) -> Any:
        return sum(scaled(x)) + next(scaled(x))

    x = X[0]
    with tracejit.config(disable_jit=True):
        compiled = tracejit.jit(total)
        assert compiled(x) == pytest.approx(total(x), rel=1e-12)
        monkeypatch.setattr(sys.modules[__name__], "SCALE", 5.0)
        assert compiled(x) == pytest.approx(total(x), rel=1e-12)

        def other(x: Any) -> Any:
            for v in x:
                yield v * v

        monkeypatch.setattr(sys.modules[__name__], "scaled", other)
        assert compiled(x) == pytest.approx(total(x), rel=1e-12)
        monkeypatch.setattr(other, "__code__", positive.__code__)
        assert compiled(x) == pytest.approx(total(x), rel=1e-12)


def test_transforms_of_transforms_and_maps() -> None:
    f = _program(GENERATED["carried array, for"], "transforms")
    with tracejit.config(disable_jit=True):
        slope = tracejit.grad(f)
        x, v = X[0], np.cos(np.arange(5.0))
        h = 1e-5
        expected = (slope(x + h * v) - slope(x - h * v)) / (2 * h)
        assert tracejit.hvp(f, (x,), (v,)) == pytest.approx(expected, rel=1e-4, abs=1e-5)
        rows = np.stack(X)
        assert tracejit.vmap(f)(rows) == pytest.approx([f(r.copy()) for r in rows], rel=1e-10)

        def outer(x: Any) -> Any:
            def g() -> Any:
                for k in range(3):
                    yield slope(x * (k + 1.0)).sum()
            return sum(g())

        found = tracejit.grad(outer)(x)
        assert found == pytest.approx(_slope(outer, x), rel=1e-4, abs=1e-4)
