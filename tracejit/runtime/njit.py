"""Calls of transformed functions in `@njit` code: from Numba's types to a program, at typing time.

State that a program depends on besides its arguments is frozen when the caller is compiled, as
Numba freezes globals; `tracejit/codegen/njit_call.py` emits the call.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError, TypingError
from numba.np.numpy_support import as_dtype

from tracejit.codegen.njit_call import Machine, NjitCall, Raises
from tracejit.codegen.njit_type import FunctionType
from tracejit.codegen.plan import plan_dims
from tracejit.codegen.pointers import NUMBA_TYPES
from tracejit.configuration import config
from tracejit.errors import CompileError, Refusal, raisable
from tracejit.exact import same
from tracejit.ir.core import Value
from tracejit.ir.dims import Dim
from tracejit.ir.walk import draws, prints
from tracejit.runtime.callees import require_no_calls_in_njit
from tracejit.runtime.making import log_compilation
from tracejit.runtime.program import Program
from tracejit.runtime.stages import Compiled, Traced
from tracejit.signals import keeping_signals
from tracejit.trace.ground.dependencies import Dependencies, collecting
from tracejit.trace.state.paths import READING_FAILS, Leaf
from tracejit.trace.values.specs import ArgSpec
from tracejit.tree import LEAF, Structure

__all__ = ["numba_type"]

LOG = logging.getLogger("tracejit")
_HINT = (". Sizes and ints are not known when @njit code is compiled; an int that is written out "
         "in the call is")


def numba_type(function: Callable[..., object]) -> FunctionType:
    """Return the Numba type of a transformed function."""
    return FunctionType(function, _Calls(function))


class _Calls:
    """The calls of one function, by the types of their arguments."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.known: dict[Any, tuple[Program, NjitCall]] = {}

    def resolve(self, args: Sequence[object], names: Sequence[str]) -> NjitCall:
        """Return the call for arguments of these Numba types; `TypingError` where there is none."""
        plain = tuple(types.unliteral(t) if isinstance(t, (types.IntegerLiteral,
                                                           types.BooleanLiteral)) else t
                      for t in args)
        try:
            return self._call(plain, tuple(names))
        except TypingError:
            if plain == tuple(args):
                raise
        return self._call(tuple(args), tuple(names))  # numbers written out are known to a capture

    def _call(self, args: tuple[object, ...], names: tuple[str, ...]) -> NjitCall:
        program, call = self.known.get((args, names), (None, None))
        if program is None or call is None or not _is_current(program):
            with keeping_signals():
                program, call = self._made(args, names)
            self.known[args, names] = program, call
        return call

    def _made(self, args: tuple[object, ...], names: tuple[str, ...]) -> tuple[Program, NjitCall]:
        """Make a call; its refusals are errors of types for Numba."""
        try:
            return self._new_call(args, names)
        except (NumbaError, CompileError):
            raise
        except Exception as e:
            notes = "".join(f"\n{note}" for note in getattr(e, "__notes__", ()))
            text = str(e) if isinstance(e, Refusal) else f"{type(e).__name__}: {e}"
            hint = _HINT if "run time" in text else ""
            raise TypingError(
                f"{self.function!r} cannot be called here: {text}{hint}{notes}") from e

    def _new_call(self, args: tuple[types.Type, ...],
                  names: tuple[str, ...]) -> tuple[Program, NjitCall]:
        specs: list[ArgSpec] = []
        contents: list[Any] = []
        kinds: list[Any] = []
        parts = [_structure(t, specs, contents, kinds) for t in args]
        count = len(args) - len(names)
        structure = Structure(tuple, None, (
            Structure(tuple, None, tuple(parts[:count])),
            Structure(dict, names, tuple(parts[count:]))))
        with collecting() as dependencies:
            program = self.function.transform.make_program(specs, structure, contents)
        _require_pure(program, dependencies)
        apart = list(_apart(program, kinds))
        result = _result_type(program)
        sources = [s if isinstance(s, int) else _frozen(s) for s in program.sources]
        LOG.debug("%s is called from @njit code with (%s)", program.name, ", ".join(map(str, args)))
        return program, NjitCall(args, result, program.constants, sources,
                                 lambda: _machine(program), apart)


# --- arguments ----------------------------------------------------------------------------------


