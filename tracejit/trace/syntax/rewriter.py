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
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType, FunctionType
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.ground.source import FunctionSource, find_source, register_code
from tracejit.trace.ground.trees import SYNTAX_TREES, future_flags
from tracejit.trace.syntax.generators import Form, NotInForm, in_form, is_generator, yields
from tracejit.trace.syntax.jumps import VALUE, lower_jumps, stop_flags
from tracejit.trace.syntax.liveness import (
    ALL_NAMES,
    SCOPES,
    Changes,
    analyse,
    local_names,
    own_nodes,
    stored_names,
)
from tracejit.trace.syntax.recursion import PlaceOfFunction, make_loops, names_of_itself
from tracejit.trace.syntax.syntax import HOOKS, assign, constant, hook, load, place, thunk

__all__ = ["rewrite_function"]

Stmts = list[ast.stmt]

_CODES: dict[tuple[object, ...], CodeType | None] = {}
"""What has been rewritten, by file and code: codes are equal where functions of two files are."""


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
                      "Call the compiled function from async code instead")
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
    if is_generator(tree):
        try:
            tree = in_form(tree, form)
        except NotInForm as e:
            if form != "steps":
                raise
            raise e.refusal(source.file) from None
    tree.decorator_list, tree.returns = [], None
    _strip(tree.args)
    if loops:
        make_loops(tree, loops, own, source.file)
    free = fn.__code__.co_freevars
    rewriter = _Rewriter(source.file, fn)
    rewriter.function(tree)
    names = [ast.arg(HOOKS), *(ast.arg(name) for name in free)]
    params = ast.arguments([], names, None, [], [], None, [])
    factory = ast.FunctionDef("_tj_factory", params, [tree, ast.Return(load(tree.name))], [])
    module = ast.fix_missing_locations(ast.Module([place(factory, tree)], []))
    compiled = compile(module, source.file, "exec", future_flags(fn.__code__), dont_inherit=True)
    factory_code = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    code = next(c for c in factory_code.co_consts if isinstance(c, CodeType)
                and c.co_name == tree.name).replace(
                    co_name=fn.__name__, co_qualname=fn.__qualname__)
    _register(code, source)
    return code


def _strip(args: ast.arguments) -> None:
    """Take default values and annotations out; the function object brings its defaults along."""
    args.defaults = [constant(None) for _ in args.defaults]
    args.kw_defaults = [None if d is None else constant(None) for d in args.kw_defaults]
    for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if a is not None:
            a.annotation = None


def _register(code: CodeType, source: FunctionSource) -> None:
    register_code(code, source)
    for c in code.co_consts:
        if isinstance(c, CodeType):
            _register(c, source)


