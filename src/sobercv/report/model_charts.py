"""What the final model looks at: permutation importance, partial dependence on the first few columns, coefficients.

Of a wide table, the columns that correlate most with the model's predictions are shuffled; of a long one, a sample of
rows is scored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import attrgetter
from time import monotonic, perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.preprocessing import scale
from sklearn.utils import check_array

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..training.fit.problem import take
from .evidence import line_of, padded, positive_of
from .records import Box, Chart, Section, Table, Whisker
from .words import class_name, clean, count, metric_label, number, within

TOP = 20
#: So many columns are shuffled at most, and so many rows scored.
MOST_COLUMNS, MOST_ROWS = 50, 2000
#: Columns whose effect is drawn, places on the axis, and rows that are averaged.
N_COLUMNS, N_PLACES, N_ROWS = 3, 21, 150
#: More lines than there are colours say nothing.
MOST_CLASSES = 3
EFFECT = (
    "Mean prediction of the final model when every sample is given that value (partial dependence): what the model "
    "does, not what causes the outcome."
)
EVERYWHERE: Any = slice(None)  # all rows
NUMBERS = ("i", "u", "f", "b")  # kinds of dtypes: numbers and flags


class Bar(NamedTuple):
    """A column: how much the score falls when it is shuffled, and the standard deviation over shuffles."""

    label: str
    value: float
    spread: float


def model_section(
    search: Any, X: Any, y: Any, *, effect_seconds: float = math.inf, **options: Any
) -> tuple[Section | None, tuple[Note, ...]]:
    """Return what the final model leans on as a section of the report, or the reason why there is none.

    `options`: those of `importance`.
    """
    bars, said = importance(search, X, y, **options)
    if not bars:
        return None, (Note("W704", said),) if said else ()
    charts, notes = [importance_chart(bars, said)], []
    try:
        charts += effects(search, X, (bar.label for bar in bars if bar.value > 0), effect_seconds)
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        cause = f"{type(error).__name__}: {clean(error, 160)}"
        notes.append(Note("W704", f"The effects of columns were left out: the model failed on changed ones ({cause})."))
    rows = ((bar.label, number(bar.value, 4), number(bar.spread, 4)) for bar in bars)
    head = ("Column", "Score falls by", "SD over shuffles")
    tables = (Table("importance", "Permutation importance", (head, *rows), said, folded=True), *coefficients(search))
    return Section("importance", "What the final model relies on", tuple(charts), tables), tuple(notes)


def importance(
    search: Any, X: Any, y: Any, *, sample_weight: Any = None, n_permutations: int = 10, max_seconds: float = math.inf
) -> tuple[tuple[Bar, ...], str]:
    """Shuffle columns of X and see how the final model's score falls: the largest falls, and what they are.

    Where there are no bars, the text says why; it is empty where none were asked for.
    """
    if X is None or n_permutations == 0:
        return (), ""
    names, left_out = column_names(X), "Permutation importance was left out: {}."
    if y is None:
        return (), left_out.format("y was not given")
    if not hasattr(search, "best_estimator_"):
        return (), left_out.format("there is no final model, as with refit=False")
    if not names:
        return (), left_out.format("X is not a table with columns")
    try:
        X = X if hasattr(X, "iloc") else check_array(X, ensure_all_finite="allow-nan", dtype=None)
        n_rows = X.shape[0]
        if n_rows > MOST_ROWS:
            rows = np.sort(seeds.generator(search.seed_, "permutation").permutation(n_rows)[:MOST_ROWS])
            X, y, sample_weight = take(X, rows), take(y, rows), take(sample_weight, rows)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        start = perf_counter()
        search.score(X, y, **weights)
        method = next(m for m in ("decision_function", "predict_proba", "predict") if hasattr(search, m))
        columns = closest(X, np.asarray(getattr(search, method)(X)))
        n_scorings = max_seconds / (perf_counter() - start + 1e-9)  # that the time allows
        if n_scorings < 1:
            return (), left_out.format("the time limit was reached")
        columns = columns[: int(min(n_scorings, MOST_COLUMNS))]
        times = max(1, int(min(n_permutations, n_scorings / len(columns))))

        def score(search: Any, shuffled: Any, y: Any) -> float:
            return float(search.score(with_columns(X, columns, shuffled), y, **weights))

        seed, some = seeds.integer(search.seed_, "permutation"), take(X, EVERYWHERE, columns)
        falls = permutation_importance(search, some, y, scoring=score, n_repeats=times, random_state=seed).importances
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        reason = f"the model failed on shuffled data ({type(error).__name__}: {clean(error, 160)})"
        return (), left_out.format(reason)
    rounded = ([float(f"{v:.6g}") for v in (fall.mean(), fall.std())] for fall in falls)
    bars = [Bar(names[column], *values) for column, values in zip(columns, rounded, strict=True)]
    n, total = len(columns), len(names)
    chosen = f"{n} of {total:,} columns were shuffled, those that correlate most with the model's predictions. "
    return tuple(sorted(bars, key=attrgetter("value"), reverse=True)[:TOP]), (
        f"{chosen if n < total else ''}{f'The {TOP} largest of {n:,} columns. ' if n > TOP else ''}How "
        f"much the score ({within(metric_label(search.question_.first.name))}) falls when one column is shuffled "
        f"({f'{MOST_ROWS:,} of {n_rows:,} rows, ' if n_rows > MOST_ROWS else ''}"
        f"{f'mean of {times} shuffles; whiskers: standard deviation over shuffles' if times > 1 else 'one shuffle'}). "
        "Computed on the training data of the final model, so it shows what the model relies on, not what would help "
        "on new data; columns with the same information share their importance."
    )


def closest(X: Any, predicted: Array) -> Array:
    """Columns by how strongly they correlate with predictions, the closest first; text columns before all."""
    if predicted.dtype.kind not in NUMBERS:
        predicted = np.unique(predicted, return_inverse=True)[1]
    numeric, strength = np.flatnonzero([kind in NUMBERS for kind in kinds(X)]), np.full(X.shape[1], np.inf)
    if len(numeric):
        filled = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(floats(X, numeric))
        targets = predicted.reshape(len(predicted), -1).astype(np.float64)
        strength[numeric] = np.abs(scale(filled).T @ scale(targets)).max(axis=1)
    return np.argsort(-strength, kind="stable")


def kinds(X: Any) -> list[str]:
    """Return the kind of each column's dtype, as numpy's `dtype.kind`."""
    return [dtype.kind for dtype in (X.dtypes if hasattr(X, "dtypes") else [X.dtype] * X.shape[1])]


def floats(X: Any, columns: Array) -> Array:
    """Return these columns as numbers [N, columns], NaN where missing."""
    return np.asarray(check_array(take(X, EVERYWHERE, columns), dtype=np.float64, ensure_all_finite=False))


def with_columns(X: Any, columns: Any, values: Any) -> Any:
    """Return a copy of a data frame or an array with other values in some columns."""
    X = X.copy()
    if hasattr(X, "iloc"):
        X.isetitem(columns, values)
    else:
        X[:, columns] = values
    return X


def column_names(X: Any) -> list[str]:
    """Names of the columns as text, or their numbers; empty where X has no columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return [clean(name, 200) for name in getattr(X, "columns", range(shape[1]))] if len(shape) == 2 else []


