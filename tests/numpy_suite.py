"""NumPy's own tests, put to captured calls: python tests/numpy_suite.py [--only FILES] [--page].

The installed NumPy ships its tests. Here the names `np`, `numpy` and what is imported from them
stand, in each test module, for modules whose functions capture the call: arrays of numbers among
the arguments are traced, all else is the program's own. The program is interpreted, and NumPy
called on copies: a result, an error or a changed argument that is not NumPy's is listed.

A test without a captured call is left out. One has passed, if it passes and all of its captured
calls are NumPy's; or was refused, if a call was, and all others are NumPy's (which made the refused
call, too); or differs by design, as `BY_DESIGN` says; or else differs, or fails by itself: about
identity, memory that is shared, words of errors, or equality to the last bit.
"""

from __future__ import annotations

import argparse
import builtins
import copy
import functools
import json
import re
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import captured_namespace
import numpy as np
import pytest

import tracejit
import tracejit.numpy_api
import tracejit.ops
from tracejit.trace.ground.dispatch import FUNCTIONS, UFUNCS

FILES = (
    "lib/test_function_base lib/test_shape_base lib/test_twodim_base lib/test_type_check "
    "lib/test_nanfunctions lib/test_arraypad lib/test_arraysetops lib/test_histograms "
    "lib/test_index_tricks lib/test_polynomial lib/test_stride_tricks lib/test_ufunclike "
    "_core/test_numeric _core/test_einsum _core/test_shape_base _core/test_item_selection "
    "_core/test_function_base _core/test_umath _core/test_umath_complex _core/test_ufunc "
    "_core/test_multiarray _core/test_indexing linalg/test_linalg linalg/test_regression "
    "fft/test_helper fft/test_pocketfft polynomial/test_polynomial polynomial/test_chebyshev "
    "polynomial/test_legendre polynomial/test_hermite polynomial/test_hermite_e "
    "polynomial/test_laguerre polynomial/test_polyutils polynomial/test_classes").split()

MOST_CALLS = 60
"""How many calls of a test are captured: some call a function thousands of times."""

BY_DESIGN = {
    **dict.fromkeys(("numpy.linalg.eig", "numpy.linalg.eigvals", "numpy.roots"),
                    "are complex, also where all are real"),
    **{f"numpy.polynomial.{long}.{short}roots": "are complex, also where all are real"
       for long, short in (("chebyshev", "cheb"), ("polynomial", "poly"), ("legendre", "leg"),
                           ("hermite", "herm"), ("hermite_e", "herme"), ("laguerre", "lag"))},
    **dict.fromkeys(("numpy.empty_like", "numpy.empty"), "is zeros, where NumPy's is anything"),
    **dict.fromkeys(("numpy.median", "numpy.percentile", "numpy.quantile", "numpy.nanmedian",
                     "numpy.nanpercentile", "numpy.nanquantile"),
                    "leave their array as it is, with overwrite_input=True, too"),
    **dict.fromkeys(("numpy.partition", "numpy.argpartition"),
                    "sort all, where NumPy's order of the rest is any"),
    "numpy.argsort": "leaves equal elements in their order, where NumPy's is any",
    "numpy.linalg.lstsq": "has no residuals where the rank is not full, and says so",
}
"""What a captured call does in another way, on purpose, by function."""

Note = tuple[str, str, str]
"""What kind of thing a call met, the function, and its words."""


class Session:
    """What the captured calls of the running test met."""

    def __init__(self) -> None:
        self.calls, self.notes, self.active = 0, [], False  # type: ignore[var-annotated]
        self.is_inside = False

    def note(self, kind: str, name: str, words: object) -> None:
        self.notes.append((kind, name, " ".join(str(words).split())[:400]))


SESSION = Session()
NUMBERS = "biufc"


def is_traceable(x: object) -> bool:
    return type(x) is np.ndarray and x.dtype.kind in NUMBERS and x.dtype.itemsize <= 16 and (
        x.dtype not in (np.float16, np.longdouble, np.clongdouble)) and x.dtype.isnative


def leaves(x: object) -> Iterator[object]:
    if type(x) in (tuple, list):
        for part in x:  # type: ignore[attr-defined]
            yield from leaves(part)
    else:
        yield x


def is_plain(x: object) -> bool:
    """Return whether an argument is one that the text and key of a program can tell from others."""
    return x is None or x is Ellipsis or x is np._NoValue or type(x) in (
        bool, int, float, complex, str) or isinstance(x, (np.generic, np.dtype, type, slice)) or (
        isinstance(x, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)))


