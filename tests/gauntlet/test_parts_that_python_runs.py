"""Parts of a program that Python runs by itself: decorators, defaults, methods with underscores.

Each program reads `K["s"]` in such a part and nowhere else, so that a part which Python runs unseen
gives a stale number after a change. The oracle is Python; a refusal is right, too.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import tracejit

PROGRAMS = """\
import abc, collections, contextlib, dataclasses, enum, functools, math, operator, typing
import numpy as np
import tracejit
K = {"s": 2.0}
class It:
    def __iter__(self): return iter([1.0, K["s"]])
def unpack(x):
    a,b = It()
    return x*b+a
def unpack_star(x):
    a,*b = It()
    return x*b[0]+a
def star_args(x):
    return (lambda a,b: a*x+b)(*It())
class Mp:
    def keys(self): return ["a","b"]
    def __getitem__(self,k): return K["s"]
def star_kw(x):
    return (lambda a,b: a*x+b)(**Mp())
def dict_star(x):
    return {**Mp()}["a"]*x
def list_star(x):
    return [*It()][1]*x
def set_star(x):
    return max({*It()})*x
def tuple_star(x):
    return (*It(), 1)[1]*x
class Bo:
    def __bool__(self): return K["s"]>2.5
def truth_if(x):
    if Bo(): return x
    return 2*x
def truth_not(x): return x if not Bo() else 3*x
def truth_and(x): return (Bo() and 5.0 or 4.0)*x
def truth_ifexp(x): return x if Bo() else 7*x
def truth_while(x):
    n=0
    while Bo() and n<2: x=x*2; n+=1
    return x
def truth_assert(x):
    try:
        assert Bo()
    except AssertionError: return 3*x
    return x
class Le:
    def __len__(self): return int(K["s"])
def truth_len(x): return x*len(Le())
def comp_if(x): return sum([x for _ in range(3) if Bo()])+x
class Fm:
    def __format__(self, spec): return str(K["s"])
    def __str__(self): return str(K["s"])
    def __repr__(self): return str(K["s"]*2)
def fstring(x): return float(f"{Fm()}")*x
def fstring_r(x): return float(f"{Fm()!r}")*x
def fmt(x): return float("{}".format(Fm()))*x
def pct(x): return float("%s" % Fm())*x
def strf(x): return float(str(Fm()))*x
def reprf(x): return float(repr(Fm()))*x
class Ix:
    def __index__(self): return int(K["s"])
def index(x): return [1.0,2.0,3.0,4.0][Ix()]*x
def index_slice(x): return sum([1.0,2.0,3.0,4.0][:Ix()])*x
def index_arr(x): return np.arange(5.0)[Ix()]*x
def rng(x): return sum(range(Ix()))*x
class Fl:
    def __float__(self): return K["s"]
    def __int__(self): return int(K["s"])
    def __complex__(self): return complex(K["s"])
    def __round__(self, n=None): return K["s"]
    def __abs__(self): return K["s"]
    def __neg__(self): return K["s"]
    def __trunc__(self): return int(K["s"])
    def __floor__(self): return int(K["s"])
    def __ceil__(self): return int(K["s"])
    def __divmod__(self,o): return K["s"],1
    def __rpow__(self,o): return K["s"]
    def __invert__(self): return K["s"]
    def __matmul__(self,o): return K["s"]*o
    def __rmatmul__(self,o): return K["s"]*o
def flt(x): return float(Fl())*x
def intf(x): return int(Fl())*x
def cplx(x): return complex(Fl()).real*x
def rnd(x): return round(Fl())*x
def absf(x): return abs(Fl())*x
def neg(x): return -Fl()*x
def floor(x):
    import math
    return (math.floor(Fl())+math.ceil(Fl())+math.trunc(Fl()))*x
