"""Rows: the items of a list that are tuples or lists of numbers, a run for each place in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.trace.containers.choices import possible
from tracejit.trace.containers.container_aliases import refuse_joined_change
from tracejit.trace.containers.links import Nullable, same_link
from tracejit.trace.containers.numbered import Numbered
from tracejit.trace.containers.places import (
    Choice,
    ItemPlace,
    holder_of,
    is_number,
    map_content,
    rebuild,
    same_structure,
)
from tracejit.trace.containers.records import (
    attributes_in,
    close,
    is_of_iteration,
    is_open,
    is_record,
    is_tree,
    opened,
)
from tracejit.trace.containers.runs import Run
from tracejit.trace.ground.context import Frame, current, refuse
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import NeedPoolFact, PlaceInCode, Unroll
from tracejit.trace.ground.source import describe_line, find_site
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.state.changes import known_container, note_made
from tracejit.trace.values.equations import as_operand, cast, emit, lift, to_dim
from tracejit.trace.values.indexing import point_index
from tracejit.trace.values.symbolic_ints import of_dim
from tracejit.trace.values.tracer import Tracer

__all__ = ["Item", "Rows", "Whereabouts", "as_node", "in_list", "is_changeable_row", "is_link",
           "is_row", "is_row_of_any_kind", "is_wide_row", "joint_template", "known_links",
           "note_items", "places_of", "put_object", "require_known_links", "same_rows", "take_in",
           "template_of"]


def is_row(x: object) -> bool:
    """Return whether something is a tuple of numbers, or of such tuples, or a thing of a pool."""
    return is_link(x) or (isinstance(x, tuple) and len(x) > 0 and all(
        is_row(y) or (is_number(y) and not isinstance(y, np.ndarray)
                      and not (isinstance(y, Tracer) and y.is_array)) for y in x))


def is_link(x: object) -> bool:
    """Return whether something is a thing of a pool, or None or one of such things by data."""
    if x is None:
        return bool(current().pool_facts.classes)
    return isinstance(x, Numbered) or (isinstance(x, Choice) and all(
        o is None or isinstance(o, Numbered) for o in x.options))


def as_link(x: Any) -> Any:
    """Return a thing of a pool, or None, as lists keep it: as a link where None may come."""
    facts = current().pool_facts
    if x is None:
        return Nullable(None, -1)
    if isinstance(x, Choice):
        return _link_of_choice(x)
    if isinstance(x, Nullable):
        return x
    x = x.numbered(_plain_int(x._number))
    return Nullable(x, x._number) if x._pool.site in facts.nullable else x


def _plain_int(number: Any) -> Any:
    return number if type(number) is int else of_dim(to_dim(number))


def _link_of_choice(x: Choice) -> Any:
    """Return the link of None or one of some things of a pool."""
    left = possible(x)
    found: Any = None
    number: Any = None
    for k in left:
        link = Nullable(None, -1) if x.options[k] is None else as_link(x.options[k])
        link = link if isinstance(link, Nullable) else Nullable(link, link._number)
        if found is None or not same_link(found, link):
            found = link if found is None else Unroll("a list holds objects of several classes")
        if isinstance(found, Unroll):
            raise found
        found = link if found.of is None else found
        own = cast(lift(link._number), np.int64)
        number = own if number is None else np.where(np.equal(x.tag, k), own, number)
    return Nullable(found.of, _plain_int(number))


def unlinked(x: Any) -> Any:
    """Return an item with the thing of a pool, or None, in the place of each link."""
    if isinstance(x, Nullable):
        return _thing_of(x)
    if isinstance(x, tuple) and any(isinstance(y, (Nullable, tuple)) for y in x):
        return rebuild(x, [unlinked(y) for y in x])
    return x


def _thing_of(link: Nullable) -> Any:
    number = link._number
    if link.of is None or (type(number) is int and number < 0):
        return None
    if type(number) is int:
        return link.of.numbered(number)
    value = cast(lift(number), np.int64)
    tag = cast(np.greater_equal(value, 0), np.int64)
    # another value, of which a range is known
    thing = link.of.numbered(_plain_int(np.maximum(value, np.int64(0))))
    return Choice(tag, (None, thing), "", describe_line(find_site()))


def joint_template(a: Any, b: Any) -> Any:
    """Return template a with the pools of links that b knows besides; a itself where none are."""
    b = as_node(b)
    if isinstance(a, Nullable) and isinstance(b, Nullable):
        return Nullable(b.of, -1) if a.of is None and b.of is not None else a
    if isinstance(a, tuple) and isinstance(b, tuple):
        items = [joint_template(p, q) for p, q in zip(a, b, strict=True)]
        return a if all(p is q for p, q in zip(a, items, strict=True)) else rebuild(a, items)
    return a


def template_of(likes: Sequence[Any]) -> Any:
    """Return the template of some rows that are alike."""
    template = as_node(likes[0])
    for like in likes[1:]:
        template = joint_template(template, like)
    return template


def known_links(template: Any, xs: object) -> Any:
    """Return a template of a pool's list with the pool of its links, if that is known by now."""
    trace = current()
    site = trace.pool_facts.links.get(trace.link_keys.get(id(xs)))
    if not isinstance(template, Nullable) or template.of is not None or site is None:
        return template
    return Nullable(ABOVE.thing_of_pool(site), -1)


