"""What a function reads of Python and the process is what Python reads at the call, or refused."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from state_sequences import load

import tracejit

HEAD = """\
import calendar, contextvars, copyreg, decimal, gc, inspect, logging, os, pickle, random, sys
import tempfile, threading, time, types, warnings
import numpy as np
L, VAR = [1, 2], contextvars.ContextVar("VAR", default=1)
class K:
    pass
"""
ROWS = {  # what is read: how it changes, and how it changes back
    "sys.getrecursionlimit()": ("sys.setrecursionlimit({} + 7)", "sys.setrecursionlimit({})"),
    "sys.getswitchinterval()": ("sys.setswitchinterval(0.004)", "sys.setswitchinterval({})"),
    "gc.isenabled()": ("gc.disable()", "gc.enable()"),
    "gc.get_threshold()[0]": ("gc.set_threshold({} + 1)", "gc.set_threshold({})"),
    "gc.get_count()[0]": ("gc.collect()", ""),
    "sys.getsizeof(L)": ("L.extend([1] * 50)", ""),
    "sys.getrefcount(L)": ("KEEP = [L]", ""),
    "len(gc.get_referrers(L))": ("KEEP = [[L]]", ""),
    "sys.getallocatedblocks() > 0": ("L.append(3)", ""),
    "threading.current_thread().name": ("threading.current_thread().name = 'Z'",
                                        "threading.current_thread().name = {!r}"),
    "threading.get_ident()": ("", ""),
    "threading.active_count()": ("", ""),
    "len(threading.enumerate())": ("", ""),
    "len(K.__subclasses__())": ("OTHER = type('Other', (K,), {{}})", ""),
    "os.getpid()": ("", ""),
    "decimal.getcontext().prec": ("decimal.getcontext().prec = {} + 3",
                                  "decimal.getcontext().prec = {}"),
    "str(decimal.Decimal(2).sqrt())": ("decimal.getcontext().prec = 5",
                                       "decimal.getcontext().prec = 28"),
    "len(warnings.filters)": ("warnings.filters.append(warnings.filters[0])",
                              "warnings.filters.pop()"),
    "np.get_printoptions()['precision']": ("np.set_printoptions(precision=3)",
                                           "np.set_printoptions(precision={})"),
    "str(np.array([1 / 3]))": ("np.set_printoptions(precision=3)",
                               "np.set_printoptions(precision=8)"),
    "np.geterr()['over']": ("np.seterr(over='ignore')", "np.seterr(over={!r})"),
    "np.getbufsize()": ("np.setbufsize(2 * {})", "np.setbufsize({})"),
    "hash(random.getstate())": ("random.random()", ""),
    "len(copyreg.dispatch_table)": ("copyreg.pickle(K, len)", "del copyreg.dispatch_table[K]"),
    "len(pickle.dumps(L))": ("L.extend([1] * 50)", ""),
    "os.environ.get('TRACEJIT_ROW', 'a')": ("os.environ['TRACEJIT_ROW'] = 'b'",
                                            "del os.environ['TRACEJIT_ROW']"),
    "logging.getLogger('row').level": ("logging.getLogger('row').setLevel(10)",
                                       "logging.getLogger('row').setLevel({})"),
    "calendar.firstweekday()": ("calendar.setfirstweekday(3)", "calendar.setfirstweekday({})"),
    "len(sys.argv)": ("sys.argv.append('a')", "sys.argv.pop()"),
    "VAR.get()": ("VAR.set(2)", ""),
    "time.time() > 0": ("", ""),
    "len(inspect.stack()) > 0": ("", ""),
}
_NUMBERS = itertools.count()


def _outcome(call: Callable[[float], Any], name: str) -> Any:
    try:
        return call(1.0)[1]
    except tracejit.Refusal as e:
        return "refused" if f"{name}.py" in str(e) else e


@pytest.mark.parametrize("read", ROWS)
def test_what_a_call_reads_of_the_process_is_what_python_reads(read: str, tmp_path: Path) -> None:
    module = load(f"{HEAD}def f(x):\n    return x * 2.0, {read}\n", tmp_path,
                  f"process_{next(_NUMBERS)}")
    call = tracejit.jit(module.f)
    change, back = ROWS[read]
    first = module.f(1.0)[1]
    try:
        with tracejit.config(disable_jit=True):
            assert _outcome(call, module.__name__) in (first, "refused")
            exec(change.format(first), vars(module))
            assert _outcome(call, module.__name__) in (module.f(1.0)[1], "refused")
            exec(back.format(first), vars(module))
            assert _outcome(call, module.__name__) in (module.f(1.0)[1], "refused")
    finally:
        if "del" not in back and "pop" not in back:
            exec(back.format(first), vars(module))
        sys.modules.pop(module.__name__, None)


def test_a_warning_is_given_at_the_capture_and_why_says_so() -> None:
    def f(x: float) -> float:
        warnings.warn("half", stacklevel=1)
        return x / 2.0

    call = tracejit.jit(f)
    with tracejit.config(disable_jit=True):
        with pytest.warns(UserWarning, match="half"):
            assert call(3.0) == 1.5
        with pytest.warns(UserWarning, match="half"):
            why = str(call.trace(3.0).why())
        assert call(4.0) == 2.0  # and no warning, which would be an error
    assert "warnings.warn() warns once, while the function is captured" in why
