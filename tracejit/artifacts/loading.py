"""From an artifact to a program that can be called: checked against this process, then loaded.

Neither Numba nor the tracer is imported. State that does not agree with the manifest is a miss,
with the reason.
"""

from __future__ import annotations

import builtins
import ctypes
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.artifacts.code import device_program
from tracejit.artifacts.fingerprints import (
    Unstorable,
    fingerprint,
    functions_in,
    require_one_main,
)
from tracejit.artifacts.manifest import InterfaceReader
from tracejit.artifacts.places import Missing, PlaceReader, find_named
from tracejit.artifacts.request import KINDS, describe_request, kinds_in, slot_of
from tracejit.artifacts.sharing import alike, chains
from tracejit.configuration import settings
from tracejit.errors import Refusal
from tracejit.program.interface import Interface
from tracejit.program.invocation import Invocation
from tracejit.store.environment import (
    describe_device_environment,
    describe_environment,
    describe_portable,
)
from tracejit.store.store import Artifact, find_store
from tracejit.store.symbols import BadObject, undefined_symbols
from tracejit.trace.ground.modules import replaced
from tracejit.trace.state.guards import ABSENT, Guarded, Same, Shape, guards_of_function
from tracejit.trace.state.paths import Leaf, Path
from tracejit.trace.values.specs import spec_of_leaf

if TYPE_CHECKING:
    from tracejit.program.request import Request
    from tracejit.program.specialisation import Runner

__all__ = ["Program", "describe_misses", "load_artifacts", "load_object_code", "load_program",
           "load_runner", "lock_of", "reasons", "require_environment", "require_portable"]

LOG = logging.getLogger("tracejit")

Program = tuple[Interface, "Runner"]
"""An interface, and the runner of the program."""


def load_artifacts(call: Request) -> Iterator[Program]:
    """Yield the stored programs that hold for a call as far as sizes do not matter."""
    store = find_store()
    if store is None or not _is_used():
        return
    slot = _slot(call)
    if slot is None:
        return
    for text in replaced():
        LOG.debug("stored programs do not serve: %s", text)
        return
    for artifact in store.candidates(slot):
        try:
            yield load_program(artifact, call)
            artifact.touch()
        except (Missing, Unstorable) as e:
            LOG.debug("the stored program %s does not serve: %s", artifact.key, e)
        except Exception as e:  # for any fault of it: the program can be made again
            store.drop(artifact.slot, artifact.key, e)


def reasons(call: Request) -> list[tuple[str, str]]:
    """Return, per stored program for such calls, its key and why it does not serve; "" if it does.

    Raises `Unstorable` where there can be none.
    """
    store = find_store()
    slot = slot_of(describe_request(call.function.transform, call.specs, call.structure))
    found = []
    for artifact in [] if store is None else store.candidates(slot):
        try:
            load_program(artifact, call)
            found.append((artifact.key, ""))
        except (Missing, Unstorable, BadObject, OSError, KeyError, TypeError, ValueError) as e:
            found.append((artifact.key, str(e)))
    return found


def describe_misses(call: Request) -> str:
    """Return, line by line, why no stored program serves a call that found none."""
    if find_store() is None:
        return "it is switched off"
    if not _is_used():
        return "it is not asked, as settings ask for more than it holds"
    try:
        found = reasons(call)
    except Unstorable as e:
        return f"such calls are not kept: {e}"
    lines = [f"{key} does not serve: {reason or 'it was made for other sizes'}"
             for key, reason in found]
    return "\n".join(lines) or "nothing was kept for such calls"


def lock_of(call: Request) -> AbstractContextManager[bool]:
    """Return a context in which no other process makes this program; whether one did meanwhile."""
    store = find_store()
    slot = _slot(call) if store is not None and _is_used() else None
    return nullcontext(False) if store is None or slot is None else store.making(slot)


def _is_used() -> bool:
    """Whether stored programs serve: these modes need the graph, or other code."""
    now = settings()
    return not (now.verify or now.disable_jit or now.debug_nans or now.debug_info)


def _slot(call: Request) -> str | None:
    try:
        return slot_of(describe_request(call.function.transform, call.specs, call.structure))
    except Unstorable as e:
        call.function._unstored = str(e)
        return None


