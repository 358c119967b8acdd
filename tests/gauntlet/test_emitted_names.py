"""Names in emitted code: users' names change no program, and a text never becomes code."""

from __future__ import annotations

import ast
import builtins
import functools
import io
import keyword
import linecache
import re
import shutil
import subprocess
import tokenize
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import tracejit
from tracejit.codegen.c_names import c_function_name, c_name, is_reserved_in_c
from tracejit.codegen.reserved import reserved_names
from tracejit.ir.parser import parse_graph

needs_c = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

C_WORDS = """NULL EOF errno stdin stdout stderr unix linux i386 typeof asm inline restrict register
    volatile auto const signed unsigned long short int char double float void struct union enum
    typedef extern static sizeof switch case default goto do bool true false complex I imaginary
    noreturn alignas alignof size_t ssize_t int64_t uint8_t ptrdiff_t FILE INT64_MAX INT_MAX DBL_MAX
    M_PI EINVAL SIGINT RAND_MAX PRId64 SEEK_SET assert offsetof min max near far interface small
    class template typename new delete this throw try catch public private protected virtual friend
    namespace using operator explicit export mutable constexpr nullptr decltype noexcept and or not
    xor bitand bitor compl and_eq or_eq xor_eq not_eq static_cast dynamic_cast thread_local concept
    requires co_await co_return co_yield consteval constinit wchar_t char16_t final override import
    module workspace allocator tracejit_allocator signals slots emit environ main exp log""".split()
SHAPES = """o0 o1 log0 log1 top0 cap0 scope_log0 scope_log1 logmem0 logcap0 room_logmem0 at0 d0 d1
    parts_x parts_add count_x room_x scalars_f64 shared_f64 x_at y_at t0 t1 v0 v1 c0 s0 e e_2 i j k
    n m n1 i0 i1 x x_ x_2 out0 out1 out0_2 block block_2 first last begin stop part room status old
    row column held sign total kept d ctx_ arena_ kernel_ tj hooks np inf_ nan_ self args kwargs
    told_0 map_0 fold_0 step_0 stretch_0 count_0 at_x is_in left right run launch cuda""".split()
UNICODE = """α β Δ δ λ_ π µ μ θ_0 ∂x é naïve ñ ß 变量 длина ひ ℵ ﬁ x² ªb ℯ ſ ǅ İ ı 𝐱 𝒚""".split()
ODD = ["_", "__", "___", "_x", "__x", "__x__", "x__", "a__b", "A", "AB", "X1", "lambda__",
       "E", "SIG", "x" * 70, "x" * 70 + "y", "y" * 3000, "l", "O", "I1", "True_", "None_", "f64",
       "i64", "bool_"]
NAMES = sorted({name for name in [
    *(f"{word}_" for word in keyword.kwlist), *keyword.softkwlist, *dir(builtins), *C_WORDS,
    *SHAPES, *reserved_names(), *UNICODE, *ODD]
    if name.isidentifier() and not keyword.iskeyword(name) and name != "__debug__"})
FOUND = ["ctx", "ctx_", "lambda_", "in_", "class_", "return_", "_", "range", "exp", "arena", "imin",
         "radd"]
"""The names of the rows that were found."""
TEXTS = ['x"""', "'''", "\n", "\r\n", "\x00", "\x0c", "\u2028", "\u202e", "\ud800", "\\", "\\N{",
         "{0}", "#", "*/", "/*", "a b", "", "0", "0x", "in", "%1", "f(x)", "a,b", "a=b", "../../x",
         ";", "🦄"]
"""Texts that are no names."""
CODE = "__import__('builtins').__dict__.__setitem__('PWNED', True)"
INJECTIONS = [f'x"""\n{CODE}\n"""', f"\n{CODE}\n", f"\r{CODE}\r", f"\x0c\n{CODE}",
              f'"); {CODE}; ("',
              f"'''\n{CODE}\n'''", f"\\\n{CODE}\n", f'\\"""\n{CODE}\n"""', f"\u2028{CODE}\u2029",
              f"]): {CODE} #", f"x\n    {CODE}\n", f'" + {CODE} + "', f"{{{CODE}}}",
              f"*/\n#error {CODE}\n/*"]


