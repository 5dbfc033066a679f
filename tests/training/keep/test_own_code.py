"""An edit of the user's code anywhere that a fit can reach is seen; one that changes nothing is not."""

import importlib
import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import sobercv
from sobercv.errors import SoberError
from sobercv.training.keep.fingerprint import code_of, digest, fingerprint

HEAD = """
import functools, enum, threading, logging, dataclasses, re
from functools import cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod, wraps
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
"""
CLASS = """
class Picker(TransformerMixin, BaseEstimator):
    {members}
    def fit(self, X, y=None):
        return self
    def transform(self, X):
        return {used}
"""


def cls(members="", used="X", before="", after=""):
    body = textwrap.indent(textwrap.dedent(members), "    ").strip()
    return before + CLASS.format(members=body or "pass", used=used) + after


#: Two versions of a module each, of which the estimator `Picker()` does different things.
EDITS = {
    "attribute: number": (cls("COLS = 0"), cls("COLS = 3")),
    "attribute: tuple": (cls("COLS = (0,)"), cls("COLS = (3,)")),
    "attribute: list": (cls("COLS = [0]"), cls("COLS = [3]")),
    "attribute: dict": (cls("COLS = {'a': 0}"), cls("COLS = {'a': 3}")),
    "attribute: set": (cls("COLS = {0, 'a'}"), cls("COLS = {3, 'a'}")),
    "attribute: array": (cls("COLS = np.array([0])"), cls("COLS = np.array([3])")),
    "attribute: range": (cls("COLS = range(2)"), cls("COLS = range(3)")),
    "attribute: pattern": (cls("COLS = re.compile('a')"), cls("COLS = re.compile('b')")),
    "attribute: private": (cls("_COLS = (0,)"), cls("_COLS = (3,)")),
    "attribute: name-mangled": (cls("__COLS = (0,)"), cls("__COLS = (3,)")),
    "attribute: function": (cls("f = lambda self, x: x + 1"), cls("f = lambda self, x: x + 2")),
    "attribute: partial": (cls("f = partial(np.add, 1)"), cls("f = partial(np.add, 2)")),
    "method": (cls("def f(self): return 1"), cls("def f(self): return 2")),
    "method: default": (cls("def f(self, a=(1,)): return a"), cls("def f(self, a=(2,)): return a")),
    "method: keyword default": (cls("def f(self, *, a=1): return a"), cls("def f(self, *, a=2): return a")),
    "staticmethod": (cls("@staticmethod\ndef f(): return 1"), cls("@staticmethod\ndef f(): return 2")),
    "classmethod": (cls("@classmethod\ndef f(cls): return 1"), cls("@classmethod\ndef f(cls): return 2")),
    "property": (cls("@property\ndef f(self): return 1"), cls("@property\ndef f(self): return 2")),
    "cached_property": (cls("@cached_property\ndef f(self): return 1"), cls("@cached_property\ndef f(self): return 2")),
    "available_if": (
        cls("@available_if(lambda self: True)\ndef f(self): return 1"),
        cls("@available_if(lambda self: True)\ndef f(self): return 2"),
    ),
    "available_if: the condition": (
        cls("@available_if(lambda self: True)\ndef f(self): return 1"),
        cls("@available_if(lambda self: False)\ndef f(self): return 1"),
    ),
    "partialmethod": (
        cls("def g(self, a): return a\nf = partialmethod(g, 1)"),
        cls("def g(self, a): return a\nf = partialmethod(g, 2)"),
    ),
    "lru_cache": (cls("@lru_cache\ndef f(self): return 1"), cls("@lru_cache\ndef f(self): return 2")),
    "lru_cache around a staticmethod": (
        cls("@staticmethod\n@lru_cache(maxsize=8)\ndef f(): return 1"),
        cls("@staticmethod\n@lru_cache(maxsize=8)\ndef f(): return 2"),
    ),
    "singledispatchmethod": (
        cls("@singledispatchmethod\ndef f(self, a): return 1\n@f.register\ndef _(self, a: int): return 1"),
        cls("@singledispatchmethod\ndef f(self, a): return 1\n@f.register\ndef _(self, a: int): return 2"),
    ),
    "nested class": (cls("class Inner:\n    A = (1,)"), cls("class Inner:\n    A = (2,)")),
    "nested class: method": (
        cls("class Inner:\n    def f(self): return 1"),
        cls("class Inner:\n    def f(self): return 2"),
    ),
    "base class": (
        cls(before="class Base:\n    A = (1,)\n").replace("(TransformerMixin", "(Base, TransformerMixin"),
        cls(before="class Base:\n    A = (2,)\n").replace("(TransformerMixin", "(Base, TransformerMixin"),
    ),
    "order of base classes": (
        cls(before="class A: f = 1\nclass B: f = 2\n").replace("(TransformerMixin", "(A, B, TransformerMixin"),
        cls(before="class A: f = 1\nclass B: f = 2\n").replace("(TransformerMixin", "(B, A, TransformerMixin"),
    ),
    "metaclass": (
        cls(before="class Meta(type):\n    def f(cls): return 1\n").replace("BaseEstimator)", "BaseEstimator, metaclass=Meta)"),
        cls(before="class Meta(type):\n    def f(cls): return 2\n").replace("BaseEstimator)", "BaseEstimator, metaclass=Meta)"),
    ),
    "enum": (
        cls(before="class E(enum.Enum):\n    A = 1\n", used="X[:, E.A.value]"),
        cls(before="class E(enum.Enum):\n    A = 2\n", used="X[:, E.A.value]"),
    ),
    "dataclass": (
        cls(before="@dataclasses.dataclass\nclass D:\n    a: int = 1\n", used="X[:, D().a]"),
        cls(before="@dataclasses.dataclass\nclass D:\n    a: int = 2\n", used="X[:, D().a]"),
    ),
    "constant": (cls(before="K = 1\n", used="X * K"), cls(before="K = 2\n", used="X * K")),
    "constant: tuple": (cls(before="K = (1,)\n", used="X[:, K]"), cls(before="K = (2,)\n", used="X[:, K]")),
    "constant: dict": (cls(before="K = {'a': [1]}\n", used="X * K['a']"), cls(before="K = {'a': [2]}\n", used="X * K['a']")),
    "constant: array": (cls(before="K = np.ones(2)\n", used="X @ K"), cls(before="K = np.zeros(2)\n", used="X @ K")),
    "constant: instance": (
        cls(before="class C:\n    def __init__(self, a): self.a = a\nK = C(1)\n", used="X * K.a"),
        cls(before="class C:\n    def __init__(self, a): self.a = a\nK = C(2)\n", used="X * K.a"),
    ),
    "constant: class of an instance": (
        cls(before="class C:\n    def f(self): return 1\nK = C()\n", used="X * K.f()"),
        cls(before="class C:\n    def f(self): return 2\nK = C()\n", used="X * K.f()"),
    ),
    "constant: read in a comprehension": (
        cls(before="K = 1\n", used="[x * K for x in X]"),
        cls(before="K = 2\n", used="[x * K for x in X]"),
    ),
    "helper": (cls(before="def h(x): return x\n", used="h(X)"), cls(before="def h(x): return -x\n", used="h(X)")),
    "helper: after the class": (cls(after="\ndef h(x): return x\n", used="h(X)"), cls(after="\ndef h(x): return -x\n", used="h(X)")),
    "helper of a helper": (
        cls(before="def g(x): return x\ndef h(x): return g(x)\n", used="h(X)"),
        cls(before="def g(x): return -x\ndef h(x): return g(x)\n", used="h(X)"),
    ),
    "helper: constant": (
        cls(before="K = [1]\ndef h(x): return x * K[0]\n", used="h(X)"),
        cls(before="K = [2]\ndef h(x): return x * K[0]\n", used="h(X)"),
    ),
    "helpers that call each other": (
        cls(before="def g(x): return h(x)\ndef h(x): return g(x) if len(x) else 1\n", used="h(X)"),
        cls(before="def g(x): return h(x)\ndef h(x): return g(x) if len(x) else 2\n", used="h(X)"),
    ),
    "helper: default": (cls(before="def h(x, a=[1]): return x\n", used="h(X)"), cls(before="def h(x, a=[2]): return x\n", used="h(X)")),
    "helper: lambda": (cls(before="h = lambda x: x\n", used="h(X)"), cls(before="h = lambda x: -x\n", used="h(X)")),
    "helper: partial": (
        cls(before="def g(a, x): return x * a\nh = partial(g, 1)\n", used="h(X)"),
        cls(before="def g(a, x): return x * a\nh = partial(g, 2)\n", used="h(X)"),
    ),
    "helper: inside a partial": (
        cls(before="def g(a, x): return x * a\nh = partial(g, 1)\n", used="h(X)"),
        cls(before="def g(a, x): return x - a\nh = partial(g, 1)\n", used="h(X)"),
    ),
    "helper: closure": (
        cls(before="def make(a):\n    return lambda x: x * a\nh = make(1)\n", used="h(X)"),
        cls(before="def make(a):\n    return lambda x: x * a\nh = make(2)\n", used="h(X)"),
    ),
    "helper: closures that change places": (
        cls(before="def make(a):\n    return lambda x: x * a\nh = {'a': make(1), 'b': make(2)}\n", used="h['a'](X)"),
        cls(before="def make(a):\n    return lambda x: x * a\nh = {'a': make(2), 'b': make(1)}\n", used="h['a'](X)"),
    ),
    "helper: own decorator": (
        cls(before="def d(f):\n    def w(x): return f(x) * 1\n    return w\n@d\ndef h(x): return x\n", used="h(X)"),
        cls(before="def d(f):\n    def w(x): return f(x) * 2\n    return w\n@d\ndef h(x): return x\n", used="h(X)"),
    ),
    "helper: under an own decorator": (
        cls(before="def d(f):\n    @wraps(f)\n    def w(x): return f(x)\n    return w\n@d\ndef h(x): return x\n", used="h(X)"),
        cls(before="def d(f):\n    @wraps(f)\n    def w(x): return f(x)\n    return w\n@d\ndef h(x): return -x\n", used="h(X)"),
    ),
    "helper: lru_cache": (
        cls(before="@lru_cache\ndef h(): return 1\n", used="X * h()"),
        cls(before="@lru_cache\ndef h(): return 2\n", used="X * h()"),
    ),
    "helper: singledispatch": (
        cls(before="@singledispatch\ndef h(x): return x\n@h.register\ndef _(x: np.ndarray): return x\n", used="h(X)"),
        cls(before="@singledispatch\ndef h(x): return x\n@h.register\ndef _(x: np.ndarray): return -x\n", used="h(X)"),
    ),
    "helper: attribute of a function": (
        cls(before="def h(x): return x * h.k\nh.k = 1\n", used="h(X)"),
        cls(before="def h(x): return x * h.k\nh.k = 2\n", used="h(X)"),
    ),
    "helper: numba": (
        cls(before="import numba\n@numba.njit\ndef h(x): return x\n", used="h(X)"),
        cls(before="import numba\n@numba.njit\ndef h(x): return -x\n", used="h(X)"),
    ),
    "helper: a name that is not there yet": (cls(used="later(X)"), cls(used="later(X)", after="\nlater = abs\n")),
    "helper class": (
        cls(before="class C:\n    @staticmethod\n    def f(x): return x\n", used="C.f(X)"),
        cls(before="class C:\n    @staticmethod\n    def f(x): return -x\n", used="C.f(X)"),
    ),
    "inner function": (
        cls("def f(self):\n    def g(): return 1\n    return g()"),
        cls("def f(self):\n    def g(): return 2\n    return g()"),
    ),
    "try and except": (
        cls("def f(self):\n    try: return 1\n    except ValueError: return 2"),
        cls("def f(self):\n    try: return 1\n    except KeyError: return 2"),
    ),
    "super": (
        cls(before="class Base:\n    def f(self): return 1\n", members="def f(self): return super().f()").replace("(Tr", "(Base, Tr"),
        cls(before="class Base:\n    def f(self): return 2\n", members="def f(self): return super().f()").replace("(Tr", "(Base, Tr"),
    ),
}  # fmt: skip

