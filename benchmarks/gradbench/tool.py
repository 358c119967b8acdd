"""A GradBench tool: `python -m benchmarks.gradbench.tool` answers an eval's messages.

Messages are lines of JSON on standard input, answers on standard output, one for each.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["answer", "main"]


def answer(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a message; what is raised while it is worked on is in its `error`."""
    reply: dict[str, Any] = {"id": message["id"]}
    try:
        match message["kind"]:
            case "start":
                reply["tool"] = "tracejit"
            case "define":
                _functions(message["module"])
                reply["success"] = True
            case "evaluate":
                reply |= _functions(message["module"])[message["function"]](message["input"])
    except Exception:
        reply |= {"success": False, "error": traceback.format_exc()}
    return reply


def _functions(module: str) -> Mapping[str, Any]:
    functions: Mapping[str, Any] = import_module(f"{__package__}.{module}").FUNCTIONS
    return functions


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