def _looks_at_frame(s: ast.stmt) -> bool:
    """Return whether a statement has what only works in the function's own frame."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) or (
        isinstance(n, ast.Name) and n.id in ("super", "__class__", *ALL_NAMES))
        for n in own_nodes([s]))


class _Rewriter(ast.NodeTransformer):
    """Transforms one function and those nested in it."""

    def __init__(self, file: str, fn: FunctionType) -> None:
        self.file = file
        self.free = fn.__code__.co_freevars
        self.scopes: list[set[str]] = []
        self.class_names: set[str] = set()
        """What the class statement binds whose body is rewritten: no function in it sees these."""
        self.assignable: set[str] = set()
        self.unsure: set[str] = set()
        self.changes: dict[ast.stmt, Changes] = {}
        self.before: Stmts = []
        self.count = 0

    # --- functions ------------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef) -> None:
        """Rewrite a function's body in place."""
        self._refuse_syntax(node)
        self._refuse_outer_names(node)
        local = local_names(node)
        body = lower_jumps(node.body)
        declared = {name for n in own_nodes(node.body) if isinstance(n, ast.Nonlocal)
                    for name in n.names}
        local |= stored_names(body) - declared
        outer = self.changes, self.unsure, self.assignable
        self.assignable = local | declared
        self.changes = analyse(body, self.assignable, declared)
        bound_by_tests = {n for names in _walrus_targets(body) for n in names}
        self.unsure = bound_by_tests.union(declared, *(c.stored for c in self.changes.values()))
        self.scopes.append(local)
        new = self.block(body)
        shared = {n for c in self.changes.values() for n in c.stored}
        shared |= bound_by_tests
        params = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        unbound = sorted(shared - params - declared)
        if unbound:
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in unbound]
            unreachable = ast.If(constant(False), [ast.Assign(targets, constant(None))], [])
            new = [place(unreachable, node), *new]
        owned = local & {name for f in own_nodes(node.body) if isinstance(f, SCOPES)
                         for n in ast.walk(f) if isinstance(n, ast.Nonlocal) for name in n.names}
        if getattr(node, "tj_by_steps", False):  # a generator, whatever is left of its yields
            forms = ast.Tuple([load(f) for f in getattr(node, "tj_forms", ())], ast.Load())
            unreachable = ast.If(constant(False), [ast.Expr(ast.Yield(forms))], [])
            new = [place(unreachable, node), *new]
        for name, names in (("rebinds", declared), ("owns", owned)):
            if names:
                cells = thunk(ast.Tuple([load(n) for n in sorted(names)], ast.Load()))
                new = [place(ast.Expr(hook(name, cells)), node), *new]
        self.scopes.pop()
        self.changes, self.unsure, self.assignable = outer
        node.body = new

    def _refuse_outer_names(self, node: ast.FunctionDef) -> None:
        declarations = [n for n in own_nodes(node.body) if isinstance(n, ast.Nonlocal)]
        for n in declarations:
            for name in n.names:
                if not any(name in scope for scope in self.scopes):
                    where = line_name(self.file, n.lineno)
                    raise Refusal(f"{where}: binding {name!r} by `nonlocal` in a function that "
                                  "was made outside of the captured one. Return the new value "
                                  "and assign it outside")

    def _refuse_syntax(self, node: ast.FunctionDef) -> None:
        for n in own_nodes(node.body):
            for kinds, what, remedy in _REFUSED:
                if isinstance(n, kinds):
                    where = line_name(self.file, n.lineno)
                    raise Refusal(f"{where}: {what} cannot be captured. {remedy}")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        outer, self.class_names = self.class_names, set()
        forms = self._forms(node)
        for f in (*forms, node):
            self.function(f)
        self.class_names = outer
        return [*forms, node] if forms else node

    def _forms(self, node: ast.FunctionDef, of_class: bool = False) -> list[ast.FunctionDef]:
        """Return a local generator in its other forms; it is one by steps, and names the others."""
        if hasattr(node, "tj_by_steps") or not is_generator(node):
            return []
        found: list[ast.FunctionDef] = []
        for form in ("each", "until") if not of_class or not _needs_class(node) else ():
            with suppress(NotInForm):
                found.append(in_form(node, form))
                found[-1].name = self._fresh(f"form_{form}")
        node.body = self._by_steps(node, not found)
        node.tj_by_steps = True  # type: ignore[attr-defined]
        node.tj_forms = [f.name for f in found]  # type: ignore[attr-defined]
        for f in found:
            f.decorator_list, f.returns = [], None
            _strip(f.args)
        return found

    def _by_steps(self, node: ast.FunctionDef, required: bool) -> Stmts:
        try:
            return in_form(node, "steps").body
        except NotInForm as e:
            if required:
                raise e.refusal(self.file) from None
            refused = hook("no_steps", constant(e.what), constant(e.remedy))
            return [place(ast.Expr(refused), node), place(ast.Expr(ast.Yield(None)), node)]


    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        self.scopes.append(local_names(node))
        outer = self.unsure, self.class_names
        self.unsure, self.class_names = self.unsure - self.scopes[-1], set()
        node.body = self.visit(node.body)
        self.unsure, self.class_names = outer
        self.scopes.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.decorator_list = [self.visit(n) for n in node.decorator_list]
        node.bases = [self.visit(n) for n in node.bases]
        node.keywords = [self.visit(n) for n in node.keywords]
        outer, self.class_names = self.class_names, stored_names(node.body)
        forms = [f for n in node.body if isinstance(n, ast.FunctionDef)
                 for f in self._forms(n, of_class=True)]
        names, self.class_names = self.class_names, outer
        for f in forms:
            self.function(f)
        self.before += forms
        self.class_names = names
        for n in node.body:
            self._in_class(n)
        self.class_names = outer
        return place(ast.With([ast.withitem(hook("watched"))], [node]), node)

    def _in_class(self, s: ast.stmt) -> None:
        """Rewrite a statement of a class's body, whose names are no cells: it runs in Python."""
        if isinstance(s, ast.FunctionDef) and is_generator(s) and not hasattr(s, "tj_by_steps"):
            s.body = self._by_steps(s, True)
            s.tj_by_steps = True  # type: ignore[attr-defined]
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            self.visit(s)
            return
        for field, part in ast.iter_fields(s):
            if isinstance(part, ast.expr) and field != "target" and not isinstance(s, ast.Delete):
                new = self.visit(part)
                new = place(hook("iterate", new), part) if field == "iter" else new
                setattr(s, field, place(hook("truth", new), part) if field == "test" else new)
            for inner in part if isinstance(part, list) else ():
                for n in getattr(inner, "body", ()) if not isinstance(inner, ast.stmt) else [inner]:
                    self._in_class(n)

    def _import(self, s: ast.Import) -> Stmts:
        """Import by hooks, so that the modules are captured state."""
        result: Stmts = []
        for alias in s.names:
            name = alias.asname or alias.name.partition(".")[0]
            call = hook("import_", constant(alias.name), constant(alias.asname is None))
            result.append(ast.Assign([ast.Name(name, ast.Store())], call))
        return result

    def _importfrom(self, s: ast.ImportFrom) -> Stmts:
        return [ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())],
                           hook("import_from", constant(s.module or ""), constant(s.level),
                                constant(alias.name))) for alias in s.names]

    # --- statements -----------------------------------------------------------------------------

    def block(self, stmts: Sequence[ast.stmt]) -> Stmts:
        """Rewrite a statement list."""
        result: Stmts = []
        for s in stmts:
            outer, self.before = self.before, []
            new = self.statement(s)
            result += [*self.before, *new]
            self.before = outer
        return result

    def statement(self, s: ast.stmt) -> Stmts:
        """Rewrite one statement."""
        kind = type(s).__name__.lower()
        handler = getattr(self, f"_{kind}", None)
        if yields([s]):
            handler = getattr(self, f"_python_{kind}", handler)
        if handler is None:
            new = self.visit(s)
            return new if isinstance(new, list) else [new]
        new = handler(s)
        if s in self.changes and (dead := self.changes[s].dead):
            forget = hook("forgets", thunk(ast.Tuple([load(n) for n in dead], ast.Load())))
            new = [*new, ast.Expr(forget)]
        return [place(n, s) for n in (new if isinstance(new, list) else [new])]

    def _region(self, name: str, body: Stmts, like: ast.stmt | ast.ExceptHandler,
                params: Sequence[str] = ()) -> ast.stmt:
        """Return a nested function that holds a branch or a loop's body."""
        stored = sorted(stored_names(body) & self.assignable)
        nonlocal_: Stmts = [ast.Nonlocal(stored)] if stored else []
        args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
        inner = self.block(body) or [ast.Pass()]
        return place(ast.FunctionDef(name, args, nonlocal_ + inner, []), like)

    def _fresh(self, stem: str) -> str:
        self.count += 1
        return f"_tj_{stem}{self.count}"

    def _names(self, s: ast.stmt) -> ast.expr:
        changes = self.changes[s]
        return ast.Tuple([constant(n) for n in changes.carried], ast.Load())

    def _if(self, s: ast.If) -> Stmts:
        test = self.visit(_tested(s.test))
        then, other = self._fresh("then"), self._fresh("else")
        call = hook("if_", test, load(then), load(other), self._names(s))
        return [self._region(then, s.body, s), self._region(other, s.orelse, s), ast.Expr(call)]

    def _while(self, s: ast.While) -> Stmts:
        cond, body = self._fresh("while"), self._fresh("body")
        flags: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(f)) for f in stop_flags(s)]
        test = _tested(ast.BoolOp(ast.And(), [*flags, s.test]) if flags else s.test)
        head = self._region(cond, [place(ast.Return(place(test, s.test)), s.test)], s)
        of = getattr(s, "tj_of", None)  # the arguments of a function that is made a loop
        call = hook("while_", load(cond), load(body), self._changes(s)) if of is None else hook(
            "recursion", load(cond), load(body), self._changes(s),
            *(self.visit(place(load(name), s)) for name in of))
        return [head, self._region(body, s.body, s), ast.Expr(call)]

    def _for(self, s: ast.For) -> Stmts:
        iterable = self.visit(s.iter)
        body, item = self._fresh("body"), self._fresh("item")
        bind = place(ast.Assign([s.target], load(item)), s.target)
        stop: ast.expr = constant(None)
        if stop_flags(s):
            flags: list[ast.expr] = [load(f) for f in stop_flags(s)]
            test = ast.BoolOp(ast.Or(), flags) if len(flags) > 1 else flags[0]
            stop = thunk(self.visit(place(test, s)))
        call = hook("for_", iterable, load(body), self._changes(s), stop)
        return [self._region(body, [bind, *s.body], s, [item]), ast.Expr(call)]

    def _python_if(self, s: ast.If) -> Stmts:
        """Leave an `if` around a `yield` to Python; so it is with loops."""
        test = hook("decided", self.visit(_tested(s.test)))
        return [ast.If(test, self.block(s.body) or [ast.Pass()], self.block(s.orelse))]

    def _python_while(self, s: ast.While) -> Stmts:
        flags: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(f)) for f in stop_flags(s)]
        test = _tested(ast.BoolOp(ast.And(), [*flags, s.test]) if flags else s.test)
        return [ast.While(hook("decided", self.visit(place(test, s.test))), self.block(s.body), [])]

    def _python_for(self, s: ast.For) -> Stmts:
        items, item = hook("one_by_one", self.visit(s.iter)), self._fresh("item")
        bind = place(ast.Assign([s.target], load(item)), s.target)
        leave: Stmts = []
        if stop_flags(s):
            flags: list[ast.expr] = [load(f) for f in stop_flags(s)]
            test = ast.BoolOp(ast.Or(), flags) if len(flags) > 1 else flags[0]
            leave = [ast.If(hook("decided", self.visit(place(test, s))), [ast.Break()], [])]
        return [ast.For(ast.Name(item, ast.Store()), items,
                        [*self.block([bind, *s.body]), *leave], [])]

    def _changes(self, s: ast.stmt) -> ast.expr:
        """Return the names (carried, rebound, written, stop flags) of a loop as a constant."""
        c = self.changes[s]
        groups = (c.carried, c.rebound, c.written, stop_flags(s))
        return ast.Tuple([ast.Tuple([constant(n) for n in names], ast.Load()) for names in groups],
                         ast.Load())

    def _with(self, s: ast.With) -> ast.stmt:
        items = [ast.withitem(hook("managed", self.visit(item.context_expr)), item.optional_vars)
                 for item in s.items]
        return ast.With(items, self.block(s.body))

    def _try(self, s: ast.Try) -> Stmts | ast.stmt:
        if not s.handlers or _looks_at_frame(s):
            return self._plain_try(s)
        if s.finalbody:
            inner = place(ast.Try(s.body, s.handlers, s.orelse, []), s)
            self.changes[inner] = self.changes[s]
            return self._plain_try(place(ast.Try([inner], [], [], s.finalbody), s))
        body, orelse = self._fresh("try"), self._fresh("else")
        result = [self._region(body, s.body, s), self._region(orelse, s.orelse, s)]
        handlers: list[ast.expr] = []
        for h in s.handlers:
            name, error = self._fresh("except"), self._fresh("error")
            inside = list(h.body)
            if h.name:
                inside = [place(assign(h.name, load(error)), h), *inside,
                          place(ast.Delete([ast.Name(h.name, ast.Del())]), h)]
            result.append(self._region(name, inside, h, [error]))
            caught = thunk(self.visit(h.type) if h.type else load("BaseException"))
            handlers.append(ast.Tuple([caught, load(name), constant(h.name or "")], ast.Load()))
        changes = self.changes[s]
        groups = ast.Tuple([ast.Tuple([constant(n) for n in names], ast.Load()) for names in (
            changes.carried, changes.exact, changes.after)], ast.Load())
        call = hook("try_", load(body), ast.Tuple(handlers, ast.Load()), load(orelse), groups)
        return [*result, ast.Expr(call)]

    def _plain_try(self, s: ast.Try) -> ast.stmt:
        body = self.block(s.body)
        if not s.handlers:
            body = [ast.With([ast.withitem(hook("in_try", thunk(ast.Tuple([], ast.Load()))))],
                             body)]
        for h in s.handlers:
            h.type = h.type and self.visit(h.type)
        if s.handlers:
            caught: list[ast.expr] = [copy.deepcopy(h.type) or load("BaseException")
                                      for h in s.handlers]
            types = thunk(ast.Tuple(caught, ast.Load()))
            body = [ast.With([ast.withitem(hook("in_try", types))], body)]
        for h in s.handlers:
            h.body = [place(ast.Expr(hook("caught")), h), *self.block(h.body)]
        return ast.Try(body, s.handlers, self.block(s.orelse), self.block(s.finalbody))

    def _match(self, s: ast.Match) -> ast.stmt:
        for case in s.cases:
            self._guard_pattern(case.pattern)
            case.guard = case.guard and self.visit(case.guard)
            case.body = self.block(case.body)
        names = {name for case in s.cases for n in ast.walk(case.pattern)
                 if isinstance(n, ast.MatchClass) and (n.patterns or n.kwd_attrs)
                 for name in ("__match_args__", *n.kwd_attrs)}
        return ast.Match(hook("matched", self.visit(s.subject), *map(constant, sorted(names))),
                         s.cases)

    def _guard_pattern(self, pattern: ast.pattern) -> None:
        """Read the names of a pattern before the `match`, which reads them by itself."""
        for n in ast.walk(pattern):
            read = n.value if isinstance(n, ast.MatchValue) else (
                n.cls if isinstance(n, ast.MatchClass) else None)
            if read is not None and not isinstance(read, ast.Constant):
                self.before.append(place(ast.Expr(hook("matched", self.visit(
                    copy.deepcopy(read)))), read))

    def _assert(self, s: ast.Assert) -> ast.stmt:
        message = thunk(self.visit(s.msg)) if s.msg is not None else constant(None)
        return ast.Expr(hook("assert_", self.visit(s.test), message))

    def _raise(self, s: ast.Raise) -> ast.stmt:
        if s.exc is None:
            return ast.Expr(hook("reraise"))
        return ast.Expr(hook("raise_", thunk(self.visit(s.exc)),
                             *([self.visit(s.cause)] if s.cause else [])))

    def _assign(self, s: ast.Assign) -> Stmts:
        value = self.visit(s.value)
        if len(s.targets) == 1:
            return self._bind(s.targets[0], value)
        name = self._fresh("value")
        result: Stmts = [ast.Assign([ast.Name(name, ast.Store())], value)]
        for target in s.targets:
            result += self._bind(target, load(name))
        return result

    def _bind(self, target: ast.expr, value: ast.expr) -> Stmts:
        """Return the statements that assign a value to a target."""
        if isinstance(target, ast.Name):
            return [ast.Assign([target], value)]
        if isinstance(target, ast.Subscript):
            return [ast.Expr(hook("setitem", value, self.visit(target.value),
                                  self._key(target.slice)))]
        if isinstance(target, ast.Attribute):
            owner = self.visit(target.value)
            return [ast.Expr(hook("setattr", value, owner, constant(target.attr)))]
        assert isinstance(target, (ast.Tuple, ast.List))
        starred = any(isinstance(t, ast.Starred) for t in target.elts)
        count = constant(None if starred else len(target.elts))
        if all(isinstance(t, (ast.Name, ast.Starred)) for t in target.elts):
            return [ast.Assign([ast.Tuple(target.elts, ast.Store())],
                               hook("unpack", value, count))]
        temporaries: list[ast.expr] = []
        after: Stmts = []
        for t in target.elts:  # bound from left to right: an index may be among what is bound
            name = self._fresh("part")
            part: ast.expr = ast.Name(name, ast.Store())
            temporaries.append(ast.Starred(part, ast.Store()) if isinstance(t, ast.Starred)
                               else part)
            after += self._bind(t.value if isinstance(t, ast.Starred) else t, load(name))
        unpack = ast.Assign([ast.Tuple(temporaries, ast.Store())], hook("unpack", value, count))
        return [unpack, *after]

    def _delete(self, s: ast.Delete) -> Stmts:
        result: Stmts = []
        for t in s.targets:
            if isinstance(t, ast.Subscript):
                result.append(ast.Expr(hook("delitem", self.visit(t.value), self._key(t.slice))))
            elif isinstance(t, ast.Attribute):
                result.append(ast.Expr(hook("delattr", self.visit(t.value), constant(t.attr))))
            else:
                result.append(ast.Delete([t]))
        return result

    def _annassign(self, s: ast.AnnAssign) -> Stmts:
        if s.value is None:
            return [ast.Pass()]
        return self._bind(s.target, self.visit(s.value))

    def _augassign(self, s: ast.AugAssign) -> Stmts:
        name = constant(type(s.op).__name__)
        value = self.visit(s.value)
        target = s.target
        if isinstance(target, ast.Name):
            read = self.visit(ast.copy_location(load(target.id), target))
            return [ast.Assign([target], hook("augment", name, read, value))]
        if isinstance(target, ast.Subscript):
            item = hook("item", self.visit(target.value), self._key(target.slice))
            return [ast.Expr(hook("augment_item", name, item, value))]
        assert isinstance(target, ast.Attribute)
        attribute = hook("attribute", self.visit(target.value), constant(target.attr))
        return [ast.Expr(hook("augment_attr", name, attribute, value))]

    # --- expressions ----------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id == HOOKS or node.id.startswith("_tj_"):
            if node.id in self.unsure and isinstance(node.ctx, ast.Load) and node.id != VALUE:
                return place(hook("read", node), node)
            return node
        if node.id in self.class_names:
            names = ast.Call(load("locals"), [], [])
            return place(hook("class_name", constant(node.id), names), node)
        if any(node.id in scope for scope in self.scopes):
            if node.id in self.unsure:
                return place(hook("read", node), node)
            return node
        return place(hook("outer", constant(node.id)), node)

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            return place(hook("getattr", node.value, constant(node.attr)), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load):
            return place(hook("getitem", self.visit(node.value), self._key(node.slice)), node)
        return self.generic_visit(node)

    def _key(self, key: ast.expr) -> ast.expr:
        """Return a subscript as an expression that makes its slices."""
        if isinstance(key, ast.Slice):
            parts = [constant(None) if p is None else self.visit(p)
                     for p in (key.lower, key.upper, key.step)]
            return place(hook("slice", *parts), key)
        if isinstance(key, ast.Tuple):
            return place(ast.Tuple([self._key(k) for k in key.elts], ast.Load()), key)
        visited: ast.expr = self.visit(key)
        return visited

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and not self._is_bound(node.func.id):
            if node.func.id == "super":  # it looks at the frame
                node.args = [self.visit(a) for a in node.args]
                return node
            if node.func.id in ("globals", "locals", "vars", "dir") and not node.args:
                return place(hook(node.func.id, *([] if node.func.id == "globals" else [
                    ast.Call(load("locals"), [], [])])), node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and (
                node.func.value.id == HOOKS):
            return self._own_call(node)
        args = [self._comprehension(a, "generated") if isinstance(a, ast.GeneratorExp)
                else self.visit(a) for a in node.args]
        keywords = [self.visit(k) for k in node.keywords]
        call = hook("call", self.visit(node.func), *args)
        call.keywords = keywords
        return place(call, node)

    def _is_bound(self, name: str) -> bool:
        return name in self.free or any(name in scope for scope in self.scopes)

    def _own_call(self, node: ast.Call) -> ast.Call:
        """Leave the hooks that an earlier pass put in."""
        node.args = [a if isinstance(a, ast.Lambda) else self.visit(a) for a in node.args]
        return node

    def _deferred(self, node: ast.expr) -> ast.expr:
        """Return a function of no arguments that evaluates an expression later, if at all."""
        targets = {n.id for w in ast.walk(node) if isinstance(w, ast.NamedExpr)
                   for n in [w.target]}
        if self.class_names & {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            where = line_name(self.file, node.lineno)
            raise Refusal(f"{where}: a choice in the body of a class that reads the class's own "
                          "names cannot be captured. Make it in a method, or before the class")
        body = self.visit(node)
        if not targets:
            return place(thunk(body), node)
        name = self._fresh("later")
        define = ast.FunctionDef(name, ast.arguments([], [], None, [], [], None, []),
                                 [ast.Nonlocal(sorted(targets)), ast.Return(body)], [])
        self.before.append(place(define, node))
        names = ast.Tuple([constant(n) for n in sorted(targets)], ast.Load())
        return place(hook("binding", load(name), names), node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        first, *rest = node.values
        return place(hook(name, self.visit(first), *map(self._deferred, rest)), node)

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            return node
        name = constant(type(node.op).__name__)
        return place(hook("binary", name, self.visit(node.left), self.visit(node.right)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return place(hook("not_", self.visit(_tested(node.operand))), node)
        if isinstance(node.operand, ast.Constant):
            return node
        return place(hook("unary", constant(type(node.op).__name__), self.visit(node.operand)),
                     node)

    def visit__Truth(self, node: _Truth) -> Any:
        return place(hook("tested", self.visit(node.operand)), node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        return place(hook("choose", self.visit(_tested(node.test)), self._deferred(node.body),
                          self._deferred(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        operators = [constant(type(op).__name__) for op in node.ops]
        first, *rest = node.comparators
        return place(hook("compare", ast.Tuple(list(operators), ast.Load()), self.visit(node.left),
                          self.visit(first), *map(self._deferred, rest)), node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node, "list_of")

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp, name: str) -> Any:
        """`[f(a) for a in items]` becomes a hook when it is that simple, else stays as it is."""
        (generator, *more) = node.generators
        names = _names_of_target(generator.target)
        if more or generator.is_async or names is None or (
                _walrus_targets([node])) or any(map(_makes_closures, [node.elt, *generator.ifs])):
            return self._plain_comprehension(node)
        iterable = self.visit(generator.iter)
        tests = generator.ifs
        if len(tests) > 1:
            tests = [place(ast.BoolOp(ast.And(), tests), node)]
        parts = [node.elt, *tests]
        self.scopes.append(set(names))
        outer = self.unsure, self.class_names
        self.unsure, self.class_names = self.unsure.difference(names), set()
        functions = [place(_function_of_target(generator.target, self.visit(part)), node)
                     for part in parts]
        self.unsure, self.class_names = outer
        self.scopes.pop()
        if isinstance(generator.target, ast.Tuple):
            count = len(generator.target.elts)
            functions = [place(_of_items(f, count), node) for f in functions]
        return place(hook(name, iterable, *functions), node)

    def _plain_comprehension(self, node: Any) -> Any:
        targets = {n.id for g in node.generators for n in ast.walk(g.target)
                   if isinstance(n, ast.Name)}
        first = self.visit(node.generators[0].iter)  # its names are those around it
        self.scopes.append(targets)
        outer = self.unsure, self.class_names
        self.unsure, self.class_names = self.unsure - targets, set()
        for k, g in enumerate(node.generators):
            g.iter = place(hook("iterate", self.visit(g.iter) if k else first), g.iter)
            g.ifs = [place(hook("truth", self.visit(test)), test) for test in g.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self.unsure, self.class_names = outer
        self.scopes.pop()
        return place(hook("made", node), node)

    visit_SetComp = visit_DictComp = _plain_comprehension
    visit_GeneratorExp = _plain_comprehension  # lazy, but where it is the argument of a call

    def visit_Starred(self, node: ast.Starred) -> Any:
        if isinstance(node.ctx, ast.Load):
            node.value = place(hook("iterate", self.visit(node.value)), node.value)
        return node

    def visit_List(self, node: ast.List) -> Any:
        starred = [x for x in node.elts if isinstance(x, ast.Starred)]
        self.generic_visit(node)
        for x in starred if isinstance(node.ctx, ast.Load) else ():
            x.value.func.attr = "spread"  # type: ignore[attr-defined]
        return place(hook("made", node), node) if isinstance(node.ctx, ast.Load) else node

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        return place(hook("keyed", node, constant(sum(key is not None for key in node.keys))), node)

    def visit_Set(self, node: ast.Set) -> Any:
        self.generic_visit(node)
        return place(hook("keyed", node, constant(len(node.elts))), node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return place(hook("text", *map(self._text_part, node.values)), node)

    def _text_part(self, part: ast.expr) -> ast.expr:
        if not isinstance(part, ast.FormattedValue):
            return part
        spec = constant("") if part.format_spec is None else self.visit(part.format_spec)
        return place(hook("formatted", self.visit(part.value), constant(part.conversion), spec),
                     part)


class _Truth(ast.expr):
    """An operand of a condition, of which only the truth matters."""

    _fields = ("operand",)
    operand: ast.expr

    def __init__(self, operand: ast.expr) -> None:
        super().__init__()
        self.operand = operand


def _tested(test: ast.expr) -> ast.expr:
    """Return a condition of which `and` and `or` give no operand, but whether it is true."""
    if not isinstance(test, ast.BoolOp):
        return test
    values: list[ast.expr] = []
    for x in test.values:
        if isinstance(x, ast.BoolOp):
            values.append(_tested(x))
        elif isinstance(x, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            values.append(place(_Truth(x), x))
        else:
            values.append(x)
    return ast.copy_location(ast.BoolOp(test.op, values), test)


def _of_items(function: Any, count: int) -> Any:
    """Return a function of one item as one that is called with the things in it."""
    parts = hook("unpack", load("_tj_item"), constant(count))
    return _function_of(["_tj_item"], ast.Call(function, [ast.Starred(parts, ast.Load())], []))


def _names_of_target(target: ast.expr) -> list[str] | None:
    """Return the name that a comprehension binds, or those in tuples; None for anything else."""
    if isinstance(target, ast.Name):
        return [target.id]
    if not isinstance(target, ast.Tuple):
        return None
    found = [_names_of_target(t) for t in target.elts]
    names = [name for part in found for name in part or ()]
    return names if all(found) and len(set(names)) == len(names) else None


def _function_of_target(target: ast.expr, body: ast.expr) -> ast.Lambda:
    """Return a function of what a comprehension binds, or of the things in its tuple."""
    names: list[str] = []
    for t in target.elts if isinstance(target, ast.Tuple) else [target]:
        if isinstance(t, ast.Name):
            names.append(t.id)
        else:  # a tuple in it
            assert isinstance(t, ast.Tuple)
            names.append(f"_tj_part{t.lineno}_{t.col_offset}")
            parts = hook("unpack", load(names[-1]), constant(len(t.elts)))
            body = ast.Call(_function_of_target(t, body), [ast.Starred(parts, ast.Load())], [])
    return _function_of(names, body)


def _function_of(names: Sequence[str], body: ast.expr) -> ast.Lambda:
    args = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(args, body)


def _needs_class(node: ast.FunctionDef) -> bool:
    """Return whether a method is another one where it stands outside of its class."""
    names = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node)
             if isinstance(n, (ast.Name, ast.Attribute))}
    return any(name in ("super", "__class__") or (name.startswith("__") and not name.endswith("__"))
               for name in names)


def _makes_closures(element: ast.expr) -> bool:
    """Return whether functions or generators are made that share the names of a comprehension."""
    consumed = {id(a) for n in ast.walk(element) if isinstance(n, ast.Call) for a in n.args}
    return any(isinstance(n, ast.Lambda) or (isinstance(n, ast.GeneratorExp)
                                             and id(n) not in consumed)
               for n in ast.walk(element))


def _walrus_targets(body: Sequence[ast.AST]) -> list[set[str]]:
    return [{n.target.id} for s in body for n in ast.walk(s) if isinstance(n, ast.NamedExpr)]


_REFUSED: tuple[tuple[Any, str, str], ...] = (
    ((ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef), "async code",
     "Call the compiled function from async code instead."),
    ((ast.Global,), "assigning to a global", "Return the new value and assign it outside."),
)
