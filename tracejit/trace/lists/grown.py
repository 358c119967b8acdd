"""Runs whose length data decides: their items are in a Log, and their number is beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tracejit.errors import Refusal
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim, dim_values, minimum, product
from tracejit.trace.containers.container_aliases import refuse_joined_change
from tracejit.trace.containers.places import is_number
from tracejit.trace.containers.runs import Run, Stored, Views, array_of, has_runs
from tracejit.trace.ground.context import Cell, current, refuse
from tracejit.trace.ground.dispatch import Changing
from tracejit.trace.ground.restarts import Grows, PlaceInCode, Unroll
from tracejit.trace.lists.read_only import freeze, hand_over
from tracejit.trace.lists.rows import (
    Item,
    Rows,
    Whereabouts,
    as_node,
    is_row_of_any_kind,
    is_wide_row,
    places_of,
    put_object,
    require_known_links,
    same_rows,
    take_in,
)
from tracejit.trace.values.equations import (
    as_operand,
    atom_of,
    cast,
    dims_of,
    dtype_of,
    emit,
    emit_value,
    lift,
)
from tracejit.trace.values.indexing import point_index, slice_span
from tracejit.trace.values.mixed import (
    Kinds,
    Mixed,
    is_mixed,
    kinds_of,
    number_of,
    of_one_kind,
    storage,
    unbounded,
    united,
)
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import CellPlace, Tracer, scalar_of, tracer_of

__all__ = ["ByData", "Grown", "GrownRows", "as_one_array", "kinds_of_item", "one_shape",
           "plain_items", "refused_walk", "shape_of_item", "size_value"]


def kinds_of_item(x: object) -> Kinds:
    """Return the kinds of an item's numbers, or of a run's; `Unroll` for items of other types."""
    if isinstance(x, Stored) and not x.nest and x.is_numbers:
        return x.kinds
    if isinstance(x, Grown):
        return x.raw
    if isinstance(x, Mixed) and not x.is_array:
        return x.kinds
    if isinstance(x, Stored) and not x.nest:
        return of_one_kind(x.data.dtype, False)
    if isinstance(x, Views) and x.shape:
        return of_one_kind(x.handle.dtype, False)
    if not is_number(x) or isinstance(x, Changing):
        raise _of_other_type(x)
    x = lift(x)
    if isinstance(x, Tracer) and x.is_array and not x.dims:
        raise Unroll("a list that gets longer as data decides holds arrays without axes")
    return of_one_kind(dtype_of(x), False) if dims_of(x) else kinds_of(x)


def _of_other_type(x: object) -> Unroll:
    return Unroll(f"a list that gets longer as data decides holds items of type {type(x).__name__}")


def shape_of_item(x: object) -> tuple[Dim, ...]:
    """Return the shape of an item, or of each item of a run; `Unroll` where data decides it."""
    if isinstance(x, (Stored, Grown, Views)):
        shape = x.data.dims[1:] if isinstance(x, Stored) else x.shape
    elif not is_number(x) and not isinstance(x, Run):
        raise _of_other_type(x)
    else:
        shape = dims_of(number_of(lift(x)))
    trace = current()
    shape = tuple(map(trace.canonical, shape))
    if any(not v.is_size and v not in trace.actual for d in shape for v in dim_values(d)):
        raise Unroll("a list that gets longer as data decides holds arrays of sizes that data says")
    return shape


def one_shape(shapes: list[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """Return the shape that items of a list have, whose sizes turn out to be one."""
    trace = current()
    for shape in shapes[1:]:
        if len(shape) != len(shapes[0]) or not all(
                map(trace.unify, shapes[0], shape)):
            raise Unroll("a list that gets longer as data decides holds arrays of different shapes")
    return tuple(map(trace.canonical, shapes[0])) if shapes else ()


def _plain(kinds: Kinds) -> Kinds:
    """Return kinds without the bounds of the numbers, which matter only where kinds are mixed."""
    return kinds if is_mixed(kinds) else unbounded(kinds)


def refused_walk() -> Refusal:
    """Return the refusal of a loop over a list whose length changes meanwhile."""
    return refuse("the length of a list changes, as data decides, while a loop is running over it",
                  "Run over its indices with `while k < len(items)`, or over a copy: list(items)",
                  "TJ421")


def _set(cell: Cell, value: Value) -> None:
    current().record(CellPlace(cell), cell.depth)
    cell.value = value


class Grown(Run):
    """Items that are in a Log.

    lists     -- the `DataLists` of the region around which the items are in Logs
    container -- the list in the capture
    column    -- the place that it is for, where items are tuples
    raw       -- the kinds of its numbers, with their bounds; none while it has no item
    kinds     -- `raw`, without bounds where it is one kind
    shape     -- the shape of the items, which are arrays where it has axes
    """

    __slots__ = ("changes", "column", "container", "kinds", "lists", "log", "raw", "shape", "size",
                 "used_up")

    def __init__(self, lists: Any, container: list[object], items: list[object], raw: Kinds,
                 where: PlaceInCode, column: int = 0, shape: tuple[Dim, ...] = ()) -> None:
        super().__init__(where)
        self.shape = shape
        self.lists, self.container, self.column = lists, container, column
        self.raw, self.kinds = raw, _plain(raw)
        self.changes = 0
        """How often its length was changed."""
        depth = current().depth
        self.used_up: Value | None = None
        """The Log, once its items are in an array."""
        self.log: Cell | None = None
        self.size: Cell | None = None
        if raw:
            for x in items:
                hand_over(x)
            data = as_one_array(items, self.dtype, shape)
            self.log = Cell(emit_value("log_of", [data.value]), depth)
            self.size = Cell(size_value(data.dims[0]), depth)

    @classmethod
    def of_log(cls, lists: Any, container: list[Any], kinds: Kinds, where: PlaceInCode,
               column: int, log: Value, size: Value, shape: tuple[Dim, ...] = ()) -> Grown:
        """Return the numbers, or arrays, that are in a Log."""
        depth = current().depth
        run = cls(lists, container, [], frozenset(), where, column, shape)
        run.raw, run.kinds = kinds, _plain(kinds)
        run.log, run.size = Cell(log, depth), Cell(size, depth)
        return run

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype of the Log."""
        dtype = storage(self.kinds, ints=True)
        if dtype is None:
            raise Unroll("a list that gets longer as data decides holds numbers of different kinds")
        return dtype

    # --- what runs do ---------------------------------------------------------------------------

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        if self.size is None:
            return 0
        trace = current()
        value = self.size.value
        if value not in trace.builder.ranges:
            trace.builder.assume(value, 0, None)
        return trace.canonical(value.dim)

    has_length_by_data = True

    @property
    def is_numbers(self) -> bool:
        """Return whether the items are numbers."""
        return not self.shape

    def item(self, k: Any) -> Any:
        """Return an item."""
        if self.log is None:
            raise IndexError("list index out of range")
        if self.shape:  # the program may hold it, and Python's would be the list's own
            current().in_lists.add((len(self.shape), self.dtype))
        return self._number(self._read(point_index(k, self.count, 0), self.shape))

    def _number(self, value: Value) -> Any:
        if self.shape:
            item = tracer_of(value)
            item.cell.is_array, item.cell.rows_of = True, self.where
            freeze(item.cell)
            return item
        if is_mixed(self.kinds):
            return Mixed(tracer_of(value), self.kinds, self._tell_apart)
        return scalar_of(value, weak=all(k.weak for k in self.kinds))

    def _tell_apart(self) -> NoReturn:
        self.give_up("telling the kinds of numbers apart in a list")

    def walk(self) -> Callable[[Any], Any]:
        """Return a function of k that gives item k, and refuses once the length has changed."""
        before = self.changes

        def item(k: Any) -> Any:
            if self.changes != before:
                raise refused_walk()
            return self.item(k)

        return item

    def part(self, key: slice) -> Run:
        """Return the items that a slice has."""
        span = slice_span(key, self.count)
        if span.step != 1:
            return self.stored().part(key)
        begin = minimum(span.start, self.count, current().builder.known)
        return self._held(self._array(begin, span.size))

    kept = part

    def copied(self) -> Run:
        """Return the items for another list."""
        return self.stored()

    def array(self) -> Tracer:
        """Return an array of the items, with memory of its own."""
        return self._array(0, self.count)

    def stored(self) -> Stored:
        """Return the items as they are now, as a run that has them in an array."""
        return self._held(self.array())

    def _held(self, data: Tracer) -> Stored:
        """Return items that the program may hold beside the list: Python's would be its own."""
        if self.shape:
            current().in_lists.add((len(self.shape), self.dtype))
            freeze(data.cell)
        return self._stored(data)

    def _stored(self, data: Tracer) -> Stored:
        return Stored(data, 0, self.kinds or of_one_kind(np.dtype(np.float64), True), self.where)

    def _array(self, begin: Dim, size: Dim) -> Tracer:
        value = (emit_value("empty", [], {"shape": (0,), "dtype": np.dtype(np.float64)})
                 if self.log is None else self._read(begin, (size, *self.shape)))
        result = tracer_of(value)
        result.cell.is_array = True
        return result

    def _read(self, begin: Dim, shape: tuple[Dim, ...]) -> Value:
        assert self.log is not None
        if self.log.value is self.used_up:
            raise refuse("a list that got longer or shorter as data decided has another name, by "
                         "which it is read afterwards", "Use the name that it had before", "TJ409")
        at = begin * product(self.shape)
        log, value = emit("log_read", [self.log.value], {"at": (at,), "shape": shape})
        _set(self.log, log)
        return value

    def give_up(self, why: str) -> NoReturn:
        """Refuse an operation without code for it; no list of the capture could have the items."""
        raise refuse(f"{why} that gets longer or shorter as data decides cannot be captured",
                     "Make an array of it first, after the loop or branch: np.array(items)",
                     "TJ409")

    # --- changes --------------------------------------------------------------------------------

    def push(self, x: Any) -> None:
        """Append a number or array, or the items of a run."""
        if (is_row_of_any_kind(x) or is_wide_row(x) or isinstance(x, Rows)) and self.log is None:
            like: Any = x.template if isinstance(x, Rows) else as_node(x)
            raise Grows(self.lists.frame, self.container, "a list gets tuples", by_data=True,
                        template=[*like] if type(like) is list else like)
        self._accept(x)
        assert self.log is not None
        more = x.count if isinstance(x, Stored) else 1
        x = x.data if isinstance(x, Stored) else lift(number_of(x))
        hand_over(x)
        (log,) = emit("push", [self.log.value, atom_of(x, self.dtype)])
        self._changed(log, self.count + more)

    def _accept(self, *items: Any) -> None:
        """Begin again with other storage where items are of kinds that this one is not for."""
        kinds, shapes = [kinds_of_item(x) for x in items], [shape_of_item(x) for x in items]
        one_shape([*([] if self.log is None else [self.shape]), *shapes])
        raw = united(self.raw, *kinds)
        if _plain(raw) != self.kinds:
            if any(shapes) and is_mixed(raw):
                raise Unroll("a list that gets longer as data decides holds arrays of different "
                             "dtypes")
            raise Grows(self.lists.frame, self.container, "a list gets another kind of number",
                        by_data=True, kinds={self.column: raw},
                        shape=shapes[0] if shapes else self.shape)

    def pop(self) -> Any:
        """Remove the last item and return it."""
        self._require_item()
        assert self.log is not None
        if self.shape:
            value = self._read(self.count - 1, self.shape)
        log, last = emit("pop", [self.log.value], {"shapes": (self.shape,)})
        value = value if self.shape else last
        self._changed(log, self.count - 1)
        return self._number(value)

    def _require_item(self) -> None:
        if self.size is None:
            raise IndexError("pop from empty list")
        inside = as_operand(self.count) > 0
        if isinstance(inside, Tracer):
            emit("check", [inside.value], {"error": "IndexError", "message": "pop from empty list"})
        elif not inside:
            raise IndexError("pop from empty list")

    def remove(self, k: object) -> Any:
        """Remove an item and return it."""
        return _removed(self, k)

    def put(self, k: Any, x: object) -> None:
        """Replace an item by a number."""
        if self.log is None:
            raise IndexError("list assignment index out of range")
        self._accept(x)
        at = point_index(k, self.count, 0)
        hand_over(x)
        x = atom_of(lift(number_of(x)), self.dtype)
        (log,) = emit("log_write", [self.log.value, x], {"at": (at * product(self.shape),)})
        self._changed(log, self.count)

    def replace(self, parts: list[Any]) -> None:
        """Let the list have other items."""
        if parts and parts[0] is self:
            for x in plain_items(parts[1:]):
                self.push(x)
            return
        parts = plain_items(parts)
        self._accept(*(p for p in parts if not (isinstance(p, Stored) and p.count == 0)))
        if self.log is None:
            return
        if self.shape and not all(isinstance(p, Stored) for p in parts):
            self.give_up("a change of a list of arrays")
        data = as_one_array(parts, self.dtype, self.shape)
        shape = (self.count, *self.shape)
        emit("log_array", [self.log.value], {"shape": shape, "last": False})
        self._changed(emit_value("log_of", [data.value]), data.dims[0])

    def _changed(self, log: Value, size: Dim) -> None:
        assert self.log is not None
        assert self.size is not None
        refuse_joined_change(self.container)
        trace = current()
        trace.log_changes += 1
        trace.changed_lists[id(self.container)] = self.container
        self.changes += size != self.count
        _set(self.log, log)
        _set(self.size, size_value(size))

    @property
    def cells(self) -> set[Cell | None]:
        """Return where the Log and the number of its items are."""
        return {self.log, self.size}

    def finished(self) -> Stored | None:
        """Return the items at the end of the region; None where there never was an item."""
        if self.log is None:
            return None
        self.used_up = self.log.value
        data = tracer_of(emit_value("log_array", [self.log.value], {
            "shape": (self.count, *self.shape), "last": True}))
        data.cell.is_array = True
        if (data.ndim - 1, data.dtype) in current().in_lists:
            freeze(data.cell)
        return self._stored(data)


