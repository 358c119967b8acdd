"""`print` in captured code prints at each call what Python would, in the same order."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracejit
from tracejit import config, grad, jit


@dataclass
class Data:
    """A data class."""

    a: Any
    w: Any


class Named(NamedTuple):
    """A named tuple."""

    a: Any
    w: Any


class Shown:
    """A class with texts of its own."""

    def __init__(self, a):
        self.a = a

    def __str__(self):
        return f"Shown({self.a:.2f})"

    def __repr__(self):
        return "<Shown>"


STATEMENTS = {
    "numbers": "print(x, n, w[0], x > 1.0, w[0] > 1.0, 1j * x, -0.0 * x, x * np.inf)",
    "numpy's numbers": "print(np.float32(w[1]), [np.float32(w[1])], np.int8(n), [w[0], w[1] > 0])",
    "arrays": "print(w, w > 1.0, w.astype(np.float32), w * 1e-30, np.arange(2000.0) * x, w[None])",
    "no axes": "z = np.sum(w, keepdims=True).reshape(()); print(z, [z], f'{z:.2f}')",
    "containers": "print([x, w[0]], (n,), {'k': x, n: w}, [[x], [w]], {1, 2}, ())",
    "objects": "print(Data(x, w), Named(x, w), [Data(x, 1)], Shown(x), [Shown(x)], G)",
    "known": "print('text', n, len(w), w.shape, w.dtype, None, True, 1.5, '{}', '%s')",
    "nothing": "print(); print('', end=''); print(sep='-')",
    "sep and end": "print(x, n, sep='\\n', end='--\\n'); print(x, sep=None, end=None)",
    "streams": "print(x, file=sys.stderr, flush=True); print('a', file=sys.stdout, flush=True)",
    "another stream": "b = io.StringIO(); print('abc', file=b); print(len(b.getvalue()))",
    "formats": "print(f'{x:.3f} {w[0]:8.2e} {n:03d} {x!r} {w[0]!r} {w!r} {w} {x:%} {x:+g} {{}}')",
    "padded": "print(f'{x!r:>10}|{x!s:<8}|{n!r:>4}|{x:>+9.2f}|{w[0]!r:>20}|')",
    "str.format": "print('{0:.1f} {1!r} {k[0]}'.format(x, n, k=w), format(x, '.3e'))",
    "percent": "print('%.2f and %s %d %r %5.1f%%|%-8.2e|%+g|%08.3f' % (x, w, n, x, x, x, x, x))",
    "percent of one": "print('%s' % x, '%(a).1f %(b)s' % {'a': x, 'b': n}, '%10s|%-6s|' % (x, n))",
    "joined": "print(', '.join(f'{v:.1f}' for v in [x, x + 1]), 'a' + str(x) + repr(w[0]))",
    "earlier text": "t = f'{w}'; w = w.copy(); w[0] = 100.0; print(t, w)",
    "spread": "print(*[x, n], **{'sep': '/'}); print(*map(str, [x, n]))",
    "a branch": "print('big' if x > 2 else 'small')\nif x > 2: print('>', x)\nelse: print('<', x)",
    "a loop": "for i in range(n):\n    if x > i: print(i, x - i)\n    else: print('no', i)",
    "a long loop": "for i in range(200):\n    if i % 50 == 0: print(i, x + i)",
    "a while": "while x < 10:\n    x = x * 2\n    if x > 5:\n        print('>', x)\n"
               "        continue\n    print('<', x)",
    "a comprehension": "[print(i, w[i]) for i in range(len(w))]",
    "a list": "l = [x * i for i in range(n)]; l.append(w[0]); print(l, l[-1])",
    "a raise": "m = f'x = {x:.2f}'; print(m)\nif x > 2: raise ValueError(m)",
    "a wrong spec": "print('before'); print(f'{w:.2f}')",
    "a wrong separator": "print(x, sep=3)",
    "a wrong keyword": "print(x, stop=3)",
    "too few": "print('%s %s' % (x,))", "too many": "print('%s' % (x, n))",
}
SOURCE = "import io, sys\ndef f(x, w, n):\n    {}\n    return x * np.sum(w)\n"


def function_of(statement, folder):
    path = folder / "shown.py"
    path.write_text(SOURCE.format(statement.replace("\n", "\n    ")))
    names = {"np": np, "Data": Data, "Named": Named, "Shown": Shown, "G": Shown(1.0)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["f"]


def shown_by(f, *args):
    """Return what a call prints to both streams, and its error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            f(*args)
        except (TypeError, ValueError) as e:
            return out.getvalue(), err.getvalue(), type(e), str(e)
    return out.getvalue(), err.getvalue()


CALLS = [(1.5, np.array([0.1, 2.0]), 3), (2.5, np.array([0.1, 1 / 3, 1e-20]), 2)]
KNOWN_EARLY = {"a wrong spec"}
"""Errors that are plain at the capture: nothing before them is printed."""


@pytest.mark.parametrize("what", [*STATEMENTS])
def test_prints_what_python_prints(what, tmp_path):
    f = function_of(STATEMENTS[what], tmp_path)
    with config(disable_jit=True):
        for transformed in (jit(f), grad(f)):
            for args in (*CALLS, CALLS[0]):
                expected, found = shown_by(f, *args), shown_by(transformed, *args)
                assert found[2:] == expected[2:]
                assert found == expected or what in KNOWN_EARLY


SCRIPT = """
import sys
import numpy as np, tracejit

@tracejit.grad
def f(x, w):
    print("start", x, w, f"{x:.3f}", [w[0]])
    while x < 10:
        x = x * 2
        if x > 5:
            print("more", x, file=sys.stderr, flush=True)
    print("%5.1f|" % x, end="")
    return x * np.sum(w)

for x in (1.5, 3.0):
    (f if "compiled" in sys.argv else f.__wrapped__)(x, np.array([0.1, 2.0]))
if "compiled" in sys.argv:
    print([p.is_stored for ps in f._table.values() for p in ps], file=sys.stderr)
"""


def test_compiled_and_loaded_programs_print_what_python_prints(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "TRACEJIT_CACHE": "1", "TRACEJIT_CACHE_DIR": str(tmp_path / "c")}
    plain, first, second = (
        subprocess.run([sys.executable, "script.py", how], cwd=tmp_path, env=environment,
                       capture_output=True, text=True, check=True)
        for how in ("plain", "compiled", "compiled"))
    assert plain.stdout == first.stdout == second.stdout
    for run, is_stored in ((first, "[False]"), (second, "[True]")):
        lines = [x for x in run.stderr.splitlines() if not x.startswith("tracejit:")]
        assert lines == [*plain.stderr.splitlines(), is_stored]


def test_prints_on_the_way_forward_alone_and_once_for_each_element(capsys):
    def f(x):
        print("x", x)
        return x * x

    with config(disable_jit=True):
        tracejit.vjp(f, 2.0)[1](1.0)
        grad(lambda x: tracejit.checkpoint(f)(x) * x)(3.0)
        tracejit.vmap(f)(np.array([4.0, 5.0]))
    assert capsys.readouterr().out.split("\n") == ["x 2.0", "x 3.0", "x 4.0", "x 5.0", ""]