#: A module beside it, `beside`, in two versions; and how the estimator uses it.
BESIDE = {
    "attribute of a module": ("import beside\n", "beside.f(X)"),
    "constant of a module": ("import beside\n", "X * beside.K"),
    "from a module": ("from beside import f\n", "f(X)"),
    "by another name": ("from beside import f as g\n", "g(X)"),
    "constant from a module": ("from beside import K\n", "X * K"),
    "class of a module": ("import beside\n", "beside.C().f(X)"),
    "the module as a value": ("import beside as b\ndef pick(m): return m.f\n", "pick(b)(X)"),
    "imported inside": ("", "__import__('os') and _inside(X)"),
    "imported inside, from": ("", "_inside_from(X)"),
    "module of a package": ("import folder.deep\n", "folder.deep.f(X)"),
}
INSIDE = "\ndef _inside(X):\n    import beside\n    return beside.f(X)\ndef _inside_from(X):\n    from beside import f\n    return f(X)\n"
TWO = ("K = 1\ndef f(x): return x\nclass C:\n    def f(self, x): return x\n",
       "K = 2\ndef f(x): return -x\nclass C:\n    def f(self, x): return -x\n")  # fmt: skip


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Write a module, import it anew, give it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = ("own_module", "beside", "folder", "folder.deep")

    def load(source, **others):
        for name in names:
            sys.modules.pop(name, None)
        (tmp_path / "folder").mkdir(exist_ok=True)
        for name, text in {"own_module": HEAD + source, "folder.__init__": "", **others}.items():
            tmp_path.joinpath(*name.split(".")).with_suffix(".py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module("own_module")

    yield load
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def run(monkeypatch):
    """Run a source as a notebook would, and return its namespace."""

    def run(source):
        main = type(sys)("__main__")
        monkeypatch.setitem(sys.modules, "__main__", main)
        exec(compile(HEAD + source, "<ipython-input-1>", "exec"), vars(main))
        return main

    return run


@pytest.mark.parametrize("kind", EDITS)
def test_an_edit_of_a_script_is_seen(run, kind):
    texts = [digest(run(source).Picker()) for source in (*EDITS[kind], EDITS[kind][0])]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


@pytest.mark.parametrize("kind", ["attribute: dict", "constant", "helper of a helper", "metaclass"])
def test_an_edit_of_a_module_is_seen(load, kind):
    texts = [digest(load(source).Picker()) for source in (*EDITS[kind], EDITS[kind][0])]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


@pytest.mark.parametrize("kind", BESIDE)
def test_an_edit_of_a_module_beside_is_seen(load, kind):
    imports, used = BESIDE[kind]
    source = cls(before=imports, used=used) + INSIDE
    texts = [digest(load(source, beside=text, **{"folder.deep": text}).Picker()) for text in (*TWO, TWO[0])]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


WHOLE = cls(
    before="K = [1]\ndef h(x):\n    return x * K[0]\n", members="A = (1, 2)\ndef f(self):\n    return 1", used="h(X)"
)


@pytest.mark.parametrize(
    "edited",
    [
        "\n\n\n# a comment\n" + WHOLE,
        WHOLE.replace("def f(self):", "def f(self):\n        # a comment\n"),
        WHOLE.replace("x * K[0]", "x*K[ 0 ]"),
    ],
)  # fmt: skip
def test_comments_and_layout_do_not_count(load, run, edited):
    assert digest(load(edited).Picker()) == digest(load(WHOLE).Picker())
    assert digest(run(edited).Picker()) == digest(run(WHOLE).Picker())


def test_the_rest_of_a_script_may_change(run):
    rest = "\ndef unused(): return 1\nUNUSED = 1\nclass Unused: pass\n"
    assert digest(run(WHOLE + rest).Picker()) == digest(run(WHOLE).Picker())


def test_a_module_that_was_edited_after_its_import_is_refused(load, tmp_path):
    module = load(WHOLE)
    digest(module.Picker())
    path = tmp_path / "own_module.py"
    path.write_text(path.read_text().replace("K = [1]", "K = [2]"))
    with pytest.raises(SoberError, match="edited after it was imported") as error:
        digest(module.Picker())
    assert error.value.code == "E602"
    importlib.reload(module)
    digest(module.Picker())


@pytest.mark.parametrize(
    ("source", "edited"),
    [
        ("K = [1]\nK.append(2)\n", "K = [1]\nK.append(3)\n"),
        ("K = {}\nK['a'] = 1\n", "K = {}\nK['a'] = 2\n"),
        ("if True:\n    K = 1\n", "if True:\n    K = 2\n"),
        ("for K in range(3): pass\n", "for K in range(4): pass\n"),
        ("K = L = 1\n", "K = L = 2\n"),
        ("K: int = 1\n", "K: int = 2\n"),
        ("K = 1\nK += 1\n", "K = 1\nK += 2\n"),
        ("def set_k():\n    global K\n    K = 1\nset_k()\n", "def set_k():\n    global K\n    K = 2\nset_k()\n"),
        ("import numpy as K\n", "import scipy as K\n"),
        ("K = dict(a=1)\nK.setdefault('b', []).append(1)\n", "K = dict(a=1)\nK.setdefault('b', []).append(2)\n"),
    ],
)
def test_all_that_changes_a_name_of_a_script_counts(run, source, edited):
    texts = [digest(run(cls(before=text, used="(X, K)")).Picker()) for text in (source, edited, source)]
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


def test_the_search_in_a_script_is_not_part_of_its_code(run):
    ends = [f"\nif __name__ == '__main__':\n    np.random.seed({k})\n    found = [Picker()] * {k}\n" for k in (1, 2)]
    assert len({digest(run(WHOLE + end).Picker()) for end in ends}) == 1


def test_a_lambda_of_a_script_counts_with_what_it_calls(run):
    sources = [f"def g(x): return x + {k}\nf = lambda x: g(x)\n" for k in (1, 2)]
    assert len({digest(run(source).f) for source in sources}) == 2
    assert len({digest(run("f = [lambda x: x + 1, lambda x: x + 2]\n").f[k]) for k in (0, 1)}) == 2


def test_a_script_goes_on_until_what_it_fits_is_edited(tmp_path):
    """The same script again goes on; with an edited class it is refused, with an edited grid it is extended."""
    path = tmp_path / "script.py"
    program = (
        HEAD
        + ESTIMATOR
        + """
import sobercv
X = np.random.default_rng(0).normal(size=(60, 2)); y = (X[:, 0] > 0).astype(int)
if __name__ == "__main__":
    search = sobercv.BBCSearchCV(Picker(), {"k": [1, 2]}, scoring="accuracy", cv=3, store="run.sqlite").fit(X, y)
    print(search.estimate_.value, search.race_.n_recalled)
"""
    )
    environment = os.environ | {"PYTHONPATH": str(Path(sobercv.__file__).parents[1])}
    said = []
    for source in (program, program.replace("[1, 2]", "[1, 2, 3]"), program.replace("(0,)", "(1,)")):
        path.write_text(source)
        command = [sys.executable, str(path)]
        said.append(subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path))
    assert [each.stdout for each in said] == ["1.0 0\n", "1.0 6\n", ""]
    assert "what differs is the estimator" in said[2].stderr


