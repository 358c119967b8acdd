"""The command: `python -m benchmarks.op_db [--references] [--only NAMES] [--limit N]`."""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from benchmarks.op_db import elementwise, linear_algebra, networks, reductions, shapes
from benchmarks.op_db.check import Outcome, check
from benchmarks.op_db.conventions import THROUGH, WRAPPERS, because
from benchmarks.op_db.references import as_users
from benchmarks.op_db.report import report
from benchmarks.op_db.samples import samples_of

FORMS: dict[str, Callable[..., Any]] = {
    **elementwise.FORMS, **shapes.FORMS, **reductions.FORMS, **linear_algebra.FORMS,
    **networks.FORMS}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.op_db",
                                     description="Put PyTorch's own samples to tracejit.")
    parser.add_argument("--only", metavar="NAMES", help="ops, with commas")
    parser.add_argument("--limit", type=int, default=12, help="samples of an op and dtype")
    parser.add_argument("--part", default="0/1", help="every n-th op from the k-th: 0/2, 1/2")
    parser.add_argument("--references", action="store_true",
                        help="PyTorch's own references in NumPy, and the samples of their tests")
    parser.add_argument("--interpreted", action="store_true", help="compile nothing")
    parser.add_argument("--json", metavar="FILE", type=Path, nargs="*", default=[],
                        help="write the outcomes; with --report read them, of several parts")
    parser.add_argument("--report", action="store_true", help="only write results.md again")
    return parser.parse_args()


def _form_of(op: Any, references: bool) -> Callable[..., Any] | None:
    """Return what an op is in NumPy: PyTorch's own reference, or the form written down here."""
    if references:
        on_gpus = op.name.startswith("jiterator")
        return as_users(op.ref) if callable(op.ref) and not on_gpus else None
    form = FORMS.get(op.formatted_name)
    return form and WRAPPERS.get(op.gradcheck_wrapper.__name__, lambda f: f)(form)


def _outcomes(op: Any, options: argparse.Namespace) -> Iterator[tuple[str, int, Outcome]]:
    """Yield dtype, number and outcome of an op's samples, and of one that is compiled."""
    name = op.formatted_name
    form, through = _form_of(op, options.references), THROUGH.get(name)
    compiled = None
    for dtype, k, sample in samples_of(op, options.limit, options.references):
        seed = zlib.crc32(name.encode()) + k
        outcome = check(form, sample, np.random.default_rng(seed), through, op.supports_gradgrad)
        yield str(dtype)[6:], k, because(name, outcome)
        if compiled is None and outcome.kind == "equal" and all(t.numel() for t in sample.tensors):
            compiled = k, sample
    if not options.interpreted and compiled is not None:
        outcome = check(form, compiled[1], np.random.default_rng(0), through, False, compiled=True)
        yield "compiled", compiled[0], because(name, outcome)


def main() -> None:
    """Check every op that has a form, and print and write what came of it."""
    options = _arguments()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    page = Path(__file__).parent / ("references.md" if options.references else "results.md")
    names = [op.formatted_name for op in op_db]
    rows: list[Any] = []
    if options.report:
        for file in options.json:
            rows += [(op, dtype, k, *because(op, Outcome(kind, detail)))
                     for op, dtype, k, kind, detail in json.loads(file.read_text())]
        page.write_text(report(rows, names, options.limit, options.references))
        return
    part, parts = map(int, options.part.split("/"))
    chosen = [op for op in op_db if _form_of(op, options.references) is not None
              and (not options.only or op.formatted_name in options.only.split(","))][part::parts]
    for op in chosen:
        start, found = time.perf_counter(), []
        for dtype, k, outcome in _outcomes(op, options):
            found.append((op.formatted_name, dtype, k, outcome.kind, outcome.detail))
        counts = ", ".join(f"{n} {kind}" for kind, n in Counter(r[3] for r in found).items())
        print(f"{op.formatted_name:45} {time.perf_counter() - start:6.1f} s  {counts}",
              file=sys.stderr, flush=True)
        rows += found
    text = report(rows, names, options.limit, options.references)
    print(text)
    for file in options.json:
        file.write_text(json.dumps(rows))
    if not options.only and parts == 1:
        page.write_text(text)


if __name__ == "__main__":
    main()
