"""Callables that users hold: they find the specialisation for a call, or make it."""

from __future__ import annotations

import copy
import functools
import gc
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, overload

import numpy as np

from tracejit.artifacts.loading import load_artifacts, lock_of
from tracejit.configuration import calls_look, listen, settings
from tracejit.display import Displayed
from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.ir.draws import is_generator
from tracejit.ir.showing import SILENT
from tracejit.program.forks import require_whole
from tracejit.program.nested_calls import fast_call
from tracejit.program.request import Request, key_of
from tracejit.program.specialisation import Specialisation
from tracejit.runtime.tracebacks import hide_frames, hiding_frames
from tracejit.signals import keeping_signals
from tracejit.trace.ground.active import CAPTURES, is_tracing
from tracejit.trace.ground.faults import fault_of_ours
from tracejit.trace.values.eager import Recorded, record_call, watches
from tracejit.trace.values.specs import ArgSpec, is_spec, spec, spec_of_leaf
from tracejit.tree import Structure, flatten, flatten_call, unflatten

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    from tracejit.runtime.stages import Traced

    P = ParamSpec("P", default=...)
    Q = ParamSpec("Q")
    R = TypeVar("R", covariant=True, default=Any)
else:  # defaults, which let `Function` alone stand for any, are for type checkers
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    Q = ParamSpec("Q")
    R = TypeVar("R", covariant=True)

__all__ = ["Function", "WithStates", "make_function"]

LOG = logging.getLogger("tracejit")
_COMPILING = threading.RLock()

_RUN_IN_PYTHON = ("jit", "forward", "grad", "value_and_grad")
"""The transforms whose calls have the arguments of the function; `vjp` begins with "forward"."""

MOST_KINDS = 1024
"""The most kinds of calls that a function remembers: an object made anew is a kind."""
MOST_CHAINED = 32
"""The most fast entries of which one calls the next, each with its frame on the stack."""


class _Entries:
    """The functions whose calls go to a C-level entry, but not while calls look at the settings."""

    def __init__(self) -> None:
        self.functions: weakref.WeakSet[Function] = weakref.WeakSet()
        self.lock = threading.RLock()

    def use(self, function: Function, entry: Callable[..., object]) -> None:
        """Let an entry take a function's calls."""
        with self.lock:
            function._slow = entry
            function._chained += 1
            self.functions.add(function)
            self._renew(function, calls_look())

    def renew_all(self, look: bool) -> None:
        """Let Python take all calls if they look at the settings, else the entries."""
        with self.lock:
            for function in list(self.functions):
                self._renew(function, look)

    def _renew(self, function: Function, look: bool) -> None:
        kind = type(function)
        if not look:
            entry = function._slow
            kind.__call__ = (  # type: ignore[method-assign]
                staticmethod(entry) if isinstance(entry, FunctionType) else entry)
        elif "__call__" in vars(kind):
            del kind.__call__


_ENTRIES = _Entries()


