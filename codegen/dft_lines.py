"""Transforms of eight lines side by side, one in each lane of the vectors.

A point is sixteen doubles: the real parts of the eight lines' numbers, then the imaginary parts.
The algorithm is Stockham's: each pass transforms p points at a time, for a factor p of the length.
"""

from __future__ import annotations

from functools import partial

from llvmlite import ir

from tracejit.codegen.butterflies import BUTTERFLIES, Complex, product
from tracejit.codegen.lanes import (
    LANES,
    POINTER,
    VECTOR,
    WORD,
    LaneCode,
    LaneValue,
    Register,
    known,
)

__all__ = ["POINT", "Lines", "load_numbers", "load_point", "store_numbers", "store_point"]

POINT = 2 * LANES
"""How many doubles a point has."""

PAIR = ir.LiteralStructType([VECTOR, VECTOR])

_QUARTER = 0.7853981852531433, -2.1855695000931213e-08
"""A quarter of pi: its first 24 bits, and the rest."""

_ROUNDING = 1.5 * 2.0 ** 26
"""The number that, added and subtracted, leaves a number up to 1 with 26 bits."""

_SINE = (-0.08074551218828079, 0.0024903945701927202, -3.657620418217725e-05,
         3.1336168903781217e-07, -1.757247673443401e-09, 6.948453273886629e-12,
         -2.0410263396641442e-14, 4.628704628834683e-17)
_COSINE = (-0.30842513753404244, 0.015854344243815502, -0.00032599188692739,
           3.59086044859151e-06, -2.4611369504942e-08, 1.1501159127974052e-10,
           -3.8980731712596753e-13, 1.001886461636272e-15)
"""The series of sin(pi q / 4) from the third power on, and of cos(pi q / 4) from the second on."""


def load_point(code: LaneCode, points: LaneValue, i: LaneValue) -> Complex:
    """Load a point."""
    return code.vector(points, i * POINT), code.vector(points, i * POINT + LANES)


def store_point(code: LaneCode, z: Complex, points: LaneValue, i: LaneValue) -> None:
    """Store a point."""
    code.put(z[0], points, i * POINT)
    code.put(z[1], points, i * POINT + LANES)


def load_numbers(code: LaneCode, numbers: LaneValue, i: LaneValue) -> Complex:
    """Load eight complex numbers that lie one after the other."""
    a, b = code.vector(numbers, i * 2), code.vector(numbers, i * 2 + LANES)
    return (code.shuffled(a, b, range(0, POINT, 2)), code.shuffled(a, b, range(1, POINT, 2)))


