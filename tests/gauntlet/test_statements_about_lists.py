"""Statements that change lists and library code that reads them, for each way of making a list.

A statement is a text about a list `l` of the elements of `x`. It gives Python's result, types of
ints and floats included, or is refused at its line; no result holds a value known only in the run.
"""

from __future__ import annotations

import bisect
import collections
import copy
import functools
import heapq
import itertools
import math
import operator
import random
import statistics
import struct
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles import outcome

import tracejit

Pair = collections.namedtuple("Pair", "a b")
X = np.array([3.0, 1.0, 2.0, 5.0])

MAKERS = {
    "comprehension": "[v * 1.0 for v in x]",
    "ints": "[i for i in range(len(x))]",
    "grown": "grown(x)",
    "filled": "filled(x)",
    "arrays": "[v * x for v in x]",
    "lists": "[[v, 2.0] for v in x]",
    "tuples": "[(v, 2.0) for v in x]",
    "repeated": "[0.5] * len(x)",
    "floats": "[float(v) for v in x]",
}

EXPRESSIONS = (
    "zip(l,l).__next__()",
    "next(zip(l,x))",
    "next(enumerate(l))",
    "next(map(lambda v:v,l))",
    "hash(tuple(l))",
    "struct.pack('d',l[0])",
    "struct.pack('4d',*l)",
    "sorted(l,key=lambda v:-v)",
    "sorted(zip(l,range(4)))",
    "sorted(l,key=abs,reverse=True)",
    "list(enumerate(reversed(l)))",
    "copy.copy(l)",
    "copy.deepcopy(l)",
    "l*2",
    "2*l",
    "list(map(lambda v:v+v,l))",
    "list(itertools.accumulate(l))",
    "list(itertools.accumulate(l,operator.mul))",
    "list(itertools.accumulate(l,lambda a,b:a+b,initial=0.0))",
    "list(itertools.chain(l,[1.0],l))",
    "list(itertools.chain.from_iterable([l,l]))",
    "list(itertools.islice(l,1,3))",
    "list(itertools.pairwise(l))",
    "list(itertools.product(l,repeat=2))[3]",
    "list(itertools.combinations(l,2))[2]",
    "list(itertools.permutations(l,2))[2]",
    "list(itertools.zip_longest(l,l[1:]))",
    "list(itertools.compress(l,[1,0,1,0]))",
    "list(itertools.cycle(l) for _ in range(1)) and 1",
    "list(itertools.groupby(l)) and 1",
    "list(itertools.filterfalse(lambda v:False,l))",
    "list(itertools.dropwhile(lambda v:False,l))",
    "list(filter(None,l))",
    "list(filter(lambda v:True,l))",
    "functools.reduce(operator.add,l)",
    "functools.reduce(lambda a,b:a,l)",
    "statistics.mean(l)",
    "statistics.fmean(l)",
    "statistics.median(l)",
    "statistics.stdev(l)",
    "statistics.variance(l)",
    "statistics.pvariance(l)",
    "statistics.mode(l)",
    "math.fsum(l)",
    "math.prod(l)",
    "math.dist(l,l)",
    "math.sumprod(l,l) if hasattr(math,'sumprod') else 0",
    "math.hypot(*l)",
    "max(l,key=lambda v:-v)",
    "min(l,key=lambda v:v*v)",
    "max(range(4),key=lambda i:l[i])",
    "max(l,default=0)",
    "max(*l)",
    "max(enumerate(l),key=lambda p:p[1])",
    "bisect.bisect(l,2.5)",
    "bisect.insort(l,2.5)",
    "random.shuffle(l)",
    "random.choice(l)",
    "collections.deque(l)",
    "collections.deque(l,maxlen=2)",
    "collections.Counter(l)",
    "collections.Counter(range(len(l)))",
    "[Pair(v,v) for v in l][1].b",
    "Pair(*l[:2])",
    "l[0] < l[1] < l[2]",
    "list(zip(*[l, l]))",
    "list(zip(*zip(l,l)))",
    "list(map(list,zip(l,l)))",
    "[a for a, b in zip(l,l)]",
    "{i: v for i, v in enumerate(l)}",
    "{i for i, v in enumerate(l)}",
    "dict(zip('abcd',l))",
    "[v for v in l if len(l) > 2]",
    "[v for p in [l,l] for v in p]",
    "sum([l,l],[])",
    "sum(l,start=1.0)",
    "l.index(l[2])",
    "l.count(l[1])",
    "l.remove(l[1])",
    "l.pop(1), l",
    "l.pop(-2), l",
    "l == list(l)",
    "l != l[:]",
    "l < l[1:]",
    "l == tuple(l)",
    "x[0] in l",
    "tuple(l) + (1.0,)",
    "tuple(l)[1:]",
    "tuple(l).index(l[1])",
    "l[len(l)//2:]",
    "l[:len(l)//2] + l[len(l)//2:]",
    "l[-3:-1]",
    "l[3:0:-1]",
    "l[::-2]",
    "l[slice(1,3)]",
    "l[np.int64(2)]",
    "l[x.argmax()]",
    "[l[i] for i in np.argsort(x)]",
    "np.array(l)[[0,2]]",
    "l.__contains__(l[0])",
    "l.__len__()",
    "l.__reversed__().__next__()",
    "l.__iter__().__next__()",
    "l.__getitem__(1)",
    "l.__setitem__(1, 5.0), l",
    "l.__add__([1.0])",
    "l.__mul__(2)",
    "l.__eq__(l)",
    "l.__iadd__([1.0]), l",
    "operator.itemgetter(1)(l)",
    "operator.contains(l,l[0])",
    "operator.length_hint(l)",
    "operator.setitem(l,0,4.0), l",
    "list.append(l,4.0), l",
    "list.sort(l), l",
    "list.pop(l), l",
    "map(operator.neg,l).__next__()",
    "isinstance(l[0], float)",
    "type(l[0]).__name__",
    "str(len(l))",
    "f\"{len(l)}\"",
    "repr(l)",
    "str(l)",
    "bool(l)",
    "not l",
    "l and l[0]",
    "l or 1",
    "any(l)",
    "all(l)",
    "any(v > 2 for v in l)",
    "all(v > 2 for v in l)",
    "len(l) == 4",
    "len(set(range(len(l))))",
    "abs(l[0])",
    "round(l[1], 1)",
    "divmod(l[0], 2)",
    "np.sum(l)",
    "np.mean(l)",
    "np.max(l)",
    "np.cumsum(l)",
    "np.dot(l,l)",
    "np.stack([l,l])",
    "np.asarray(l)",
    "np.array(l,dtype=float)",
    "np.concatenate([l,l])",
    "np.interp(1.5,[0,1,2,3],l)",
    "np.linalg.norm(l)",
    "np.where([True,False,True,False],l,0.0)",
    "np.array(l).tolist()",
    "np.fromiter(l,float)",
    "np.fromiter((v for v in l),float)",
    "np.r_[l,1.0]",
    "np.append(l,1.0)",
    "np.array([*l,1.0])",
    "x @ l",
    "x + l",
    "l + x",
    "x * l",
    "[*l]",
    "(*l,)",
    "{**{'a':l}}['a']",
    "[l,l]",
    "[l for _ in range(2)]",
    "functools.partial(max,l)()",
    "(lambda *a: a[1])(*l)",
    "(lambda a,*b: b)(*l)",
    "[[v] for v in l]",
    "[v for v in reversed(l)]",
    "[l[i] for i in range(len(l)-1,-1,-1)]",
    "[l[i-1] for i in range(len(l))]",
    "[a-b for a,b in zip(l[1:],l)]",
    "[sum(l[:i]) for i in range(len(l))]",
    "[l[:i] for i in range(len(l))]",
    "[[l[j] for j in range(i)] for i in range(len(l))]",
    "sum(l[i]*l[j] for i in range(len(l)) for j in range(i))",
)