def load_program(artifact: Artifact, call: Request) -> Program:
    """Check an artifact and load it; `Missing` with the reason where it does not hold here."""
    m = artifact.manifest
    require_environment(m["environment"])
    if m["function"] != fingerprint(call.function.transform.fn):
        what = "a class" if functions_in(call.function.transform.fn) == [] else "a default"
        raise Missing(f"the code or {what} of {m['request']['function']} has changed")
    reader = _ManifestReader(m, call)
    for name, known in m["functions"]:
        if fingerprint(find_named(name, reader.places.main)) != known:
            raise Missing(f"the code of {name} has changed")
    _require_rules(m["rules"])
    reader.check()
    interface = reader.interface()
    return interface, load_runner(m, artifact.file, interface, is_same_device=True)


def require_environment(known: dict[str, str]) -> None:
    """Raise `Missing` where versions or the processor differ."""
    here = describe_device_environment() if "device format" in known else describe_environment()
    _require_same(known, here, {*known, *here})


def require_portable(known: dict[str, str]) -> None:
    """Raise `Missing` where versions differ that a program for a device asks of any machine."""
    here = describe_portable()
    _require_same(known, here, here)


def _require_same(known: dict[str, str], here: dict[str, str], names: Iterable[str]) -> None:
    for name in sorted(names):
        if known.get(name) != here.get(name):
            raise Missing(f"{name} is {here.get(name)}, and was {known.get(name)}"
                          if len(here.get(name, "")) < 80 else f"{name} has changed")


def _require_rules(rules: dict[str, str | None]) -> None:
    if not rules:
        return
    calls = sys.modules.get("tracejit.ops.calls")
    for name, known in rules.items():
        rule = None if calls is None else calls.GRADIENTS.get(name)
        if known is None:
            if calls is None or name not in calls.NOT_DIFFERENTIABLE or rule is not None:
                raise Missing(f"op type {name!r} is no longer marked as not differentiable")
        elif rule is None or fingerprint(rule) != known:
            raise Missing(f"the registered gradient of op type {name!r} has changed")


class _ManifestReader:
    """Reads a program's guards and captured state, and its interface, from a manifest."""

    def __init__(self, manifest: dict[str, Any], call: Request) -> None:
        self.manifest, self.call = manifest, call
        self.contents: dict[int, Any] = {}
        fn = call.function.transform.fn
        self.places = PlaceReader(fn, self._content, call.leaves)
        self.guards: list[Guarded] = []
        self.leaves: list[Leaf] = []

    def _content(self, k: int) -> Any:
        if k not in self.contents:
            self.contents[k] = self._read(self.places.path(self.manifest["guards"][k][0]))
        return self.contents[k]

    def _read(self, path: Path) -> Any:
        try:
            return path.read()
        except Exception:  # of the user's: a property's, say
            raise Missing(f"{path} is not here") from None

    def check(self) -> None:
        """Raise `Missing` unless guards and shared objects are as the capture found them."""
        for k, (text, known) in enumerate(self.manifest["guards"]):
            path = self.places.path(text)
            if known[0] == "absent":
                self.guards.append(Guarded(path, ABSENT))
                if not self.guards[-1].holds():
                    builtin = hasattr(builtins, path.name)
                    raise Missing(f"{path} is there now"
                                  f"{', and was the builtin' if builtin else ''}")
                continue
            kept, good = self._compare(self._content(k), known)
            if not good:
                raise Missing(f"{path} has changed")
            self.guards.append(Guarded(path, kept))
        self._check_sharing()
        for text, (kind, dtype, ndim) in self.manifest["leaves"]:
            path = self.places.path(text)
            content = self._read(path)
            spec = spec_of_leaf(content)
            if (spec.kind, spec.ndim) != (kind, ndim) or spec.dtype != np.dtype(dtype):
                raise Missing(f"{path} is of another kind")
            self.leaves.append(Leaf(path, content))

    def _compare(self, content: object, known: Sequence[Any]) -> tuple[Any, bool]:
        """Return the object of a guard, and whether it fits the manifest's description."""
        kept: Any = content
        if known[0] == "same":
            kept = Same(self.places.path(known[1]))
            return kept, self._read(kept.path) is content
        if known[0] == "record":
            kept = Shape(type(content), known[2])
            return kept, fingerprint(type(content)) == known[1] and kept.holds(content)
        if known[0] == "shape":
            kept = Shape(KINDS[known[1]], known[2] if isinstance(known[2], int)
                         else tuple(known[2]))
            return kept, kept.holds(content)
        return kept, fingerprint(content) == known[1]

    def _check_sharing(self) -> None:
        """Raise `Missing` unless names stand for one object where they did."""
        held = [self.call.function.transform.fn, *self.call.leaves,
                *kinds_in(self.call.structure), *[g.content for g in self.guards]]
        for x in held:
            require_one_main(x, self.places.main)
        if alike(held) != self.manifest["alike"]:
            raise Missing("other names stand for one object")
        if chains(held) != self.manifest["chains"]:
            raise Missing("a closure leads to other functions")

    def interface(self) -> Interface:
        """Return the interface; guards and captured state have been checked."""
        for where in self.manifest["captured"]:
            self.guards += guards_of_function(self.function(where))
        return InterfaceReader(self.manifest["interface"], self.leaves, self.guards,
                               self.function, self.places.to_class).interface()

    def function(self, where: Any) -> Any:
        """Return the Python function that a line is in, or None."""
        if where is None:
            return None
        kind, owner, k = where
        if kind == "held":
            x = self.call.function.transform.fn if owner == "function" else self._content(owner)
        elif kind == "argument":
            x = self.call.leaves[owner]
        elif kind == "named":
            x = find_named(owner, self.places.main)
        else:
            x = sys.modules["tracejit.ops.calls"].GRADIENTS[owner]
        return functions_in(x)[k]


