"""Generators that receive values: `send`, `yield` within expressions, `yield from` in between.

Programs are generated of what a generator does with a value that it is sent, and of who sends.
Python and central differences are the oracles.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from state_sequences import load

import tracejit

BODIES = {
    "statement": """
        t = 1.0
        while True:
            v = yield t
            t = 0.5 * t + v * v
""",
    "augmented name": """
        t = 1.0
        while True:
            t += yield t
""",
    "augmented after an operand": """
        t = 1.0
        while True:
            t *= c[0] * (yield t)
""",
    "augmented attribute": """
        o = types.SimpleNamespace(t=1.0)
        while True:
            o.t += yield o.t
""",
    "changed by the sender": """
        while True:
            c[1] = c[0] * (yield c[1]) + c[0]
""",
    "test of a loop": """
        t = 1.0
        while (v := (yield t)) is not None:
            t += v
            if len(log) > 5:
                log.clear()
                continue
        yield 100.0 * t
""",
    "test of a branch": """
        t = 1.0
        while True:
            if (yield t) is None:
                t += 10.0
            else:
                t *= 1.5
""",
    "arguments": """
        t = 1.0
        while True:
            log.append((yield t))
            t = max(t, *(log[-1], (yield len(log))), key=lambda k: -k if k else 0.0)
""",
    "display": """
        k = 0
        while True:
            k += 1
            a = [k, (yield k), {k: (yield 2)}, (x[k % 3], (yield c[0]))]
            c[0] += a[3][0] * (a[1] or 0.5) + (a[2][k] or 0.25) * a[0]
""",
    "item": """
        t = 0.0
        while True:
            t += x[((yield t) is None) + 1] * np.sum(x[1:3 + ((yield t) is None)])
""",
    "slice": """
        t = 0.0
        while True:
            t += np.sum(x[c[0] > 50.0:2 + ((yield t) is not None)])
""",
    "comparison and conditional": """
        t = 1.0
        while True:
            t += 2.0 if (yield t) is None else x[0]
            t += ((yield t) is None) * 0.5
""",
    "keywords": """
        def h(a, b=1.0, **more):
            return a * b + more["d"]
        t = 1.0
        while True:
            t = h(c[0], b=x[1], d=(yield t) or 3.0)
""",
    "handed on": """
        def inner(k):
            t = x[k]
            for _ in range(2):
                t += (yield t) or 0.5
            return t
        while True:
            c[0] += yield from inner(0)
            log.append((yield from inner(1)))
            yield from (c[0], x[2])
""",
    "returned": """
        v = yield 1.0
        return (yield v) or 5.0
""",
    "a list is sent": """
        v = yield 0.0
        while True:
            w = [v, x[0]]
            v = yield w[0] if w[0] is not None else 2.0
""",
}
SENDERS = {
    "one by one": """
    s, n = next(g), 0.0
    for k in range(5):
        s = 0.7 * s + (g.send(x[k]) or 0.0)
        c[0] += 0.1
""",
    "elements": """
    s, first = 0.0, g.send(None)
    for v in x:
        s = 1.1 * s + (g.send(v) or 0.0) * first
""",
    "sometimes": """
    s = next(g)
    for k in range(6):
        s += (k + 1) * ((g.send(x[k % 5]) if k % 3 else next(g)) or 0.0)
""",
    "by a function": """
    def feed(h, v):
        return h.send(v) or 0.0
    next(g)
    s = sum([feed(g, v) for v in x]) + feed(g, c[0])
""",
    "by an attribute": """
    class Filter:
        def __init__(self, h):
            self.h, self.send = h, h.send
            next(h)
        def __call__(self, v):
            return self.send(v) or 0.0
    f = Filter(g)
    s = f(x[0]) * 2.0 + f(x[1]) - f(x[2])
""",
    "two of them": """
    h = make(x * 1.0, [c[0], 2.0], [])
    s = next(g) + next(h)
    for k in range(3):
        s += (g.send((h.send(x[k]) or 0.0) * 0.5) or 0.0)
""",
    "until it ends": """
    s, k = next(g), 0
    try:
        while k < 7:
            s += g.send(x[k % 5]) or 0.0
            k += 1
    except StopIteration as e:
        s += 100.0 * e.value
    g.close()
    s += next(g, 3.0)