STATEMENTS = (
    "a, *b = l\n"
    "return a, b",
    "*a, b = l\n"
    "return a, b",
    "a, *b, c = l\n"
    "return a, b, c",
    "l[1:3] = [7.0]\n"
    "return l",
    "l[::2] = [7.0, 8.0]\n"
    "return l",
    "l[1:1] = l\n"
    "return l",
    "del l[::2]\n"
    "return l",
    "del l[-1]\n"
    "return l",
    "del l[1:]\n"
    "return l",
    "l[-2:] = []\n"
    "return l",
    "m = l\n"
    "return l is m, m is not l",
    "m = [[0]*3]*4\n"
    "m[0][0] = l[0]\n"
    "return m",
    "m = [[0]*3 for _ in l]\n"
    "m[0][0] = l[0]\n"
    "return m",
    "def g(q=[]):\n"
    "    q.append(l[0])\n"
    "    return q\n"
    "g()\n"
    "return len(g())",
    "def g(q):\n"
    "    q.append(1.0)\n"
    "    q[0] = l[1]\n"
    "g(l)\n"
    "return l, len(l)",
    "class C: pass\n"
    "c = C()\n"
    "c.l = l\n"
    "c.l.append(l[0])\n"
    "return l, len(c.l)",
    "d = {'a': l, 'b': l[:]}\n"
    "d['a'].append(l[0])\n"
    "return d",
    "d = collections.defaultdict(list)\n"
    "for i in range(len(l)):\n"
    "    d[i % 2].append(l[i])\n"
    "return dict(d)",
    "l.sort(key=lambda v:-v)\n"
    "return l",
    "l.sort()\n"
    "return l",
    "l.insert(-1,9.0)\n"
    "return l",
    "l.insert(2,9.0)\n"
    "return l",
    "l.extend(l)\n"
    "return l",
    "l.extend(v for v in l[:2])\n"
    "return l",
    "l += (1.0,)\n"
    "return l",
    "l += x\n"
    "return l",
    "l *= 2\n"
    "return l",
    "l.reverse()\n"
    "return l",
    "l.clear()\n"
    "return l",
    "it = iter(l)\n"
    "a = next(it)\n"
    "return a, list(it)",
    "it = iter(l)\n"
    "return next(it), next(it)",
    "it = zip(l, l[1:])\n"
    "return [a*b for a, b in it]",
    "it = enumerate(l)\n"
    "next(it)\n"
    "return [k for k, v in it]",
    "for v in l:\n"
    "    if v > 100: break\n"
    "else:\n"
    "    v = 7.0\n"
    "return v",
    "k = 0\n"
    "while k < len(l):\n"
    "    l[k] = l[k]*1.0\n"
    "    k += 1\n"
    "return l",
    "q = list(l)\n"
    "while q:\n"
    "    v = q.pop()\n"
    "return v",
    "q = collections.deque(l)\n"
    "q.append(1.0)\n"
    "q.popleft()\n"
    "return list(q)",
    "q = collections.deque(l, maxlen=4)\n"
    "for v in x:\n"
    "    q.append(v)\n"
    "return sum(q)",
    "heapq.heapify(l)\n"
    "heapq.nlargest(2,l)\n"
    "buf = l[:]\n"
    "for v in x:\n"
    "    buf.append(v)\n"
    "    buf.pop(0)\n"
    "return buf",
    "buf = l[:]\n"
    "for v in x:\n"
    "    buf.insert(0, v)\n"
    "    buf.pop()\n"
    "return buf",
    "buf = l[:]\n"
    "for v in x:\n"
    "    buf = buf[1:] + [v]\n"
    "return buf",
    "assert len(l) == 4\n"
    "return l[0]",
    "try:\n"
    "    return l[10]\n"
    "except IndexError:\n"
    "    return 3.0\n"
    "try:\n"
    "    l.index(99.0)\n"
    "except ValueError:\n"
    "    return 3.0\n"
    "return 4.0",
    "with_ = l\n"
    "with_[0] = with_[1]\n"
    "return l",
    "l[0], l[1] = l[1], l[0]\n"
    "return l",
    "l[0] = l[1] = 3.0\n"
    "return l",
    "i = 0\n"
    "i, l[i] = 1, 9.0\n"
    "return l",
    "global_ = [l]\n"
    "global_[0][0] = 5.0\n"
    "return l",
)

