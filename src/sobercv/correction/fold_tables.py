"""Tables of fold scores: wide ones, with one column per configuration, and long ones, with one row per score.

Where a part is lacking, the table is refused: read in another way it would give a wrong number.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .. import metrics
from ..errors import Note, SoberError
from ..inference.estimate import shown
from ..tables import tool_columns as parts
from ..tables.naming import closest, plain
from .judging import FoldScores, more_is_better
from .searches import OVERLAP, read_search

#: How R's tools keep out-of-fold predictions, by a column of theirs.
_ADVICE = {
    ".estimate": "control_grid(save_pred = TRUE) keeps them.", "resampling_id": "save each prediction as a data.table.",
    "Resample": 'trainControl(savePredictions = "all") keeps them.',
}  # fmt: skip
#: Rows beyond this number are samples rather than folds, where no column numbers the folds.
_MOST_UNNAMED_FOLDS = 50
_NO_CONFIGURATION = " {!r} is not a configuration; out-of-fold predictions go to sobercv.bbc(y, predictions)."
#: Columns of cross_validate and of a trimmed cv_results_, and folds as columns: no configurations of a wide table.
_SUMMARY = re.compile(
    r"((mean_|std_|rank_)?(test|train)|param)_.+|(mean_|std_)?(fit|score)_time|"
    r"(fold|split|resample|rep(eat)?)[ _.]?\d+|mean|average|avg|median|sd|std|std_?(dev|err)|se",
    re.I,
)
#: Size of a bootstrap's test set over that of its training set, which other hold-outs hardly exceed.
_HOLD_OUT_SHARE = 0.368 / 0.632


def read_frame(
    frame: Any, metric: str | None = None, *, n_repeats: int | None = None, greater_is_better: bool | None = None
) -> FoldScores:
    """Read fold scores from a data frame.

    `metric`: the measure that selected; needed for several measures in rows, default: the first column of a measure.
    `n_repeats`: where no column tells the repeats (default: 1). `greater_is_better`: for a measure of unknown name.
    """
    if frame.columns.inferred_type == "integer" and frame.index.inferred_type == "string" and not frame.index.name:
        text = "Rows have names and columns have numbers, as if every row were a configuration. Pass frame.T."
        raise SoberError("E812", text)
    notes = list[Note]()
    frame = parts.tidied(parts.without_summaries(frame, parts.FOLDS, notes))
    if any(map(parts.SPLIT.fullmatch, map(str, frame.columns))):
        return _cv_results(frame, metric, n_repeats)
    parts.check_no_means(frame)
    resampling = parts.one_resampling(frame)
    fold, repeat = (None if column is None else parts.complete(column) for column in parts.places(frame, parts.FOLDS))
    if "repeated" in resampling and repeat is None and n_repeats is None:
        text = f"The folds are those of {resampling!r}, and no column tells the repeats apart. Say how often the folds "
        raise SoberError("E108", f"{text}were repeated: n_repeats= (on the command line --repeats).")
    params = None
    if fold is None or not parts.measures(frame.columns):
        table, repeats = _wide_scores(frame, repeat, n_repeats, metric)
    else:
        frame, metric, score = _one_measure(frame, metric, notes)
        table, repeats, params = _long_scores(frame, score)
    try:
        scores = table.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise _unread(frame) from None
    if scores.shape[1] < 2:
        raise _unread(frame)
    sizes = repeats.value_counts()  # folds by repeat
    told = len(sizes) if sizes.max() > 1 else 1  # else repeats of one split
    # R's tools name repeats, if there are any.
    by_tool = fold is not None and fold.name in ("id", "Resample") and fold.astype(str).str.match(r"Fold\d").all()
    is_told = told > 1 or by_tool or resampling in ("cv", "loo")
    if sizes.nunique() > 1 or (is_told and n_repeats not in (None, told)):
        text = f"The table has {told} repeat{'s' * (told > 1)}, with {' or '.join(map(str, sorted(set(sizes))))} folds "
        text += "each. Repeats must have the same number of folds, and `n_repeats` (--repeats) must be their number."
        raise SoberError("E108", text)
    is_hold_out = resampling in ("bootstrap", "subsampling") or told < len(sizes)
    is_hold_out |= fold is not None and bool(fold.astype(str).str.match(parts.HOLD_OUT).all())
    if is_hold_out:
        notes.append(Note("W203", OVERLAP))
    sign, name = direction("score" if metric is None else metric, greater_is_better)
    tool = next((column for column in _ADVICE if column in frame), "")
    return FoldScores(
        {name: sign * scores}, names=[str(c) for c in table.columns], params=params,
        n_repeats=told if n_repeats is None else n_repeats,
        knows_repeats=is_told or is_hold_out or n_repeats is not None,
        test_share=_HOLD_OUT_SHARE if is_hold_out else None, advice=_ADVICE.get(tool, FoldScores.advice),
        is_adaptive=len(set(frame.get(".iter", ()))) > 1, notes=tuple(notes),
    )  # fmt: skip


def _unread(frame: Any, why: str = "") -> SoberError:
    """Say what a table of fold scores looks like."""
    columns = ", ".join(map(str, list(frame.columns)[:8]))
    text = "A table of fold scores has one row per fold and one numeric column per configuration, or columns such as "
    text += f"fold, model and score; got the columns {columns}."
    return SoberError("E812", f"{text}{why}" if columns else "The table is empty.")


def direction(measure: str, greater_is_better: bool | None) -> tuple[int, str]:
    """Return the sign that makes more better, and the name of the signed score; ask where the name does not tell."""
    is_gain = more_is_better(measure) if greater_is_better is None else greater_is_better
    if is_gain is None and not measure.endswith("_score"):
        close = closest(measure, metrics.names())
        said = f"Did you mean {close[0]!r}? " if close else ""
        said += f"It is unknown whether a higher {measure!r} is better. Pass greater_is_better=True or False, or "
        said += f"rename it in the table and in --metric: {measure}_score (higher is better) or {measure}_loss."
        raise SoberError("E113", said)
    return (-1, f"neg_{measure}") if is_gain is False else (1, measure)


def _one_measure(frame: Any, metric: str | None, notes: list[Note]) -> tuple[Any, Any, Any]:
    """Return the rows of the measure that selected, its name, and the column that holds its scores."""
    from sklearn.neighbors import VALID_METRICS

    score, known = parts.first_named(frame, parts.SCORE), parts.measures(frame.columns)
    measure = None if score is None else parts.first_named(frame, ("metric", "measure"))
    rows = frame.iloc[:, 0] if measure is None else parts.complete(frame[measure]).astype(str)
    # Measures one below the other; "metric" is also a parameter of nearest neighbours.
    distances = {*VALID_METRICS["ball_tree"], *VALID_METRICS["brute"]}
    if measure == ".metric" or (measure is not None and not set(rows) <= distances):
        known = list(dict.fromkeys(rows))
        metric = known[0] if metric is None and len(known) == 1 else metric
        if metric in known:
            return frame[rows == metric].drop(columns=measure), metric, score
    elif metric in known:
        return frame, metric, metric
    elif metric is None or score is not None:
        score = known[0] if score is None else score
        if metric is None and len(known) > 1:
            other = next(name for name in known if name != score)
            text = f"The table holds {', '.join(known)}; {score} is taken as the measure that selected. To take "
            notes.append(Note("W206", f'{text}another, write --metric {other} (in Python: metric="{other}").'))
        return frame, metric or score, score
    close = (closest(metric or "", known) or known)[0]
    text = f"The table holds {', '.join(known)}{'' if metric is None else f', not {metric!r}'}. Which one selected the "
    raise SoberError(
        "E113" if metric is None else "E122", f'{text}winner? Write --metric {close} (in Python: metric="{close}").'
    )


def _long_scores(frame: Any, score: Any) -> tuple[Any, Any, Any]:
    """Make a long table wide, the folds of each repeat together; return it, the repeats of its rows, and parameters."""
    fold, repeat = parts.places(frame, parts.FOLDS)
    place = fold.astype(str).to_frame("fold").assign(repeat="" if repeat is None else repeat.astype(str))
    taken = {fold.name, getattr(repeat, "name", None), "resampling_id", *parts.TASK, *parts.measures(frame.columns)}
    if "nr" in frame and "uhash" in frame and frame["nr"].nunique() == frame["uhash"].nunique():
        taken.add("uhash")  # mlr3's random names would put configurations into random order
    by = [c for c in frame.columns if taken.isdisjoint((c, plain(c))) and str(c)[:1] != "."]
    if (truth := parts.first_named(frame[by], parts.TRUTH)) is not None and frame[truth].nunique() > 1:
        raise _unread(frame, _NO_CONFIGURATION.format(truth))
    # What tells configurations apart: the column that names them, or all parameters. A column called "model" may be
    # one of several parameters (caret's C5.0), and .config be numbered anew in each of several workflows.
    model, others = parts.first_named(frame, parts.MODELS), by
    if model is not None:
        is_alone = len(by) < 2 or not place.assign(model=frame[model]).duplicated().any()
        others = by if model == ".config" or not is_alone else []
        by = [model] if is_alone else [*by, *({model} - {*by})]
    names = parts.configurations(frame, by)
    if names.nunique() < 2:
        text = "The table holds the fold scores of one configuration, so nothing was chosen and nothing can be "
        text += 'corrected. Save those of every configuration (caret: trainControl(returnResamp = "all")).'
        raise SoberError("E813", text)
    twice = place.assign(model=names).duplicated(keep=False)
    if twice.any():
        name, where = names[twice].iloc[0], place["fold"][twice].iloc[0]
        text = f"{name!r} has two scores on {fold.name} {where!r}. One column must tell folds apart and one or more "
        text += f"must tell configurations apart; read as {fold.name!r} and {', '.join(map(repr, by))}."
        raise SoberError("E812", text)
    params = parts.parameters(frame, others, names)
    order = [place[c].map({one: k for k, one in enumerate(parts.in_order(place[c]))}) for c in ("repeat", "fold")]
    table = frame.set_index([*order, names])[score].unstack()[parts.in_order(names)]
    if by == [".config"]:
        table.columns = [f"{name}: {shown(told)}".removesuffix(": ") for name, told in zip(table, params, strict=True)]
    return table, table.index.get_level_values(0), params if others else None


def _wide_scores(frame: Any, repeat: Any, n_repeats: int | None, metric: str | None) -> tuple[Any, Any]:
    """Return the columns of the configurations, the folds of each repeat together, and the repeat of each row."""
    where = parts.named(frame, (*parts.FOLDS, *parts.REPEAT))
    if where and n_repeats is None and frame.duplicated(where).any():
        text = f" Rows have the same {' and '.join(map(str, where))}. Pass how often folds were repeated (n_repeats=); "
        raise _unread(frame, f"{text}predictions go to sobercv.bbc(y, predictions).")
    table, others = frame.drop(columns=where), {*parts.TRUTH, *parts.SAMPLE, *parts.SUBJECT, *parts.CONFIGURATION}
    for column in table.columns:
        if plain(column) in others or parts.measures([column]) or _SUMMARY.fullmatch(str(column)):
            raise _unread(frame, _NO_CONFIGURATION.format(column))
    if not where and n_repeats is None and (n := len(frame)) > _MOST_UNNAMED_FOLDS:
        text = f"{n} rows were read as {n} folds. If they are samples, pass the truth: sobercv.bbc(y, table, "
        text += f'"{metric or "roc_auc"}"); if they are folds, n_repeats=, or a column fold that numbers them.'
        raise SoberError("E812", text)
    repeat = frame.index.to_series().map(lambda _: "") if repeat is None else repeat
    if repeat.duplicated().any():  # else repeats of one split
        repeat = repeat.sort_values(kind="stable")
    return table.loc[repeat.index], repeat


def _cv_results(frame: Any, metric: str | None, n_repeats: int | None) -> FoldScores:
    """A cv_results_ that was saved as a table: one row per configuration."""
    results: dict[str, Any] = {str(column): frame[column].to_numpy() for column in frame.columns}
    results["params"] = parts.records(frame.filter(regex="^param_").rename(columns=lambda name: name[6:]))
    search = SimpleNamespace(cv_results_=results, scoring=metric or "score", refit=metric or True)
    rank = f"rank_test_{metric if f'rank_test_{metric}' in results else 'score'}"
    if rank in results:
        search.best_index_ = int(results[rank].argmin())
        if not np.array_equal(results[rank], rankdata(results[rank], method="min")):
            text = f"{rank} does not rank all rows: some are missing, or several tables were joined. Pass every "
            text += "configuration that was tried; if searches were joined, leave out the columns of ranks."
            raise SoberError("E813", text)
    return read_search(search, metric, n_repeats)