def require_known_links(template: Any, x: object, xs: object) -> Any:
    """Return the template of a list with item x; begin again where a pool's links get a pool."""
    joint = joint_template(template, x)
    key = current().link_keys.get(id(xs))
    if joint is not template and key is not None:
        raise NeedPoolFact("links", key, joint._pool.site)
    return joint


def is_changeable_row(x: object) -> bool:
    """Return whether something is a list of numbers, or of tuples of them."""
    return type(x) is list and len(x) > 0 and is_row(tuple(x))


def is_row_of_any_kind(x: object) -> bool:
    """Return whether something is a tuple or a list of numbers."""
    return is_row(x) or is_changeable_row(x)


def is_wide_row(x: object) -> bool:
    """Return whether something is a tuple or object of numbers and arrays, in any depth."""
    parts = attributes_in(x).values() if is_record(x) else x if isinstance(x, tuple) else ()
    return len(parts) > 0 and (not is_record(x) or is_tree(x)) and all(
        is_wide_row(y) or is_link(y) or (is_number(y) and not isinstance(y, np.ndarray)
                           and not (isinstance(y, Tracer) and y.is_array and not y.dims))
        for y in parts)


def as_node(x: Any) -> Any:
    """Return a tuple or object as a node, so that its places are told."""
    if is_record(x) and not is_open(x):
        return opened(x, [as_node(y) for y in attributes_in(x).values()])
    if is_link(x):
        return as_link(x)
    if isinstance(x, tuple) and any(is_record(y) or isinstance(y, tuple) or is_link(y)
                                    for y in x):
        return rebuild(x, [as_node(y) for y in x])
    return x


def places_of(x: object) -> list[Any]:
    """Return the contents of the places of a tuple or list, from left to right."""
    found: list[Any] = []
    map_content(found.append, as_node(x))
    return found


def same_rows(a: object, b: object) -> bool:
    """Return whether two tuples or lists have the same places."""
    a, b = as_node(a), as_node(b)
    return same_structure(a, b) and _types(a) == _types(b)


def _types(x: object) -> Any:
    return [type(x), *map(_types, x)] if isinstance(x, (tuple, list)) else None


def note_items(x: object) -> None:
    """Note that objects are items of a list whose length data decides: they stay as they are."""
    for y in (x, *x) if isinstance(x, tuple) else (x,):
        if is_record(y):
            current().objects_in_lists[id(y)] = y


def put_object(x: object, where: PlaceInCode) -> None:
    """Let an object go to a list whose length data decides, which keeps its present attributes.

    The iteration that made it may have written to it before; nobody writes to it afterwards.

    where -- where the list is made, item by item if an object may be written to later
    """
    trace = current()
    for y in (*x, x) if isinstance(x, tuple) else (x,):
        if not is_record(y):
            continue
        cls = type(y)
        written = any(type(z := holder_of(p)) is cls and any(z is s for s in f.stand_ins)
                      for f in trace.frames for p, _ in f.written.values())
        in_loop = any(f.kind == "loop" for f in trace.frames)
        if written or (in_loop and not is_of_iteration(y)):
            raise refuse(f"a {cls.__name__} that goes to a list whose length data decides was not "
                         "made in this iteration, or such ones are written to in it",
                         "Append a new one, or a copy: items.append(copy.copy(x))", "TJ410")
        trace.classes_in_lists.setdefault(cls, where)
    note_items(x)


