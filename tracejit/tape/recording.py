"""The notes of tapes: calls on values that they know, with the values that gradients need."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracejit.classes import is_record
from tracejit.ir.types import is_differentiable
from tracejit.program.memory import cleared_by
from tracejit.tape import values
from tracejit.tape.calls import OPERATORS, ReadingCall, Unrecorded, invoke
from tracejit.tape.notes import Notes
from tracejit.tape.noting import ACTIVE, Event, Line, user_line
from tracejit.tape.plans import CallRecipe, plan_of
from tracejit.tape.values import Operand, TapeValue
from tracejit.trace.ground.context import CAPTURES, current
from tracejit.trace.values.eager import handle_calls, holds_recorded
from tracejit.tree import flatten, unflatten

__all__ = ["perform"]


# --- carrying out calls -------------------------------------------------------------------------

_TYPES: dict[Any, int] = {}
"""A number for each pair of dtype and shape."""

_SHORTCUTS: dict[Any, tuple[CallRecipe, Callable[[Any], Any], bool, int]] = {}
"""Plans by function, types of arguments and which of these a tape knows; with the function that
picks the values to keep from arguments and result, whether some must be copied, and the result's
type, 0 where the operands' types need not tell it."""
cleared_by(_SHORTCUTS.clear)

_LIMIT = 4096


def _type_of(x: Any) -> int:
    key = (x.dtype, x.shape)
    number = _TYPES.get(key)
    return number if number is not None else _TYPES.setdefault(key, len(_TYPES) + 1)