def importance_chart(bars: tuple[Bar, ...], sentence: str) -> Chart:
    """Draw bars with whiskers of one standard deviation, without columns that the model does not look at."""
    used = tuple(bar for bar in bars if (bar.value, bar.spread) != (0, 0)) or bars[:1]
    if unused := len(bars) - len(used):
        columns = "one column" if unused == 1 else f"{unused} columns"
        sentence += f" No bar: {columns} which the model does not use."
    low, high = ([bar.value + sign * bar.spread for bar in used] for sign in (-1, 1))
    boxes = (
        Box(0.0, i - 0.27, bar.value, i + 0.27, hint=f"{bar.label}: {bar.value:.4g}, {low[i]:.4g} to {high[i]:.4g}")
        for i, bar in enumerate(used)
    )
    return Chart(
        "importance", "Permutation importance, on training data", "", "",
        (min(0.0, *low), 1.02 * (max(0.0, *high) or 0.01)), (len(used) - 0.5, -0.5), sentence=sentence,
        boxes=tuple(boxes), whiskers=tuple(Whisker(float(i), low[i], high[i]) for i in range(len(used))),
        y_names=tuple(bar.label for bar in used),
    )  # fmt: skip


def effects(search: Any, X: Any, labels: Iterable[str], max_seconds: float = math.inf) -> tuple[Chart, ...]:
    """Draw the partial dependence on the first few of these columns that hold numbers."""
    X = X if hasattr(X, "iloc") else np.asarray(X)
    names, kind_of, end = column_names(X), kinds(X), monotonic() + max_seconds
    columns = [c for c in (names.index(label) for label in labels if label in names) if kind_of[c] in NUMBERS]
    some = take(X, np.sort(seeds.generator(search.seed_, "effects").permutation(X.shape[0])[:N_ROWS]))
    methods = ("predict_proba", "decision_function") if search.predictions_.n_classes else ("predict",)
    predict = next(getattr(search, name) for name in methods if hasattr(search, name))
    outputs, what = _outputs(search)
    made: list[Chart] = []
    for column in columns[:N_COLUMNS]:
        if monotonic() > end:
            break
        known = floats(X, np.array([column])).ravel()
        known = known[np.isfinite(known)]
        places = np.unique(np.quantile(known, np.linspace(0.02, 0.98, N_PLACES))) if len(known) else known
        places = places if kind_of[column] == "f" else np.unique(np.round(places))
        if len(places) < 2:
            continue
        means = []
        for place in places:
            predicted = np.asarray(predict(with_columns(some, column, place)))
            if predict.__name__ == "decision_function" and predicted.ndim == 1:  # of the second class
                predicted = np.stack([-predicted, predicted], axis=1)
            means.append(np.mean(predicted.reshape(len(predicted), -1), axis=0))
        lines = np.array(means).T[list(outputs.values())]
        made.append(
            Chart(f"effect-{column}", f"When {names[column]} changes", clean(names[column], 40), what,
                  (float(places[0]), float(places[-1])), padded(lines, 0.06),
                  tuple(line_of(name, places, np.stack([line] * 3)) for name, line in zip(outputs, lines, strict=True)),
                  "" if made else EFFECT)
        )  # fmt: skip
    return tuple(made)


