"""What came of the samples, as a page: counts, and why what is not equal is not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

__all__ = ["report"]

Row = Sequence[Any]  # op, dtype, number, kind of outcome, detail

FORMS = """\
# PyTorch's samples

`python -m benchmarks.op_db` puts PyTorch's own samples of its functions (`op_db`, {total} entries)
to tracejit: each is written in NumPy or SciPy, in the files beside this page."""

REFERENCES = """\
# PyTorch's references

`python -m benchmarks.op_db --references` puts PyTorch's own references in NumPy of its functions
(`op_db`, {total} entries) to tracejit, on the inputs with which PyTorch tests them: numbers at the
ends of their range, infinities, NaN, shapes that are broadcast."""

PAGE = """\
{head} A sample is equal
where values and dtypes are NumPy's, and the gradient of randomly weighted results, and the gradient
of that gradient, weighted, are those of PyTorch's autograd. Samples are of float64, complex128 and
float32 where the function takes them, at most {limit} of each, interpreted; then one of each
function is compiled, unless the run left this out.

| | |
| --- | ---: |
{counts}

## Refused

{refused}

## Different, and why

{different}

## Not compared

Samples that NumPy or SciPy does not take, or computes as another function than PyTorch:
{others}.

{absent}
"""

ABSENT = """\
Entries without a form in NumPy (random numbers, memory, sparse and quantised tensors, parts of
PyTorch itself, and layers that nobody wrote down here): """


def _by_reason(rows: Sequence[Row]) -> str:
    """Return a table of reasons, with the ops and how many samples."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for op, _, _, _, detail in rows:
        found[detail][op] += 1
    lines = [f"| {detail.replace('|', '/')} | {', '.join(f'`{op}`' for op in ops)} "
             f"| {ops.total()} |" for detail, ops in sorted(found.items())]
    return "\n".join(["| reason | functions | samples |", "| --- | --- | ---: |", *lines])


def _count(rows: Sequence[Row], *kinds: str) -> int:
    return sum(r[3] in kinds for r in rows)


def report(rows: Sequence[Row], names: Sequence[str], limit: int, references: bool) -> str:
    """Return the page, of forms that are written down here or of PyTorch's references."""
    samples = [r for r in rows if r[1] != "compiled"]
    compiled = [r for r in rows if r[1] == "compiled"]
    ops = {r[0] for r in rows}
    equal = {r[0] for r in samples if r[3] == "equal"}
    faulty = {r[0] for r in rows if r[3] in ("differs", "error")}
    others = Counter(r[0] for r in samples if r[3] in ("not NumPy's", "other function"))
    measured = [
        ("functions with a reference" if references else
         "functions with a form in NumPy or SciPy", len(ops)),
        ("of these: some samples equal", len(equal)),
        ("samples", len(samples)),
        ("equal", _count(samples, "equal")),
        ("of these with second gradients",
         sum(r[3] == "equal" and r[4] == "second gradient" for r in samples)),
        ("refused", _count(samples, "refused")),
        ("different for a reason", _count(samples, "explained")),
        ("different or failing without one", _count(samples, "differs", "error")),
        ("not NumPy's, or another function", others.total()),
        ("compiled: equal", _count(compiled, "equal")),
        ("compiled: not equal", len(compiled) - _count(compiled, "equal")),
    ]
    different = _by_reason([r for r in rows if r[3] == "explained"])
    if faulty:
        different += "\n\nWithout a reason: " + "; ".join(
            f"{r[0]} {r[1]} {r[2]}: {r[4]}" for r in rows if r[3] in ("differs", "error"))
    absent = [f"`{name}`" for name in names if name not in ops]
    return PAGE.format(
        head=(REFERENCES if references else FORMS).format(total=len(names)), limit=limit,
        counts="\n".join(f"| {what} | {n} |" for what, n in measured),
        refused=_by_reason([r for r in rows if r[3] == "refused"]), different=different,
        others=", ".join(f"`{op}` ({n})" for op, n in sorted(others.items())) or "none",
        absent=f"Entries without a reference: {len(absent)}." if references else
        ABSENT + ", ".join(absent) + ".")
