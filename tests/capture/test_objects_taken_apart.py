"""Objects from outside that a capture takes apart are never stale: later calls are Python's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit import config, grad, jit, jvp, scan, vjp, vmap


@dataclass
class Data:
    """A data class."""

    a: Any
    w: Any
    n: Any = 2.0


class Plain:
    """A class of one's own."""

    def __init__(self, a, w, n=2.0):
        self.a, self.w, self.n = a, w, n


class Slotted:
    """One without a dict."""

    __slots__ = ("a", "n", "w")

    def __init__(self, a, w, n=2.0):
        self.a, self.w, self.n = a, w, n


KINDS = [Data, Plain, Slotted]
OUTER = Data(2.0, np.ones(3))
"""The object from outside; each test puts another one here."""


def new(o, a):
    return type(o)(a, o.w, o.n)


def in_for(x):
    p = OUTER
    for _ in range(20):
        p = new(p, p.a + x)
    return p.a * p.n + p.w[0]


def in_while(x):
    p = OUTER
    while p.a < 9 * x:
        p = new(p, p.a + x)
    return p.a * p.n + p.w[0]


def in_branch(x):
    p = OUTER
    if x < 0:
        p = new(p, x)
    return p.a * p.n + p.w[0]


def in_list(x):
    found = [OUTER, new(OUTER, x)]
    p = found[0]
    for k in range(2):
        if x > k:
            p = found[k]
    return p.a * p.n + p.w[0]


def in_fori_loop(x):
    p = tracejit.fori_loop(0, 3, lambda i, p: new(p, p.a + x), OUTER)
    return p.a * p.n + p.w[0]


BY_STRUCTURE = {
    "grad": (lambda x: grad(lambda p: p.a * p.a * np.sum(p.w) * x * p.n)(OUTER).a,
             lambda x: 2 * OUTER.a * np.sum(OUTER.w) * x * OUTER.n),
    "grad of an array": (lambda x: grad(lambda p: p.a * np.sum(p.w ** 2) * x * p.n)(OUTER).w,
                         lambda x: 2 * OUTER.a * OUTER.w * x * OUTER.n),
    "vjp": (lambda x: vjp(lambda p: p.a ** 2 * p.n * x, OUTER)[1](1.0)[0].a,
            lambda x: 2 * OUTER.a * OUTER.n * x),
    "jvp": (lambda x: jvp(lambda p: p.a ** 2 * p.n * x, (OUTER,), (OUTER,))[1],
            lambda x: 3 * OUTER.a ** 2 * OUTER.n * x),
    "jit": (lambda x: jit(lambda p: p.a * p.n * p.w[1] + x)(OUTER),
            lambda x: OUTER.a * OUTER.n * OUTER.w[1] + x),
    "scan": (lambda x: scan(lambda c, y: (new(c, c.a * y), c.a), OUTER, np.arange(3.0) + x)[1],
             lambda x: OUTER.a * np.array([1.0, x, x * (x + 1)])),
    "vmap": (lambda x: vmap(lambda p, y: y * p.a * p.n, in_axes=(None, 0))(OUTER, np.ones(2)) * x,
             lambda x: np.ones(2) * OUTER.a * OUTER.n * x),
    "returned": (lambda x: (OUTER, x)[0], lambda x: OUTER),
}


def check(f, python, kind):
    global OUTER
    OUTER = kind(2.0, np.array([1.0, 2.0, 3.0]))
    f, x = jit(f), 1.5
    changes = [lambda: None, lambda: setattr(OUTER, "a", 3.0), lambda: OUTER.w.__setitem__(0, 5.0),
               lambda: setattr(OUTER, "n", 4.0), lambda: setattr(OUTER, "w", np.ones(4)),
               lambda: globals().__setitem__("OUTER", kind(1.0, np.ones(3)))]
    with config(disable_jit=True):
        for k, change in enumerate(changes):
            change()
            found, expected = f(x), python(x)
            for name in ("a", "w", "n") if isinstance(expected, kind) else ("real",):
                np.testing.assert_allclose(getattr(found, name), getattr(expected, name),
                                           err_msg=f"after change {k}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", [in_for, in_while, in_branch, in_list, in_fori_loop])
def test_branches_and_loops_that_open_an_object_read_it_at_each_call(f, kind):
    check(f, f, kind)


@pytest.mark.parametrize("what", [*BY_STRUCTURE])
def test_transforms_within_a_capture_read_a_data_class_at_each_call(what):
    check(*BY_STRUCTURE[what], Data)


def test_a_pullback_within_a_capture_may_be_of_numbers_that_are_known():
    f = jit(lambda x: vjp(lambda a: a * a * x, 4.0)[1](1.0)[0])
    assert f(1.0) == 8.0 and f(2.0) == 16.0