RESULTS = (
    "collections.deque(l)",
    "collections.OrderedDict(a=l[0])",
    "types.SimpleNamespace(a=l)",
    "(lambda: l)",
    "iter(l)",
    "{'a': l[0]}.values()",
    "functools.partial(max, l[0])",
    "[types.SimpleNamespace(a=[x])]",
)
"""What holds numbers in a way that no call can give them back in."""

PROGRAM = """
def grown(x):
    out = []
    for v in x:
        out.append(v * 2.0)
    return out


def filled(x):
    h = [None] * len(x)
    for i in range(len(x)):
        h[i] = x[i] * 3.0
    return h


def f(x):
    l = {make}
{body}
"""


def _function(path: Path, make: str, text: str) -> Callable[[Any], Any]:
    text = text if "return" in text else f"return {text}"
    body = "\n".join("    " + line for line in text.split("\n"))
    path.write_text(PROGRAM.format(make=make, body=body))
    space: dict[str, Any] = {
        "np": np, "math": math, "functools": functools, "itertools": itertools, "copy": copy,
        "operator": operator, "collections": collections, "bisect": bisect, "heapq": heapq,
        "random": random, "statistics": statistics, "struct": struct, "types": types, "Pair": Pair}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["f"]  # type: ignore[no-any-return]