class GrownRows(Rows):
    """Items that are tuples or lists, in a Log for each place in them."""

    __slots__ = ()

    def walk(self) -> Callable[[Any], Any]:
        """Return a function of k that gives item k, and refuses once the length has changed."""
        places = [c.walk() for c in self.columns]
        if not self.is_changeable:
            return lambda k: self.row([place(k) for place in places])

        def item(k: object) -> Any:
            for place in places:
                place(k)
            return self.reference(k)

        return item

    def stored(self) -> Rows:
        """Return the items as they are now, as runs that have them in arrays."""
        return Rows([c.stored() for c in self.columns], self.template, self.where)

    def push(self, x: Any) -> None:
        """Append a tuple or list, or the items of a run."""
        place = self.count
        for column, y in zip(self.columns, self._places(x), strict=True):
            column.push(y)
        self._take_in(x, place)

    def _places(self, x: object) -> list[Any]:
        if isinstance(x, Rows) and same_rows(x.template, self.template):
            self._require_known_links(x.template)
            return x.columns
        if not (is_row_of_any_kind(x) or is_wide_row(x)) or not same_rows(x, self.template):
            raise Unroll("a list that gets longer as data decides holds different things")
        self._require_known_links(x)
        put_object(x, self.where)
        return places_of(x)

    def _require_known_links(self, x: object) -> None:
        """Begin again where a thing of a pool comes into a list that had None alone."""
        one = self.columns[0]
        joint = require_known_links(self.template, x, one.container)
        if joint is not self.template:
            raise Grows(one.lists.frame, one.container, "a list gets more than None", by_data=True,
                        template=joint)

    def _take_in(self, x: object, place: Dim, before: Whereabouts | None = None) -> None:
        """Note that a list, or each list of a run, is an item now."""
        if isinstance(x, Rows) and x.is_changeable and x.home is not before:
            self.home.copy()
        take_in(x, self.home, place, self.template, self.where)

    def _move(self) -> None:
        """Note that items are in other places from now on, or gone."""
        if self.is_changeable:
            self.home = self.home.moved()

    def pop(self) -> Any:
        """Remove the last item and return it."""
        if self.is_changeable:
            self.home.note_write()
        x = self.row([c.pop() for c in self.columns])
        self._move()
        return x

    def remove(self, k: object) -> Any:
        """Remove an item and return it."""
        return _removed(self, k)

    def put(self, k: Any, x: object) -> None:
        """Replace an item."""
        place = point_index(k, self.count, 0)
        for column, y in zip(self.columns, self._places(x), strict=True):
            column.put(k, y)
        self._move()
        self._take_in(x, place)

    def replace(self, parts: Sequence[object]) -> None:
        """Let the list have other items."""
        if parts and parts[0] is self:
            for x in plain_items(parts[1:]):
                self.push(x)
            return
        parts = plain_items(parts)
        rows = [self._places(x) for x in parts]
        for j, column in enumerate(self.columns):
            column.replace([places[j] for places in rows])
        before = self.home
        self._move()
        place: Dim = 0
        for x in parts:
            self._take_in(x, place, before)
            place = place + (x.count if isinstance(x, Run) else 1)

    @property
    def cells(self) -> set[Cell | None]:
        """Return where the Logs and the number of their items are."""
        return {cell for c in self.columns for cell in c.cells}

    def finished(self) -> Rows | None:
        """Return the items at the end of the region; None where there never was an item."""
        columns = [c.finished() for c in self.columns]
        return None if columns[0] is None else Rows(columns, self.template, self.where, self.home)


