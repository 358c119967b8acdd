#!/usr/bin/env -S uv run
# /// script
# dependencies = ["nox>=2025.2"]
# ///
"""Sessions on several Pythons and dependencies: `nox -s tests-3.13 oldest wheel`.

`make` has all that needs one environment; nox makes others. A session of a Python that is not here
is skipped.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nox

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
nox.needs_version = ">=2025.2"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the tests with the newest dependencies that this Python has."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-q", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session(python=PYTHONS[0], default=False)
def oldest(session: nox.Session) -> None:
    """Run the tests with the oldest dependencies that pyproject.toml allows."""
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["scipy"]]
    session.install("-e", ".[dev]")
    session.install(*[re.sub(r">=([\d.]+)$", r"==\1.*", text) for text in asked])
    session.run("pytest", "-q", "-n", "auto", "--dist", "worksteal", *session.posargs)


@nox.session(python=PYTHONS, default=False)
def wheel(session: nox.Session) -> None:
    """Build the distributions, check them, and use the wheel where there is nothing else."""
    session.install("build", "twine")
    out = session.create_tmp()
    session.run("python", "-m", "build", "--outdir", out)
    built = sorted(map(str, Path(out).glob("*")))
    session.run("twine", "check", "--strict", *built)
    session.install(next(path for path in built if path.endswith(".whl")))
    program = "import tracejit; print(tracejit.grad(square)(3.0))"
    script = Path(out) / "square.py"
    script.write_text(f"def square(x):\n    return x * x\n\n\n{program}\n", encoding="utf-8")
    session.chdir(out)
    session.run("python", "square.py")


if __name__ == "__main__":
    nox.main()