def dm(x): return divmod(Fl(),2)[0]*x
def rpow(x): return 2**Fl()*x
def inv(x): return ~Fl()*x
def mm(x): return (Fl() @ x) + (x @ Fl())
def delattr_(x):
    L=[]
    class D:
        def __delattr__(self, n): L.append(K["s"])
        def __delitem__(self, n): L.append(K["s"])
        def __setattr__(self, n, v): L.append(K["s"]*v)
        def __setitem__(self, n, v): L.append(K["s"]*v)
    d=D()
    del d.a
    del d["b"]
    d.q=2.0
    d[1]=3.0
    return sum(L)*x
class He:
    def __init__(s,v): s.v=v
    def __hash__(self): return int(K["s"])
    def __eq__(self,o): return K["s"]>2.5
def hash_eq(x): return len({He(1),He(2)})*x
def dict_key(x): return {He(1): 2.0}.get(He(3), 9.0)*x
def in_list(x): return (He(1) in [He(2)])*x+x
def index_of(x):
    try: return [He(5),1].index(He(3))*x+x
    except ValueError: return 8*x
def count_of(x): return [He(5),1].count(He(3))*x+x
class Lt:
    def __init__(s,v): s.v=v
    def __lt__(self,o): return (self.v<o.v)==(K["s"]>2.5)
    def __gt__(self,o): return (self.v>o.v)==(K["s"]>2.5)
def sort(x): return sorted([Lt(1),Lt(2)])[0].v*x
def sortm(x):
    l=[Lt(1),Lt(2)]; l.sort(); return l[0].v*x
def maxf(x): return max(Lt(1),Lt(2)).v*x
def minf(x): return min([Lt(1),Lt(2)]).v*x
def sort_key(x): return sorted([1.0,2.0], key=lambda v: v*(2.5-K["s"]))[0]*x
class Co:
    def __contains__(self,k): return K["s"]>2.5
def contains(x): return x if 1 in Co() else 2*x
class Ge:
    def __getitem__(self,i):
        if i>2: raise IndexError
        return K["s"]*i
def oldseq(x): return sum(Ge())*x
def oldseq_for(x):
    t=0.0
    for v in Ge(): t+=v
    return t*x
def oldseq_in(x): return x if 3.0 in Ge() else 2*x
def rev(x):
    class R:
        def __reversed__(self): return iter([K["s"]])
    return next(reversed(R()))*x
class Ex(Exception):
    def __init__(self, *a):
        super().__init__(*a); self.s=K["s"]
def raise_class(x):
    try: raise Ex
    except Ex as e: return e.s*x
def raise_inst(x):
    try: raise Ex(1)
    except Ex as e: return e.s*x
def raise_from(x):
    try:
        try: raise ValueError("a")
        except ValueError as v: raise Ex from v
    except Ex as e: return e.s*x
def excs():
    return (ValueError,) if K["s"]>2.5 else (KeyError,)
def except_expr(x):
    try:
        try: raise ValueError
        except excs(): return x
    except ValueError: return 2*x
class Ic(type):
    def __instancecheck__(c,o): return K["s"]>2.5
    def __subclasscheck__(c,o): return K["s"]>2.5
    def __call__(c,*a): return K["s"]
    def __getitem__(c,k): return K["s"]
    def __len__(c): return int(K["s"])
    def __iter__(c): return iter([K["s"]])
class Q(metaclass=Ic): pass
def isinst(x): return x if isinstance(1.0,Q) else 3*x
def issub(x): return x if issubclass(int,Q) else 3*x
def metacall(x): return Q()*x
def metaget(x): return Q[1]*x
def metalen(x): return len(Q)*x
def metaiter(x): return sum(Q)*x
class Cg:
    def __class_getitem__(cls,k): return K["s"]
def classget(x): return Cg[1]*x
class Nw:
    def __new__(cls,*a):
        o=super().__new__(cls); o.s=K["s"]; return o
def new(x): return Nw().s*x
@dataclasses.dataclass
class Dc:
    a: float=1.0
    def __post_init__(self): self.a=K["s"]
