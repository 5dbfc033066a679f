"""What the final model looks at: permutation importance, and partial dependence on the first few columns.

scikit-learn shuffles and scores. Of a wide table, the columns that correlate most with the model's predictions are
shuffled; of a long one, a sample of rows is scored. Strongly correlated columns are shuffled together as well.
scikit-learn's partial dependence refuses survival models and columns of whole numbers, so that a few lines here do it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from time import monotonic, perf_counter
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.inspection import permutation_importance
from sklearn.utils import check_array

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..targets import obvious_positive
from ..training.fit.problem import take
from .evidence import Band, line_of
from .records import Box, Chart, Section, Table, Whisker
from .words import class_name, clean, count, metric_label, number, within

TOP, TOP_TOGETHER = 20, 8
#: So many columns are shuffled at most, and so many rows scored.
MOST_COLUMNS = 50
MOST_ROWS = 2000
#: Columns whose ranks correlate by this much, on average, go together.
STRONG = 0.7
#: Columns whose effect is drawn, places on the axis, rows that are averaged, and rows drawn one by one.
N_COLUMNS, N_PLACES, N_ROWS, N_FAINT = 3, 21, 150, 30
#: More lines than there are colours say nothing.
MOST_CLASSES = 3


@dataclass(frozen=True)
class Bar:
    """A column, or some that go together: how much the score falls when it is shuffled, and the SD over shuffles."""

    label: str
    value: float
    spread: float


@dataclass(frozen=True)
class Importance:
    """Permutation importance of the final model, largest first; `together` are correlated columns shuffled as one."""

    bars: tuple[Bar, ...]
    sentence: str
    together: tuple[Bar, ...] = ()

    def charts(self) -> tuple[Chart, ...]:
        """Draw the bars, without columns that the model does not look at."""
        used = tuple(bar for bar in self.bars if (bar.value, bar.spread) != (0, 0)) or self.bars[:1]
        unused = len(self.bars) - len(used)
        one = "one column" if unused == 1 else f"{unused} columns"
        sentence = self.sentence + f" Without a bar: {one} that the model does not look at." * bool(unused)
        made = [_bars("importance", "Permutation importance, on training data", used, sentence)]
        if self.together:
            words = "Their ranks correlate strongly: shuffling one alone tells little where another says the same."
            made.append(_bars("together", "Correlated columns, shuffled together", self.together, words))
        return tuple(made)

    def table(self) -> Table:
        """Write all bars as a table."""
        rows = ((bar.label, number(bar.value, 4), number(bar.spread, 4)) for bar in (*self.bars, *self.together))
        head = ("Column", "Score falls by", "SD over shuffles")
        return Table("importance", "Permutation importance", (head, *rows), self.sentence, folded=True)


def coefficients(model: Any) -> Table | None:
    """Tabulate the coefficients of a linear model with one equation; None for any other."""
    while type(model).__name__ in ("FixedThresholdClassifier", "FrozenEstimator"):
        model = model.estimator
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    weights = np.asarray(getattr(last, "coef_", ()), dtype=np.float64)
    weights = weights[0] if weights.ndim == 2 and len(weights) == 1 else weights
    if weights.ndim != 1 or not len(weights):
        return None
    try:
        names = list(model[:-1].get_feature_names_out() if hasattr(model, "steps") else model.feature_names_in_)
    except (AttributeError, ValueError, TypeError):  # a step that names nothing
        names = []
    names = names if len(names) == len(weights) else [f"term {i + 1}" for i in range(len(weights))]
    rows = [("Term", "Coefficient")]
    intercept = np.ravel(getattr(last, "intercept_", ()))
    rows += [("(intercept)", f"{float(intercept[0]):.4g}")] if len(intercept) == 1 else []
    used = [(clean(name, 80), float(w)) for name, w in zip(names, weights, strict=True) if w != 0]
    rows += [(name, f"{w:.4g}") for name, w in sorted(used, key=lambda each: -abs(each[1]))]
    zero = len(weights) - len(used)
    sentence = "Coefficients of the final model, on its columns as they were filled and scaled in training."
    sentence += f" {count(zero, 'term has', 'terms have')} a coefficient of 0." if zero else ""
    return Table("coefficients", "Coefficients of the final model", tuple(rows), sentence, folded=True)


def model_section(
    search: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    n_permutations: int = 10,
    seconds: float = math.inf,
    effect_seconds: float = math.inf,
) -> tuple[Section | None, tuple[Note, ...]]:
    """Return what the final model leans on as a section of the report, or the reason why there is none."""
    found, notes = importance(
        search, X, y, sample_weight=sample_weight, n_permutations=n_permutations, max_seconds=seconds
    )
    if found is None:
        return None, notes
    try:
        drawn = effects(search, X, (bar.label for bar in found.bars if bar.value > 0), effect_seconds)
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        cause = f"{type(error).__name__}: {clean(error, 160)}"
        text = f"The model refused changed columns ({cause}), so the effects of columns were left out."
        drawn, notes = (), (Note("W704", text),)
    linear = coefficients(search.best_estimator_)
    tables = (found.table(),) if linear is None else (found.table(), linear)
    return Section("importance", "What the final model leans on", (*found.charts(), *drawn), tables), notes


def importance(
    search: Any, X: Any, y: Any, *, sample_weight: Any = None, n_permutations: int = 10, max_seconds: float = math.inf
) -> tuple[Importance | None, tuple[Note, ...]]:
    """Shuffle columns of X and see how the final model's score falls.

    A first scoring tells how many shuffles and columns `max_seconds` allows. None where it could not be computed; then
    a note says why, unless it was not asked for.
    """
    if X is None or n_permutations == 0:
        return None, ()
    if y is None:
        return None, _left_out("y was not given")
    if not hasattr(search, "best_estimator_"):
        return None, _left_out("there is no final model, as with refit=False")
    names = column_names(X)
    if not names:
        return None, _left_out("X is not a table with columns")
    try:
        X = X if hasattr(X, "iloc") else check_array(X, ensure_all_finite="allow-nan", dtype=None)
        if X.shape[0] > MOST_ROWS:
            rows = np.sort(seeds.generator(search.seed_, "permutation").permutation(X.shape[0])[:MOST_ROWS])
            X, y = take(X, rows), take(y, rows)
            sample_weight = None if sample_weight is None else take(sample_weight, rows)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        start = perf_counter()
        search.score(X, y, **weights)
        columns = _closest(X, _predictions(search, X))[:MOST_COLUMNS]
        n_scorings = max_seconds / (perf_counter() - start + 1e-9)  # that the time allows
        if n_scorings < 1:
            return None, _left_out("the time limit was reached")
        columns = columns[: int(min(n_scorings, MOST_COLUMNS))]
        units = [np.array([c]) for c in columns]
        units += correlated(X, columns) if n_scorings >= 2 * len(columns) else []
        times = max(1, int(min(n_permutations, n_scorings / len(units))))

        def score(search: Any, orders: Array, y: Any) -> float:
            return float(search.score(_shuffled(X, units, orders), y, **weights))

        orders = np.tile(np.arange(X.shape[0])[:, None], len(units))  # [N, units]: which row each unit's values are of
        seed = seeds.integer(search.seed_, "permutation")
        falls = permutation_importance(search, orders, y, scoring=score, n_repeats=times, random_state=seed).importances
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        return None, _left_out(f"the model refused shuffled data ({type(error).__name__}: {clean(error, 160)})")
    bars = [_bar(unit, fall, names) for unit, fall in zip(units, falls, strict=True)]
    alone, others = bars[: len(columns)], [bar for bar in bars[len(columns) :] if bar.value != 0]
    sentence = _sentence(search, len(names), len(columns), times)
    return Importance(_largest(alone, TOP), sentence, _largest(others, TOP_TOGETHER)), ()


def correlated(X: Any, columns: Array) -> list[Array]:
    """Return the groups of two or more of these columns whose ranks correlate strongly; text columns are left out."""
    numeric = [c for c in columns if is_numeric(X)[c]]
    if len(numeric) < 2:
        return []
    ranks = rankdata(_filled(X, numeric), axis=0)
    centred = ranks - ranks.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    scaled = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    distance = 1.0 - np.abs(scaled.T @ scaled)
    np.fill_diagonal(distance, 0.0)
    found = fcluster(linkage(squareform(np.clip(distance, 0.0, 1.0), checks=False), "average"), 1 - STRONG, "distance")
    groups = (np.array(numeric)[found == label] for label in np.unique(found))
    return [group for group in groups if len(group) > 1]


def is_numeric(X: Any) -> Array:
    """Which columns hold numbers or flags, bool [P]."""
    if hasattr(X, "dtypes"):
        return np.array([dtype.kind in "iufb" for dtype in X.dtypes])
    return np.full(X.shape[1], X.dtype.kind in "iufb")


def column_names(X: Any) -> list[str]:
    """Names of the columns as text, or their numbers; empty where X has no columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        return []
    columns = getattr(X, "columns", None)
    return [clean(name, 200) for name in (columns if columns is not None else range(shape[1]))]