def perform(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """Carry out a call by NumPy, and let the tapes that know an operand note it."""
    if CAPTURES.traces:
        return _perform_traced(function, args, kwargs or {})
    if kwargs:
        return _perform_nested(function, args, kwargs)
    raws = []
    key = [function]
    uids = []
    for x in args:
        kind = type(x)
        if kind is TapeValue:
            raws.append(x._data)
            key.append(x.type_number or _type_of(x._data))
            uids.append(x.uid)
        elif kind is float or kind is int:
            raws.append(x)
            key += (kind, x or repr(x))  # 0.0 and -0.0 are not the same
        elif kind is np.ndarray:
            raws.append(x)
            key.append(-_type_of(x))  # not as a tape value of this type: it must be copied
            uids.append(0)
        elif isinstance(x, Operand):  # a variable
            return perform(function, tuple([_present(a) for a in args]))
        else:
            return _perform_nested(function, args, {})
    data = function(*raws)
    if 0 in uids:
        data = _apart(data, [x for x in args if type(x) is np.ndarray])
    tapes = ACTIVE.tapes
    if not tapes or not (type(data) is np.ndarray or isinstance(data, np.floating)):
        result = _wrap(data)
        if tapes:
            _note_all(tapes, function, args, {}, result)
        return result
    result = TapeValue(data)
    for tape in tapes:
        known = tape._known
        mask = [u in known for u in uids]
        if True not in mask and not any(u in tape._seen for u in uids):
            continue
        shortcut = _SHORTCUTS.get((*key, *mask))
        if shortcut is None or (shortcut[0].guards and not shortcut[0].holds()):
            plan = _note(tape, function, args, {}, result)
            _make_shortcut((*key, *mask), plan, args, data)
            continue
        plan, pick, copies, result.type_number = shortcut
        saved = pick((*raws, data))
        tape._records.append((plan, uids, (result.uid,), user_line(3), ()))
        tape._saved.append([_keep(x, args) for x in saved] if copies else saved)
        if plan.connected:
            known.add(result.uid)
        else:
            _note_end(tape, plan, uids, user_line(3))
            tape._seen.add(result.uid)
    return result


def _note_end(tape: Notes, plan: CallRecipe, uids: Sequence[int], line: Line) -> None:
    """Note that followed values go into a call that lets no gradient through."""
    text = f"{plan.name} lets no gradient through"
    tape._events += [Event(u, text, line) for u in uids if u in tape._known]


def _present(x: object) -> Any:
    """Return the present state of a variable, anything else as it is."""
    return x._state_read() if isinstance(x, Operand) and type(x) is not TapeValue else x


def _data_of(x: Operand) -> Any:
    return x._data


def _make_shortcut(key: object, plan: CallRecipe | None, args: tuple[object, ...],
                   data: object) -> None:
    """Let the next call of this kind find its plan at once, if it is that simple."""
    places = [k for k, x in enumerate(args) if type(x) is TapeValue or type(x) is np.ndarray]
    if plan is None or plan.refusal is not None or plan.arity != len(places):
        return
    if len(_SHORTCUTS) >= _LIMIT:
        _SHORTCUTS.clear()
    reads = [places[k] if k < plan.arity else len(args) for k in plan.reads]
    copies = any(k < len(args) and type(args[k]) is np.ndarray for k in reads)
    told = plan.function in OPERATORS or isinstance(plan.function, np.ufunc)  # else by data
    _SHORTCUTS[key] = (plan, _picker(reads), copies, _type_of(data) if told else 0)


def _picker(places: Sequence[int]) -> Callable[[Any], Any]:
    """Return a function that picks the items at some places of a tuple."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return functools.partial(_pick, places)


def _pick(places: Sequence[int], x: Sequence[object]) -> Any:
    return tuple([x[k] for k in places])


def _keep(x: object, args: Sequence[object]) -> Any:
    """Return a result in a form that nobody changes: users' arrays are copied.

    So are those that cannot be written to: they may be views of others, which can.
    """
    if type(x) is np.ndarray and any(x is a for a in args):
        return x.copy()
    return x


def _perform_traced(function: Callable[..., object], args: tuple[object, ...],
                    kwargs: dict[str, object]) -> Any:
    """Make a call part of the present capture: variables and tape values are inputs of it."""
    stand_in = current().captured.recorded_value
    return invoke(function, _mapped(args, stand_in), _mapped(kwargs, stand_in))


def _perform_nested(function: Callable[..., object], args: tuple[object, ...],
                    kwargs: dict[str, object]) -> Any:
    """Carry out a call with variables, keywords or nests among its arguments."""
    if "out" in kwargs and kwargs["out"] is not None:
        raise TypeError("out= on tape values: they cannot be written to, and what is written to an "
                        "array leaves the tape. Use the result of the call")
    if function in OPERATORS:
        args = tuple(_as_operand(x) for x in args)
    args, kwargs = _mapped(args, _present), _mapped(kwargs, _present)
    found = function(*_mapped(args, _data_of), **_mapped(kwargs, _data_of))
    result = _wrap(_apart(found, [x for x in flatten((args, kwargs))[0]
                                  if isinstance(x, np.ndarray)]))
    _note_all(ACTIVE.tapes, function, args, kwargs, result)
    return result


def perform_whole(function: Callable[..., object], args: tuple[object, ...],
                  kwargs: dict[str, object]) -> Any:
    """Carry out a call of users' code; no tape sees the calls inside."""
    args, kwargs = _mapped(args, _present), _mapped(kwargs, _present)
    tapes, ACTIVE.tapes = ACTIVE.tapes, []
    try:
        result = function(*_mapped(args, _data_of), **_mapped(kwargs, _data_of))
    finally:
        ACTIVE.tapes = tapes
    if not tapes and not holds_recorded((args, kwargs)):
        return result
    result = _wrap(_copied(result))
    for tape in tapes:
        _note(tape, function, args, kwargs, result)
    return result


def _note_all(tapes: Sequence[Notes], function: Callable[..., object], args: tuple[object, ...],
              kwargs: dict[str, object], result: object) -> None:
    for tape in tapes:
        if any(x.uid in tape._known or x.uid in tape._seen
               for x in _tape_values((args, kwargs))):
            _note(tape, function, args, kwargs, result)


def _as_operand(x: object) -> Any:
    """Return a list beside an operator as NumPy would take it."""
    if not isinstance(x, list):
        return x
    return perform(np.stack, (x,)) if holds_recorded(x) else np.array(x)


def _mapped(x: Any, change: Callable[[Any], object]) -> Any:
    """Return a nest with its tape values and variables changed."""
    if isinstance(x, Operand):
        return change(x)
    kind = type(x)
    if kind in (list, tuple):
        return kind([_mapped(item, change) for item in x])
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return tuple.__new__(kind, [_mapped(item, change) for item in x])
    if kind is dict:
        return {k: _mapped(item, change) for k, item in x.items()}
    if kind is slice:
        return slice(*(_mapped(item, change) for item in (x.start, x.stop, x.step)))
    if is_record(x):
        leaves, structure = flatten(x)
        return unflatten(structure, [_mapped(leaf, change) for leaf in leaves])
    return x


def _tape_values(x: object) -> list[TapeValue]:
    if type(x) is TapeValue:
        return [x]
    if isinstance(x, (list, tuple)):
        return [t for item in x for t in _tape_values(item)]
    if isinstance(x, dict):
        return [t for item in x.values() for t in _tape_values(item)]
    return _tape_values(flatten(x)[0]) if is_record(x) else []


def _apart(result: object, arrays: Sequence[np.ndarray]) -> Any:
    """Return a result with copies of the users' arrays in it, or of views of them."""
    if isinstance(result, np.ndarray):
        shared = any(result is a or (result.base is not None and np.may_share_memory(result, a))
                     for a in arrays)
        return result.copy() if shared else result
    if arrays and isinstance(result, (list, tuple)):
        leaves, structure = flatten(result)
        return unflatten(structure, iter([_apart(x, arrays) for x in leaves]))
    return result


def _copied(result: object) -> Any:
    """Return the result of users' code with copies of its arrays, which may be the users' own."""
    leaves, structure = flatten(result)
    return unflatten(structure, iter([x.copy() if isinstance(x, np.ndarray) else x
                                      for x in leaves]))


def _wrap(result: Any) -> Any:
    """Return NumPy results as tape values."""
    kind = type(result)
    if kind is np.ndarray or kind is np.float64 or isinstance(result, (np.ndarray, np.number,
                                                                       np.bool_)):
        return TapeValue(result)
    if kind is float or kind is complex:
        return TapeValue(np.dtype(kind).type(result))
    if isinstance(result, (list, tuple, dict)):
        leaves, structure = flatten(result)
        return unflatten(structure, iter([_wrap(x) for x in leaves]))
    return result


def _note(tape: Notes, function: Callable[..., object], args: tuple[object, ...],
          kwargs: dict[str, object], result: object) -> CallRecipe | None:
    """Note a call of which a tape knows an operand, and return its plan if it has one."""
    outputs: Sequence[Any] = [result] if type(result) is TapeValue else [
        x for x in flatten(result)[0] if type(x) is TapeValue]
    if not outputs:
        return None
    known = tape._known
    line = user_line()

    def follows(x: object) -> bool:
        return type(x) is TapeValue and x.uid in known

    try:
        plan, operands = plan_of(function, args, kwargs, follows)
        if plan.states:
            reading = ReadingCall(function, plan.states)
            plan, operands = plan_of(reading, (args, kwargs, reading.read()), {}, follows)
    except Unrecorded as e:
        plan = CallRecipe(function, (), (), (), None, refusal=str(e))
        operands = _tape_values((args, kwargs))
    floats = [is_differentiable(x._data.dtype) for x in outputs]
    if plan.refusal is not None and not any(floats):
        return None
    inputs = [x.uid if type(x) is TapeValue else 0 for x in operands]
    if not plan.connected and any(floats):
        _note_end(tape, plan, inputs, line)
    arity = plan.arity
    read = [operands[k] if k < arity else outputs[k - arity] for k in plan.reads]
    tape._saved.append([x._data if type(x) is TapeValue else _keep(x, operands) for x in read])
    numbers = tuple([x for x in operands if type(x) in (int, float, complex)])
    tape._records.append((plan, inputs, tuple([x.uid for x in outputs]), line, numbers))
    for x, is_float in zip(outputs, floats, strict=True):
        (known if is_float and plan.connected else tape._seen).add(x.uid)
    return plan


values._perform = perform
handle_calls(perform, lambda: bool(ACTIVE.tapes), perform_whole)
