"""The workspace that calls of a program on one stream share: kernels, memory, captured launches."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.codegen.cuda.program import CONTEXT
from tracejit.program.cuda.parameters import CONTEXT_DTYPE, DeviceSpan, Packing
from tracejit.program.cuda.resources import Device, Resource
from tracejit.program.cuda.streams import Stream

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram, Planned

__all__ = ["PARTS", "ArenaLayout", "Workspace", "release_kept"]

PARTS = 1024
"""Blocks of a grid that folds: as many parts are folded afterwards."""
ALIGNMENT = 256
CAPTURED = 16
"""Sequences of launches that are remembered, per program and stream."""
LONGEST, SHORTEST = 4096, 2
"""Launches of a sequence that is captured; a single one is as fast without."""

_WORKSPACES: weakref.WeakSet[Workspace] = weakref.WeakSet()


class ArenaLayout:
    """Where the arrays of a call lie in one block of memory.

    The head comes first: the context, scalars that kernels hand on, and results without axes, all
    that the host may ask for, so that one small copy brings it.

    places -- per array where it begins, how many elements it has, and their dtype
    head   -- bytes of the head
    nbytes -- bytes of the block
    """

    nbytes: int

    def __init__(self, program: DeviceProgram, plan: Planned, capacities: Sequence[int]) -> None:
        _, shapes, arena, _ = plan
        self.places: dict[str, tuple[int, int, np.dtype]] = {}
        self.nbytes = 0
        self._add("ctx", CONTEXT + len(program.logs), CONTEXT_DTYPE)
        for name, (dtype, count) in program.arrays.items():
            if count:
                self._add(name, count, dtype)
        for (name, dtype, _), shape in zip(program.outputs, shapes, strict=True):
            if not shape:
                self._add(name, 1, dtype)
        self.head = self.nbytes
        for name, (dtype, count) in program.arrays.items():
            if not count:
                self._add(name, PARTS, dtype)
        for k, dtype in enumerate(program.logs):
            self._add(f"logmem{k}", capacities[k], dtype)
        start = self.nbytes
        for (name, dtype), (at, nbytes) in zip(program.arena, arena, strict=True):
            self.places[name] = start + at, max(1, nbytes // dtype.itemsize), dtype
        self.nbytes = start + plan[3]

    def _add(self, name: str, count: int, dtype: np.dtype) -> None:
        self.places[name] = self.nbytes, count, dtype
        self.nbytes += -(-count * dtype.itemsize // ALIGNMENT) * ALIGNMENT


class Workspace:
    """The memory that calls of a program on one stream of a device share; one call at a time.

    kernels -- per kernel its function, and room for its parameters
    """

    device: Device
    stream: Stream
    lock: Any
    kernels: dict[str, tuple[Any, Packing]]

    def __init__(self, program: DeviceProgram, device: Device, stream: Stream,
                 functions: dict[str, object]) -> None:
        self.device, self.stream = device, stream
        self.lock = threading.RLock()
        self.kernels = {name: (functions[name], Packing(parameters))
                        for name, parameters in program.kernels.items()}
        self._block: Resource | None = None
        self._pinned: tuple[Resource, np.ndarray] | None = None
        self._spans: dict[ArenaLayout, dict[str, DeviceSpan]] = {}
        self._rooms: dict[str, Resource] = {}
        self._known: OrderedDict[Any, Resource | int] = OrderedDict()
        """Sequences of launches: captured, or of how many launches one is."""
        _WORKSPACES.add(self)

    # --- memory -----------------------------------------------------------------------------------

    def spans(self, layout: ArenaLayout) -> dict[str, DeviceSpan]:
        """Return the arrays of a layout, in the block that is kept."""
        if self._block is None or self._block.nbytes < layout.nbytes:
            self._forget()
            self._block = None  # the old block goes before more is asked for
            self._block = self.device.allocate(layout.nbytes, self.stream)
            self.device.clear(self._block.handle, layout.head, self.stream.handle)
        found = self._spans.get(layout)
        if found is None:
            start = self._block.handle
            found = self._spans[layout] = {name: DeviceSpan(start + at, count, dtype) for
                                           name, (at, count, dtype) in layout.places.items()}
        return found

    def head(self, nbytes: int) -> np.ndarray:
        """Return pinned memory of the host for the head of the block."""
        if self._pinned is None or len(self._pinned[1]) < nbytes:
            self._pinned = self.device.pinned(nbytes)
        return self._pinned[1][:nbytes]

    def room(self, name: str, count: int, dtype: np.dtype) -> DeviceSpan:
        """Return memory of the threads of a kernel, kept as well."""
        nbytes = max(1, count) * dtype.itemsize
        if name not in self._rooms or self._rooms[name].nbytes < nbytes:
            self._forget()
            self._rooms.pop(name, None)
            self._rooms[name] = self.device.allocate(nbytes, self.stream)
        return DeviceSpan(self._rooms[name].handle, count, dtype)

    def release(self) -> None:
        """Give the memory back."""
        self._forget()
        self._rooms.clear()
        self._block = None

    def _forget(self) -> None:
        """Forget the sequences and spans that name addresses of freed memory."""
        self._known.clear()
        self._spans.clear()

    # --- sequences of launches --------------------------------------------------------------------

    def launch(self, key: object, launches: Callable[[int], int]) -> None:
        """Launch a sequence: as captured, where it is the same as before.

        key      -- the addresses and numbers that it depends on; None: it cannot be captured
        launches -- launches it on a stream, and returns the number of launches

        The first time it is launched one by one, the second time captured.
        """
        known = self._known.get(key) if key is not None else None
        if isinstance(known, int) and SHORTEST <= known <= LONGEST:
            self._known[key] = known = self.device.capture(launches) or 0
        if isinstance(known, Resource):
            self._known.move_to_end(key)
            self.device.replay(known, self.stream.handle)
            return
        count = launches(self.stream.handle)
        if key is not None and known is None:
            self._known[key] = count
            while len(self._known) > CAPTURED:
                self._known.popitem(last=False)


def release_kept(device: Device) -> None:
    """Give back the memory that programs keep between calls, of programs that no call is using."""
    _release([w for w in _WORKSPACES if w.device is device])


def release_all() -> None:
    """Give back the memory that programs keep on any device."""
    _release(list(_WORKSPACES))


def _release(workspaces: list[Workspace]) -> None:
    for workspace in workspaces:
        if workspace.lock.acquire(blocking=False):
            try:
                workspace.release()
                workspace.device.trim(workspace.stream.handle)
            finally:
                workspace.lock.release()
