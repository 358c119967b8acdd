"""Products of many iterations at once: a loop's matrix-vector products become products of matrices.

A loop that multiplies a matrix by a vector in each iteration, or adds an outer product to an array,
reads that matrix or array from memory each time. Of 64 iterations such products are one product of
matrices, which reads it once:

    for i in range(n):                for each block of 64 iterations:
        a = x_i @ B                       X = the rows x_i; A = X @ B
        u, v = body(i, a)                 for i in the block:
        C += outer(u, v)                      U[i], V[i] = body(i, A[i])
                                          C += U.T @ V

Which ones is said in `loop_products.py`. Of a part such as `B[:, i:]` the columns before the
block's end stay in the loop, so that nothing is multiplied that was not. Sums may be added up in
another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tracejit.ir.builder import Builder
from tracejit.ir.control import LoopEqn, bounds_of, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Graph, Span, Value
from tracejit.ir.dead_code import drop_dead_code, prune_block
from tracejit.ir.dims import Dim, floor_div, maximum, minimum
from tracejit.ir.optable import find_op
from tracejit.ir.walk import (
    Env,
    copy_dim,
    copy_eqn,
    copy_param,
    copy_value,
    read_atom,
    replace_eqns,
    replace_graph,
    replace_regions,
)
from tracejit.passes.loop_products import BLOCK, AddedOuter, AddedRow, DividedPart, LoopProducts

__all__ = ["block_products", "describe_block"]


def block_products(graph: Graph) -> tuple[Graph, list[Eqn]]:
    """Return a graph with the products of its loops by blocks, and these loops."""
    found: list[Eqn] = []

    def in_block(block: Block) -> Block:
        return replace_eqns(block, change)

    def change(eqn: Eqn) -> Iterable[Eqn]:
        inner = replace_regions(eqn, in_block)
        loop = LoopProducts(eqn) if inner is eqn and region_kind(eqn) == "for" else None
        if loop is None or not loop.find():
            return [inner]
        found.append(eqn)
        return [_blocked(loop)]

    block = in_block(graph.block)
    return (drop_dead_code(replace_graph(graph, block)) if found else graph), found


def describe_block(loop: Eqn) -> str:
    """Return what a loop is in the emitted source."""
    return (f"{loop.site}: {BLOCK} iterations at a time: their products of matrices and vectors "
            "are products of matrices")


def _blocked(loop: LoopProducts) -> Eqn:
    """Return the loop over blocks, of which the last one may be shorter."""
    lo, hi = bounds_of(loop.eqn)
    count = maximum(floor_div(hi - lo + BLOCK - 1, BLOCK), 0)
    return replace(loop.eqn, params={**loop.eqn.params, "lo": 0, "hi": count},
                   regions=(_BlockOf(loop).region(),))


class _BlockOf:
    """Writes the region of the loop over blocks.

    first -- the number of the block's first iteration
    end   -- the number behind that of its last one; `size` is how many it has
    saved -- the places of the arrays that have a row for each iteration, by the vector in it and
             how much of it, if only the part behind the block
    """

    def __init__(self, loop: LoopProducts) -> None:
        self.loop, self.builder = loop, Builder()
        self.env: Env = {}
        b = Value(loop.i.aval, loop.i.name)
        self.inputs = (b, *(copy_value(v, self.env) for v in LoopEqn(loop.eqn).carried))
        lo, hi = bounds_of(loop.eqn)
        self.first = lo + BLOCK * b.dim
        self.end = minimum(self.first + BLOCK, hi)
        self.size = self.end - self.first
        self.saved: dict[tuple[Value, Dim | None], int] = {}
        self.products: dict[Eqn, Value] = {}

    def region(self) -> Block:
        """Return the body: the products ahead, the iterations, the products behind."""
        carried = LoopEqn(self.loop.eqn).carried
        with self.builder.block(self.inputs) as scope:
            self._do_ahead()
            for found in self.loop.behind.values():
                for key in self._vectors_of(found):
                    self.saved.setdefault(key, len(self.saved))
            kept = [v for v in carried if v not in self.loop.whole]
            starts = [read_atom(self.env, v) for v in kept]
            starts += [self._empty(w.aval.shape[0] if far is None else far, w)
                       for w, far in self.saved]
            results = self._loop(starts, lambda env, state: self._iteration(env, kept, state))
            self.env.update(zip(kept, results, strict=False))
            self._do_behind(results[len(kept):])
            return scope.close([read_atom(self.env, v) for v in carried])

    # --- ahead ------------------------------------------------------------------------------------

    def _do_ahead(self) -> None:
        """Fill the rows of vectors, and multiply them."""
        found = list(self.loop.ahead.values())
        vectors = list(dict.fromkeys(x.vector for x in found))
        if not vectors:
            return

        def fill(env: Env, rows: Sequence[Atom]) -> list[Atom]:
            for eqn in self.loop.body.eqns:
                if not eqn.op.effect and all(v in self.loop.fixed for v in eqn.outputs):
                    self.builder.append(copy_eqn(eqn, env))
            return [self._with_row(row, read_atom(env, v), env)
                    for row, v in zip(rows, vectors, strict=True)]

        inside = minimum(self.end, bounds_of(self.loop.eqn)[0] + self.loop.count)
        filled = self._loop([self._empty(v.aval.shape[0], v) for v in vectors], fill, inside)
        rows = dict(zip(vectors, filled, strict=True))
        for x in found:
            label, labels, other = x.labels
            row = _row_label(labels)
            self.products[x.eqn] = self._emit(
                "dot", [rows[x.vector], self._matrix(x.matrix, self.first)],
                spec=f"{row}{label},{labels}->{row}{other}")

    def _matrix(self, part: DividedPart, number: Dim) -> Atom:
        """Return the part of a matrix that a block reads from an iteration on."""
        at = part.from_iteration(self.loop.i, number)
        if at == tuple(Span(0, d) for d in part.array.aval.shape):
            return part.array
        return self._emit("index", [part.array], at=at)

    # --- the iterations ---------------------------------------------------------------------------

    def _loop(self, starts: Sequence[Atom],
              body: Callable[[Env, Sequence[Atom]], list[Atom]],
              end: Dim | None = None) -> list[Value]:
        """Return the values that a loop over the iterations of the block leaves.

        end -- the number before which it ends; None for the block's end
        """
        eqn, env = self.loop.eqn, dict(self.env)
        i = copy_value(self.loop.i, env)
        with self.builder.block((i, *(Value(a.aval) for a in starts))) as scope:
            region = prune_block(scope.close(body(env, scope.inputs[1:])))
        return list(self.builder.emit(eqn.op, starts, {
            **eqn.params, "lo": self.first, "hi": self.end if end is None else end},
            (region,), eqn.site))

    def _iteration(self, env: Env, kept: Sequence[Value], state: Sequence[Atom]) -> list[Atom]:
        """Write an iteration, and return the values that it leaves to the next."""
        env.update(zip(kept, state, strict=False))
        for eqn in self.loop.body.eqns:
            if eqn in self.products:
                env[eqn.output] = self._product(eqn, env)
            elif eqn in self.loop.behind:
                self._add_near(eqn, self.loop.behind[eqn], env)
            else:
                self.builder.append(copy_eqn(eqn, env))
        rows = [self._with_row(row, self._to_save(v, far, env), env) for row, (v, far) in zip(
            state[len(kept):], self.saved, strict=True)]
        last = dict(zip(LoopEqn(self.loop.eqn).carried, self.loop.body.outputs, strict=True))
        return [*(read_atom(env, last[v]) for v in kept), *rows]

    def _product(self, eqn: Eqn, env: Env) -> Atom:
        """Return an iteration's row of the products that were done ahead."""
        row = self._row(env)
        (size,) = (copy_dim(d, env) for d in eqn.output.aval.shape)
        start = 0 if self.loop.ahead[eqn].matrix.rising is None else row
        return self._emit("index", [self.products[eqn]], at=(row, Span(start, size)))

    def _row(self, env: Env) -> Dim:
        return copy_dim(self.loop.i.dim, env) - self.first

    def _with_row(self, rows: Atom, vector: Atom, env: Env) -> Value:
        size = rows.aval.shape[1]
        return self._emit("update", [rows, vector], at=(self._row(env), Span(0, size)))

    def _emit(self, name: str, inputs: Sequence[Atom], **params: object) -> Value:
        (v,) = self.builder.emit(find_op(name), inputs, params, site=self.loop.eqn.site)
        return v

    def _empty(self, size: Dim, like: Atom) -> Value:
        """Return memory for a row for each iteration of a block."""
        return self._emit("empty", [], shape=(self.size, size), dtype=like.aval.dtype)

    def _to_save(self, v: Value, far: Dim | None, env: Env) -> Atom:
        """Return the row of a vector that an iteration leaves for the products behind."""
        vector = read_atom(env, v)
        if far is None:
            return vector
        return self._emit("index", [vector], at=(Span(vector.aval.shape[0] - far, far),))

    def _add_near(self, eqn: Eqn, found: AddedOuter | AddedRow, env: Env) -> None:
        """Add the part before the block's end, and leave the rest to the end of the block."""
        if found.array not in env:
            return
        env[eqn.output] = env[found.array]
        part, k, far = found.divided, found.divided.rising, self._far(found.divided)
        if k is None or far is None:
            return
        span: Span = copy_param(part.at[k], env)
        size = span.size - far
        shorter = (*copy_param(part.at[:k], env), Span(span.start, size),
                   *copy_param(part.at[k + 1:], env))
        vectors = [read_atom(env, v) if is_whole else self._emit(
            "index", [read_atom(env, v)], at=(Span(0, size),))
            for v, is_whole in ((v, d is None) for v, d in self._vectors_of(found))]
        if isinstance(found, AddedOuter):
            at, added = shorter, self._outer(vectors)
        else:
            at = copy_param(found.at, env)
            label, labels, other = found.labels
            matrix = self._emit("index", [part.array], at=shorter)
            added = self._emit("dot", [*vectors, matrix], spec=f"{label},{labels}->{other}")
        env[eqn.output] = self._emit("accumulate", [read_atom(env, found.array), added], at=at)

    def _outer(self, vectors: Sequence[Atom]) -> Value:
        """Return an outer product of two vectors."""
        (n,), (m,) = (v.aval.shape for v in vectors)
        return self._emit("mul", [self._emit("reshape", [v], shape=shape) for v, shape in zip(
            vectors, ((n, 1), (1, m)), strict=True)])

    # --- behind -----------------------------------------------------------------------------------

    def _vectors_of(self, found: AddedOuter | AddedRow) -> list[tuple[Value, Dim | None]]:
        """Return vectors of which a row is kept, and how much of each if only a part behind."""
        far = self._far(found.divided)
        if isinstance(found, AddedRow):
            return [(found.vector, far)]
        places = [k for k, s in enumerate(found.divided.at) if isinstance(s, Span)]
        return [(v, far if k == found.divided.rising else None)
                for k, v in zip(places, found.vectors, strict=True)]

    def _far(self, part: DividedPart) -> Dim | None:
        """Return how much of a part lies behind the block; None if it is not divided."""
        if part.rising is None:
            return None
        span = part.from_iteration(self.loop.i, self.end)[part.rising]
        assert isinstance(span, Span)
        return span.size

    def _do_behind(self, rows: Sequence[Atom]) -> None:
        """Add the products of the rows that the iterations have left."""
        for found in self.loop.behind.values():
            vectors = [rows[self.saved[key]] for key in self._vectors_of(found)]
            if isinstance(found, AddedOuter):
                at = found.divided.from_iteration(self.loop.i, self.end)
                added = self._emit("dot", vectors, spec="ij,ik->jk")
            else:
                label, labels, other = found.labels
                row = _row_label(labels)
                place = copy_dim(found.place, {self.loop.i: self.first})
                at = tuple(Span(place, self.size) if k == found.axis else d
                           for k, d in enumerate(found.at))
                output = row + other if found.axis == 0 else other + row
                added = self._emit("dot", [*vectors, self._matrix(found.divided, self.end)],
                                   spec=f"{row}{label},{labels}->{output}")
            self.env[found.carried] = self._emit(
                "accumulate", [read_atom(self.env, found.carried), added], at=at)


def _row_label(labels: str) -> str:
    """Return a label for the rows of a block that an operand does not have."""
    return next(c for c in "rst" if c not in labels)
