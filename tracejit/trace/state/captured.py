"""State that a function reads from outside: floats and arrays become inputs, all else is guarded.

At every call of the compiled function the inputs are read along their paths (`paths.py`), and each
guard is compared, so that captured state is never stale.
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Container, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from tracejit.exact import is_unchanging
from tracejit.ir.core import Value
from tracejit.ir.dims import dim_values
from tracejit.ir.draws import is_generator
from tracejit.ir.dtypes import DTYPES
from tracejit.structured_dtypes import field_names, fields_of
from tracejit.trace.containers.runs import Run
from tracejit.trace.ground.attributes import own_entries
from tracejit.trace.ground.context import refuse
from tracejit.trace.ground.modules import home_of, is_fixed, is_followed
from tracejit.trace.ground.own_numpy import is_replaced
from tracejit.trace.ground.public_names import public_name
from tracejit.trace.ground.strangers import remedy_for
from tracejit.trace.ground.upward import ABOVE
from tracejit.trace.state.guards import Content, Different, Guarded, Same, Shape, guards_of_function
from tracejit.trace.state.methods import NativeCalls, may_be_called
from tracejit.trace.state.outside import Outside
from tracejit.trace.state.paths import Given, Holder, Leaf, Path
from tracejit.trace.state.policy import asks_again, is_cached, is_opaque
from tracejit.trace.state.results import new_at_each_call
from tracejit.trace.state.running import RunningCode
from tracejit.trace.state.unchanged import copy_of, refuse_changed
from tracejit.trace.values.eager import Recorded, State
from tracejit.trace.values.operands import TracedOperand
from tracejit.trace.values.tracer import Tracer

__all__ = ["Captures", "FixedCaptures"]


_CONSTANTS = {"pi", "e", "tau", "inf", "nan", "euler_gamma", "newaxis", "__version__"}


_DATA = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic)
_CODE = (FunctionType, BuiltinFunctionType, type, np.ufunc)


_PLAIN = {bool, int, float, complex, str, bytes, type(None)}


def is_number(x: object) -> bool:
    """Return whether an object is a float or complex number, which every call reads anew."""
    return type(x) in (float, complex) or (
        isinstance(x, np.inexact) and type(x).__module__ == "numpy" and x.dtype in DTYPES.values())


def _is_of_a_library(x: type | FunctionType) -> bool:
    """Return whether a class or function is a library's, and no wrapper of another function."""
    if isinstance(x, type):
        return not is_followed(x)
    wraps = x.__closure__ and home_of(x).startswith("tracejit.")
    return is_fixed(home_of(x)) and is_fixed(x.__module__) and not wraps


def _copy_of_set(x: Any) -> Any:
    """Return a copy of a set that goes through the items in the same order."""
    copy = x.copy() if isinstance(x, set) else x
    return copy if [*copy] == [*x] else x


_CONTAINERS = (list, tuple, dict, OrderedDict, defaultdict, deque, set, frozenset, MappingProxyType)
"""The containers of which the items are captured one by one."""
_BUILTINS = Path(Holder(builtins), "builtins").step("attr", "__dict__")
_BEING_READ = object()
"""Stands for the copy of a container while its items are read."""
_OUTSIDE = "writing to an array from outside of the captured function"
_KEYED = (dict, set, frozenset, MappingProxyType)
_MUTABLE = (list, dict, set, deque)
_VIEWS: dict[type, Callable[[Any], Any]] = {
    type({}.keys()): lambda x: x.keys(), type({}.values()): lambda x: x.values(),
    type({}.items()): lambda x: x.items(), type(OrderedDict().keys()): lambda x: x.keys(),
    type(OrderedDict().values()): lambda x: x.values(),
    type(OrderedDict().items()): lambda x: x.items(),
}
"""Views of dicts, and how one is taken of a captured dict."""


def _is_users(module: ModuleType, name: str, content: object) -> bool:
    """Whether a program has put an object of its own in the place of a library's function."""
    return is_replaced(module, name, content) or (
        isinstance(content, FunctionType) and not is_fixed(home_of(content)))