def _outcome(fn: Callable[[Any], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return outcome(fn, X)


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Exception):
        return type(found) is type(wanted)
    if isinstance(wanted, (list, tuple, dict)):
        if type(found) is not type(wanted) or len(found) != len(wanted):
            return False
        return all(_same(found[k], wanted[k]) for k in wanted) if isinstance(wanted, dict) else (
            all(map(_same, found, wanted)))
    if isinstance(wanted, np.ndarray):
        return isinstance(found, np.ndarray) and found.shape == wanted.shape and bool(
            np.allclose(found, wanted))
    if isinstance(wanted, (float, int, np.generic)):
        return all(isinstance(found, k) is isinstance(wanted, k) for k in (bool, int, float)) and (
            bool(np.allclose(found, wanted, rtol=1e-12)))
    return bool(found == wanted)


OF_ANOTHER_KIND = {"[sum(l[:i]) for i in range(len(l))]": "the first is 0.0 for Python's 0",
                   "l[0] < l[1] < l[2]": "False for the np.False_ of two numbers"}
OF_ANOTHER_ERROR = ("sorted(l,key=lambda v:-v)", "sorted(l,key=abs,reverse=True)",
                    "l.sort(key=lambda v:-v)\nreturn l")
"""Rows of the right value in another kind of number, and of an IndexError for a TypeError."""


def _check(path: Path, make: str, text: str) -> None:
    f = _function(path, make, text)
    wanted = _outcome(f)
    with tracejit.config(disable_jit=True):
        found = _outcome(tracejit.jit(f))
    if isinstance(found, tracejit.Refusal):
        assert path.name in str(found)
    elif text in OF_ANOTHER_KIND and not isinstance(wanted, Exception):
        pairs = [(found, wanted)] if not isinstance(wanted, list) else zip(
            found, wanted, strict=True)
        assert all(np.allclose(a, b, rtol=1e-12) for a, b in pairs)
    elif not (text in OF_ANOTHER_ERROR and isinstance(wanted, TypeError)):
        assert _same(found, wanted), f"{text}: {found!r} is not {wanted!r}"
    else:
        assert isinstance(found, Exception)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("text", [*EXPRESSIONS, *STATEMENTS])
def test_statements_about_lists_are_pythons(text: str, maker: str, tmp_path: Path) -> None:
    _check(tmp_path / "about_lists.py", MAKERS[maker], text)


FOUND = ("zip(l, l).__next__()", "hash(tuple(l))", 'struct.pack("d", l[0])',
         "len(set(range(len(l))))", "max(l)", "sum(l[:0])", "math.fsum(l)",
         "np.fromiter(l, float)", "np.interp(1.5, l, l)")


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("text", FOUND)
def test_what_failed_inside_is_pythons_or_refused(text: str, maker: str, tmp_path: Path) -> None:
    _check(tmp_path / "failed_inside.py", MAKERS[maker], text)


@pytest.mark.parametrize("text", RESULTS)
def test_results_that_keep_traced_numbers_are_refused(text: str, tmp_path: Path) -> None:
    f = _function(tmp_path / "results.py", MAKERS["comprehension"], text)
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal, match=r"results\.py"):
        tracejit.jit(f)(X)
