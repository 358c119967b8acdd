"""Lists that get longer or shorter as data decides: their items are in a Log while that goes on.

Around the outermost loop or branch in which data decides how many items a list has, the list is a
run of a kind of its own, `Grown` (`grown.py`): a Log with the items, and their number, both in
cells, so that loops carry and branches merge them like arrays that are written to. Afterwards the
items are an array, of which that number is the size.
"""

from __future__ import annotations

from typing import Any

from tracejit.ir.dims import Dim
from tracejit.trace.containers.container_aliases import refuse_joined_change
from tracejit.trace.containers.heap import has_iterators, held_by_program
from tracejit.trace.containers.runs import Run, place_in_code
from tracejit.trace.ground.context import Cell, Frame, current, refuse
from tracejit.trace.ground.restarts import Grows, PlaceInCode, Unroll
from tracejit.trace.ground.upward import above
from tracejit.trace.lists.grown import (
    ByData,
    Grown,
    GrownRows,
    kinds_of_item,
    one_shape,
    refused_walk,
    shape_of_item,
)
from tracejit.trace.lists.read_only import freeze
from tracejit.trace.lists.rows import (
    Item,
    Rows,
    Whereabouts,
    as_node,
    is_row_of_any_kind,
    is_wide_row,
    joint_template,
    known_links,
    note_items,
    places_of,
    same_rows,
)
from tracejit.trace.lists.together import add_others
from tracejit.trace.state.changes import known_container
from tracejit.trace.values.mixed import Kinds, united
from tracejit.trace.values.tracer import Tracer

__all__ = ["DataLists"]