class Function(Displayed, Generic[P, R]):
    """A transformed function. Call it like the function that it came from.

    In annotations, `Function[P, R]` has parameters P and a result R; `Function` has any.

    Each instance has a class of its own, whose `__call__` is the C-level entry of the newest
    specialisation: so a call costs no Python frame.
    """

    __wrapped__: Any

    transform: Any

    def _setup(self, transform: Any) -> None:
        self.transform = transform
        options = getattr(transform, "options", None)
        self._target = getattr(options, "target", "cpu")
        self._threads = getattr(options, "threads", None)
        self._unstored = ""
        """Why the last program is not kept for other processes."""
        self._table: dict[Any, list[Specialisation]] = {}
        self._plain: Any = self.__call__
        self._slow = self._plain
        """The fallback of the newest fast entry: the one before, and at last Python."""
        self._chained = 0
        functools.update_wrapper(self, transform.fn, updated=())
        self.__wrapped__ = transform.fn

    @overload
    def __get__(self, instance: None, owner: object = None) -> Function[P, R]: ...

    @overload
    def __get__(self: Function[Concatenate[Any, Q], R], instance: object,
                owner: object = None) -> Callable[Q, R]: ...

    def __get__(self, instance: Any, owner: object = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<tracejit.{self.transform.name} of {getattr(self, '__qualname__', '?')}>"

    def __reduce__(self) -> Any:
        reduce = getattr(self.transform, "reduce", None)
        if reduce is None:
            raise TypeError(f"{self!r} belongs to this process and cannot be pickled")
        return reduce(self)

    def __dask_tokenize__(self) -> Any:
        """Return what Dask knows the function by: code, transform, and what it reads now."""
        import uuid

        token = getattr(self.transform, "token", None)
        return uuid.uuid4().hex if token is None else token()

    # --- calls ----------------------------------------------------------------------------------

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Find or make the specialisation for these arguments and run it."""
        try:
            result: R = self._dispatch(args, kwargs)
            return result
        except Exception as e:
            fault = None if is_tracing() else fault_of_ours(e, getattr(self, "__name__", "it"))
            if fault is not None:
                raise fault.with_traceback(e.__traceback__) from e
            hide_frames(e)
            raise

    def _dispatch(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        if is_tracing():
            return self.transform.inline(args, kwargs)
        leaves, structure = self._flattened(args, kwargs)
        held = any(isinstance(x, Recorded) for x in leaves)
        if settings().debugger and not (held or SILENT.get()) and (
                self.transform.name in _RUN_IN_PYTHON):
            return self._in_python(args, kwargs)
        if held:
            leaves = [x._data if isinstance(x, Recorded) else x for x in leaves]
        specs, leaves = self._specs(leaves)
        key = key_of(structure, specs)
        if held or watches():
            return self._recorded(key, specs, structure, leaves, held, args, kwargs)
        for candidate in self._table.get(key, ()):
            result = candidate.attempt(leaves)
            if result is not NotImplemented:
                return result
        return self._attempted(self._find(key, specs, structure, leaves), leaves)

    def _in_python(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """Run the function itself, for debuggers; a gradient is computed afterwards."""
        if self.transform.name == "jit":
            return self.transform.fn(*args, **kwargs)
        leaves, structure = flatten((args, kwargs))
        copied_args, copied_kwargs = unflatten(structure, [
            copy.deepcopy(x) if isinstance(x, np.ndarray) or is_generator(x) else x
            for x in leaves])
        self.transform.fn(*copied_args, **copied_kwargs)
        token = SILENT.set(True)
        try:
            return self._dispatch(args, kwargs)
        finally:
            SILENT.reset(token)

    def _flattened(self, args: tuple[object, ...],
                   kwargs: dict[str, object]) -> tuple[list[Any], Structure]:
        """Return the leaves of the arguments, and the structure of the call."""
        opened = getattr(self.transform, "opened", None)
        try:
            return flatten_call(args, kwargs) if opened is None else flatten_call(
                *opened(args, kwargs))
        except RecursionError:
            raise Refusal(f"{self._where()}an argument contains itself, or is nested too deeply. "
                          "Pass the numbers and arrays that are read", "TJ306") from None

    def _specs(self, leaves: list[object]) -> tuple[tuple[ArgSpec, ...], list[Any]]:
        """Return the specs of arguments, and the arguments, arrays of a device in one form."""
        try:
            if self._target == "cpu":
                return tuple(map(spec_of_leaf, leaves)), leaves
            from tracejit.program.cuda.arrays import specs_of_arguments

            return specs_of_arguments(leaves)
        except Refusal as e:
            raise Refusal.restating(e, self._where()) from None

    def _where(self) -> str:
        """Return the file and line of the function, as the beginning of a refusal."""
        code = getattr(self.transform.fn, "__code__", None)
        return "" if code is None else f"{line_name(code.co_filename, code.co_firstlineno)}: "

    def _attempted(self, chosen: Specialisation, leaves: Sequence[object]) -> Any:
        result = chosen.attempt(leaves)
        if result is NotImplemented:
            raise self._unsteady(chosen)
        return result

    def _unsteady(self, chosen: Specialisation) -> Refusal:
        """Return the refusal of a program whose guards do not even hold after its capture."""
        found = next((g for g in chosen.interface.guards if not g.holds()), None)
        what = "something from outside" if found is None else str(found.path)
        return Refusal(f"{self._where()}{chosen.interface.name} reads {what}, which is another "
                       "object at every reading, a property's result perhaps. Pass it as an "
                       "argument, or keep it in a variable", "TJ316")

    def _recorded(self, key: object, specs: Sequence[ArgSpec], structure: Structure,
                  leaves: Sequence[object], held: bool, args: tuple[object, ...],
                  kwargs: dict[str, object]) -> Any:
        """Let tapes record a call on recorded values, or one that reads recorded variables."""
        chosen = self._find(key, specs, structure, leaves)
        if held and chosen.interface.written:
            raise TypeError(f"{chosen.interface.name} writes to its arguments, and tape values "
                            "cannot be written to. Let it work on a copy: x = x.copy()")
        if chosen.interface.recorded:
            return WithStates(self, chosen).record(args, kwargs)
        return record_call(self, args, kwargs) if held else self._attempted(chosen, leaves)

    def _find(self, key: object, specs: Sequence[ArgSpec], structure: Structure,
              leaves: Sequence[object]) -> Specialisation:
        with _COMPILING:
            for candidate in self._table.get(key, ()):  # another thread may have been faster
                if candidate.fits(leaves):
                    return candidate
            return self._add(Request(self, specs, structure, leaves))

    def _chosen(self, structure: Structure, leaves: Sequence[object]) -> Specialisation | None:
        """Return the specialisation that a call was carried out by; None where none was kept."""
        specs, leaves = self._specs([x._data if isinstance(x, Recorded) else x for x in leaves])
        return next((s for s in self._table.get(key_of(structure, specs), ()) if s.fits(leaves)),
                    None)

    def _add(self, call: Request) -> Specialisation:
        require_whole()
        traces, collects = CAPTURES.traces, gc.isenabled()
        depth = len(traces)
        try:
            gc.disable()  # collections find little here, and take a tenth of the time
            with keeping_signals():
                made = self._compile(call)
        finally:  # here, as the error of a signal handler may have cut off any code inside
            if collects:
                gc.enable()
            del traces[depth:]
        if made.interface.is_for_one_call:
            return made
        self._table.setdefault(call.key, []).insert(0, made)
        if len(self._table) > MOST_KINDS:
            del self._table[next(iter(self._table))]
        entry = fast_call(made, self._following(), hide_frames)
        if entry is not None and not settings().changes_calls:
            _ENTRIES.use(self, entry)
        return made

    def _compile(self, call: Request) -> Specialisation:
        """Return a specialisation for a call: from the store, or made now."""
        found = self._find_stored(call)
        if found is not None:
            return found
        with lock_of(call) as waited:
            found = self._find_stored(call) if waited else None
            if found is not None:
                return found
            from tracejit.runtime.making import make
            from tracejit.runtime.misses import explain_miss

            explain_miss(call)

            return Specialisation(*make(call), call.specs, call.structure, self._following(),
                                  self._threads)

    def _following(self) -> Any:
        """Return the fallback of a new entry: one calls the next, and Python ends the row."""
        return self._slow if self._chained % MOST_CHAINED else self._plain

    def _find_stored(self, call: Request) -> Specialisation | None:
        """Return a program for a call that another process has compiled."""
        for interface, runner in load_artifacts(call):
            found = Specialisation(interface, runner, call.specs, call.structure,
                                   self._following(), self._threads)
            if not call.is_actual or found.fits(call.leaves):
                found.is_stored = True
                LOG.debug("%s was found in the store", interface.name)
                return found
        return None

    @hiding_frames
    def warmup(self, *calls: object, progress: bool = False) -> None:
        """Compile for calls that will come, or find them in the store.

        calls    -- per call, a tuple of its arguments; `tracejit.spec("f64[n, 3]")`, or that text,
                    stands for an array or number
        progress -- whether a line on standard error says how many are done

        >>> import numpy as np, tracejit
        >>> slope = tracejit.grad(lambda x: np.sum(x * x))
        >>> slope.warmup(("f64[n]",), (2.0,))

        Raises the errors of a call, and `Refusal` where a size has to be known that a spec
        leaves open.
        """
        from tracejit.runtime.moving_lines import counted

        text = f"tracejit: {getattr(self, '__name__', 'f')}: ready for"
        for args in counted(calls, text) if progress else calls:
            call = self._request(tuple(args) if isinstance(args, (tuple, list)) else (args,), {})
            with _COMPILING:
                if not self._table.get(call.key):
                    self._add(call)

    def _request(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Request:
        """Return the request for a call, with specs or texts of them for arguments."""
        leaves, structure = self._flattened(args, kwargs)
        leaves = [spec(x) if isinstance(x, str) and is_spec(x) else x for x in leaves]
        specs, leaves = self._specs(leaves)
        if not any(isinstance(x, ArgSpec) for x in leaves):
            return Request(self, specs, structure, leaves)
        return Request(self, specs, structure, [s.content for s in specs], is_actual=False)

    # --- stages ---------------------------------------------------------------------------------

    @functools.cached_property
    def _numba_type_(self) -> Any:
        """Return the Numba type for which Numba asks where `@njit` code names the function."""
        from tracejit.runtime.njit import numba_type

        if self._target != "cpu":
            raise Refusal(f'{self!r} has target="cuda", and `@njit` code runs on the CPU. Give it '
                          'a function without target="cuda", or call it from Python', "TJ605")
        return numba_type(self)

    @hiding_frames
    def trace(self, *args: object, **kwargs: object) -> Traced:
        """Return the captured program for these arguments, or for specs of them.

        args, kwargs -- arguments as for a call; in their place `tracejit.spec("f64[n, 3]")`, or
                        that text

        >>> import numpy as np, tracejit
        >>> traced = tracejit.grad(lambda x: np.sum(x * x)).trace("f64[n]")
        >>> print(traced.graph)  # doctest: +ELLIPSIS
        graph grad[_lambda](%x: f64[n]) -> f64[n] {
        ...
        """
        from tracejit.runtime.stages import Traced

        call = self._request(args, kwargs)
        actual = call.leaves if call.is_actual else None
        program = self.transform.make_program(call.specs, call.structure, actual)
        return Traced(program, (call.specs, call.structure), self, actual)


class WithStates:
    """A call that reads variables, as a function of these as well, for tapes to record."""

    function: Any
    chosen: Specialisation
    paths: Any
    __name__: str

    def __init__(self, function: Function, chosen: Specialisation) -> None:
        self.function, self.chosen = function, chosen
        self.paths = chosen.interface.recorded
        self.__name__ = getattr(function, "__name__", "f")

    def record(self, args: object, kwargs: object) -> Any:
        """Carry out the call as one of arguments and variables."""
        return record_call(self, (args, kwargs, tuple(path.read() for path in self.paths)))

    def __call__(self, args: object, kwargs: object, states: Sequence[object]) -> Any:
        """Call the function; within a capture, the states given stand for the variables."""
        if not is_tracing():
            return self.chosen.attempt(flatten((args, kwargs))[0])
        from tracejit.trace.ground.context import current

        captured = current().captured
        for path, tracer in zip(self.paths, states, strict=True):
            captured.stand_in(path.read(), tracer, path, None)
        return self.function.transform.inline(args, kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithStates) and self.function is other.function and (
            self.chosen is other.chosen)

    def __hash__(self) -> int:
        return hash((self.function, self.chosen))


def make_function(transform: object) -> Function:
    """Return the callable of a transform."""
    kind = type("Function", (Function,), {"__module__": "tracejit"})
    function: Function = kind()
    function._setup(transform)
    return function


listen(_ENTRIES.renew_all)
