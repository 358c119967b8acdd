"""Transforms of a row, or of eight short ones, by lines that lie side by side.

A row of n = high low numbers is `high` rows of `low`: its columns are transformed, eight at a time,
then multiplied by roots of unity, then the rows are, eight at a time (D. H. Bailey, FFTs in
external or hierarchical memory, 1990). Where a size is no multiple of eight, the last eight are
partly those before once more, so that nothing is asked within loops. A row whose length has no two
divisors of eight or more is short: up to eight such rows are transformed side by side.

For the inverse, real and imaginary parts change places on the way in and on the way out.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from tracejit.codegen.butterflies import product
from tracejit.codegen.dft_lines import (
    POINT,
    Lines,
    load_numbers,
    load_point,
    store_numbers,
    store_point,
)
from tracejit.codegen.lanes import DOUBLE, LANES, POINTER, WORD, LaneCode, LaneValue, Register

__all__ = ["RowTransforms", "RowForm"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A long row's length, and the memory for its transform.

    high, low     -- two divisors whose product is the length
    tables        -- the roots of both
    first, second -- room for the points of eight lines
    between       -- room for the row between the two halves of its transform
    turns         -- the roots between them: of all blocks of columns where they are kept, or of one
    """

    high: LaneValue
    low: LaneValue
    tables: tuple[LaneValue, LaneValue]
    first: LaneValue
    second: LaneValue
    between: LaneValue
    turns: LaneValue


@dataclass(frozen=True, slots=True)
class RowForm:
    """The form of a row of the operand or of the result.

    step  -- how many doubles a number has: 1 where the numbers are real
    count -- how many numbers there are: the whole row's, or its first half's
    scale -- the factor of the numbers between the first and the middle one
    """

    step: LaneValue
    count: LaneValue
    scale: LaneValue


SIDE = (WORD, WORD, DOUBLE)


