"""No syntax gets round the hooks: every read of a global is guarded, every write is a branch's own.

The oracle is Python.
"""

from __future__ import annotations

import dis
import linecache
import types
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.trace.syntax.rewriter import rewrite_function

SYNTAX = """
def f(x):
    a = lambda y, z=G1, *, k=G2: y + G3
    def g(y, z=G6, *args, k=G8, **kw): return G10
    with G11 as b, G12 as G13[G14]: pass
    with G15 as (c, d): pass
    for G16.a in G17: pass
    for e, G18[G19] in G20: pass
    [G21 for h in G22 if G23]
    {G27: G28 for h in G29}
    {G30 for h in G31 for i in G32 if G33}
    (G34 for h in G35)
    del G36[G37], (G38[G39], G40.a, [G41.a, G42[G43]])
    G44[G45] += G46
    G47.a += G48
    G49[G50], G51.a = G52
    G53.a: G54 = G55
    q: G56 = G57
    try: pass
    except G58: pass
    try: pass
    finally: G59
    assert G60, G61
    match G62:
        case G63.a: pass
        case {G64.k: 1, **rest}: pass
        case [1, *t] if G65: pass
    f"{G66:{G67}} {G68!r}"
    class A(G69, metaclass=G70):
        u = G71
        v: G72 = G73
        w = [G74 for h in G75]
        def m(self, y=G76): return G77
        if G78: s = G79
        with G80 as k: pass
        try: pass
        except G81: pass
        y = lambda t=G82, *, u=G83: G84
        while G85: break
        assert G86
    return (vv := G87) if G88 else G89[G90:G91:G92, ...][*G93] < G94 < G95
    @G96(G97)
    def deco(): pass
    G98(*G99, **G100, k=G101)
    [*G102, {**G103}]
    -G104 and not G105
    print(G106 if G107 else G108, end=G109)
    x.y.z = G110
    while G111: G112
    if G113: pass
    elif G114: pass
    raise G115 from G116
"""


def made(source: str, name: str = "f") -> Callable[..., Any]:
    file = f"<hooks {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "nullcontext": nullcontext}
    exec(compile(source, file, "exec"), space)
    fn: Callable[..., Any] = space[name]
    return fn


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            yield from codes(c)


def test_no_syntax_reads_a_global_natively() -> None:
    new = rewrite_function(made(SYNTAX), object())
    assert new is not None
    native = {i.argval for c in codes(new.__code__) for i in dis.get_instructions(c)
              if i.opname in ("LOAD_GLOBAL", "LOAD_NAME") and str(i.argval).startswith("G")}
    assert native == {"G63", "G64"}  # of patterns: they are read by hooks before the match, too


BRANCHES = {
    "del of a tuple": ("xs = [1.0, 2.0]", "del (xs[0],)", "xs[0]"),
    "del of a list": ("xs = [1.0, 2.0, 3.0]", "del [xs[0], (xs[0],)]", "xs[0]"),
    "with an item": ("xs = [1.0]", "with nullcontext(5.0) as xs[0]: pass", "xs[0]"),
    "with two": ("xs, k = [1.0, 2.0], 0",
                 "with nullcontext(1) as k, nullcontext(5.0) as xs[k]: pass", "xs[1] + xs[0]"),
    "with a tuple": ("xs = [1.0, 2.0]", "with nullcontext((5.0, x)) as (xs[0], xs[1]): pass",
                     "xs[0] * xs[1]"),
    "for an item": ("xs = [1.0]", "for xs[0] in (5.0, 6.0): pass", "xs[0]"),
    "a comprehension": ("xs = [1.0]", "[0 for xs[0] in (5.0, 6.0)]", "xs[0]"),
    "a class": ("xs = [1.0]", "class A: xs[0] = 5.0", "xs[0]"),
    "a class that adds": ("xs = [1.0]", "class A: xs[0] += 5.0", "xs[0]"),
    "a class that deletes": ("xs = [1.0, 2.0]", "class A: del xs[0]", "xs[0]"),
    "locals": ("y = 2.0", "y = locals().get('y', 7.0) * 2.0", "y"),
    "except*": ("xs = [1.0]", "try: xs[0] = 5.0\n        except* ValueError: pass", "xs[0]"),
}
REFUSED = ("a comprehension", "a class", "a class that adds", "a class that deletes", "locals",
           "except*")


@pytest.mark.parametrize("case", BRANCHES)
def test_a_write_in_a_branch_is_seen_after_it_alone(case: str) -> None:
    before, write, read = BRANCHES[case]
    fn = made(f"def f(x):\n    {before}\n    if x > 0.0:\n        {write}\n    return ({read}) * x")
    with tracejit.config(disable_jit=True):
        compiled = tracejit.value_and_grad(fn)
        if case in REFUSED:
            with pytest.raises(tracejit.Refusal, match=r">:4|>:5"):
                compiled(1.5)
            return
        for x in (1.5, -1.5):
            value, slope = compiled(x)
            assert np.isclose(value, fn(x)), (case, x)
            assert np.isclose(slope, (fn(x + 1e-6) - fn(x - 1e-6)) / 2e-6), (case, x)


DEFERRED = ("lambda t: (y := t * 2.0) if t > 0.0 else 0.0", "lambda t: t > 0.0 and (y := t)",
            "lambda v: [(t > 0.0) and (y := t * 2.0) for t in (v, 2.0 * v)][0]")


@pytest.mark.parametrize("text", DEFERRED)
def test_a_name_bound_in_a_deferred_part_of_a_lambda_is_refused(text: str) -> None:
    fn = made(f"def f(x):\n    t, y = 10.0, 3.0\n    g = {text}\n    return g(x) + y")
    with pytest.raises(tracejit.Refusal, match=r">:3: `:=` in `and`"):
        tracejit.jit(fn)(1.5)


def test_a_module_s_own_dir_is_called() -> None:
    for name in ("dir", "vars", "locals", "globals"):
        fn = made(f"def {name}(): return [1, 2, 3]\ndef f(x): return x * len({name}())")
        with tracejit.config(disable_jit=True):
            assert tracejit.jit(fn)(2.0) == 6.0, name