def post(x): return Dc().a*x
class Ga:
    def __getattr__(self,n): return K["s"]
def getattr_(x): return Ga().foo*x
def getattr_f(x): return getattr(Ga(),"z")*x
class Gb:
    def __getattribute__(self,n): return K["s"]
def getattribute(x): return Gb().foo*x
class Cm:
    def __enter__(self): return K["s"]
    def __exit__(self,*a): return K["s"]>2.5
def with_(x):
    with Cm() as c: return c*x
def with_swallow(x):
    try:
        with Cm(): raise ValueError
        return 3*x
    except ValueError: return x
def dflt(x):
    def g(v, s=K["s"]): return v*s
    return g(x)
def lam_dflt(x): return (lambda v, s=K["s"]: v*s)(x)
def kwdflt(x):
    def g(v,*,s=K["s"]): return v*s
    return g(x)
def walrus(x): return (y:=K["s"])*x+y
def iadd(x):
    class I:
        def __init__(s): s.v=1.0
        def __iadd__(s,o): s.v+=K["s"]*o; return s
    i=I(); i+=3
    return i.v*x
def radd(x):
    class I:
        def __radd__(s,o): return o*K["s"]
    return x+I()
def sumr(x):
    class I:
        def __radd__(s,o): return o+K["s"]
    return sum([I(),I()])*x
def matchv(x):
    class P:
        __match_args__=("a",)
        @property
        def a(self): return K["s"]
    match P():
        case P(2.0): return x
        case P(v): return v*x
def nexti(x):
    class N:
        def __iter__(s): return s
        def __next__(s):
            if s.k>2: raise StopIteration
            s.k+=1
            return K["s"]
        k=0
    return sum(N())*x
def ziprow(x): return sum(a*b for a,b in zip(It(),It()))*x
def mapf(x): return sum(map(lambda v: v*K["s"], It()))*x
def filterf(x): return sum(filter(lambda v: v<2.5, It()))*x
def enumf(x): return sum(i*v for i,v in enumerate(It()))*x
def anyf(x): return x if any(v>2.5 for v in It()) else 2*x
def listc(x): return list(It())[1]*x
def dictc(x): return dict([("a",K["s"])])["a"]*x
def dictm(x): return dict(Mp())["a"]*x
def setc(x): return max(set(It()))*x
def joinf(x): return float("".join([str(K["s"])]))*x
def reducef(x): return functools.reduce(lambda a,b: a*b+K["s"], It())*x
def arrf(x):
    class A:
        def __array__(self,dtype=None,copy=None): return np.array([K["s"],1.0])
    return np.sum(np.asarray(A()))*x
def arrlen(x):
    class A:
        def __len__(s): return 2
        def __getitem__(s,i):
            if i>1: raise IndexError
            return K["s"]
    return np.sum(np.array(A()))*x
def ufunc_ov(x):
    class A:
        def __array_ufunc__(self,u,m,*a,**k): return K["s"]
    return np.sin(A())*x
def func_ov(x):
    class A:
        def __array_function__(self,f,t,a,k): return K["s"]
    return np.sum(A())*x
def gener(x):
    def g():
        y=yield K["s"]
        yield y*K["s"]
    i=g(); a=next(i); return i.send(3.0)*x+a
def yfrom(x):
    def g(): yield from It()
    return sum(g())*x
def init_sub(x):
    class B:
        def __init_subclass__(c,**k): c.s=K["s"]*k.get("f",1)
    class C(B,f=2): pass
    return C.s*x
def ntdef(x):
    P=collections.namedtuple("P","a b",defaults=[K["s"]])
    return P(1.0).b*x
def part(x): return functools.partial(lambda a,b: a*b, K["s"])(x)
def ddict(x):
    d=collections.defaultdict(lambda: K["s"]); return d["q"]*x
def missing(x):
    class D(dict):
        def __missing__(s,k): return K["s"]
    return D()["z"]*x
