"""The contents that two branches leave, merged: numbers, arrays, containers, unset names."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracejit.ir.builder import BlockScope
from tracejit.ir.core import Atom, Value
from tracejit.ir.dims import Dim
from tracejit.ir.types import Aval, LogType
from tracejit.trace.containers.choices import (
    MANY_OPTIONS,
    can_be_chosen,
    described,
    matching,
    narrowed,
    note_composed,
    options_of,
    renumbered,
    same_rank,
)
from tracejit.trace.containers.container_aliases import Held, containers, snapshot, with_joined
from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.places import (
    UNSET,
    Choice,
    MaybeUnset,
    Poison,
    are_equal_constants,
    children,
    holder_of,
    is_number,
    rebuild,
    same_node,
    same_structure,
)
from tracejit.trace.containers.records import (
    attributes_in,
    close,
    is_alike,
    is_of_iteration,
    is_open,
    is_record,
    is_tree,
    opened,
)
from tracejit.trace.containers.references import require_reference
from tracejit.trace.ground.attributes import names_in, put_in_order
from tracejit.trace.ground.context import Cell, Place, current
from tracejit.trace.ground.dispatch import loop_dtypes
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.lists.rows import Rows, same_rows
from tracejit.trace.state.key_orders import with_orders_of
from tracejit.trace.values.equations import (
    as_operand,
    atom_of,
    dims_of,
    emit,
    emit_value,
    is_weak,
    lift,
    promotion_key,
    written_as,
)
from tracejit.trace.values.mixed import (
    Flag,
    Kinds,
    Mixed,
    all_kinds_of,
    joint,
    keys_of,
    merged,
    settled,
    united,
)
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import CellPlace, Tracer, scalar_of, tracer_of

__all__ = ["Branch", "Merger", "join_leaf", "leaf_atom"]


@dataclass(slots=True)
class Branch:
    """The places that one traced branch changed, with the contents that it left."""

    scope: BlockScope
    places: dict[object, Place]
    raised: bool = False
    jumped: bool = False
    """Whether it ended by an error that a `try` catches; names that no handler reads are lost."""
    contents: dict[object, Any] = field(default_factory=dict)
    copies: dict[object, Any] = field(default_factory=dict)
    """Copies of the contents at the end of the branch, after which all changes are put back."""
    originals: dict[int, Any] = field(default_factory=dict)
    """The originals of the lists, tuples and dicts in `copies`, by the ids of the copies."""
    created: dict[int, Any] = field(default_factory=dict)
    """The containers and objects that were made in it."""
    orders: dict[int, list[object]] = field(default_factory=dict)
    """The keys of the dicts and objects that it changed, in the order that it left."""
    held: dict[object, Held] = field(default_factory=dict)
    """The lists and dicts in the contents, with the lists and dicts that each may be."""
    outputs: list[Atom] = field(default_factory=list)
    tags: dict[Value, frozenset[int]] = field(default_factory=dict)
    """The numbers that the tags of choices may have at its end."""
    taken_in: list[tuple[list[Any], list[Any], list[Any]]] = field(default_factory=list)
    """The lists that went into lists, with their items in the other branch and after both."""
    items: list[Any] = field(default_factory=list)
    """The lists in `copies` that have their items in arrays because the branches differ there."""

    def note(self, key: object, content: Any, items: list[Any] | None = None) -> None:
        """Note the content of a place at the end of the branch.

        items -- a list's items in arrays, where the branches leave lists of different lengths
        """
        self.contents[key] = content
        if items is None:
            self.copies[key] = snapshot(content, self.originals)
        else:
            self.copies[key] = items
            self.items.append(items)
            self.originals[id(items)] = content
        self.held[key] = with_joined(containers(content))

    def note_kept(self, place: Place) -> None:
        """Note a place that only the other branch changed; its content may have changed within."""
        before = [(p, p.get()) for p in self.places.values()]
        losing = [holder_of(p) for p, _ in before if self.contents[p.key] is UNSET]
        orders = [(x, names_in(x)) for x in losing if x is not None]
        for p, _ in before:
            p.set(self.contents[p.key])
        try:
            self.note(place.key, place.get())
        finally:
            for p, content in before:
                p.set(content)
            for x, names in orders:
                put_in_order(x, names)


class Merger:
    """Collects the outputs of the branches; contents can be made once the equation is emitted."""

    def __init__(self, condition: Tracer, branches: Sequence[Branch]) -> None:
        self.condition = condition
        self.branches = branches
        self.results: tuple[Value, ...] = ()
        self.name = ""
        self.chosen = {id(x) for b in branches for x in b.items}
        """The lists of which data decides which of two they are."""
        self.shapes: dict[int, tuple[Any, ...]] = {}
        """For results whose sizes are results too: dims, or the places of sizes in 1-tuples."""
        self.joined: list[tuple[Cell, list[weakref.ref[Cell] | None]]] = []
        """The merged arrays, each with the cells that the branches left in its place."""

    def _inside(self, k: int, make: Callable[[], object]) -> Any:
        """Emit at the end of a branch, where cells hold the values that the branch left in them."""
        builder = current().builder
        branch = self.branches[k]
        cells = [(p, p.get()) for p in branch.places.values() if isinstance(p, CellPlace)]
        for p, _ in cells:
            p.set(branch.contents[p.key])
        builder.scopes.append(branch.scope)
        try:
            return make()
        finally:
            builder.scopes.pop()
            for p, before in cells:
                p.set(before)

    def _yield(self, makers: Sequence[Callable[[], Atom]]) -> int:
        for k, make in enumerate(makers):
            self.branches[k].outputs.append(self._inside(k, make))
        return len(self.branches[0].outputs) - 1

    def value(self, a: Value, b: Value) -> Callable[[], Any]:
        """Merge the values of a cell."""
        place = self._yield([lambda: self._live(0, lambda: a, a.aval),
                             lambda: self._live(1, lambda: b, a.aval)])
        return lambda: self.results[place]

    def _live(self, k: int, make: Callable[[], Atom], aval: Aval) -> Atom:
        """Return the output of branch k; zero or empty storage if it raised: nobody reads it."""
        if isinstance(aval, LogType) or not self.branches[k].raised:
            return make()
        if not aval.shape:
            return emit_value("full", [atom_of(aval.dtype.type(0))], {"shape": ()})
        return emit_value("empty", [], {"shape": aval.shape, "dtype": aval.dtype})

    def content(self, name: str, a: Any, b: Any) -> Callable[[], Any]:
        """Return a function that makes the merged content of a name or item, after `close`."""
        if a is UNSET or b is UNSET or isinstance(a, MaybeUnset) or isinstance(b, MaybeUnset):
            return self._maybe_unset(name, a, b)
        if isinstance(a, Poison) or isinstance(b, Poison):
            poison = a if isinstance(a, Poison) else b
            return lambda: poison
        self.name = name
        a, b = (narrowed(x, branch.tags) for x, branch in zip((a, b), self.branches, strict=True))
        problems: list[tuple[Any, Any]] = []
        make = self._node(a, b, problems)
        return self._poison(name, *problems[0]) if problems else make

    def _node(self, x: Any, y: Any,
              problems: list[tuple[object, object]]) -> Callable[[], Any]:
        """Merge two contents; `problems` gets the parts that have no merged content."""
        one_sided = any(branch.raised for branch in self.branches)
        original = self._original(x)
        if original is not None and original is self._original(y) and not (
                one_sided and self._is_made_inside(x)):
            return lambda: original
        x, y = self._opened(0, x, y), self._opened(1, y, x)
        require_reference(*(z if self._original(z) is None else self._original(z) for z in (x, y)))
        if self._differ(x, y) or (is_open(x) and not (self._is_new(x) or self._is_new(y))):
            return self._choice(self._as_it_was(x), self._as_it_was(y), problems)
        items = children(x)
        if isinstance(x, Rows) and isinstance(y, Rows) and not x.is_changeable and (
                same_rows(x.template, y.template)):
            columns = [self._node(p, q, problems)
                       for p, q in zip(x.columns, y.columns, strict=True)]
            return lambda: Rows([make() for make in columns], x.template, x.where)
        if items is not None:
            made = [self._node(p, q, problems)
                    for p, q in zip(items, children(y) or (), strict=True)]
            before = [self._original(z) for z in (x, y)]
            return lambda: with_orders_of(before, self._rebuilt(x, [make() for make in made]))
        if _is_same(x, y) and not (one_sided and is_number(x)):
            return lambda: x
        if is_number(x) and is_number(y):
            return self._number(x, y)
        return self._choice(x, y, problems)

    def _is_made_inside(self, x: object) -> bool:
        """Return whether a content that a branch leaves is a tuple, a reference, or was made in it.

        Values in it may be the branch's own.

        A list or object from before it is the same one afterwards, with the merged contents in it.
        """
        return isinstance(x, (tuple, Numbered)) or any(id(self._original(x)) in b.created
                                           for b in self.branches)

    def _is_new(self, x: object) -> bool:
        """Return whether a node was made here, so that one that is like it can take its place."""
        return not is_open(x) or is_of_iteration(
            self._original(x), *(b.created for b in self.branches))

    def _opened(self, k: int, x: object, y: object) -> Any:
        """Return an object as a node, as a branch leaves it, where the other branch has one."""
        if not is_open(y) or is_open(x) or not (
                is_record(x) and is_tree(x) and is_alike(x, y)):
            return x
        contents, originals = self.branches[k].contents, self.branches[k].originals
        found = opened(x, [snapshot(contents.get((id(x), name), item), originals)
                           for name, item in attributes_in(x).items()])
        originals[id(found)] = x
        return found

    def _as_it_was(self, x: object) -> Any:
        """Return a content with the objects themselves that were not made here."""
        if is_open(x):
            return x if self._is_new(x) else self._original(x)
        if isinstance(x, (tuple, Choice)):
            before = list(children(x) or ())
            found = [self._as_it_was(y) for y in before]
            return x if all(p is q for p, q in zip(before, found, strict=True)) else (
                rebuild(x, found))
        return x

    @staticmethod
    def _differ(x: object, y: object) -> bool:
        """Return whether two contents are not of one structure at the top."""
        if isinstance(x, Choice) or isinstance(y, Choice):
            return True
        if children(x) is None and children(y) is None:
            return is_number(x) and is_number(y) and not same_rank(x, y)
        if children(x) is None or children(y) is None or not same_node(x, y):
            return True
        return not isinstance(x, tuple) and not same_structure(x, y)

    def _choice(self, x: object, y: object,
                problems: list[tuple[object, object]]) -> Callable[[], Any]:
        """Merge two contents of different kinds: data decides which of them it is."""
        if not self._can_be_chosen(x) or not self._can_be_chosen(y):
            problems.append((x, y))
            return lambda: None
        columns: list[list[Any]] = [[o, UNSET] for o in options_of(x)]
        numbers = []
        for o in options_of(y):
            k = matching([c[0] if c[0] is not UNSET else c[1] for c in columns], o, _can_merge)
            if k is None:
                k = len(columns)
                columns.append([UNSET, o])
            elif columns[k][1] is not UNSET and columns[k][1] is not o:
                problems.append((x, y))
                return lambda: None
            columns[k][1] = o
            numbers.append(k)
        if len(columns) > MANY_OPTIONS:
            problems.append((x, y))
            return lambda: None
        options = [self._one_sided(c, problems) for c in columns]
        tags = [x.tag if isinstance(x, Choice) else np.int64(0),
                self._inside(1, lambda: renumbered(y.tag, numbers)) if isinstance(y, Choice)
                else np.int64(numbers[0])]
        tag = self._number(*tags)
        name, where = self.name, describe_line(find_site())
        where = next((c.where for c in (x, y) if isinstance(c, Choice)), where)
        return lambda: close(Choice(tag(), tuple([make() for make in options]), name, where))

    def _can_be_chosen(self, x: object) -> bool:
        """Return whether a content may be one of the things of a choice: any list from before."""
        return can_be_chosen(x) or (isinstance(x, (list, dict)) and id(x) not in self.chosen
                                    and not self._is_made_inside(x))

    def _one_sided(self, column: list[object],
                   problems: list[tuple[object, object]]) -> Callable[[], Any]:
        """Merge the contents that one branch or both leave: the other's yield never matters."""
        a, b = column
        missing = [x is UNSET for x in column]
        before = [b.raised for b in self.branches]
        for branch, gone in zip(self.branches, missing, strict=True):
            branch.raised = branch.raised or gone
        made = self._node(b if a is UNSET else a, a if b is UNSET else b, problems)
        for branch, raised in zip(self.branches, before, strict=True):
            branch.raised = raised
        return made

    def _rebuilt(self, x: Any, items: list[Any]) -> Any:
        made = close(rebuild(x, items))
        if type(made) in current().classes_in_lists:  # it may be one that is in a list
            current().objects_in_lists[id(made)] = made
        if type(made) is list and id(x) in self.chosen:
            current().chosen_lists[id(made)] = made
        return made

    def _original(self, x: Any) -> Any:
        return next((b.originals[id(x)] for b in self.branches if id(x) in b.originals), None)

    def made_for(self, content: object) -> Held:
        """Return the lists and dicts that were made for a merged content."""
        before = {id(x) for b in self.branches for x in b.originals.values()}
        return [x for x in containers(content) if id(x) not in before]

    def _poison(self, name: str, a: object, b: object) -> Callable[[], Any]:
        one, other = described(a), described(b)
        what, remedy = f"{one} in one branch and {other} in the other", (
            "Give it the same kind of value in both branches")
        if one == other:
            what, remedy = f"one of two things, each {one}", (
                "Use it within both branches, or choose between the numbers that are in them")
        poison = Poison(name, f"is {what}, depending on data,", describe_line(find_site()), remedy)
        return lambda: poison

    def _maybe_unset(self, name: str, a: object, b: object) -> Callable[[], Any]:
        """Keep beside the content whether it is set."""
        flags = [False if x is UNSET else x.is_set if isinstance(x, MaybeUnset) else True
                 for x in (a, b)]
        plain = [x.content if isinstance(x, MaybeUnset) else x for x in (a, b)]
        if plain[0] is UNSET and plain[1] is UNSET:
            return lambda: UNSET
        known = plain[1] if plain[0] is UNSET else plain[0]
        filled = [known if x is UNSET else x for x in plain]
        missing = [x is UNSET for x in plain]
        before = [b.raised for b in self.branches]
        for branch, gone in zip(self.branches, missing, strict=True):
            branch.raised = branch.raised or gone  # nobody reads its output
        content = self.content(name, *filled)
        for branch, raised in zip(self.branches, before, strict=True):
            branch.raised = raised
        inside = isinstance(flags[0], Tracer) and any(before)  # it may be a value of one branch
        is_set = self._number(*flags) if flags[0] is not flags[1] or inside else None

        def make() -> Any:
            flag = flags[0] if is_set is None else is_set()
            return content() if flag is True else MaybeUnset(content(), flag, name)

        return make

    def _number(self, x: Any, y: Any) -> Callable[[], Any]:
        """Merge two numbers or arrays in the dtype to which they promote."""
        x, y = lift(x), lift(y)
        sources = _cells(x, y)
        arrays = [isinstance(c, Tracer) and c.is_array for c in (x, y)]
        shapes = [self._shape(k, settled(z)) for k, z in enumerate((x, y))]
        kinds, flag = (frozenset(), lambda: None) if any(shapes) else self._kinds(x, y)
        x, y = settled(x), settled(y)
        dtype, weak = joint(kinds) if kinds else join_leaf(x, y)
        if not _are_equal(*shapes):
            return self._phi(x, y, dtype, shapes)
        aval = Aval(dtype, shapes[0])
        place = self._yield([  # each made to fit inside its branch, where it may have been computed
            lambda: self._live(0, lambda: leaf_atom(written_as(x, shapes[0]), dtype), aval),
            lambda: self._live(1, lambda: leaf_atom(written_as(y, shapes[0]), dtype), aval)])
        if not all(arrays):  # an array without axes or a number, which `+=` writes to or replaces
            sources = [c if is_array else None for c, is_array in zip(sources, arrays, strict=True)]

        def make() -> Any:
            result = scalar_of(self.results[place], weak=weak)
            if any(arrays):
                result.cell.is_array = result.cell.handed_on = True
            if isinstance(result, Tracer) and result.is_array:
                self._join(result.cell, sources)
            return merged(result, kinds, flag()) if kinds else result

        return make

    def _kinds(self, x: Any, y: Any) -> tuple[Kinds, Callable[[], Flag | None]]:
        """Return the kinds of a merged number, if several, and a function that makes its flag."""
        several = [all_kinds_of(v) for v in (x, y)]
        kinds = united(*several)
        if len(keys_of(kinds)) < 2:
            return frozenset(), lambda: None
        single = [key for ks in several if len(keys_of(ks)) == 1 for key in keys_of(ks)]
        if len(keys_of(kinds)) > 2 or not single or any(
                isinstance(v, Mixed) and getattr(v, "flag", None) is None for v in (x, y)):
            return kinds, lambda: None
        key = single[0]
        if len(single) == 2:
            turned = key not in keys_of(several[0])
            condition = self.condition
            return kinds, lambda: Flag(
                key, lambda: np.logical_not(condition) if turned else condition)
        def is_of_key(v: Any) -> Callable[[], Atom]:
            return lambda: atom_of(
                v.is_of(key) if isinstance(v, Mixed) else key in keys_of(all_kinds_of(v)))

        place = self._yield([is_of_key(x), is_of_key(y)])
        return kinds, lambda: Flag(key, lambda: tracer_of(self.results[place]))

    def _join(self, cell: Cell, sources: list[weakref.ref[Cell] | None]) -> None:
        """Note which arrays the branches left in a place: two places may now hold one array."""
        cell.stands_for([c for ref in sources if ref is not None and (c := ref()) is not None],
                        [other for other, _ in self.joined])
        for other, theirs in self.joined:
            if any((p := a and a()) and (q := b and b()) and p.may_be_one_with(q)
                   for a, b in zip(sources, theirs, strict=True)):
                cell.may_be(other)
        self.joined.append((cell, sources))

    def _shape(self, k: int, x: object) -> tuple[Dim, ...]:
        """Return the shape of an array that a branch leaves; a view's, where the view was made."""
        k = 1 - k if self.branches[k].raised else k
        dims: tuple[Dim, ...] = self._inside(
            k, lambda: tuple(map(current().canonical, dims_of(x))))
        return dims

    def _phi(self, x: object, y: object, dtype: np.dtype,
             shapes: Sequence[tuple[Dim, ...]]) -> Callable[[], Any]:
        """Merge arrays of one rank and different sizes: the sizes are results too."""
        if len(shapes[0]) != len(shapes[1]):
            return self._poison("an array", x, y)  # which are told apart before
        shape: list[Any] = []
        for d, e in zip(*shapes, strict=True):
            if d == e:
                shape.append(d)
                continue
            makers = [lambda d=d: atom_of(as_operand(d), np.dtype(np.int64)) for d in (d, e)]
            shape.append((self._yield(makers),))
        place = self._yield([lambda: leaf_atom(x, dtype), lambda: leaf_atom(y, dtype)])
        self.shapes[place] = tuple(shape)
        sources = _cells(x, y)

        def make() -> Any:
            result = tracer_of(self.results[place])
            result.cell.handed_on = True
            self._join(result.cell, sources)
            return result

        return make

    def close(self) -> None:
        """Emit the equation."""
        blocks = [b.scope.close(b.outputs) for b in self.branches]
        effects = any(e.op.effect or e.regions for b in blocks for e in b.eqns)
        if blocks[0].outputs or effects:
            self.results = emit("if_", [self.condition.value], {}, blocks)
            for v, then, other in zip(self.results, *(b.outputs for b in blocks), strict=True):
                note_composed(v, self.condition.value, then, other)
        for place, shape in self.shapes.items():
            v = self.results[place]
            v.aval = v.aval.with_shape(tuple(
                self.results[d[0]].dim if isinstance(d, tuple) else d for d in shape))


