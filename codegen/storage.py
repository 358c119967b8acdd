"""Which arrays need storage, and why; all others are computed where they are used.

| reason                | arrays                                                                |
|-----------------------|-----------------------------------------------------------------------|
| an argument, a result | inputs and outputs of the graph                                       |
| carried               | carried values of loops, results of branches                          |
| folded                | results of reductions, contractions, running sums, joins              |
| written in part       | operands and results of element and slice writes; not, as of loops    |
|                       | and branches, operands that are one number everywhere, used repeatedly |
| read by a routine     | operands and results of library routines and Logs                     |
| reshaped              | operands of a reshape that does more than add or drop axes of size 1  |
| indexed by data       | a gather's operand, and its indices if they take arithmetic           |
| computed outside      | values of enclosing code that loops read, if they take arithmetic     |
| contracted            | operands of contractions, if they take arithmetic, or are factors of  |
|                       | products by BLAS and no parts of arrays as it reads them (`factors.py`)|
| printed               | operands of `debug_print`                                             |
| selected from         | arrays that take a call such as exp and are compared, or searched for |
|                       | the largest or smallest element, if used otherwise too: computed      |
|                       | again, by vector code and then by scalar code, an element may differ  |
|                       | in the last bit; on devices, which fuse products and sums, arrays     |
|                       | that take any arithmetic and are searched                             |
| overwritten           | arrays that read an array which is written to before their last use,  |
|                       | or other elements of the array that they are written to               |
| shifted repeatedly    | arrays that one element would compute at many places, where a shifted |
|                       | array is made of a shifted array, and so on (`repetition.py`)         |
|                       | or, of a sum of shifted arrays, by several roots or calls such as exp |
| pushed often          | arrays that several additions at places of one array would each       |
|                       | compute, by several roots, divisions or calls (`repetition.py`)       |
| seen transposed       | arrays that take a call such as exp, on the CPU (`repetition.py`)     |
| put by data           | arrays that take a call and are put where data says, on the CPU       |
| swept again           | arrays that take a call, of which a sum along an axis is taken, and   |
|                       | that are read behind it by what reads the sum, on the CPU             |
| used repeatedly       | arrays that take a division and are repeated along an outer loop, or  |
|                       | a call such as exp and are repeated along any                         |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

from tracejit.codegen.elements import (
    Elements,
    is_array,
    is_constant,
    is_unit_reshape,
    nearly_whole,
)
from tracejit.codegen.factors import factors_of
from tracejit.codegen.overwriting import made_of_their_target, overwritten
from tracejit.codegen.repetition import (
    EXPENSIVE,
    arrays_pushed_often,
    arrays_read_by_many,
    arrays_shifted_often,
    ends_of_stretches,
    put_by_data,
    repeated_arrays,
    seen_transposed,
)
from tracejit.codegen.schedule import Style
from tracejit.codegen.sweeps import arrays_swept_again
from tracejit.ir.core import Atom, Block, Eqn, Graph, Span, Value
from tracejit.ir.lowering import (
    Alias,
    Argument,
    Callback,
    Contract,
    Effect,
    Gather,
    Library,
    LogOp,
    Native,
    Pieces,
    Pointwise,
    Reduce,
    Region,
    Running,
    View,
    Write,
    axis_labels,
)
from tracejit.ir.walk import all_eqns, free_values

__all__ = ["choose_storage", "find_pulled"]

READ_BY_PRODUCT = "read again and again by a product, or its result"
FOLDS = (Reduce, Argument, Contract, Running, Pieces)
Keep = Callable[[Atom, str], None]


def find_pulled(graph: Graph) -> set[Eqn]:
    """Return the slice writes that are lowered as reads: each element tests whether it was written.

    These cover an array but for a margin along one axis, and start from a constant one, or are one
    of several additions in a row: `A_bar[1:] += v; A_bar[:-1] += w` is one nest, not two.
    """
    makers = {v: e for e in all_eqns(graph.block) for v in e.outputs}
    wide = [e for e in all_eqns(graph.block) if _is_wide_write(e)]
    adds = {e for e in wide if e.op.lowering.combine == "add"}  # type: ignore[union-attr]
    pulled: set[Eqn] = set()
    for eqn in wide:
        base = makers.get(eqn.inputs[0])  # type: ignore[arg-type]
        if base is None:
            continue
        if is_constant(base) or base in pulled or (base in adds and eqn in adds):
            pulled.add(eqn)
            if base in adds:
                pulled.add(base)
    return pulled


def _is_wide_write(eqn: Eqn) -> bool:
    how = eqn.op.lowering
    if not isinstance(how, Write) or how.gathered:
        return False
    shape = eqn.inputs[0].aval.shape
    margins = sum(not (isinstance(p, Span) and p.size == d)
                  for p, d in zip(eqn.params["at"], shape, strict=True))
    return margins == 1 and nearly_whole(eqn.params["at"], shape)


def choose_storage(graph: Graph, given: dict[Value, str],
                   style: Style | None = None) -> Elements:
    """Return the element-wise view of a graph whose arrays with storage, each with its reason, are
    chosen.

    given -- some that are known to need it
    style -- the target's, the CPU's if there is none
    """
    style = Style() if style is None else style
    reasons = dict(given)

    def keep(a: Atom, why: str) -> None:
        if is_array(a) and isinstance(a, Value):
            reasons.setdefault(a, why)

    for v in graph.inputs:
        keep(v, "an argument")
    elements = Elements(graph, reasons, find_pulled(graph))
    for a in graph.outputs:
        if not elements.is_found(a):  # it is copied to where it is left
            keep(a, "a result")
    for v in ends_of_stretches(graph, reasons):
        keep(v, "a long chain of operations is cut here")
    shared = set(_shared_constants(graph))
    for eqn in all_eqns(graph.block):
        _keep_by_kind(eqn, elements, shared, keep)
    _keep_outside_loops(graph.block, elements, keep)
    for eqn in all_eqns(graph.block):
        if isinstance(eqn.op.lowering, Contract):
            for a in _stored_factors(eqn, elements, style):
                keep(a, READ_BY_PRODUCT)
    _keep_what_is_read_often(graph, elements, keep, style.fuses)
    for v in list(_selected(graph.block, elements, style.fuses)):
        keep(v, "its elements are compared with one another")
    for v in list(made_of_their_target(graph, graph.block, elements)):
        keep(v, "it is made of other elements of the array that it is written to")
    for v in list(overwritten(graph.block, elements)):
        keep(v, "what it is made of is overwritten before it is last read")
    _keep_factors(graph, elements, keep, style)
    return elements


def _keep_factors(graph: Graph, elements: Elements, keep: Keep, style: Style) -> None:
    """Store the factors that were matrices in an array, and are none in one stored since."""
    products = [e for e in all_eqns(graph.block) if style.is_product(e)]
    while new := [a for e in products for a in _stored_factors(e, elements, style)
                  if elements.is_virtual(a)]:
        for a in new:
            keep(a, READ_BY_PRODUCT)


def _keep_what_is_read_often(graph: Graph, elements: Elements, keep: Keep, fuses: bool) -> None:
    """Store arrays that many elements, or many arrays, are computed from, or columns of calls."""
    for v in () if fuses else list(seen_transposed(graph, elements)):
        keep(v, "seen transposed: its calls are vectorised in its own order")
    for v in () if fuses else list(put_by_data(graph, elements)):
        keep(v, "put at places that data says: its calls are vectorised before")
    for eqn in all_eqns(graph.block):
        for v in _repeated(eqn, elements):
            keep(v, "several elements of it are read for each element of another: computed once")
    for v in repeated_arrays(graph, elements):
        keep(v, "read at several places by arrays that are read at several places: computed once")
    for v in () if fuses else arrays_swept_again(graph, elements):
        keep(v, "a sum is taken of it, and it is read again behind it: its calls are made once")
    for v in arrays_shifted_often(graph, elements):
        keep(v, "read at several places by arrays, and dear: computed once")
    for v in arrays_pushed_often(graph, elements):
        keep(v, "added to an array at many places: computed once")
    for v in arrays_read_by_many(graph, elements):
        keep(v, "computed for many arrays with storage: computed once")


def _shared_constants(graph: Graph) -> Iterator[Value]:
    """Yield constant arrays that are read more than once.

    In memory they would be read, and be kept unchanged, where a number does.
    """
    uses = Counter(v for e in all_eqns(graph.block) for v in e.uses())
    uses.update(v for e in all_eqns(graph.block) for r in e.regions for v in r.outputs
                if isinstance(v, Value))
    for eqn in all_eqns(graph.block):
        yield from (v for v in eqn.outputs if uses[v] > 1 and is_constant(eqn))


def _keep_by_kind(eqn: Eqn, elements: Elements, shared: Set[Value], keep: Keep) -> None:
    """Store the operands that an equation by its kind needs in memory.

    shared -- constants that loops, branches and writes begin with a copy of
    """
    how = eqn.op.lowering
    operands: Sequence[Atom] = ()
    results: Sequence[Atom] = ()
    why = ""
    if isinstance(how, Region):
        inner = [a for r in eqn.regions for a in (*r.inputs, *r.outputs)]
        operands, results, why = [a for a in (*eqn.inputs, *inner) if a not in shared], (
            eqn.outputs), "a loop or a branch has it"
    elif isinstance(how, Write) and eqn not in elements.pulled:
        operands = [*filter(elements.computes, eqn.inputs[2:])]
        operands += [eqn.inputs[0]] if eqn.inputs[0] not in shared else []
        results, why = eqn.outputs, "parts of it are written to"
    elif isinstance(how, FOLDS):
        results, why = eqn.outputs, "a sum, or the like, over an axis"
    elif isinstance(how, (Library, Native, Callback, LogOp)):
        operands, results, why = eqn.inputs, eqn.outputs, "a library routine reads or writes it"
    elif isinstance(how, Alias):
        if not is_unit_reshape(eqn.inputs[0].aval.shape, eqn.output.aval.shape):
            operands, results, why = eqn.inputs, eqn.outputs, "seen in another shape"
    elif isinstance(how, Gather):
        operands = (eqn.inputs[0], *filter(elements.computes, eqn.inputs[1:]))
        why = "read at places that data says"
    elif isinstance(how, Effect) and how.shows:
        operands, why = eqn.inputs, "printed"
    elif isinstance(how, Effect):
        results, why = eqn.outputs, "made on its own"
    for a in (*operands, *results):
        keep(a, why)


def _keep_outside_loops(block: Block, elements: Elements, keep: Keep) -> None:
    """Store the virtual arrays that a loop reads, before it."""
    for eqn in block.eqns:
        for region in eqn.regions:
            for v in free_values(region):
                if is_array(v) and elements.computes(v):
                    keep(v, "a loop reads it again and again: computed once before it")
            _keep_outside_loops(region, elements, keep)


def _stored_factors(eqn: Eqn, elements: Elements, style: Style) -> Iterator[Atom]:
    """Yield the operands of a contraction that have to be in memory, and are no parts of others.

    An operand along all axes of the loops is read once in all: `(2.0 * a) @ x` is two products for
    each element of a, and no matrix.
    """
    if style.is_product(eqn):
        if not style.reads_parts:
            yield from eqn.inputs
            return
        yield from (a for a, part in zip(eqn.inputs, factors_of(eqn, elements), strict=True)
                    if part is None)
        return
    sides = axis_labels(eqn.params["spec"])[:2]
    for a, labels in zip(eqn.inputs, sides, strict=True):
        is_read_once = set().union(*sides) <= {*labels}
        if elements.computes(a) and not (is_read_once and elements.cost(a) < EXPENSIVE):
            yield a


def _repeated(eqn: Eqn, elements: Elements) -> Iterator[Value]:
    """Yield the operands that an equation would compute again and again in an outer loop.

    An operand that is repeated along inner loops only is computed once outside of them anyhow; but
    calls are vectorised only in loops of their own.
    """
    if not isinstance(eqn.op.lowering, (Pointwise, View)) or "at" in eqn.params:
        return
    for a in eqn.inputs:
        if not is_array(a) or not elements.computes(a):
            continue
        shape = eqn.output.aval.shape
        own = (1,) * (len(shape) - len(a.aval.shape)) + a.aval.shape
        repeated = [d == 1 and s != 1 for d, s in zip(own, shape, strict=True)]
        if True not in repeated:
            continue
        source = _source(a, elements)
        is_outer = not all(repeated[repeated.index(True):])
        if elements.has_call(source) or (is_outer and elements.cost(source) >= EXPENSIVE):
            yield source


def _source(a: Value, elements: Elements) -> Value:
    """Return the value that a view is a view of."""
    eqn = elements.makers[a]
    while isinstance(eqn.op.lowering, (View, Alias)) and is_array(eqn.inputs[0]) and (
            eqn.inputs[0] not in elements.stored and eqn.inputs[0] in elements.makers):
        a = eqn.inputs[0]
        eqn = elements.makers[a]
    return a


def _selected(block: Block, elements: Elements, fuses: bool) -> Iterator[Value]:
    """Yield the values that may be compared with one of their own elements.

    Where products and sums may be fused, a place where they are may not be one where they were.
    """
    uses = Counter(v for e in all_eqns(block) for v in e.uses())
    for eqn in all_eqns(block):
        how = eqn.op.lowering
        compares = isinstance(how, Pointwise) and eqn.output.aval.dtype.kind == "b"
        selects = isinstance(how, Argument) or (
            isinstance(how, (Reduce, Running)) and how.combine != "add")
        if not (compares or selects):
            continue
        for a in eqn.inputs:
            if is_array(a) and isinstance(a, Value) and elements.computes(a):
                source = _source(a, elements)
                if max(uses[a], uses[source]) > 1 and (
                        elements.has_call(source) or (fuses and selects)):
                    yield source
