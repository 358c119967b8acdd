"""The transforms of the user interface: `jit`, `grad`, `value_and_grad`, `vjp`, `jvp`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tracejit.autodiff.transforms import gradient_block, gradient_graph
from tracejit.ir.core import Atom, Block, Graph, Value
from tracejit.ir.types import Aval, dtype_name
from tracejit.ops.calls import inline_region
from tracejit.runtime.function import Function, make_function
from tracejit.runtime.stages import Program
from tracejit.trace.calls import call_function
from tracejit.trace.capture import ArgSpec, Capture, capture
from tracejit.trace.context import current
from tracejit.trace.emit import atom_of, cast, is_weak, lift
from tracejit.trace.tracer import SymInt, Tracer, scalar_of, tracer_of
from tracejit.tree import LEAF, Structure, flatten, leaf_names, unflatten

__all__ = ["grad", "jit", "value_and_grad"]


@dataclass(frozen=True, slots=True)
class Options:
    """What changes generated code: `fp` is "default" or "strict"."""

    fp: str = "default"


class Jit:
    """The function itself, compiled."""

    name = "jit"

    def __init__(self, fn: Callable[..., Any], options: Options) -> None:
        self.fn, self.options = fn, options

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[Any] | None) -> Program:
        """Capture the function for arguments of these specs."""
        c = capture(self.fn, specs, structure, leaves, writes_back=True)
        return Program(c.graph.name, c.graph, c, c.structure, c.constants, c.written, self.options)

    def inline(self, args: Any, kwargs: Any) -> Any:
        """Call within a capture: as if it were not compiled."""
        return call_function(self.fn, args, kwargs)


class Gradient:
    """The gradient of a function's (first) result, perhaps beside the result."""

    def __init__(self, fn: Callable[..., Any], argnums: Any, has_aux: bool, with_value: bool,
                 options: Options) -> None:
        self.fn, self.options = fn, options
        self.argnums, self.has_aux, self.with_value = argnums, has_aux, with_value
        self.name = "value_and_grad" if with_value else "grad"
        self.places = _argument_places(fn, argnums)

    # --- which leaves ---------------------------------------------------------------------------

    def _chosen(self, structure: Structure) -> list[tuple[str, Structure, list[int]]]:
        """Return, per differentiated argument: its name, its structure, its leaves' numbers."""
        args, kwargs = structure.parts
        chosen = []
        for place in self.places:
            name, part, first = _find_argument(self.fn, place, args, kwargs)
            chosen.append((name, part, list(range(first, first + part.count))))
        return chosen

    def _require_float(self, kinds: Sequence[Any], structure: Structure) -> None:
        for name, part, numbers in self._chosen(structure):
            for leaf_name, k in zip(leaf_names(part, name), numbers, strict=True):
                dtype = kinds[k]
                if dtype is None or dtype.kind not in "fc":
                    what = "no number" if dtype is None else f"of dtype {dtype}"
                    raise TypeError(
                        f"{self.name} needs floats to differentiate by, but argument {leaf_name!r} "
                        f"is {what}. Pass a float (1.0, x.astype(float)), or choose other arguments "
                        "with argnums")

    def _require_scalar(self, aval: Any, fn_name: str) -> None:
        if not isinstance(aval, Aval) or aval.shape or aval.dtype.kind != "f":
            what = "None" if aval is None else str(aval)
            raise TypeError(
                f"{self.name} needs a function with a real scalar result, but {fn_name} returns "
                f"{what}. Sum or average the result (np.sum, np.mean), or use tracejit.vjp or "
                "tracejit.jvp")

    def _split(self, structure: Structure) -> tuple[Structure, Structure | None]:
        """Return the structures of value and auxiliary data."""
        if not self.has_aux:
            return structure, None
        if structure.kind is not tuple or len(structure.parts) != 2:
            raise TypeError(f"{self.name} with has_aux=True needs a function that returns a pair "
                            "(value, auxiliary data)")
        return structure.parts[0], structure.parts[1]

    # --- compiled -------------------------------------------------------------------------------

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[Any] | None) -> Program:
        """Capture the function and append its gradient."""
        self._require_float([s.dtype for s in specs], structure)
        c = capture(self.fn, specs, structure, leaves)
        value, aux = self._split(c.structure)
        if value != LEAF or c.constants[0] is not None:
            self._require_scalar(None, c.graph.name)
        self._require_scalar(c.graph.outputs[0].aval, c.graph.name)
        inputs = {leaf: k for k, leaf in enumerate(c.arg_leaves)}
        chosen = self._chosen(structure)
        wrt = [inputs[k] for _, _, numbers in chosen for k in numbers]
        kept = list(range(len(c.graph.outputs)))[0 if self.with_value else 1:]
        graph = gradient_graph(c.graph, wrt, kept, f"{self.name}[{c.graph.name}]")
        return self._program(c, graph, chosen, specs, aux, wrt, kept)

    def _program(self, c: Capture, graph: Graph, chosen: Any, specs: Sequence[ArgSpec],
                 aux: Structure | None, wrt: list[int], kept: list[int]) -> Program:
        parts = [part for _, part, _ in chosen]
        grads = parts[0] if not isinstance(self.argnums, (tuple, list)) else Structure(
            tuple, None, tuple(parts))
        weak = [c.weak[k] for k in kept] + [specs[c.arg_leaves[k]].kind in ("float", "complex")
                                            for k in wrt]
        constants = [x for x in c.constants if x is not None or self.with_value]
        if not self.with_value:
            constants = c.constants[1:]
        head: tuple[Structure, ...] = ()
        if self.with_value:
            head = (LEAF,) if aux is None else (Structure(tuple, None, (LEAF, aux)),)
            result = Structure(tuple, None, (*head, grads))
        elif aux is not None:
            result = Structure(tuple, None, (grads, aux))
        else:
            result = grads
        program = Program(graph.name, graph, replace(c, weak=weak), result,
                          [*constants, *(None for _ in wrt)], [], self.options)
        if aux is not None and not self.with_value:  # (gradients, aux): gradients come last so far
            program = _rotated(program, len(constants), len(wrt))
        return program

    # --- within a capture -----------------------------------------------------------------------

    def inline(self, args: Any, kwargs: Any) -> Any:
        """Differentiate within a capture: the result is part of the program around it."""
        leaves, structure = flatten((args, kwargs))
        leaves = [lift(x) if isinstance(x, np.ndarray) else x for x in leaves]
        self._require_float([_dtype_of(x) for x in leaves], structure)
        chosen = self._chosen(structure)
        wrt = [k for _, _, numbers in chosen for k in numbers]
        block, inner_leaves, inner_structure, constants = capture_block(
            self.fn, leaves, structure, wrt)
        value, aux = self._split(inner_structure)
        name = getattr(self.fn, "__name__", "the function")
        if value != LEAF or not block.outputs or constants[0] is not None:
            self._require_scalar(None, name)
        self._require_scalar(block.outputs[0].aval, name)
        kept = list(range(len(block.outputs)))
        with_gradient = gradient_block(block, list(range(len(wrt))), kept)
        operands = [atom_of(leaves[k]) for k in wrt]
        results = inline_region(with_gradient, operands)
        outputs = [_tracer(a, weak) for a, weak in zip(results[:len(kept)], inner_leaves, strict=True)]
        grads = [_tracer(a, is_weak(leaves[k])) for a, k in zip(results[len(kept):], wrt, strict=True)]
        return self._assemble(outputs, grads, constants, chosen, aux)

    def _assemble(self, outputs: list[Any], grads: list[Any], constants: list[Any], chosen: Any,
                  aux: Structure | None) -> Any:
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