def _outputs(search: Any) -> tuple[dict[str, int], str]:
    """Return which outputs of the model are drawn, by the names of their lines, and what they are."""
    table, what = search.predictions_, "probability" if hasattr(search, "predict_proba") else "score"
    if table.task != "classification":
        return {"mean": 0}, "predicted risk" if table.task == "survival" else "predicted"
    classes = search.classes_.tolist()
    if len(classes) == 2:
        positive = positive_of(table)
        return {"mean": classes.index(positive)}, f"{what} of {class_name(positive)}"
    most_frequent = np.argsort(-np.bincount(table.y, minlength=len(classes)), kind="stable")[:MOST_CLASSES]
    shown = table.classes[np.sort(most_frequent)].tolist()
    return {class_name(label): classes.index(label) for label in shown}, what


def coefficients(search: Any) -> tuple[Table, ...]:
    """Tabulate the coefficients of a linear model with one equation, of the positive class; none for any other."""
    model = search.best_estimator_
    while type(model).__name__ in ("FixedThresholdClassifier", "FrozenEstimator"):
        model = model.estimator
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    weights = np.asarray(getattr(last, "coef_", ()), dtype=np.float64)
    weights = weights[0] if weights.ndim == 2 and len(weights) == 1 else weights
    if weights.ndim != 1 or not len(weights):
        return ()
    positive, classes = positive_of(search.predictions_), list(getattr(search, "classes_", ()))
    sign = -1.0 if positive is not None and positive == classes[0] else 1.0  # the equation is that of the second
    try:
        names = list(model[:-1].get_feature_names_out() if hasattr(model, "steps") else model.feature_names_in_)
    except (AttributeError, ValueError, TypeError):  # a step that names nothing
        names = []
    names = names if len(names) == len(weights) else [f"term {i + 1}" for i in range(len(weights))]
    intercept = np.ravel(getattr(last, "intercept_", ()))
    rows = [("(intercept)", f"{sign * float(intercept[0]):.4g}")] if len(intercept) == 1 else []
    largest_first = np.argsort(-np.abs(weights), kind="stable")
    rows += [(clean(names[i], 80), f"{sign * weights[i]:.4g}") for i in largest_first if weights[i] != 0]
    zero = int((weights == 0).sum())
    sentence = "Coefficients of the final model, on its columns as they were filled and scaled in training."
    sentence += "" if positive is None else f" Values above 0 favour {class_name(positive)}."
    sentence += f" {count(zero, 'term has', 'terms have')} a coefficient of 0." if zero else ""
    title = "Coefficients of the final model"
    return (Table("coefficients", title, (("Term", "Coefficient"), *rows), sentence, folded=True),)