def test_the_modules_are_named(load):
    source = cls(before="import beside\n", used="beside.f(X)")
    found = []
    for text in TWO:
        modules = set()
        fingerprint(load(source, beside=text).Picker(), modules)
        found.append(code_of(modules))
    (before, packages), (after, _) = found
    assert {name for name in before if before[name] != after[name]} == {"beside"}
    assert "own_module" in before
    assert "sklearn" in packages


def test_a_compiled_module_counts_by_its_bytes(load, tmp_path, monkeypatch):
    """An extension module of the user's own has no source; its file does."""
    module = load(cls(before="import beside\n", used="beside.f(X)"), beside=TWO[0])
    compiled = tmp_path / "beside.so"
    monkeypatch.setattr(sys.modules["beside"], "__file__", str(compiled))
    texts = []
    for raw in (b"\0one", b"\0two"):
        compiled.write_bytes(raw)
        sys.modules["beside"].__spec__ = importlib.util.spec_from_loader("beside", None)  # as a new import would
        texts.append(digest(module.Picker()))
    assert texts[0] != texts[1]


def test_a_module_that_cannot_be_parsed_counts_by_its_bytes(load):
    """Code for another Python, say, whose import is tried and given up."""
    source = cls(before="try:\n    import beside\nexcept SyntaxError:\n    pass\n")
    first, second, again = (
        digest(load(source, beside=text).Picker()) for text in ("print 1\n", "print 2\n", "print 1\n")
    )
    assert first == again != second