@pytest.fixture(autouse=True)
def harmless() -> Iterator[None]:
    """Fail where text has been run."""
    yield
    assert not hasattr(builtins, "PWNED")


def defined(source: str, name: str, file: str = "<names>") -> Any:
    """Return a function of a source, whose globals have names that no user chooses."""
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    names: dict[str, Any] = {"z_sum": np.sum, "z_exp": np.exp, "z_range": range, "z_len": len}
    exec(compile(source, file, "exec"), names)
    return names[name]


ROLES = {
    "a number": ("def z_f(NAME, z_w):\n    return z_sum(z_w * NAME) * NAME + z_exp(NAME)\n",
                 "float", "f64[z_n]"),
    "an array": ("def z_f(NAME, z_w):\n    return z_sum(z_exp(NAME) * NAME) * z_w\n",
                 "f64[z_n]", "float"),
    "both": ("def z_f(NAME, z_w):\n    for z_i in z_range(z_len(z_w)):\n"
             "        NAME = NAME * z_w[z_i] + z_sum(z_w * z_w)\n    return NAME\n",
             "float", "f64[z_n]"),
    "a local": ("def z_f(z_x, z_w):\n    NAME = 0.0\n    while NAME < 3.0:\n"
                "        NAME = NAME + z_x * z_x\n        if NAME > 2.0:\n"
                "            NAME = NAME * 2.0\n    return NAME * z_w\n", "float", "float"),
    "a loop": ("def z_f(z_x, z_w):\n    z_s = 0.0\n    for NAME in z_range(z_len(z_w)):\n"
               "        z_s = z_s * z_x + z_w[NAME]\n    return z_s\n", "float", "f64[z_n]"),
    "the function": ("def NAME(z_x, z_w):\n    return z_sum(z_x * z_w)\n", "float", "f64[z_n]"),
}


def lowered(role: str, name: str, **options: Any) -> Any:
    """Return a program in which something has a name."""
    text, *specs = ROLES[role]
    called = name if role == "the function" else "z_f"
    f = defined(text.replace("NAME", name), unicodedata.normalize("NFKC", called))
    argnums = 0 if specs[1] != "float" else (0, 1)
    return tracejit.grad(f, argnums=argnums, **options).trace(*specs).lower()


