"""Calling a program on a device: arrays copied in or used in place, kernels launched in order.

A call waits for the device where an answer is asked for: results for NumPy arguments, the status of
a program that can fail, and a loop or branch of the host whose condition is data. Results reach the
caller only where nothing failed.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from tracejit.codegen.cuda.program import CONTEXT
from tracejit.errors import DeviceError
from tracejit.program.cuda.arrays import DeviceArray
from tracejit.program.cuda.devices import current_device
from tracejit.program.cuda.host import DIMS, NUMBERS, Host, Stopped
from tracejit.program.cuda.parameters import CONTEXT_DTYPE, DeviceSpan
from tracejit.program.cuda.resources import Device, OutOfMemory, Resource
from tracejit.program.cuda.streams import current_stream
from tracejit.program.cuda.workspace import ArenaLayout, Workspace, release_kept
from tracejit.program.emitted import define
from tracejit.program.failures import raise_at
from tracejit.program.interface import Interface

if TYPE_CHECKING:
    from tracejit.codegen.cuda.program import DeviceProgram, Planned

__all__ = ["DeviceInvocation"]

PLANS = 64
"""Kinds of shapes and ints for which it is remembered where arrays lie."""


class DeviceInvocation:
    """How to run one program on a device."""

    program: DeviceProgram
    interface: Interface
    can_fail: bool

    def __init__(self, device: DeviceProgram, interface: Interface) -> None:
        self.program, self.interface = device, interface
        self.capacities: tuple[int, ...] = (256,) * len(device.logs)
        self.can_fail = bool(interface.failures) or bool(device.logs)
        self._lock = threading.RLock()
        self._plans: OrderedDict[Any, Planned | None] = OrderedDict()
        self._layouts: OrderedDict[Any, ArenaLayout] = OrderedDict()
        self._functions: dict[Device, dict[str, Any]] = {}
        self._workspaces: dict[Any, Workspace] = {}
        self._launch: Any = None
        self._plan: Any = None

    # --- made once --------------------------------------------------------------------------------

    def fits(self, values: Sequence[object]) -> bool:
        """Return whether shapes, sizes and ints are such that the program holds for them."""
        return self.plan(values)[1] is not None

    def plan(self, values: Sequence[Any]) -> tuple[Any, Planned | None]:
        """Return the numbers of shapes and ints, and the sizes that follow from them."""
        key = tuple([x.shape if ndim else int(x) if dtype.kind in "iub" else None
                     for (_, dtype, ndim), x in zip(self.program.inputs, values, strict=True)])
        with self._lock:
            if key not in self._plans:
                _remember(self._plans, key, self._planned(values))
            return key, self._plans[key]

    def _planned(self, values: Sequence[Any]) -> Planned | None:
        if self._plan is None:
            self._plan = define(self.program.plan, "cuda_plan", DIMS)[1]["plan"]
        given: list[int] = []
        for (_, dtype, ndim), x in zip(self.program.inputs, values, strict=True):
            if ndim:
                given += x.shape
            elif dtype == np.int64:
                given.append(int(x))
        planned: Planned | None = self._plan(*given)
        return planned

    def layout(self, key: object, plan: Planned) -> ArenaLayout:
        """Return where the arrays of a call lie."""
        with self._lock:
            full = key, self.capacities
            if full not in self._layouts:
                _remember(self._layouts, full, ArenaLayout(self.program, plan, self.capacities))
            return self._layouts[full]

    @property
    def launch(self) -> Any:
        """Return the host's function, whose kernels are names."""
        with self._lock:
            if self._launch is None:
                names = define(self.program.source, "cuda", NUMBERS)[1]
                names.update((name, name) for name in self.program.kernels)
                self._launch = names["launch"]
            return self._launch

    @property
    def asks(self) -> bool:
        """Return whether the host's function asks the device for numbers."""
        return "told" in self.launch.__code__.co_names

    def workspace(self, device: Device) -> Workspace:
        """Return the workspace that calls on the current stream share."""
        stream = current_stream()
        with self._lock:
            if device not in self._functions:
                self._functions[device] = device.load(self.program)
            key = device, stream.key
            if key not in self._workspaces:
                self._workspaces[key] = Workspace(self.program, device, stream,
                                                  self._functions[device])
            return self._workspaces[key]

    # --- calls ------------------------------------------------------------------------------------

    def run(self, values: Sequence[object]) -> list[Any]:
        """Run the kernels on the graph's inputs, which fit, and return its outputs."""
        with _clear_errors(self.interface.name):
            device = current_device()
            try:
                return self._run(device, values)
            except OutOfMemory:
                pass  # with the exception goes the memory that the call had allocated
            release_kept(device)
            try:
                return self._run(device, values)
            except OutOfMemory as e:
                raise MemoryError(f"{self.interface.name} needs more memory than the device has "
                                  f"left: {e.nbytes} bytes were asked for") from None

    def _run(self, device: Device, values: Sequence[object]) -> list[Any]:
        workspace = self.workspace(device)
        key, plan = self.plan(values)
        assert plan is not None, "the caller has asked whether it fits"
        with workspace.lock:
            while True:
                with _waiting_if_it_fails(device, workspace.stream.handle):
                    call = _LaunchedCall(self, workspace, plan, self.layout(key, plan), values)
                    needed = call.launch()
                if not needed:
                    return call.outputs()
                self.capacities = tuple([max(c, 2 * n) for c, n in zip(self.capacities, needed,
                                                                       strict=True)])


