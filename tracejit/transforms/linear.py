"""`vjp` and `jvp`: a function's derivative as a linear map, backwards and forwards."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tracejit.autodiff.forward import forward_block
from tracejit.autodiff.transforms import pullback_block, pullback_graph, tangent_graph
from tracejit.ir.core import Block, Graph
from tracejit.ir.draws import is_generator
from tracejit.ir.halves import widened_block
from tracejit.ir.walk import without_prints
from tracejit.ops.calls import inline_region
from tracejit.program.cuda.arrays import DeviceArray, adopt
from tracejit.runtime.function import Function, make_function
from tracejit.runtime.program import Program
from tracejit.runtime.tracebacks import hiding_frames
from tracejit.trace.capture import capture_function
from tracejit.trace.ground.active import is_tracing
from tracejit.trace.ground.context import current, refuse, refuse_outside
from tracejit.trace.ground.facts import copies_of
from tracejit.trace.regions.draws import generator_from_outside, has_no_seed, refuse_draws
from tracejit.trace.state.paths import Leaf, Path
from tracejit.trace.values.eager import Recorded, State, watches
from tracejit.trace.values.equations import atom_of, is_weak, lift
from tracejit.trace.values.python_numbers import require_ours
from tracejit.trace.values.specs import ArgSpec
from tracejit.trace.values.symbolic_ints import SymInt
from tracejit.trace.values.tracer import Tracer
from tracejit.transforms.arguments import (
    argument_places,
    find_argument,
    open_arguments,
    require_uncached,
)
from tracejit.transforms.arranged_captures import arranged
from tracejit.transforms.compiled import Jit
from tracejit.transforms.nested import capture_block, conforming, dtype_of_leaf, tracer_of_atom
from tracejit.transforms.objects import require_no_tangent
from tracejit.transforms.options import Options
from tracejit.tree import (
    Structure,
    are_in,
    beside_floats,
    flatten,
    flatten_call,
    has_one_twice,
    is_object,
    leaf_names,
    unflatten,
)

__all__ = ["Pullback", "Tangent", "pair_of"]

_TWO_TUPLES = ("{name} takes the arguments and their tangents as two tuples: "
               "{name}(f, (x, y), (x_dot, y_dot))")
_TRACED = (Tracer, SymInt, DeviceArray, Recorded)
_NUMBERS = (int, float, complex, np.ndarray, np.generic, DeviceArray, Recorded)


def as_before_draws(leaves: Sequence[object]) -> list[Any]:
    """Return arguments with copies of generators, for their numbers to be drawn again."""
    if not any(map(is_generator, leaves)):
        return list(leaves)
    memo: dict[int, Any] = {}  # two that share a bit generator share a copy of it
    return [copy.deepcopy(x, memo) if is_generator(x) else x for x in leaves]


def _differentiable(kinds: Sequence[np.dtype | None]) -> list[int]:
    return [k for k, dtype in enumerate(kinds) if dtype is not None and dtype.kind in "fc"]


def _check_like(what: str, names: Sequence[str], shown: Sequence[Any],
                given: Sequence[Any]) -> None:
    """Raise unless tangents or cotangents have the shapes and kinds of their values."""
    for name, x, t in zip(names, shown, given, strict=True):
        if np.shape(x) != np.shape(t):
            raise ValueError(f"the {what} of {name} has shape {np.shape(t)}, but {name} has shape "
                             f"{np.shape(x)}")


def _like(x: Any, t: object) -> Any:
    """Return a tangent or cotangent with the dtype of its value."""
    known = isinstance(x, (Tracer, SymInt, DeviceArray, Recorded))
    dtype = x.dtype if known else np.result_type(x)
    if isinstance(t, (Tracer, SymInt)):
        return t
    if isinstance(t, Recorded):
        return t if t._data.dtype == dtype else t.astype(dtype)  # type: ignore[attr-defined]
    if isinstance(t, DeviceArray):
        if t.dtype != dtype:
            raise TypeError(f"a tangent or cotangent on the device is of dtype {t.dtype}, and "
                            f"belongs to something of dtype {dtype}")
        return t
    t = np.asarray(t)
    if t.dtype.kind == "c" and dtype.kind != "c":
        raise TypeError(f"a complex tangent or cotangent of something of dtype {dtype}")
    return np.ascontiguousarray(t, dtype) if t.ndim else dtype.type(t)


def pair_of(name: str, primals: object,
            tangents: object) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return the two tuples that `jvp` or `hvp` was given, tangents with their primals' dtypes."""
    if not (isinstance(primals, (tuple, list)) and isinstance(tangents, (tuple, list))):
        raise TypeError(_TWO_TUPLES.format(name=name))
    leaves, structure = flatten(tuple(primals))
    dots, other = flatten(tuple(tangents))
    if structure != other:
        raise TypeError("primals and tangents have different structures")
    require_uncached(structure, "argument")
    for where, x, t in zip(leaf_names(structure, "argument"), leaves, dots, strict=True):
        if isinstance(x, (Tracer, SymInt)) or not isinstance(x, _TRACED):
            require_no_tangent(where, x, t)
    dots = [_like(x, t) if isinstance(x, (float, complex, np.ndarray, np.inexact)) else t
            for x, t in zip(leaves, dots, strict=True)]
    return tuple(primals), tuple(unflatten(structure, iter(dots)))


