"""GradBench's evals with a tool: `python -m benchmarks.gradbench CHECKOUT [EVAL ...]`.

An eval is run as GradBench runs it: a process that sends inputs and says whether each answer is
right. With `--quick` it sends the smaller inputs only. Evals need NumPy, SciPy, pydantic and
dataclasses-json, and for what they expect the checkout's `tools/manual`, built by its Makefile.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.table import aligned, seconds

__all__ = ["EVALS", "Answer", "answers", "command"]

EVALS = {  # per eval its options with --quick
    "hello": "", "det": "-l 5 7", "lse": "-n 2500 160000", "llsq": "-n 16 512",
    "ode": "-n 1000 -s 1 100", "kmeans": "-k 10 100 -n 1000 -d 8", "particle": "", "saddle": "",
    "lstm": "-l 2 -c 1024", "gmm": "-d 2 10 -k 5 25", "ba": "--max 1", "ht": "--max 1"}
ROOT = Path(__file__).parents[2]


@dataclass
class Answer:
    """What a tool answered to one input, and the eval's judgement."""

    eval: str
    function: str
    description: str
    seconds: list[float] = field(default_factory=list)
    error: str | None = None

    def row(self) -> list[str]:
        """Return the cells of a table."""
        first, *rest = self.seconds or [float("nan")]
        shown = self.error.strip().splitlines()[-1][:100] if self.error else "yes"
        return [self.eval, self.function, self.description, seconds(first),
                seconds(median(rest or [first])), str(len(self.seconds)), shown]


def command(tool: str, checkout: Path) -> list[str]:
    """Return the command of a tool: our own, one in Python of the checkout, or one in C++."""
    if tool == "tracejit":
        return [sys.executable, "-m", "benchmarks.gradbench.tool"]
    package = checkout / "python/gradbench/gradbench"
    own = package / "tools" / tool / "run.py"
    waits = [str(Path(__file__).with_name("blocking.py"))] if tool == "jax" else []
    return [sys.executable, *waits,
            *([str(own)] if own.exists() else [str(package / "cpp.py"), tool])]


def answers(name: str, tool: str, checkout: Path, options: str) -> Iterator[Answer]:
    """Run an eval with a tool; yield the answers as they come."""
    evals = checkout / "python/gradbench"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{evals}"}
    if tool != "tracejit":  # a tool in Python finds an eval's module beside itself
        environment["PYTHONPATH"] = f"{evals}{os.pathsep}{evals / 'gradbench/tools' / tool}"
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": checkout}
    asks = subprocess.Popen([sys.executable, str(evals / f"gradbench/evals/{name}/run.py"),
                             *shlex.split(options)], env=environment, **pipe)
    tells = subprocess.Popen(command(tool, checkout), env=environment, **pipe)
    try:
        yield from _conversation(name, asks, tells)
    finally:
        asks.kill()
        tells.kill()


def _conversation(name: str, asks: subprocess.Popen[str],
                  tells: subprocess.Popen[str]) -> Iterator[Answer]:
    assert asks.stdin and asks.stdout and tells.stdin and tells.stdout
    latest: Answer | None = None
    for line in asks.stdout:
        message = json.loads(line)
        kind = message["kind"]
        if kind == "analysis":
            assert latest is not None
            latest.error = None if message["valid"] else message.get("error", "not valid")
            print(json.dumps({"id": message["id"]}), file=asks.stdin, flush=True)
            continue
        if latest is not None:
            yield latest
        tells.stdin.write(line)
        tells.stdin.flush()
        reply = json.loads(tells.stdout.readline() or json.dumps(
            {"id": message["id"], "success": False, "error": "the tool ended"}))
        latest = None
        if kind == "evaluate":
            latest = Answer(name, message["function"], message.get("description", ""),
                            [t["nanoseconds"] / 1e9 for t in reply.get("timings") or ()
                             if t["name"] == "evaluate"],
                            "not judged" if reply["success"] else reply.get("error", "failed"))
        elif kind == "define" and not reply["success"]:
            latest = Answer(name, "define", "", [], reply.get("error", "failed"))
        print(json.dumps(reply), file=asks.stdin, flush=True)
    if latest is not None:
        yield latest


def main() -> None:
    """Print a row per answer."""
    parser = argparse.ArgumentParser("python -m benchmarks.gradbench", description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("evals", nargs="*", metavar="EVAL", help=f"of {', '.join(EVALS)}")
    parser.add_argument("--tool", default="tracejit", help="tracejit, manual, jax, ...")
    parser.add_argument("--quick", action="store_true", help="the smaller inputs only")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every time")
    parser.add_argument("--options", default="", help="for the eval: '--min-seconds 0.2'")
    options = parser.parse_args()
    rows = [["eval", "function", "input", "first", "then", "calls", "right"]]
    found = []
    for name in options.evals or EVALS:
        given = f"{EVALS[name] if options.quick else ''} {options.options}"
        for answer in answers(name, options.tool, options.checkout.resolve(), given):
            rows.append(answer.row())
            found.append(asdict(answer))
            print(*rows[-1], file=sys.stderr, flush=True)
    print(aligned(rows))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