def _shuffled(X: Any, units: list[Array], orders: Array) -> Any:
    """Copy X with the columns of each unit in the order of its rows."""
    copy, step = X.copy(), np.arange(X.shape[0])
    for unit, order in zip(units, orders.T, strict=True):
        if not np.array_equal(order, step):
            for column in unit:
                if hasattr(copy, "iloc"):
                    copy.isetitem(column, X.iloc[order, column].array)
                else:
                    copy[:, column] = X[order, column]
    return copy


def _closest(X: Any, predictions: Array) -> Array:
    """Columns by how strongly they correlate with the predictions, the closest first; text columns before all."""
    numeric = np.flatnonzero(is_numeric(X))
    strength = np.full(X.shape[1], np.inf)
    if len(numeric):
        columns, targets = _standardised(_filled(X, numeric)), _standardised(predictions.reshape(len(predictions), -1))
        strength[numeric] = np.abs(columns.T @ targets).max(axis=1)
    return np.argsort(-strength, kind="stable")


def _filled(X: Any, columns: Any) -> Array:
    """Return columns of numbers with gaps filled by their medians."""
    values = np.asarray(X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns], dtype=np.float64)
    known = np.isfinite(values)
    middle = np.array([np.median(v[k]) if k.any() else 0.0 for v, k in zip(values.T, known.T, strict=True)])
    return np.where(known, values, middle)