""",
    "in a branch of sizes": """
    s = next(g)
    for k in range(5):
        if k % 2 == len(x) % 2:
            s += g.send(x[k]) or 0.0
""",
}
X = [np.array([0.3, -0.6, 0.8, 0.4, 0.7]), np.array([1.2, 0.5, -0.4, 0.9, -0.2])]
_NUMBERS = itertools.count()


def _module(body: str, sender: str, tmp_path: Path) -> Any:
    return load(f"import types\nimport numpy as np\n\ndef f(x):\n    def make(x, c, log):{body}\n"
                f"    c, log = [2.0, 1.0], []\n    g = make(x, c, log)\n{sender}\n"
                "    return s + 10.0 * c[0] + 3.0 * c[1] + len(log)\n",
                tmp_path, f"sends_{next(_NUMBERS)}")


def _outcome(call: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
    try:
        return call(x)
    except tracejit.Refusal:
        raise
    except StopIteration:
        return "StopIteration"
    except (TypeError, RuntimeError, AttributeError) as e:
        return f"{type(e).__name__}: {str(e).split(chr(10))[0]}"


def _differences(f: Callable[[np.ndarray], Any], x: np.ndarray) -> np.ndarray:
    h = 1e-6 * np.eye(len(x))
    return np.array([(f(x + d) - f(x - d)) / 2e-6 for d in h])


@pytest.mark.parametrize("sender", SENDERS)
@pytest.mark.parametrize("body", BODIES)
def test_what_is_sent_arrives(body: str, sender: str, tmp_path: Path) -> None:
    module = _module(BODIES[body], SENDERS[sender], tmp_path)
    try:
        with tracejit.config(disable_jit=True):
            for x in X:
                expected = _outcome(module.f, x)
                found = _outcome(tracejit.jit(module.f), x)
                if isinstance(expected, str) or isinstance(found, str):
                    assert found == expected
                    continue
                np.testing.assert_allclose(found, expected, rtol=1e-13)
                np.testing.assert_allclose(tracejit.grad(module.f)(x), _differences(module.f, x),
                                           rtol=1e-6, atol=1e-7)
    finally:
        sys.modules.pop(module.__name__, None)


def sent_too_early(x: Any) -> Any:
    def g() -> Any:
        yield 1.0

    return g().send(x[0])


def sent_too_late(x: Any) -> Any:
    def g() -> Any:
        yield x[0]

    h = g()
    return next(h) + sum(h) + h.send(None)


def sent_to_a_list(x: Any) -> Any:
    def g() -> Any:
        yield from [x[0], x[1]]

    h = g()
    return next(h) + h.send(2.0)


def sent_after_a_loop(x: Any) -> Any:
    def g() -> Any:
        v = x[0]
        while True:
            v += (yield v) or 0.5

    h, s = g(), 0.0
    for v in h:
        s += v
        if s > 2.0:
            break
    return s


@pytest.mark.parametrize("f", [sent_too_early, sent_too_late])
def test_what_cannot_be_sent_is_pythons_error(f: Callable[..., Any]) -> None:
    with pytest.raises((TypeError, StopIteration)) as expected:
        f(X[0])
    with tracejit.config(disable_jit=True), pytest.raises(type(expected.value)) as found:
        tracejit.jit(f)(X[0])
    assert str(found.value).split("\n")[0] == str(expected.value)


def test_a_list_receives_nothing() -> None:
    with tracejit.config(disable_jit=True), pytest.raises(AttributeError, match="'send'"):
        tracejit.jit(sent_to_a_list)(X[0])


def test_loops_send_none() -> None:
    with tracejit.config(disable_jit=True):
        for x in X:
            np.testing.assert_allclose(tracejit.jit(sent_after_a_loop)(x), sent_after_a_loop(x))


def test_a_loop_on_data_around_the_sender_is_refused(tmp_path: Path) -> None:
    module = _module(BODIES["statement"], """
    s, t = next(g), x[0] * 20.0
    while t > 0.1:
        t *= 0.5
        s += g.send(t)
""", tmp_path)
    try:
        with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal) as found:
            tracejit.jit(module.f)(X[0])
        assert "this `while` on data cannot be captured" in str(found.value)
        assert str(found.value).startswith(str(module.__file__))
    finally:
        sys.modules.pop(module.__name__, None)
