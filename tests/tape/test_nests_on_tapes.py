"""Nests with recorded values as arguments: their gradients are by the numbers of each call.

Each case is a nest around a tape value or variable and a number, and a function of it. The oracle
is the derivative by hand.
"""

from __future__ import annotations

import collections
import copy
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracejit

Named = collections.namedtuple("Named", ["w", "k"])


@dataclass
class Record:
    w: Any
    k: Any = 1.0


@dataclass(frozen=True, slots=True)
class Frozen:
    w: Any
    k: Any = 1.0


NESTS = {
    "list": (lambda w, k: [w, k], lambda p: p), "tuple": (lambda w, k: (w, k), lambda p: p),
    "dict": (lambda w, k: {"w": w, "k": k}, lambda p: p.values()),
    "named": (Named, lambda p: p), "record": (Record, lambda p: (p.w, p.k)),
    "frozen": (Frozen, lambda p: (p.w, p.k)),
    "records in a list": (lambda w, k: [Record(w), Record(k)], lambda p: (p[0].w, p[1].w)),
    "a record of lists": (lambda w, k: Record([w], {"k": k}), lambda p: (p.w[0], p.k["k"])),
    "a record in a record": (lambda w, k: Record(Frozen(w, k)), lambda p: (p.w.w, p.w.k)),
}
CALLS = {
    "jit": lambda f, p: tracejit.jit(f)(p), "by keyword": lambda f, p: tracejit.jit(f)(p=p),
    "checkpoint": lambda f, p: tracejit.checkpoint(f)(p),
    "value_and_grad": lambda f, p: tracejit.value_and_grad(lambda s, q: s * f(q))(1.0, p)[0],
    "vjp": lambda f, p: tracejit.vjp(f, p)[0],
}
KINDS = {"tape value": tracejit.constant, "variable": tracejit.Variable}


@pytest.mark.parametrize(("nest", "call", "kind"), [*itertools.product(NESTS, CALLS, KINDS)])
def test_a_gradient_by_a_part_of_a_nest_is_by_the_numbers_beside_it(nest, call, kind):
    put, parts = NESTS[nest]

    def f(p):
        w, k = parts(p)
        return np.sum(w * w * k)

    x = np.array([1.0, 2.0, -3.0])
    with tracejit.config(disable_jit=True):
        for k in (2.0, 3.0, 2.0):
            w = KINDS[kind](x)
            with tracejit.GradientTape() as tape:
                tape.watch(w)
                y = CALLS[call](f, put(w, k))
            assert float(y) == 14.0 * k
            np.testing.assert_allclose(tape.gradient(y, w).numpy(), 2.0 * k * x)


def test_a_copy_of_a_variable_is_a_variable_of_its_own():
    v = tracejit.Variable([1.0, 2.0], name="v", trainable=False)
    for made in (copy.copy(v), copy.deepcopy(v)):
        made.assign([5.0, 5.0])
        assert (made.name, made.trainable) == ("v", False)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_tape_whose_gradient_failed_says_that_it_was_used():
    op = tracejit.register_op("WithoutGradientOnNests", lambda x: x * x)
    x = tracejit.constant(3.0)
    with tracejit.GradientTape() as tape:
        tape.watch(x)
        y = op(x * 1.0) + x * x
    with pytest.raises(LookupError):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="not persistent"):
        tape.gradient(y, x)