@above
class DataLists:
    """The lists that have their items in Logs around one loop or branch."""

    def __init__(self) -> None:
        self.kinds: dict[int, dict[int, Kinds]] = {}
        """By list and place in tuples, the kinds of numbers that it gets."""
        self.templates: dict[int, Any] = {}
        self.shapes: dict[int, dict[int, tuple[Dim, ...]]] = {}
        """By list and place in tuples, the shapes of the arrays that it gets."""
        self.containers: dict[int, list[Any]] = {}
        self.before: dict[int, list[Any]] = {}
        """The items of each list before the region, by the id of the list."""
        self.runs: dict[int, ByData] = {}
        self.taken_in: dict[int, tuple[list[Any], list[Any], Item]] = {}
        """Python lists that are items of these, by id: with their own items and their `Item`."""
        self.outdated: set[Cell | None] = set()
        """The cells of runs that were for another kind of items."""
        self.frame: Frame | None = None
        """The region, while it is traced."""

    def takes(self, e: Grows) -> bool:
        """Return whether a `Grows` is for this region; its lists are in Logs from then on."""
        if e.frame is not self.frame or not e.by_data:
            return False
        self._take(e)
        for other in e.others:
            try:
                self._take(other)
            except Unroll:  # its own change may say more
                self.drop(other.container)
        return True

    def _take(self, e: Grows) -> None:
        """Keep a list in a Log from the next attempt on."""
        key = id(e.container)
        self.containers[key] = e.container
        kinds = self.kinds.setdefault(key, {})
        if e.template is not None:
            self.templates[key] = e.template
            kinds.update(enumerate(map(kinds_of_item, places_of(e.template))))
            self.shapes[key] = dict(enumerate(map(shape_of_item, places_of(e.template))))
        if e.shape is not None:
            for column in e.kinds:
                self.shapes.setdefault(key, {})[column] = e.shape
        for column, more in e.kinds.items():
            kinds[column] = united(kinds.get(column, ()), more)
        self._let_go(e.container)
        self._check(e.container, e)
        run = self.runs.pop(key, None)
        if run is not None:
            self.outdated |= run.cells

    def _check(self, container: list[object], e: Grows) -> None:
        """Raise `Unroll`, or outside of loops the refusal of `e`, if the items fit no Log."""
        try:
            self._items(container, self.before.get(id(container), container))
        except Unroll as found:
            if e.refusal is not None and not any(f.kind == "loop" for f in current().frames):
                raise e.refusal from None
            raise Unroll(found.why, e.refusal) from None

    def _items(self, container: list[object], items: list[object]) -> list[list[Any]]:
        """Return the contents of a list's items, place by place; `Unroll` for unlike items."""
        template = self.templates.get(id(container))
        if template is None:
            template = next((x.template if isinstance(x, Rows) else as_node(x) for x in items
                             if isinstance(x, Rows) or is_row_of_any_kind(x) or is_wide_row(x)),
                            None)
            template = [*template] if type(template) is list else template
        if template is None:
            for x in items:
                kinds_of_item(x)
            return [items]
        self.templates[id(container)] = template
        columns: list[list[Any]] = [[] for _ in places_of(template)]
        for x in items:
            like = x.template if isinstance(x, Rows) else x
            if not (isinstance(x, Rows) or is_row_of_any_kind(x) or is_wide_row(x)) or (
                    not same_rows(like, template)):
                raise Unroll("a list that gets longer as data decides holds different things")
            template = joint_template(template, like)
            places = x.columns if isinstance(x, Rows) else places_of(x)
            for column, y in zip(columns, places, strict=True):
                column.append(y)
            if isinstance(x, Rows):  # a template says nothing of kinds
                kinds = self.kinds[id(container)]
                for j, y in enumerate(places):
                    kinds[j] = united(kinds.get(j, ()), kinds_of_item(y))
        self.templates[id(container)] = known_links(template, container)
        return columns

    def begin(self) -> None:
        """Put the items into Logs."""
        for key, container in self.containers.items():
            if key not in self.runs:
                self.before[key] = list(container)
                try:
                    self.runs[key] = self._begin(container, self.kinds[key])
                except Grows as e:
                    self._tell_all(e)
                    raise
                for x in container:
                    note_items(x)
            container[:] = [self.runs[key]]
        self._take_in()

    def _tell_all(self, e: Grows) -> None:
        """Let the region around one list learn of all lists that are to be begun here."""
        add_others(e, self.containers.values())
        for found in (e, *e.others):
            key = id(found.container)
            if key in self.kinds and not found.container and not (
                    found.kinds or found.template is not None):
                found.template = self.templates.get(key)
                found.kinds = dict(self.kinds[key])
                found.shape = self.shapes.get(key, {}).get(0) if found.template is None else None

    def _begin(self, container: list[object], kinds: dict[int, Kinds]) -> ByData:
        trace = current()
        trace.captured.refuse_change(container)
        refuse_joined_change(container)
        known_container(container, "a list's growth as data decides", by_data=True)
        if any(x is container for x in trace.walked) or (
                container and not any(x is container for x in trace.unfinished)
                and has_iterators(container)):
            raise refused_walk()
        where = place_in_code()
        if where in trace.plain_lists:
            raise refuse(f"a list that gets longer as data decides: {trace.plain_lists[where]}",
                         "Make an array of it first, after the loop or branch: np.array(items)",
                         "TJ409")
        asked = trace.list_kinds.get(where, ())
        found = self._items(container, list(container))
        columns = [Grown(self, container, items, united(
            asked if items or j in kinds else (), kinds.get(j, ()), *map(kinds_of_item, items)),
            where, j, self._shape(container, j, items))
            for j, items in enumerate(found)]
        template = self.templates.get(id(container))
        if template is None and columns[0].shape and trace.tries_logs:
            raise Unroll("arrays go to a list, which may be written to")
        if template is None:
            return columns[0]
        return GrownRows(columns, template, where, self._home(container, template, where))

    def _shape(self, container: list[object], column: int, items: list[Any]) -> tuple[Dim, ...]:
        """Return the shape of the contents at one place of the items; `Unroll` for several."""
        known = self.shapes.get(id(container), {})
        return one_shape([*([known[column]] if column in known else []),
                          *map(shape_of_item, items)])

    def _home(self, container: list[object], template: object,
              where: PlaceInCode) -> Whereabouts | None:
        """Return the home of items that are lists, else None; note the Python lists among them."""
        if type(template) is not list:
            return None
        homes = [x.home for x in container if isinstance(x, Rows)]
        home = homes[0] if len(container) == len(homes) == 1 else Whereabouts(container)
        home.container = container
        if len(container) > 1:
            home.copied = any(h.copied for h in homes)
            home.written = [f for h in homes for f in h.written]
        place: Dim = 0
        for x in container:
            if type(x) is list:
                self._refuse_shared(x, container)
                self.taken_in[id(x)] = x, [*x], Item(home, place, template, where)
            place = place + (x.count if isinstance(x, Run) else 1)
        return home

    def _refuse_shared(self, x: list[object], container: list[object]) -> None:
        """Refuse a list that is in two places of lists, or was made elsewhere than the one."""
        current().captured.refuse_change(x)
        refuse_joined_change(x)
        if id(x) in self.taken_in or known_container(x) != known_container(container) or any(
                x is y for frame in current().frames for y in frame.stand_ins):
            raise refuse("a list in a list whose length data decides is in another place, too, or "
                         "was made before that list was, in a loop or branch around it",
                         "Put a copy in: items.append(list(item))", "TJ410")

    def _let_go(self, container: list[object]) -> None:
        """Let lists that are items of one be lists of their own."""
        self.put_back()
        self.taken_in = {key: found for key, found in self.taken_in.items()
                         if found[2].home.container is not container}

    def _take_in(self) -> None:
        """Put its `Item` into each Python list that is an item, by which it reads the Logs."""
        for x, _, item in self.taken_in.values():
            x[:] = [item]

    def drop(self, container: list[Any]) -> None:
        """Leave a list alone: its name has one list after another."""
        key = id(container)
        if key in self.containers:
            self.put_back()
            run = self.runs.pop(key, None)
            self._let_go(container)
            self.outdated |= set() if run is None else run.cells
            for known in (self.kinds, self.templates, self.shapes, self.before, self.containers):
                known.pop(key, None)

    def put_back(self) -> None:
        """Give the lists the items that they had before the region."""
        for key, items in self.before.items():
            self.containers[key][:] = items
        for x, items, _ in self.taken_in.values():
            x[:] = items

    def finish(self) -> None:
        """Let the lists have their items in arrays."""
        for key, container in self.containers.items():
            self._freeze_named(self.runs[key])
            run = self.runs[key].finished()
            container[:] = self.before[key] if run is None else [run]
        self._take_in()

    def _freeze_named(self, run: ByData) -> None:
        """Refuse writes to arrays that have names and may be items of a list."""
        if isinstance(run, GrownRows):
            for column in run.columns:
                self._freeze_named(column)
            return
        if not run.shape:
            return
        kind = len(run.shape), run.dtype
        if kind in current().in_lists:
            for x in held_by_program():
                if isinstance(x, Tracer) and x.is_array and (x.cell.value.aval.ndim,
                                                             x.dtype) == kind:
                    freeze(x.cell)
