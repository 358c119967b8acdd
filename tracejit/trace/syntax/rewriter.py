"""Syntax-tree pass 3: make control flow, calls and reads of outer names go through hooks.

    if test:                         def then():
        s = s + x[i]                     nonlocal s
    ...                      =>          s = s + _tj.getitem(x, i)
                                     _tj.if_(test, then, otherwise, ("s",))

The result is compiled under the user's file name with the user's line numbers, so tracebacks and
debuggers show the user's code. The names that a branch changes are cells of the nested functions,
through which the hooks save, restore and merge them.
"""

from __future__ import annotations

import ast
import copy
import inspect
from types import CodeType, FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.ground.source import FACTORY, FunctionSource, find_source, register_code
from tracejit.trace.ground.trees import SYNTAX_TREES, future_flags
from tracejit.trace.syntax.full_names import names_in, with_names
from tracejit.trace.syntax.generators import Form, NotInForm, in_form, is_generator
from tracejit.trace.syntax.hooked_functions import FunctionRewriter, strip_signature
from tracejit.trace.syntax.named_super import name_supers
from tracejit.trace.syntax.operands import hold_operands
from tracejit.trace.syntax.recursion import PlaceOfFunction, make_loops, names_of_itself
from tracejit.trace.syntax.syntax import HOOKS, Stmts, load, place

__all__ = ["rewrite_function"]

_CODES: dict[tuple[object, ...], CodeType | None] = {}
"""The rewritten codes, by file and code: functions of two files may have equal codes."""


def rewrite_function(fn: FunctionType, hooks: object, form: Form = "steps",
                     loops: frozenset[PlaceOfFunction] = frozenset()) -> FunctionType | None:
    """Return the function with its control flow going through `hooks`.

    form  -- which form it gets, if it is a generator
    loops -- the functions in it, itself among them, that call themselves and become loops

    None where there is no source to rewrite. Raises `Refusal` for syntax that is not captured, and
    `NotInForm` for a generator that has not this form.
    """
    code = fn.__code__
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        where = line_name(code.co_filename, code.co_firstlineno)
        raise Refusal(f"{where}: async code cannot be captured. "
                      "Call the compiled function from async code instead", "TJ102")
    with SYNTAX_TREES:
        own = names_of_itself(fn) if None in loops else frozenset()
        key = (code.co_filename, code, form, loops, own)
        if key not in _CODES:
            source = find_source(fn)
            _CODES[key] = None if source is None else _compile(source, fn, form, loops, own)
        new = _CODES[key]
    if new is None:
        return None
    cells = dict(zip(code.co_freevars, fn.__closure__ or (), strict=True))
    cells[HOOKS] = _cell(hooks)
    rewritten = FunctionType(new, fn.__globals__, fn.__name__, fn.__defaults__,
                             tuple(cells[name] for name in new.co_freevars))
    rewritten.__kwdefaults__ = fn.__kwdefaults__
    rewritten.__qualname__, rewritten.__module__ = fn.__qualname__, fn.__module__
    return rewritten


def _cell(content: object) -> Any:
    def inner() -> Any:
        return content

    assert inner.__closure__ is not None
    return inner.__closure__[0]


def _compile(source: FunctionSource, fn: FunctionType, form: Form,
             loops: frozenset[PlaceOfFunction], own: frozenset[str]) -> CodeType:
    assert source.tree is not None
    tree = copy.deepcopy(source.tree)
    if isinstance(tree, ast.Lambda):
        body: Stmts = [place(ast.Return(tree.body), tree.body)]
        tree = place(ast.FunctionDef("_lambda", tree.args, body, []), tree)
    if "super" not in fn.__globals__:
        name_supers(tree, "__class__" in fn.__code__.co_freevars)
    if is_generator(tree):
        try:
            tree = in_form(tree, form)
        except NotInForm as e:
            if form != "steps":
                raise
            raise e.refusal(source.file) from None
    tree.decorator_list, tree.returns = [], None
    strip_signature(tree.args)
    if loops:
        make_loops(tree, loops, own, source.file)
    free = fn.__code__.co_freevars
    rewriter = FunctionRewriter(source.file, fn)
    rewriter.function(tree)
    hold_operands(tree)
    names = [ast.arg(HOOKS), *(ast.arg(name) for name in free)]
    params = ast.arguments([], names, None, [], [], None, [])
    factory = ast.FunctionDef(FACTORY, params, [tree, ast.Return(load(tree.name))], [])
    module = ast.fix_missing_locations(ast.Module([place(factory, tree)], []))
    compiled = compile(module, source.file, "exec", future_flags(fn.__code__), dont_inherit=True)
    factory_code = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    code = next(c for c in factory_code.co_consts if isinstance(c, CodeType)
                and c.co_name == tree.name).replace(co_name=fn.__name__)
    code = with_names(code, fn.__qualname__, names_in(fn.__code__))
    _register(code, source)
    return code


def _register(code: CodeType, source: FunctionSource) -> None:
    register_code(code, source)
    for c in code.co_consts:
        if isinstance(c, CodeType):
            _register(c, source)
