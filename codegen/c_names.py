"""Names in C headers: none that C, C++, a common header or a compiler gives a meaning of its own.

A macro with parameters does no harm to a name that no parenthesis follows. One without is put in
place of the name wherever it stands.
"""

from __future__ import annotations

import itertools
import re

from tracejit.ir.user_text import identifier

__all__ = ["c_function_name", "c_name", "is_reserved_in_c"]

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue contract_assert decltype default delete do double dynamic_cast else enum
    explicit export extern false final float for friend goto if import inline int long module
    mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected
    public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid
    typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor
    xor_eq
"""
_MACROS = """
    BUFSIZ CONST DELETE DOMAIN EOF FALSE I IN INFINITY MSDOS NAN NDEBUG NULL OPTIONAL OUT OVERFLOW
    PI SING THIS TLOSS TRUE UNDERFLOW UNICODE VOID arm bsdi cdecl complex daylight emit environ
    errno far foreach fortran forever hpux huge hyper i386 i486 i586 i686 imaginary interface linux
    m68k math_errhandling max min mips near noreturn offsetof pascal ppc rpcndr sgi signals signgam
    slots small sparc stderr stdin stdout sun sysv timezone tzname ultrix unix vax vms
"""
_FUNCTIONS = """
    abort abs access acos acosh asin asinh assert atan atan2 atanh atexit atof atoi atol bind
    bsearch calloc cbrt ceil clock close connect copysign cos cosh div erf erfc exit exp exp2
    expm1 fabs fclose fdim fgets floor fma fmax fmin fmod fopen fork fprintf fputs fread free
    frexp fwrite gamma getchar getenv gets hypot index j0 j1 jn kill labs ldexp lgamma link listen
    log log10 log1p log2 logb longjmp lrint lround main malloc memchr memcmp memcpy memmove memset
    modf nan nearbyint nextafter open pause pipe pow printf putchar puts qsort raise rand read
    realloc remainder remove remquo rename rewind rindex rint round scalbn scanf select send
    setjmp signal sin sinh sleep socket sprintf sqrt srand sscanf stat strcat strchr strcmp strcpy
    strlen strncmp strncpy strstr strtod strtol system tan tanh tgamma time trunc unlink wait
    write y0 y1 yn
"""
"""Functions that many programs call: a macro of that name would take their place."""

_WORDS = frozenset((_KEYWORDS + _MACROS).split())
_CALLED = frozenset(_FUNCTIONS.split())
_FAMILIES = re.compile(r"\w+_t|E[A-Z0-9]+|SIG[A-Z0-9]+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
                       r"|(?:PRI|SCN)[diouxX][A-Z0-9]+|tracejit\w*")
"""Names of types, and of constants in the standard headers."""


def is_reserved_in_c(name: str) -> bool:
    """Return whether a name is reserved in C or C++, or may be to a compiler."""
    return (name in _WORDS or name.startswith("_") or "__" in name
            or _FAMILIES.fullmatch(name) is not None)


def c_name(text: str, taken: set[str]) -> str:
    """Return a name that C and C++ accept and that nothing else has; `taken` grows by it."""
    stem = re.sub("__+", "_", identifier(f"_{text}")).lstrip("_")
    if not stem[:1].isalpha():
        stem = f"arg{stem}"
    if is_reserved_in_c(f"{stem.rstrip('_')}_"):
        stem = f"arg_{stem}"
    base = stem.rstrip("_")
    more = (f"{base}_{k}" for k in itertools.count(2))
    for name in itertools.chain([stem, f"{base}_"], more):
        name = f"{name}_" if is_reserved_in_c(name) else name
        if name not in taken:
            break
    taken.add(name)
    return name


def c_function_name(text: str) -> str:
    """Return a name for a function of a program in C."""
    return c_name(re.sub(r"\W+", "_", text).strip("_"), set(_CALLED))
