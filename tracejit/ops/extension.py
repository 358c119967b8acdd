"""Users' own ops and gradients: `register_op` and `custom_gradient`, TensorFlow's names.

An op type that is registered is one equation with its body as a region, so that the gradient pass
meets it whole; afterwards the body is compiled with the rest.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import MethodType
from typing import Any, ParamSpec, TypeVar

import numpy as np

from tracejit.ir.core import Atom, Block, Eqn, Op, Params, Value
from tracejit.ir.dtypes import is_half
from tracejit.ir.lowering import Inline, Native
from tracejit.ir.optable import OPS, find_op
from tracejit.ir.types import Aval, is_differentiable
from tracejit.ir.walk import free_values
from tracejit.ops.kinds import structural, yielded_types
from tracejit.ops.native_aliases import results_in_common
from tracejit.ops.reading import reads_past
from tracejit.trace.ground.context import Cell, current, is_tracing, refuse
from tracejit.trace.python.calls import call_function
from tracejit.trace.regions.choosing import in_one_dtype
from tracejit.trace.values.eager import holds_recorded, record_whole, watches
from tracejit.trace.values.equations import atom_of, lift
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer, tracer_of

__all__ = ["CustomGradient", "RegisteredOp", "custom_gradient", "register_op"]

P = ParamSpec("P")
R = TypeVar("R")


def _is_operand(x: object) -> bool:
    """Whether an argument is data; others, such as an axis, are attributes."""
    return isinstance(x, (Tracer, np.ndarray, np.generic, float, complex))


# --- op types -----------------------------------------------------------------------------------


def _body_reference(*operands: object, regions: Sequence[Callable[..., tuple[object, ...]]],
                    **attributes: object) -> Any:
    return tuple(regions[0](*operands))


class RegisteredOp:
    """A new op type, as `register_op` returns it: call it like the function that it was made of."""

    op: Op
    fn: Callable[..., Any]
    num_outputs: int

    def __init__(self, op: Op, fn: Callable[..., object], num_outputs: int) -> None:
        self.op, self.fn, self.num_outputs = op, fn, num_outputs
        functools.update_wrapper(self, getattr(fn, "py_func", fn))

    def __repr__(self) -> str:
        return f"<op {self.op.name!r}>"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Apply the op: in captured code as one equation, elsewhere by calling its function."""
        if not is_tracing():
            if watches() or holds_recorded((args, kwargs)):
                return record_whole(self, args, kwargs)
            return self._checked(self.fn(*args, **kwargs))
        return self._emitted(args, kwargs)

    def _emitted(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Apply the op in captured code, as one equation."""
        names, values, keywords = self._bind(args, kwargs)
        operands = [lift(x) for x in values if _is_operand(x)]
        attributes = {n: x for n, x in zip(names, values, strict=True)
                      if not (_is_operand(x) or isinstance(x, TracedOperand))}
        builder = current().builder
        atoms = [atom_of(x) for x in operands]
        inputs = tuple(Value(a.aval) for a in atoms)
        with builder.block(inputs) as scope:
            given = [_as_tracer(v, x) for v, x in zip(inputs, operands, strict=True)]
            tracers = iter(given)
            inner = [next(tracers) if _is_operand(x) else x for x in values]
            count = len(inner) - len(keywords)
            result = in_one_dtype(call_function(
                self.fn, tuple(inner[:count]), dict(zip(keywords, inner[count:], strict=True))))
            outputs = [atom_of(lift(y)) for y in _listed(self._checked(result))]
            current().memory.refuse_lost_writes(given, f"register_op({self.op.name!r})")
            region = scope.close(outputs)
        if not self.op.marked and reads_past(inputs, free_values(region), ()):
            raise refuse(f"the function of op {self.op.name!r} reads a traced value from outside: "
                         "that would get no gradient", "Pass it as an argument", "TJ505")
        made = builder.emit(self.op, atoms, attributes, [region])
        results = tuple(map(tracer_of, made))
        _let_alias(results, _listed(result), _pairs(given, operands), f"op {self.op.name!r}")
        return results[0] if self.num_outputs == 1 else results

    def _bind(self, args: tuple[object, ...],
              kwargs: dict[str, object]) -> tuple[list[str], list[Any], list[str]]:
        """Return names and values of the arguments, and the names of the last, given by keyword."""
        try:
            bound = inspect.signature(self.fn).bind(*args, **kwargs)
        except ValueError:  # a builtin without a signature
            names = [f"arg{k}" for k in range(len(args))]
            return [*names, *kwargs], [*args, *kwargs.values()], [*kwargs]
        bound.apply_defaults()
        names = []
        for name, p in bound.signature.parameters.items():
            if p.kind is p.VAR_POSITIONAL:
                names += [f"{name}{k}" for k in range(len(bound.arguments[name]))]
            elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                names.append(name)
        keywords = bound.kwargs
        return [*names, *keywords], [*bound.args, *keywords.values()], [*keywords]

    def _checked(self, result: object) -> Any:
        count = len(result) if isinstance(result, (tuple, list)) else 1
        if count != self.num_outputs:
            raise ValueError(f"op {self.op.name!r} was registered with num_outputs="
                             f"{self.num_outputs}, but its function returned {count}")
        return result


def _listed(result: object) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _as_tracer(v: Value, like: object) -> Tracer:
    tracer = tracer_of(v)
    if isinstance(like, Tracer) and like.is_array:
        current().memory.begin_as(tracer, like, v)
    tracer.weak = like.weak if isinstance(like, Tracer) else isinstance(like, (float, complex))
    return tracer


def _pairs(copies: Sequence[object], handed: Sequence[object]) -> dict[Cell, Cell]:
    """Return the cells of arrays for which a function gets copies, by the cells of these."""
    return {x.cell: y.cell for x, y in zip(copies, handed, strict=True)
            if isinstance(x, Tracer) and isinstance(y, Tracer)}


def _let_alias(results: Sequence[Tracer], returned: Sequence[object], handed: Mapping[Cell, Cell],
               what: str) -> None:
    """Note that results may be the arrays that a function returned, which have other names."""
    for result, y in zip(results, returned, strict=True):
        if isinstance(y, Tracer) and y.is_array:
            cells = {y.cell, *y.cell.behind()} - {result.cell}
            _let_be(result, [handed.get(c, c) for c in cells], what)


def _let_be(result: Tracer, cells: Sequence[Cell], what: str) -> None:
    """Let a result be, perhaps, an array of these cells."""
    result.cell.stands_for(cells)
    result.cell.decided_by = what


# --- functions that Numba compiles --------------------------------------------------------------


class NativeOp(RegisteredOp):
    """A new op type made of an `@njit` function, which compiled code calls as it is."""

    @property
    def _njit(self) -> Any:
        """The function, with what Numba knows of it."""
        return self.fn

    def _emitted(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Apply the op in captured code, as one equation."""
        _, values, _ = self._bind(args, kwargs)
        for x in values:
            if not _is_operand(x) and not isinstance(x, (bool, int, TracedOperand)):
                raise refuse(f"op {self.op.name!r} gets a {type(x).__name__}, but compiled code "
                             "calls an @njit function with arrays and numbers only",
                             "Close over it, or pass numbers", "TJ505")
        operands = [lift(x) for x in values]
        atoms = [atom_of(x) for x in operands]
        made = current().builder.emit(self.op, atoms)
        if len(made) != self.num_outputs:
            raise ValueError(f"op {self.op.name!r} was registered with num_outputs="
                             f"{self.num_outputs}, but its function returns {len(made)}")
        results = tuple(map(tracer_of, made))
        arrays = [x.cell for x in operands if isinstance(x, Tracer) and x.is_array]
        compiled = self._njit.overloads[_signature([a.aval for a in atoms], readonly=True)]
        kinds = _types_returned(compiled)
        for result, kind in zip(results, kinds, strict=True):
            if hasattr(kind, "ndim") and not kind.mutable:  # it may be an argument, or a view
                _let_be(result, arrays, f"op {self.op.name!r}")
        for j, k in results_in_common(compiled, kinds):
            results[j].cell.may_be(results[k].cell)
            for result in (results[j], results[k]):
                result.cell.decided_by = f"op {self.op.name!r}"
        return results[0] if self.num_outputs == 1 else results


def _native_op(name: str, fn: Callable[..., object]) -> Op:
    def infer(avals: Sequence[Aval], params: Params, regions: Sequence[Block]) -> Any:
        return _native_results(name, fn, avals)

    def reference(*operands: np.ndarray | np.generic) -> Any:
        found: Any = fn(*(np.ascontiguousarray(x) if np.ndim(x) else x for x in operands))
        for y in _listed(found):
            if np.ndim(y) and np.shape(y) != next(
                    np.shape(x) for x in operands if np.ndim(x) == np.ndim(y)):
                raise ValueError(Native.OTHER_SHAPE.format(repr(name)))
        return found

    return structural(name, reference, infer, Native(fn))


def _refuse_draws(name: str, compiled: Any) -> None:
    """Refuse an `@njit` function that draws random numbers, or calls one that does."""
    if "random_state" in compiled.library.get_llvm_str():  # Numba's own
        raise refuse(f"the function of op {name!r} draws random numbers, and an op gives one "
                     "result for equal arguments", "Draw them outside and pass them as an argument",
                     "TJ505")


def _signature(avals: Sequence[Aval], *, readonly: bool) -> tuple[Any, ...]:
    """Return Numba's types of arguments."""
    from numba import types
    from numba.np.numpy_support import from_dtype

    return tuple(types.Array(from_dtype(a.dtype), a.ndim, "C", readonly=readonly) if a.ndim
                 else from_dtype(a.dtype) for a in avals)


def _types_returned(compiled: Any) -> list[Any]:
    """Return Numba's types of the results of a compiled function."""
    from numba import types

    found = compiled.signature.return_type
    return list(found.types) if isinstance(found, types.BaseTuple) else [found]


def _native_results(name: str, fn: Any, avals: Sequence[Aval]) -> tuple[Aval, ...]:
    """Return the types of an `@njit` function's results, as Numba infers them."""
    from numba import types
    from numba.core.errors import NumbaError
    from numba.np.numpy_support import as_dtype

    shown = ", ".join(map(str, avals))
    half = next((a.dtype for a in avals if is_half(a.dtype)), None)
    if half is not None:
        raise refuse(f"op {name!r} is compiled by Numba, which has no {half} on CPUs",
                     "Convert its operands first: x.astype(np.float32)", "TJ505")
    try:
        fn.compile(_signature(avals, readonly=False))
    except NumbaError as e:
        why = str(e).strip().splitlines()[-1]
        raise refuse(f"Numba cannot compile the function of op {name!r} for ({shown}): {why}",
                     "Call it by itself to see more", "TJ505") from None
    try:
        fn.compile(_signature(avals, readonly=True))
    except NumbaError:
        raise refuse(f"the function of op {name!r} writes to its arguments",
                     "Let it work on a copy and return that", "TJ505") from None
    compiled = fn.overloads[_signature(avals, readonly=False)]
    _refuse_draws(name, compiled)
    results = []
    for kind in _types_returned(compiled):
        if isinstance(kind, types.Array):
            shape = next((a.shape for a in avals if a.ndim == kind.ndim), None)
            if shape is None:
                raise refuse(f"op {name!r} returns an array with {kind.ndim} axes, and none of its "
                             "arguments has as many to tell its shape",
                             "Pass an array of that shape to be filled and copied", "TJ505")
            results.append(Aval(as_dtype(kind.dtype), shape))
        elif isinstance(kind, (types.Number, types.Boolean)):
            results.append(Aval(as_dtype(kind), ()))
        else:
            raise refuse(f"op {name!r} returns a {kind}", "Return arrays and numbers", "TJ505")
    return tuple(results)


def register_op(op_type: str, fn: Callable[P, R], num_outputs: int = 1) -> Callable[P, R]:
    """Register a new op type and return the function that applies it.

    op_type     -- its name, under which `RegisterGradient` and `no_gradient` know it
    fn          -- a NumPy function, captured and compiled with the rest, or an `@njit` function
    num_outputs -- how many arrays `fn` returns, in a tuple if more than one

    The gradient pass sees one operation and never looks inside: without a registered gradient or
    a `no_gradient` mark, asking for a gradient through it is a `LookupError`. Arrays and floats
    among the arguments are its inputs; ints, strings and the like its attributes.

    Raises `TypeError` if the op type is no string or `fn` cannot be called, `KeyError` if there is
    an op of that type already.

    >>> import numpy as np, tracejit
    >>> softplus = tracejit.register_op("DocSoftplus", lambda x: np.log1p(np.exp(x)))
    >>> @tracejit.RegisterGradient("DocSoftplus")
    ... def softplus_grad(op, grad):
    ...     return grad / (1.0 + np.exp(-op.inputs[0]))
    >>> float(tracejit.grad(lambda x: softplus(x))(0.0))
    0.5
    """
    if not isinstance(op_type, str):
        raise TypeError(f"register_op takes the name of an op type as a string, not {op_type!r}")
    if not callable(fn):
        raise TypeError(f"register_op takes a function, not {fn!r}")
    if op_type in OPS:
        raise KeyError(f"op type {op_type!r} is registered already")
    if hasattr(fn, "py_func"):
        return NativeOp(_native_op(op_type, fn), fn, num_outputs)
    op = structural(op_type, _body_reference, yielded_types, Inline("region"))
    return RegisteredOp(op, fn, num_outputs)


# --- gradients of one's own ---------------------------------------------------------------------


class CustomGradient:
    """A function with a gradient of its own, as `custom_gradient` returns it."""

    def __init__(self, fn: Callable[..., object]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Return the function's result."""
        if not is_tracing():
            if watches() or holds_recorded((args, kwargs)):
                return record_whole(self, args, kwargs)
            return _split(self.fn(*args, **kwargs), self.fn)[0]
        operands = [x for x in args if _is_operand(x)]
        handed = list(map(_handed, args))  # others than what it may read elsewhere
        reads = _Reads()
        first = len(current().builder.scope.eqns)
        before = {x.cell: x.cell.value for x in handed if isinstance(x, Tracer)}
        with reads:
            result, grad_fn = _split(in_one_dtype(
                call_function(self.fn, tuple(handed), kwargs)), self.fn)
        current().memory.refuse_changes(before, "custom_gradient")
        states = reads.states()
        ys = [lift(y) for y in _listed(result)]
        given = [atom_of(lift(x)) for x in (*operands, *states)]
        atoms = [*map(atom_of, ys), *given]
        inner = [atom_of(lift(x)) for x in (*filter(_is_operand, handed), *states)]
        self._refuse_reads(inner, atoms[:len(ys)], current().builder.scope.eqns[first:])
        inputs = tuple(Value(a.aval) for a in atoms[:len(ys)])
        takes = self._takes_variables(grad_fn, states)
        keywords: dict[str, object] = {"variables": states} if takes else {}
        with current().builder.block(inputs) as scope:
            found = call_function(grad_fn, tuple(map(tracer_of, inputs)), keywords)
            grads, others = found if keywords else (found, [])
            outputs = self._checked(_listed(grads), args)
            outputs += self._checked(_listed(others), states)
            none = tuple(k for k, a in enumerate(outputs) if a is None)
            region = scope.close([_zeros(a.aval) if found is None else found
                                  for found, a in zip(outputs, atoms[len(ys):], strict=True)])
        made = current().builder.emit(find_op("with_gradient"), atoms,
                                      {"count": len(ys), "none": none}, [region])
        results = [_as_tracer(v, y) for v, y in zip(made, ys, strict=True)]
        _let_alias(results, ys, _pairs(handed, args), getattr(self.fn, "__name__", "a function"))
        return type(result)(results) if isinstance(result, (tuple, list)) else results[0]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the method of an instance, as a function in a class does."""
        return self if instance is None else MethodType(self, instance)

    def _takes_variables(self, grad_fn: Callable[..., object], states: list[Any]) -> bool:
        """Return whether the gradient function is to give the variables' gradients, too."""
        parameters = inspect.signature(grad_fn).parameters.values()
        takes = any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)
        if states and not takes:
            name = getattr(self.fn, "__name__", "a function")
            shown = ", ".join(repr(s.name) for s in states)
            raise TypeError(f"{name} has a gradient of its own and reads the variables {shown}: "
                            "its gradient function must take a keyword argument `variables`, and "
                            "return (gradients, a list of the variables' gradients)")
        return bool(states) and takes

    def _checked(self, grads: list[object], args: Sequence[object]) -> list[Any]:
        """Return one gradient per operand, of its type, or None."""
        name = getattr(self.fn, "__name__", "a function")
        if args and len(grads) == len(args) - 1 and not _is_operand(args[0]):
            args = args[1:]  # a method's object has no gradient
        if len(grads) != len(args):
            raise ValueError(f"the gradient function of {name} returned {len(grads)} values, but "
                             f"{name} takes {len(args)} arguments")
        found: list[Any] = []
        for k, (g, x) in enumerate(zip(grads, args, strict=True)):
            if not _is_operand(x):
                continue
            if g is None:
                found.append(None)
                continue
            aval, atom = atom_of(lift(x)).aval, atom_of(lift(g))
            if atom.aval != aval:
                raise ValueError(f"the gradient function of {name} returned {atom.aval} for "
                                 f"argument {k}, which is {aval}")
            found.append(atom)
        return found

    def _refuse_reads(self, given: Sequence[Atom], ys: Sequence[Atom], made: Sequence[Eqn]) -> None:
        """Refuse a function that reads traced data which is not among its arguments."""
        if reads_past(given, ys, made):
            name = getattr(self.fn, "__name__", "a function")
            raise refuse(f"{name}, which has a gradient of its own, reads a traced value from "
                         "outside: that would get no gradient", "Pass it as an argument", "TJ505")


def _handed(x: object) -> Any:
    """Return an argument as a value of its own, to be told from others that are equal to it."""
    if type(x) is not Tracer or not is_differentiable(x.dtype):
        return x
    (own,) = current().builder.emit(find_op("named"), [x.value])
    return _as_tracer(own, x)


class _Reads:
    """Takes note of the trainable variables that are read inside a `with` block."""

    def __init__(self) -> None:
        self.found: dict[int, Any] = {}

    def __enter__(self) -> None:
        current().watchers.append(self)

    def __exit__(self, *exception: object) -> None:
        current().watchers.remove(self)

    def note_state(self, state: Any, value: Value) -> None:
        """Note a variable."""
        if state.trainable:
            self.found.setdefault(id(state.cell), state)

    def note_assigned(self, state: object, value: object) -> None:
        """Do nothing: only reads count."""

    def states(self) -> list[Any]:
        """Return the stand-ins of the variables, each once."""
        return list(self.found.values())


def _zeros(aval: Aval) -> Value:
    (v,) = current().builder.emit(find_op("full"), [atom_of(aval.dtype.type(0))],
                                  {"shape": aval.shape})
    return v


def _split(pair: object, fn: Callable[..., object]) -> tuple[Any, Any]:
    if not (isinstance(pair, tuple) and len(pair) == 2 and callable(pair[1])):
        name = getattr(fn, "__name__", fn)
        raise TypeError(f"{name} has @custom_gradient, so it must return its result and the "
                        "function that takes the result's gradients to the arguments'")
    return pair


def custom_gradient(fn: Callable[P, tuple[R, Callable[..., object]]]) -> Callable[P, R]:
    """Give a function a gradient of its own.

    fn -- returns `(result, grad)`; `grad(*upstream)` takes one gradient per array of the result
          and returns one per argument of `fn`: an array of its shape and dtype, or None

    Where `fn` reads variables, `grad(*upstream, variables)` takes these as well, and returns
    (gradients of the arguments, list of gradients of the variables).

    Raises `TypeError` if `fn` cannot be called or returns anything else.

    >>> import numpy as np, tracejit
    >>> @tracejit.custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     def grad(upstream):
    ...         return upstream * (1 - 1 / (1 + e))
    ...     return np.log(1 + e), grad
    >>> float(tracejit.grad(log1pexp)(100.0))
    1.0
    """
    if not callable(fn):
        raise TypeError(f"custom_gradient takes a function, not {fn!r}")
    return CustomGradient(fn)
