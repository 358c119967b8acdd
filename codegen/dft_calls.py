"""Discrete Fourier transforms in kernels for the CPU: functions of LLVM in the kernel's module.

They call nothing of any library, so that kernels for C programs have them, too, with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from tracejit.codegen.dft_chirps import Chirps
from tracejit.codegen.dft_lines import Lines
from tracejit.codegen.dft_real import RealRows
from tracejit.codegen.dft_rows import SIDE, RowForm, RowTransforms
from tracejit.codegen.lanes import LANES, POINTER, WORD, LaneCode, LaneValue

if TYPE_CHECKING:
    from numba.core.base import BaseContext as TargetContext
    from numba.core.typing.context import BaseContext as TypingContext
    from numba.core.typing.templates import Signature

__all__ = ["NAME", "Transforms", "dft_names"]

class Transforms:
    """Writes the function `dft_transform`, and all that it calls, into a module.

    It is given (memory, x, its side, out, its side, rows, n, swap).
    """

    def __init__(self, module: ir.Module) -> None:
        self.code = LaneCode(module)
        self.lines = Lines(self.code)
        self.rows = RowTransforms(self.code, self.lines)
        self.real = RealRows(self.code, self.lines)
        self.chirps = Chirps(self.code, self.lines, self.rows)
        self.row = self._row()
        self.halved = self._halved()
        self._transform()

    def _row(self) -> ir.Function:
        """Transform one complex row of any length."""
        code = self.code
        made, (memory, x, out, swap, fresh, kept, n, rough, low) = code.function(
            "dft_row", [POINTER, POINTER, POINTER, *[WORD] * 6])
        with code.builder.if_else((rough > 1).value) as (is_rough, is_smooth):
            with is_rough:
                code.call(self.chirps.transform, memory, x, out, swap, fresh, n)
            with is_smooth:
                plain = code.word(2), n, code.number(1.0)
                with code.builder.if_else((low > 0).value) as (is_long, is_short):
                    with is_long:
                        code.call(self.rows.long, memory, x, out, swap, fresh, kept, n, low)
                    with is_short:
                        code.call(self.rows.short, memory, x, *plain, out, *plain, code.word(1), n,
                                  swap)
        code.leave()
        return made

    def _split(self, n: LaneValue) -> tuple[LaneValue, LaneValue]:
        """Return the rest of a length without small factors, and its lower divisor."""
        code = self.code
        rough = code.call(self.chirps.rough, n)
        return rough, code.call(self.rows.divide, (rough > 1).choose(code.word(1), n))

    def _halved(self) -> ir.Function:
        """Transform real rows of an even length, or rows whose inverse transform is real."""
        code = self.code
        made, given = code.function("dft_halved", [
            POINTER, POINTER, *SIDE, POINTER, *SIDE, WORD, WORD, WORD])
        memory, x, out, (rows, n, swap) = given[0], given[1], given[5], given[9:]
        source, to = RowForm(*given[2:5]), RowForm(*given[6:9])
        h, kept = n // 2, (rows > 1).choose(code.word(1), 0)
        turns = code.at(memory, n)
        inner = code.at(turns, h * kept * 2 + 4 * LANES)
        split = self._split(h)
        with code.loop(rows) as row:
            fresh = (row.equals(0) | kept.equals(0)).choose(code.word(1), 0)
            place = code.at(x, row * source.step * source.count)
            target = code.at(out, row * to.step * to.count)
            with code.builder.if_else((swap > 0).value) as (is_inverse, is_forward):
                for write, is_back in ((is_inverse, True), (is_forward, False)):
                    with write:
                        self._both_steps(is_back, (place, source), (target, to),
                                         (memory, turns, inner), (h, fresh, kept, *split))
        code.leave()
        return made

    def _both_steps(self, is_back: bool, source: tuple[LaneValue, RowForm],
                    to: tuple[LaneValue, RowForm], memory: tuple[LaneValue, ...],
                    how: tuple[LaneValue, ...]) -> None:
        code = self.code
        z, turns, inner = memory
        h, fresh, kept, *split = how
        side = source[1] if is_back else to[1]
        whole = side.count.equals(h * 2).choose(code.word(1), 0)
        rest = turns, h, whole, side.scale, fresh, kept
        if is_back:
            code.call(self.real.join, source[0], z, *rest)
            code.call(self.row, inner, z, to[0], code.word(LANES), fresh, kept, h, *split)
        else:
            code.call(self.row, inner, source[0], z, code.word(0), fresh, kept, h, *split)
            code.call(self.real.split, z, to[0], *rest)

    def _transform(self) -> None:
        code = self.code
        _, given = code.function(NAME, [POINTER, POINTER, *SIDE, POINTER, *SIDE, WORD, WORD, WORD])
        source, to = RowForm(*given[2:5]), RowForm(*given[6:9])
        n = given[10]
        rough, low = self._split(n)
        is_real = (source.step + to.step) < 4
        is_short = rough.equals(1) & low.equals(0)
        is_halved = is_real & (n % 2).equals(0)  # (an even length that is not short is 64 or more)
        way = is_short.choose(code.word(0), is_halved.choose(code.word(1), is_real.choose(
            code.word(2), 3)))
        code.by_case(way, {
            0: lambda: code.call(self.rows.short, *given),
            1: lambda: code.call(self.halved, *given),
            2: lambda: self._each(given, source, to, rough, low, True),
            None: lambda: self._each(given, source, to, rough, low, False)})
        code.leave()

    def _each(self, given: Sequence[LaneValue], source: RowForm, to: RowForm, rough: LaneValue,
              low: LaneValue, is_converted: bool) -> None:
        """Transform row after row, real ones by way of complex ones."""
        code = self.code
        memory, x, out, (rows, n, swap) = given[0], given[1], given[5], given[9:]
        kept = (rows > 1).choose(code.word(1), 0)
        first, second = memory, code.at(memory, n * 2)
        inner = code.at(second, n * 2)
        zero, one, two = map(code.word, range(3))
        with code.loop(rows) as row:
            fresh = (row.equals(0) | kept.equals(0)).choose(one, 0)
            start = code.at(x, row * source.step * source.count)
            target = code.at(out, row * to.step * to.count)
            if is_converted:
                code.call(self.rows.take, start, source.step, source.count, source.scale, n, first,
                          two, zero, one)
                code.call(self.row, inner, first, second, swap, fresh, kept, n, rough, low)
                code.call(self.rows.give, second, two, zero, one, n, target, to.step, to.count,
                          to.scale)
            else:
                code.call(self.row, memory, start, target, swap, fresh, kept, n, rough, low)


NAME = "dft_transform"


def _call_transform(builder: ir.IRBuilder, pointers: Sequence[ir.Value],
                    sides: Sequence[ir.Value], others: Sequence[ir.Value]) -> None:
    """Call the function, which the module has once.

    pointers -- of the operand, the result and the room
    sides    -- of the operand and of the result: how many doubles a number has, how many numbers
                there are, and the factor of those in between
    """
    module = builder.module
    if NAME not in module.globals:
        Transforms(module)
    plain = [p if not isinstance(p.type, ir.LiteralStructType) else builder.extract_value(p, 0)
             for p in pointers]  # pointers of verify mode are structures
    x, out, memory = (builder.bitcast(p, POINTER) for p in plain)
    builder.call(module.globals[NAME], [memory, x, *sides[:3], out, *sides[3:], *others])


INT64, FLOAT64 = types.int64, types.float64


@intrinsic
def dft(typingctx: TypingContext, x: types.Type, out: types.Type, work: types.Type,
        rows: types.Type, n: types.Type, sign: types.Type) -> Any:
    """Transform complex rows, in the direction of a sign."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        *pointers, count, n_, sign_ = args
        side = [WORD(2), n_, ir.DoubleType()(1.0)]
        is_inverse = builder.icmp_signed(">", sign_, WORD(0))
        swap = builder.select(is_inverse, WORD(LANES), WORD(0))
        _call_transform(builder, pointers, side * 2, (count, n_, swap))
        return context.get_dummy_value()

    return types.none(x, out, work, INT64, INT64, INT64), generate


