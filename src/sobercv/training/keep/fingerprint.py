"""Fingerprints: a text for any value that is the same in every process, and a digest of it.

Takes data, parameters and estimators from memory, gives texts without memory addresses; never reads a file and never
makes an object from a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from .object_text import text_of
from .writer import Writer


@dataclass(frozen=True)
class Fingerprint:
    """What a value is.

    Attributes
    ----------
    text : str
        Equal for values that train alike, in this process and in any other.
    code : mapping of str to str
        A digest of each piece of the user's own code that takes part, and of each value that it reads, by name.
    packages : frozenset of str
        Installed packages that take part.
    untold : mapping of str to str
        What the code uses but nobody can tell from another one: its name and its type.
    """

    text: str
    code: Mapping[str, str]
    packages: frozenset[str]
    untold: Mapping[str, str]


def fingerprint(value: Any) -> Fingerprint:
    """Take the fingerprint of a value.

    Parameters
    ----------
    value
        Numbers, texts, containers, arrays, tables, estimators, functions, classes, and what pickle could describe.
        Large arrays are present by a digest. (Nothing is pickled.)
    """
    writer = Writer(text_of)
    text = writer.write(value)
    if writer.units:
        text += f" code#{writer.digest(*(f'{name} {unit}' for name, unit in sorted(writer.units.items())))}"
    return Fingerprint(text, dict(sorted(writer.units.items())), frozenset(writer.packages), dict(writer.untold))


def canonical(value: Any) -> str:
    """Give the text of a fingerprint.

    Parameters
    ----------
    value
    """
    return fingerprint(value).text


def digest(*values: Any, size: int = 16) -> bytes:
    """Give a digest of values that is the same in every process.

    Parameters
    ----------
    *values
        Anything that `fingerprint` takes.
    size : int
        Bytes.
    """
    return blake2b(canonical(values).encode(errors="surrogatepass"), digest_size=size).digest()
