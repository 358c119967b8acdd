"""The code is the function's own: a text that is not a function's gives no gradient of it."""

from __future__ import annotations

import copy
import importlib
import itertools
import linecache
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import tracejit
from tracejit.trace.ground.trees import find_tree, is_same_code

ROOT = Path(__file__).parents[2]
X = 1.25
_NUMBER = itertools.count()


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    """Run programs without compiling them: source is the question, not machine code."""
    with tracejit.config(disable_jit=True):
        yield


class Source:
    """A module in a file, imported, whose text a test then changes."""

    def __init__(self, folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = f"edited_{next(_NUMBER)}"
        self.path = folder / f"{self.name}.py"
        self.times = itertools.count(1_600_000_000, 10)
        monkeypatch.syspath_prepend(folder)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        self.write(text)
        self.module: ModuleType = importlib.import_module(self.name)

    def write(self, text: str) -> None:
        """Replace the text, at another time."""
        self.path.write_text(text)
        when = next(self.times)
        os.utime(self.path, (when, when))

    def reload(self) -> ModuleType:
        """Run the module's text as it is now."""
        return importlib.reload(self.module)


Make = Callable[[str], Source]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that writes a text as a module and imports it."""
    return lambda text: Source(tmp_path, text, monkeypatch)


def slope(f: Callable[..., Any], x: float = X) -> float:
    """Return the central difference of a function as Python runs it."""
    h = 1e-6
    return float((f(x + h) - f(x - h)) / (2.0 * h))


def right_or_refused(f: Callable[..., Any], file: Path | str | None = None) -> str:
    """Check a gradient against differences of Python's run; say whether it is refused."""
    try:
        found = tracejit.grad(f)(X)
    except tracejit.Refusal as e:
        return "refused" if file is None or str(file) in str(e) else f"refused elsewhere: {e}"
    assert found == pytest.approx(slope(f), rel=1e-6)
    return "right"


# --- kinds of functions -------------------------------------------------------------------------

KINDS = {
    "def": "def f(x):\n    y = x * 2.0\n    return y * x + 3.0 * x\n",
    "lambda": "f = lambda x: x * 2.0 * x + 3.0 * x\n",
    "two lambdas": "f, g = lambda x: x * 2.0 * x + 3.0 * x, lambda x: x * 5.0\n",
    "nested lambdas": "f = lambda x: (lambda y: y * 2.0 * x)(x) + 3.0 * x\n",
    "method": "class C:\n    def m(self, x):\n        return x * 2.0 * x + 3.0 * x\nf = C().m\n",
    "private names": """class C:
    __k = 2.0
    def __square(self, x):
        return x * self.__k * x
    def m(self, __x):
        __y = self.__square(__x)
        return __y + 3.0 * __x
f = C().m
""",
    "static method": """class C:
    @staticmethod
    def m(x):
        return x * 2.0 * x + 3.0 * x
f = C.m
""",
    "nested": """def make():
    def f(x):
        return x * 2.0 * x + 3.0 * x
    return f
f = make()
""",
    "closure": """def make(k, c):
    def f(x):
        return x * k * x + 3.0 * x
    return f
f = make(2.0, 5.0)
""",
    "decorated": """import functools
def twice(g):
    @functools.wraps(g)
    def h(x):
        return g(x) * 2.0
    return h
@twice
def f(x):
    return x * x + 3.0 * x
""",
    "decorated by a lambda": """@lambda g: lambda x: g(x) * 2.0
def f(x):
    return x * x + 3.0 * x
""",
    "inner": "def f(x):\n    def g(y):\n        return y * 2.0\n    return g(x) * x + 3.0 * x\n",
    "helper": "def g(x):\n    return x * 2.0 * x\ndef f(x):\n    return g(x) + 3.0 * x\n",
    "defaults": "def f(x, k=2.0, *, c=3.0):\n    return x * k * x + c * x * 3.0\n",
    "loop": """def f(x):
    s = 0.0
    for i in range(3):
        if s < 2.0:
            s = s + x * x
    return s + 3.0 * x
""",
    "comprehension": "def f(x):\n    return sum([x * k * x for k in (2.0, 3.0)])\n",
    "imported": "import math\ndef f(x):\n    return math.sin(x) * 2.0 + 3.0 * x\n",
    "conditional": "if True:\n    def f(x):\n        return x * 2.0 * x\nelse:\n    f = None\n",
    "future": """from __future__ import annotations
def f(x: 'no name') -> neither:
    def g(y: unknown):
        return y * 2.0
    return g(x) * x + 3.0 * x
""",
}


def edited(old: str, new: str) -> Callable[[str], str]:
    """Return an edit that replaces one text by another."""
    return lambda text: text.replace(old, new)


EDITS: dict[str, Callable[[str], str]] = {
    "a constant": edited("2.0", "7.0"),
    "another constant": edited("3.0", "8.0"),
    "an int for a float": edited("2.0", "2"),
    "the sign": edited("3.0", "-3.0"),
    "an operator": edited(" * ", " + "),
    "a name": edited("x", "z"),
    "a comment above": lambda text: f"# one line more\n\n{text}",
    "a function above": lambda text: f"def f(x):\n    return x * 11.0\n{text}",
    "a function below": lambda text: f"{text}\ndef f(x):\n    return x * 11.0\n",
    "a lambda before": lambda text: f"h = lambda x: x * 11.0\n{text}",
    "a lambda on the line": edited("f = lambda", "f = (lambda x: x * 11.0) and lambda"),
    "lambdas swapped": edited("f, g = lambda x: x * 2.0 * x + 3.0 * x, lambda x: x * 5.0",
                              "f, g = lambda x: x * 5.0, lambda x: x * 2.0 * x + 3.0 * x"),
    "closures renamed": edited("make(k, c)", "make(c, k)"),
    "the class": edited("class C:", "class D:"),
    "lines swapped": lambda text: "\n".join(reversed(text.split("\n"))),
    "a line less": lambda text: text.partition("\n")[2],
    "a syntax error": lambda text: f"{text}\n)",
    "nothing": lambda text: text,
    "spaces": edited(" * ", "  *  "),
    "no text": lambda text: "",
    "another text": lambda text: "def f(x):\n    return x * 11.0\n" * 9,
    "a docstring": edited("return", "'it returns'; return"),
    "a loop's length": edited("range(3)", "range(4)"),
    "a branch": edited("<", ">"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_edit_before_the_first_call_is_never_taken_for_the_function(
        kind: str, edit: str, make: Make) -> None:
    source = make(KINDS[kind])
    source.write(EDITS[edit](KINDS[kind]))
    how = right_or_refused(source.module.f)
    if edit in ("nothing", "a comment above", "spaces"):
        assert how == "right"


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_was_read_before_the_edit_is_no_better(
        kind: str, edit: str, make: Make) -> None:
    source = make(KINDS[kind])
    linecache.getlines(str(source.path))
    right_or_refused(source.module.f)
    f = source.module.f
    source.write(EDITS[edit](KINDS[kind]))
    right_or_refused(f)
    try:
        source.reload()
    except Exception:
        return  # the edit gives no module
    if "f" in vars(source.module):
        try:
            slope(source.module.f)
        except Exception:
            return  # nor a function
        assert right_or_refused(source.module.f) == "right"


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_was_not_edited_is_captured(kind: str, make: Make) -> None:
    assert right_or_refused(make(KINDS[kind]).module.f) == "right"


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_is_restored_is_captured(kind: str, make: Make) -> None:
    source = make(KINDS[kind])
    source.write(KINDS[kind].replace("2.0", "7.0"))
    right_or_refused(source.module.f, source.path)
    source.write(KINDS[kind])
    assert right_or_refused(source.module.f) == "right"


# --- the rows that were found -------------------------------------------------------------------


def test_an_edited_file_is_refused_by_its_line_with_a_remedy(make: Make) -> None:
    source = make(KINDS["def"])
    source.write(KINDS["def"].replace("2.0", "7.0"))
    with pytest.raises(tracejit.Refusal, match="Reload the module") as caught:
        tracejit.grad(source.module.f)(X)
    assert str(caught.value).startswith(f"{source.path}:1: the code of f is not")


def test_a_reloaded_function_has_the_gradient_of_the_new_text(make: Make) -> None:
    source = make(KINDS["def"])
    before = tracejit.grad(source.module.f)
    old = source.module.f
    assert before(X) == pytest.approx(slope(old))
    source.write(KINDS["def"].replace("2.0", "7.0"))
    new = source.reload().f
    assert tracejit.grad(new)(X) == pytest.approx(slope(new))
    assert slope(new) != pytest.approx(slope(old))
    assert before(X) == pytest.approx(slope(old))
    right_or_refused(old)


def test_two_texts_of_one_file_name_are_kept_apart() -> None:
    functions = []
    for k in (2.0, 7.0, 11.0):
        text = f"def f(x):\n    return x * x * {k}\n"
        linecache.cache["<one name>"] = len(text), None, text.splitlines(True), "<one name>"
        names: dict[str, Any] = {}
        exec(compile(text, "<one name>", "exec"), names)
        functions.append(names["f"])
        assert right_or_refused(names["f"]) == "right"
    assert [right_or_refused(f) for f in functions].count("right") >= 1
    fresh = FunctionType(functions[0].__code__.replace(co_consts=(None, 3.0)), {})
    assert right_or_refused(fresh, "<one name>") == "refused"


def test_lambdas_that_were_swapped_on_their_line_are_told_apart(make: Make) -> None:
    text = "f, g = lambda x: x * 2.0, lambda x: x * 7.0\n"
    source = make(text)
    assert right_or_refused(source.module.f) == right_or_refused(source.module.g) == "right"
    source.write("f, g = lambda x: x * 7.0, lambda x: x * 2.0\n")
    right_or_refused(source.module.f)
    module = source.reload()
    assert right_or_refused(module.f) == right_or_refused(module.g) == "right"


@pytest.mark.parametrize("seen", [False, True])
def test_code_that_is_replaced_is_the_code_that_is_captured(seen: bool, make: Make) -> None:
    source = make("def f(x):\n    return x * 2.0\ndef g(x):\n    return x * x * 7.0\n")
    f, g = source.module.f, source.module.g
    if seen:
        right_or_refused(f)
    f.__code__ = g.__code__  # as IPython's autoreload does
    assert right_or_refused(f) == "right"


# --- lambdas on one line ------------------------------------------------------------------------

LINES = {
    "constants": "[lambda x: x * 2.0, lambda x: x * 7.0, lambda x: x * 11.0]",
    "kinds of one": "[lambda x: x / 1, lambda x: x / True, lambda x: x / 1.0]",
    "equal": "[lambda x: x * 2.0, lambda x: x * 2.0]",
    "nested": "[lambda x: (lambda y: y * 2.0)(x * 3.0), lambda x: (lambda y: y * 3.0)(x * 5.0)]",
    "returned": "[(lambda x: (lambda y: y * 2.0))(0), (lambda x: (lambda y: y * 7.0))(0)]",
    "free names": "(lambda a, b: [lambda x: x * a, lambda x: x * b])(2.0, 7.0)",
    "made by a lambda": "[m(k) for m in [lambda k: lambda x: x * k] for k in (2.0, 7.0)]",
    "defaults": "[lambda x, k=2.0: x * k, lambda x, k=7.0: x * k]",
    "arguments": "[lambda x, y=3.0: x * y, lambda x, *y: x * 5.0, lambda x, **y: x * 7.0]",
    "branches": "[lambda x: x if x < 1 else x * 2.0, lambda x: x * 2.0 if x < 1 else x]",
    "dead": "[(lambda x: x * 2.0) if 1 else (lambda x: x * 7.0), lambda x: x * 11.0]",
    "zeros": "[lambda x: x * x + 0.0, lambda x: x * x - 0.0, lambda x: x * x * -0.0]",
    "names": "[lambda x: x * TWO, lambda x: x * SEVEN]",
    "tuples": "[lambda x: x * (1, 2.0)[1], lambda x: x * (True, 7.0)[1]]",
    "in a call": "list(map(lambda k: (lambda x: x * k), [2.0, 7.0]))",
}


@pytest.mark.parametrize("name", LINES)
def test_each_lambda_of_a_line_is_itself(name: str, make: Make) -> None:
    module = make(f"TWO, SEVEN = 2.0, 7.0\nFS = {LINES[name]}\n").module
    for f in module.FS:
        assert right_or_refused(f) == "right"
    right = [tracejit.grad(f)(X) for f in reversed(module.FS)]
    assert right == pytest.approx([slope(f) for f in reversed(module.FS)])


@pytest.mark.parametrize("a", LINES)
@pytest.mark.parametrize("b", LINES)
def test_lambdas_of_a_line_that_is_replaced_are_right_or_refused(
        a: str, b: str, make: Make) -> None:
    source = make(f"TWO, SEVEN = 2.0, 7.0\nFS = {LINES[a]}\n")
    source.write(f"TWO, SEVEN = 2.0, 7.0\nFS = {LINES[b]}\n")
    for f in source.module.FS:
        right_or_refused(f)


# --- private names ------------------------------------------------------------------------------

PRIVATE = """
class _Outer:
    __k = 2.0
    class __Inner:
        __k = 5.0
        def m(self, __x):
            return __x * self.__k
    def of_a_class_within(self, x):
        return _Outer.__Inner().m(x) * self.__k
    def of_functions_within(self, __x):
        __a = 3.0
        def __h(__y):
            nonlocal __a
            __a = __a * 2.0
            return __y * __a * self.__k
        f = lambda __z=1.0: __z * __x
        return __h(__x) + f() + sum([__q * __x for __q in (1.0, 2.0)])
    def of_loops(self, x):
        __s = 0.0
        for __i in range(3):
            if __i > 0:
                __s = __s + x * __i
        while __s < 100.0:
            __s = __s * 2.0
        return __s
    def of_a_local_class(self, x):
        class D:
            __w = 7.0
            def g(self, __v):
                return __v * self.__w
        return D().g(x) * self.__k
    def __kw(self, *, __x=2.0, y):
        return __x * y * y
    def of_keywords(self, x):
        return self.__kw(y=x)
    def of_globals(self, x):
        return x * x * __G
    def of_attributes(self, x):
        other = _Outer()
        other.__state = x * 2.0
        other.__state += x
        return other.__state * x
    def of_other_objects(self, x):
        other = _Outer()
        other.__k = x
        return other.__k * x
    @staticmethod
    def of_nothing(__x):
        return __x * __x
    @classmethod
    def of_the_class(cls, __x):
        return cls.__k * __x * __x
class __:
    def of_underscores(self, __x):
        return __x * __x
_Outer__G = 11.0
def outside(x):
    class __C:
        __k = 3.0
        def __m(self, __x):
            return __x * self.__k
        def m(self, x):
            return self.__m(x)
    return __C().m(x) * x
"""


@pytest.mark.parametrize("name", [*re.findall(r"def (of_\w+|outside)", PRIVATE)])
def test_private_names_are_those_of_the_class(name: str, make: Make) -> None:
    module = make(PRIVATE).module
    owners = [module, vars(module)["__"], module._Outer()]
    owner = next(x for x in owners if hasattr(x, name))
    f = getattr(owner() if isinstance(owner, type) else owner, name)
    assert right_or_refused(f) == "right"


# --- other ways to run a text -------------------------------------------------------------------


def test_examples_of_doctest_are_captured(tmp_path: Path) -> None:
    (tmp_path / "examples.py").write_text('''"""
>>> import tracejit
>>> def f(x):
...     y = x * 2.0
...     return y * x
>>> with tracejit.config(disable_jit=True): float(tracejit.grad(f)(3.0))
12.0
>>> def f(x): return x * x * 5.0
>>> with tracejit.config(disable_jit=True): float(tracejit.grad(f)(3.0))
30.0
>>> with tracejit.config(disable_jit=True):
...     float(tracejit.grad(lambda x: 1.0 if x < 0 else x * x)(2.0))
4.0
"""''')
    run(f"import sys, doctest; sys.path.insert(0, {str(tmp_path)!r}); import examples\n"
        "assert doctest.testmod(examples) == (0, 6)")


def test_modules_in_archives_are_captured(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("zipped.py", KINDS["loop"])
    run(f"import sys; sys.path.insert(0, {str(tmp_path / 'archive.zip')!r})\n"
        "import tracejit, zipped\n"
        "with tracejit.config(disable_jit=True): assert tracejit.grad(zipped.f)(1.25) == 8.0")


def test_autoreload_and_run_of_ipython_are_followed(tmp_path: Path) -> None:
    texts = [KINDS["def"], "# above\n" + KINDS["def"].replace("2.0", "7.0"), KINDS["def"]]
    run(f"""
import os, sys, tracejit
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
sys.path.insert(0, {str(tmp_path)!r})
sys.dont_write_bytecode = True
tracejit.config(disable_jit=True).__enter__()

def run(text):
    shell.run_cell(text).raise_error()
    return shell.user_ns.get("r")

def write(text, when):
    with open({str(tmp_path / "reloaded.py")!r}, "w") as file:
        file.write(text)
    os.utime(file.name, (when, when))

def check(found, f):
    assert abs(found - (f(1.25 + 1e-6) - f(1.25 - 1e-6)) / 2e-6) < 1e-6, found

run("%load_ext autoreload\\n%autoreload 2")
for k, text in enumerate({texts!r}):
    write(text, 1e9 + 100 * k)
    if k == 0:
        run("import reloaded, tracejit\\ng = tracejit.grad(reloaded.f)")
    check(run("r = g(1.25)"), shell.user_ns["reloaded"].f)
    check(run("r = tracejit.grad(reloaded.f)(1.25)"), shell.user_ns["reloaded"].f)
    run("%run " + {str(tmp_path / "reloaded.py")!r})
    check(run("r = tracejit.grad(f)(1.25)"), shell.user_ns["f"])
""")


# --- comparing code -----------------------------------------------------------------------------

CONSTANTS = ["1", "True", "1.0", "1j", "-1j", "-1.0", "0.0", "-0.0", "0j", "complex(0.0, -0.0)",
             "(1,)", "(True,)", "(1.0,)", "((1, 2), 3)", "((1, 2.0), 3)", "'1'", "b'1'", "None",
             "...", "x in {1, 2}", "x in {True, 2}", "lambda: 1", "lambda: True",
             "lambda: lambda: 1", "lambda: lambda: 1.0", "[k for k in (1, 2)]",
             "[k for k in (1, 2.0)]", "x.real", "x.imag", "x[1]", "x[1:2]", "x[:2]", "f'{x}'",
             "f'{x!r}'", "x + 1", "1 + x", "1e999", "-1e999", "10**20", "1 if x else 2",
             "2 if x else 1", "not x", "x is x", "x == x"]


def _code_of(expression: str) -> Any:
    names: dict[str, Any] = {}
    exec(f"def f(x):\n    return {expression}", names)
    return names["f"].__code__


@pytest.mark.parametrize("a", CONSTANTS)
def test_codes_are_the_same_only_where_all_of_them_is(a: str) -> None:
    assert [b for b in CONSTANTS if is_same_code(_code_of(a), _code_of(b))] == [a]


@pytest.mark.parametrize("name", ["argparse", "ast", "collections", "copy", "dataclasses", "enum",
                                  "fractions", "functools", "inspect", "statistics", "typing",
                                  "scipy.optimize._optimize", "numpy.lib._function_base_impl",
                                  "tracejit.trace.syntax.hooked_statements"])
def test_every_function_of_a_module_is_found(name: str) -> None:
    module = importlib.import_module(name)
    functions = [f for x in vars(module).values()
                 for f in (vars(x).values() if isinstance(x, type) else [x])
                 if isinstance(f, FunctionType) and f.__code__.co_filename == module.__file__]
    assert functions
    for f in functions:
        tree = find_tree(f)
        assert tree is not None
        assert tree.args.args[:1] == [] or tree.args.args[0].arg == f.__code__.co_varnames[
            len(tree.args.posonlyargs)]


# --- who else makes code ------------------------------------------------------------------------


def asserting(x: Any, k: Any = 2.0) -> Any:
    """pytest has rewritten this function's assertions."""
    assert k == 2.0, "a message"
    assert (lambda y: y)(k) > 0.0 and k < 3.0
    y = x * k
    return y * x


def test_assertions_that_pytest_rewrites_are_followed() -> None:
    plain = compile(Path(__file__).read_text(), __file__, "exec", dont_inherit=True)
    (code,) = (c for c in plain.co_consts if getattr(c, "co_name", "") == "asserting")
    assert not is_same_code(code, asserting.__code__)  # else this tests nothing
    assert right_or_refused(asserting) == "right"


def test_a_decorated_function_is_the_one_that_is_called() -> None:
    def other(x: Any) -> Any:
        return x * 7.0

    def f(x: Any) -> Any:
        return x * 2.0

    f.__wrapped__ = other  # type: ignore[attr-defined]
    assert right_or_refused(f) == "right"


def test_an_import_hook_that_changes_the_code_is_refused(make: Make) -> None:
    source = make(KINDS["def"])
    text = source.path.read_text().replace("2.0", "7.0")  # a hook of one's own did this
    exec(compile(text, str(source.path), "exec"), vars(source.module))
    assert right_or_refused(source.module.f, source.path) == "refused"


@pytest.mark.parametrize("cell", ["def f(x):\n    return np.sin(x) * 2.0",
                                  "%time 1\ndef f(x):\n    return np.sin(x) * 2.0",
                                  "import numpy as np\ndef f(x):\n    return np.sin(x) * 2.0",
                                  "from __future__ import annotations\nf = lambda x: x * 2.0",
                                  "y = !echo 1\nf = lambda x: x * 2.0\nf",
                                  "import asyncio\nawait asyncio.sleep(0)\nf = lambda x: x * 2.0"])
def test_cells_of_ipython_are_followed(cell: str) -> None:
    script = f"""
import sys, tracejit, numpy as np
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.user_ns["np"] = np
for text in [{cell!r}, {cell.replace("2.0", "7.0")!r}, {cell!r}]:
    result = shell.run_cell(text)
    result.raise_error()
    f = shell.user_ns["f"]
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(f)(1.25)
    expected = (f(1.25 + 1e-6) - f(1.25 - 1e-6)) / 2e-6
    assert abs(found - expected) < 1e-6, (text, found, expected)
"""
    run(script)


@pytest.mark.parametrize("flag", ["", "-O", "-OO"])
def test_optimised_python_is_followed(flag: str, tmp_path: Path) -> None:
    (tmp_path / "optimised.py").write_text('''def f(x):
    """It says more."""
    assert x > 1e9, "never with -O"
    if __debug__:
        x = x * 7.0
    return x * 2.0
''')
    run(f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import tracejit, optimised
try:
    expected = (optimised.f(1.25 + 1e-6) - optimised.f(1.25 - 1e-6)) / 2e-6
except AssertionError:
    expected = None
try:
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(optimised.f)(1.25)
except AssertionError:
    found = None
assert found == expected or abs(found - expected) < 1e-6, (found, expected)
assert (found is None) == __debug__
""", *([flag] if flag else []))


def test_functions_of_generated_text_still_work() -> None:
    import collections
    import dataclasses

    pair = collections.namedtuple("pair", "a b")

    @dataclasses.dataclass
    class Point:
        a: Any
        b: Any = 2.0

    def f(x: Any) -> Any:
        p = Point(x)
        q = pair(p.a, p.b)
        return q.a * q.a * q.b

    assert right_or_refused(f) == "right"
    names: dict[str, Any] = {}
    exec("def g(x): return x * x * 2.0", names)
    assert right_or_refused(names["g"]) == "right"


def test_copies_of_code_under_other_names_are_refused_or_right(make: Make) -> None:
    source = make(KINDS["def"])
    f = source.module.f
    changed = copy.copy(f.__code__).replace(co_name="g", co_qualname="g")
    right_or_refused(FunctionType(changed, vars(source.module)))
    renamed = f.__code__.replace(co_consts=tuple(
        7.0 if c == 2.0 else c for c in f.__code__.co_consts))
    assert right_or_refused(FunctionType(renamed, vars(source.module)), source.path) == "refused"


# --- the store ----------------------------------------------------------------------------------


def run(script: str, *options: str, store: Path | None = None) -> str:
    """Run a script in a Python of its own."""
    result = subprocess.run(
        [sys.executable, *options, "-c", script], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TRACEJIT_CACHE": "1" if store else "0",
             "TRACEJIT_CACHE_DIR": str(store or "")}, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


STORED = """
import os, sys
sys.path.insert(0, {folder!r})
sys.dont_write_bytecode = True
import tracejit, stored
if {new!r} is not None:
    with open(stored.__file__, "w") as file:
        file.write({new!r})
    os.utime(stored.__file__, (10, 10))
try:
    found = float(tracejit.grad(stored.f)(1.25))
    expected = (stored.f(1.25 + 1e-6) - stored.f(1.25 - 1e-6)) / 2e-6
    assert abs(found - expected) < 1e-6, (found, expected)
    print("right")
except tracejit.Refusal:
    print("refused")
"""


@pytest.mark.parametrize("kind", ["def", "lambda", "static method", "nested", "helper"])
def test_nothing_is_filed_under_code_that_was_not_captured(kind: str, tmp_path: Path) -> None:
    text, changed = KINDS[kind], KINDS[kind].replace("3.0", "8.0", 1)
    module, store = tmp_path / "stored.py", tmp_path / "store"

    def entries() -> int:
        return len(list(store.glob("artifacts/*/*/manifest.json")))

    module.write_text(text)
    first = run(STORED.format(folder=str(tmp_path), new=changed), store=store)
    assert (first, entries()) == ("refused\n", 0)
    module.write_text(text)
    assert run(STORED.format(folder=str(tmp_path), new=None), store=store) == "right\n"
    assert entries() > 0
    module.write_text(changed)
    assert run(STORED.format(folder=str(tmp_path), new=None), store=store) == "right\n"
