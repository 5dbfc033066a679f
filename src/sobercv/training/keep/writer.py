"""Writer: walks through a value and what it is made of, without losing its way.

Takes anything, gives a text without memory addresses; an object inside itself ends there, and code that is met twice is
written once. How each kind of thing is written, others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from ...errors import SoberError

#: Types whose `repr` says everything.
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented)})


class Writer:
    """Writes values as texts, and remembers the code that it meets.

    Parameters
    ----------
    text_of : callable
        ``text_of(value, writer)`` gives the text of what is not plain.

    Attributes
    ----------
    units : dict of str to str
        Digests of what has been written under a name.
    packages : set of str
    untold : dict of str to str
    assigned : dict of int to set of str
    """

    def __init__(self, text_of: Callable[[Any, Writer], str]) -> None:
        self._text_of = text_of
        self.units: dict[str, str] = {}
        self.packages: set[str] = set()
        self.untold: dict[str, str] = {}
        self.assigned: dict[int, set[str]] = {}  # the names that functions assign by `global`, for each module
        self.is_frozen = False  # inside an estimator that is cloned with all that it has learnt
        self._path: list[int] = []  # the identities of what is being written, outermost first

    def write(self, value: Any) -> str:
        """Write a value."""
        if type(value) in PLAIN:
            return hex(value) if type(value) is int and abs(value) > 1 << 10_000 else repr(value)
        if id(value) in self._path:
            return "<itself>"
        self._path.append(id(value))
        try:
            return self._text_of(value, self)
        except RecursionError:
            raise untold(value, "it is nested too deeply") from None
        finally:
            self._path.pop()

    def unit(self, name: str, value: Any, text: Callable[[Any, Writer], str] | None = None) -> str:
        """Write a value once, under a name, and give the name."""
        if name not in self.units:
            self.units[name] = ""  # whoever refers back to it, ends here
            # From a fresh path: what is written must not depend on who asked first.
            before, self._path, self.is_frozen = (self._path, self.is_frozen), [], False
            try:
                self.units[name] = self.digest(self.attempt(name, value) if text is None else text(value, self))
            finally:
                self._path, self.is_frozen = before
        return name

    def attempt(self, name: str, value: Any) -> str:
        """Write a value that code uses; where that cannot be done, note its name."""
        try:
            return self.write(value)
        except SoberError:
            self.untold[name] = f"{type(value).__module__}.{type(value).__qualname__}"
            return "?"

    def digest(self, *texts: str) -> str:
        """Give a short digest of texts."""
        whole = blake2b(digest_size=8)
        for text in texts:
            raw = text.encode(errors="surrogatepass")
            whole.update(len(raw).to_bytes(8, "little") + raw)
        return whole.hexdigest()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Write estimators with all that they have learnt."""
        before, self.is_frozen = self.is_frozen, True
        try:
            yield
        finally:
            self.is_frozen = before


def untold(value: Any, reason: str) -> SoberError:
    """Say that a value has no fingerprint."""
    return SoberError(
        "E508",
        f"A {type(value).__qualname__} cannot be told from another one ({reason}), so a store could not know next "
        "time whether it is the same; use a parameter that can be pickled, or leave out store=.",
    )
