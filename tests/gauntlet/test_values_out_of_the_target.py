"""Whatever writes to an array may be given a part of it: as NumPy writes it, or refused.

NumPy copies values, masks and places that lie in the array first, almost everywhere. It does not
in `x[mask] = v`, `x.flat`, which `fill_diagonal` uses, `place`, and `copyto` with a mask.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

import tracejit

A = np.arange(1.0, 13.0).reshape(3, 4)

WRITERS = {
    "slice": "m[:, 1:] = ({}).reshape(-1)[:9].reshape(3, 3)",
    "rows": "m[[2, 0]] = ({}).reshape(-1)[1:9].reshape(2, 4)",
    "mask": "m[m > 9] = ({}).reshape(-1)[:3]",
    "flat": "m.flat = {}", "part of flat": "m.flat[::-1] = {}",
    "flat at indices": "m.flat[[2, 1, 0, 5]] = {}", "flat of columns": "m.T.flat = {}",
    "diagonal": "np.fill_diagonal(m, {})", "other diagonal": "np.fill_diagonal(m[:, ::-1], {})",
    "place": "np.place(m, m > 3, {})", "put": "np.put(m, [3, 0, 1], {})",
    "putmask": "np.putmask(m, m > 5, {})", "copyto": "np.copyto(m.reshape(-1)[:3], ({}).flat[:3])",
    "along": "np.put_along_axis(m, np.array([[1], [2], [0]]), ({}).reshape(-1)[1:4, None], 1)",
    "added at": "np.add.at(m.reshape(-1), [0, 1, 1], ({}).reshape(-1)[:3])",
    "out": "np.multiply(m.reshape(-1)[1:4], ({}).reshape(-1)[2::-1], out=m.reshape(-1)[:3])",
}
VALUES = ("m", "m[::-1]", "m.T", "m[1]", "m[:, 2]", "m.reshape(-1)[::-1]", "m.reshape(-1)[4:]",
          "2.0 * m", "m[0].copy()", "m[::-1].astype(np.float32)", "m[1].tolist()", "m[1, 1]",
          "np.diagonal(m)", "np.zeros(0)")


KEYED = {
    "mask": "b[{}] = False", "mask and values": "b[{0}] = np.ones(({0}).sum(), bool)",
    "mask changed": "b[{0}] = ~b[{0}]", "place": "np.place(b, {}, [False])",
    "putmask": "np.putmask(b, {}, [False])", "copyto": "np.copyto(b, False, where={})",
    "where": "np.logical_not(b, out=b, where={})", "at": "k[({}).astype(int)] += 1",
    "places": "k[{}] = 3", "places changed": "k[{0}] = k[{0}] + 1",
    "put": "np.put(k, {}, [5, 1])", "flat": "k.flat[{}] = 2", "added at": "np.add.at(k, {}, 1)",
}
"""Writes to an array of bools, or of ints, with a mask or places out of itself."""


def _program(name: str, statement: str, *before: str) -> Any:
    text = "".join(f"    {line}\n" for line in (*before, statement))
    text = f"def f(a):\n{text}    return {'m' if len(before) == 1 else 'b * 1, k'}\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def _require_numpys(f: Any, *codes: str) -> bool:
    """Compare a program with NumPy's result; return whether it is captured."""
    try:
        expected = f(A)
    except (ValueError, AttributeError, IndexError):
        return False
    with tracejit.config(disable_jit=True):
        try:
            found = tracejit.jit(f)(A)
        except tracejit.Refusal as refusal:
            if refusal.code not in codes:
                raise
            return False
    np.testing.assert_array_equal(found, expected, err_msg=f.__code__.co_filename)
    return True


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_written_may_lie_in_the_array_itself(writer: str) -> None:
    done = [_require_numpys(_program(f"<{writer} of {values}>", WRITERS[writer].format(values),
                                     "m = a.copy()"),
                            *(() if "2.0 *" in values else ("TJ403", "TJ404")))
            for values in VALUES]
    assert sum(done) > 3


@pytest.mark.parametrize("writer", KEYED)
def test_masks_and_places_may_lie_in_the_array_itself(writer: str) -> None:
    of = "k" if "k" in KEYED[writer] else "b"
    done = [_require_numpys(_program(f"<{writer} by {key}>", KEYED[writer].format(key),
                                     "b = (a > 3) & (a % 3 > 0)", "b = b.reshape(-1)",
                                     "k = (7 * a.reshape(-1) % 12).astype(int)"),
                            *(() if "copy" in key else ("TJ403", "TJ404")))
            for key in (of, f"{of}[::-1]", f"{of}[::-1].copy()", f"~{of}[::-1].copy()")]
    assert any(done)