class Whereabouts:
    """A list whose items are lists, from one moment in which an item moves or goes to the next.

    container -- the list
    copied    -- whether another list has the same items, so that none of them is written to
    written   -- the loops around in which an item was written to, or taken out
    used      -- the loops in which an item was used that a name had before them
    """

    __slots__ = ("container", "copied", "used", "written")

    def __init__(self, container: list[object] | None = None,
                 before: Whereabouts | None = None) -> None:
        self.container = container
        self.copied: bool = before is not None and before.copied
        self.written: list[Frame] = [] if before is None else before.written
        self.used: list[Frame] = []

    def _loops_around(self, depth: int) -> list[Frame]:
        return [f for f in current().frames if f.kind == "loop" and f.depth > depth]

    def note_use(self, depth: int) -> None:
        """Note the use of an item that something had a name for in so many regions."""
        self.used += self._loops_around(depth)

    def note_write(self) -> None:
        """Note that an item is written to, or taken out."""
        if self.copied:
            raise refuse("a write to a list in a list that was copied, which holds the same lists",
                         "Copy the items, too: [list(item) for item in items]", "TJ410")
        container = self.container
        self.written += self._loops_around(0 if container is None else known_container(container))

    def copy(self) -> Whereabouts:
        """Return the home of a list that gets the same items: they stay as they are."""
        frames = current().frames
        if any(f is g for f in self.written for g in frames):
            raise refuse("a copy of a list of lists that an iteration writes to, which holds the "
                         "same lists", "Copy the items, too: [list(item) for item in items]",
                         "TJ410")
        self.copied = True
        return Whereabouts(before=self)

    def moved(self) -> Whereabouts:
        """Return the home of the items once some of them are in other places, or gone."""
        frames = current().frames
        if any(f is g for f in self.used for g in frames):
            raise _moved()
        return Whereabouts(self.container, self)


def _moved() -> Any:
    return refuse("a list has a name, and the list that holds it loses or moves items as data "
                  "decides", "Take the item again by its index: item = items[k]", "TJ410")


class Item(Run):
    """The content of a list that is an item of a list: the numbers at one place of each column."""

    __slots__ = ("depth", "home", "place", "template")

    def __init__(self, home: Whereabouts, place: Dim, template: Sequence[object],
                 where: PlaceInCode) -> None:
        super().__init__(where)
        self.home, self.place, self.template = home, place, template
        self.depth = current().depth

    def _rows(self) -> Rows:
        """Return the columns that have the numbers now; refuse where the item is elsewhere."""
        for p in self.home.container or ():
            if isinstance(p, Rows) and p.home is self.home:
                self.home.note_use(self.depth)
                return p
        raise _moved()

    @property
    def count(self) -> Dim:
        """Return how many items the list has."""
        return len(self.template)

    def _columns(self, k: SupportsIndex) -> list[Any]:
        """Return the columns of the content at index k; `IndexError` where there is none."""
        k = k.__index__()
        if not -len(self.template) <= k < len(self.template):
            raise IndexError("list index out of range")
        k %= len(self.template)
        before = sum(len(places_of(x)) for x in self.template[:k])
        return self._rows().columns[before:before + len(places_of(self.template[k]))]

    def item(self, k: SupportsIndex) -> Any:  # type: ignore[override]
        """Return the content of a place."""
        place, columns = of_dim(self.place), iter(self._columns(k))
        return map_content(lambda _: next(columns).item(place), self.template[k.__index__()])

    def columns_to_write(self, k: SupportsIndex) -> list[Any]:
        """Return the columns of the content at index k, and note that it is written to."""
        columns = self._columns(k)
        self.home.note_write()
        return columns

    def spread(self) -> list[Any]:
        """Return the present items of the list."""
        return [self.item(k) for k in range(len(self.template))]

    def array(self) -> Tracer:
        """Return an array of the items of the list."""
        return FUNCTIONS[np.array](self.spread())  # type: ignore[no-any-return]

    def give_up(self, why: str) -> NoReturn:
        """Refuse an operation without code for it."""
        raise refuse(f"{why}, of a list that is an item of one whose length data decides, cannot "
                     "be captured", "Copy it first: list(item)", "TJ410")


