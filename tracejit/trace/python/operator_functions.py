"""The functions of `operator` that stand for signs, brackets and words in users' code."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from tracejit.trace.ground.operators import BINARY, COMPARISONS, UNARY
from tracejit.trace.python.comparisons import compare, contains
from tracejit.trace.python.items import delete_item, get_item, set_item
from tracejit.trace.python.number_functions import to_bool
from tracejit.trace.python.operations import binary, inplace, unary
from tracejit.trace.python.truths import negated

__all__ = ["AS_WRITTEN"]

AS_WRITTEN: dict[object, tuple[int, Callable[..., Any]]] = {
    **{o.plain: (2, functools.partial(binary, name)) for name, o in BINARY.items()},
    **{o.plain_inplace: (2, functools.partial(inplace, name)) for name, o in BINARY.items()},
    **{o.plain: (2, functools.partial(compare, name)) for name, o in COMPARISONS.items()},
    **{o.plain: (1, functools.partial(unary, name)) for name, o in UNARY.items()},
    operator.contains: (2, contains), operator.getitem: (2, get_item),
    operator.setitem: (3, set_item), operator.delitem: (2, delete_item),
    operator.not_: (1, negated), operator.truth: (1, to_bool),
}
"""By function: the number of its operands, and the function for the sign in captured code."""
