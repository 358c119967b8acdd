"""`grad` and `value_and_grad`: reverse mode on a function with a scalar result."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from tracejit.autodiff.transforms import gradient_block, gradient_graph
from tracejit.ir.cells import line_name
from tracejit.ir.core import Block, Graph
from tracejit.ir.dtypes import DTYPES
from tracejit.ir.types import Aval
from tracejit.ops.calls import inline_region
from tracejit.runtime.program import Program
from tracejit.trace.attempt import Capture
from tracejit.trace.capture import capture_function
from tracejit.trace.values.equations import atom_of, is_weak, lift
from tracejit.trace.values.specs import ArgSpec
from tracejit.transforms.arguments import argument_places, find_argument
from tracejit.transforms.arranged_captures import arranged
from tracejit.transforms.nested import capture_block, dtype_of_leaf, tracer_of_atom
from tracejit.transforms.objects import hides_numbers, kinds_of_objects
from tracejit.transforms.options import Options
from tracejit.tree import (
    LEAF,
    Structure,
    are_in,
    beside_floats,
    flatten,
    is_object,
    leaf_names,
    unflatten,
)

__all__ = ["Gradient"]

Chosen = tuple[str, Structure, list[int]]
"""An argument to differentiate by: its name, its structure, its leaves' numbers."""


