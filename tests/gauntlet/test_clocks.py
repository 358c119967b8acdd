"""A clock's reading passes for its number, may be shown, and is never part of a result."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

import tracejit

NAMES = """
import copy, decimal, fractions, io, json, logging, math, numbers, sys, time
import numpy as np
log = logging.getLogger("clocks")
log.addHandler(logging.NullHandler())
log.propagate = False
kept = [1.0]
class Kept:
    t = 0.0
def is_float(k):
    match k:
        case float():
            return True
    return False
"""


def program(body: str) -> Callable[[float], Any]:
    """Return a function of x in which `k` is a clock's reading."""
    text = NAMES + "def f(x):\n    k = time.perf_counter()\n" + "".join(
        f"    {line}\n" for line in body.splitlines())
    file = f"<clock {body!r}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names: dict[str, Any] = {}
    exec(compile(text, file, "exec"), names)
    found: Callable[[float], Any] = names["f"]
    return found


TOLD = ("isinstance(k, float)", "isinstance(k, (int, float))", "isinstance(k, int)",
        "isinstance(k, numbers.Real)", "isinstance(k, object)", "isinstance(k, np.floating)",
        "isinstance(k - k, float)", "type(k) is float", "type(k + 1) is float",
        "type(k) == float", "type(k) is int", "type(k).__name__ == 'float'",
        "k.__class__ is float", "issubclass(type(k), float)", "{float: True}.get(type(k))",
        "[type(v) for v in [k]] == [float]", "list(map(type, [k])) == [float]",
        "str(type(k)) == \"<class 'float'>\"", "(lambda v: isinstance(v, float))(k)",
        "any(isinstance(v, float) for v in [k])", "is_float(k)", "callable(k)", "k is None",
        "k is not None", "k == None", "k != 'a'", "hasattr(k, 'shape')", "np.isscalar(k)")
"""What is known of the number without its digits."""


@pytest.mark.parametrize("test", TOLD)
def test_what_a_clock_said_passes_for_its_number(test: str) -> None:
    f = program(f"return x * (1.0 if {test} else 2.0)")
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(1.5) == f(1.5)


SHOWN = ("print(k - k, round(k, 1), abs(-k), +k, k % 1.0, k ** 2)", "print(f'{k:.2f} {k!r:>9}')",
         "print('t', k, file=sys.stderr)", "log.warning('took %.1f', k)", "log.warning(f'{k}')",
         "log.warning('took %s', k)", "print([k])", "print(f'{str(k):>30}')",
         "m, s = divmod(k, 60)\nprint(f'{m:.0f}:{s:.0f}')", "print('a' + f'{k}' + str(k))",
         "print('{:.3f} s'.format(k))", "print(' '.join([str(k), repr(k)]))", "print('%s' % k)")


@pytest.mark.parametrize("statement", SHOWN)
def test_what_a_clock_said_may_be_shown(statement: str, capsys: Any) -> None:
    f = program(f"{statement}\nreturn x * 2.0")
    with tracejit.config(disable_jit=True):
        assert tracejit.jit(f)(1.5) == 3.0
    if "log." not in statement:
        shown = capsys.readouterr()
        assert shown.out + shown.err


USED = ("float(str(k))", "float(f'{k:.3f}')", "float(repr(k))", "float('%r' % (k,))", "-k",
        "float('{}'.format(k))", "float(''.join([str(k)]))", "float(ascii(k))", "len(str(k))",
        "float(format(k, '.3f'))", "float(str([k])[1:-1])", "int(f'{k}'[0])", "abs(k)",
        "complex(str(k)).real", "int(f'{k:.0f}')", "float('1' + f'{k}')", "(k > 1.0)", "k.real",
        "np.array(k)", "np.full(3, k)", "np.add(k, 1.0)", "np.isnan(k)", "sum([k, k])", "bool(k)",
        "max(k, 1.0)", "math.sqrt(k)", "math.floor(k)", "{str(k): 2.0}[str(k)]", "(k or 1.0)",
        "(k == k)", "(k != 1.0)", "(k in [1.0])", "(str(k) == repr(k))", "hash(k)",
        "np.float64(k)", "(0 * k)",
        "fractions.Fraction(k)", "k.is_integer()", "divmod(k, 2.0)[1]", "round(k, 2)", "[k][0]",
        "float(io.StringIO(f'{k}').read())", "(1.0 if hasattr(k, 'real') else 2.0)")


@pytest.mark.parametrize("used", USED)
def test_what_a_clock_said_is_no_part_of_a_result(used: str) -> None:
    f = program(f"return x * {used}")
    with tracejit.config(disable_jit=True), pytest.raises(
            tracejit.Refusal, match="^" + "<clock .*>:[0-9]+: "):
        tracejit.jit(f)(1.5)


LEFT = ("kept.append(k)", "kept[0] = k", "Kept.t = k", "return x, k", "return [k]", "return str(k)",
        "return x, f'{k}'", "b = io.StringIO()\nb.write(f'{k}')\nreturn x * float(b.getvalue())",
        "b = io.StringIO()\nprint(k, file=b)\nreturn x * float(b.getvalue())")


@pytest.mark.parametrize("statement", LEFT)
def test_what_a_clock_said_does_not_leave(statement: str) -> None:
    f = program(f"{statement}\nreturn x")
    with tracejit.config(disable_jit=True), pytest.raises(tracejit.Refusal):
        tracejit.jit(f)(1.5)
