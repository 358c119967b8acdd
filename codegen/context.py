"""The layout of a kernel's context, and the status of a kernel that was left.

Word 0 is the status, 1 and 2 are numbers for the message of a failure.
"""

from __future__ import annotations

__all__ = ["ALLOCATOR", "BAD_BUFFER", "CALLBACK", "FAILED_OUTSIDE", "INTERRUPTED", "LOGS",
           "NUMBERS", "PARALLEL", "POLL", "PRINT", "THREADS"]

NUMBERS = (1, 2)

ALLOCATOR = 3
"""In exported code: the address of the allocator that its caller gave, or 0."""

PRINT = 4
"""The address of a C function that prints, or 0: of the number of a print in the program, and a
table with the address of each operand, followed by the sizes of an array. It returns 0, or 1 where
the kernel is to be left."""

BAD_BUFFER = 5
"""In verify mode: the number of a buffer that was indexed outside of its bounds, counted from 1;
the word after it has the index."""

POLL = 7
"""The address of a C function that says whether to leave the kernel, or 0."""

PARALLEL = 8
"""The address of the C function that shares a loop among threads, or 0: then one does it."""

THREADS = 9
"""The number of threads that loops are shared among."""

CALLBACK = 10
"""The address of a C function that calls a function of Python's: of the number of the call in the
program, and a table with the address of each operand and result, followed by the sizes of an array.
It returns 0, or 1 where the function has raised."""

LOGS = 11
"""From here on, per Log, its base and its capacity."""

INTERRUPTED = -1
"""The status of a kernel that the user left."""

FAILED_OUTSIDE = -2
"""The status of a kernel that was left since a Python function which it called has raised."""
