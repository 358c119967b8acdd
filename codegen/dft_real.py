"""Real rows of 2 h numbers as complex ones of h: steps before an inverse and behind a transform.

The pairs of a real row are complex numbers, whose transform z has the row's in it:
x[k] = (z[k] + conj z[h - k]) / 2 + root[k] (z[k] - conj z[h - k]) / 2i, and x[2 h - k] = conj x[k].
(H. V. Sorensen et al., Real-valued Fast Fourier Transform Algorithms, IEEE ASSP 35, 1987.)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir

from tracejit.codegen.butterflies import Complex, product
from tracejit.codegen.dft_lines import Lines, load_numbers, load_point, store_numbers, store_point
from tracejit.codegen.lanes import DOUBLE, LANES, POINTER, WORD, LaneCode, LaneValue

__all__ = ["RealRows"]

KINDS = (POINTER, POINTER, POINTER, WORD, WORD, DOUBLE, WORD, WORD)


class RealRows:
    """Writes both steps.

    split -- (z, out, turns, h, whole, scale, fresh, kept): the row's transform from that of its
             pairs: all of it where `whole` is 1, else up to the middle
    join  -- (x, z, turns, h, whole, scale, fresh, kept): the numbers whose inverse transform has
             the pairs of the real part of a row's; what is not given of the row counts as zeros

    scale is the factor of the numbers between the first and the middle one; turns is room for
    the roots, of all of h where they are `kept`.
    """

    def __init__(self, code: LaneCode, lines: Lines) -> None:
        self.code, self.lines = code, lines
        self.split, self.join = self._split(), self._join()

    @contextmanager
    def _blocks(self, turns: LaneValue, h: LaneValue, fresh: LaneValue,
                kept: LaneValue) -> Iterator[tuple[LaneValue, LaneValue, Complex]]:
        """Loop over k, eight at a time, to beyond the middle: k, where h - k begins, roots of k."""
        code = self.code
        with code.loop(h // 2 + 1, first=1, step=LANES) as k:
            k = (k > h - LANES).choose(h - LANES, k)
            place = code.at(turns, k * kept * 2)
            with code.when(fresh.equals(1)):
                store_point(code, self.lines.roots_of(code.counting(k), h * 2), place, code.word(0))
            yield k, h - k - (LANES - 1), load_point(code, place, code.word(0))

    def _backwards(self, z: Complex) -> Complex:
        return self.code.reversed(z[0]), self.code.reversed(z[1])

    def _split(self) -> ir.Function:
        code = self.code
        made, (z, out, turns, h, whole, scale, fresh, kept) = code.function("dft_split", KINDS)
        x, y = code.load(z, 0), code.load(z, 1)
        for at, v in ((code.word(0), x + y), (h * 2, x - y)):
            code.store(v, out, at)
            code.store(code.number(0.0), out, at + 1)
        factor = code.spread(scale * 0.5)
        with self._blocks(turns, h, fresh, kept) as (k, back, turn):
            a, b = load_numbers(code, z, k), self._backwards(load_numbers(code, z, back))
            even = (a[0] + b[0]) * factor, (a[1] - b[1]) * factor
            odd = product(((a[1] + b[1]) * factor, (b[0] - a[0]) * factor), turn)
            near = even[0] + odd[0], even[1] + odd[1]
            far = even[0] - odd[0], even[1] - odd[1]  # of k + h
            store_numbers(code, near, out, k)
            store_numbers(code, self._backwards((far[0], -far[1])), out, back)
            with code.when(whole.equals(1)):
                store_numbers(code, far, out, h + k)
                store_numbers(code, self._backwards((near[0], -near[1])), out, h + back)
        code.leave()
        return made

    def _join(self) -> ir.Function:
        code = self.code
        made, (given, z, turns, h, whole, scale, fresh, kept) = code.function("dft_join", KINDS)
        x, y = code.load(given, 0), code.load(given, h * 2)
        code.store(x + y, z, 0)
        code.store(x - y, z, 1)
        is_whole = whole.equals(1)
        factor = code.spread(is_whole.choose(code.number(0.5), scale * 0.25))
        with self._blocks(turns, h, fresh, kept) as (k, back, turn):
            a, b = load_numbers(code, given, k), self._backwards(load_numbers(code, given, back))
            far = load_numbers(code, given, is_whole.choose(h + k, k))
            last = self._backwards(load_numbers(code, given, is_whole.choose(h + back, back)))
            near = self._mirrored(a, last, is_whole, factor)
            other = self._mirrored(b, far, is_whole, factor)
            even = near[0] + other[0], near[1] - other[1]
            odd = product((near[0] - other[0], near[1] + other[1]), (turn[0], -turn[1]))
            store_numbers(code, (even[0] - odd[1], even[1] + odd[0]), z, k)
            other = even[0] + odd[1], odd[0] - even[1]
            store_numbers(code, self._backwards(other), z, back)
        code.leave()
        return made

    def _mirrored(self, a: Complex, b: Complex, is_whole: LaneValue, factor: LaneValue) -> Complex:
        """Return the part of a row, at k, whose inverse transform is real; b is at 2 h - k."""
        return ((a[0] + is_whole.choose(b[0], a[0])) * factor,
                (a[1] - is_whole.choose(b[1], -a[1])) * factor)
