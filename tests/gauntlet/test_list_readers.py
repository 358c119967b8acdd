"""Functions that take a list treat one with as many items as a size says like any other."""

from __future__ import annotations

import collections
import copy
import functools
import itertools
import math
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracejit
from tracejit.errors import Refusal

EXPRESSIONS = (
    "functools.reduce(lambda a,b:a*b,l)",
    "functools.reduce(lambda a,b:a*b,l,2.)",
    "functools.reduce(operator.add,l)",
    "math.prod(l)",
    "math.fsum(l)",
    "list(itertools.chain(l,l))",
    "list(itertools.islice(l,2))",
    "len(list(itertools.product(l,l)))",
    "list(itertools.zip_longest(l,l[1:],fillvalue=0.))",
    "list(itertools.pairwise(l))",
    "list(itertools.repeat(l,2))[1]",
    "list(itertools.starmap(lambda a,b:a*b,zip(l,l)))",
    "list(itertools.takewhile(lambda v:True,l))",
    "collections.deque(l)[0]",
    "len(collections.deque(l,2))",
    "dict(enumerate(l))",
    "tuple(l)",
    "np.array(l)",
    "np.stack(l)",
    "np.vstack(l)",
    "np.concatenate([l,l])",
    "np.asarray(l).sum()",
    "np.dot(l,l)",
    "np.mean(l)",
    "np.max(l)",
    "np.outer(l,l)",
    "np.sum(l,axis=0)",
    "np.add(l,1)",
    "np.array([l,l])",
    "sorted(l)",
    "sorted(l,reverse=True)",
    "max(l)",
    "[*l,*l]",
    "(*l,)",
    "{'a':l}['a'][1]",
    "list(reversed(l))",
    "list(map(lambda a,b:a*b,l,l))",
    "sum(map(lambda v:v*v,l))",
    "any(v>2 for v in l)",
    "all(v>0 for v in l)",
    "''.join(['a' for v in l])",
    "operator.itemgetter(0,2)(l)",
    "operator.getitem(l,1)",
    "l.__getitem__(1)",
    "l.__len__()",
    "list.__len__(l)",
    "list.copy(l)",
    "operator.concat(l,l)",
    "list.__add__(l,l)",
    "np.linalg.norm(l)",
    "np.cumsum(l)",
    "np.diff(l)",
    "np.polyval(l,2.0)",
    "x@l",
    "x*l",
    "x+l",
    "l*x",
    "np.where([True,False,True],l,0.)",
    "np.full(3,l)",
    "np.atleast_2d(l)",
    "np.interp(0.5,[0.,1.,2.],l)",
    "np.isclose(l,l)",
    "l[-1]",
    "l[0:2]",
    "l[::2]",
    "l[np.int64(1)]",
    "l[True]",
    "l[5]",
    "l[1.0]",
    "id(l)==id(l)",
    "l is l",
    "bool(l)",
    "not l",
    "l or 3",
    "l and 3",
    "l if l else 2",
    "max(l,default=1.)",
    "max([],default=x[0])",
    "divmod(l[0],2)",
    "round(l[0])",
    "copy.copy(l)",
    "next(iter(l))",
    "list(iter(l))",
    "[*zip(l,range(3))]",
    "dict.fromkeys(range(2),l)[1]",
    "l.__iter__().__next__()",
    "(l+[1.0])[3]",
    "(l+l)[4]",
    "([0.5]+l)[0]",
    "np.array(l+[1.0])",
    "l.__class__",
    "type(l)()",
    "isinstance(l,(tuple,list))",
    "isinstance(l,collections.abc.Sequence)",
    "callable(l)",
    "np.shape(l)",
    "np.ndim(l)",
    "np.size(l)",
    "len(l)*x[0]",
    "np.zeros(len(l))",
    "np.empty_like(l).shape",
    "[l[i]*l[j] for i in range(3) for j in range(i)]",
    "sum((l[i] for i in range(3)),0.)",
    "np.average(l,weights=l)",
    "np.einsum('i,i',l,l)",
    "np.tensordot(l,l,1)",
    "np.kron(l,l)",
    "np.sort(l)",
    "np.argsort(l)",
    "np.flip(l)",
    "np.roll(l,1)",
    "np.repeat(l,2)",
    "np.tile(l,2)",
    "np.split(np.array(l),3)",
    "np.array_split(np.array(l),2)",
)
"""Of a list `l` of the elements of `x`."""


def _function(tmp_path: Path, expression: str) -> Callable[[Any], Any]:
    text = f"def f(x):\n    l = [v * 1.0 for v in x]\n    return {expression}\n"
    path = tmp_path / "reader.py"
    path.write_text(text)
    space = {"np": np, "math": math, "functools": functools, "itertools": itertools, "copy": copy,
             "operator": operator, "collections": collections}
    exec(compile(text, str(path), "exec"), space)
    return space["f"]  # type: ignore[return-value]


def _outcome(call: Callable[[Any], Any]) -> Any:
    try:
        return call(np.array([3.0, 1.0, 2.0]))
    except Refusal:
        raise
    except Exception as e:
        return type(e)


def _same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (list, tuple, dict)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        pairs = ((found[k], wanted[k]) for k in wanted) if isinstance(wanted, dict) else zip(
            found, wanted, strict=True)
        for x, y in pairs:
            _same(x, y)
    elif wanted is None or isinstance(wanted, (type, str)):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        assert np.asarray(found).dtype.kind == np.asarray(wanted).dtype.kind


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_list_is_read_as_python_reads_it(expression: str, tmp_path: Path) -> None:
    f = _function(tmp_path, expression)
    with tracejit.config(disable_jit=True):
        _same(_outcome(tracejit.jit(f)), _outcome(f))
