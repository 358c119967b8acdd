"""The form of the items of a list whose length data decides.

Where a branch or an iteration leaves a name one of several lists, or a list of a length that data
decides, the items are put into arrays of one form, so that the graph can merge or carry them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tracejit.ir.dims import Dim
from tracejit.ir.types import LogType, scalar
from tracejit.trace.containers.runs import Stored
from tracejit.trace.ground.dispatch import FUNCTIONS
from tracejit.trace.ground.restarts import PlaceInCode, Unroll
from tracejit.trace.lists.grown import (
    ByData,
    Grown,
    GrownRows,
    as_one_array,
    kinds_of_item,
    plain_items,
    shape_of_item,
    size_value,
)
from tracejit.trace.lists.list_runs import is_plain_number
from tracejit.trace.lists.read_only import hand_over
from tracejit.trace.lists.rows import (
    Rows,
    is_row,
    joint_template,
    places_of,
    same_rows,
    template_of,
)
from tracejit.trace.values.equations import emit, emit_value, lift
from tracejit.trace.values.mixed import Kinds, number_of, storage, united

__all__ = ["Form", "arrays_of", "as_logs", "begun_list", "finish_logs", "form_of",
           "has_length_by_data", "holds_logs", "is_of_form", "joint_form", "listed", "logs_of"]


@dataclass(frozen=True)
class Form:
    """The form that all items of a list have.

    template -- a tuple that is like them; None, where they are numbers or arrays
    kinds    -- the kinds of the numbers at each place
    shape    -- of the items, where they are arrays
    """

    template: Any
    kinds: tuple[Kinds, ...]
    shape: tuple[Dim, ...] = ()

    @property
    def dtypes(self) -> list[np.dtype]:
        """Return the dtype of the storage for each place."""
        found = [storage(k) for k in self.kinds]
        if any(d is None for d in found):
            raise Unroll("a list that data chooses holds numbers of different kinds")
        return [d for d in found if d is not None]

    @property
    def avals(self) -> list[Any]:
        """Return the types of a Log for each place, each followed by how many items it has."""
        return [t for d in self.dtypes for t in (LogType(d), scalar(np.int64))]


def _columns(xs: Any) -> tuple[Any, list[list[Any]]]:
    """Return the template of some items, None for plain ones, and a list for each place in them."""
    rows = [x.template if isinstance(x, Rows) else x for x in xs]
    template = next((x for x in rows if is_row(x)), None)
    if template is None:
        return None, [list(xs)]
    if not all(is_row(x) and same_rows(x, template) for x in rows):
        raise Unroll("a list that data chooses holds different things")
    places = [x.columns if isinstance(x, Rows) else places_of(x) for x in xs]
    return template_of(rows), [list(column) for column in zip(*places, strict=True)]


def form_of(xs: list[Any], arrays: bool = False) -> Form | None:
    """Return the form of a list's items, None for an empty list; `Unroll` where there is none.

    arrays -- whether they may be arrays
    """
    if not xs or (isinstance(xs[0], Grown) and xs[0].log is None):
        return None
    template, columns = _columns(xs)
    shapes = {shape_of_item(x) for column in columns for x in column}
    if any(shapes) and (not arrays or template is not None or len(shapes) > 1):
        raise Unroll("a list that data chooses holds arrays")
    kinds = tuple(united(*map(kinds_of_item, column)) for column in columns)
    if any(shapes) and len(kinds[0]) > 1:
        raise Unroll("a list that data chooses holds arrays of different dtypes")
    return Form(template, kinds, next(iter(shapes), ()))


def joint_form(*forms: Form | None) -> Form | None:
    """Return the form that lists of some forms can have; `Unroll` where there is none."""
    known = [f for f in forms if f is not None]
    if not known:
        return None
    first = known[0]
    for f in known[1:]:
        if (f.template is None) != (first.template is None) or (
                f.template is not None and not same_rows(f.template, first.template)):
            raise Unroll("a list that data chooses holds different things")
        if f.shape != first.shape:
            raise Unroll("a list that data chooses holds arrays of different shapes")
    kinds = tuple(united(*places) for places in zip(*(f.kinds for f in known), strict=True))
    template = first.template
    for f in known[1:] if template is not None else ():
        template = joint_template(template, f.template)
    if first.shape and len(kinds[0]) > 1:
        raise Unroll("a list that data chooses holds arrays of different dtypes")
    found = Form(template, kinds, first.shape)
    return found if found.dtypes else None


def is_of_form(xs: list[Any], form: Form) -> bool:
    """Return whether the items of a list fit a form."""
    return joint_form(form, form_of(xs, bool(form.shape))) == form


def holds_logs(xs: list[Any]) -> bool:
    """Return whether a list has its items in Logs, while a region changes how many there are."""
    return any(isinstance(x, ByData) for x in xs)


def has_length_by_data(xs: list[Any]) -> bool:
    """Return whether data decides how many items a list has."""
    for x in xs:
        if isinstance(x, ByData):
            return True
        x = x.columns[0] if isinstance(x, Rows) else x
        if isinstance(x, Stored) and x.has_length_by_data:
            return True
    return False


def listed(xs: list[Any], form: Form, where: PlaceInCode) -> list[Any]:
    """Return a list with the same items, in arrays of a form."""
    runs = [Stored(data, 0, kinds, where) for data, kinds in zip(
        arrays_of(xs, form), form.kinds, strict=True)]
    return [runs[0] if form.template is None else Rows(runs, form.template, where)]


def arrays_of(xs: list[Any], form: Form) -> list[Any]:
    """Return an array for each place in the items of a list, of the dtype in a form."""
    xs = plain_items(xs)
    columns: list[list[Any]] = _columns(xs)[1] if xs else [[] for _ in form.kinds]
    if form_of(xs, bool(form.shape)) is None:
        columns = [[] for _ in form.kinds]
    return [_array(column, dtype, form.shape)
            for column, dtype in zip(columns, form.dtypes, strict=True)]


def _array(column: list[Any], dtype: np.dtype, shape: tuple[Dim, ...]) -> Any:
    if len(column) == 1 and is_plain_number(column[0]):
        return FUNCTIONS[np.full](1, number_of(lift(column[0])), dtype=dtype)
    for x in column if shape else ():
        hand_over(x)
    return as_one_array(column, dtype, shape)


def as_logs(arrays: list[Any]) -> list[Any]:
    """Return Logs of the items in some arrays, each followed by how many there are."""
    return [v for data in arrays
            for v in (emit_value("log_of", [data.value]), size_value(data.dims[0]))]


def begun_list(values: list[Any], form: Form, lists: Any, where: PlaceInCode) -> list[Any]:
    """Return a list of which the items are in some Logs."""
    container: list[Any] = []
    columns = [Grown.of_log(lists, container, kinds, where, j, values[2 * j], values[2 * j + 1],
                            form.shape)
               for j, kinds in enumerate(form.kinds)]
    container.append(columns[0] if form.template is None
                     else GrownRows(columns, form.template, where))
    return container


def _columns_of_logs(xs: list[Any]) -> list[Grown]:
    run = xs[0]
    return run.columns if isinstance(run, GrownRows) else [run]


def logs_of(xs: list[Any]) -> list[Any]:
    """Return the Logs in which the items of a list are, each followed by how many there are."""
    return [cell.value for run in _columns_of_logs(xs) for cell in (run.log, run.size)
            if cell is not None]


def finish_logs(xs: list[Any]) -> None:
    """Use up the Logs of a list that nothing holds any longer."""
    for run in _columns_of_logs(xs):
        if run.log is not None:
            emit("log_array", [run.log.value], {
                "shape": (run.count, *run.shape), "last": False})