def _standardised(values: Array) -> Array:
    spread = values.std(axis=0)
    return np.divide(values - values.mean(axis=0), spread, out=np.zeros_like(values), where=spread > 0)


def _predictions(search: Any, X: Any) -> Array:
    """What the model predicts for each row, in numbers: [N], or [N, K] for several classes."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(search, method):
            return np.asarray(getattr(search, method)(X), dtype=np.float64)
    found = np.asarray(search.predict(X))
    return found.astype(np.float64) if found.dtype.kind in "iufb" else np.unique(found, return_inverse=True)[1] * 1.0


def _bar(unit: Array, falls: Array, names: list[str]) -> Bar:
    shown = [names[c] for c in unit]
    label = " + ".join(shown[:2]) + (f" + {len(shown) - 2} more" if len(shown) > 2 else "")
    return Bar(label, float(f"{falls.mean():.6g}"), float(f"{falls.std():.6g}"))


def _largest(bars: list[Bar], most: int) -> tuple[Bar, ...]:
    return tuple(sorted(bars, key=lambda bar: -bar.value)[:most])


def _sentence(search: Any, n_columns: int, done: int, times: int) -> str:
    metric, n = within(metric_label(search.question_.first.name)), search.predictions_.n_samples
    chosen = f"{done} of {n_columns:,} columns were shuffled, " if done < n_columns else ""
    chosen += "those that correlate most with the model's predictions. " if done < n_columns else ""
    shown = f"The {TOP} largest of {done:,} columns. " if done > TOP else ""
    rows = f"{MOST_ROWS:,} of {n:,} rows, " if n > MOST_ROWS else ""
    return (
        f"{chosen}{shown}How much the score ({metric}) falls when one column is shuffled ({rows}mean of "
        f"{count(times, 'shuffle')}; whiskers: standard deviation over shuffles). Computed on the training data of the "
        "final model, so it tells what the model leans on, not what would help on new data; columns that say the same "
        "share their importance, so those that are strongly correlated are shuffled together as well."
    )


def _left_out(reason: str) -> tuple[Note, ...]:
    return (Note("W704", f"Permutation importance was left out: {reason}."),)


def _bars(name: str, title: str, bars: tuple[Bar, ...], sentence: str) -> Chart:
    """Draw horizontal bars with whiskers of one standard deviation."""
    ends = [v for bar in bars for v in (bar.value - bar.spread, bar.value + bar.spread, bar.value, 0.0)]
    high = max(ends) or 0.01
    told = [f"{b.label}: {b.value:.4g}, {b.value - b.spread:.4g} to {b.value + b.spread:.4g}" for b in bars]
    return Chart(
        name, title, "", "", (min(ends), high * 1.02), (len(bars) - 0.5, -0.5), sentence=sentence,
        boxes=tuple(Box(0.0, i - 0.27, bar.value, i + 0.27, hint=told[i]) for i, bar in enumerate(bars)),
        whiskers=tuple(Whisker(float(i), bar.value - bar.spread, bar.value + bar.spread) for i, bar in enumerate(bars)),
        y_names=tuple(bar.label for bar in bars),
    )  # fmt: skip


#: What a chart of an effect shows.
EFFECT = (
    "Mean of the final model's predictions when all samples are given that value (partial dependence): what the model "
    "does, not what causes the outcome."
)


def effects(search: Any, X: Any, labels: Iterable[str], max_seconds: float = math.inf) -> tuple[Chart, ...]:
    """Draw what the model predicts when one column changes, for the first few of these columns that hold numbers."""
    X = X if hasattr(X, "iloc") else np.asarray(X)
    names, numeric, end = column_names(X), is_numeric(X), monotonic() + max_seconds
    columns = [c for c in (names.index(label) for label in labels if label in names) if numeric[c]]
    generator = seeds.generator(search.seed_, "effects")
    rows = np.sort(generator.permutation(X.shape[0])[:N_ROWS])
    made: list[Chart] = []
    for column in columns[:N_COLUMNS]:
        if monotonic() > end:
            break
        chart = _effect(search, X, int(column), names[column], rows)
        made += [] if chart is None else [chart]
    return tuple(made)


def _effect(search: Any, X: Any, column: int, name: str, rows: Array) -> Chart | None:
    every = np.asarray(X.iloc[:, column] if hasattr(X, "iloc") else X[:, column], dtype=np.float64)
    known = every[np.isfinite(every)]
    places = np.unique(np.quantile(known, np.linspace(0.02, 0.98, N_PLACES))) if len(known) else known
    if len(places) < 2:
        return None
    said, labels, what = _said(search, _with_values(X, column, rows, places))
    by_row = said.reshape(len(places), len(rows), -1)  # [G, n, lines]
    faint = by_row[:, np.linspace(0, len(rows) - 1, min(N_FAINT, len(rows))).astype(int), 0].T
    means = by_row.mean(axis=1)  # [G, lines]
    drawn = means if len(labels) > 1 else np.concatenate([means.T, faint])
    low, high = float(drawn.min()), float(drawn.max())
    room = 0.06 * (high - low) or 0.5
    lines = [line_of(label, places, Band(*3 * (means[:, k],))) for k, label in enumerate(labels)]
    drawn_apart = tuple(tuple(float(f"{v:.5g}") for v in row) for row in faint) if len(labels) == 1 else ()
    return Chart(
        f"effect-{column}", f"When {name} changes", clean(name, 40), what, (float(places[0]), float(places[-1])),
        (low - room, high + room), tuple(lines), EFFECT + " Pale lines: single samples (ICE)." * bool(drawn_apart),
        faint=drawn_apart,
    )  # fmt: skip


def _with_values(X: Any, column: int, rows: Array, places: Array) -> Any:
    """Copy some rows once for each place, with the column set to it."""
    again, values = np.tile(rows, len(places)), np.repeat(places, len(rows))
    if hasattr(X, "iloc"):
        copy = X.iloc[again].reset_index(drop=True)
        dtype = X.dtypes.iloc[column]
        copy.isetitem(column, values if dtype.kind == "f" else np.round(values).astype(dtype))
        return copy
    copy = X[again]
    copy[:, column] = values
    return copy


def _said(search: Any, X: Any) -> tuple[Array, list[str], str]:
    """What the model says of rows [M, lines], how the lines are called, and what it is."""
    task = search.predictions_.task
    if task == "survival":
        return np.asarray(search.predict(X), np.float64), ["mean"], "predicted risk"
    if task == "regression":
        return np.asarray(search.predict(X), np.float64), ["mean"], "predicted"
    classes = list(search.classes_.tolist())
    if len(classes) == 2:
        positive = search.predictions_.target.positive_label
        positive = obvious_positive(classes) if positive is None else positive
        k = classes.index(positive) if positive in classes else 1
        if hasattr(search, "predict_proba"):
            return np.asarray(search.predict_proba(X))[:, k], ["mean"], f"probability of {class_name(classes[k])}"
        values = np.asarray(search.decision_function(X), np.float64)
        return values if k == 1 else -values, ["mean"], f"score of {class_name(classes[k])}"
    sizes = np.bincount(search.predictions_.y, minlength=len(classes))
    known = search.predictions_.classes.tolist()
    frequent = sorted(sorted(range(len(known)), key=lambda i: -sizes[i])[:MOST_CLASSES])
    places = [classes.index(known[i]) for i in frequent]
    ask = search.predict_proba if hasattr(search, "predict_proba") else search.decision_function
    what = "probability" if hasattr(search, "predict_proba") else "score"
    return np.asarray(ask(X))[:, places], [class_name(known[i]) for i in frequent], what