class Gradient:
    """The gradient of a function's (first) result, perhaps beside the result."""

    fn: Callable[..., Any]
    options: Options
    argnums: Any
    has_aux: bool
    with_value: bool
    places: list[Any]

    def __init__(self, fn: Callable[..., object], argnums: object, has_aux: bool, with_value: bool,
                 options: Options) -> None:
        self.fn, self.options = fn, options
        self.argnums, self.has_aux, self.with_value = argnums, has_aux, with_value
        self.name = "value_and_grad" if with_value else "grad"
        self.places = argument_places(fn, argnums)

    # --- which leaves ---------------------------------------------------------------------------

    def _chosen(self, structure: Structure) -> list[Chosen]:
        """Return, per differentiated argument: its name, its structure, its leaves' numbers."""
        args, kwargs = structure.parts
        chosen = []
        for place in self.places:
            name, part, first = find_argument(self.fn, place, args, kwargs)
            chosen.append((name, part, list(range(first, first + part.count))))
        return chosen

    def _floats(self, kinds: Sequence[np.dtype | None], structure: Structure,
                contents: Sequence[object]) -> list[int]:
        """Return the leaves to differentiate by; of objects those that are floats.

        Elsewhere all have to be: a gradient has the other leaves of objects as they are. Of a
        structured array it has the dtype, and is zero for fields that are no floats.

        contents -- the leaves, for those that are no numbers
        """
        found: list[int] = []
        for name, part, numbers in self._chosen(structure):
            count, zeros = len(found), beside_floats(part, [_is_float(kinds[k]) for k in numbers])
            inside = [*map(operator.or_, are_in(part, is_object), zeros)]
            for leaf_name, k, own in zip(leaf_names(part, name), numbers, inside, strict=True):
                dtype = kinds[k]
                if _is_float(dtype):
                    found.append(k)
                elif not own:
                    self._refuse(leaf_name, dtype)
                elif dtype is None and hides_numbers(contents[k], kinds_of_objects(part)):
                    self._refuse_hiding(leaf_name, contents[k])
            if len(found) == count and any(inside):
                raise TypeError(f"{self._where()}: {self.name} needs floats to differentiate by, "
                                f"but argument {name!r} has none. Pass floats, or choose other "
                                "arguments with argnums")
        return found

    def _refuse(self, name: str, dtype: np.dtype | None) -> NoReturn:
        what = "no number" if dtype is None else f"of dtype {dtype}"
        raise TypeError(
            f"{self._where()}: {self.name} needs floats to differentiate by, but argument "
            f"{name!r} is {what}. Pass a float (1.0, x.astype(float)), or choose other arguments "
            "with argnums")

    def _refuse_hiding(self, name: str, x: object) -> NoReturn:
        raise TypeError(
            f"{self._where()}: {self.name} by an object needs to see all of its numbers, but "
            f"{name!r} is a {type(x).__name__} that leads to some. Hold them in attributes, lists, "
            "tuples or dicts, call methods by self.method(...), or say with "
            "tracejit.register_structure what the class is made of")

    def _where(self) -> str:
        """Return the line on which the function is defined."""
        code = getattr(inspect.unwrap(self.fn), "__code__", None)
        return self.name if code is None else line_name(code.co_filename, code.co_firstlineno)

    def _require_scalar(self, aval: object, fn_name: str) -> None:
        if not isinstance(aval, Aval) or aval.shape or aval.dtype.kind != "f":
            what = aval if isinstance(aval, str) else str(aval)
            remedy = ("Sum or average the result (np.sum, np.mean), or use tracejit.vjp or "
                      "tracejit.jvp")
            if "type tuple" in what:
                remedy += f". For (value, auxiliary data), use {self.name} with has_aux=True"
            raise TypeError(
                f"{self._where()}: {self.name} needs a function with a real scalar result, but "
                f"{fn_name} returns {what}. {remedy}")

    def _split(self, structure: Structure) -> tuple[Structure, Structure | None]:
        """Return the structures of value and auxiliary data."""
        if not self.has_aux:
            return structure, None
        if structure.kind is not tuple or len(structure.parts) != 2:
            raise TypeError(f"{self._where()}: {self.name} with has_aux=True needs a function that "
                            "returns a pair (value, auxiliary data)")
        return structure.parts[0], structure.parts[1]

    # --- compiled -------------------------------------------------------------------------------

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the function and append its gradient."""
        floats = self._floats([getattr(s.content, "dtype", None) if s.kind == "static" else
                               s.dtype if s.kind != "generator" else None for s in specs],
                              structure, [s.content for s in specs])
        c = capture_function(self.fn, specs, structure, leaves, assigns=True)
        value, aux = self._split(c.structure)
        if value != LEAF or c.constants[0] is not None:
            self._require_scalar(_kind_of_result(value, c.constants), c.graph.name)
        self._require_scalar(c.graph.outputs[0].aval, c.graph.name)
        inputs = {leaf: k for k, leaf in enumerate(c.arg_leaves)}
        chosen = self._chosen(structure)
        wrt = [c.united.get(inputs[k], inputs[k]) for k in floats]
        kept = list(range(len(c.graph.outputs)))[0 if self.with_value else 1:]
        c = arranged(c, self.options)
        graph = gradient_graph(c.graph, wrt, kept, f"{self.name}[{c.graph.name}]", c.guards)
        return self._program(c, graph, chosen, specs, aux, wrt, kept, floats)

    def _program(self, c: Capture, graph: Graph, chosen: Sequence[Chosen],
                 specs: Sequence[ArgSpec], aux: Structure | None, wrt: list[int],
                 kept: list[int], floats: Sequence[int]) -> Program:
        parts = [part for _, part, _ in chosen]
        grads = parts[0] if not isinstance(self.argnums, (tuple, list)) else Structure(
            tuple, None, tuple(parts))
        weak = [c.weak[k] for k in kept] + [specs[c.arg_leaves[k]].kind in ("float", "complex")
                                            for k in wrt]
        constants = c.constants if self.with_value else c.constants[1:]
        numbers = [k for _, _, numbers in chosen for k in numbers]
        own: list[tuple[Any, ...] | None] = [None if k in floats else (None,) for k in numbers]
        zeros = [zero for _, part, own_numbers in chosen for zero in beside_floats(
            part, [k in floats for k in own_numbers])]
        returned = tuple([(len(constants) + place, True, k) for place, k in enumerate(numbers)
                          if k not in floats and not zeros[place]])
        head: tuple[Structure, ...] = ()
        if self.with_value:
            head = (LEAF,) if aux is None else (Structure(tuple, None, (LEAF, aux)),)
            result = Structure(tuple, None, (*head, grads))
        elif aux is not None:
            result = Structure(tuple, None, (grads, aux))
        else:
            result = grads
        assigned = [(path, kept.index(output)) for path, output in c.assigned]
        results = {len(kept) + k: f"grad_{graph.inputs[place].name}" for k, place in enumerate(wrt)}
        if self.with_value:
            results[0] = "value"
        program = Program(graph.name, graph, c, (*c.arg_leaves, *c.leaves), result,
                          [*constants, *own], weak, [], self.options, assigned,
                          results, returned, zero_d=tuple([k for k, output in enumerate(kept)
                                                 if output in c.zero_d]))
        if aux is not None and not self.with_value:  # (gradients, aux): gradients come last so far
            program = _rotated(program, len(constants), len(wrt), len(own))
        return program

    # --- within a capture -----------------------------------------------------------------------

    def inline(self, args: object, kwargs: object) -> Any:
        """Differentiate within a capture: the result is part of the program around it."""
        leaves, structure = flatten((args, kwargs))
        leaves = [lift(x) if isinstance(x, np.ndarray) else x for x in leaves]
        wrt = self._floats([dtype_of_leaf(x) for x in leaves], structure, leaves)
        chosen = self._chosen(structure)
        block, inner_leaves, inner_structure, constants, heads = capture_block(
            self.fn, leaves, structure, wrt)
        value, aux = self._split(inner_structure)
        name = getattr(self.fn, "__name__", "the function")
        if value != LEAF or not block.outputs or constants[0] is not None:
            self._require_scalar(_kind_of_result(value, constants), name)
        self._require_scalar(block.outputs[0].aval, name)
        kept = list(range(len(block.outputs)))
        with_gradient = gradient_block(block, list(range(len(wrt))), kept)
        operands = [atom_of(leaves[k]) for k in wrt]
        results = inline_region(with_gradient, operands)
        outputs = [tracer_of_atom(a, weak)
                   for a, weak in zip(results[:len(kept)], inner_leaves, strict=True)]
        by_leaf = dict(zip(wrt, results[len(kept):], strict=True))
        grads = [tracer_of_atom(by_leaf[heads.get(k, k)], is_weak(leaves[k])) if k in wrt else
                 None if zero else leaves[k] for _, part, numbers in chosen
                 for k, zero in zip(numbers, beside_floats(part, [k in wrt for k in numbers]),
                                    strict=True)]
        return self._assemble(outputs, grads, constants, chosen, aux)

    def _assemble(self, outputs: list[object], grads: list[object], constants: list[Any],
                  chosen: Sequence[Chosen], aux: Structure | None) -> Any:
        rest = iter(grads)
        parts = [unflatten(part, rest) for _, part, _ in chosen]
        gradient = tuple(parts) if isinstance(self.argnums, (tuple, list)) else parts[0]
        made = iter(outputs)
        leaves = [next(made) if x is None else x[0] for x in constants]
        value, auxiliary = leaves[0], None
        if aux is not None:
            auxiliary = unflatten(aux, iter(leaves[1:]))
            return ((value, auxiliary), gradient) if self.with_value else (gradient, auxiliary)
        return (value, gradient) if self.with_value else gradient


def _is_float(dtype: np.dtype | None) -> bool:
    return dtype is not None and dtype.kind in "fc" and dtype in DTYPES.values()


def _rotated(program: Program, before: int, count: int, leaves: int) -> Program:
    """Move the gradients, of so many outputs and leaves, to the front of a program's results."""
    graph = program.graph
    outputs = graph.outputs
    kept = len(outputs) - count
    order = [*range(kept, len(outputs)), *range(kept)]
    block = Block(graph.block.inputs, graph.eqns, tuple(outputs[k] for k in order))
    weak = [program.weak[k] for k in order]
    constants = [*program.constants[before:], *program.constants[:before]]
    assigned = [(path, output + count) for path, output in program.assigned]
    returned = tuple([((k - before) % (before + leaves), is_argument, j)
                      for k, is_argument, j in program.returned])
    results = {k: program.results[old] for k, old in enumerate(order) if old in program.results}
    return replace(program, graph=replace(graph, block=block), constants=constants, weak=weak,
                   assigned=assigned, results=results, returned=returned,
                   zero_d=tuple([output + count for output in program.zero_d]))


def _kind_of_result(value: Structure, constants: Sequence[Any]) -> str:
    """Return in words a function's result that is no number of the graph."""
    if value.kind is type(None):
        return "None"
    kind = type(constants[0][0]) if value == LEAF else value.kind
    return f"an object of type {getattr(kind, '__name__', kind)}"