def counter(x): return collections.Counter({"a":int(K["s"])})["a"]*x
def copyf(x):
    import copy
    class A:
        def __copy__(s): return K["s"]
        def __deepcopy__(s,m): return K["s"]*2
    return (copy.copy(A())+copy.deepcopy(A()))*x
def lenhint(x):
    class A:
        def __iter__(s): return iter([K["s"]])
        def __length_hint__(s): return 3
    return operator.length_hint(A())*list(A())[0]*x
def slots(x):
    class S:
        __slots__=("a",)
        def __init__(s): s.a=K["s"]
    return S().a*x
def superm(x):
    class A:
        def f(s): return K["s"]
    class B(A):
        def f(s): return super().f()*2
    return B().f()*x
def bytesf(x):
    class B:
        def __bytes__(s): return bytes([int(K["s"])])
    return bytes(B())[0]*x
def annot(x):
    def g(v: K["s"]) -> K["s"]: return v
    return g(x)*g.__annotations__["v"]
def cls_annot(x):
    class A:
        v: K["s"] = 1
    return A.__annotations__["v"]*x
def varannot(x):
    v: K["s"] = 2.0
    return v*x
def printed(x):
    class P:
        def __str__(s): K3.append(K["s"]); return ""
    K3=[]
    print(P(), end="")
    return K3[0]*x
def cond_exp(x): return [x,2*x][Bo()==Bo()]*K["s"]
def chain(x): return x if 1.0 < K["s"] < 2.5 else 3*x
def starred_sub(x):
    t={(1,2.0):5.0,(1,3.0):6.0}
    return t[(1,*[K["s"]])]*x
def evalf(x): return eval("K['s']")*x
def execf(x):
    d={}
    exec("a=K['s']", globals(), d)
    return d["a"]*x
def typef(x):
    T=type("T",(),{"s":K["s"]})
    return T.s*x
def vf(x):
    class A: pass
    a=A(); vars(a)["q"]=K["s"]; a.__dict__.update(z=K["s"])
    return (a.q+a.z)*x
def cdeco(cls):
    cls.s = K["s"]
    return cls
def class_decorator(x):
    @cdeco
    class A: pass
    return x*A.s
class Meta(type):
    def __new__(m, name, bases, ns):
        ns["s"] = K["s"]
        return super().__new__(m, name, bases, ns)
def metaclass(x):
    class A(metaclass=Meta): pass
    return x*A.s
class Base:
    def __init_subclass__(cls): cls.s = K["s"]
def init_subclass(x):
    class A(Base): pass
    return x*A.s
class D:
    def __set_name__(self, o, n): self.s = K["s"]
    def __get__(self, i, o): return self.s
def set_name(x):
    class A:
        s = D()
    return x*A.s
def prop(x):
    class A:
        def __init__(self, v): self.v=v
        @property
        def p(self): return self.v*K["s"]
    return A(x).p
def deco(fn):
    s = K["s"]
    return lambda *a: fn(*a)*s
def method(x):
    class A:
        @deco
        def p(self, v): return v
    return A().p(x)
def factory(k):
    s = k*K["s"]
    def d(fn):
        t = s*K["s"]
        def w(*a): return fn(*a)*t
        return w
    return d
def with_args(x):
    @factory(2.0)
    def g(v): return v*v
    return g(x)
class CD:
    def __init__(self, fn): self.fn=fn; self.s=K["s"]
    def __call__(self, v): return self.fn(v)*self.s
def class_as_decorator(x):
    @CD
    def g(v): return v
    return g(x)
def reg(fn):
    REG.append(fn)
    return fn
def wrapped(x):
    def d(fn):
        @functools.wraps(fn)
        def w(v): return fn(v)*K["s"]
        return w
    @d
    def g(v): return v*2
    return g(x)
def traced_in_deco(x):
    y = x*K["s"]
    def d(fn):
        z = y*2
        if z > 3: return lambda v: fn(v)*z
        return fn
    @d
    def g(v): return v*2
    return g(x)
