"""The analyses that can be switched off, to see what each brings: `config(without="jamming")`.

Data alone. Results are right without any of them; the last bits may differ.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection

__all__ = ["ANALYSES", "Without", "analyses_named"]

Without = str | Collection[str]
"""Names of analyses: one, several with commas between them, or a collection."""

ANALYSES = {
    "recomputation": "what the way back needs of loops is stored, and nothing computed again",
    "storing": "what the way back needs of loops is computed again wherever that is possible",
    "fusion": "each operation on arrays has loops of its own, and its result is stored",
    "vectorisation": "no instruction handles several numbers",
    "lanes": "no loop does eight iterations side by side",
    "jamming": "no loop handles several iterations of the loop around it at a time",
    "blocking": "no product of matrices in a loop is done block by block",
    "searching": "searches for a largest or smallest element go one by one",
    "ordering": "calls of functions on transposed arrays stay in the transposed order",
    "short_loops": "loops over short rows have no code for their length",
    "threads": "no loop is shared among threads",
}
"""What is so without an analysis, by its name."""


def analyses_named(names: Without, where: str = "without") -> frozenset[str]:
    """Return the analyses that are named; `ValueError` for a name of none."""
    given = names.split(",") if isinstance(names, str) else names
    found = frozenset(name.strip() for name in given) - {""}
    for name in sorted(found - ANALYSES.keys()):
        near = difflib.get_close_matches(name, ANALYSES, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(ANALYSES)}"
        raise ValueError(f"{where} names {name!r}, which is no analysis; {hint}")
    return found