# --- backwards ----------------------------------------------------------------------------------


class Pullback:
    """`vjp`: value, and the map from cotangents of the result to cotangents of the arguments."""

    fn: Callable[..., Any]
    argnums: Any
    has_aux: bool
    options: Options
    forward: Any

    name = "vjp"

    def __init__(self, fn: Callable[..., object], argnums: object, has_aux: bool,
                 options: Options) -> None:
        self.fn, self.argnums, self.has_aux, self.options = fn, argnums, has_aux, options
        if argnums is not None:
            argument_places(fn, argnums)
        self.forward = make_function(Jit(fn, options, writes_back=False))
        self.backward: dict[Any, Function] = {}

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Return (value, pullback), or (value, pullback, aux)."""
        if self.argnums is not None:
            args, kwargs = open_arguments(self.fn, self.argnums, args, kwargs)
        if is_tracing():
            return self.inline(args, kwargs)
        leaves, structure = flatten_call(args, kwargs)
        before = as_before_draws(leaves)
        result = self.forward(*args, **kwargs)
        state = _StateAsCalled(self.forward, structure, before)
        leaves = copies_of(list(map(_as_now, before)))
        value, aux = result if self.has_aux else (result, None)
        out_leaves, out_structure = flatten(value)
        names = leaf_names(out_structure, "the result")

        @hiding_frames
        def pullback(ct: object) -> Any:
            """Return the cotangents of the arguments."""
            ct_leaves, ct_structure = flatten(ct)
            if ct_structure != out_structure:
                raise TypeError("the cotangent has another structure than the result")
            if self.options.target != "cpu":
                ct_leaves = list(map(adopt, ct_leaves))
            _check_like("cotangent", names, out_leaves, ct_leaves)
            ct_leaves = [_like(x, t) if isinstance(x, _NUMBERS) else x
                         for x, t in zip(out_leaves, ct_leaves, strict=True)]
            state.require(leaves, getattr(self.fn, "__name__", "a function"))
            key = (structure, *state.keys)
            back = self.backward.get(key) or self.backward.setdefault(
                key, make_function(_Backward(self, structure, state.paths)))
            return back(tuple(as_before_draws(leaves)), tuple(ct_leaves), *state.values)

        return (value, pullback, aux) if self.has_aux else (value, pullback)

    def chosen(self, kinds: Sequence[np.dtype | None],
               structure: Structure) -> tuple[list[int], Any]:
        """Return the leaves to differentiate by, and the structure of their cotangents."""
        args, kwargs = structure.parts
        floats = set(_differentiable(kinds))
        if self.argnums is None:
            places: list[Any] = list(range(len(args.parts)))
        else:
            places = argument_places(self.fn, self.argnums)
        found = [find_argument(self.fn, place, args, kwargs) for place in places]
        numbers = [k for _, part, first in found for k in range(first, first + part.count)]
        for name, part, first in found:
            own = range(first, first + part.count)
            inside = [*map(operator.or_, are_in(part, is_object),
                           beside_floats(part, [k in floats for k in own]))]
            if self.argnums is not None and (
                    (part.count and floats.isdisjoint(range(first, first + part.count))) or any(
                        first + k not in floats and not inside[k] for k in range(part.count))):
                raise TypeError(f"vjp needs floats to differentiate by, but argument {name!r} "
                                "is not")
        parts = [part for _, part, _ in found]
        single = self.argnums is not None and not isinstance(self.argnums, (tuple, list))
        return numbers, parts[0] if single else Structure(tuple, None, tuple(parts))

    def inline(self, args: Any, kwargs: Any) -> Any:
        """Within a capture: the pullback appends its part of the program when it is called."""
        leaves, structure = flatten_call(args, kwargs)
        if has_one_twice(structure):
            raise refuse("vjp, within a capture, of a list, dict or object that is an argument "
                         "twice", "Pass a copy as one of them", "TJ509")
        leaves = [lift(x) if isinstance(x, np.ndarray) else x for x in leaves]
        kinds = [dtype_of_leaf(x) for x in leaves]
        numbers, grads = self.chosen(kinds, structure)
        wrt = [k for k in numbers if k in set(_differentiable(kinds))]
        own = {k: leaves[k] for k in _of_objects(numbers, grads) if k not in wrt}
        block, weak, out_structure, constants, heads = capture_block(self.fn, leaves, structure,
                                                                     wrt)
        operands = [atom_of(leaves[k]) for k in wrt]
        results = list(map(tracer_of_atom, inline_region(block, operands), weak))
        rest = iter(results)
        value = unflatten(out_structure, [next(rest) if c is None else c[0] for c in constants])

        def pullback(ct: object) -> Any:
            """Return the cotangents of the arguments."""
            cts, ct_structure = flatten(ct)
            if ct_structure != value_structure:
                raise TypeError("the cotangent has another structure than the result")
            cts = [t for t, c in zip(cts, constants, strict=False) if c is None]
            refuse_draws(block, "a pullback within a captured function, which computes the "
                         "function again")
            main = without_prints(Block(block.inputs, block.eqns,
                                        block.outputs[:len(cts)]))  # without aux
            whole = pullback_block(main, list(range(len(wrt))))
            atoms = [atom_of(conforming("cotangent", t, r))
                     for t, r in zip(cts, results, strict=False)]
            found = inline_region(whole, [*operands, *atoms])[len(cts):]
            by_leaf = {k: tracer_of_atom(a, is_weak(leaves[k]))
                       for k, a in zip(wrt, found, strict=True)}
            return unflatten(grads, iter([own.get(k, by_leaf.get(heads.get(k, k)))
                                          for k in numbers]))

        value, aux = value if self.has_aux else (value, None)
        value_structure = flatten(value)[1]
        return (value, pullback, aux) if self.has_aux else (value, pullback)


def _of_objects(numbers: Sequence[int], structure: Structure) -> list[int]:
    """Return those leaves, given by their numbers, that are in objects."""
    return [k for k, inside in zip(numbers, are_in(structure, is_object), strict=True) if inside]


def _as_now(x: object) -> Any:
    """Return the present value of a variable, which tapes follow; anything else as it is."""
    return x.read_value() if isinstance(x, State) else x


def _of_variable(path: Path) -> Path:
    """Return the path to the variable or tape value whose content is at a path, or the path."""
    whole = Path(path.root, path.name, path.steps[:-1])
    is_content = path.steps[-1:] == (("attr", "_data"),)
    return whole if is_content and isinstance(whole.read(), Recorded) else path


class _StateAsCalled:
    """The state that a call read besides its arguments, as it was then.

    paths  -- to numbers and arrays
    keys   -- of these paths
    values -- these numbers and arrays, which are copied
    """

    def __init__(self, forward: Function, structure: Structure, leaves: Sequence[object]) -> None:
        self.chosen = forward._chosen(structure, leaves)
        found: list[tuple[Path, object]] = []
        if self.chosen is not None:
            paths = [s.path for s in self.chosen.interface.sources if isinstance(s, Leaf)]
            found = [(p, (_of_variable(p) if watches() else p).read()) for p in paths]
        self.paths = [path for path, _ in found]
        self.keys = tuple([path.key for path in self.paths])
        self.values = [x.copy("K") if isinstance(x, np.ndarray) else _as_now(x) for _, x in found]

    def require(self, leaves: Sequence[object], name: str) -> None:
        """Refuse a pullback where state that decides on the program has changed since."""
        if self.chosen is None or self.chosen.still_holds(
                [x._data if isinstance(x, Recorded) else x for x in leaves]):
            return
        why = next(filter(None, (g.why_not() for g in self.chosen.interface.guards)),
                   "a number or array is of another kind")
        raise refuse_outside(f"the pullback of {name}, which reads what has changed since vjp "
                             f"called it: {why}", "Ask for the cotangents before the change",
                             "TJ508")


class _Backward:
    """The program of a pullback: from arguments and cotangents to cotangents of the arguments.

    paths -- to the state that is given behind these
    """

    name = "vjp"

    def __init__(self, owner: Pullback, structure: Structure, paths: Sequence[Path]) -> None:
        self.fn, self.owner, self.structure, self.paths = owner.fn, owner, structure, paths
        self.options = owner.options

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the function, and append the reverse sweep from given cotangents."""
        count = self.structure.count
        numbers, grads = self.owner.chosen([s.dtype for s in specs[:count]], self.structure)
        c = capture_function(self.fn, specs[:count], self.structure,
                             None if leaves is None else leaves[:count])
        outer = generator_from_outside(c.leaves)
        if outer is not None:
            raise refuse_outside(f"vjp of a function that draws from {outer}, which is outside of "
                                 "it", "Pass it as an argument, or use grad or jvp", "TJ511")
        if any(map(has_no_seed, c.leaves)):
            raise refuse_outside("vjp of a function that makes a generator without a seed, which "
                                 "gives other numbers when they are drawn again",
                                 "Give it a seed, or use grad or jvp", "TJ511")
        inputs = {leaf: k for k, leaf in enumerate(c.arg_leaves)}
        floats = set(_differentiable([s.dtype for s in specs[:count]]))
        wrt = [c.united.get(inputs[k], inputs[k]) for k in numbers if k in floats]
        end = len(specs) - len(self.paths)
        kept = {path.key: end + k for k, path in enumerate(self.paths)}
        state = [kept.get(leaf.path.key, leaf) for leaf in c.leaves]
        given = [k for k in range(count, end) if c.constants[k - count] is None]
        c = arranged(c, self.owner.options)
        block = Block(c.graph.inputs, c.graph.eqns, c.graph.outputs[:len(given)])
        forward = Graph(c.graph.name, c.graph.sizes, block, c.graph.notes)
        graph = pullback_graph(forward, wrt, f"vjp[{c.graph.name}]", c.guards)
        sources: tuple[int | Leaf, ...] = (*c.arg_leaves, *state, *given)
        weak = [specs[k].kind in ("float", "complex") for k in numbers if k in floats]
        constants: list[Any] = [None if k in floats else (None,) for k in numbers]
        own = tuple([(numbers.index(k), True, k) for k in _of_objects(numbers, grads)
                     if k not in floats])
        return Program(graph.name, graph, c, sources, grads, constants, weak, [],
                       self.owner.options, returned=own)

    def inline(self, args: Any, kwargs: object) -> Any:
        """Within a capture, of a tape that recorded the pullback, make it anew there."""
        leaves, cts, *states = args
        for path, state in zip(self.paths, states, strict=True):
            whole = _of_variable(path)
            is_data = isinstance(state, np.ndarray) or whole is not path
            current().captured.give(whole, lift(state) if is_data else state)
        call_args, call_kwargs = unflatten(self.structure, iter(leaves))
        value, pullback, *_ = self.owner.inline(call_args, call_kwargs)
        return pullback(unflatten(flatten(value)[1], iter(cts)))