class Writer(captured_namespace._Writer):
    """Writes arrays of numbers as traced names."""

    def write(self, x: object) -> str:
        if is_traceable(x):
            for k, known in enumerate(self.arrays):
                if known is x:
                    return f"x{k}"
            self.arrays.append(x)
            return f"x{len(self.arrays) - 1}"
        return super().write(x)


def same(a: Any, b: Any) -> str:
    """Return in what a result is not NumPy's, nothing if it is."""
    if type(a) in (tuple, list) or type(b) in (tuple, list) or hasattr(b, "_fields"):
        if not isinstance(a, (tuple, list)) or not isinstance(b, (tuple, list)) or len(a) != len(b):
            return f"{type(a).__name__} for {type(b).__name__}"
        return next((w for w in map(same, a, b) if w), "")
    if isinstance(b, (np.ndarray, np.generic)) or isinstance(a, (np.ndarray, np.generic)):
        return same_arrays(a, b)
    equal = a is b or (type(a) is type(b) and (a == b or (a != a and b != b)))
    return "" if equal else f"{a!r:.80} for {b!r:.80}"


def same_arrays(a: Any, b: Any) -> str:
    if type(a) is not type(b):
        return f"{type(a).__name__} for {type(b).__name__}"
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} for {b.dtype}{list(b.shape)}"
    if b.dtype.kind not in NUMBERS:
        return "" if repr(a) == repr(b) else "other objects"
    if b.dtype.kind in "biu":
        return "" if np.array_equal(a, b) else f"{a!r:.100} for {b!r:.100}"
    near = 200.0 * np.finfo(b.dtype).eps
    scale = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
    with np.errstate(all="ignore"):
        fine = np.allclose(a, b, near, near * scale, equal_nan=True)
    return "" if fine else f"{a!r:.150} for {b!r:.150}"


def copied(x: Any) -> Any:
    """Return arguments with arrays in memory of their own, one for each."""
    return copy.deepcopy(x) if all(isinstance(y, np.ndarray) or is_plain(y) for y in leaves(x)) \
        else x


