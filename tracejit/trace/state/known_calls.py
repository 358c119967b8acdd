"""Calls of NumPy's and SciPy's own code with captured arrays and sizes: it gets what they are.

`scipy.linalg.null_space(A)` of a global `A` asks for numbers, which no traced value has. As no
argument comes into `A`, it is called during capture, and `A` is guarded: another content of it
makes another program. `scipy.linalg.hilbert(len(x))` is called with the size, which is fixed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tracejit.errors import Refusal
from tracejit.trace.ground.context import current, refuse
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.state.known import known_array
from tracejit.trace.state.policy import module_of, reads_nothing
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer

__all__ = ["call_with_known"]


_OF_MEMORY = ("shares_memory", "may_share_memory", "byte_bounds")
"""The functions that tell where arrays are, of which copies say nothing."""


_OWN_REFERENCES = 3
"""How often a copy is referred to while it is asked: by its pair, a name and the question."""


class _DataComesIn(Exception):
    """An operand into which data comes."""


class _KnownCall:
    """The arguments of a call as NumPy and Python have them, lists and tuples in depth.

    An array is a copy of the user's, which cannot be written to.
    """

    def __init__(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        self.why = f"{name} is called with it while the function is captured"
        self.copies: list[tuple[np.ndarray, bytes]] = []
        self.arrays: list[Tracer] = []
        """The user's arrays, in the order of their copies."""
        self.found_any = False
        self.args = tuple(map(self._known, args))
        self.kwargs = {key: self._known(x) for key, x in kwargs.items()}

    def _known(self, x: object) -> Any:
        if type(x) in (list, tuple):
            items: Any = x
            found = [self._known(y) for y in items]
            same = all(y is z for y, z in zip(items, found, strict=True))
            return x if same else found if type(x) is list else tuple(found)
        if not isinstance(x, TracedOperand):
            return x
        self.found_any = True
        content = known_array(x, self.why) if isinstance(x, (Tracer, SymInt)) else None
        if content is None:
            raise _DataComesIn
        if not isinstance(x, Tracer) or x.weak:
            return content.item()
        if not (x.is_array or content.ndim):
            return content[()]
        copy = np.array(content)
        copy.flags.writeable = False
        self.copies.append((copy, copy.tobytes()))
        self.arrays.append(x)
        return copy

    def is_part_of(self, result: object) -> bool:
        """Return whether a result of the call is in the memory of an array."""
        if isinstance(result, (list, tuple)):
            return any(map(self.is_part_of, result))
        return isinstance(result, np.ndarray) and any(
            np.may_share_memory(result, copy) for copy, _ in self.copies)

    def protect_held(self) -> None:
        """Refuse writes, from now on, to arrays that an object which the call made holds on to."""
        self.args, self.kwargs = (), {}
        for array, (copy, _) in zip(self.arrays, self.copies, strict=True):
            if sys.getrefcount(copy) > _OWN_REFERENCES and array.cell.constant is None:
                array.cell.constant = "writing to an array that code which is not captured holds"

    def has_written(self) -> bool:
        """Return whether the call has written to an array, as a library in C can."""
        return any(copy.tobytes() != before for copy, before in self.copies)


def call_with_known(call: Callable[..., object], fn: Callable[..., object],
                    args: tuple[object, ...], kwargs: dict[str, object],
                    owners: tuple[object, ...]) -> Any:
    """Call a function; if it takes no traced values, once more with the contents of known ones.

    call -- calls it with arguments, named arguments and owners
    """
    try:
        return call(fn, args, kwargs, owners)
    except Refusal as refusal:
        known = _known_call(fn, args, kwargs)
        if known is None:
            raise
        try:
            result = call(fn, known.args, known.kwargs, owners)
        except Refusal:  # of a function that it calls back
            raise refusal from None
        if known.is_part_of(result):  # of which Python has the user's array itself
            raise
        if known.has_written():
            raise refuse(f"{public_name(fn)} writes to an array from outside, which cannot be "
                         "captured", "Give it a copy: x.copy()", "TJ402") from None
        known.protect_held()
        current().note(f"{public_name(fn)} was called while the function was captured: the arrays "
                       "and numbers from outside that it read are compared at every call", "TJ708")
        return result


def _known_call(fn: Callable[..., object], args: tuple[object, ...],
                kwargs: dict[str, object]) -> _KnownCall | None:
    """Return the arguments of a function of NumPy's or SciPy's; None where data comes into them."""
    is_theirs = module_of(fn).partition(".")[0] in ("numpy", "scipy")
    if not (is_theirs and reads_nothing(fn)) or getattr(fn, "__name__", "") in _OF_MEMORY:
        return None
    try:
        found = _KnownCall(public_name(fn), args, kwargs)
    except _DataComesIn:
        return None
    return found if found.found_any else None