def _are_equal(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> bool:
    """Return whether two shapes are one, at the least for sizes that are equal in this call."""
    return a == b or (len(a) == len(b) and all(
        d == e or current().are_equal(d, e, "branches leave arrays of one size")
        for d, e in zip(a, b, strict=True)))


def _cells(*xs: object) -> list[weakref.ref[Cell] | None]:
    """Return weak references to the cells of arrays, equal for equal cells; None for numbers."""
    return [weakref.ref(x.cell) if isinstance(x, Tracer) else None for x in xs]


def _is_same(x: object, y: object) -> bool:
    """Whether two leaves are one without any need to merge."""
    if x is y:
        return True
    if isinstance(x, Tracer) and isinstance(y, Tracer):
        return x.cell is y.cell and x.steps == y.steps and bool(x.steps or x.cell.depth is not None)
    if isinstance(x, SymInt) and isinstance(y, SymInt):
        return x.dim == y.dim
    if isinstance(x, (Tracer, SymInt, np.ndarray)) or isinstance(y, (Tracer, SymInt, np.ndarray)):
        return False
    return are_equal_constants(x, y)


def join_leaf(x: object, y: object) -> tuple[np.dtype, bool]:
    """Return the dtype to which two numbers promote, and whether both are Python numbers."""
    keys = tuple(promotion_key(v) for v in (x, y))
    if keys == (np.dtype(bool),) * 2:
        return np.dtype(bool), is_weak(x) and is_weak(y)
    dtype = loop_dtypes(np.add, keys)[0]
    return dtype, is_weak(x) and is_weak(y)


def leaf_atom(x: object, dtype: np.dtype) -> Atom:
    """Return a leaf as an operand of a dtype."""
    return atom_of(x, dtype)


def _can_merge(x: object, y: object) -> bool:
    """Return whether two leaves are one thing, or numbers that have a merged value."""
    if is_number(x) or is_number(y):
        return same_rank(x, y)
    return are_equal_constants(x, y)