def _rotated(program: Program, before: int, count: int) -> Program:
    """Move the gradients to the front of a program's results."""
    graph = program.graph
    outputs = graph.outputs
    kept = len(outputs) - count
    order = [*range(kept, len(outputs)), *range(kept)]
    block = Block(graph.block.inputs, graph.eqns, tuple(outputs[k] for k in order))
    weak = [program.capture.weak[k] for k in order]
    constants = [*program.constants[before:], *program.constants[:before]]
    return replace(program, graph=replace(graph, block=block), constants=constants,
                   capture=replace(program.capture, weak=weak))


def _dtype_of(x: Any) -> np.dtype | None:
    if isinstance(x, (Tracer, SymInt, np.ndarray, np.generic)):
        return x.dtype
    return np.dtype(type(x)) if isinstance(x, (bool, int, float, complex)) else None


def _tracer(a: Atom, weak: bool) -> Any:
    if isinstance(a, Value):
        return scalar_of(a, weak=weak)
    result = cast(a.val, a.aval.dtype)
    result.weak = weak
    return result


def capture_block(fn: Callable[..., Any], leaves: list[Any], structure: Structure,
                  chosen: list[int]) -> tuple[Block, list[bool], Structure, list[Any]]:
    """Capture a call of a function as a block whose inputs are the chosen leaves.

    Everything else that the function reads stays what it is in the capture around.
    """
    trace = current()
    inputs = []
    inner = list(leaves)
    for k in chosen:
        t = leaves[k] if isinstance(leaves[k], Tracer) else cast(lift(leaves[k]), _dtype_of(leaves[k]))
        v = Value(Aval(t.dtype, t.dims))
        inputs.append(v)
        inner[k] = v
    for k, x in enumerate(leaves):  # arrays that are only read keep their elements, on a copy
        if k not in chosen and isinstance(x, Tracer) and x.dims:
            inner[k] = tracer_of(x.value)
    weak: list[bool] = []
    with trace.region("call", tuple(inputs)) as (frame, scope):
        for k, v in zip(chosen, inputs, strict=True):
            inner[k] = scalar_of(v, weak=is_weak(leaves[k]))
        args, kwargs = unflatten(structure, iter(inner))
        results, out_structure = flatten(call_function(fn, args, kwargs))
        outputs: list[Atom] = []
        constants: list[Any] = []
        for x in results:
            if isinstance(x, (Tracer, SymInt, float, complex, np.ndarray, np.generic)):
                x = lift(x)
                outputs.append(atom_of(x if isinstance(x, (Tracer, SymInt)) else cast(x, _dtype_of(x))))
                weak.append(is_weak(x))
                constants.append(None)
            else:
                constants.append((x,))
        if frame.written:
            raise TypeError("a function that is differentiated inside another one writes to an array "
                            "of that one. Return the new array instead")
        block = scope.close(outputs)
    return block, weak, out_structure, constants


