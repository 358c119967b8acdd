"""The kernels of a program for a device: their launches, their parameters, their PTX."""

from __future__ import annotations

from collections.abc import Sequence

from tracejit.codegen.cuda.program import Parameter
from tracejit.codegen.cuda.units import Told
from tracejit.errors import DeviceError
from tracejit.inspection.elements import (
    Element,
    Line,
    Paragraph,
    Section,
    TableRow,
    code_of,
    count_text,
    table_of,
)
from tracejit.inspection.subject import Subject
from tracejit.ir.dtypes import dtype_name
from tracejit.runtime.device_stages import DeviceLowered

__all__ = ["kernels_section", "ptx_section", "resources_section"]

LAUNCHED = {
    "grid": "threads stride over the elements",
    "folding": "threads stride over the elements, blocks fold to parts",
    "few": "a thread per iteration, with its memory",
    "rows": "a team of threads per row",
    "columns": "a team of threads per column",
    "halves": "teams of several blocks per column, which leave parts",
    "product": "cuBLAS where it is there, else tiles of 32 by 32",
    "block": "one block folds parts, one thread goes on",
    "one": "one thread",
}
"""The threads of a launch, by the host's function that launches it."""


def kernels_section(subject: Subject, limit: int) -> Section:
    """Return a table of the kernels in the order of their launches, and which wait for data."""
    device = _device(subject)
    program = device.device
    rows = []
    for name, parameters in program.kernels.items():
        called = program.launches(name)
        rows.append(TableRow((name, LAUNCHED.get(called, f"blocks of threads ({called})"),
                         _parameters(parameters), ", ".join(device.emitted.sites(name)),
                              str(device.emitted.lines[name][0]))))
    columns = ("kernel", "launched", "parameters", "your lines", "source line")
    elements = table_of(columns, rows, limit, (columns[0], columns[2], columns[3]), columns[4:])
    waits = sum(isinstance(bound, Told) for control in device.emitted.program.controls()
                for bound in control.bounds)
    if waits:
        elements.append(Paragraph(f"The host waits for the device at {count_text(waits, 'place')}, "
                                  "where a condition or a bound is data."))
    elements += [Paragraph(text) for text in device.emitted.alone()]
    return Section("Kernels", "kernels", elements, count_text(len(rows), "kernel"))


def _device(subject: Subject) -> DeviceLowered:
    assert subject.device is not None
    return subject.device


def _parameters(parameters: Sequence[Parameter]) -> str:
    return ", ".join(f"{p.name}: {dtype_name(p.dtype)}{'[]' * p.is_array}" for p in parameters)


def resources_section(subject: Subject, limit: int) -> Section:
    """Return the report of `ptxas` on each kernel, or why there is none."""
    capability = subject.capability
    title = f"Resources, for compute capability {capability[0]}.{capability[1]}"
    try:
        table = _device(subject).resources(capability)
    except DeviceError as e:
        return Section(title, "resources", [Paragraph(str(e))], "not known")
    spilled = sum(r.spill_stores + r.spill_loads > 0 for r in table.values())
    elements: list[Element] = table_of(table.HEADS, [TableRow(row) for row in table.rows()], limit,
                                       table.HEADS[:1], table.HEADS[1:6])
    elements.append(Paragraph("Registers, bytes of spills and local memory are those of a thread, "
                              "shared memory that of a block; occupancy is for full blocks."))
    return Section(title, "resources", elements,
                   f"{count_text(spilled, 'kernel')} with spills" if spilled else "no spills")


def ptx_section(subject: Subject, limit: int) -> Section:
    """Return the PTX of each kernel."""
    try:
        ptx = _device(subject).ptx(subject.capability)
    except DeviceError as e:
        return Section("PTX", "ptx", [Paragraph(str(e))], "not there")
    parts = [Section(name, "", code_of(list(map(Line, text.splitlines())), limit),
                     count_text(text.count("\n"), "line")) for name, text in ptx.items()]
    return Section("PTX", "ptx", parts, f"of {count_text(len(parts), 'kernel')}")
