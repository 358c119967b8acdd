"""Effects of programs: tests that leave the kernel, indices that may be negative, prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack

from tracejit.codegen.buffers import loop_vars
from tracejit.codegen.elements import is_array
from tracejit.codegen.expression_edits import call, literal, plus
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.loop_expressions import ZERO, Bin, Expression, InRange, Select, Unary, Var
from tracejit.codegen.loop_ir import Let, Loop
from tracejit.codegen.prints import Prints
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Eqn, Literal
from tracejit.ir.dims import Dim
from tracejit.ir.lowering import Effect

__all__ = ["Effects"]


class Effects:
    """Writes the equations that have effects: checks, indices that may raise, empty arrays."""

    def __init__(self, frame: KernelFrame, code: ScalarCode) -> None:
        self.frame, self.code = frame, code
        self.prints = Prints(frame, code)

    def lower(self, eqn: Eqn, how: Effect) -> None:
        """Lower an equation by the action of its `Effect`."""
        _ACTIONS[how.action](self, eqn)

    def check(self, eqn: Eqn) -> None:
        """Fail where a condition does not hold."""
        condition, *values = map(self.code.atom, eqn.inputs)
        self.frame.fail(Unary("not", condition), eqn.params["error"], eqn.params["message"],
                        values, eqn)

    def check_bounds(self, eqn: Eqn) -> None:
        """Fail where indices, from a first one to a last one, leave an axis."""
        p = eqn.params
        first, last, size = (self.code.dim(p[name]) for name in ("first", "last", "size"))
        message = f"index {{0:.0f}} is out of bounds for axis {p['axis']} with size {{1:.0f}}"
        if p["first"] == p["last"]:
            is_number = isinstance(p["first"], int) and p["first"] >= 0
            inside = InRange(None if is_number else ZERO, first, size)
            shown = self._as_counted(p["first"], p["size"])
            self.frame.fail(Unary("not", inside), "IndexError", message, [shown, size], eqn)
            return
        count = self.code.dim(p["count"])
        low, high = call("imin", first, last), call("imax", first, last)
        is_below = Bin("<", low, ZERO)
        is_outside = Bin("or", is_below, Bin(">=", high, size))
        self.frame.fail(Bin("and", Bin(">", count, ZERO), is_outside), "IndexError", message,
                        [Select(is_below, low, size), size], eqn)

    def _as_counted(self, place: Dim, size: Dim) -> Expression:
        """Return the index for the message on a place outside: one before the first was counted
        from the end, and the size was added to it.
        """
        index, shown = place - size, self.code.dim(place)
        if isinstance(index, int):
            return self.code.dim(index) if index < 0 else shown
        if index.const >= 0 or any(c > 0 for _, c in index.terms):
            return shown
        return Select(Bin("<", shown, ZERO), self.code.dim(index), shown)

    def wrap_index(self, eqn: Eqn) -> None:
        """Let an index count from the end where it is negative; of an array, one by one."""
        (index,), out = eqn.inputs, eqn.output
        if not is_array(out):
            self.frame.names[out] = self._wrapped(self.code.atom(index), eqn)
            return
        variables = loop_vars(out.aval.shape)
        with ExitStack() as loops:
            for v, d in zip(variables, out.aval.shape, strict=True):
                loop = Loop(loops.enter_context(self.frame.loop_name(v)), ZERO, self.code.dim(d))
                loops.callback(self.frame.add, loop)  # after the nodes that its body puts before it
                loops.enter_context(self.frame.scope(loop.body, [v]))
            at = tuple(v.dim for v in variables)
            place = self._wrapped(self.code.element(index, at), eqn)
            self.code.store(self.frame.buffers.of[out], at, out.aval.shape, place)

    def _wrapped(self, index: Expression, eqn: Eqn) -> Var:
        size = self.code.dim(eqn.params["size"])
        place = self.frame.variable(self.frame.label(eqn.output))
        from_start = Select(Bin("<", index, ZERO), plus(index, size), index)
        self.frame.add(Let(place.name, from_start, self.frame.origin(eqn)))
        message = (f"index {{0:.0f}} is out of bounds for axis {eqn.params['axis']} "
                   "with size {1:.0f}")
        self.frame.fail(Unary("not", InRange(ZERO, place, size)), "IndexError", message,
                        [index, size], eqn)
        return place

    def empty(self, eqn: Eqn) -> None:
        """Storage that is filled later: nothing to do."""
        if not is_array(eqn.output):
            self.frame.names[eqn.output] = literal(Literal(0, eqn.output.aval.dtype))


def _print(effects: Effects, eqn: Eqn) -> None:
    effects.prints.lower(eqn)


_ACTIONS: Mapping[str, Callable[[Effects, Eqn], None]] = {
    "check": Effects.check, "check_bounds": Effects.check_bounds, "empty": Effects.empty,
    "print": _print, "wrap_index": Effects.wrap_index}