class Captures(Outside):
    """The state that one capture reads from outside."""

    def __init__(self, make_input: Callable[[Any, Any, str], tuple[Value, Tracer]]) -> None:
        super().__init__()
        self.make_input = make_input
        self.leaves: list[Leaf] = []
        decimals: Any = sys.modules.get("decimal")
        self.context = None if decimals is None else repr(decimals.getcontext())
        """The context of decimals at the beginning of the call, which captured code may change."""
        self.containers: dict[int, Any] = {}
        self.native = NativeCalls(self)
        self.constant_sizes: set[Value] = set()
        """The sizes of arrays that the capture made, which are the same at every call."""
        self.running = RunningCode(self.native)
        self.copies: dict[int, Path] = {}
        """The paths of containers that captured code has copies of, by the ids of the copies."""
        self.arrays: dict[int, tuple[Any, Tracer, Path]] = {}
        """Arrays by their ids, with their tracers and the paths at which they were met."""
        self.first_read: dict[int, bytes | None] = {}
        """What arrays held when they were first read, by the arrays' ids."""
        self.generators: dict[int, tuple[Any, Any]] = {}
        """Generators of random numbers by their ids, with their stand-ins."""
        self.recorded: dict[int, tuple[Any, Any, Path, Value | None]] = {}
        """Variables and tape values with their stand-ins, paths and inputs."""
        self.frozen: set[int] = set()
        self.drawing: list[tuple[object, Content]] = []
        """The objects with generators of random numbers in them that uncaptured code has read."""
        self.looked_into: dict[int, object] = {}
        """The functions and classes that are guarded as a whole, by their ids."""
        self.namespaces: dict[int, tuple[Any, Path | None]] = {}
        """Modules' dicts that captured code has hold of, by their ids."""
        self.functions: dict[int, Path] = {}
        self.stands: set[Value] = set()
        """The arguments that stand for state."""
        self.made: dict[int, tuple[Any, Any, Path]] = {}
        """The containers that can change, with their copies and paths, by the containers' ids."""
        self.given: dict[int, tuple[Any, int]] = {}
        """The containers of the arguments, by their ids, each with the number of the first that is
        the same object in the call."""
        self.passed: dict[int, tuple[Any, bool]] = {}
        """The containers of the arguments that the caller would see change, by their ids, and
        whether they are of an object that a gradient is by."""

    def name(self, fn: FunctionType, name: str) -> Any:
        """Return the object that a function's outer name stands for; `NameError` if nothing."""
        code = fn.__code__
        if name in code.co_freevars:
            cell = (fn.__closure__ or ())[code.co_freevars.index(name)]
            return self.read(Path(cell, name))
        if name in fn.__globals__:
            return self.read(Path(fn.__globals__, name))
        self.absent(Path(fn.__globals__, name))
        if name in vars(builtins):
            return self.read(Path(vars(builtins), name))
        self.absent(Path(vars(builtins), name))
        raise NameError(f"name {name!r} is not defined")

    def read(self, path: Path) -> Any:
        """Return the content at a path, as an input or under a guard."""
        if path.key not in self.contents:
            try:
                content = path.read()
            except ValueError:  # an empty cell
                self.absent(path)
                raise NameError(f"cannot access free variable {path.name!r} where it is not "
                                "associated with a value in enclosing scope") from None
            self.contents[path.key] = self._enter(path, content)
        return self.contents[path.key]

    def _enter(self, path: Path, content: object) -> Any:
        if isinstance(content, (TracedOperand, Run)):
            return content
        if isinstance(content, Recorded):
            if isinstance(content, State):  # another one may be assigned to elsewhere
                self.guards.append(Guarded(path, content))
            elif id(content) in self.recorded:  # one tape value under two names
                self.guards.append(Guarded(path, Same(self.recorded[id(content)][2])))
            return self.recorded_value(content, path)
        if isinstance(content, np.ndarray) and content.dtype.kind in "biufc":
            return self._array(path, content)
        if is_number(content):
            return self._number(path, content)
        if (fields := fields_of(content)) is not None:
            return self._structured(path, content, *fields)
        if is_generator(content):
            return self._generator(path, content)
        if type(content) in _CONTAINERS or (
                isinstance(content, tuple) and hasattr(content, "_fields")):
            return self._container(path, content)
        if type(content) in _VIEWS:
            self.guards.append(Guarded(path.step("type", None), type(content)))
            return _VIEWS[type(content)](self.read(path.step("attr", "mapping")))
        remedy = remedy_for(content)
        if remedy is not None:
            raise refuse(f"{path} is a {public_name(type(content))}, which is no array of NumPy's",
                         f"{remedy} as an argument, or give that array a name outside", "TJ308")
        if type(content) is functools.partial:
            return self._partial(path)
        self.guards.append(Guarded(path, content))
        if type(content).__module__ == "decimal":
            self.precision()
        if type(content) is BuiltinFunctionType and type(content.__self__) in _CONTAINERS:
            return getattr(self.read(path.step("attr", "__self__")), content.__name__)
        if type(content) not in _PLAIN and not (
                isinstance(content, (type, FunctionType)) and _is_of_a_library(content)):
            self.paths[id(content)] = (content, path)
            self.own_bound(content, path)
        return content

    def code(self, fn: FunctionType) -> None:
        """Guard the code and the default values of a function that is captured."""
        if id(fn) in self.functions:
            return
        found = guards_of_function(fn)
        self.guards += found
        self.functions[id(fn)] = Path(found[0].path.root, fn.__name__)

    def defaults(self, fn: FunctionType) -> tuple[Any, Any]:
        """Return a function's default values; lists, dicts and objects as captured state."""
        path = self.functions[id(fn)]

        def captured(x: object, kind: str, key: object) -> Any:
            if isinstance(x, (*_DATA, *_CODE)) and fields_of(x) is None:
                return x
            return self.read(path.step("attr", kind).step("item", key))

        plain = tuple(captured(x, "__defaults__", k) for k, x in enumerate(fn.__defaults__ or ()))
        named = {k: captured(x, "__kwdefaults__", k) for k, x in (fn.__kwdefaults__ or {}).items()}
        return plain or None, named or None

    def static(self, x: object, name: str = "self") -> Any:
        """Return the stand-in for an argument that is no data, or for the function that is called.

        Its attributes, as they are read later, are captured state.
        """
        path = Path(Given({name: x}), name)
        if type(x) in _CONTAINERS or isinstance(x, functools.partial) or (
                isinstance(x, BuiltinFunctionType) and type(x.__self__) in _CONTAINERS):
            return self.read(path)
        self.own_bound(x, path)
        return x

    def own_bound(self, content: Any, path: Path) -> None:
        """Note the objects that calls of a callable reach without a name: a method's, a partial's.

        Reads of their attributes are captured state, like reads of globals.
        """
        if isinstance(content, MethodType):
            self.own_bound(content.__func__, path.step("attr", "__func__"))
            self.own(content.__self__, path.step("attr", "__self__"))
        elif isinstance(content, functools.partial):
            self.own_bound(content.func, path.step("attr", "func"))
            for k, x in enumerate(content.args):
                self.own_bound(x, path.step("attr", "args").step("item", k))
            for name, x in content.keywords.items():
                self.own_bound(x, path.step("attr", "keywords").step("item", name))
        elif "__wrapped__" in own_entries(content):
            self.own_bound(content.__wrapped__, path.step("attr", "__wrapped__"))
        elif type(content) not in _PLAIN and not isinstance(content, _CODE[1:]):
            self.own(content, path)

    def _array(self, path: Path, content: np.ndarray) -> Tracer:
        if id(content) not in self.arrays:
            value, tracer = self.make_input(content, path, path.short)
            self.leaves.append(Leaf(path, content, value))
            tracer.cell.is_array = True
            self.first_read[id(content)] = copy_of(content)
            tracer.cell.constant = _OUTSIDE
            self.arrays[id(content)] = (content, tracer, path)
        else:  # one array under two names: one storage, as long as both names hold it
            self.guards.append(Guarded(path, Same(self.arrays[id(content)][2])))
        return self.arrays[id(content)][1]

    def _number(self, path: Path, content: object) -> Tracer:
        value, tracer = self.make_input(content, path, path.short)
        self.leaves.append(Leaf(path, content, value))
        return tracer

    def _structured(self, path: Path, content: object, kind: type, key: tuple[str, int],
                    fields: Sequence[object]) -> Any:
        """Return the stand-in of a structured array or record: each field is read along a path."""
        self.guards.append(Guarded(path.step("type", None), type(content)))
        text, _ = key
        dtype: np.dtype = content.dtype  # type: ignore[attr-defined]
        self.guards.append(Guarded(path.step("attr", "dtype"), dtype))
        names = field_names(dtype)
        parts = [self._enter(path.step("item", name), x)
                 for name, x in zip(names, fields, strict=True)]
        return ABOVE.joined_fields(kind, text, parts)

    def give(self, path: Path, state: object) -> None:
        """Let an argument stand for the state at a path, as it was when a tape recorded a call."""
        content = path.read()
        if isinstance(content, Recorded):
            self.stand_in(content, state, path, None)
            return
        self.contents[path.key] = state
        if isinstance(state, Tracer):
            self.stands.add(state.value)
        if isinstance(content, np.ndarray) and isinstance(state, Tracer):
            state.cell.is_array = True
            state.cell.constant = _OUTSIDE
            self.arrays[id(content)] = (content, state, path)

    def _generator(self, path: Path, content: object) -> Any:
        """Return the stand-in of a generator of random numbers, which is read at every call."""
        if id(content) not in self.generators:
            value, generator = self.make_input(content, path, path.short)
            self.leaves.append(Leaf(path, content, value))
            self.generators[id(content)] = content, generator
        else:
            first = next(leaf.path for leaf in self.leaves if leaf.content is content)
            self.guards.append(Guarded(path, Same(first)))
        return self.generators[id(content)][1]

    def recorded_value(self, x: Any, path: Path | None = None) -> Any:
        """Return the stand-in of a variable or tape value: an input that is read at every call."""
        if id(x) not in self.recorded:
            path = path or Path(Holder(x), getattr(x, "name", "value"))
            inner = path.step("attr", "_data")
            value, tracer = self.make_input(x._data, inner, path.name)
            self.leaves.append(Leaf(inner, x._data, value))
            self.stand_in(x, tracer, path, value)
        return self.recorded[id(x)][1]

    def stand_in(self, x: object, tracer: Any, path: Path, value: Value | None) -> None:
        """Let a tracer stand for a variable or tape value."""
        if isinstance(x, State) and isinstance(tracer, Tracer):
            tracer = ABOVE.StateTracer(tracer, x)
            tracer.cell.depth = 0  # it was there before the loop in which it is first read
        else:
            tracer.cell.constant = "writing to a tape value"
        self.recorded[id(x)] = (x, tracer, path, value)

    def assigned(self) -> list[tuple[Path, Value]]:
        """Return the variables that were assigned to, by their paths, with their new values."""
        return [(path, tracer.cell.value) for x, tracer, path, value in self.recorded.values()
                if isinstance(x, State) and value is not None and tracer.cell.value is not value]

    def names_of(self, places: Container[object]) -> list[str]:
        """Return the names of the variables whose cells are among some places."""
        return [repr(x.name) for x, tracer, _, _ in self.recorded.values()
                if isinstance(x, State) and tracer.cell in places]

    def _container(self, path: Path, content: object) -> Any:
        """Return a copy of a container, one for all paths that lead to it."""
        if content is vars(builtins):  # in the globals that `exec` fills
            self.guards.append(Guarded(path, Same(_BUILTINS)))
            return self.namespace(vars(builtins))
        _, made, first = self.made.get(id(content), (None, None, path))
        if made is _BEING_READ:
            raise refuse(f"a {type(content).__name__} that contains itself is read",
                         "Read the numbers and arrays in it by a name of their own", "TJ306")
        if made is None:
            if not isinstance(content, _MUTABLE):
                return self._new_container(path, content)
            self.made[id(content)] = (content, _BEING_READ, path)
            made = self._new_container(path, content)
            self.made[id(content)] = (content, made, path)
        else:
            self.guards.append(Guarded(path, Same(first)))
        return made

    def are_one_object(self, a: object, b: object) -> bool:
        """Return whether two containers are one in Python, which then is a guard."""
        first, other = self.copies.get(id(a)), self.copies.get(id(b))
        if first is not None and other is not None:
            one = first.read() is other.read()
            self.guards.append(Guarded(other, Same(first) if one else Different(first)))
            return one
        if id(a) in self.given and id(b) in self.given:
            return self.given[id(a)][1] == self.given[id(b)][1]
        if any(id(x) in self.given and type(x) is type(y) and self.is_from_outside(y)
               for x, y in ((a, b), (b, a))):
            raise refuse("`is` between an argument and a container from outside",
                         "Compare what they hold, or pass a flag", "TJ116")
        return False

    def _new_container(self, path: Path, content: Any) -> Any:
        self.guards.append(Guarded(path, Shape.of(content)))
        for k, key in enumerate(content if isinstance(content, _KEYED) else ()):
            if not is_unchanging(key):
                self.own(key, path.step("key", k))
            if type(key).__module__ == "decimal":
                self.precision()
        made: Any
        if isinstance(content, (set, frozenset)):
            made = _copy_of_set(content)
        elif isinstance(content, MappingProxyType):
            made = MappingProxyType({k: self.read(path.step("item", k)) for k in content})
        elif isinstance(content, dict):
            if any(map(may_be_called, content)) and len({*content}) < len(content):
                raise refuse(f"{path} has two keys that are equal now", "Do not change its keys",
                             "TJ418")
            made = content.copy()  # of its kind
            made.update({k: self.read(path.step("item", k)) for k in content})
            if isinstance(content, defaultdict):
                made.default_factory = self.read(path.step("attr", "default_factory"))
        else:
            items = [self.read(path.step("item", k)) for k in range(len(content))]
            made = deque(items, content.maxlen) if isinstance(content, deque) else (
                tuple.__new__(type(content), items) if hasattr(content, "_fields")
                else type(content)(items))
        return self._copied(path, content, made)

    def is_given_twice(self, x: object) -> bool:
        """Return whether a container is in the arguments more than once."""
        _, number = self.given.get(id(x), (None, None))
        return sum(k == number for _, k in self.given.values()) > 1

    def _partial(self, path: Path) -> Any:
        """Return a partial of the captured function and arguments."""
        self.guards.append(Guarded(path.step("type", None), functools.partial))
        fn = self.read(path.step("attr", "func"))
        args = self.read(path.step("attr", "args"))
        keywords = self.read(path.step("attr", "keywords"))
        return self._copied(path, path.read(), functools.partial(fn, *args, **keywords))

    def _copied(self, path: Path, content: object, made: object) -> Any:
        """Note a copy of a container or partial, and give it the attributes that the other has."""
        if isinstance(own := getattr(content, "__dict__", None), dict):
            self.guards.append(Guarded(path.step("attr", "__dict__"), Shape.of(own)))
            vars(made).update({name: self.read(path.step("attr", name)) for name in own})
        self.containers[id(made)] = made
        self.copies[id(made)] = path
        return made

    def attribute(self, owner: object, name: str) -> Any:
        """Return an attribute of an object that came from outside; `AttributeError` if none."""
        try:
            content = getattr(owner, name)
        except AttributeError:
            self.has_no_attribute(owner, name)
            raise
        path = self.path_of(owner)
        if isinstance(owner, ModuleType):
            if name == "__dict__":
                return self.namespace(content)
            if is_fixed(owner.__name__) and (
                    name in _CONSTANTS or callable(content) or is_number(content)
                    or isinstance(content, ModuleType)) and not _is_users(owner, name, content):
                ours = owner.__name__.partition(".")[0] == "tracejit"  # imported at first use
                if name in vars(owner) and not ours:  # a program may put something in its place
                    path = Path(vars(owner), name)
                    self.guard(path, content)
                    self.contents[path.key] = content
                return content
            if name in vars(owner) and self.is_plain_module(owner):
                return self.read(Path(vars(owner), name))
            path = path or Path(Holder(owner), owner.__name__)  # its `__getattr__` gives it
        if path is None:
            return self._of_class(owner, name, content)
        return self.read(path.step("attr", name))

    def _of_class(self, owner: object, name: str, content: object) -> Any:
        """Return an attribute of an object that was made here, but whose class is from outside."""
        entry = self.entry(owner, name)
        if isinstance(owner, super) or name in own_entries(owner):
            return content
        if entry is None or not is_followed(type(owner)) or isinstance(content, TracedOperand):
            return content
        if isinstance(content, MethodType) or hasattr(type(entry), "__get__"):
            return content
        return self.read(self.path_of_class(type(owner)).step("attr", name))

    def namespace(self, names: dict[str, object]) -> dict[str, Any]:
        """Return a module's dict, whose items are captured state one by one."""
        self.namespaces[id(names)] = (names, None)
        return names

    def item(self, names: Mapping[str, object], key: Any) -> Any:
        """Return an item of a module's dict; `KeyError` if there is none."""
        path = Path(names, key)
        if key not in names:
            self.absent(path)
            raise KeyError(key)
        return self.read(path)

    def asked(self, fn: Callable[..., object], args: tuple[object, ...],
              kwargs: dict[str, object]) -> Any:
        """Return the result of a function that only reads state, as a path that ends in the call.

        `NotImplemented` for other functions, and where arguments are computed.
        """
        found = asks_again(fn)
        if found is None or not all(map(is_unchanging, (*args, *kwargs.values()))):
            return NotImplemented
        owner, name = found
        if is_cached(fn) and not self.is_from_outside(fn):  # its cache is one of this capture
            return NotImplemented
        path = self.path_of(owner) or Path(Holder(owner), getattr(owner, "__name__", "it"))
        path = path.step("call", (name, args, tuple(kwargs.items())))
        try:
            return self.read(path)
        except LookupError:
            self.absent(path)
            raise

    def print_options(self) -> None:
        """Guard how NumPy prints arrays."""
        path = Path(Holder(np.get_printoptions), "np.get_printoptions")
        self.read(path.step("call", ("__call__", (), ())))

    def precision(self) -> None:
        """Guard the context in which decimals are computed."""
        import decimal

        path = Path(Holder(decimal), "decimal").step("call", ("getcontext", (), ()))
        path = path.step("call", ("__repr__", (), ()))
        if path.key in self.contents:
            return
        context = self.contents[path.key] = self.context or path.read()
        for word, part in ((" flags=", 0), (" traps=", 2)):  # the flags say what was computed
            parts = path.step("call", ("rpartition", (word,), ()))
            self.guards.append(Guarded(parts.step("item", part), context.rpartition(word)[part]))

    def dispatched(self, fn: Callable[..., object], kind: type) -> Any:
        """Return the function that a `singledispatch` function has for a type."""
        path = self.path_of(fn) or Path(Holder(fn), fn.__name__)
        return self.read(path.step("call", ("dispatch", (kind,), ())))

    def module(self, name: str) -> Any:
        """Return an imported module, which must be the same one at every call."""
        return self.read(Path(sys.modules, name))

    def constant(self, array: np.ndarray) -> Tracer:
        """Return an array from outside as an input that holds on to it."""
        if id(array) in self.arrays:
            return self.arrays[id(array)][1]
        made = self._array(Path(Holder(array), "constant"), array)
        self.constant_sizes.update(v for d in made.dims for v in dim_values(d))
        return made

    def known_inputs(self) -> dict[Value, Leaf]:
        """Return the captured arrays and numbers by the inputs that stand for them.

        Variables and tape values are left out, as other calls differentiate by them, and so are
        generators, which give other numbers at each draw.
        """
        recorded = {value for _, _, _, value in self.recorded.values()}
        return {leaf.value: leaf for leaf in self.leaves
                if leaf.value not in recorded and not is_generator(leaf.content)}

    def freeze(self, x: object) -> list[type]:
        """Guard the content, in depth, of an object from outside: code that no guard sees reads it.

        Returns the types of objects in it into which no guard sees.
        """
        if id(x) in self.paths and id(x) not in self.frozen and not is_unchanging(x):
            self.frozen.add(id(x))
            content = Content(x)
            self.guards.append(Guarded(self.paths[id(x)][1], content))
            if content.computes:
                self.precision()
            if content.draws:
                self.drawing.append((x, content))
            return [kind for kind in content.opaque if is_opaque(kind)]
        return []

    def has_drawn(self) -> bool:
        """Return whether uncaptured code has moved a generator on that an object holds."""
        return not all(content.holds(x) for x, content in self.drawing)

    def as_result(self, x: object) -> tuple[Any, Any]:
        """Return an object that is a part of the result, and how a call comes by it.

        Every call returns the object itself (None), reads it along a path, or makes one (`New`).
        """
        return x, self.copies.get(id(x)) or new_at_each_call(x, self._outside)

    def _outside(self, x: object) -> Any:
        """Return an object from outside, or the path to the original of a copy; None for others."""
        return self.copies.get(id(x)) or (x if id(x) in self.paths else None)

    def is_from_outside(self, x: object) -> bool:
        """Return whether a container or object was there before the capture."""
        return id(x) in self.containers or id(x) in self.paths

    def refuse_changed(self, fn: Callable[..., object] | None = None) -> None:
        """Refuse state that uncaptured code has changed since captured code read it."""
        for require_same in self.running.unseen.values():
            require_same()
        refuse_changed(self.leaves, self.guards, self.first_read, fn)

    def refuse_change(self, x: object) -> None:
        """Refuse to change a container or object that came from outside."""
        if self.is_from_outside(x):
            raise refuse(f"changing a {type(x).__name__} from outside of the captured function",
                         "Return the new value instead, or work on a copy made inside", "TJ401")
        _, is_opened = self.passed.get(id(x), (None, False))
        if is_opened:
            raise refuse(f"changing a {type(x).__name__} that a gradient is by, or that belongs "
                         "to such an object", "Return the new value instead, or work on a copy "
                         "made inside", "TJ401")
        if self.is_given_twice(x):
            raise refuse(f"changing a {type(x).__name__} that is an argument twice",
                         "Pass a copy, or return the new value instead", "TJ401")
        if id(x) in self.passed:
            raise refuse(f"changing a {type(x).__name__} of the arguments, which jit gives back in "
                         "arrays only", "Return the new value instead, or work on a copy", "TJ401")


class FixedCaptures(Captures):
    """The state that a registered gradient reads outside, after the capture: guarded, no input."""

    def __init__(self, guards: list[Guarded]) -> None:
        super().__init__(_no_input)
        self.guards = guards

    def _enter(self, path: Path, content: object) -> Any:
        if is_number(content):
            self.guards.append(Guarded(path, content))
            return content
        return super()._enter(path, content)


def _no_input(content: object, path: Path, name: str) -> Any:
    raise refuse(f"a gradient function reads the array {name!r} from outside",
                 "Make it an input of the op", "TJ505")