def _structure(kind: object, specs: list[ArgSpec], contents: list[object],
               kinds: list[object]) -> Structure:
    """Return an argument's structure; append its leaves' specs, known numbers and Numba types."""
    if isinstance(kind, types.BaseTuple):
        parts = tuple(_structure(t, specs, contents, kinds) for t in kind.types)
        return Structure(getattr(kind, "instance_class", tuple), None, parts)
    if isinstance(kind, types.NoneType):
        return Structure(type(None))
    kinds.append(kind)
    specs.append(_spec(kind))
    contents.append(kind.literal_value if isinstance(kind, types.IntegerLiteral) else None)
    return LEAF


_KINDS = {types.float64: ArgSpec("float", np.dtype(np.float64)),
          types.int64: ArgSpec("int", np.dtype(np.int64)),
          types.complex128: ArgSpec("complex", np.dtype(np.complex128))}
"""Substitutes for Python's numbers: Numba does not tell them from NumPy's."""

_DTYPES = {kind: dtype for dtype, kind in NUMBA_TYPES.items()}


def _spec(kind: object) -> ArgSpec:
    if isinstance(kind, (types.StringLiteral, types.BooleanLiteral)):
        return ArgSpec("static", content=kind.literal_value)
    if isinstance(kind, types.Dispatcher):
        return ArgSpec("static", content=kind.dispatcher)
    if isinstance(kind, FunctionType):
        return ArgSpec("static", content=kind.function)
    kind = types.unliteral(kind)
    if kind in _KINDS:
        return _KINDS[kind]
    if kind in _DTYPES:
        return ArgSpec("scalar", _DTYPES[kind])
    if isinstance(kind, types.Array) and kind.dtype in _DTYPES:
        return ArgSpec("array", as_dtype(kind.dtype), kind.ndim)
    if getattr(kind, "dtype", kind) == types.float16:
        raise Refusal("an argument is of dtype float16, which Numba lacks on CPUs. Pass float32",
                      "TJ605")
    raise Refusal(f"an argument is a {kind}, which tracejit cannot take from @njit code. Pass "
                  "arrays, numbers and tuples of them", "TJ605")


def _require_pure(program: Program, dependencies: Dependencies) -> None:
    """Refuse programs that only Python can call: they read or assign variables, or write."""
    for what in dependencies.unseen:
        raise Refusal(f"{program.name}: {what} may give something else at every call, which @njit "
                      "code cannot ask for. Pass what it gives as an argument", "TJ605")
    if program.capture.recorded or program.assigned:
        paths = [*program.capture.recorded, *(path for path, _ in program.assigned)]
        raise Refusal(f"{program.name} reads or assigns {paths[0]}, a variable or a tape's value, "
                      "which @njit code cannot. Pass its value as an argument", "TJ605")
    if prints(program.graph.block):
        raise Refusal(f"{program.name} prints, which it can from Python alone. Take the print out"
                      " of it, or call it from Python", "TJ605")
    if draws(program.graph.block):
        raise Refusal(f"{program.name} draws random numbers from a Generator, which it can from "
                      "Python alone. Pass them as an argument, or call it from Python", "TJ605")
    require_no_calls_in_njit(program.name, program.graph)
    if program.written:
        raise Refusal(f"{program.name} writes to its arguments, which cannot be done from @njit "
                      "code. Let it work on a copy, x = x.copy(), and return that", "TJ605")


def _apart(program: Program, kinds: Sequence[types.Type]) -> Iterator[tuple[int, int, Raises]]:
    """Yield the pairs of inputs that the call has to find apart.

    Refuses arguments whose memory is not known to be as the program takes it to be.
    """
    for fact in program.capture.facts:
        of = [program.sources[k] for k in fact.inputs]
        arrays = [kinds[s] for s in of if isinstance(s, int)]
        frozen = [s.content for s in of if isinstance(s, Leaf)]
        if fact.kind == "writeable" and not all(t.mutable for t in arrays):
            raise Refusal(f"{program.name} writes to an argument that is read-only here", "TJ605")
        if fact.kind == "identical":
            raise Refusal(f"{program.name} asks whether two arrays are one object, which @njit "
                          "code cannot tell", "TJ605")
        if not (all(t.layout == "C" for t in arrays) and all(x.flags.c_contiguous for x in frozen)):
            raise Refusal(f"{program.name} reshapes or writes to an argument that is not "
                          "contiguous in C order, of which NumPy may make a copy. Pass "
                          "np.ascontiguousarray(x)", "TJ605")
        if fact.kind == "overlap":
            k, j = fact.inputs
            yield (k, j, Raises(ValueError, _escaped(
                f"{program.name} writes to an argument, and another of its arrays shares memory "
                "with it. Pass a copy: x.copy()")))


