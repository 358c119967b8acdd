"""Syntax-tree pass 0: turn `match` into `if`, where its patterns ask for values, classes and parts.

Then the subject of a `match` may be traced, and so may its attributes. Patterns of mappings, with
stars, and of attributes of items stay Python's own.

    match k % 3:                    subject = k % 3
        case 0 | 1:                 if subject == 0 or subject == 1:
            ...                         ...
        case int(), y if y > 0:     else: ...
        case Pair(a, 0):                parts = parts_of(subject, Pair, 2)
            ...                         if parts is not None and parts[1] == 0: a = parts[0]; ...
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tracejit.trace.syntax.syntax import Stmts, assign, constant, hook, load, place, statement_lists

__all__ = ["attributes_asked", "without_matches"]
_Names = list[tuple[str, ast.expr]]
"""Names that a pattern binds, each with the expression of its value."""


def without_matches(stmts: Sequence[ast.stmt]) -> Stmts:
    """Return statements in which each `match` of plain patterns is a chain of `if`s."""
    result: Stmts = []
    for s in stmts:
        if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in statement_lists(s):
                part[:] = without_matches(part)
        if isinstance(s, ast.Match) and all(_is_plain(c.pattern, True) for c in s.cases):
            subject = f"_tj_subject_{s.lineno}_{s.col_offset}"
            result.append(place(assign(subject, s.subject), s))
            result += _chain(s.cases, subject)
        else:
            result.append(s)
    return result


def _is_plain(p: ast.pattern, has_parts: bool = False) -> bool:
    """Return whether a pattern is asked for by tests.

    has_parts -- whether it may ask for attributes, as its subject is there before all tests
    """
    if isinstance(p, (ast.MatchOr, ast.MatchSequence)):
        return all(map(_is_plain, p.patterns)) and not (
            isinstance(p, ast.MatchOr) and any(_binds(q) for q in p.patterns))
    if isinstance(p, ast.MatchAs):
        return p.pattern is None or _is_plain(p.pattern, has_parts)
    if isinstance(p, ast.MatchClass):
        parts = [*p.patterns, *p.kwd_patterns]
        return not parts or (has_parts and all(_is_plain(q, True) for q in parts))
    return isinstance(p, (ast.MatchValue, ast.MatchSingleton))


def _binds(p: ast.pattern) -> bool:
    return any(isinstance(n, ast.MatchAs) and n.name for n in ast.walk(p))


def _chain(cases: Sequence[ast.match_case], subject: str) -> Stmts:
    """Return the bodies of cases, from the first one on that a subject fits."""
    if not cases:
        return []
    case, rest = cases[0], cases[1:]
    before: Stmts = []
    tests, names = _parts_of(case.pattern, load(subject), before)
    bind: Stmts = [place(assign(name, value), case.pattern) for name, value in names]
    if case.guard is not None and not bind:
        tests.append(case.guard)
    elif case.guard is not None:
        fits = f"{subject}_{case.pattern.lineno}_{case.pattern.col_offset}"
        asked = [*bind, assign(fits, case.guard)]
        first = [assign(fits, constant(False)), ast.If(_all(tests), asked, [])] if tests else asked
        return [*(place(s, case.pattern) for s in (*before, *first)),
                place(ast.If(load(fits), case.body, _chain(rest, subject)), case.pattern)]
    if not tests:
        return [*bind, *case.body]
    return [*(place(s, case.pattern) for s in before),
            place(ast.If(_all(tests), [*bind, *case.body], _chain(rest, subject)), case.pattern)]


def _all(tests: list[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


def _parts_of(p: ast.pattern, x: ast.expr, before: Stmts) -> tuple[list[ast.expr], _Names]:
    """Return the tests of a pattern on a subject, and the names that it binds to its parts.

    before -- gets the statements that read the subject's attributes
    """
    if isinstance(p, ast.MatchValue):
        return [ast.Compare(x, [ast.Eq()], [p.value])], []
    if isinstance(p, ast.MatchSingleton):
        return [ast.Compare(x, [ast.Is()], [constant(p.value)])], []
    if isinstance(p, ast.MatchClass):
        return _class_parts(p, x, before)
    if isinstance(p, ast.MatchOr):
        return [ast.BoolOp(ast.Or(), [_all(_parts_of(q, x, before)[0] or [constant(True)])
                                      for q in p.patterns])], []
    if isinstance(p, ast.MatchSequence):
        tests: list[ast.expr] = [hook("has_items", x, constant(len(p.patterns)))]
        names: _Names = []
        for k, q in enumerate(p.patterns):
            asked, bound = _parts_of(q, ast.Subscript(x, constant(k), ast.Load()), before)
            tests += asked
            names += bound
        return tests, names
    assert isinstance(p, ast.MatchAs)
    asked, bound = ([], []) if p.pattern is None else _parts_of(p.pattern, x, before)
    return asked, [*bound, *([(p.name, x)] if p.name else [])]


def _class_parts(p: ast.MatchClass, x: ast.expr, before: Stmts,
                 is_early: bool = False) -> tuple[list[ast.expr], _Names]:
    """Return tests and names of a pattern of a class, whose attributes are read once.

    is_early -- whether Python would read them behind the test of another part
    """
    patterns = [*p.patterns, *p.kwd_patterns]
    if not patterns:
        return [hook("is_of_class", x, p.cls)], []
    parts = f"_tj_parts_{p.lineno}_{p.col_offset}"
    before.append(assign(parts, hook("parts_of", x, p.cls, constant(is_early),
                                     constant(len(p.patterns)), *map(constant, p.kwd_attrs))))
    tests: list[ast.expr] = [ast.Compare(load(parts), [ast.IsNot()], [constant(None)])]
    names: _Names = []
    for k, q in enumerate(patterns):
        inner = q.pattern if isinstance(q, ast.MatchAs) else q
        part: ast.expr = ast.Subscript(load(parts), constant(k), ast.Load())
        if isinstance(inner, ast.MatchClass) and (inner.patterns or inner.kwd_patterns):
            asked, bound = _class_parts(inner, hook("part", load(parts), constant(k)), before,
                                        is_early or len(tests) > 1)
            bound += [(q.name, part)] if isinstance(q, ast.MatchAs) and q.name else []
        else:
            asked, bound = _parts_of(q, part, before)
        tests += asked
        names += bound
    return tests, names


def attributes_asked(cases: Sequence[ast.match_case]) -> list[str]:
    """Return the names of the attributes that patterns of classes read."""
    return sorted({name for case in cases for n in ast.walk(case.pattern)
                   if isinstance(n, ast.MatchClass) and (n.patterns or n.kwd_attrs)
                   for name in ("__match_args__", *n.kwd_attrs)})