# --- forwards -----------------------------------------------------------------------------------


class Tangent:
    """`jvp`: value and tangent of a function at primals, along tangents."""

    fn: Callable[..., Any]
    options: Options

    name = "jvp"

    def __init__(self, fn: Callable[..., object], options: Options) -> None:
        self.fn, self.options = fn, options

    def make_program(self, specs: Sequence[ArgSpec], structure: Structure,
                     leaves: Sequence[object] | None) -> Program:
        """Capture the function and carry tangents along."""
        (primals, _), _ = _pair(structure)
        count = primals.count
        call = call_of_first(structure)
        if leaves is not None:
            names = leaf_names(primals, "argument")
            _check_like("tangent", names, leaves[:count], leaves[count:])
        c = capture_function(self.fn, specs[:count], call,
                             None if leaves is None else leaves[:count])
        if c.united:  # one array under two names, whose tangents have to be one
            return self._by_tracing(specs, structure, leaves)
        inputs = {leaf: k for k, leaf in enumerate(c.arg_leaves)}
        floats = _differentiable([s.dtype for s in specs[:count]])
        c = arranged(c, self.options)
        graph = tangent_graph(c.graph, [inputs[k] for k in floats], f"jvp[{c.graph.name}]",
                              c.guards)
        sources: tuple[int | Leaf, ...] = (*c.arg_leaves, *c.leaves, *(count + k for k in floats))
        kinds = [a.aval.dtype.kind in "fc" for a in c.graph.outputs]
        outputs = iter(range(len(kinds)))
        dots: list[Any] = []
        for x in c.constants:
            dots.append(None if x is None and kinds[next(outputs)] else (None,))
        weak = [*c.weak, *(w for w, k in zip(c.weak, kinds, strict=True) if k)]
        result = Structure(tuple, None, (c.structure, c.structure))
        return Program(graph.name, graph, c.for_graph(graph), sources, result,
                       [*c.constants, *dots], weak, [], self.options, zero_d=c.zero_d)

    def inline(self, args: Any, kwargs: Any) -> Any:
        """Within a capture: the tangents become part of the program around it."""
        primals, tangents = args
        leaves, structure = flatten((tuple(primals), {}))
        dots, _ = flatten((tuple(tangents), {}))
        leaves = [lift(x) if isinstance(x, np.ndarray) else x for x in leaves]
        floats = _differentiable([dtype_of_leaf(x) for x in leaves])
        found: tuple[Any, Any] = self.along(leaves, structure, floats, dict(enumerate(dots)),
                                            _require_one)
        return found

    def along(self, leaves: list[object], structure: Structure, chosen: list[int],
              dots: Mapping[int, object],
              settle: Callable[[Tracer, Tracer], Tracer]) -> tuple[Any, Any]:
        """Return value and tangent within a capture, where some leaves of the arguments vary.

        dots   -- the tangents of these leaves
        settle -- makes one tangent of the tangents of two names of one array that is written to
        """
        block, weak, out_structure, constants, heads = capture_block(self.fn, leaves, structure,
                                                                     chosen)
        block = widened_block(block)
        whole = forward_block(block, block.inputs, range(len(block.outputs)))
        ts = {k: conforming("tangent", dots[k], leaves[k]) for k in chosen}
        for k in chosen:
            if k in heads:
                ts[heads[k]] = settle(ts[heads[k]], ts[k])
        results = inline_region(whole, [*(atom_of(leaves[k]) for k in chosen),
                                        *(atom_of(ts[k]) for k in chosen)])
        kinds = [a.aval.dtype.kind in "fc" for a in block.outputs]
        values = [tracer_of_atom(a, w) for a, w in zip(results, weak, strict=False)]
        rest = iter(results[len(weak):])
        tangent_leaves = [tracer_of_atom(next(rest), w) if k else None
                          for w, k in zip(weak, kinds, strict=True)]
        pairs = [(values, constants), (tangent_leaves, [None if c is None else (None,)
                                                         for c in constants])]
        made = []
        for found, fixed in pairs:
            it = iter(found)
            made.append(unflatten(out_structure, iter([next(it) if c is None else c[0]
                                                       for c in fixed])))
        return made[0], made[1]

    def _by_tracing(self, specs: Sequence[ArgSpec], structure: Structure,
                    leaves: Sequence[object] | None) -> Program:
        """Make the program by a capture of the call as a whole, tangents included."""
        def whole(primals: object, tangents: object) -> Any:
            return self.inline((primals, tangents), {})

        if has_one_twice(structure):
            raise refuse_outside("jvp of a list, dict or object that is an argument twice",
                                 "Pass a copy as one of them", "TJ509")
        whole.__name__ = f"jvp_{getattr(self.fn, '__name__', 'f')}"
        c = capture_function(whole, specs, structure, leaves)
        return Program.of_capture(c, self.options)