def _is_current(program: Program) -> bool:
    """Return whether the frozen state is as it was: else the next caller gets a program anew."""
    try:
        return all(g.holds() for g in program.capture.guards) and all(
            same(s.content, s.path.read()) for s in program.sources if isinstance(s, Leaf))
    except READING_FAILS:
        return False


def _frozen(leaf: Leaf) -> np.generic | np.ndarray:
    """Return a captured number as NumPy's, or the array, which the call then keeps alive."""
    if isinstance(leaf.content, np.ndarray):
        if not leaf.content.dtype.isnative:
            raise Refusal(f"{leaf.path} is an array in another byte order. Make it "
                          "x.astype(x.dtype.newbyteorder('='))", "TJ605")
        return leaf.content
    number: np.generic = leaf.value.aval.dtype.type(leaf.content)
    return number


# --- results ------------------------------------------------------------------------------------


def _result_type(program: Program) -> Any:
    """Return the Numba type of a program's result."""
    outputs = iter(program.graph.outputs)
    constants = iter(program.constants)

    def type_of(s: Structure) -> Any:
        if s.kind is type(None):
            return types.none
        if s.kind is not None:
            if not issubclass(s.kind, tuple):
                raise Refusal(f"{program.name} returns a {s.kind.__name__}, which @njit code "
                              "cannot take. Return arrays, numbers and tuples of them", "TJ605")
            pyclass = None if s.kind is tuple else s.kind
            return types.BaseTuple.from_types(tuple(map(type_of, s.parts)), pyclass)
        constant = next(constants)
        if constant is None:
            aval: Any = next(outputs).aval
            kind = NUMBA_TYPES[aval.dtype]
            return types.Array(kind, len(aval.shape), "C") if aval.shape else kind
        try:
            return numba.typeof(constant[0])
        except ValueError:
            raise Refusal(f"{program.name} returns a {type(constant[0]).__name__}, which @njit "
                          "code cannot take. Return arrays, numbers and tuples of them",
                          "TJ605") from None

    return type_of(program.structure)


# --- machine code -------------------------------------------------------------------------------


def _machine(program: Program) -> Machine:
    """Compile a program; `CompileError` where that is a defect of tracejit."""
    with config(verify=False, disable_jit=False):
        compiled = Traced(program).lower().compile()
    log_compilation(program, "called from @njit code", compiled.times)
    kernel = compiled.lowered.kernel
    entry, plan = compiled.addresses()
    asks = program.capture.size_guards or program.capture.checks
    is_fixed = not asks and not any(map(_shape, kernel.graph.inputs)) and all(
        isinstance(d, int) for d in plan_dims(kernel))
    shown = ", ".join(f"{v.name}: {v.aval}" for v in kernel.graph.inputs)
    misfit = Raises(ValueError, _escaped(
        f"{program.name} was compiled for ({shown}), and the sizes of these arguments are others. "
        "Where sizes have one name they must agree; inside @njit code none is stretched from 1"))
    no_room = Raises(MemoryError, _escaped(f"{program.name} needs ") + "{0:.0f}"
                     " bytes for arrays and for what its loops store. tracejit.checkpoint stores "
                     "less")
    return Machine(kernel, compiled.symbol, entry, plan, compiled.llvm, is_fixed,
                   tuple(_failures(compiled)), misfit, no_room)


def _shape(value: Value) -> tuple[Dim, ...]:
    shape: tuple[Dim, ...] = value.aval.shape
    return shape


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _failures(compiled: Compiled) -> Iterator[Raises]:
    """Yield the error that each status of a kernel raises."""
    for failure in compiled.lowered.kernel.failures:
        kind = raisable(failure.error)
        site: Any = failure.site
        if site is None:
            yield Raises(kind, failure.message)
        else:
            file, line, _ = site.location
            name = getattr(site.function, "name", "function").rpartition(".")[2]
            yield Raises(kind, failure.message, file, line, name)