def test_an_installed_package_without_a_version_counts_by_its_files(tmp_path):
    site = tmp_path / "site-packages"
    (site / "rented").mkdir(parents=True)
    program = """
import numpy as np, sobercv, rented
X = np.random.default_rng(0).normal(size=(60, 2)); y = (X[:, 0] > 0).astype(int)
search = sobercv.BBCSearchCV(rented.Picker(), {"k": [1, 2]}, scoring="accuracy", cv=3, store="run.sqlite")
print(search.fit(X, y).estimate_.value)
"""
    path = os.pathsep.join([str(site), str(Path(sobercv.__file__).parents[1])])
    said = []
    for column in (0, 0, 1):
        (site / "rented" / "__init__.py").write_text(HEAD + ESTIMATOR.replace("(0,)", f"({column},)"))
        environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", program]
        said.append(subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path))
    assert said[0].stdout == said[1].stdout == "1.0\n"
    assert "installed versions (rented" in said[2].stderr
    assert "[E502]" in said[2].stderr


PROGRAM = """
import own_module
from sobercv.training.keep.fingerprint import digest
print(digest(own_module.Picker()))
"""


def test_every_process_says_the_same(load, tmp_path):
    every = [source.replace("Picker", f"Picker{i}") for i, (source, _) in enumerate(EDITS.values())]
    used = ", ".join(f"Picker{i}" for i in range(len(every)))
    module = load("\n".join(every) + cls(f"ALL = {{{used}, 'a', frozenset('abc')}}"))
    path = os.pathsep.join([str(tmp_path), str(Path(sobercv.__file__).parents[1]), *sys.path])
    # This process has a hash seed of its own.
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    said = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == digest(module.Picker())


ESTIMATOR = """
class Picker(ClassifierMixin, BaseEstimator):
    COLS = (0,)
    def __init__(self, k=1):
        self.k = k
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return (X[:, list(self.COLS)].sum(axis=1) > 0).astype(int)
"""


def test_old_fits_are_not_taken_for_new_ones(load, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] > 0).astype(int)

    def score(source, store):
        search = sobercv.BBCSearchCV(
            load(source).Picker(), {"k": [1, 2]}, scoring="accuracy", cv=4, store=store, n_bootstraps=20
        )
        return search.fit(X, y).estimate_.value

    path, edited = tmp_path / "run.sqlite", ESTIMATOR.replace("(0,)", "(3,)")
    assert score(ESTIMATOR, path) == score(ESTIMATOR, path) == 1
    with pytest.raises(SoberError, match=r"what differs is the code \(own_module\)") as error:
        score(edited, path)
    assert error.value.code == "E502"
    assert score(edited, None) < 0.7