def called(function: Callable[..., Any], args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the result of a call and None, or None and its error."""
    try:
        return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def capture(function: Callable[..., Any], method: str, name: str, args: tuple[Any, ...],
            kwargs: dict[str, Any]) -> Any:
    """Make a call by a captured program, and compare it with NumPy's."""
    writer = Writer()
    written = [writer.write(x) for x in args]
    written += [f"{key}={writer.write(x)}" for key, x in kwargs.items()]
    own = getattr(function, method) if method else function
    plain = functools.partial(own, *args, **kwargs)
    unlike = next((x for x in writer.others if not is_plain(x)), None)
    if not writer.arrays or unlike is not None or SESSION.calls >= MOST_CALLS or not SESSION.active:
        return plain()
    SESSION.calls += 1
    apart = copied((list(args), list(kwargs.values())))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        expected, error = called(own, apart[0], dict(zip(kwargs, apart[1], strict=True)))
    line = f"{'' if method == 'at' else 'return '}f{method and '.'}{method}({', '.join(written)})"
    before = [x.copy() for x in writer.arrays]  # type: ignore[attr-defined]
    SESSION.is_inside = True
    try:
        found = captured_namespace._run(writer, line, function)
        failure = None
    except tracejit.Refusal as refusal:
        SESSION.note("refused", name, refusal)
        for x, kept in zip(writer.arrays, before, strict=True):
            np.copyto(x, kept)  # type: ignore[arg-type]
        return plain()
    except Exception as raised:
        found, failure = None, raised
    finally:
        SESSION.is_inside = False
    for warning in given:
        warnings.warn(warning.message, stacklevel=3)
    judge(name, writer, apart, (args, kwargs), (found, failure), (expected, error))
    if failure is not None:
        raise failure
    return found


def judge(name: str, writer: Writer, apart: Any, given: Any, ours: Any, numpys: Any) -> None:
    """Note where a captured call did not do what NumPy does."""
    (found, failure), (expected, error) = ours, numpys
    if (failure is None) != (error is None) or (error is not None and not isinstance(
            failure, type(error))):
        SESSION.note("error", name, f"{type(failure).__name__}: {failure} | NumPy: "
                     f"{type(error).__name__}: {error}")
        return
    is_anything = given[1].get("mode") == "empty"  # of `np.pad`
    if error is None and not is_anything and (wrong := same(found, expected)):
        SESSION.note("value", name, wrong)
    changed = [(a, b) for a, b in zip(leaves([list(given[0]), list(given[1].values())]),
                                      leaves(list(apart)), strict=True) if is_traceable(a)]
    if error is None and (wrong := next((w for a, b in changed if (w := same(a, b))), "")):
        SESSION.note("written", name, wrong)


class Captured:
    """A function of NumPy, or a ufunc, of which every call is captured; the rest is NumPy's."""

    def __init__(self, function: Any, name: str) -> None:
        functools.update_wrapper(self, function)
        self._function, self._name = function, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if SESSION.is_inside:
            return self._function(*args, **kwargs)
        return capture(self._function, "", self._name, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.__dict__["_function"], name)
        if name not in ("reduce", "accumulate", "reduceat", "outer", "at"):
            return found

        def method(*args: Any, **kwargs: Any) -> Any:
            return capture(self._function, name, f"{self._name}.{name}", args, kwargs)

        return method

    def __repr__(self) -> str:
        return repr(self._function)

    def __reduce__(self) -> Any:
        return self._function.__reduce__()


class StandIn(types.ModuleType):
    """A module of NumPy with captured functions in the place of its own."""

    def __init__(self, module: types.ModuleType, own: dict[str, Any]) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(own, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_module"], name)


def stand_ins() -> tuple[dict[int, Any], dict[int, Any]]:
    """Return captured functions and modules by the identity of NumPy's."""
    functions: dict[int, Any] = {}
    modules: dict[int, Any] = {}
    known = [f for f in [*FUNCTIONS, *UFUNCS] if not isinstance(f, type) and callable(f)]
    places = [np, np.linalg, np.fft, np.lib.stride_tricks, *(
        getattr(np.polynomial, name) for name in (
            "polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre",
            "polyutils"))]
    for module in places:
        own = {}
        for name, x in vars(module).items():
            if any(x is f for f in known) and not isinstance(x, types.MethodType):
                public = f"{module.__name__}.{name}"
                own[name] = functions.setdefault(id(x), Captured(x, public))
        modules[id(module)] = StandIn(module, own)
    for stand_in in modules.values():
        for name, x in vars(stand_in.__dict__["_module"]).items():
            if id(x) in modules:
                setattr(stand_in, name, modules[id(x)])
    return functions, modules


class Recorder:
    """Puts captured functions into test modules and notes how each test ends."""

    def __init__(self) -> None:
        self.functions, self.modules = stand_ins()
        self.outcomes: dict[str, tuple[str, list[Note]]] = {}
        self.plain: set[str] | None = None

    def stand_in(self, x: Any) -> Any:
        """Return what stands for a function or module, or for those in a list, tuple or dict."""
        if type(x) in (list, tuple):
            return type(x)(map(self.stand_in, x))
        if type(x) is dict:
            return {self.stand_in(key): self.stand_in(value) for key, value in x.items()}
        return self.functions.get(id(x), self.modules.get(id(x), x))

    def replace(self, owner: Any) -> None:
        """Put stand-ins in the place of the contents of a test module or of a class of tests."""
        for name, x in list(vars(owner).items()):
            if name.startswith("__") or isinstance(x, staticmethod | classmethod):
                continue
            if isinstance(x, type) and x.__module__ == getattr(owner, "__name__", ""):
                self.replace(x)
            elif type(x) in (list, tuple, dict) or self.stand_in(x) is not x:
                setattr(owner, name, self.stand_in(x))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        for module in {item.module for item in items if hasattr(item, "module")}:
            self.replace(module)
        for item in items:
            if hasattr(item, "callspec"):
                item.callspec.params.update({
                    key: self.stand_in(x) for key, x in item.callspec.params.items()})

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        SESSION.__init__()  # type: ignore[misc]
        SESSION.active = True
        yield
        SESSION.active = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Iterator[None]:
        outcome = yield
        report = outcome.get_result()
        if report.when != "call" or report.skipped:
            return
        said = "passed"
        if call.excinfo is not None and not hasattr(report, "wasxfail"):
            error = call.excinfo.value
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        name = f"{item.path.parent.parent.name}/{item.nodeid.partition('::')[0].rpartition('/')[2]}"
        if SESSION.calls:
            self.outcomes[f"{name}::{item.nodeid.partition('::')[2]}"] = said, SESSION.notes


def run(files: list[str], options: list[str]) -> dict[str, tuple[str, list[Note]]]:
    """Run test modules with captured calls; return each test's outcome and notes."""
    home = Path(np.__file__).parent
    paths = [str(home / name.partition("/")[0] / "tests" / f"{name.partition('/')[2]}.py")
             for name in files]
    recorder = Recorder()
    pytest.main(["-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly",
                 "-p", "no:xdist", "-m", "not slow", "-W", "ignore::DeprecationWarning",
                 "-c", "/dev/null", "--rootdir", str(home),
                 "--continue-on-collection-errors", *options, *paths], plugins=[recorder])
    return recorder.outcomes


def is_by_design(note: Note) -> bool:
    kind, name, words = note
    if name == "numpy.linalg.lstsq":
        return kind == "error" and "has not full rank" in words
    if kind == "error":
        return "NumPy: FloatingPointError" in words  # nothing asks for `np.errstate`
    if name.endswith(("median", "percentile", "quantile")):
        return kind == "written"
    return kind == "value" and name in BY_DESIGN


def kind_of(said: str, notes: list[Note]) -> str:
    """Return how a test ended, in a word."""
    kinds = {"design" if is_by_design(note) else note[0] for note in notes}
    if kinds - {"refused", "design"}:
        return "differs"
    for kind in ("refused", "design"):
        if kind in kinds:
            return kind
    return "passed" if said == "passed" else "failed"


WORDS = {"passed": "passed", "refused": "a call refused", "design": "differs by design",
         "differs": "differs", "failed": "fails by itself"}


def page(outcomes: dict[str, tuple[str, list[Note]]]) -> str:
    """Return the results as a page: tests by file, refusals by function, what differs."""
    files: dict[str, Counter[str]] = {}
    for name, found in outcomes.items():
        files.setdefault(name.partition("::")[0], Counter())[kind_of(*found)] += 1
    rows = [f"| {name} | " + " | ".join(str(count[kind]) for kind in WORDS) + " |"
            for name, count in [*files.items(), ("all", sum(files.values(), Counter()))]]
    refused: dict[tuple[str, str], set[str]] = {}
    for name, (_, notes) in outcomes.items():
        for kind, function, words in notes:
            if kind == "refused":
                reason = re.sub(r"^\S+\.py:\d+: ", "", words).split(". ")[0]
                refused.setdefault((function, reason[:110].replace("|", "/")), set()).add(name)
    most = sorted(refused.items(), key=lambda item: (-len(item[1]), item[0]))
    differs = [(name, said, notes) for name, (said, notes) in outcomes.items()
               if kind_of(said, notes) in ("differs", "failed")]
    lines = ["# NumPy's own tests through captured calls", "",
             f"NumPy {np.__version__}, by `python tests/numpy_suite.py --page`; tests with a",
             "captured call, by what became of them.", "",
             f"| file | {' | '.join(WORDS.values())} |", "|---" * 6 + "|", *rows, "",
             "## What is refused", "", "| function | reason | tests |", "|---|---|---|",
             *(f"| {f} | {reason} | {len(names)} |" for (f, reason), names in most[:60]), "",
             "## What differs by design", "",
             *(f"- `{name}` {words}" for name, words in BY_DESIGN.items()), "",
             "## What else is not NumPy's", "", "| test | what |", "|---|---|"]
    for name, said, notes in differs:
        first = next((f"{f}: {words}" for kind, f, words in notes
                      if kind != "refused" and not is_by_design((kind, f, words))), said)
        lines.append(f"| {name} | {' '.join(without_paths(first).split())[:150]} |")
    return "\n".join(lines) + "\n"


def without_paths(words: str) -> str:
    return re.sub(r"/\S*/", "", words).replace("|", "/")


def main() -> None:
    """Run what is asked for and print what is not NumPy's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=FILES, metavar="FILES")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", action="store_true", help="write numpy_suite_results.md")
    parser.add_argument("options", nargs="*", help="more for pytest, after --")
    asked = parser.parse_args()
    outcomes = run(asked.only, asked.options)
    for name, (said, notes) in outcomes.items():
        kind = kind_of(said, notes)
        if kind in ("failed", "differs"):
            builtins.print(f"{kind} {name}: {said}")
            for note in notes:
                builtins.print("    ", *note)
    builtins.print(Counter(kind_of(*x) for x in outcomes.values()))
    reasons = Counter(name for said, notes in outcomes.values() for kind, name, _ in notes
                      if kind == "refused")
    builtins.print("refused most:", reasons.most_common(40))
    if asked.page:
        (Path(__file__).parent / "numpy_suite_results.md").write_text(page(outcomes))
    if asked.json:
        asked.json.write_text(json.dumps(outcomes, indent=1))


if __name__ == "__main__":
    sys.exit(main())