def store_numbers(code: LaneCode, z: Complex, numbers: LaneValue, i: LaneValue) -> None:
    """Store eight complex numbers one after the other."""
    for half in range(2):
        places = [k // 2 + k % 2 * LANES + half * LANES // 2 for k in range(LANES)]
        code.put(code.shuffled(*z, places), numbers, i * 2 + half * LANES)


class Lines:
    """Writes the functions that transform lines, into one module.

    roots     -- (t, n): exp(-2 pi i t / n) for eight t from 0 to n
    table     -- (out, n): the n roots, complex numbers one after the other, and up to 7 more
    transform -- (points, room, table, n): the transform of n points, in one of the two
    """

    def __init__(self, code: LaneCode) -> None:
        self.code = code
        self.roots = self._roots()
        self.table = self._table()
        self.passes = {p: self._pass(p) for p in BUTTERFLIES}
        self.any_pass = self._any_pass()
        self.transform = self._transform()

    def roots_of(self, t: LaneValue, n: LaneValue) -> Complex:
        """Return the roots for eight t, which are doubles, of a whole number n."""
        code = self.code
        pair = code.call(self.roots, t, code.spread(code.double(n))).value
        return (LaneValue(code.builder, code.builder.extract_value(pair, 0)),
                LaneValue(code.builder, code.builder.extract_value(pair, 1)))

    def _roots(self) -> ir.Function:
        """An eighth of the circle is all of it; there, series. Turning by eighths is exact."""
        code = self.code
        made, (t, n) = code.function("dft_roots", [VECTOR, VECTOR], PAIR)
        angle = t * 8.0
        is_below = angle > n * 4.0
        angle = is_below.choose(n * 8.0 - angle, angle)
        is_left = angle > n * 2.0
        angle = is_left.choose(n * 4.0 - angle, angle)
        is_steep = angle > n
        angle = is_steep.choose(n * 2.0 - angle, angle)
        near = angle / n + _ROUNDING - _ROUNDING
        further = (angle - near * n) / n  # of which all before the division is exact up to 2**27
        q, (first, rest) = near + further, _QUARTER
        square = q * q
        sine = near * first + (further * first + q * rest + q * square * _polynomial(_SINE, square))
        cosine = square * _polynomial(_COSINE, square) + 1.0
        across, up = is_steep.choose(sine, cosine), is_steep.choose(cosine, sine)
        pair = code.builder.insert_value(
            PAIR(ir.Undefined), is_left.choose(-across, across).value, 0)
        code.leave(LaneValue(code.builder, code.builder.insert_value(
            pair, is_below.choose(up, -up).value, 1)))
        return made

    def _table(self) -> ir.Function:
        code = self.code
        made, (out, n) = code.function("dft_table", [POINTER, WORD])
        with code.loop(n, step=LANES) as t:
            store_numbers(code, self.roots_of(code.counting(t), n), out, t)
        code.leave()
        return made

    def _turn(self, table: LaneValue, i: LaneValue) -> Complex:
        """Return a root of the table, for all lanes."""
        code = self.code
        return code.spread(code.load(table, i * 2)), code.spread(code.load(table, i * 2 + 1))

    def _pass(self, p: int) -> ir.Function:
        """One pass by a written out factor; `done` is the product of those before it."""
        code = self.code
        made, (here, there, table, q, done) = code.function(
            f"dft_pass_{p}", [POINTER, POINTER, POINTER, WORD, WORD])
        with code.loop(done) as k:
            points = [load_point(code, here, q * r * done + k) for r in range(p)]
            for r, z in enumerate(BUTTERFLIES[p](points)):  # whose roots are all 1
                store_point(code, z, there, done * r + k)
        with code.loop(q, first=1) as j:
            turns = [self._turn(table, j * done * r) for r in range(1, p)]
            with code.loop(done) as k:
                points = [load_point(code, here, (j + q * r) * done + k) for r in range(p)]
                first, *others = BUTTERFLIES[p](points)
                for r, z in enumerate([first, *map(product, others, turns)]):
                    store_point(code, z, there, (j * p + r) * done + k)
        code.leave()
        return made

    def _any_pass(self) -> ir.Function:
        """One pass by any odd factor p."""
        code = self.code
        made, (here, there, table, q, done, p) = code.function(
            "dft_pass", [POINTER, POINTER, POINTER, WORD, WORD, WORD])
        half, nothing = (p + 1) // 2, known(code.builder, [0.0] * LANES)
        with code.loop(q) as j, code.loop(done) as k:
            first = load_point(code, here, j * done + k)
            sums = [Register(code, x) for x in (*first, nothing, nothing)]
            with code.loop(half) as r:
                for total, x in zip(sums, (*first, nothing, nothing), strict=True):
                    total.set(x)
                with code.loop(half, first=1) as s:
                    a, b = (load_point(code, here, (j + q * at) * done + k) for at in (s, p - s))
                    across, up = self._turn(table, r * s % p * q * done)
                    terms = ((a[0] + b[0]) * across, (a[1] + b[1]) * across,
                             (a[1] - b[1]) * up, (a[0] - b[0]) * up)
                    for total, x in zip(sums, terms, strict=True):
                        total.set(total.get() + x)
                x, y, u, v = (total.get() for total in sums)
                opposite = r.equals(0).choose(r, p - r)
                for at, z in ((r, (x - u, y + v)), (opposite, (x + u, y - v))):
                    turned = product(z, self._turn(table, j * done * at))
                    store_point(code, turned, there, (j * p + at) * done + k)
        code.leave()
        return made

    def _transform(self) -> ir.Function:
        """Pass after pass, by eight where that leaves no two, then four, two, and odd factors."""
        code = self.code
        made, (points, room, table, n) = code.function(
            "dft_lines", [POINTER, POINTER, POINTER, WORD], POINTER)
        here, there, rest, done = (Register(code, x) for x in (points, room, n, code.word(1)))
        p = Register(code, n)
        with code.loop_while(lambda: rest.get() > 1):
            self._choose_factor(p, rest)
            given = here.get(), there.get(), table, rest.get() // p.get(), done.get()
            code.by_case(p.get(), {
                **{k: partial(code.call, f, *given) for k, f in self.passes.items()},
                None: lambda: code.call(self.any_pass, *given, p.get())})
            here.set(given[1])
            there.set(given[0])
            rest.set(given[3])
            done.set(given[4] * p.get())
        code.leave(here.get())
        return made

    def _choose_factor(self, p: Register, rest: Register) -> None:
        """Choose the next factor of the rest."""
        code, m = self.code, rest.get()
        power = m & (code.word(0) - m)
        even = (power > 4).choose(power.equals(16).choose(code.word(4), 8), power)
        p.set((power > 1).choose(even, 3))
        with code.loop_while(lambda: (rest.get() % p.get()) > 0):
            p.set(p.get() + 2)


def _polynomial(coefficients: tuple[float, ...], x: LaneValue) -> LaneValue:
    """Return a polynomial's value, by Horner's rule."""
    total = x * coefficients[-1] + coefficients[-2]
    for c in coefficients[-3::-1]:
        total = total * x + c
    return total
