"""What a nest of loops over elements adds to which arrays, if that is all it does.

A *term* is a product of elements and numbers from outside of the nest, perhaps summed over inner
loops. A *part* is what the nest does to one array: it adds a term to an element of it, or writes a
sum to it. An array whose elements are read once and then cleared, as cotangents of `C[i, j] = s`
are, is read as it was before the nest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tracejit.ir.control import LoopEqn, region_kind
from tracejit.ir.core import Atom, Block, Eqn, Literal, Span, Value
from tracejit.ir.dims import Dim, Expr, dim_values
from tracejit.ir.lowering import Effect, Pointwise, Write

__all__ = ["Check", "NestTerms", "NoProduct", "NestPart", "Place", "ElementRead", "number_in"]

Place = tuple[Dim, ...]


class NoProduct(Exception):
    """A nest does something else."""


@dataclass(frozen=True, slots=True)
class ElementRead:
    """An element of an array.

    version -- the value that is read; of an array that the nest changes, the one at that moment
    """

    version: Atom
    at: Place


@dataclass(frozen=True, slots=True)
class Term:
    """A product, with its sign, summed over some loops."""

    numbers: tuple[Atom, ...] = ()
    reads: tuple[ElementRead, ...] = ()
    sums: tuple[Eqn, ...] = ()
    is_negative: bool = False


@dataclass(frozen=True, slots=True)
class _Added:
    """A term added to what was there: a scalar that a loop carries, or an element of an array."""

    base: Value | ElementRead
    term: Term


@dataclass(frozen=True, slots=True)
class NestPart:
    """An addition to an array, or a write: in all iterations of some loops."""

    array: int
    at: Place
    term: Term
    loops: tuple[Eqn, ...]
    is_write: bool


@dataclass(frozen=True, slots=True)
class Check:
    """A check of indices in an iteration of some loops."""

    eqn: Eqn
    loops: tuple[Eqn, ...]


def number_in(d: Dim, numbers: frozenset[Value]) -> Value | None:
    """Return the loop whose number an index is, plus what is the same in all iterations; else None.

    `NoProduct` where it is anything else that changes.
    """
    found = numbers & {*dim_values(d)}
    if not found:
        return None
    if len(found) > 1 or not isinstance(d, Expr):
        raise NoProduct
    (v,) = found
    if d.factor_of(v) != 1 or v in dim_values(d - v.dim):
        raise NoProduct
    return v


class NestTerms:
    """Follows the equations of a nest, iteration by iteration of no loop in particular."""

    def __init__(self, nest: Eqn) -> None:
        self.nest = LoopEqn(nest)
        self.parts: list[NestPart] = []
        self.checks: list[Check] = []
        self.cleared: dict[int, tuple[ElementRead, tuple[Eqn, ...]]] = {}
        self.ahead: list[Eqn] = []
        """Equations on numbers from outside, which give the same in all iterations."""
        self.loops: list[Eqn] = []
        """The loops around an equation."""
        self.every: list[Eqn] = []
        self.arrays: dict[Value, int] = {}
        """Of each version of a changing array, which it is."""
        self.current: dict[int, Value] = {}
        self.found: dict[Value, Term | _Added] = {}
        self.inside: set[Value] = set()
        for k, v in enumerate(self.nest.carried):
            if v.is_log or not v.aval.shape or v.aval.dtype.kind != "f":
                raise NoProduct
            self._let(k, v)
        self._loop(nest, [*range(len(self.nest.carried))])
        self._settle()

    @property
    def numbers(self) -> frozenset[Value]:
        """Return the numbers of iterations of all loops of the nest."""
        return frozenset(LoopEqn(loop).index for loop in self.every)

    # --- equations ------------------------------------------------------------------------------

    def _let(self, array: int, version: Value) -> None:
        self.arrays[version] = array
        self.current[array] = version

    def _loop(self, eqn: Eqn, arrays: Sequence[int | None]) -> None:
        """Follow a loop whose carried values are arrays, by number, or scalars."""
        loop = LoopEqn(eqn)
        for k, v in zip(arrays, loop.carried, strict=True):
            if k is not None:
                self._let(k, v)
        self.loops.append(eqn)
        self.every.append(eqn)
        self._block(loop.body)
        self.loops.pop()
        for k, v, a, result in zip(arrays, loop.carried, loop.yielded, loop.results, strict=True):
            if k is not None:
                if a is not self.current[k]:
                    raise NoProduct
                self._let(k, result)
                continue
            total = self.found.get(a) if isinstance(a, Value) else None
            if not isinstance(total, _Added) or total.base is not v:
                raise NoProduct
            self.found[result] = replace(total.term, sums=(*total.term.sums, eqn))

    def _block(self, block: Block) -> None:
        self.inside.update(block.inputs)
        for eqn in block.eqns:
            if self._is_ahead(eqn):
                self.ahead.append(eqn)
            else:
                self._follow(eqn)
                self.inside.update(eqn.outputs)

    def _is_ahead(self, eqn: Eqn) -> bool:
        """Whether an equation gives the same float in all iterations, and may run before them."""
        return isinstance(eqn.op.lowering, Pointwise) and not eqn.op.effect and (
            self.inside.isdisjoint(eqn.uses()) and all(
                not a.aval.shape and (a.aval.dtype.kind == "f" or eqn.op.meaning == "cast")
                for a in (*eqn.inputs, *eqn.outputs)))

    def _follow(self, eqn: Eqn) -> None:
        how = eqn.op.lowering
        if region_kind(eqn) == "for":
            self._inner(eqn)
        elif isinstance(how, Effect) and how.action == "check_bounds":
            self.checks.append(Check(eqn, tuple(self.loops)))
        elif isinstance(how, Write) and not how.gathered:
            self._write(eqn, how.combine == "add")
        elif eqn.op.meaning == "index":
            self.found[eqn.output] = Term(reads=(ElementRead(eqn.inputs[0], _element(eqn)),))
        elif eqn.op.meaning in _MEANINGS and not eqn.output.aval.shape:
            self.found[eqn.output] = _MEANINGS[eqn.op.meaning](*map(self._known, eqn.inputs))
        else:
            raise NoProduct

    def _inner(self, eqn: Eqn) -> None:
        loop = LoopEqn(eqn)
        arrays: list[int | None] = []
        for start in loop.starts:
            k = self.arrays.get(start) if isinstance(start, Value) else None
            if (k is None and not (isinstance(start, Literal) and start.val == 0)) or (
                    k is not None and start is not self.current[k]):
                raise NoProduct
            arrays.append(k)
        for k, v in zip(arrays, loop.carried, strict=True):
            if k is None:
                self.found[v] = _Added(v, Term())
        self._loop(eqn, arrays)

    def _known(self, a: Atom) -> Term | _Added:
        if isinstance(a, Value) and (a in self.found or a in self.inside):
            if a not in self.found:
                raise NoProduct
            return self.found[a]
        if a.aval.shape:
            raise NoProduct
        return Term((a,))

    def _write(self, eqn: Eqn, is_added: bool) -> None:
        target, value = eqn.inputs
        k = self.arrays.get(target) if isinstance(target, Value) else None
        if k is None or target is not self.current[k]:
            raise NoProduct
        place = ElementRead(target, _element(eqn))
        if not is_added and isinstance(value, Literal) and value.val == 0 and (
                k not in self.cleared and self._is_once(place.at, self.loops)):
            self.cleared[k] = place, tuple(self.loops)
        else:
            known = self._known(value)
            if not is_added and isinstance(known, _Added) and known.base == place:
                known, is_added = known.term, True
            if not isinstance(known, Term) or not (is_added or (
                    known.sums and self._is_once(place.at, self.loops))):
                raise NoProduct
            self.parts.append(NestPart(k, place.at, known, tuple(self.loops), not is_added))
        self._let(k, eqn.output)

    def _is_once(self, at: Place, loops: Sequence[Eqn]) -> bool:
        """Whether each iteration of some loops has a place of its own."""
        numbers = frozenset(LoopEqn(loop).index for loop in loops)
        found = [v for d in at if (v := number_in(d, numbers)) is not None]
        return len(found) == len({*found}) == len(numbers)

    # --- the whole ------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Let reads of cleared arrays be of what there was; others that change are not read."""
        changed = [p.array for p in self.parts]
        if any(k in self.cleared for k in changed) or any(
                p.is_write and changed.count(p.array) > 1 for p in self.parts):
            raise NoProduct
        self.parts = [replace(p, term=replace(p.term, reads=tuple(map(
            self._as_it_was, p.term.reads)))) for p in self.parts]

    def _as_it_was(self, read: ElementRead) -> ElementRead:
        k = self.arrays.get(read.version) if isinstance(read.version, Value) else None
        if k is None:
            if read.version in self.inside:
                raise NoProduct
            return read
        if k not in self.cleared or self.cleared[k][0] != read:
            raise NoProduct
        return ElementRead(self.nest.starts[k], read.at)