@intrinsic
def real_dft(typingctx: TypingContext, x: types.Type, out: types.Type, work: types.Type,
             rows: types.Type, n: types.Type, count: types.Type, scale: types.Type) -> Any:
    """Transform real rows: the first `count` numbers, those between multiplied by a number."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        *pointers, rows_, n_, count_, scale_ = args
        sides = [WORD(1), n_, ir.DoubleType()(1.0), WORD(2), count_, scale_]
        _call_transform(builder, pointers, sides, (rows_, n_, WORD(0)))
        return context.get_dummy_value()

    return types.none(x, out, work, INT64, INT64, INT64, FLOAT64), generate


@intrinsic
def dft_real(typingctx: TypingContext, x: types.Type, out: types.Type, work: types.Type,
             rows: types.Type, n: types.Type, count: types.Type, scale: types.Type) -> Any:
    """The real part of inverse transforms of rows of which the first `count` numbers are given."""

    def generate(context: TargetContext, builder: ir.IRBuilder, sig: Signature,
                 args: Sequence[ir.Value]) -> Any:
        *pointers, rows_, n_, count_, scale_ = args
        sides = [WORD(2), count_, scale_, WORD(1), n_, ir.DoubleType()(1.0)]
        _call_transform(builder, pointers, sides, (rows_, n_, WORD(LANES)))
        return context.get_dummy_value()

    return types.none(x, out, work, INT64, INT64, INT64, FLOAT64), generate


def dft_names() -> dict[str, Any]:
    """Return the functions by name."""
    return {"dft": dft, "real_dft": real_dft, "dft_real": dft_real}
