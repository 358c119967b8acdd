"""The codes of causes: what ends the message of a refusal or error, and of a reason.

Data alone. Hundreds are areas; a code that was given once keeps its meaning and is never given
again, so the table only gets longer. `explanations.md` has a page of each: a program, why, what to
write instead, and what was looked for and not found.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["AREAS", "CODES", "Cause", "page_of", "pages"]


class Cause(NamedTuple):
    """What a code stands for.

    kind  -- "refusal" or "error" (what is raised), "reason" (of `.why()`), "schedule" or "warning"
    title -- the cause, in a few words
    """

    kind: str
    title: str


AREAS = {
    "TJ1": "Python: syntax, calls and what only the run knows",
    "TJ2": "functions of NumPy and SciPy",
    "TJ3": "arguments, dtypes and numbers",
    "TJ4": "changes, names for one thing, loops and branches",
    "TJ5": "derivatives",
    "TJ6": "compiled programs: devices, exports, calls from elsewhere",
    "TJ7": "reasons of `.why()`",
    "TJ8": "schedules: how a CPU carries a program out",
}
"""What the hundreds are about."""

REFUSALS = {
    "TJ101": "the text of a function is not there, or is not its code",
    "TJ102": "syntax that is not captured",
    "TJ103": "binding a name of a function around the captured one",
    "TJ104": "a use of a generator that is not captured",
    "TJ105": "an exception of captured operations is caught, or not raised",
    "TJ106": "a `match` that is not captured",
    "TJ107": "an exception that compiled code cannot raise",
    "TJ108": "a recursion that ends on data",
    "TJ109": "a decision on a traced value in code that is not captured",
    "TJ110": "code that is not captured asks for the number of a traced value",
    "TJ111": "a number that has to be known when the function is captured",
    "TJ112": "text with a number in it that only the run knows",
    "TJ113": "a call that gives another value each time",
    "TJ114": "random numbers that a program cannot draw as the function does",
    "TJ115": "frames, and debuggers that stop in them",
    "TJ116": "the identity of a thing that the call or data decides on",
    "TJ117": "the life of an object: weak references, `__del__`, threads",
    "TJ118": "code that reads names which no capture sees",
    "TJ119": "a capture that does not settle",
    "TJ120": "a traced value that leaves the capture by another way than the result",
    "TJ121": "a result that cannot be returned",
    "TJ122": "an order or comparison that data decides on",
    "TJ123": "a class that changes what an operation means",
    "TJ124": "a function of a library, or a builtin, was replaced before the first capture",
    "TJ201": "a function of NumPy or SciPy that is not captured",
    "TJ202": "code of a library asks a traced value for its numbers",
    "TJ203": "an argument, or a value of one, that a captured function does not take",
    "TJ205": "an argument of a library's function that has to be a constant",
    "TJ206": "a kind of numbers that a captured function does not take",
    "TJ207": "as many axes as a captured function does not take",
    "TJ208": "an attribute or method of arrays that is not captured",
    "TJ209": "an attribute or operation of a library's object that is not captured",
    "TJ210": "a library's object as a result",
    "TJ211": "a change in place of a library's object",
    "TJ212": "a size that data decides on, for a function that needs it before",
    "TJ213": "sizes or values at an edge of a function's domain",
    "TJ214": "a search, integral or solution of a function of another form",
    "TJ217": "a method of a ufunc with arguments that are not captured",
    "TJ218": "an operation on sparse matrices that is not captured",
    "TJ221": "an iterator over arrays that is not captured as it is used",
    "TJ222": "a method of a numpy.random.Generator that is not captured as it is called",
    "TJ223": "an index of a kind that is not captured",
    "TJ301": "a dtype that is not captured",
    "TJ302": "an operation on a structured array that is not captured",
    "TJ303": "an int that does not fit into 64 bits",
    "TJ304": "an array of a class with operations of its own",
    "TJ305": "an array of another library",
    "TJ306": "a container that contains itself, or is nested too deeply",
    "TJ308": "something read from outside that is no array of NumPy's",
    "TJ309": "a write that would lose a part of a number",
    "TJ310": "the class or byte order of an array is asked for",
    "TJ311": "a float that would be a complex number in Python",
    "TJ312": "an int that would have more than 64 bits in Python",
    "TJ313": "two NaN compared as items, where Python asks whether they are one",
    "TJ314": "a result whose size would depend on data in NumPy",
    "TJ315": "arguments, at run time, for which there is no formula",
    "TJ316": "something from outside that is another object at each reading",
    "TJ317": "an operand that is no array or number",
    "TJ401": "a change of a list, dict or object from outside",
    "TJ402": "a write to an array from outside",
    "TJ403": "a write to memory that something else shares, or that is read-only",
    "TJ404": "an array of which data decides which one it is, written to",
    "TJ405": "a change of a list or dict that may be the one that another name holds",
    "TJ406": "a name that a loop binds to one thing after another and changes",
    "TJ407": "something that a loop carries changes its shape, dtype or structure",
    "TJ408": "a `while` or branch on data that cannot be one in the program",
    "TJ409": "a use of a list whose length data decides",
    "TJ410": "a list or object in a list whose length data decides",
    "TJ411": "a use of a set, dict or deque of which data decides what it holds",
    "TJ412": "a use of an object that data chooses",
    "TJ413": "a name that holds things of different kinds, depending on data",
    "TJ414": "a list, tuple or dict indexed by a traced value",
    "TJ415": "what one element does, where all are computed at once",
    "TJ416": "a change in a branch on data for which there is no code",
    "TJ417": "a change by code that is not captured",
    "TJ418": "the order of keys depends on data",
    "TJ419": "an iterator that a loop left where data decides",
    "TJ420": "a name or attribute that is set on some paths only",
    "TJ421": "a container changes while a loop runs over it",
    "TJ501": "an op without a derivative",
    "TJ502": "a function that is called as it is, without a derivative",
    "TJ503": "the derivative of a random number by its distribution's shape",
    "TJ504": "a derivative that is known in one mode only",
    "TJ505": "an op or a gradient of the user's that is no function of its arguments",
    "TJ506": "a gradient by a tape for which the tape recorded too little",
    "TJ507": "a variable used in a way that is not captured",
    "TJ508": "a gradient or pullback that is asked for after what it reads has changed",
    "TJ509": "one list, dict or object that is given twice to a derivative",
    "TJ510": "a differentiated function that changes something outside of it",
    "TJ511": "random numbers in a function that a derivative computes again",
    "TJ512": "a kind of array that this derivative does not take",
    "TJ513": "something for outside of captures, asked for in one",
    "TJ601": "an operation that a device does not have",
    "TJ602": "an argument that a device does not take",
    "TJ605": "a program that @njit code or another program cannot call",
    "TJ606": "a C function of NumPy or SciPy that is not there",
    "TJ608": "a result as long as data says, where room is made before",
    "TJ609": "a profile of a program that changes something by running",
}

ERRORS = {
    "TJ603": "there is no device, or it failed",
    "TJ604": "a program that cannot be exported",
    "TJ607": "a saved program that cannot be loaded",
    "TJ610": "tracejit itself failed",
    "TJ611": "emitted code could not be compiled",
    "TJ612": "a malformed graph",
    "TJ613": "a function for captured code is called outside of it",
}

REASONS = {
    "TJ701": "an operation has no backward part",
    "TJ702": "what a loop or branch keeps for its way back",
    "TJ703": "a loop is unrolled",
    "TJ704": "a list is made item by item",
    "TJ705": "the function is captured anew at every call",
    "TJ706": "the first iteration of a loop is carried out before it",
    "TJ707": "a sparse system, spline or search is computed densely",
    "TJ708": "a call that is made once, while the function is captured",
    "TJ709": "a print, at each call",
    "TJ710": "arguments are told apart by how they lie in memory",
    "TJ711": "many things from outside are looked at by every call",
    "TJ712": "snapshots of a loop are kept, and its iterations computed again",
    "TJ713": "a size decides, and there is a program for each outcome",
    "TJ714": "a number is fixed in the program",
    "TJ715": "an analysis is switched off",
    "TJ716": "SciPy carries out a part of the program, called back",
}

SCHEDULES = {
    "TJ801": "two iterations of a loop are carried out at a time",
    "TJ802": "products of matrices in a loop are done block by block",
    "TJ803": "loops over short rows are written out for their length",
    "TJ804": "an array is copied in a loop",
    "TJ805": "loops over elements that multiply matrices are a product of matrices",
    "TJ806": "eight iterations of a loop are carried out side by side",
}

CODES = {code: Cause(kind, title)
         for kind, rows in (("refusal", REFUSALS), ("error", ERRORS), ("reason", REASONS),
                            ("schedule", SCHEDULES)) for code, title in rows.items()}
"""All codes."""


def pages() -> dict[str, str]:
    """Return the page of each code, in Markdown: "## TJ408: its title", and what follows."""
    text = Path(__file__).with_name("explanations.md").read_text(encoding="utf-8")
    found = [f"## TJ{part}".rstrip() for part in text.split("\n## TJ")[1:]]
    return {page[3:8]: page for page in found}


def page_of(code: str) -> str:
    """Return the page of a code."""
    return pages()[code]