def canonical(source: str) -> str:
    """Return a source with each name that is not reserved as a number, in order of appearance."""
    numbers: dict[str, str] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for field in ("id", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name not in reserved_names():
                setattr(node, field, numbers.setdefault(name, f"n{len(numbers)}"))
    tree.body = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    return ast.dump(tree)


def require_clean(source: str, target: str = "cpu") -> None:
    """Check that a module has a docstring and functions alone, and binds no name that is taken."""
    tree = ast.parse(source)
    assert isinstance(tree.body[0], ast.Expr)
    assert all(isinstance(n, ast.FunctionDef) for n in tree.body[1:])
    own = {"ctx", "arena", "run"}
    bound = {n.id for n in ast.walk(tree)
             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for fn in tree.body[1:]:
        assert isinstance(fn, ast.FunctionDef)
        parameters = [a.arg for a in fn.args.args]
        assert len(set(parameters)) == len(parameters)
        bound |= set(parameters) - own
    made = {"left", "right", "shared_places"} if target == "cuda" else set()
    assert not bound & (reserved_names(target) - made - own)
    assert not bound & {"ctx", "arena"}
    assert all(name.isascii() for name in bound)
    source.encode()
    list(tokenize.generate_tokens(io.StringIO(source).readline))


PLAIN: dict[str, str] = {}


@pytest.mark.parametrize("name", NAMES)
def test_programs_are_the_same_whatever_a_thing_is_called(name: str) -> None:
    for role in ROLES:
        if role not in PLAIN:
            PLAIN[role] = canonical(lowered(role, "z_plain").source)
        made = lowered(role, name)
        require_clean(made.source)
        if len(name) < 20:  # expressions are put together while they are short
            assert canonical(made.source) == PLAIN[role], (role, name)
        graph = str(made.traced.graph)
        assert re.sub(r" *#.*", "", str(parse_graph(graph))) == re.sub(r" *#.*| *--.*\n", "", graph)


@pytest.mark.parametrize("name", FOUND)
def test_the_names_that_were_found_give_gradients(name: str) -> None:
    f = defined(f"def z_f({name}, z_y, z_w):\n"
                f"    return z_y * {name} + z_sum(z_w * {name}) * z_y\n", "z_f")
    found = tracejit.grad(f, argnums=(0, 1, 2))(2.0, 3.0, np.array([1.0, 2.0]))
    assert [np.asarray(x).tolist() for x in found] == [12.0, 8.0, [6.0, 6.0]]


@pytest.mark.parametrize("name", NAMES[::4])
@pytest.mark.parametrize("role", ["a number", "an array", "a local"])
def test_compiled_programs_give_the_gradient_whatever_a_thing_is_called(
        role: str, name: str) -> None:
    text, *specs = ROLES[role]
    f = defined(text.replace("NAME", name), "z_f")
    args = [np.array([0.5, 0.75]) if s.startswith("f64") else 0.75 for s in specs]
    found = tracejit.grad(f)(*args)
    with tracejit.config(disable_jit=True):
        expected = tracejit.grad(f)(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_sizes_may_have_any_name(name: str) -> None:
    f = defined("def z_f(z_x, z_w):\n    return z_sum(z_x * z_w[:-1] * z_len(z_w))\n", "z_f")
    found = tracejit.grad(f).trace(f"f64[{name}]", "f64[z_m]").lower()
    require_clean(found.source)
    graph = str(found.traced.graph)
    assert str(parse_graph(graph)).split("{")[0] == graph.split("{")[0]


@pytest.mark.parametrize("text", [*TEXTS, *INJECTIONS])
def test_sizes_in_a_spec_are_names_or_numbers(text: str) -> None:
    if all(not p.strip() or p.strip().isidentifier() or p.strip().isdigit()
           for p in text.split(",")):
        return  # these are
    with pytest.raises((ValueError, TypeError)):
        tracejit.grad(lambda x: np.sum(x)).trace(tracejit.spec(f"f64[{text}]"))


@pytest.mark.parametrize("name", NAMES)
def test_kernels_for_a_device_bind_no_name_that_is_taken(name: str) -> None:
    pytest.importorskip("numba_cuda")
    for role in ("a number", "an array", "a loop"):
        require_clean(lowered(role, name, target="cuda").source, "cuda")


# --- text that is no name -----------------------------------------------------------------------


def run_source(source: str) -> None:
    """Run emitted source at module level: a text in it that were code would run."""
    require_clean(source)
    exec(compile(source, "<emitted>", "exec"), {})


@pytest.mark.parametrize("text", [*TEXTS, *INJECTIONS])
def test_keys_of_arguments_may_be_any_text(text: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(x[text] ** 2) * x["other"]

    made = tracejit.grad(f).trace({text: tracejit.spec("f64[n]"), "other": 2.0}).lower()
    run_source(made.source)
    assert str(parse_graph(str(made.traced.graph)))
    with tracejit.config(disable_jit=True):
        found = tracejit.grad(f)({text: np.ones(2), "other": 2.0})
    assert found[text].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("attribute", ["__name__", "__qualname__", "__module__"])
@pytest.mark.parametrize("text", [*TEXTS, *INJECTIONS])
def test_functions_may_be_called_any_text(attribute: str, text: str) -> None:
    def f(x: Any) -> Any:
        return np.sum(x * x)

    setattr(f, attribute, text)
    for transform in (tracejit.grad, tracejit.jit, tracejit.value_and_grad):
        made = transform(f).trace(tracejit.spec("f64[n]")).lower()
        run_source(made.source)
        assert str(parse_graph(str(made.traced.graph)))


@pytest.mark.parametrize("text", [*TEXTS, *INJECTIONS])
def test_files_may_be_called_any_text(text: str) -> None:
    if "\x00" in text or "\ud800" in text:
        return  # Python compiles nothing under such a name
    f = defined("def z_f(z_x):\n    if z_x < 0.0:\n        raise ValueError('less')\n"
                "    return z_x * z_exp(z_x)\n", "z_f", f"/home/{text}.py")
    made = tracejit.grad(f).trace("float").lower()
    run_source(made.source)
    assert str(parse_graph(str(made.traced.graph)))


@pytest.mark.parametrize("text", [*TEXTS, *INJECTIONS])
def test_formats_and_messages_may_be_any_text(text: str) -> None:
    def f(x: Any) -> Any:
        tracejit.debug_print(text.replace("{", "{{").replace("}", "}}") + " {}", x)
        if x < 0.0:
            raise ValueError(text)
        return x * x

    made = tracejit.grad(f).trace("float").lower()
    run_source(made.source)
    assert str(parse_graph(str(made.traced.graph)))


@pytest.mark.parametrize("number", [0, 4, 11, 12])
def test_ops_may_be_called_any_text(number: int) -> None:
    name = f"{INJECTIONS[number]}{number}"
    op = tracejit.register_op(name, numba.njit(lambda x: 2.0 * x))
    run_source(tracejit.jit(lambda x: np.sum(op(x))).trace("f64[n]").lower().source)
    plain = tracejit.register_op(f"{name} of Python", lambda x: 2.0 * x)
    run_source(tracejit.jit(lambda x: np.sum(plain(x))).trace("f64[n]").lower().source)


@pytest.mark.parametrize("text", INJECTIONS)
def test_scripts_that_reproduce_a_compilation_run_no_text(text: str, tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        tracejit.debug_print(text.replace("{", "{{").replace("}", "}}") + " {}", x["k"])
        return np.sum(x["k"] * x[text])

    f.__name__ = text
    with tracejit.config(dump=str(tmp_path)):
        tracejit.jit(f).trace({text: 2.0, "k": 3.0}).lower()
    scripts = list(tmp_path.rglob("*.py"))
    assert scripts
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))
    for path in scripts:
        words = [n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                 if isinstance(n, ast.Name)]
        assert "__import__" not in {n.id for n in words}


def test_a_name_that_was_found_to_run_when_compiled_does_not(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return x * x * 3.0

    f.__name__ = f'x"""\n{CODE}\n"""'
    with tracejit.config(dump=str(tmp_path)):
        assert tracejit.grad(f)(2.0) == 12.0


# --- bound methods ------------------------------------------------------------------------------


class Model:
    def loss(self, weights: Any, rate: Any = 2.0) -> Any:
        return np.sum(weights * weights) * rate

    def __call__(self, inputs: Any) -> Any:
        return np.sum(inputs)

    @classmethod
    def made(cls, start: Any) -> Any:
        return start * start

    @staticmethod
    def still(point: Any) -> Any:
        return point * point


@pytest.mark.parametrize(("fn", "specs", "names"), [
    (Model().loss, ("f64[n]", "float"), ["weights", "rate"]),
    (Model(), ("f64[n]",), ["inputs"]),
    (Model.made, ("float",), ["start"]),
    (Model.still, ("float",), ["point"]),
    (lambda a, /, b: a * b, ("float", "float"), ["a", "b"]),
    (lambda *a: a[0] * a[1], ("float",) * 2, ["arg0", "arg1"]),
    (functools.partial(lambda k, x, y: k * x * y, 2.0), ("float",) * 2, ["x", "y"]),
])
def test_arguments_are_called_as_in_the_call(fn: Any, specs: Any, names: list[str]) -> None:
    traced = tracejit.jit(fn).trace(*specs)
    assert [v.name for v in traced.graph.inputs][:len(names)] == names


# --- C ------------------------------------------------------------------------------------------

HEADERS = ["assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits",
           "locale", "math", "setjmp", "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio",
           "stdlib", "string", "time", "wchar", "wctype", "unistd", "fcntl", "sys/types",
           "sys/stat", "sys/socket", "pthread", "tgmath"]


def test_names_in_headers_are_different_words_that_mean_nothing() -> None:
    taken: set[str] = set()
    made = [c_name(name, taken) for name in [*NAMES, *TEXTS, *keyword.kwlist, *NAMES]]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) for name in made)
    assert not any(map(is_reserved_in_c, made))


@needs_c
@pytest.mark.parametrize("compiler", [
    ["cc", "-x", "c", "-std=gnu17"], ["cc", "-x", "c", "-std=c99"],
    ["cc", "-x", "c", "-std=gnu2x"], ["g++", "-x", "c++", "-std=gnu++20"],
    ["g++", "-x", "c++", "-std=c++11"]])
def test_compilers_take_names_of_headers_beside_the_standard_ones(
        compiler: list[str], tmp_path: Path) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip("no such compiler")
    headers = HEADERS if "c++" not in compiler else [h for h in HEADERS if h not in (
        "complex", "tgmath")]
    lines = [f"#include <{h}.h>" for h in headers]
    taken: set[str] = set()
    for k, name in enumerate([*NAMES, *TEXTS, *keyword.kwlist]):
        lines.append(f"double z_{k}(double {c_name(name, taken)}, int64_t z_n);")
    path = tmp_path / "names.c"
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run([*compiler, "-fsyntax-only", "-w", str(path)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


EXPORTED = ["NULL", "unix", "linux", "typeof", "int", "class", "I", "α", "x x_ x__ X", "workspace"]


@needs_c
@pytest.mark.parametrize("names", EXPORTED)
def test_headers_compile_whatever_arguments_are_called(names: str, tmp_path: Path) -> None:
    keys = names.split()
    source = f"z_f = lambda z_d: {' * '.join(f'z_d[{key!r}].sum()' for key in keys)}\n"
    f = defined(source, "z_f", f"<export {names}>")
    f.__name__ = f"{keys[0]}\n*/ #error\n"
    spec = {key: tracejit.spec("f64[n]") for key in keys}
    compiled = tracejit.value_and_grad(f).trace(spec).lower().compile()
    compiled.export(tmp_path / "lib.o")
    for language, includes in (("c", "#include <complex.h>\n#include <math.h>\n"), ("c++", "")):
        main = tmp_path / f"main.{language.replace('+', 'x')}"
        main.write_text(f'{includes}#include "lib.h"\n')
        if language == "c++" and shutil.which("g++") is None:
            continue
        done = subprocess.run(["cc", "-x", language, "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                               str(main)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", [*TEXTS, *INJECTIONS, "exp", "main", "int", "α", "NULL", "_l"])
def test_functions_of_exported_programs_have_names(text: str) -> None:
    name = c_function_name(text)
    assert re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name)
    assert not is_reserved_in_c(name)
    assert name not in ("exp", "main")


@pytest.mark.parametrize("name", ["int", "NULL", "1x", "a b", "x\n", "_x", "a__b"])
def test_a_function_is_not_exported_under_a_word_of_c(name: str, tmp_path: Path) -> None:
    compiled = tracejit.jit(lambda x: x * 2.0).trace("float").lower().compile()
    with pytest.raises(ValueError, match="is no name for a C function"):
        compiled.export(tmp_path / "lib.h", name=name)


def test_there_are_five_hundred_names() -> None:
    assert len(NAMES) >= 500
