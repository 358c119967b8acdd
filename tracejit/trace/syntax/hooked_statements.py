"""Statements whose branches, loops and assignments go through hooks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from types import FunctionType

from tracejit.trace.syntax.generators import yields
from tracejit.trace.syntax.hooked_expressions import ExpressionRewriter, tested
from tracejit.trace.syntax.jumps import stop_flags
from tracejit.trace.syntax.liveness import ALL_NAMES, Changes, own_nodes, stored_names
from tracejit.trace.syntax.matching import attributes_asked
from tracejit.trace.syntax.syntax import Stmts, assign, constant, hook, load, place, thunk

__all__ = ["StatementRewriter"]


class StatementRewriter(ExpressionRewriter):
    """Rewrites the statements of one function, given how names change in it."""

    def __init__(self, file: str, fn: FunctionType) -> None:
        super().__init__(file, fn)
        self.assignable: set[str] = set()
        """The names that the function binds, by `nonlocal` too."""
        self.changes: dict[ast.stmt, Changes] = {}
        """The names that each branch and loop of the function changes."""

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

    def _region(self, name: str, body: Stmts, like: ast.stmt | ast.ExceptHandler,
                params: Sequence[str] = ()) -> ast.stmt:
        """Return a nested function that holds a branch or a loop's body."""
        stored = sorted(stored_names(body) & self.assignable)
        nonlocal_: Stmts = [ast.Nonlocal(stored)] if stored else []
        args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
        outer, self.in_region = self.in_region, True
        inner = self.block(body) or [ast.Pass()]
        self.in_region = outer
        return place(ast.FunctionDef(name, args, nonlocal_ + inner, []), like)

    def _names(self, s: ast.stmt) -> ast.expr:
        changes = self.changes[s]
        return ast.Tuple([constant(n) for n in changes.carried], ast.Load())

    def _if(self, s: ast.If) -> Stmts:
        test = self.visit(tested(s.test))
        then, other = self.fresh_name("then"), self.fresh_name("else")
        call = hook("if_", test, load(then), load(other), self._names(s))
        return [self._region(then, s.body, s), self._region(other, s.orelse, s), ast.Expr(call)]

    def _while(self, s: ast.While) -> Stmts:
        cond, body = self.fresh_name("while"), self.fresh_name("body")
        head = self._region(cond, [place(ast.Return(_going_on(s)), s.test)], s)
        of = getattr(s, "tj_of", None)  # the arguments of a function that is made a loop
        call = hook("while_", load(cond), load(body), self._changes(s)) if of is None else hook(
            "recursion", load(cond), load(body), self._changes(s),
            *(self.visit(place(load(name), s)) for name in of))
        return [head, self._region(body, s.body, s), ast.Expr(call)]

    def _for(self, s: ast.For) -> Stmts:
        iterable = self.visit(s.iter)
        body, item = self.fresh_name("body"), self.fresh_name("item")
        bind = place(ast.Assign([s.target], load(item)), s.target)
        stop: ast.expr = constant(None)
        if stop_flags(s):
            stop = thunk(self.visit(_stopping(s)))
        call = hook("for_", iterable, load(body), self._changes(s), stop)
        return [self._region(body, [bind, *s.body], s, [item]), ast.Expr(call)]

    def _python_if(self, s: ast.If) -> Stmts:
        """Leave an `if` around a `yield` to Python; so it is with loops."""
        test = hook("decided", self.visit(tested(s.test)))
        return [ast.If(test, self.block(s.body) or [ast.Pass()], self.block(s.orelse))]

    def _python_while(self, s: ast.While) -> Stmts:
        return [ast.While(hook("decided", self.visit(_going_on(s))), self.block(s.body), [])]

    def _python_for(self, s: ast.For) -> Stmts:
        items, item = hook("one_by_one", self.visit(s.iter)), self.fresh_name("item")
        bind = place(ast.Assign([s.target], load(item)), s.target)
        leave: Stmts = []
        if stop_flags(s):
            leave = [ast.If(hook("decided", self.visit(_stopping(s))), [ast.Break()], [])]
        return [ast.For(ast.Name(item, ast.Store()), items,
                        [*self.block([bind, *s.body]), *leave], [])]

    def _changes(self, s: ast.stmt) -> ast.expr:
        """Return the names (carried, rebound, written, stop flags) of a loop as a constant."""
        c = self.changes[s]
        groups = (c.carried, c.rebound, c.written, stop_flags(s))
        return ast.Tuple([ast.Tuple([constant(n) for n in names], ast.Load()) for names in groups],
                         ast.Load())

    def _with(self, s: ast.With) -> ast.stmt:
        item, *more = s.items
        body = [place(ast.With(more, s.body), s)] if more else s.body
        target = item.optional_vars
        manager = hook("managed", self.visit(item.context_expr))
        if target is not None and not isinstance(target, ast.Name):
            name = self.fresh_name("entered")
            body = [place(ast.Assign([target], load(name)), s), *body]
            target = ast.Name(name, ast.Store())
        return ast.With([ast.withitem(manager, target)], self.block(body))

    def _try(self, s: ast.Try) -> Stmts:
        if not s.handlers or (_looks_at_frame(s) and not s.finalbody):
            return self._plain_try(s)
        if s.finalbody:
            inner = place(ast.Try(s.body, s.handlers, s.orelse, []), s)
            self.changes[inner] = self.changes[s]
            return self._plain_try(place(ast.Try([inner], [], [], s.finalbody), s))
        body, orelse = self.fresh_name("try"), self.fresh_name("else")
        result = [self._region(body, s.body, s), self._region(orelse, s.orelse, s)]
        handlers: list[ast.expr] = []
        for h in s.handlers:
            name, error = self.fresh_name("except"), self.fresh_name("error")
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
        call = hook(getattr(s, "tj_hook", "try_"), load(body), ast.Tuple(handlers, ast.Load()),
                    load(orelse), groups)
        return [*result, ast.Expr(call)]

    def _plain_try(self, s: ast.Try) -> Stmts:
        passing = self.fresh_name("passing")
        body = self.block(s.body)
        for h in s.handlers:
            h.type = h.type and self.visit(h.type)
        caught: list[ast.expr] = [copy.deepcopy(h.type) or load("BaseException")
                                  for h in s.handlers]
        body = [ast.With([ast.withitem(
            hook("in_try", thunk(ast.Tuple(caught, ast.Load())), load(passing)))], body)]
        for h in s.handlers:
            h.body = [place(ast.Expr(hook("caught")), h), *self.block(h.body)]
        final = ast.With([ast.withitem(hook("passed_by", load(passing)))], self.block(s.finalbody))
        return [place(assign(passing, hook("passing")), s), ast.Try(
            body, s.handlers, self.block(s.orelse), [final] if s.finalbody else [])]

    def _match(self, s: ast.Match) -> ast.stmt:
        for case in s.cases:
            self._guard_pattern(case.pattern)
            case.guard = case.guard and self.visit(case.guard)
            case.body = self.block(case.body)
        return ast.Match(hook("matched", self.visit(s.subject),
                              *map(constant, attributes_asked(s.cases))), s.cases)

    def _guard_pattern(self, pattern: ast.pattern) -> None:
        """Read the names of a pattern before the `match`, which reads them by itself."""
        for n in ast.walk(pattern):
            if isinstance(n, ast.MatchClass):
                name, kind = self.fresh_name("class"), hook("pattern_class", self.visit(n.cls))
                self.before.append(place(assign(name, kind), n))
                n.cls = place(load(name), n)
            read = [n.value] if isinstance(n, ast.MatchValue) else getattr(n, "keys", [])
            self.before += [place(ast.Expr(hook("matched", self.visit(copy.deepcopy(e)))), e)
                            for e in read if not isinstance(e, ast.Constant)]

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
        name = self.fresh_name("value")
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
                                  self.key_of(target.slice)))]
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
        for t in target.elts:  # bound from left to right: an index may be among the targets
            name = self.fresh_name("part")
            part: ast.expr = ast.Name(name, ast.Store())
            temporaries.append(ast.Starred(part, ast.Store()) if isinstance(t, ast.Starred)
                               else part)
            after += self._bind(t.value if isinstance(t, ast.Starred) else t, load(name))
        unpack = ast.Assign([ast.Tuple(temporaries, ast.Store())], hook("unpack", value, count))
        return [unpack, *after]

    def _delete(self, s: ast.Delete) -> Stmts:
        result: Stmts = []
        for t in s.targets:
            if isinstance(t, (ast.Tuple, ast.List)):
                result += self._delete(ast.Delete(t.elts))
            elif isinstance(t, ast.Subscript):
                result.append(ast.Expr(hook("delitem", self.visit(t.value), self.key_of(t.slice))))
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
            item = hook("item", self.visit(target.value), self.key_of(target.slice))
            return [ast.Expr(hook("augment_item", name, item, value))]
        assert isinstance(target, ast.Attribute)
        attribute = hook("attribute", self.visit(target.value), constant(target.attr))
        return [ast.Expr(hook("augment_attr", name, attribute, value))]


def _going_on(s: ast.While) -> ast.expr:
    """Return the test of a loop, before which none of the flags that end the loop is set."""
    flags: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(f)) for f in stop_flags(s)]
    return place(tested(ast.BoolOp(ast.And(), [*flags, s.test]) if flags else s.test), s.test)


def _stopping(s: ast.For) -> ast.expr:
    """Return the test whether one of the flags that end a loop is set."""
    flags: list[ast.expr] = [load(f) for f in stop_flags(s)]
    return place(ast.BoolOp(ast.Or(), flags) if len(flags) > 1 else flags[0], s)


def _looks_at_frame(s: ast.stmt) -> bool:
    """Return whether a statement has code that only works in the function's own frame."""
    return any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) or (
        isinstance(n, ast.Name) and n.id in ALL_NAMES)
        for n in own_nodes([s]))