# --- object code --------------------------------------------------------------------------------

_LOADED: dict[str, tuple[int, int]] = {}


def load_runner(m: dict[str, Any], file: Callable[[str], bytes], interface: Interface, *,
                is_same_device: bool = False) -> Runner:
    """Return the runner of the program that a manifest and files hold.

    file           -- gives the content of a file by its name
    is_same_device -- whether a device has to have the compute capability that PTX was made for, and
                      not a higher one
    """
    if "device" in m:
        from tracejit.program.cuda.invocation import DeviceInvocation

        _require_capability(m["device"]["capability"], is_same=is_same_device)
        return DeviceInvocation(device_program(m, file), interface)
    addresses = _LOADED.get(m["symbol"])
    if addresses is None:
        addresses = load_object_code(m["symbol"], file("object.o"), m["needs"])
    return Invocation(interface, addresses)


def load_object_code(symbol: str, object_code: bytes, needs: dict[str, Any]) -> tuple[int, int]:
    """Return the addresses of a kernel and of its plan in object code, which is loaded once.

    Raises `BadObject` where it is none, `Missing` for a symbol that is not in this process.
    """
    if symbol not in _LOADED:
        import llvmlite.binding as llvm

        from tracejit.codegen.blas_threads import limit_small_calls
        from tracejit.codegen.libraries import bind_functions, find_blas, load_libmvec
        from tracejit.codegen.machine import load_object

        if needs["blas"] is not None and list(find_blas()) != needs["blas"]:
            raise Missing(f"BLAS is {find_blas()[0]}, and was {needs['blas'][0]}")
        names = undefined_symbols(object_code)
        limit_small_calls(names)
        if any(name.startswith("_ZGV") for name in names):
            load_libmvec()
        try:
            bind_functions(names)
        except Refusal as e:
            raise Missing(str(e)) from None
        process = ctypes.CDLL(None)
        for name in names:
            if not (llvm.address_of_symbol(name) or hasattr(process, name)):
                raise Missing(f"the symbol {name} is not in this process")
        engine = load_object(object_code)
        _LOADED[symbol] = (int(engine.get_function_address(symbol)),
                           int(engine.get_function_address(f"{symbol}_plan")))
    return _LOADED[symbol]


def _require_capability(text: str, *, is_same: bool) -> None:
    """Raise `Missing` where the device that is there cannot run PTX for a compute capability.

    is_same -- whether only a device of the same capability will do, which there has to be
    """
    from tracejit.program.cuda.images import (
        capability_of_text,
        capability_text,
        device_capability,
    )

    here, made = device_capability(), capability_of_text(text)
    if is_same and here is None:
        raise Missing("there is no CUDA device")
    if is_same and here is not None and here > made:
        raise Missing(f"it is for compute capability {text}, and the device here has "
                      f"{capability_text(here)}")
    if here is not None and here < made:
        raise Missing(f"its PTX is for compute capability {text} and higher, and the device here "
                      f"has {capability_text(here)}: compile it with compile(capability={here})")