# --- arguments ----------------------------------------------------------------------------------


def _argument_places(fn: Callable[..., Any], argnums: Any) -> list[Any]:
    """Return argnums as a list of positions and names; `TypeError` for anything else."""
    places = list(argnums) if isinstance(argnums, (tuple, list)) else [argnums]
    for place in places:
        if not isinstance(place, (int, str)) or isinstance(place, bool):
            raise TypeError(f"argnums are positions or names of arguments, not {place!r}")
    if not places:
        raise TypeError("argnums is empty: there is nothing to differentiate by")
    return places


def _find_argument(fn: Callable[..., Any], place: Any, args: Structure,
                   kwargs: Structure) -> tuple[str, Structure, int]:
    """Return the name, structure and first leaf of an argument of a call."""
    names = _parameter_names(fn)
    if isinstance(place, str):
        if place in kwargs.aux:
            k = kwargs.aux.index(place)
            first = args.count + sum(p.count for p in kwargs.parts[:k])
            return place, kwargs.parts[k], first
        if place not in names:
            raise TypeError(f"argnums names {place!r}, but the function's arguments are "
                            f"{', '.join(map(repr, names))}")
        place = names.index(place)
    if place < 0:
        place += len(args.parts)
    if not 0 <= place < len(args.parts):
        if place < len(names) and names[place] in kwargs.aux:
            return _find_argument(fn, names[place], args, kwargs)
        raise TypeError(f"argnums has {place}, but the call has {len(args.parts)} positional arguments")
    name = names[place] if place < len(names) else f"argument {place}"
    return name, args.parts[place], sum(p.count for p in args.parts[:place])


def _parameter_names(fn: Callable[..., Any]) -> list[str]:
    try:
        return [p.name for p in inspect.signature(fn).parameters.values()
                if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        return []


# --- the interface ------------------------------------------------------------------------------


def _decorator(fn: Any, make: Callable[[Callable[..., Any]], Any]) -> Any:
    """Serve `transform(f)`, `@transform` and `@transform(...)`."""
    if fn is None:
        return lambda f: _checked(f, make)
    return _checked(fn, make)


def _checked(fn: Any, make: Callable[[Callable[..., Any]], Any]) -> Function:
    if not callable(fn):
        raise TypeError(f"a transform takes a function, not {fn!r}")
    return make_function(make(fn))


def jit(fn: Callable[..., Any] | None = None, *, fp: str = "default") -> Any:
    """Compile a function; arrays that it writes to are written to as in NumPy.

    fn -- a function of arrays, numbers and nests of them
    fp -- "strict" turns off vectorised math and reordered sums

    >>> import numpy as np, tracejit
    >>> @tracejit.jit
    ... def norm(x):
    ...     total = 0.0
    ...     for i in range(len(x)):
    ...         total += x[i] * x[i]
    ...     return np.sqrt(total)
    >>> float(norm(np.array([3.0, 4.0])))
    5.0
    """
    return _decorator(fn, lambda f: Jit(f, Options(fp)))


def grad(fn: Callable[..., Any] | None = None, argnums: Any = 0, has_aux: bool = False, *,
         fp: str = "default") -> Any:
    """Return the function that computes the gradient of a function with a scalar result.

    fn      -- a function that returns a real scalar (or, with `has_aux`, a pair with more)
    argnums -- position or name of the argument to differentiate by, or a tuple of them
    has_aux -- whether the function returns (value, auxiliary data); so does its gradient then
    fp      -- "strict" turns off vectorised math and reordered sums

    The gradient has the structure, shapes and dtypes of the argument (with a tuple of argnums, a
    tuple of them); an argument that the result does not depend on has zeros.

    Raises `TypeError` where the result is no real scalar or an argument is not floating.

    >>> import numpy as np, tracejit
    >>> @tracejit.grad
    ... def slope(x):
    ...     return np.sum(x ** 2)
    >>> slope(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _decorator(fn, lambda f: Gradient(f, argnums, has_aux, False, Options(fp)))


def value_and_grad(fn: Callable[..., Any] | None = None, argnums: Any = 0, has_aux: bool = False, *,
                   fp: str = "default") -> Any:
    """Return the function that computes value and gradient in one pass; see `grad`.

    >>> import tracejit
    >>> value, slope = tracejit.value_and_grad(lambda x: x * x * x)(2.0)
    >>> float(value), float(slope)
    (8.0, 12.0)
    """
    return _decorator(fn, lambda f: Gradient(f, argnums, has_aux, True, Options(fp)))
