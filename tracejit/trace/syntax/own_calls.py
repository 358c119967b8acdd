"""A function that calls itself: its parameters, its names, and which calls are of itself."""

from __future__ import annotations

import ast
import builtins
import copy

from tracejit.errors import Refusal
from tracejit.ir.cells import line_name
from tracejit.trace.syntax.liveness import COMPREHENSIONS, SCOPES, local_names, own_nodes
from tracejit.trace.syntax.recursion_nodes import TEMPORARY
from tracejit.trace.syntax.syntax import constant, hook, place

__all__ = ["SelfCalling"]


class SelfCalling:
    """A function that calls itself: questions about its syntax tree, and names for new values."""

    def __init__(self, node: ast.FunctionDef, names: frozenset[str], file: str,
                 rebound: frozenset[str]) -> None:
        self.node, self.file = node, file
        self.rebound = rebound
        """The names that something binds by `nonlocal`."""
        self.local = local_names(node)
        self.names = names - self.local
        a = node.args
        self.params = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        self.positional = [x.arg for x in (*a.posonlyargs, *a.args)]
        self.keywords = {x.arg for x in (*a.args, *a.kwonlyargs)}
        self.temporaries = 0
        self.declared = {name for n in own_nodes(node.body) if isinstance(n, ast.Nonlocal)
                         for name in n.names}
        inner = [f for f in own_nodes(node.body) if isinstance(f, SCOPES)]
        self.shared = {name for f in inner for n in ast.walk(f) if isinstance(n, ast.Nonlocal)
                       for name in n.names} | self.declared
        """The names that functions within bind, or that are another function's."""

    def refused(self, like: ast.AST, what: str) -> Refusal:
        where = line_name(self.file, getattr(like, "lineno", self.node.lineno))
        return Refusal(f"{where}: a recursion that ends on data, with {what}, cannot be captured. "
                       "Write a loop with a stack, or let the recursion end on a size", "TJ108")

    def temporary(self) -> str:
        self.temporaries += 1
        return f"{TEMPORARY}{self.temporaries}"

    def is_own_call(self, n: ast.AST) -> bool:
        """Return whether this is a call of the function itself."""
        if not isinstance(n, ast.Call):
            return False
        f = n.func
        if isinstance(f, ast.Name) or self.is_dotted(f):
            return ast.unparse(f) in self.names
        return isinstance(f, ast.Attribute) and bool(self.positional) and (
            f.attr == self.node.name) and _first_name(f.value) == self.positional[0]

    def is_dotted(self, f: ast.expr) -> bool:
        """Return whether a function is looked up in its class: `Class.name`."""
        return isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and (
            f.value.id not in self.local and ast.unparse(f) in self.names)

    def recurs(self, node: ast.AST) -> bool:
        """Return whether there is a call of the function itself in a node."""
        return any(map(self.is_own_call, ast.walk(node)))

    def binding(self, call: ast.Call) -> tuple[list[str], list[ast.expr]]:
        """Return the parameters that a call of itself binds, and to which expressions."""
        bound_self = isinstance(call.func, ast.Attribute) and not self.is_dotted(call.func)
        args = self._without_star(call, len(self.positional) - bound_self)
        parts = [*args, *(k.value for k in call.keywords)]
        positional = list(self.positional)
        names = []
        if bound_self:
            parts.insert(0, copy.deepcopy(call.func.value))  # type: ignore[attr-defined]
        for _ in range(len(args) + bound_self):
            if not positional:
                raise self.refused(call, "more arguments than parameters")
            names.append(positional.pop(0))
        names += [k.arg for k in call.keywords if k.arg is not None]
        if len(set(names)) < len(names) or not (
                {k.arg for k in call.keywords} <= self.keywords):
            raise self.refused(call, "arguments that do not fit its parameters")
        return names, parts

    def _without_star(self, call: ast.Call, count: int) -> list[ast.expr]:
        """Return the arguments by place, with the items of the one by `*` one after the other.

        There are as many as parameters are left; the run of the capture sees to that.

        count -- how many parameters there are by place
        """
        stars = [a for a in call.args if isinstance(a, ast.Starred)]
        left = count - (len(call.args) - 1) - len({k.arg for k in call.keywords} & {
            *self.positional})
        if any(k.arg is None for k in call.keywords) or len(stars) > 1 or (
                stars and (left < 0 or not _only_reads(stars[0].value))):
            raise self.refused(call, "arguments by `*`")
        return [e for a in call.args for e in (
            [place(hook("starred", copy.deepcopy(a.value), constant(left), constant(k)), a)
             for k in range(left)] if isinstance(a, ast.Starred) else [a])]

    def builtin(self, call: ast.expr) -> str | None:
        """Return the name of the builtin that is called, if it surely is one."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or (
                call.keywords or any(isinstance(a, ast.Starred) for a in call.args)):
            return None
        name = call.func.id
        return name if name not in self.local and hasattr(builtins, name) else None

    def is_sum(self, e: ast.Call) -> bool:
        """Return whether it is the sum of a comprehension of one loop."""
        return self.builtin(e) == "sum" and len(e.args) == 1 and (
            isinstance(e.args[0], (ast.GeneratorExp, ast.ListComp))
            and len(e.args[0].generators) == 1 and not any(
                isinstance(n, (ast.NamedExpr, ast.Lambda)) for n in ast.walk(e)))

    def refuse_in_scopes(self) -> None:
        """Refuse calls of itself in functions and comprehensions within."""
        sums = {n.args[0] for n in own_nodes(self.node.body) if isinstance(n, ast.Call)
                and self.is_sum(n)}
        for n in own_nodes(self.node.body):
            if isinstance(n, (*SCOPES, *COMPREHENSIONS)) and n not in sums and self.recurs(n):
                raise self.refused(n, "a call of itself in a comprehension or a function within")
            if isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await, ast.Global)):
                raise self.refused(n, "a statement that is not captured")


def _first_name(e: ast.expr) -> str | None:
    """Return the name in `a`, `a.b`, `a.b[i]` and the like; None of anything else."""
    while isinstance(e, (ast.Attribute, ast.Subscript)):
        e = e.value
    return e.id if isinstance(e, ast.Name) else None


def _only_reads(e: ast.expr) -> bool:
    """Return whether an expression is a name, or an attribute of one: it may be read twice."""
    return isinstance(e, ast.Name) or (isinstance(e, ast.Attribute) and _only_reads(e.value))
