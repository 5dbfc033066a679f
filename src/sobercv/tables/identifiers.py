"""Columns that tell rows or patients apart instead of measuring something: by their names and by what they hold."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..containers import Array

_NAMED = re.compile(r"(^|[_\W])(id|key|uuid|guid|mrn|pid|nr|no|index|row)($|[_\W])|(?<=[a-z])(ID|Id|Nr|No)$", re.I)
_SUBJECT = re.compile(
    r"(^|[_\W])(patient|patients|pat|subject|subj|person|participant|proband|individual|donor|client|animal|mouse|family"
    r"|household|mrn|pid)($|[_\W])|(?<=[a-z])(ID|Id)$|(^|[_\W])id($|[_\W])",
    re.I,
)
#: Fewer rows show nothing: any ten measurements may be different, or grow.
LEAST_ROWS = 10
#: Whole numbers of so many digits, nearly all of the same length and nearly all different, are keys.
LEAST_DIGITS, NEARLY = 7, 0.95
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


def is_identifier(column: Any, name: str) -> bool:
    """Whether a column only tells rows apart: a running number, a key, text that never repeats."""
    known = column.dropna()
    if len(known) < LEAST_ROWS or column.dtype.kind in "bM":
        return False
    if column.dtype.kind in "iuf":
        numbers = known.to_numpy()
        return _are_whole(numbers) and _are_keys(numbers, _NAMED.search(name) is not None)
    if known.is_unique:
        return not all(_DATE.match(str(value).strip()) for value in known.head(20))
    return False


def _are_whole(numbers: Array) -> bool:
    return bool(np.isfinite(numbers).all() and (numbers % 1 == 0).all())


def _are_keys(numbers: Array, is_named: bool) -> bool:
    share = len(np.unique(numbers)) / len(numbers)
    if share == 1 and (is_named or bool((np.diff(numbers) == 1).all())):
        return True
    if share == 1 and len(numbers) >= 2 * LEAST_ROWS and bool((np.diff(numbers) > 0).all()):
        return True  # a running order with holes: measurements do not grow row by row
    digits = np.floor(np.log10(np.maximum(np.abs(numbers), 1))) + 1
    length = np.median(digits)
    return bool(length >= LEAST_DIGITS and share >= NEARLY and (digits == length).mean() >= NEARLY)


def repeats_subjects(column: Any, name: str) -> bool:
    """Whether a column seems to tell patients apart of whom there are several rows.

    By its name (patient, subject, id, ...), or because it is text whose values nearly all occur a few times.
    """
    if column.dtype.kind in "bM" or column.isna().any() or len(column) < 2 * LEAST_ROWS:
        return False
    if column.dtype.kind == "f" and not _are_whole(column.to_numpy()):
        return False
    counts = column.astype(str).value_counts().to_numpy()
    n = len(counts)
    if _SUBJECT.search(name) is not None:
        return bool(max(LEAST_ROWS, len(column) // 20) < n < NEARLY * len(column))
    if column.dtype.kind in "iuf" or n < LEAST_ROWS:
        return False
    mean = len(column) / n
    # A few rows each, hardly any with one row, and all about as many: not so cities or diagnoses.
    return bool(1.5 <= mean <= 8 and (counts > 1).mean() >= 0.7 and counts.std() <= 0.6 * mean)