def _removed(run: ByData, k: object) -> Any:
    place = of_dim(point_index(k, run.count, 0))
    if isinstance(run, GrownRows):
        run.home.note_write()
        x = run.row([c.item(place) for c in run.columns])
    else:
        x = run.item(place)
    run.replace([run.kept(slice(None, place)), run.kept(slice(place + 1, None))])
    return x


ByData = Grown | GrownRows
"""A run of which data decides how many items it has."""


def size_value(d: Dim) -> Value:
    """Return a size as a value of the graph."""
    atom = atom_of(as_operand(d), np.dtype(np.int64))
    return atom if isinstance(atom, Value) else emit_value("full", [atom], {"shape": ()})


def as_one_array(items: list[Any], dtype: np.dtype, shape: tuple[Dim, ...]) -> Tracer:
    """Return an array of items of a shape, some of them runs."""
    if not items:
        return tracer_of(emit_value("empty", [], {"shape": (0, *shape), "dtype": dtype}))
    return cast(array_of([number_of(x) for x in items]), dtype)


def plain_items(xs: Any) -> Any:
    """Return a list with its items in arrays, of one that has them in Logs or is in one itself."""
    if has_runs(xs) and any(isinstance(p, Item) for p in xs):
        return [y for p in xs for y in (p.spread() if isinstance(p, Item) else [p])]
    if has_runs(xs) and any(isinstance(p, ByData) for p in xs):
        return [p.stored() if isinstance(p, ByData) else p for p in xs]
    return xs
