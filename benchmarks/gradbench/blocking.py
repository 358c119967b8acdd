"""A tool of GradBench's checkout that waits for what it has computed: `blocking RUN.PY`.

JAX returns before a result is there, and GradBench's times end when a function returns.
"""

from __future__ import annotations

import os
import runpy
import sys
from functools import wraps
from typing import Any

import jax
from gradbench import wrap

repeat: Any = wrap.multiple_runs


def multiple_runs(**options: Any) -> Any:
    """Return GradBench's decorator for functions that return when the result is there."""
    def decorate(function: Any) -> Any:
        @wraps(function)
        def blocked(given: Any) -> Any:
            return jax.block_until_ready(function(given))

        return repeat(**options)(blocked)

    return decorate


if __name__ == "__main__":
    wrap.multiple_runs = multiple_runs
    del sys.argv[0]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
