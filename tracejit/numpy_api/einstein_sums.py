"""Einstein sums of any number of operands, as products of two."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracejit.numpy_api.contraction_order import Order, cheapest_order, path_of, result_labels
from tracejit.numpy_api.diagonals import diagonal
from tracejit.numpy_api.elementwise import as_array, as_tracer
from tracejit.numpy_api.products import LETTERS, contract, unrepeated
from tracejit.numpy_api.shapes import transpose
from tracejit.trace.ground.dispatch import captures
from tracejit.trace.ground.layouts import UNKNOWN, iterated
from tracejit.trace.values.equations import cast, same_dim
from tracejit.trace.values.tracer import Tracer, tracer_of


@captures(np.einsum)
def einsum(subscripts: object, *operands: object, optimize: object = False) -> Any:
    """Return an Einstein sum, by products of two operands in the order that costs least.

    optimize -- an order that the program spells out, which is taken; all else says nothing
    """
    if not isinstance(subscripts, str):
        return einsum(*_spelled(subscripts, *operands), optimize=optimize)
    arrays = [as_array(x) for x in operands]
    inputs, output = _einsum_labels(subscripts, arrays)
    dtype = np.result_type(*(x.dtype for x in arrays))  # all are cast before anything is computed
    arrays = [x if x.dtype == dtype else cast(x, dtype) for x in arrays]
    pairs = [_own_labels(t, labels) for t, labels in zip(arrays, inputs, strict=True)]
    pairs = unrepeated(pairs, "".join(dict.fromkeys("".join(labels for _, labels in pairs))))
    for step in path_of(optimize) or ():
        if len(pairs) > 1 and all(0 <= k < len(pairs) for k in step):
            chosen = [pairs[k] for k in sorted({*step})]
            pairs = [p for k, p in enumerate(pairs) if k not in step]
            pairs.append(_multiplied(chosen, "".join(labels for _, labels in pairs) + output))
    x, labels = _multiplied(pairs, output)
    shuffled = _is_shuffled(inputs, output)
    x, labels = _without(x, labels, "".join(c for c in labels if c not in output))
    order = [labels.index(c) for c in output]
    result: Tracer = transpose(x, order) if labels != output else x
    if shuffled and not any(result.cell is a.cell for a in arrays):  # laid out as operands are
        result = result.own()
        result.cell.layout = UNKNOWN
    return result if result.dims else tracer_of(result.value)


def _multiplied(pairs: Sequence[tuple[Tracer, str]], needed: str) -> tuple[Tracer, str]:
    """Return the product of operands, summed over the labels that nobody needs behind it."""
    sizes = {c: d if isinstance(d, int) else None
             for t, own in pairs for c, d in zip(own, t.dims, strict=True)}

    def product(order: Order, outside: str, reader: str) -> tuple[Tracer, str]:
        if isinstance(order, int):
            return pairs[order]
        first, second = (_labels_in(part, pairs) for part in (order.left, order.right))
        x, left = product(order.left, second + outside, second)
        y, right = product(order.right, first + outside, first)
        x, left = _summed_alone(x, left, right, outside)
        y, right = _summed_alone(y, right, left, outside)
        kept = result_labels(left, right, outside, reader)
        return contract(x, y, f"{left},{right}->{kept}"), kept

    return product(cheapest_order([labels for _, labels in pairs], needed, sizes), needed, needed)


def _labels_in(order: Order, pairs: Sequence[tuple[Tracer, str]]) -> str:
    """Return the labels of all operands of a product."""
    if isinstance(order, int):
        return pairs[order][1]
    return _labels_in(order.left, pairs) + _labels_in(order.right, pairs)


def _summed_alone(x: Tracer, own: str, others: str, outside: str) -> tuple[Tracer, str]:
    """Sum an operand over labels that it alone has, where the other would repeat those sums."""
    lone = "".join(c for c in own if c not in others + outside)
    return _without(x, own, lone) if lone and not {*others} <= {*own} else (x, own)


def _without(x: Tracer, labels: str, summed: str) -> tuple[Tracer, str]:
    """Return an array summed over some labels, and the labels that are left."""
    if not summed:
        return x, labels
    axes = tuple(map(labels.index, summed))
    total = np.any(x, axis=axes) if x.dtype == np.bool_ else np.sum(x, axis=axes, dtype=x.dtype)
    return as_tracer(total), "".join(c for c in labels if c not in summed)


def _is_shuffled(inputs: Sequence[str], output: str) -> bool:
    """Return whether the axes of an Einstein sum of operands in C order lie in another order."""
    labels = output + "".join(dict.fromkeys(c for own in inputs for c in own if c not in output))
    ranks = [[(own.index(c),) if c in own else None for c in labels] for own in inputs]
    found = [k for k in iterated(ranks, len(labels)) if k < len(output)]
    return found != sorted(found)


def _spelled(*operands: Any) -> tuple[Any, ...]:
    """Return the arguments of `einsum` with a text in place of the lists of labels."""
    arrays, lists = list(operands[:len(operands) // 2 * 2:2]), list(operands[1::2])
    output = operands[-1] if len(operands) % 2 else None

    def text(labels: Sequence[object]) -> str:
        if not all(x is Ellipsis or 0 <= operator.index(x) < 52 for x in labels):  # type: ignore[arg-type]
            raise ValueError("subscript is not within the valid range [0, 52)")
        return "".join("..." if x is Ellipsis else LETTERS[operator.index(x)]  # type: ignore[arg-type]
                       for x in labels)

    joined = ",".join(map(text, lists))
    return (joined if output is None else f"{joined}->{text(output)}", *arrays)


def _einsum_labels(subscripts: str, arrays: list[Tracer]) -> tuple[list[str], str]:
    subscripts = subscripts.replace(" ", "")
    given, arrow, output = subscripts.partition("->")
    inputs = given.split(",")
    if len(inputs) != len(arrays):
        raise ValueError(f"einsum of {len(inputs)} operands got {len(arrays)}")
    free = [c for c in reversed(LETTERS) if c not in subscripts]
    longest = 0
    for k, (labels, t) in enumerate(zip(inputs, arrays, strict=True)):
        if "..." in labels:
            count = len(t.dims) - len(labels) + 3
            longest = max(longest, count)
            inputs[k] = labels.replace("...", "".join(free[:count][::-1]))
        elif len(labels) != len(t.dims):
            raise ValueError(f"einsum operand {k} has {len(t.dims)} axes, but subscripts "
                             f"{labels!r}")
    ellipsis = "".join(free[:longest][::-1])
    if not arrow:
        every = "".join(inputs)
        once = [c for c in set(every) - set(ellipsis) if every.count(c) == 1]
        output = "..." + "".join(sorted(once))
        output = output if ellipsis else output[3:]
    return inputs, output.replace("...", ellipsis)


def _own_labels(t: Tracer, labels: str) -> tuple[Tracer, str]:
    """Take diagonals where one operand repeats a label."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            if not same_dim(t.dims[i], t.dims[j]):
                raise ValueError(f"dimensions in an operand for collapsing index {c!r} don't match "
                                 f"({t.shape[i]} != {t.shape[j]})")
            t = diagonal(t, 0, i, j)
            labels = labels[:i] + labels[i + 1:j] + labels[j + 1:] + c
    return t, labels
