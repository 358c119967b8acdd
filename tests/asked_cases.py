"""State that functions look up by themselves: attributes of functions and classes, special methods.

`inspect` and `repr` ask for anything that a function or class has, builtins for one special method
after another. Any of it may change, and come and go, between two calls. "|" is the end of a line.
"""

from __future__ import annotations

from state_cases import Case, case_of

__all__ = ["ASKED"]

_HEAD = "import inspect, numbers, string, typing\n"

_FUNCTION = """def g(a,b=2.0,*,c: int=1):
  'doc'
  return 1
def g2(a,b,c,d): return 1
"""

_CHANGES_OF_FUNCTION = (
    "g.__code__=g2.__code__",
    "g.__defaults__=(3.0,4.0,5.0)",
    "g.__kwdefaults__={'c':5,'e':6}",
    "g.__doc__='longer doc'",
    "g.__name__='longer'",
    "g.__qualname__='longer2'",
    "g.__annotations__={'a':int,'b':int}",
    "g.k=5.0",
    "g.__module__='mod'",
    "del g.__doc__",
    "g.__signature__=inspect.signature(lambda a:1)",
    "g.__wrapped__=g2",
)

_OF_FUNCTION: dict[str, str] = {
    "sig": "len(inspect.signature(g).parameters)*x",
    "argspec": "len(inspect.getfullargspec(g).args)*x",
    "getdoc": "len(inspect.getdoc(g))*x",
    "hints": "len(typing.get_type_hints(g))*x",
    "wraps": "len(functools.wraps(g)(lambda: 1).__name__)*x",
    "bind": "len(inspect.signature(g).bind(1,2).arguments)*x",
    "getattr": "getattr(g,'k',2.0)*x",
    "unwrap": "len(inspect.unwrap(g).__name__)*x",
    "repr": "len(repr(g).split(' at ')[0])*x",
    "dirg": "('k' in dir(g))*x",
    "tuple": "len([inspect.signature(h).parameters for h in (g,g2)][0])*x",
}

_CLASS = """@dataclasses.dataclass
class P:
    a: float = 1.0
    b: int = 2
    K = 3.0
    def m(self, y): return y
    @property
    def q(self): return 7.0
class Q(P): pass
p = P()
"""

_CHANGES_OF_CLASS = (
    "P.K=4.0",
    "P.n=5",
    "del P.n",
    "P.__annotations__['z']=int",
    "P.m=lambda self,y,z:y",
    "P.__doc__='new doc'",
    "P.__name__='Longer'",
    "P.__qualname__='Longer3'",
    "P.q=property(lambda self:9.0)",
    "p.a=5.0",
    "p.b=7",
    "p.extra=3",
    "P.__init__=lambda self,a=3.0,b=4,c=1: self.__dict__.update(a=a,b=b)",
    "class R(P): pass",
    "P.__module__='other'",
    "P.__dataclass_fields__.pop('b')",
    "P.__eq__=lambda s,o:True",
    "P.__repr__=lambda s:'P'",
    "P.__len__=lambda s: 4",
    "P.a=8.0",
    "P.__match_args__=('b',)",
)

_OF_CLASS: dict[str, str] = {
    "sig": "len(inspect.signature(P).parameters)*x",
    "sigm": "len(inspect.signature(P.m).parameters)*x",
    "fields": "len(dataclasses.fields(P))*x",
    "asdictv": "dataclasses.asdict(p)['a']*x",
    "members": "len([n for n,_ in inspect.getmembers(P) if not n.startswith('_')])*x",
    "membersK": "dict(inspect.getmembers(P))['K']*x",
    "membersp": "dict(inspect.getmembers(p))['a']*x",
    "hints": "len(typing.get_type_hints(P))*x",
    "getdoc": "len(inspect.getdoc(P) or '')*x",
    "mrok": "[c.__dict__.get('K',2.0) for c in Q.__mro__][1]*x",
    "dir": "len([n for n in dir(P) if n[0]!='_'])*x",
    "dirp": "len([n for n in dir(p) if n[0]!='_'])*x",
    "replace": "dataclasses.replace(p,b=3).a*x",
    "repr": "len(repr(p))*x",
    "str": "len(f'{p}')*x",
    "eq": "(2.0 if p==P() else 3.0)*x",
    "has": "(2.0 if hasattr(p,'n') else 3.0)*x",
    "itemgetterK": "operator.attrgetter('K')(p)*x",
    "methodcaller": "operator.methodcaller('m',x)(p)",
    "static": "inspect.getattr_static(P,'K')*x",
    "staticp": "inspect.getattr_static(p,'K')*x",
    "format2": "len('{:>10}'.format(str(p.b)))*x",
}