class RowTransforms:
    """Writes the functions that transform rows.

    divide -- (n): the largest divisor up to the root of n, if it is eight or more, else 0
    take   -- (x, side, n, to, stride, real, imaginary): put a row's numbers to places in memory
    give   -- (from, stride, real, imaginary, n, out, side): put them back
    long   -- (memory, x, out, swap, fresh, kept, n, low): transform a long row
    short  -- (memory, x, its side, out, its side, rows, n, swap): transform short rows

    swap is LANES for an inverse, else 0. Roots are computed where a row is `fresh`, 1; where there
    is memory for all of them, `kept` is 1, and a row after the first need not be.
    """

    def __init__(self, code: LaneCode, lines: Lines) -> None:
        self.code, self.lines = code, lines
        self.divide = self._divide()
        self.take, self.give = self._take(), self._give()
        self.long, self.short = self._long(), self._short()

    def _divide(self) -> ir.Function:
        code = self.code
        made, (n,) = code.function("dft_divide", [WORD], WORD)
        root = code.builder.module.declare_intrinsic("llvm.sqrt", [DOUBLE])
        whole = code.builder.fptosi(code.call(root, code.double(n)).value, WORD)
        d = Register(code, LaneValue(code.builder, whole))
        with code.loop_while(lambda: (d.get() >= LANES) & ((n % (d.get() | (d.get() < 1).choose(
                code.word(1), 0))) > 0)):
            d.set(d.get() - 1)
        code.leave((d.get() >= LANES).choose(d.get(), 0))
        return made

    def _take(self) -> ir.Function:
        """Numbers that are not given are zeros, and so are imaginary parts of real ones."""
        code = self.code
        made, (x, step, count, scale, n, to, stride, real, imaginary) = code.function(
            "dft_take", [POINTER, *SIDE, WORD, POINTER, WORD, WORD, WORD])
        zero = code.number(0.0)
        with code.loop(n) as i:
            is_given = i < count
            place = is_given.choose(i, 0) * step
            is_between = (i > 0) & (i * 2 < n)
            factor = is_given.choose(is_between.choose(scale, 1.0), 0.0)
            parts = code.load(x, place), code.load(x, place + step - 1)
            parts = parts[0], step.equals(1).choose(zero, parts[1])
            for part, at in zip(parts, (real, imaginary), strict=True):
                code.store(is_given.choose(part * factor, 0.0), to, i * stride + at)
        code.leave()
        return made

    def _give(self) -> ir.Function:
        code = self.code
        made, (points, stride, real, imaginary, n, out, step, count, scale) = code.function(
            "dft_give", [POINTER, WORD, WORD, WORD, WORD, POINTER, *SIDE])
        with code.loop(count) as i:
            factor = ((i > 0) & (i * 2 < n)).choose(scale, 1.0)
            for at, part in ((imaginary, step - 1), (real, code.word(0))):  # a real one is last
                code.store(code.load(points, i * stride + at) * factor, out, i * step + part)
        code.leave()
        return made

    # --- long rows ------------------------------------------------------------------------------

    def _long(self) -> ir.Function:
        code = self.code
        made, (memory, x, out, swap, fresh, kept, n, low) = code.function(
            "dft_long", [POINTER, POINTER, POINTER, *[WORD] * 5])
        plan = self._plan(memory, n, low)
        with code.when(fresh.equals(1)):
            code.call(self.lines.table, plan.tables[0], plan.high)
            code.call(self.lines.table, plan.tables[1], plan.low)
        self._columns(plan, x, swap, fresh, kept)
        self._rows(plan, out, swap)
        code.leave()
        return made

    def _plan(self, memory: LaneValue, n: LaneValue, low: LaneValue) -> Plan:
        code, high = self.code, n // low
        places = [memory]
        blocks = (low + (LANES - 1)) // LANES
        for size in ((high + LANES) * 2, (low + LANES) * 2, high * POINT, high * POINT,
                     high * POINT * blocks):
            places.append(code.at(places[-1], size))
        return Plan(high, low, (places[0], places[1]), *places[2:])

    def _first_of(self, block: LaneValue, count: LaneValue) -> LaneValue:
        """Return where a block of eight begins that does not go beyond a number."""
        first = block * LANES
        return (first > count - LANES).choose(count - LANES, first)

    def _columns(self, plan: Plan, x: LaneValue, swap: LaneValue, fresh: LaneValue,
                 kept: LaneValue) -> None:
        code, high, low = self.code, plan.high, plan.low
        n = high * low
        with code.loop((low + (LANES - 1)) // LANES) as block:
            first = self._first_of(block, low)
            turns = code.at(plan.turns, block * kept * high * POINT)
            with code.when(fresh.equals(1)):
                columns = code.counting(first)
                with code.loop(high) as k:
                    angles = columns * code.spread(code.double(k))
                    store_point(code, self.lines.roots_of(angles, n), turns, k)
            with code.loop(high) as i:
                real, imaginary = load_numbers(code, x, i * low + first)
                code.put(real, plan.first, i * POINT + swap)
                code.put(imaginary, plan.first, i * POINT + LANES - swap)
            found = code.call(self.lines.transform, plan.first, plan.second, plan.tables[0], high)
            to = code.at(plan.between, block * high * POINT)
            with code.loop(high) as k:
                turned = product(load_point(code, found, k), load_point(code, turns, k))
                store_point(code, turned, to, k)

    def _rows(self, plan: Plan, out: LaneValue, swap: LaneValue) -> None:
        code, high, low = self.code, plan.high, plan.low
        with code.loop((high + (LANES - 1)) // LANES) as block:
            first = self._first_of(block, high)
            with code.loop((low + (LANES - 1)) // LANES) as column:
                at = self._first_of(column, low)
                points = [load_point(code, plan.between, column * high + first + k)
                          for k in range(LANES)]
                parts = [code.transposed([z[part] for z in points]) for part in range(2)]
                for lane, z in enumerate(zip(*parts, strict=True)):
                    store_point(code, z, plan.first, at + lane)
            found = code.call(self.lines.transform, plan.first, plan.second, plan.tables[1], low)
            with code.loop(low) as k:
                real, imaginary = (code.vector(found, k * POINT + part) for part in (
                    swap, code.word(LANES) - swap))
                store_numbers(code, (real, imaginary), out, k * high + first)

    # --- short rows -----------------------------------------------------------------------------

    def _short(self) -> ir.Function:
        """Lanes beyond the last row have that row."""
        code = self.code
        made, given = code.function("dft_short", [
            POINTER, POINTER, *SIDE, POINTER, *SIDE, WORD, WORD, WORD])
        memory, x, *side = given[:5]
        out, *result = given[5:9]
        rows, n, swap = given[9:]
        first = code.at(memory, (n + LANES) * 2)
        second = code.at(first, n * POINT)
        code.call(self.lines.table, memory, n)
        eight = code.word(LANES)
        with code.loop(rows, step=LANES) as row:
            def own(lane: LaneValue) -> LaneValue:
                here = row + lane
                return (here < rows).choose(here, rows - 1)

            with code.loop(eight) as lane:
                start = code.at(x, own(lane) * side[0] * side[1])
                code.call(self.take, start, *side, n, code.at(first, lane), code.word(POINT), swap,
                          eight - swap)
            found = code.call(self.lines.transform, first, second, memory, n)
            with code.loop(eight) as lane:
                start = code.at(out, own(lane) * result[0] * result[1])
                code.call(self.give, code.at(found, lane), code.word(POINT), swap, eight - swap, n,
                          start, *result)
        code.leave()
        return made
