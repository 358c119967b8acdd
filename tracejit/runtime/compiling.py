"""Steps that compiling for CPU and devices shares: files for users to read, and faults."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracejit.configuration import settings
from tracejit.errors import CompileError, TracejitError
from tracejit.program.forks import require_whole
from tracejit.runtime.program import Program
from tracejit.signals import keeping_signals

__all__ = ["dump", "faults_of_ours"]


@contextmanager
def faults_of_ours(what: str) -> Iterator[None]:
    """Turn an exception from inside of codegen into one that says whose fault it is."""
    require_whole()
    try:
        with keeping_signals() as raised:
            yield
    except TracejitError:
        raise
    except Exception as e:
        if e in raised:
            raise
        cause = e if settings().debug else None
        raise CompileError(
            f"{what} ({type(e).__name__}). This is a fault of tracejit, please report it; "
            "TRACEJIT_DEBUG=1 shows its cause, and tracejit.config(disable_jit=True) runs the "
            "program in the interpreter") from cause


def dump(program: Program, stage: str, text: object) -> None:
    """Write a stage of a program to the directory for dumps, if there is one.

    Files are named by the function, the digest of its graph before all passes, and the stage; so
    they are there as soon as the stage is, even if the next one fails.
    """
    folder = settings().dump
    if folder is None:
        return
    kind = f"{program.graph} {program.options} {settings().verify}"
    digest = hashlib.blake2b(kind.encode(), digest_size=6).hexdigest()
    name = re.sub(r"\W+", "_", program.name).strip("_")
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    (path / f"{name}_{digest}.{stage}").write_text(str(text).rstrip("\n") + "\n", encoding="utf-8")