_SPECIAL: list[tuple[str, ...]] = [
    ("copied and shown", "class A:|  def __init__(self): self.k=2.0|a=A()",
     "(copy.copy(a).k + len(repr(a).split()[0]))*x", "a.k=3.0", "a.k=4", "A.__len__=lambda s: 3"),
    ("enum item",
     "class Color(enum.Enum):|  RED=1|  BLUE=2.5|  def k(self): return self.value*2|  @classm"
     "ethod|  def d(cls): return cls.BLUE|class F(enum.IntFlag):|  A=1|  B=2|C=Color.RED",
     "Color['BLUE'].value*x", "C=Color.BLUE", "C._value_=5.0", "Color.k=lambda self:9.0",
     "Color.RED._value_=3", "Color.BLUE._value_=4.5", "Color.d=classmethod(lambda c:c.RED)",
     "Color=enum.Enum('Color',{'RED':3,'BLUE':2.5})", "C=Color.RED"),
    ("enum call",
     "class Color(enum.Enum):|  RED=1|  BLUE=2.5|  def k(self): return self.value*2|  @classm"
     "ethod|  def d(cls): return cls.BLUE|class F(enum.IntFlag):|  A=1|  B=2|C=Color.RED",
     "Color(2.5).value*x", "C=Color.BLUE", "C._value_=5.0", "Color.k=lambda self:9.0",
     "Color.RED._value_=3", "Color.BLUE._value_=4.5", "Color.d=classmethod(lambda c:c.RED)",
     "Color=enum.Enum('Color',{'RED':3,'BLUE':2.5})", "C=Color.RED"),
    ("enum list",
     "class Color(enum.Enum):|  RED=1|  BLUE=2.5|  def k(self): return self.value*2|  @classm"
     "ethod|  def d(cls): return cls.BLUE|class F(enum.IntFlag):|  A=1|  B=2|C=Color.RED",
     "sum(c.value for c in Color)*x", "C=Color.BLUE", "C._value_=5.0", "Color.k=lambda self:9.0",
     "Color.RED._value_=3", "Color.BLUE._value_=4.5", "Color.d=classmethod(lambda c:c.RED)",
     "Color=enum.Enum('Color',{'RED':3,'BLUE':2.5})", "C=Color.RED"),
    ("enum flag",
     "class Color(enum.Enum):|  RED=1|  BLUE=2.5|  def k(self): return self.value*2|  @classm"
     "ethod|  def d(cls): return cls.BLUE|class F(enum.IntFlag):|  A=1|  B=2|C=Color.RED",
     "(F.A|F.B).value*x", "C=Color.BLUE", "C._value_=5.0", "Color.k=lambda self:9.0",
     "Color.RED._value_=3", "Color.BLUE._value_=4.5", "Color.d=classmethod(lambda c:c.RED)",
     "Color=enum.Enum('Color',{'RED':3,'BLUE':2.5})", "C=Color.RED"),
    ("getattribute",
     "class A:|  k=2.0|  def __getattribute__(s,n): return object.__getattribute__(s,n)|a=A()",
     "a.k*x", "a.k=3.0", "A.__getattribute__=lambda s,n: 11.0"),
    ("getattribute2", "class A:|  k=2.0|a=A()", "a.k*x", "a.k=3.0",
     "A.__getattribute__=lambda s,n: 11.0", "del A.__getattribute__"),
    ("bool/len", "class A:|  def __len__(s): return 0|a=A()|b=A()", "(2.0 if a else 3.0)*x",
     "A.__bool__=lambda s: True"),
    ("bool none", "class A:|  k=1|a=A()|b=A()", "(2.0 if a else 3.0)*x",
     "A.__bool__=lambda s: False", "A.__len__=lambda s: 0", "del A.__bool__"),
    ("not", "class A:|  k=1|a=A()|b=A()", "(2.0 if not a else 3.0)*x",
     "A.__bool__=lambda s: False"),
    ("and", "class A:|  k=1|a=A()|b=A()", "(a and 2.0)*x",
     "A.__bool__=lambda s: False; A.__mul__=lambda s,o: o*7"),
    ("ne", "class A:|  def __eq__(s,o): return True|a=A()|b=A()", "(2.0 if a!=b else 3.0)*x",
     "A.__ne__=lambda s,o: True"),
    ("eq default", "class A:|  k=1|a=A()|b=A()", "(2.0 if a==b else 3.0)*x",
     "A.__eq__=lambda s,o: True"),
    ("iadd",
     "def h(v):|  w=v|  w+=1.0|  return 2.0 if w is v else w|class A:|  def __add__(s,o): ret"
     "urn s|  |a=A()|b=A()", "h(a)*x", "A.__iadd__=lambda s,o: 5.0"),
    ("radd2",
     "def h(v,a):|  try:|    return v+a|  except TypeError:|    return 1.0|class A:|  def __a"
     "dd__(s,o): return NotImplemented|a=A()|b=A()", "h(a,b)*x", "A.__radd__=lambda s,o: 5.0"),
    ("lt/gt", "class A:|  def __gt__(s,o): return True|a=A()|b=A()", "(2.0 if a<b else 3.0)*x",
     "A.__lt__=lambda s,o: False"),
    ("contains/iter", "class A:|  def __iter__(s): return iter([1,2])|a=A()|b=A()",
     "(2.0 if 2 in a else 3.0)*x", "A.__contains__=lambda s,o: False",
     "A.__iter__=lambda s: iter([5])"),
    ("contains/getitem",
     "class A:|  def __getitem__(s,i):|    if i>2: raise IndexError|    return i|a=A()|b=A()",
     "(2.0 if 2 in a else 3.0)*x", "A.__iter__=lambda s: iter([5])",
     "A.__contains__=lambda s,o: True"),
    ("iter/getitem",
     "class A:|  def __getitem__(s,i):|    if i>2: raise IndexError|    return i|a=A()|b=A()",
     "sum([v for v in a])*x", "A.__iter__=lambda s: iter([5])"),
    ("list/getitem",
     "class A:|  def __getitem__(s,i):|    if i>2: raise IndexError|    return i|a=A()|b=A()",
     "list(a)[-1]*x", "A.__iter__=lambda s: iter([5])"),
    ("unpack",
     "class A:|  def __getitem__(s,i):|    if i>1: raise IndexError|    return i+1|a=A()|b=A()",
     "(lambda p,q: p*q)(*a)*x", "A.__iter__=lambda s: iter([5,6])"),
    ("reversed",
     "class A:|  def __len__(s): return 3|  def __getitem__(s,i): return i|a=A()|b=A()",
     "[v for v in reversed(a)][0]*x", "A.__reversed__=lambda s: iter([7.0])",
     "A.__len__=lambda s: 5"),
    ("float/index", "class A:|  def __index__(s): return 3|a=A()|b=A()", "float(a)*x",
     "A.__float__=lambda s: 4.0"),
    ("int/index", "class A:|  def __index__(s): return 3|a=A()|b=A()", "int(a)*x",
     "A.__int__=lambda s: 4"),
    ("complex/float", "class A:|  def __float__(s): return 3.0|a=A()|b=A()", "complex(a).real*x",
     "A.__complex__=lambda s: 4j+1"),
    ("floor/float", "class A:|  def __float__(s): return 3.5|a=A()|b=A()", "math.floor(a)*x",
     "A.__floor__=lambda s: 9"),
    ("ceil/float", "class A:|  def __float__(s): return 3.5|a=A()|b=A()", "math.ceil(a)*x",
     "A.__ceil__=lambda s: 9"),
    ("trunc", "class A:|  def __trunc__(s): return 3|a=A()|b=A()", "math.trunc(a)*x",
     "A.__trunc__=lambda s: 9"),
    ("sqrt", "class A:|  def __float__(s): return 4.0|a=A()|b=A()", "math.sqrt(a)*x",
     "A.__float__=lambda s: 9.0", "A.__index__=lambda s: 16"),
    ("str/repr", "class A:|  def __repr__(s): return 'abc'|a=A()|b=A()", "len(str(a))*x",
     "A.__str__=lambda s: 'abcd'", "A.__repr__=lambda s: 'ab'"),
    ("fmt/str", "class A:|  def __str__(s): return 'abc'|a=A()|b=A()", "len(f'{a}')*x",
     "A.__format__=lambda s,f: 'abcd'"),
    ("fmt/str2", "class A:|  def __str__(s): return 'abc'|a=A()|b=A()", "len('{}'.format(a))*x",
     "A.__format__=lambda s,f: 'abcd'", "A.__str__=lambda s:'abcdef'"),
    ("pct", "class A:|  def __str__(s): return 'abc'|a=A()|b=A()", "len('%s'%a)*x",
     "A.__str__=lambda s: 'abcd'"),
    ("pctr", "class A:|  def __repr__(s): return 'abc'|a=A()|b=A()", "len('%r'%a)*x",
     "A.__repr__=lambda s: 'abcd'"),
    ("join", "class A:|  def __str__(s): return 'abc'|a=A()|b=A()",
     "len(','.join(map(str,[a,b])))*x", "A.__str__=lambda s: 'abcd'"),
    ("hash", "class A:|  k=1|a=A()|b=A()", "len({a,b})*x",
     "A.__eq__=lambda s,o: True;A.__hash__=lambda s: 1"),
    ("dict", "class A:|  k=1|a=A()|b=A()", "len({a:1,b:2})*x",
     "A.__eq__=lambda s,o: True;A.__hash__=lambda s: 1"),
    ("getattr",
     "def h(a):|  try: return a.zz|  except AttributeError: return 2.0|class A:|  k=1|a=A()|b"
     "=A()", "h(a)*x", "A.__getattr__=lambda s,n: 5.0", "A.zz=7.0", "del A.zz"),
    ("setattr", "def h(a):|  a.q=3.0|  return a.q|class A:|  k=1|a=A()|b=A()", "h(A())*x",
     "A.__setattr__=lambda s,n,v: object.__setattr__(s,n,v*2)", "del A.__setattr__"),
    ("init", "class A:|  k=1.0|a=A()|b=A()", "A().k*x",
     "A.__init__=lambda s: setattr(s,'k',9.0)", "del A.__init__"),
    ("new", "class A:|  k=1.0|a=A()|b=A()", "A().k*x",
     "A.__new__=lambda c: types.SimpleNamespace(k=8.0)"),
    ("call", "def h(a): return a() if callable(a) else 2.0|class A:|  k=1.0|a=A()|b=A()",
     "h(a)*x", "A.__call__=lambda s: 5.0"),
    ("enter",
     "def h(a):|  with a as v: return v|class A:|  def __enter__(s): return 2.0|  def __exit_"
     "_(s,*e): return None|a=A()|b=A()", "h(a)*x", "A.__enter__=lambda s: 5.0"),
    ("exit",
     "def h(a):|  try:|    with a as v: raise ValueError|    return 2.0|  except ValueError: "
     "return 3.0|class A:|  def __enter__(s): return 2.0|  def __exit__(s,*e): return True|a="
     "A()|b=A()", "h(a)*x", "A.__exit__=lambda s,*e: None"),
    ("del",
     "def h(a):|  a.q=3.0|  del a.q|  return 2.0 if hasattr(a,'q') else 5.0|class A:|  k=1.0|"
     "a=A()|b=A()", "h(A())*x", "A.__delattr__=lambda s,n: None"),
    ("matmul",
     "def h(a):|  try: return a@3.0|  except TypeError: return 2.0|class A:|  k=1|a=A()|b=A()",
     "h(a)*x", "A.__matmul__=lambda s,o: o"),
    ("neg", "class A:|  def __neg__(s): return 2.0|a=A()|b=A()", "(-a)*x",
     "A.__neg__=lambda s: 3.0"),
    ("abs", "class A:|  def __abs__(s): return 2.0|a=A()|b=A()", "abs(a)*x",
     "A.__abs__=lambda s: 3.0"),
    ("inv", "class A:|  def __invert__(s): return 2.0|a=A()|b=A()", "(~a)*x",
     "A.__invert__=lambda s: 3.0"),
    ("round", "class A:|  def __round__(s,n=0): return 2.0+n|a=A()|b=A()", "round(a,1)*x",
     "A.__round__=lambda s,n: 3.0"),
    ("pow", "class A:|  def __pow__(s,o,m=None): return 2.0|a=A()|b=A()", "pow(a,2)*x+a**3*x",
     "A.__pow__=lambda s,o,m=None: 3.0"),
    ("divmod",
     "def h(a):|  try: return divmod(a,2)[0]|  except TypeError: return 1.0|class A:|  def __"
     "floordiv__(s,o): return 2.0|  def __mod__(s,o): return 3.0|a=A()|b=A()", "h(a)*x",
     "A.__divmod__=lambda s,o: (5.0,6.0)"),
    ("lenhint", "class A:|  def __iter__(s): return iter([1.0])|a=A()|b=A()", "sum(a)*x",
     "A.__iter__=lambda s: iter([2.0,3.0])"),
    ("missing", "d={}|class A:|  k=1|a=A()|b=A()", "d['q']*x if False else d.get('q',2.0)*x",
     "d['q']=3.0"),
    ("instancecheck", "class B: pass|class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,B) else 3.0)*x", "class C(B): pass|a.__class__=C"),
    ("subclasshook",
     "class B(abc.ABC):|  @classmethod|  def __subclasshook__(c,k): return hasattr(k,'q')|cla"
     "ss A:|  k=1|a=A()|b=A()", "(2.0 if isinstance(a,B) else 3.0)*x", "A.q=1", "del A.q"),
    ("proto",
     "@typing.runtime_checkable|class B(typing.Protocol):|  q: int|class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,B) else 3.0)*x", "A.q=1", "del A.q", "a.q=1", "del a.q"),
    ("proto2",
     "@typing.runtime_checkable|class B(typing.Protocol):|  def q(self): ...|class A:|  k=1|a"
     "=A()|b=A()", "(2.0 if isinstance(a,B) else 3.0)*x", "A.q=lambda s: 1", "del A.q"),
    ("proto3",
     "@typing.runtime_checkable|class B(typing.Protocol):|  def q(self): ...|class A:|  k=1|a"
     "=A()|b=A()", "(2.0 if issubclass(A,B) else 3.0)*x", "A.q=lambda s: 1", "del A.q"),
    ("iterable", "class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,collections.abc.Iterable) else 3.0)*x",
     "A.__iter__=lambda s: iter([1])", "del A.__iter__"),
    ("callableabc", "class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,collections.abc.Callable) else 3.0)*x", "A.__call__=lambda s: 1"),
    ("hashableabc", "class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,collections.abc.Hashable) else 3.0)*x", "A.__hash__=None"),
    ("sizedabc", "class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,collections.abc.Sized) else 3.0)*x", "A.__len__=lambda s: 1"),
    ("number", "class A:|  k=1|a=A()|b=A()", "(2.0 if isinstance(a,numbers.Number) else 3.0)*x",
     "numbers.Number.register(A)"),
    ("floatabc", "class A:|  k=1|a=A()|b=A()",
     "(2.0 if isinstance(a,typing.SupportsFloat) else 3.0)*x", "A.__float__=lambda s: 1.0"),
    ("iscallable", "class A:|  k=1|a=A()|b=A()", "(2.0 if callable(a) else 3.0)*x",
     "A.__call__=lambda s: 1.0", "a.__call__=3"),
    ("sum start",
     "class A:|  def __add__(s,o): return 2.0|  def __radd__(s,o): return 3.0|a=A()|b=A()",
     "sum([a])*x", "A.__radd__=lambda s,o: 5.0"),
    ("sum ab",
     "class A:|  def __add__(s,o): return 2.0|  def __radd__(s,o): return s|a=A()|b=A()",
     "sum([a,b])*x", "A.__add__=lambda s,o: 5.0"),
    ("max",
     "class A:|  def __init__(s): s.k=1.0|  def __lt__(s,o): return s.k<o.k|  def __gt__(s,o)"
     ": return s.k>o.k|a=A()|b=A()", "max(a,b).k*x", "b.k=5.0", "A.__gt__=lambda s,o: False",
     "a.k=7.0"),
    ("min", "class A:|  def __init__(s): s.k=1.0|  def __lt__(s,o): return s.k<o.k|a=A()|b=A()",
     "min([a,b]).k*x", "b.k=0.5", "A.__lt__=lambda s,o: False", "a.k=0.1"),
    ("sorted",
     "class A:|  def __init__(s): s.k=1.0|  def __lt__(s,o): return s.k<o.k|a=A()|b=A()",
     "sorted([a,b])[0].k*x", "b.k=0.5", "A.__lt__=lambda s,o: False", "a.k=0.1"),
    ("sort", "class A:|  def __init__(s): s.k=1.0|  def __lt__(s,o): return s.k<o.k|a=A()|b=A()",
     "(lambda l: (l.sort(), l[0].k))([a,b])[1]*x", "b.k=0.5", "A.__lt__=lambda s,o: False",
     "a.k=0.1"),
    ("heap", "class A:|  def __init__(s): s.k=1.0|  def __lt__(s,o): return s.k<o.k|a=A()|b=A()",
     "__import__('heapq').nsmallest(1,[a,b])[0].k*x", "b.k=0.5", "a.k=0.1"),
    ("bisect",
     "class A:|  def __init__(s): s.k=1.0|  def __lt__(s,o): return s.k<o.k|a=A()|b=A()",
     "__import__('bisect').bisect([a,b],b)*x", "a.k=3.0", "b.k=0.5"),
    ("index",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "[a,b].index(b)*x+x", "a.k=0.5", "b.k=0.5"),
    ("count",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "[a,b].count(b)*x", "a.k=0.5", "b.k=0.5"),
    ("remove",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "(lambda l: (l.remove(b), l[0].k))([a,b])[1]*x", "a.k=0.5", "b.k=0.5"),
    ("tupeq",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "((a,1)==(b,1))*x", "a.k=0.5", "b.k=0.5"),
    ("listeq",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "([a,1]==[b,1])*x", "a.k=0.5", "b.k=0.5"),
    ("dicteq",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "({1:a}=={1:b})*x", "a.k=0.5", "b.k=0.5"),
    ("listlt",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|  def __lt__(s,o"
     "): return s.k<o.k|a=A()|b=A()", "([a,1]<[b,2])*x", "a.k=1.5", "b.k=2.5"),
    ("in list",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|a=A()|b=A()",
     "(2.0 if b in [a] else 3.0)*x", "a.k=0.5", "b.k=0.5"),
    ("key obj",
     "class A:|  def __init__(s): s.k=1.0|  def __eq__(s,o): return s.k==o.k|  def __hash__(s"
     "): return 1|a=A()|b=A()", "{a:2.0}.get(b,3.0)*x", "a.k=0.5", "b.k=0.5"),
    ("all", "class A:|  def __bool__(s): return True|a=A()|b=A()", "all([a,b])*x",
     "A.__bool__=lambda s: False"),
    ("any", "class A:|  def __bool__(s): return False|a=A()|b=A()", "any([a,b])*x",
     "A.__bool__=lambda s: True"),
    ("filter", "class A:|  def __bool__(s): return False|a=A()|b=A()",
     "len(list(filter(None,[a,b])))*x", "A.__bool__=lambda s: True"),
    ("zip", "class A:|  def __iter__(s): return iter([1.0,2.0])|a=A()|b=A()",
     "sum(p*q for p,q in zip(a,b))*x", "A.__iter__=lambda s: iter([3.0])"),
    ("enum", "class A:|  def __iter__(s): return iter([1.0,2.0])|a=A()|b=A()",
     "sum(p*q for p,q in enumerate(a))*x", "A.__iter__=lambda s: iter([3.0,4.0])"),
    ("map", "class A:|  def __call__(s,v): return v*2|a=A()|b=A()", "sum(map(a,[1.0,2.0]))*x",
     "A.__call__=lambda s,v: v*3"),
    ("keyf", "class A:|  def __call__(s,v): return -v|a=A()|b=A()",
     "sorted([1.0,2.0],key=a)[0]*x", "A.__call__=lambda s,v: v"),
    ("reduce", "class A:|  def __call__(s,v,w): return v-w|a=A()|b=A()",
     "functools.reduce(a,[1.0,2.0])*x", "A.__call__=lambda s,v,w: v+w"),
    ("partial", "class A:|  def __call__(s,v,w): return v-w|a=A()|b=A()",
     "functools.partial(a,1.0)(2.0)*x", "A.__call__=lambda s,v,w: v+w"),
    ("dictof",
     "class A:|  def keys(s): return ['q']|  def __getitem__(s,k): return 2.0|a=A()|b=A()",
     "dict(a)['q']*x", "A.__getitem__=lambda s,k: 3.0", "A.keys=lambda s: ['q','r']"),
    ("kw",
     "def h(q): return q|class A:|  def keys(s): return ['q']|  def __getitem__(s,k): return "
     "2.0|a=A()|b=A()", "h(**a)*x", "A.__getitem__=lambda s,k: 3.0"),
    ("slice", "class A:|  def __getitem__(s,k): return float(k.stop)|a=A()|b=A()", "a[1:3]*x",
     "A.__getitem__=lambda s,k: float(k.start)"),
    ("ellipsis",
     "class A:|  def __getitem__(s,k): return 2.0 if k[0] is Ellipsis else 1.0|a=A()|b=A()",
     "a[...,1]*x", "A.__getitem__=lambda s,k: 9.0"),
    ("setitem",
     "def h(a):|  a['q']=3.0|  return a.d['q']|class A:|  def __init__(s): s.d={}|  def __set"
     "item__(s,k,v): s.d[k]=v|a=A()|b=A()", "h(A())*x",
     "A.__setitem__=lambda s,k,v: s.d.__setitem__(k,v*2)"),
    ("delitem",
     "def h(a):|  del a['q']|  return len(a.d)+1.0|class A:|  def __init__(s): s.d={'q':1}|  "
     "def __delitem__(s,k): del s.d[k]|a=A()|b=A()", "h(A())*x",
     "A.__delitem__=lambda s,k: None"),
    ("classgetitem", "class A:|  def __class_getitem__(c,k): return 2.0|a=A()|b=A()", "A[3]*x",
     "A.__class_getitem__=classmethod(lambda c,k: 5.0)"),
    ("set_name",
     "class D:|  def __set_name__(s,o,n): s.n=2.0|def h():|  class Z: d=D()|  return Z.__dict"
     "__['d'].n|class A:|  k=1|a=A()|b=A()", "h()*x",
     "D.__set_name__=lambda s,o,n: setattr(s,'n',7.0)"),
    ("init_subclass",
     "class B:|  def __init_subclass__(c): c.n=2.0|def h():|  class Z(B): pass|  return Z.n|c"
     "lass A:|  k=1|a=A()|b=A()", "h()*x",
     "B.__init_subclass__=classmethod(lambda c: setattr(c,'n',7.0))"),
    ("metacall",
     "class M(type):|  def __call__(c):|    o=type.__call__(c); o.q=2.0; return o|class C(met"
     "aclass=M): pass|class A:|  k=1|a=A()|b=A()", "C().q*x",
     "M.__call__=lambda c: types.SimpleNamespace(q=7.0)"),
    ("metaattr", "class M(type):|  q=2.0|class C(metaclass=M): pass|class A:|  k=1|a=A()|b=A()",
     "C.q*x", "M.q=7.0", "C.q=9.0"),
    ("metaprop",
     "class M(type):|  @property|  def q(c): return 2.0|class C(metaclass=M): pass|class A:| "
     " k=1|a=A()|b=A()", "C.q*x", "M.q=property(lambda c: 7.0)", "C.q"),
    ("metaga",
     "class M(type):|  def __getattr__(c,n): return 2.0|class C(metaclass=M): pass|class A:| "
     " k=1|a=A()|b=A()", "C.zz*x", "M.__getattr__=lambda c,n: 7.0", "C.zz=9.0", "del C.zz"),
    ("metalen",
     "class M(type):|  def __len__(c): return 2|class C(metaclass=M): pass|class A:|  k=1|a=A"
     "()|b=A()", "len(C)*x", "M.__len__=lambda c: 7"),
    ("metaiter",
     "class M(type):|  def __iter__(c): return iter([2.0])|class C(metaclass=M): pass|class A"
     ":|  k=1|a=A()|b=A()", "sum(C)*x", "M.__iter__=lambda c: iter([7.0])"),
    ("metagi",
     "class M(type):|  def __getitem__(c,k): return 2.0|class C(metaclass=M): pass|class A:| "
     " k=1|a=A()|b=A()", "C[1]*x", "M.__getitem__=lambda c,k: 7.0"),
    ("metaeq",
     "class M(type):|  def __eq__(c,o): return True|  __hash__=type.__hash__|class C(metaclas"
     "s=M): pass|class A:|  k=1|a=A()|b=A()", "(2.0 if C==3 else 5.0)*x",
     "M.__eq__=lambda c,o: False"),
    ("metaadd",
     "class M(type):|  def __add__(c,o): return o*2|class C(metaclass=M): pass|class A:|  k=1"
     "|a=A()|b=A()", "(C+1.0)*x", "M.__add__=lambda c,o: 7.0"),
    ("metacontains",
     "class M(type):|  def __contains__(c,o): return True|class C(metaclass=M): pass|class A:"
     "|  k=1|a=A()|b=A()", "(2.0 if 3 in C else 5.0)*x", "M.__contains__=lambda c,o: False"),
    ("metabool", "class M(type): pass|class C(metaclass=M): pass|class A:|  k=1|a=A()|b=A()",
     "(2.0 if C else 5.0)*x", "M.__bool__=lambda c: False"),
    ("classmethodof", "class A:|  k=2.0|  @classmethod|  def m(c): return c.k|a=A()|b=A()",
     "A.m()*a.m()*x", "A.k=3.0", "A.m=classmethod(lambda c: 9.0)", "a.m=lambda: 4.0"),
    ("staticof", "class A:|  @staticmethod|  def m(v): return v*2|a=A()|b=A()",
     "A.m(x)*a.m(1.0)", "A.m=staticmethod(lambda v: v*9.0)"),
    ("propset",
     "def h(a):|  a.q=3.0|  return a.q|class A:|  @property|  def q(s): return s._q|  @q.sett"
     "er|  def q(s,v): s._q=v*2|a=A()|b=A()", "h(A())*x",
     "A.q=property(lambda s: s._q, lambda s,v: setattr(s,'_q',v*5))"),
    ("mangled", "class A:|  def __init__(s): s.__k=2.0|  def m(s): return s.__k|a=A()|b=A()",
     "a.m()*x", "a._A__k=3.0", "A.m=lambda s: 9.0"),
    ("varsupd", "class A:|  k=2.0|a=A()|b=A()", "a.k*x", "vars(a)['k']=4.0", "vars(a).pop('k')",
     "a.__dict__.setdefault('k',7)"),
    ("type()", "class A:|  k=2.0|a=A()|b=A()", "type(a)().k*x", "A.k=3.0",
     "A=type('A',(),{'k':9.0});a.__class__=A"),
    ("typecall", "class A:|  k=2.0|a=A()|b=A()", "type('Z',(A,),{'n':5.0})().k*x", "A.k=3.0"),
    ("annot", "class A:|  k: float=2.0|a=A()|b=A()", "len(A.__annotations__)*x",
     "A.__annotations__['z']=1"),
    ("fnattr", "class A:|  def m(s): return A.m.q|  m.q=2.0|a=A()|b=A()", "a.m()*x", "A.m.q=5.0",
     "A.m.q=6"),
    ("nested class", "class A:|  class I:|    k=2.0|a=A()|b=A()", "A.I.k*a.I().k*x", "A.I.k=3.0",
     "A.I=types.SimpleNamespace(k=1.0)"),
    ("bound", "class A:|  k=2.0|  def m(s,v): return v*s.k|a=A();b=A();B=a.m", "B(x)", "a.k=3.0",
     "B=b.m", "B.__self__.k=9.0"),
]


def _cases() -> list[Case]:
    found = [case_of(f"function: {name}", f"{_HEAD}{_FUNCTION}def f(x):\n    return {text}",
                     *_CHANGES_OF_FUNCTION, call="g(x)") for name, text in _OF_FUNCTION.items()]
    found += [case_of(f"class: {name}", f"{_HEAD}{_CLASS}def f(x):\n    return {text}",
                      *_CHANGES_OF_CLASS) for name, text in _OF_CLASS.items()]
    for name, setup, text, *changes in _SPECIAL:
        lines = setup.replace("|", "\n")
        found.append(case_of(f"asked: {name}", f"{_HEAD}{lines}\ndef f(x):\n    return {text}",
                             *[c.replace("|", "\n") for c in changes]))
    return found


ASKED = _cases()