def _require_one(t: object, other: object) -> Any:
    """Return the tangent of an array under its names, of which each has the same."""
    if atom_of(t) != atom_of(other):
        require_ours(np.all(t == other), ValueError,
                "two arguments are one array, which is written to: their tangents have to be the "
                "same")
    return t


def call_of_first(structure: Structure) -> Structure:
    """Return the structure of the call `f(*primals)`, given the one of `f(primals, tangents)`.

    A container that the primals have twice is one there, too.
    """
    (primals, _), _ = _pair(structure)
    inner = _containers(primals)
    repeats = structure.repeats
    if repeats:  # the call and its arguments come before the primals, {} after them
        repeats = (0, *(k - 1 for k in repeats[2:2 + inner]), inner + 1)
        repeats = repeats if len(set(repeats)) < len(repeats) else ()
    return Structure(tuple, None, (primals, Structure(dict, ())), repeats)


def _containers(structure: Structure) -> int:
    return structure.is_container + sum(map(_containers, structure.parts))


def _pair(structure: Structure) -> tuple[tuple[Structure, Structure], Structure]:
    """Return the structures of primals and tangents of a call `f(primals, tangents)`."""
    args, kwargs = structure.parts
    if kwargs.parts or len(args.parts) != 2 or args.parts[0].kind not in (tuple, list):
        raise TypeError(_TWO_TUPLES.format(name="jvp"))
    primals, tangents = args.parts
    if primals.parts != tangents.parts:
        raise TypeError("primals and tangents have different structures")
    return (Structure(tuple, None, primals.parts), tangents), kwargs
