"""Memory of arrays: got where its size is known, filled by copies where arrays change places."""

from __future__ import annotations

from collections.abc import Iterable

from tracejit.codegen.buffers import Buffer
from tracejit.codegen.elements import is_array
from tracejit.codegen.frame import KernelFrame
from tracejit.codegen.logs import Logs
from tracejit.codegen.loop_ir import Assign
from tracejit.codegen.nests import Nests
from tracejit.codegen.scalar_code import ScalarCode
from tracejit.ir.core import Atom, Value
from tracejit.ir.dims import Dim, dim_values

__all__ = ["BufferMemory"]


class BufferMemory:
    """Gets the memory of buffers, and copies arrays to where others are."""

    def __init__(self, frame: KernelFrame, code: ScalarCode, nests: Nests, logs: Logs) -> None:
        self.frame, self.code, self.nests, self.logs = frame, code, nests, logs

    def prepare(self, buffer: Buffer, size: Dim | None = None) -> None:
        """Get the memory of a buffer whose size is only known here; it is kept between uses.

        The result of a branch on data may have a size that only the branches know.
        """
        scopes = self.frame.scopes
        if buffer.kind != "dynamic" or any(buffer in scope.ready for scope in scopes):
            return
        if size is None:
            size = buffer.size
            if not all(v in self.frame.names for v in dim_values(size)):
                return
        scopes[-1].ready.add(buffer)
        if buffer.number < 0:
            buffer.number = self.logs.number_of_memory(buffer.dtype)
        eqn = self.frame.elements.makers.get(buffer.values[0])
        self.logs.reserve(buffer.number, self.code.dim(size), eqn)
        self.frame.add(Assign(buffer.name, self.logs.base(buffer.number)))

    def copy_all(self, pairs: Iterable[tuple[Atom, Value]], why: str) -> None:
        """Copy arrays to the places of others, all at once: an array still to be read is saved."""
        buffers = self.frame.buffers
        pending = [(a, v) for a, v in pairs if is_array(v) and not buffers.shares(a, v)]
        while pending:
            ready = next((k for k, (_, v) in enumerate(pending)
                          if not any(self._reads(a, buffers.of[v]) for a, _ in pending)), None)
            if ready is None:
                a, v = pending[0]
                pending[0] = self._saved(a), v
                continue
            a, v = pending.pop(ready)
            self.nests.copy(a, v, buffers.of[v], self.frame.elements.why_copied(a, why))

    def _reads(self, a: Atom, buffer: Buffer) -> bool:
        of = self.frame.buffers.of
        return any(of.get(v) is buffer for v in self.frame.elements.leaves(a))

    def _saved(self, a: Atom) -> Value:
        """Copy an array to memory of its own."""
        v = Value(a.aval)
        labels = self.frame.labels
        self.frame.elements.stored[v] = "kept while arrays exchange places"
        labels[v] = "kept" + (labels[a] if isinstance(a, Value) else "")
        buffer = self.frame.buffers.make_inner(v)
        buffer.name = self.frame.fresh(labels[v])
        self.prepare(buffer)
        self.nests.copy(a, v, buffer, "arrays exchange places")
        return v