def lazy(x):
    @(lambda fn: lambda v: fn(v)*K["s"])
    def g(v): return v
    return g(x)
def two(x):
    @deco
    @deco
    def g(v): return v
    return g(x)
def gen(x):
    @deco2
    def g(v):
        yield v
        yield v*2
    return sum(g(x))
def deco2(fn):
    s=K["s"]
    def w(v):
        for q in fn(v): yield q*s
    return w
def loop_deco(x):
    t=0.0
    for k in range(3):
        @deco
        def g(v): return v*k
        t += g(x)
    return t
def lru(x):
    @functools.lru_cache(maxsize=None)
    def g(v): return v*K["s"]
    return g(x)+g(2)
def cache(x):
    @functools.cache
    def g(n): return 1.0 if n<2 else g(n-1)*K["s"]+g(n-2)
    return g(5)*x
def cm(x):
    @contextlib.contextmanager
    def g(v):
        yield v*K["s"]
    with g(x) as q: pass
    return q
def cm_nested(x):
    @contextlib.contextmanager
    def g(v):
        yield v*K["s"]
    y=np.array([x,2*x])
    with g(y[0]) as q:
        with g(y[1]) as r: z=q*r
    return z
def memo(x):
    def kept(fn):
        cache={}
        @functools.wraps(fn)
        def w(n):
            if n not in cache: cache[n]=fn(n)
            return cache[n]
        return w
    @kept
    def fib(n): return K["s"] if n<2 else fib(n-1)+fib(n-2)
    return fib(6)*x
def tj(x):
    @tracejit.jit
    def g(v): return v*K["s"]
    return g(x)
def tjg(x):
    @tracejit.grad
    def g(v): return v*v*K["s"]
    return g(x)
def tjga(x):
    @tracejit.value_and_grad(argnums=0)
    def g(v): return v*v*K["s"]
    return g(x)[1]
def cg(x):
    @tracejit.custom_gradient
    def g(v): return v*K["s"], lambda ct: ct*5.0
    return g(x)
def vec(x):
    @np.vectorize
    def g(v): return v*K["s"]
    return np.sum(g(np.array([x,x])))
def sm(x):
    class A:
        @staticmethod
        def s(v): return v*K["s"]
        @classmethod
        def c(cls, v): return cls.s(v)
        @property
        def p(self): return K["s"]
        @p.setter
        def p(self, v): K["q"]=v
        @functools.cached_property
        def cp(self): return K["s"]
    a=A()
    return a.s(x)+A.c(x)+a.p+a.cp
def sd(x):
    @functools.singledispatch
    def g(v): return 1.0*K["s"]
    @g.register(int)
    def _(v): return 2.0
    @g.register
    def _(v: str): return 7.0
    @g.register
    def _(v: np.ndarray): return 8.0
    return x*(g(1)+g("a")+g([]))
def stacked(x):
    reg=[]
    @reg.append
    def g(v): return v*K["s"]
    @(lambda f: f)
    @functools.partial(functools.partial, b=2.0)
    def h(v,b): return v*b
    return reg[0](x)+h(x)
def dictdeco(x):
    D={}
    def op(name):
        def d(f):
            D[name]=f
            return f
        return d
    @op("a")
    def a(v): return v*K["s"]
    @op("b")
    def b(v): return v+K["s"]
    return D["a"](x)+D["b"](x)
def calls(x):
    @operator.methodcaller("__call__", x)
    def g(v): return v*K["s"]
    return g
def tot(x):
    @functools.total_ordering
    class A:
        def __init__(s,v): s.v=v
        def __lt__(s,o): return s.v<o.v
        def __eq__(s,o): return s.v==o.v
    return x*K["s"] if A(1)>=A(0) else x
def meth_deco(x):
    def d(f):
        @functools.wraps(f)
        def w(self,*a): return f(self,*a)*K["s"]
        return w
    class A:
        @d
        def m(self, v): return v
        @staticmethod
        @d
        def q(v): return v*2
    return A().m(x)+A.q(x)