class _LaunchedCall:
    """One call: its arrays, its copies, and the work that it waits for."""

    def __init__(self, program: DeviceInvocation, workspace: Workspace, plan: Planned,
                 layout: ArenaLayout, values: Sequence[object]) -> None:
        self.program, self.workspace, self.layout = program, workspace, layout
        self.device, self.stream = workspace.device, workspace.stream.handle
        sizes, self.shapes, _, _ = plan
        device = program.program
        self.given = [x for x in values if isinstance(x, DeviceArray)]
        self.stays = bool(self.given)
        self.held: list[Resource] = []
        """Memory of this call alone."""
        self.sources: list[np.ndarray] = []
        """Arrays copied to the device, which have to stay as they are until then."""
        self.arguments: dict[str, Any] = dict(workspace.spans(layout))
        self.arguments.update(zip(device.sizes, sizes, strict=True))
        self.arguments.update((f"logcap{k}", n) for k, n in enumerate(program.capacities))
        for (name, dtype, ndim), x in zip(device.inputs, values, strict=True):
            self.arguments[name] = self._array(x, dtype) if ndim else dtype.type(
                x.item() if isinstance(x, DeviceArray) else x)
        self.results: list[tuple[DeviceSpan, Resource | None]] = []
        for (name, dtype, _), shape in zip(device.outputs, self.shapes, strict=True):
            memory = None
            if shape or self.stays:
                count = int(np.prod(shape))
                memory = self.device.allocate(count * dtype.itemsize, workspace.stream)
                self.arguments[name] = DeviceSpan(memory.handle, count, dtype)
            self.results.append((self.arguments[name], memory))

    def _array(self, x: object, dtype: np.dtype) -> DeviceSpan:
        """Return the elements of an array in a row: where they are, or copied to the device."""
        if isinstance(x, DeviceArray):
            x.ready_for(self.stream)
            return DeviceSpan(x.address, x.size, dtype)
        array = np.require(x, dtype, ["C", "A"])
        memory = self.device.allocate(array.nbytes, self.workspace.stream)
        self.held.append(memory)
        self.device.copy_in(memory.handle, array, self.stream)
        self.sources.append(array)
        return DeviceSpan(memory.handle, array.size, dtype)

    def launch(self) -> list[int]:
        """Launch the kernels; return the room that Logs need where it is not enough."""
        launch = self.program.launch
        names = launch.__code__.co_varnames[1:launch.__code__.co_argcount]
        args = [self.arguments[name] for name in names]
        ctx = self.arguments["ctx"]

        def launches(stream: int) -> int:
            host = Host(self.workspace, ctx, self.layout.head, stream)
            if self.program.can_fail:
                self.device.clear(ctx.address, ctx.count * CONTEXT_DTYPE.itemsize, stream)
                host.launches += 1
            launch(host, *args)
            return host.launches

        key = None if self.program.asks else (self.layout, tuple(map(_identity, args)))
        try:
            self.workspace.launch(key, launches)
        except Stopped:
            pass
        self._finish()
        return self._needed() if self.program.can_fail else []

    def _finish(self) -> None:
        """Copy the results out to the host, and wait for them."""
        for x in self.given:
            x.used_on(self.stream)
        self.host = [np.empty(shape, span.dtype) if memory is not None and not self.stays else None
                     for shape, (span, memory) in zip(self.shapes, self.results, strict=True)]
        for array, (span, _) in zip(self.host, self.results, strict=True):
            if array is not None:
                self.device.copy_out(array, span.address, self.stream)
        needs_head = self.program.can_fail or any(memory is None for _, memory in self.results)
        self.head = np.zeros(0, np.uint8)
        if needs_head:
            self.head = self.workspace.head(self.layout.head)
            self.device.copy_out(self.head, self.arguments["ctx"].address, self.stream)
        if needs_head or self.sources or not self.stays:
            self.device.wait(self.stream)

    def _needed(self) -> list[int]:
        """Return the room that Logs need where it is not enough; raise where the program failed."""
        count = CONTEXT + len(self.program.program.logs)
        status, *numbers = self.head[:8 * count].view(CONTEXT_DTYPE).tolist()
        needed = [int(n) for n in numbers[CONTEXT - 1:]]
        if status and any(needed):
            return needed
        if status:
            failure = self.program.interface.failures[int(status) - 1]
            raise_at(failure.error, failure.message, tuple(numbers[:2]), failure.site)
        return []

    def outputs(self) -> list[Any]:
        """Return the results: all on the device where an argument is there, else copied out."""
        found: list[Any] = []
        start = self.arguments["ctx"].address
        for shape, array, (span, memory) in zip(self.shapes, self.host, self.results, strict=True):
            if array is not None:
                found.append(array)
            elif memory is not None:
                found.append(DeviceArray(self.device, span.address, shape, span.dtype,
                                         self.workspace.stream, memory))
            else:
                at = span.address - start
                found.append(self.head[at:at + span.dtype.itemsize].view(span.dtype)[0])
        return found


def _identity(x: DeviceSpan | int | np.generic) -> Any:
    """Return the identity of an argument for a launch: -0.0 is not 0.0, and NaN is itself."""
    return x.address if isinstance(x, DeviceSpan) else x if isinstance(x, int) else x.tobytes()


def _remember(table: OrderedDict[Any, Any], key: object, value: object) -> None:
    table[key] = value
    while len(table) > PLANS:
        table.popitem(last=False)


@contextmanager
def _waiting_if_it_fails(device: Device, stream: int) -> Iterator[None]:
    """Wait for copies that have begun, before an exception lets go of the host's arrays."""
    try:
        yield
    except BaseException:
        with suppress(DeviceError):  # a lost context does nothing any more
            device.wait(stream)
        raise


@contextmanager
def _clear_errors(name: str) -> Iterator[None]:
    """Say whose call it is that the device cannot carry out."""
    try:
        yield
    except DeviceError as e:
        raise DeviceError(f'{name} has target="cuda": {e}') from None
