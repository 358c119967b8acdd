"""Functions and classes of which the bodies are rewritten, each in the scope of its names."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.syntax.comprehensions import walrus_targets
from tracejit.trace.syntax.finals import without_finals
from tracejit.trace.syntax.generators import NotInForm, in_form, is_generator
from tracejit.trace.syntax.hooked_statements import StatementRewriter
from tracejit.trace.syntax.jumps import lower_jumps
from tracejit.trace.syntax.liveness import (
    COMPREHENSIONS,
    SCOPES,
    analyse,
    local_names,
    own_nodes,
    stored_names,
)
from tracejit.trace.syntax.syntax import Stmts, constant, hook, load, place, thunk

__all__ = ["FunctionRewriter", "REFUSED_SYNTAX", "strip_signature"]


class FunctionRewriter(StatementRewriter):
    """Rewrites one function and the functions nested in it."""

    def function(self, node: ast.FunctionDef) -> None:
        """Rewrite a function's body in place."""
        self._refuse_syntax(node)
        self._refuse_outer_names(node)
        local = local_names(node)
        body = without_finals(lower_jumps(node.body))
        declared = {name for n in own_nodes(node.body) if isinstance(n, ast.Nonlocal)
                    for name in n.names}
        bound = stored_names(body)
        unbound = local - bound  # code after a jump is gone, and its names are local as before
        unbound |= {n.target.id for n in own_nodes(body) if isinstance(n, ast.AnnAssign)
                    and isinstance(n.target, ast.Name)}
        local |= bound - declared
        outer = self.changes, self.unsure, self.assignable
        self.assignable = local | declared
        self.changes = analyse(body, self.assignable, declared)
        bound_by_tests = {name for s in body for name in walrus_targets(s)}
        self.unsure = bound_by_tests.union(declared, *(c.stored for c in self.changes.values()))
        owned = local & _bound_within(node)
        self.scopes.append(local)
        new = self.block(body)
        shared = {n for c in self.changes.values() for n in c.stored}
        shared |= bound_by_tests | unbound
        params = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        if shared := shared - params - declared:
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in sorted(shared)]
            unreachable = ast.If(constant(False), [ast.Assign(targets, constant(None))], [])
            new = [place(unreachable, node), *new]
        if getattr(node, "tj_by_steps", False):  # a generator, even if no yield is left
            forms = ast.Tuple([load(f) for f in getattr(node, "tj_forms", ())], ast.Load())
            unreachable = ast.If(constant(False), [ast.Expr(ast.Yield(forms))], [])
            new = [place(unreachable, node), *new]
        for name, names in (("rebinds", declared), ("owns", owned)):
            if names:
                cells = thunk(ast.Tuple([load(n) for n in sorted(names)], ast.Load()))
                new = [place(ast.Expr(hook(name, cells)), node), *new]
        self.scopes.pop()
        self.changes, self.unsure, self.assignable = outer
        node.body = [*_noting_keywords(node), *new]

    def _refuse_outer_names(self, node: ast.FunctionDef) -> None:
        declarations = [n for n in own_nodes(node.body) if isinstance(n, ast.Nonlocal)]
        for n in declarations:
            for name in n.names:
                if not any(name in scope for scope in self.scopes):
                    where = line_name(self.file, n.lineno)
                    raise Refusal(f"{where}: binding {name!r} by `nonlocal` in a function that "
                                  "was made outside of the captured one. Return the new value "
                                  "and assign it outside", "TJ103")

    def _refuse_syntax(self, node: ast.FunctionDef) -> None:
        for n in own_nodes(node.body):
            for kinds, what, remedy in REFUSED_SYNTAX:
                if isinstance(n, kinds):
                    where = line_name(self.file, n.lineno)
                    raise Refusal(f"{where}: {what} cannot be captured. {remedy}", "TJ102")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [place(hook("decorator", self.visit(d)), d)
                               for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        outer = self.class_names, self.in_region
        self.class_names, self.in_region = set(), False
        forms = self._forms(node)
        for f in (*forms, node):
            self.function(f)
        self.class_names, self.in_region = outer
        return [*forms, node] if forms else node

    def _forms(self, node: ast.FunctionDef, of_class: bool = False) -> list[ast.FunctionDef]:
        """Return a local generator in its other forms; it is one by steps, and names the others."""
        if hasattr(node, "tj_by_steps") or not is_generator(node):
            return []
        found: list[ast.FunctionDef] = []
        for form in ("each", "until") if not of_class or not _needs_class(node) else ():
            with suppress(NotInForm):
                found.append(in_form(node, form))
                found[-1].name = self.fresh_name(f"form_{form}")
        node.body = self._by_steps(node, not found)
        node.tj_by_steps = True  # type: ignore[attr-defined]
        node.tj_forms = [f.name for f in found]  # type: ignore[attr-defined]
        for f in found:
            f.decorator_list, f.returns = [], None
            strip_signature(f.args)
        return found

    def _by_steps(self, node: ast.FunctionDef, required: bool) -> Stmts:
        try:
            return in_form(node, "steps").body
        except NotInForm as e:
            if required:
                raise e.refusal(self.file) from None
            refused = hook("no_steps", constant(e.what), constant(e.remedy))
            return [place(ast.Expr(refused), node), place(ast.Expr(ast.Yield(None)), node)]

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        node.decorator_list = [*(self.visit(n) for n in node.decorator_list),
                               place(hook("made_class"), node)]
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
        writes = any(isinstance(n, (ast.Attribute, ast.Subscript)) and not isinstance(
            n.ctx, ast.Load) for n in own_nodes([s]))
        if writes or (isinstance(s, ast.Match) and any(hasattr(n, "cls") or hasattr(n, "value")
                      or hasattr(n, "keys") for c in s.cases for n in ast.walk(c.pattern))):
            raise Refusal(f"{self.line_of(s)}: a write to an item or attribute, or a `match` with "
                          "values, in the body of a class cannot be captured. Do it before the "
                          "class, or after it", "TJ102")
        for field, part in ast.iter_fields(s):
            if isinstance(part, ast.expr) and not isinstance(s, ast.Delete) and field not in (
                    "target", "annotation" if self.keeps_texts else ""):
                new = self.visit(part)
                new = place(hook("iterate", new), part) if field == "iter" else new
                setattr(s, field, place(hook("truth", new), part) if field == "test" else new)
            for inner in part if isinstance(part, list) else ():
                if isinstance(inner, ast.withitem):
                    inner.context_expr = hook("managed", self.visit(inner.context_expr))
                if isinstance(inner, ast.ExceptHandler):
                    inner.type = inner.type and self.visit(inner.type)
                for n in getattr(inner, "body", ()) if not isinstance(inner, ast.stmt) else [inner]:
                    self._in_class(n)


def _noting_keywords(node: ast.FunctionDef) -> Stmts:
    """Return what notes that a call made the dict of `**name`: regions around may change it.

    A generator's is made when the generator is, and not where it begins to run.
    """
    if node.args.kwarg is None or getattr(node, "tj_by_steps", False) or is_generator(node):
        return []
    return [place(ast.Expr(hook("keywords", load(node.args.kwarg.arg))), node)]


def _bound_within(node: ast.FunctionDef) -> set[str]:
    """Return the names that functions in one, and comprehensions made functions, bind around."""
    nodes = [*own_nodes(node.body)]
    found = {name for f in nodes if isinstance(f, SCOPES)
             for n in ast.walk(f) if isinstance(n, ast.Nonlocal) for name in n.names}
    return found.union(*(walrus_targets(c) for c in nodes if isinstance(c, COMPREHENSIONS)))


def strip_signature(args: ast.arguments) -> None:
    """Take default values and annotations out; the function object brings its defaults along."""
    args.defaults = [constant(None) for _ in args.defaults]
    args.kw_defaults = [None if d is None else constant(None) for d in args.kw_defaults]
    for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if a is not None:
            a.annotation = None


def _needs_class(node: ast.FunctionDef) -> bool:
    """Return whether a method is another one where it stands outside of its class."""
    names = {n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node)
             if isinstance(n, (ast.Name, ast.Attribute))}
    return any(name in ("super", "__class__") or (name.startswith("__") and not name.endswith("__"))
               for name in names)


REFUSED_SYNTAX: tuple[tuple[Any, str, str], ...] = (
    ((ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef), "async code",
     "Call the compiled function from async code instead."),
    ((ast.TryStar,), "`except*`", "Catch the errors with `except`."),
    ((ast.Global,), "assigning to a global", "Return the new value and assign it outside."),
)