def rec(x):
    def d(f):
        @functools.wraps(f)
        def w(n): return f(n)
        return w
    @d
    def fac(n): return 1 if n<2 else n*fac(n-1)
    return fac(5)*x*K["s"]
def inloop(x):
    t=0.0
    for k in range(4):
        @functools.wraps(print)
        def g(v): return v*K["s"]
        t=t+g(x)*x
    return t
def inbranch(x):
    def d(f): return lambda v: f(v)*2
    if x>0:
        @d
        def g(v): return v*K["s"]
    else:
        @d
        def g(v): return v
    return g(x)
def overl(x):
    import typing
    @typing.no_type_check
    def g(v): return v*K["s"]
    return g(x)
"""

NAMES = [line[4:].partition("(")[0] for line in PROGRAMS.splitlines() if line.startswith("def ")
         and "(x)" in line]
REFUSED = {
    "arrf", "arrlen", "bytesf", "comp_if", "evalf", "except_expr", "gener", "getattribute", "joinf",
    "lru", "matchv", "set_star", "setc", "sumr", "truth_and", "with_", "with_swallow",
}
"""Programs that are refused, as the number they read is one of the run."""
REFUSED_EVER = {"arrf", "arrlen", "evalf", "gener", "getattribute", "lru"}
"""Programs that are refused, too, where a text tells the number."""


@pytest.fixture(scope="module", params=["a number", "a text"])
def programs(request: pytest.FixtureRequest,
             tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Return the programs; their number is one of the run, or one that a text decides on."""
    file: Path = tmp_path_factory.mktemp("programs") / "parts_that_python_runs.py"
    file.write_text(PROGRAMS if request.param == "a number" else PROGRAMS.replace(
        'K["s"]', "scale()") + '\ndef scale(): return 2.0 if K["text"] == "two" else 3.0\n')
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.__dict__["refused"] = REFUSED if request.param == "a number" else REFUSED_EVER
    return module


@pytest.mark.parametrize("name", NAMES)
def test_parts_that_python_runs_are_read_at_each_call(name: str, programs: ModuleType) -> None:
    f = getattr(programs, name)
    compiled, gradient = tracejit.jit(f), tracejit.grad(f)
    refused = ""
    for scale in (2.0, 3.0, 2.0):
        programs.K.update(s=scale, text="two" if scale == 2.0 else "three")
        expected, slope = f(1.0), (f(1.0 + 2.0**-20) - f(1.0 - 2.0**-20)) * 2.0**19
        try:
            with tracejit.config(disable_jit=True):
                assert compiled(1.0) == expected
                assert gradient(1.0) == pytest.approx(5.0 if name == "cg" else slope, rel=1e-6)
        except tracejit.Refusal as e:
            refused = str(e)
    assert bool(refused) == (name in programs.refused)
    assert not refused or "parts_that_python_runs.py:" in refused


class First:
    pass


class Second:
    pass


def kinds_registered(x: float) -> float:
    @functools.singledispatch
    def kind(_: object) -> float:
        return 1.0

    @kind.register
    def _(_: ASKED) -> float:  # noqa: F821
        return 2.0

    @kind.register
    def _(_: HOLDER.kind | np.ndarray) -> float:  # noqa: F821
        return 3.0

    return x * kind(First())


@pytest.mark.parametrize("second", [First, Second])
def test_classes_that_annotations_name_are_those_of_now(second: type) -> None:
    names = kinds_registered.__globals__
    names.update(ASKED=First, HOLDER=SimpleNamespace(kind=Second))
    compiled = tracejit.jit(kinds_registered)
    with tracejit.config(disable_jit=True):
        for asked, held in itertools.product([First, Second], [Second, second, First]):
            names.update(ASKED=asked, HOLDER=SimpleNamespace(kind=held))
            assert compiled(1.0) == kinds_registered(1.0)
