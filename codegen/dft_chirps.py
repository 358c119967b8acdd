"""Transforms of rows whose length has a large prime factor, by Bluestein's algorithm.

With chirps w[k] = exp(-i pi k**2 / n) a transform is a convolution: x[k] is w[k] times the sum over
j of (x[j] w[j]) conj(w[k - j]). That is computed by transforms of a length m with small factors,
from 2 n - 1 on (C. Van Loan, Computational Frameworks for the Fast Fourier Transform, section 4.2).
"""

from __future__ import annotations

from llvmlite import ir

from tracejit.codegen.butterflies import Complex, product
from tracejit.codegen.dft_lines import Lines, store_numbers
from tracejit.codegen.dft_rows import RowTransforms
from tracejit.codegen.lanes import LANES, POINTER, WORD, LaneCode, LaneValue, Register

__all__ = ["Chirps"]


class Chirps:
    """Writes the functions that transform such rows.

    rough     -- (n): the rest of a length without its prime factors below 64, 1 if there is none
    transform -- (memory, x, out, swap, fresh, n): transform a row; see `RowTransforms`
    """

    def __init__(self, code: LaneCode, lines: Lines, rows: RowTransforms) -> None:
        self.code, self.lines, self.rows = code, lines, rows
        self.rough = self._rough()
        self.transform = self._transform()

    def _rough(self) -> ir.Function:
        code = self.code
        made, (n,) = code.function("dft_rough", [WORD], WORD)
        rest, p = Register(code, n), Register(code, code.word(2))
        with code.loop_while(lambda: (rest.get() > 1) & (p.get() < 64)):
            divides = (rest.get() % p.get()).equals(0)
            rest.set(divides.choose(rest.get() // p.get(), rest.get()))
            p.set(divides.choose(p.get(), p.get() + 1))
        code.leave(rest.get())
        return made

    def _transform(self) -> ir.Function:
        code = self.code
        made, (memory, x, out, swap, fresh, n) = code.function(
            "dft_chirped", [POINTER, POINTER, POINTER, WORD, WORD, WORD])
        m = self._padded(n)
        line = code.at(memory, n * 2 + POINTS)
        kernel = code.at(line, m * 2)
        inner = code.at(kernel, m * 2)
        low = code.call(self.rows.divide, m)
        forward, back, zero = code.word(0), code.word(LANES), code.word(0)

        def transform(points: LaneValue, swap: LaneValue, fresh: LaneValue) -> None:
            code.call(self.rows.long, inner, points, points, swap, fresh, zero, m, low)

        with code.when(fresh.equals(1)):
            self._chirps(memory, line, n)
            self._kernel(memory, kernel, n, m)
            transform(kernel, forward, code.word(1))
        step = swap // LANES
        with code.loop(n) as k:
            parts = code.load(x, k * 2 + step), code.load(x, k * 2 + 1 - step)
            self._store(product(parts, self._number(memory, k)), line, k)
        with code.loop(m - n) as k:
            self._store((code.number(0.0), code.number(0.0)), line, k + n)
        transform(line, forward, code.word(1))
        with code.loop(m) as k:
            self._store(product(self._number(line, k), self._number(kernel, k)), line, k)
        transform(line, back, code.word(1))
        size = code.double(m)
        with code.loop(n) as k:
            z = product(self._number(line, k), self._number(memory, k))
            for part, at in zip(z, (step, 1 - step), strict=True):
                code.store(part / size, out, k * 2 + at)
        code.leave()
        return made

    def _padded(self, n: LaneValue) -> LaneValue:
        """Return the least of 8, 9, 10, 12 or 15 times a power of two that is 2 n - 1 or more."""
        code = self.code
        least, found = n * 2 - 1, Register(code, code.word(2 ** 62))
        for k in (8, 9, 10, 12, 15):
            m = Register(code, code.word(k))
            with code.loop_while(lambda m=m: m.get() < least):  # type: ignore[misc]
                m.set(m.get() * 2)
            found.set((m.get() < found.get()).choose(m.get(), found.get()))
        return found.get()

    def _chirps(self, out: LaneValue, squares: LaneValue, n: LaneValue) -> None:
        """The chirps are roots of 2 n, by squares whose multiples of 2 n are left out."""
        code = self.code
        square = Register(code, code.word(0))
        with code.loop(n) as k:
            code.store(code.double(square.get()), squares, k)
            following = square.get() + k * 2 + 1
            square.set((following >= n * 2).choose(following - n * 2, following))
        with code.loop(n, step=LANES) as k:
            store_numbers(code, self.lines.roots_of(code.vector(squares, k), n * 2), out, k)

    def _kernel(self, chirps: LaneValue, kernel: LaneValue, n: LaneValue, m: LaneValue) -> None:
        """The chirps' conjugates, around 0."""
        code = self.code
        with code.loop(m) as k:
            self._store((code.number(0.0), code.number(0.0)), kernel, k)
        with code.loop(n) as k:
            z = self._number(chirps, k)
            for at in (k, k.equals(0).choose(k, m - k)):
                self._store((z[0], -z[1]), kernel, at)

    def _number(self, numbers: LaneValue, k: LaneValue) -> Complex:
        return self.code.load(numbers, k * 2), self.code.load(numbers, k * 2 + 1)

    def _store(self, z: Complex, numbers: LaneValue, k: LaneValue) -> None:
        self.code.store(z[0], numbers, k * 2)
        self.code.store(z[1], numbers, k * 2 + 1)


POINTS = 2 * LANES
"""The numbers that vectors may write behind the last one."""