def _element(eqn: Eqn) -> Place:
    at = eqn.params["at"]
    if any(isinstance(d, Span) for d in at):
        raise NoProduct
    return tuple(at)


def _times(x: Term | _Added, y: Term | _Added) -> Term:
    if isinstance(x, _Added) or isinstance(y, _Added):
        raise NoProduct
    return Term(x.numbers + y.numbers, x.reads + y.reads, x.sums + y.sums,
                x.is_negative != y.is_negative)


def _negated(x: Term | _Added) -> Term:
    if isinstance(x, _Added):
        raise NoProduct
    return replace(x, is_negative=not x.is_negative)


def _plus(x: Term | _Added, y: Term | _Added) -> _Added:
    for base, term in ((x, y), (y, x)):
        if isinstance(term, Term) and isinstance(base, _Added) and base.term == Term():
            return _Added(base.base, term)
    for base, term in ((x, y), (y, x)):
        if isinstance(term, Term) and isinstance(base, Term) and len(base.reads) == 1 and (
                base == Term(reads=base.reads) and len(term.reads) > 1):
            return _Added(base.reads[0], term)
    raise NoProduct


def _minus(x: Term | _Added, y: Term | _Added) -> _Added:
    return _plus(x, _negated(y))


_MEANINGS: dict[str, Callable[..., Term | _Added]] = {"mul": _times, "neg": _negated, "add": _plus,
                                                   "sub": _minus}
