"""What an eval's module gives: per function of the eval, how input, work and output hang together.

Evals repeat the work for as long as they ask; input and output as JSON are not part of a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Evaluation", "nested"]


def nested(x: Any) -> Any:
    """Return a number, or an array's elements as nested lists."""
    return np.asarray(x).tolist()


@dataclass(frozen=True)
class Evaluation:
    """A function of an eval.

    prepare -- makes arguments of an input in JSON
    compute -- is timed
    finish  -- makes an output in JSON of what `compute` returned
    """

    prepare: Callable[[Any], tuple[Any, ...]]
    compute: Callable[..., Any]
    finish: Callable[[Any], Any] = nested

    def __call__(self, given: Any) -> dict[str, Any]:
        """Run an input as often as it asks for; return output and times."""
        arguments = self.prepare(given)
        asked = given if isinstance(given, dict) else {}
        runs, enough = asked.get("min_runs", 1), asked.get("min_seconds", 0.0)
        seconds: list[float] = []
        while len(seconds) < max(runs, 1) or sum(seconds) < enough:
            start = time.perf_counter()
            result = self.compute(*arguments)
            seconds.append(time.perf_counter() - start)
        timings = [{"name": "evaluate", "nanoseconds": int(1e9 * s)} for s in seconds]
        return {"success": True, "output": self.finish(result), "timings": timings}