class Gone(Item):
    """The content of a list that is an item of a list if a branch was taken: its use is refused."""

    __slots__ = ()

    def _rows(self) -> NoReturn:
        raise refuse("a list that a branch on data has put into a list is used after it",
                     "Put a copy in: items.append(list(item))", "TJ410")


class Rows(Run):
    """Items that are tuples, or lists.

    columns  -- for each place in an item, the numbers there, all of one count
    template -- a tuple or list that is like the items
    home     -- where the items are, if they are lists
    """

    __slots__ = ("columns", "home", "template")

    def __init__(self, columns: Sequence[Any], template: Any, where: PlaceInCode,
                 home: Whereabouts | None = None) -> None:
        super().__init__(where)
        self.columns, self.template = list(columns), template
        self.home = home or Whereabouts()

    @property
    def is_changeable(self) -> bool:
        """Return whether the items are lists, which may be written to."""
        return type(self.template) is list

    def row(self, places: Sequence[object]) -> Any:
        """Return an item that has these things at its places."""
        rest = iter(places)
        made = unlinked(close(map_content(lambda _: next(rest), self.template)))
        note_items(made)
        return note_made(made) if type(made) is list else made

    def reference(self, k: object) -> list[Any]:
        """Return an item that is a list, which reads the columns whenever it is read."""
        if self.home.container is None:
            self.give_up("an item of a list of lists")
        return [Item(self.home, point_index(k, self.count, 0), self.template, self.where)]

    @property
    def count(self) -> Dim:
        """Return how many items there are."""
        count: Dim = self.columns[0].count
        return count

    def item(self, k: Any) -> Any:
        """Return an item."""
        if self.is_changeable:
            return self.reference(k)
        return self.row([c.item(k) for c in self.columns])

    def part(self, key: slice) -> Run:
        """Return the items that a slice has."""
        return Rows([c.part(key) for c in self.columns], self.template, self.where,
                    self.home.copy() if self.is_changeable else None)

    def kept(self, key: slice) -> Run:
        """Return the items that a slice has, for the same list."""
        return Rows([c.part(key) for c in self.columns], self.template, self.where, self.home)

    def copied(self) -> Run:
        """Return the items for another list."""
        return Rows([c.copied() for c in self.columns], self.template, self.where,
                    self.home.copy() if self.is_changeable else None)

    def array(self) -> Tracer:
        """Return an array of the items, one row each; NumPy's has no columns if there are none."""
        if not is_row_of_any_kind(self.template) or any(
                isinstance(y, tuple) for y in self.template):
            self.give_up("an array of a list of objects or tuples that are no rows of numbers")
        some = as_operand(self.count) > 0
        if isinstance(some, Tracer):
            emit("check", [some.value], {"error": "ValueError", "message":
                                         "an array is made of an empty list of tuples"})
        elif not some:
            self.give_up("an array of an empty list of tuples")
        columns = [c.array() for c in self.columns]
        return FUNCTIONS[np.stack](columns, axis=1)  # type: ignore[no-any-return]


def take_in(x: object, home: Whereabouts, place: Dim, template: Sequence[object],
            where: PlaceInCode) -> None:
    """Let a list that goes into another one be read and written there, under all of its names."""
    if type(x) is not list:
        return
    trace = current()
    trace.captured.refuse_change(x)
    refuse_joined_change(x)
    around = trace.frames[known_container(x):]
    if any(f.kind not in ("if", "probe") for f in around) or any(
            isinstance(p, ItemPlace) and p.container is x
            for f in around for p, _ in f.written.values()):
        raise refuse("a list that was made before this loop or branch goes into a list whose "
                     "length data decides, which may hold it in several places",
                     "Put a copy in: items.append(list(item))", "TJ410")
    for f in around:
        f.taken_in.append((x, [*x], [Gone(home, place, template, where)]))
    x[:] = [Item(home, place, template, where)]


def in_list(run: Any, xs: list[object]) -> Any:
    """Return a run of a list, which knows then where its items are if they are lists."""
    if isinstance(run, Rows) and run.is_changeable and run.home.container is None:
        run.home.container = xs
    return run
