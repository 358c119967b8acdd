"""`python -m tracejit`: look after the store, fill it ahead of time, look at programs."""

from __future__ import annotations

import argparse
import difflib
import importlib
import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tracejit
from tracejit import cache
from tracejit.errors import TracejitError


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line and return the exit status."""
    args = _parser().parse_args(argv)
    try:
        status: int = args.run(args)
        return status
    except BrokenPipeError:  # `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (TracejitError, ValueError, TypeError, LookupError, ImportError) as e:
        text = e.args[0] if isinstance(e, KeyError) and e.args else e
        print(f"tracejit: {text}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tracejit", description=__doc__)
    parser.add_argument("--version", action="version", version=tracejit.__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    store = commands.add_parser("cache", help="the store of compiled programs")
    actions = store.add_subparsers(required=True, metavar="ACTION")
    for name, text, run in (
            ("info", "where it is, and how large", _info), ("ls", "what is in it", _ls),
            ("verify", "check every file, remove what is damaged", _verify),
            ("prune", "remove what other versions made and what is over the limit", _prune),
            ("clear", "remove everything", _clear)):
        actions.add_parser(name, help=text).set_defaults(run=run)
    explain = actions.add_parser("explain", help="what a stored program depends on")
    explain.add_argument("key", help="as `cache ls` shows it, or its beginning")
    explain.set_defaults(run=lambda args: print(cache.explain(args.key)) or 0)

    for name, text, run in (("compile", "fill the store ahead of time", _compile),
                            ("inspect", "print a program", _inspect),
                            ("report", "write all about a program into a folder", _report)):
        _describe(commands.add_parser(name, help=text), name, run)
    code = commands.add_parser("explain", help="what the code of an error or reason stands for")
    code.add_argument("code", nargs="?", metavar="TJ123", help="without it, all codes are listed")
    code.set_defaults(run=_explain)
    return parser


def _describe(command: argparse.ArgumentParser, name: str, run: Callable[..., int]) -> None:
    """Add the arguments of a command about a function."""
    command.add_argument("function", metavar="MODULE:FUNCTION")
    command.add_argument("--spec", nargs="*", default=[], metavar="SPEC",
                         help="one per argument: 'f64[n, 3]', 'float', 'int'")
    kind = command.add_mutually_exclusive_group()
    for transform in ("grad", "value_and_grad", "jit", "jacobian", "hessian"):
        kind.add_argument(f"--{transform.replace('_', '-')}", dest="transform",
                          action="store_const", const=transform)
    command.add_argument("--argnums", default="0",
                         help="what to differentiate by: 0, or 0,1 (default 0)")
    command.add_argument("--target", choices=["cpu", "cuda"], default="cpu",
                         help="what it is compiled for (default: cpu)")
    command.set_defaults(run=run)
    if name == "inspect":
        command.add_argument("--what", default="ir", choices=["ir", "why", "source", "llvm",
                                                              "asm", "ptx", "resources"])
    if name != "compile":
        command.add_argument("--capability", metavar="X.Y",
                             help="the compute capability that kernels are compiled for")
    if name == "report":
        command.add_argument("-o", "--output", default="report", metavar="FOLDER",
                             help="the folder, made if need be (default: report)")


def _function(args: argparse.Namespace) -> Any:
    """Return the transformed function that a command line is about."""
    module, _, path = args.function.partition(":")
    if not path:
        raise ValueError(f"{args.function} is no MODULE:FUNCTION, as in model:loss")
    if "" not in sys.path:
        sys.path.insert(0, "")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, dir(found), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ValueError(f"{args.function}: there is no {part} in {found.__name__}{hint}")
        found = getattr(found, part)
    if args.transform is None:
        return found if hasattr(found, "warmup") else tracejit.jit(found, target=args.target)
    places = tuple(int(p) if p.lstrip("-").isdigit() else p for p in args.argnums.split(","))
    given = {} if args.transform == "jit" else {
        "argnums": places if len(places) > 1 else places[0]}
    return getattr(tracejit, args.transform)(found, target=args.target, **given)


def _compiled(lowered: Any, args: argparse.Namespace) -> Any:
    """Return a compiled program: for a device, for the compute capability that is asked for."""
    if args.capability is None:
        return lowered.compile()
    if not hasattr(lowered, "ptx"):
        raise ValueError("--capability is for programs with --target cuda")
    return lowered.compile(capability=tuple(map(int, args.capability.split("."))))


def _compile(args: argparse.Namespace) -> int:
    function = _function(args)
    progress = logging.getLogger("tracejit.progress")
    progress.addHandler(logging.StreamHandler(sys.stderr))
    progress.setLevel(logging.DEBUG)
    start = time.perf_counter()
    print(f"compiling {args.function} for ({', '.join(args.spec)}) ...", flush=True)
    function.warmup(tuple(map(tracejit.spec, args.spec)))
    print(f"ready after {time.perf_counter() - start:.2f} s: "
          + cache.explain(function, *map(tracejit.spec, args.spec)))
    return 0


def _inspect(args: argparse.Namespace) -> int:
    traced = _function(args).trace(*map(tracejit.spec, args.spec))
    if args.what == "ir":
        print(traced.graph)
    elif args.what == "why":
        print(traced.why())
    elif args.what == "source":
        print(traced.lower().source)
    elif args.what in ("ptx", "resources"):
        _inspect_device(_compiled(traced.lower(), args), args.what)
    else:
        print(getattr(_compiled(traced.lower(), args), args.what))
    return 0


def _inspect_device(compiled: Any, what: str) -> None:
    """Print a property that only programs for a device have."""
    if not hasattr(compiled, what):
        raise ValueError(f"{what} is of programs with --target cuda")
    capability = compiled.capability or (8, 0)
    found = getattr(compiled, what)(capability)
    print(found if what == "resources" else "\n".join(found.values()))


def _report(args: argparse.Namespace) -> int:
    from tracejit.inspection.folder import write_folder

    compiled = _compiled(_function(args).trace(*map(tracejit.spec, args.spec)).lower(), args)
    files = write_folder(compiled, Path(args.output))
    print(f"{files[0]}, and {len(files) - 1} files beside it")
    return 0


def _explain(args: argparse.Namespace) -> int:
    from tracejit.codes import AREAS, CODES, page_of

    if args.code is None:
        for area, about in AREAS.items():
            print(f"{area}xx  {about}")
            print("".join(f"  {code}  {row.title}\n" for code, row in CODES.items()
                          if code.startswith(area)))
        return 0
    code = args.code.upper() if args.code.upper().startswith("TJ") else f"TJ{args.code}"
    if code not in CODES:
        near = difflib.get_close_matches(code, CODES, 1)
        raise ValueError(f"{args.code} is no code{f'; did you mean {near[0]}?' if near else ''}")
    print(page_of(code))
    return 0


def _info(args: argparse.Namespace) -> int:
    print(cache.info())
    return 0


def _ls(args: argparse.Namespace) -> int:
    for entry in cache.ls():
        print(entry)
    return 0


def _verify(args: argparse.Namespace) -> int:
    complaints = cache.verify()
    print("\n".join(complaints) or f"{cache.info().count} programs, all whole")
    return int(bool(complaints))


def _prune(args: argparse.Namespace) -> int:
    print(f"{cache.prune()} programs removed")
    return 0


def _clear(args: argparse.Namespace) -> int:
    print(f"{cache.clear()} programs removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
