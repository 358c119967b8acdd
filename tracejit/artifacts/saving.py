"""From a compiled program to an artifact: its files, and the manifest of all that it depends on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from tracejit.artifacts.code import Keepable
from tracejit.artifacts.fingerprints import (
    Unstorable,
    fingerprint,
    functions_in,
    is_users,
    require_one_main,
)
from tracejit.artifacts.manifest import interface_text
from tracejit.artifacts.places import Missing, PlaceWriter, find_named
from tracejit.artifacts.request import (
    describe_request,
    function_name,
    is_record,
    kind_text,
    kinds_in,
    slot_of,
    spec_text,
)
from tracejit.artifacts.sharing import alike, chains
from tracejit.configuration import settings
from tracejit.store.housekeeping import tidy
from tracejit.store.store import find_store
from tracejit.trace.ground.dependencies import Dependencies
from tracejit.trace.state.guards import (
    ABSENT,
    Content,
    Different,
    Guarded,
    HeldElements,
    Same,
    Shape,
)
from tracejit.trace.state.outer_reads import is_generated
from tracejit.trace.state.paths import FunctionRoot, Leaf, is_users_type
from tracejit.trace.values.specs import spec_of_leaf

if TYPE_CHECKING:
    from tracejit.program.interface import Interface
    from tracejit.program.request import Request

__all__ = ["artifact_of", "save_artifact"]

LOG = logging.getLogger("tracejit")


def save_artifact(call: Request, compiled: Keepable,
                  dependencies: Dependencies) -> None:
    """Put a program that was compiled for a call into the store, unless that cannot be."""
    store = find_store()
    if store is None or settings().verify or settings().debug_nans or (
            settings().debug_info):
        return
    try:
        manifest, files = artifact_of(call, compiled, dependencies)
    except Unstorable as e:
        call.function._unstored = str(e)
        LOG.debug("%s is not kept for other processes: %s", compiled.interface.name, e)
        return
    except Exception as e:  # the program itself is there, and serves this process
        LOG.warning("%s is not kept for other processes, by a fault of tracejit: %s",
                    compiled.interface.name, e, exc_info=bool(settings().debug))
        return
    store.put(slot_of(manifest["request"]), manifest, files)
    tidy(store)


def artifact_of(call: Request, compiled: Keepable,
                dependencies: Dependencies) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return manifest and files; `Unstorable` where another process could not use them."""
    request = describe_request(call.function.transform, call.specs, call.structure)
    if dependencies.impure:
        raise Unstorable("it calls " + ", ".join(dependencies.impure) + " while it is captured, "
                         "whose result may be another one in another process")
    fn, interface = call.function.transform.fn, compiled.interface
    code, files = compiled._kept_code()
    manifest = {
        "request": request, "function": fingerprint(fn), **code,
        "rules": {name: None if rule is None else fingerprint(rule)
                  for name, rule in dependencies.rules.items()},
        **_ManifestWriter(fn, interface, call, dependencies).parts(),
    }
    return manifest, {**files, "graph.txt": str(compiled.graph).encode(),
                      "why.txt": compiled.why().encode()}


class _ManifestWriter:
    """Writes a program's guards and captured state, and its interface."""

    def __init__(self, fn: Callable[..., object], interface: Interface, call: Request,
                 dependencies: Dependencies) -> None:
        self.fn, self.interface, leaves = fn, interface, call.leaves
        self.guards = [g for g in interface.guards if not isinstance(g.path.root, FunctionRoot)]
        contents = [g.content for g in self.guards]
        self.places = PlaceWriter(fn, contents, leaves)
        self.leaves = [s for s in interface.sources if isinstance(s, Leaf)]
        self.known: dict[CodeType, Any] = {}
        """By code, how the function is found that the code is of."""
        for owner, x in (("function", fn), *enumerate(contents)):
            self._cover(functions_in(x), ["held", owner])
        for k, x in enumerate(leaves):
            self._cover(functions_in(x), ["argument", k])
        for name, rule in dependencies.rules.items():
            self._cover(functions_in(rule), ["rule", name])
        self.captured = dependencies.functions
        self.held = [fn, *leaves, *kinds_in(call.structure), *contents]
        for x in (*self.held, *self.captured, *dependencies.rules.values()):
            require_one_main(x, self.places.main)
        self.named = self._name_others(dependencies.functions)
        for f in self.captured:
            fingerprint(f)  # or `Unstorable`

    def parts(self) -> dict[str, Any]:
        """Return guards, captured state, other functions and interface."""
        return {"alike": alike(self.held), "chains": chains(self.held),
                "guards": [[self.places.text(g.path), self._guard(g)] for g in self.guards],
                "leaves": [[self.places.text(x.path), spec_text(spec_of_leaf(x.content))]
                           for x in self.leaves],
                "functions": self.named, "captured": self._captured(),
                "interface": interface_text(self.interface, self.leaves, self.known.get,
                                            self.places.of_class)}

    def _cover(self, functions: Sequence[FunctionType], where: list[object]) -> None:
        for k, f in enumerate(functions):
            self.known.setdefault(f.__code__, [*where, k])

    def _name_others(self, functions: Iterable[FunctionType]) -> list[list[str]]:
        """Return names and fingerprints of the functions that nothing else vouches for."""
        named = []
        inner = {c for code in self.known for c in _codes_in(code)}
        for f in functions:
            if f.__code__ in self.known or f.__code__ in inner:
                continue
            name = function_name(f)
            try:
                found = find_named(name, self.places.main)
                k = functions_in(found).index(f)
            except (Missing, ValueError):
                raise Unstorable(f"it goes through the function {f.__qualname__}, which no name "
                                 "leads to") from None
            self.known[f.__code__] = ["named", name, k]
            inner |= set(_codes_in(f.__code__))
            named.append([name, fingerprint(found)])
        return named

    def _captured(self) -> list[Any]:
        """Return how the functions are found whose code and defaults calls have to look at."""
        return [self.known[f.__code__] for f in self.captured if f.__code__ in self.known]

    def _guard(self, guard: Guarded) -> Any:
        x = guard.content
        if x is ABSENT:
            return ["absent"]
        if isinstance(x, Same):
            return ["same", self.places.text(x.path)]
        if isinstance(x, Shape):
            items = x.items if isinstance(x.items, int) else list(x.items)
            if not isinstance(items, int) and not all(type(k) in (str, int) for k in items):
                raise Unstorable("a dict has keys that are neither strings nor numbers")
            if is_record(x.type):
                return ["record", fingerprint(x.type), items]
            return ["shape", kind_text(x.type), items]
        if isinstance(x, Content):
            raise Unstorable(f"{guard.path} is read by code that no guard sees")
        if isinstance(x, Different):
            raise Unstorable(f"that {guard.path} is another object than {x.path} decided on the "
                             "program")
        if isinstance(x, HeldElements):
            raise Unstorable(f"the elements of {guard.path} decided on the program")
        is_object = is_users_type(type(x)) and not isinstance(x, type)  # its calls are captured
        for f in () if is_object else functions_in(x):
            if is_users(f.__globals__.get("__name__")) and f not in self.captured and (
                    not is_generated(f.__code__)):  # a data class's method reads its attributes
                raise Unstorable(f"it reads the function {f.__qualname__} without going through "
                                 "it, and what that may read no guard sees")
        return ["is", fingerprint(x)]


def _codes_in(code: CodeType) -> Iterable[CodeType]:
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield x
            yield from _codes_in(x)
