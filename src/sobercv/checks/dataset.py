"""check_dataset: all checks of a table: its size, its target, its columns; the most important findings first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from ..containers import Array
from ..errors import SEVERITIES, Note
from ..tables import Dataset
from ..tables.facts import are_dates, repeats_subjects, special_kind
from ..tables.naming import held_by, named_like, plain, quoted, some
from ..tables.roles import EVENT_NAME, TIME_NAME
from ..tables.tool_columns import PLACE, correctable
from ..targets import LARGEST
from .leaks import leaks, numbers_of

#: With fewer rows or groups every estimate is uncertain.
FEW_ROWS = 20
#: Beginnings of words, in several languages, for what is known only after an outcome: how long a patient was followed,
#: discharge, death, relapse. Without accents, in small letters.
LATER_NAME = re.compile(
    r"follow|fup|discharg|outcome|death|died|deceas|surviv|censor|relaps|recurren|progression|readmi|autops|"
    r"nachbeob|beobachtung|nachsorge|entlass|verstorb|gestorb|todes|ueberleb|uberleb|rezidiv|rueckfall|ruckfall|"
    r"verweildauer|liegedauer|zensier|endpunkt|suivi|deces|decede|survie|recidiv|rechute|seguimiento|egreso|"
    r"muerte|fallec|defuncion|supervivencia|recaida|dimission|decesso|morte|sopravviv|ricadut|degenza|obito|"
    r"sobrevida|acompanhamento|ontslag|overled|overlijd|overleving|recidief|ligduur|"
    r"(los|fu|tod|mort|dead|sortie|last|end|endpoint)[0-9]*$"
)
_CENTRE = re.compile(r"hospit|clinic|klinik|centre|center|zentrum|site$|standort|krankenhaus|hopital|ospedale|centro")
MOST_CENTRES = 40
#: Numbers that often mean missing.
GAP_CODES = (-9, -99, -999, -9999)
#: Wide tables hold measurements with names of their own (genes), of which some sound like a word.
MOST_NAMES = 1000
#: Correlation with the target that any model's predictions have.
LEAST_SKILL = 0.2


def check_dataset(data: Dataset, *, cv: int = 10, notes: Iterable[Note] = ()) -> list[Note]:
    """Check a table for what would make a result wrong or impossible: errors first, then warnings, then suggestions.

    `cv`: the number of folds. `notes`: what the reader of the file noted.

    Examples
    --------
    >>> import pandas as pd
    >>> from sobercv.checks import check_dataset
    >>> from sobercv.tables import assign
    >>> frame = pd.DataFrame({"x": [1.0, 2.5] * 20, "y": ["a"] * 39 + ["b"]})
    >>> print(check_dataset(assign(frame, target="y"))[0])
    Class 'b' has 1 row, fewer than the 10 folds. Join it with another class, or leave it out.
    """
    X, (are_numbers, values) = data.X, numbers_of(data.X)
    found = [*notes, *data.notes, *_rows(data, cv), *_correctable(data)]
    too_large = X.columns[are_numbers][(np.abs(values) > LARGEST).any(axis=0)]
    what, advice = f"infinite values or numbers beyond {LARGEST:g}", ". Correct them, or leave the cells empty."
    found += held_by("E102", list(too_large), what, advice)
    gaps = np.isin(values, GAP_CODES)
    coded = gaps.any(axis=0) & (gaps == (values < 0)).all(axis=0)
    codes = ",".join(f"{code:g}" for code in np.unique(values[gaps & coded]))
    what, advice = f"{codes} and no other negative number", f". If it means missing, write --missing {codes}."
    found += held_by("W844", list(X.columns[are_numbers][coded]), what, advice)
    # Most columns of wide tables hold fractions, which are looked at together; the others one by one.
    with np.errstate(invalid="ignore"):
        vary = (values != values[:1]).any(axis=0) & ~((values % 1 == 0) | np.isnan(values)).all(axis=0)
    fractions = set(X.columns[are_numbers][vary])
    columns = [*_columns(data, [name for name in X if name not in fractions]), *_names(data)]
    if not any(note.severity == "error" for note in (*found, *columns)):
        found += leaks(data)
    found += [*columns, *_duplicates(data, values)]
    return [note for severity in SEVERITIES for note in found if note.code.startswith(severity)]


def _rows(data: Dataset, cv: int) -> Iterator[Note]:
    """Too few rows, groups, events or rows of a class for folds, or for trust; rows without a target, and weights."""
    n, what, least = (data.n_rows, "rows", 6) if data.groups is None else (data.n_groups, "groups", 3)
    if n < least:
        text = f"The number of {what} with a target is {n}; at least {least} are needed. Collect more data."
        yield Note("E106", text)
    elif what == "groups" and n == cv:
        text = f"Each of the {n} groups is held out once: the score is for groups that the model has not seen."
        more = f" {n} groups say little about how much the next one differs, so expect a wide interval."
        yield Note("W205", text + more) if n < FEW_ROWS else Note("S801", text)
    elif n < cv:
        yield Note("E106", f"There are {n} {what} with a target, too few for {cv} folds. Write --cv {n}.")
    elif n < FEW_ROWS:
        yield Note("W205", f"With {n} {what} every estimate is uncertain; expect a wide interval.")
    elif n < 200 and data.task != "survival":
        yield Note("S802", f"{n} {what} are few: --repeats 5 makes the choice more stable and the interval narrower.")
    few = 0  # rows of a class, or events, below which a score is uncertain
    if data.task == "survival":
        n, few = int(data.y["event"].sum()), 50
        what, advice = f"The event occurs {n} times", f"Use --cv {max(2, n)}."
    elif data.task != "regression":
        labels, counts = np.unique(data.y, return_counts=True)
        n, few, written = int(counts.min()), 30, pd.Series(labels).map(str)
        rarest, alike = written[counts.argmin()], [*written[written.str.casefold().duplicated(keep=False)]]
        what = f"Class {some([rarest])} has {n} {'row' if n == 1 else 'rows'}"
        advice = f"Use --cv {n}, join it" if n >= 2 else "Join it"
        advice += " with another class, or leave it out"
        is_number = data.task == "multiclass" and data.y.dtype.kind in "iu"
        advice += ", or write --task regression, if it is a number." if is_number else "."
        text = f"The classes {some(alike)} differ only in capitals. If they are one, write them alike."
        if rarest in alike and n < cv:
            advice = text
        elif alike:
            yield Note("S801", text)
    if few and n < cv:
        yield Note("E106", f"{what}, fewer than the {cv} folds. {advice}")
    elif n < few:
        yield Note("W804", f"{what}, so scores depend on few rows.")
    if n := data.n_without_target:
        rows = "One row has no target and was" if n == 1 else f"{n} rows have no target and were"
        yield Note("W813", f"{rows} left out.")
    if (w := data.weight) is not None:
        worth = float(w.sum() ** 2 / (w @ w))  # Kish's effective size
        unable = "survival SVMs" if data.task == "survival" else "nearest neighbours"
        text = f"Weights from {w.min():g} to {w.max():g}: scores are as uncertain as those of {worth:.0f} rows of "
        text += "equal weight (Kish). They are used in fits and scores, not in cleaning or choosing columns; "
        text += f"{unable} cannot use weights and are left out."
        yield Note("W205" if worth < 0.5 * data.n_rows else "S801", text)


def _columns(data: Dataset, names: Iterable[str]) -> Iterator[Note]:
    """Columns that tell little, or that by their values look like identifiers or patients."""
    X, share = data.X, data.X.isna().mean()
    kinds = {name: special_kind(X[name], name) for name in names}
    alike = {kind: [name for name in kinds if kinds[name] == kind] for kind in ("empty", "constant", "identifier")}
    left_out = ". Left out of every model."
    yield from held_by("W809", alike["empty"], "no value at all", left_out, "has", "have")
    yield from held_by("W809", alike["constant"], "the same value in every row", left_out, "has", "have")
    if len(alike["empty"]) + len(alike["constant"]) == X.shape[1]:
        text = "No column is left to learn from: beside the target all are ignored, constant or empty. Add others."
        yield Note("E818", text)
    gappy = [name for name in X.columns if 0.5 < share[name] < 1]
    filled = ". Gaps are filled with the median and marked."
    yield from held_by("W809", gappy, "more gaps than values", filled, "has", "have")
    advice = ". Write --id or --ignore for it."
    yield from held_by("W809", alike["identifier"], "like an identifier", advice, "looks", "look")
    for name in [name for name in kinds if data.groups is None and repeats_subjects(X[name], name)]:
        text = f"{some([name])} has {X[name].nunique()} different values in {data.n_rows} rows. If it identifies "
        text += f"patients, write --group {quoted(name)}, or rows of one patient are in training and test at once."
        yield Note("W301", text, (name,))


def _names(data: Dataset) -> Iterator[Note]:
    """Columns that by their names are centres, times until an event, or known only after the outcome; and dates."""
    X = data.X
    for name in named_like(_CENTRE, X.columns) if data.groups is None else ():
        n = X[name].nunique()
        if 3 <= n <= MOST_CENTRES and X[name].dtype.kind not in "fM":
            text = f"{some([name])} has {n} different values. If it identifies centres, --group {quoted(name)} scores "
            text += "the model in centres that it has not seen, which readers of a paper ask about."
            yield Note("S801", text, (name,))
    if data.task == "binary" and named_like(EVENT_NAME, data.target):
        numeric = X.select_dtypes("number")
        for name in [n for n in named_like(TIME_NAME, numeric.columns) if not (numeric[n] < 0).any()][:1]:
            text = f"With {some([name])}, {some(data.target)} may be a survival target: write --time {quoted(name)} "
            text += f"--event {quoted(data.target[0])} instead of --target, so that rows followed for a short time do "
            text += "not count as free of the event."
            yield Note("S801", text, (name,))
    later = named_like(LATER_NAME, X.columns)
    dates = [c for c, dtype in X.dtypes.items() if dtype.kind not in "iufb" and are_dates(X[c])]
    ignore = ". Write --ignore for what is not known when the prediction is made."
    is_later = "may come after the outcome", ignore, "is a date that", "are dates that"
    yield from held_by("W806", [c for c in dates if c in later], *is_later)
    yield from held_by("S801", [c for c in dates if c not in later], "dates", ". Are they known before the outcome?")
    if X.shape[1] < MOST_NAMES:
        known = ". If so, write --ignore; if it is known when the prediction is made, keep it."
        what = "known only after the outcome, judging by name"
        yield from held_by("S801", [c for c in later if c not in dates], what, known, "may be", "may be")


def _correctable(data: Dataset) -> Iterator[Note]:
    """A table that a tool wrote, or whose columns look like predictions of models: `sober correct` takes it."""
    if data.X.shape[1] >= MOST_NAMES:
        return
    text = correctable(pd.DataFrame(columns=[*data.X.columns, *data.roles]))
    models = data.X.drop(columns=[name for name in data.X if plain(name) in PLACE])
    may_be = not text and data.task == "binary" and models.shape[1] >= 2 and models.dtypes.eq(float).all()
    if may_be and (models.min() >= 0).all() and (models.max() <= 1).all():
        with_target = models.corrwith(pd.Series(data.y == data.classes[1], dtype=float))
        if (with_target > LEAST_SKILL).all() or (with_target < -LEAST_SKILL).all():
            text = "All columns are numbers from 0 to 1 that go with the target. If they are out-of-fold predictions "
            text += f"of models, sober correct FILE --target {quoted(data.target[0])} corrects the best score."
    if text:
        yield Note("S801", text)


def _duplicates(data: Dataset, values: Array) -> Iterator[Note]:
    """Rows that repeat another in every column: perhaps the same sample, which would train and test."""
    # Rows with different ids are different samples, and rows of one group stay together.
    if data.groups is not None or "id" in data.roles.values() or data.X.shape[1] < 2:
        return
    # Rows that are alike are so in their numbers; few are, and only those are compared in full.
    numbers = pd.Series([row.tobytes() for row in values + 0.0])  # -0.0 and 0.0 are one number
    is_alike = numbers.duplicated(keep=False).to_numpy()
    row = pd.util.hash_pandas_object(data.X[is_alike], index=False)
    hashed = pd.DataFrame({"row": row, "target": list(map(str, data.y[is_alike]))})
    n, same = int(row.duplicated().sum()), int(hashed.duplicated().sum())
    if not n:
        return
    rows = "One row repeats" if n == 1 else f"{n} rows repeat"
    target = {0: "with another target", n: "with the same target"}.get(same, f"{same} of them with the same target")
    text = f"{rows} another row in all {data.X.shape[1]} columns, {target}. If they are copies of one sample, keep "
    text += "one; if they are different samples, name their identifier with --id; rows of one patient need --group."
    yield Note("W301" if n >= 0.01 * data.n_rows or n > 5 else "S801", text)
