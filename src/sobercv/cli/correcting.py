"""sober correct: the honest score of what another tool has tuned, and a finished run by other metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import metrics
from ..checks.planned_search import positive_label
from ..correction import FoldScores, is_mljar, judge, judge_predictions, read_mljar, recognise
from ..errors import Note, SoberError
from ..inference import Estimate
from ..report.records import Score
from ..runs.folder import RunFolder
from ..runs.judged_again import judge_again
from ..runs.prepare import judging, noted
from ..tables import Settings, read
from ..tables.roles import find
from .screen import Screen

#: Estimates by metric, notes, what else the JSON says, and what else is printed beside the first score.
Answer = tuple[Mapping[str, Estimate], list[Note], dict[str, Any], list[tuple[str, str]]]
#: Options that say what to do with rows; tables of fold scores have none.
OF_ROWS = ("target", "time", "event", "event_value", "group", "positive", "aggregate", "stratify", "interval")


def correct(given: dict[str, Any]) -> None:
    """Correct, and print the scores, the first with what else is to know."""
    screen, path = Screen(given), given["predictions"]
    answer = _of_run if Path(path).is_dir() and not is_mljar(path) else _of_tool
    estimates, found, about, rows = answer(given, Settings(**given["asked"]))
    notes, scores = list(dict.fromkeys(found)), [Score.of(estimate) for estimate in estimates.values()]
    if screen.json:
        first, *others = map(asdict, scores)
        screen.result({**about, "score": first, "others": others, "warnings": [note.to_dict() for note in notes]})
        return
    screen.notes(notes)
    screen.scores(scores, [] if screen.quiet else rows)


def _of_tool(given: dict[str, Any], settings: Settings) -> Answer:
    """Judge what another tool left: a table of predictions or of fold scores, or a folder of mljar."""
    notes: tuple[Note, ...] = ()
    if Path(given["predictions"]).is_dir():
        found: Any = read_mljar(given["predictions"])
        frame: Any = ()
    else:
        table = read(given["predictions"], settings)
        frame, notes = table.frame, table.notes
        texts = frame.select_dtypes(exclude="number").astype(str)
        known = {*frame.columns, *texts.to_numpy().ravel()}  # a configuration of a long table can be ignored, too
        settings = settings.split(known)
        for name in [name for name in settings.ignore if name not in known]:
            find(frame, name)
        found = recognise(frame, settings, settings.metric[0] if settings.metric else None, given["repeats"])
    by_fold = isinstance(found, FoldScores)
    others = [name.replace("_", "-") for name in (OF_ROWS if by_fold else ("repeats",)) if name in given["asked"]]
    if others:
        held = "fold scores" if by_fold else "predictions, whose repeats are a column"
        raise SoberError("E808", f"The table holds {held}, so --{others[0]} would change nothing. Leave it out.")
    if by_fold and len(settings.metric) > 1:
        raise SoberError("E114", "Fold scores are corrected by the metric that selected. Name one --metric.")
    with noted() as warned:
        if by_fold:
            estimates = judge(found, random_state=settings.seed)
        else:
            positive = None
            if settings.positive is not None or not found.names_no_class():
                wanted = [metrics.get(name) for name in settings.metric]
                positive = positive_label(found.classes, wanted, settings.positive)
            estimates = judge_predictions(
                found, list(settings.metric), force=bool(given["force"]), pos_label=positive, n_jobs=settings.jobs,
                **judging(settings),
            )  # fmt: skip
    first = next(iter(estimates.values()))
    size = {"n_folds": first.n_folds} if by_fold else {"n_rows": first.n_samples}
    about = {"tool": "fold scores" if by_fold else found.tool, "winner": first._winner(), **size}
    rows = [("winner", first._winner())]
    if first.n_configurations > 1 and first.configurations[0] == 0:  # the first may have been left out
        # Configurations of long tables are in order of their names, so the first is no default: name it.
        base = found.names[0] if found.names and found.names[0] not in frame else None
        if base is None or first.winner != 0:
            rows.append(("tuning", first.gain_over(0).sentence(base)))
    rows.append(("read as", f"{about['tool']}: {first._rows()['data']}"))
    if not by_fold and settings.aggregate != "fold":
        rows.append(("", "plain CV pools the folds; most tools print the mean over folds, which can differ"))
    about["n_configurations"] = first.n_configurations
    return estimates, [*notes, *first.notes, *warned], about, rows


def _of_run(given: dict[str, Any], settings: Settings) -> Answer:
    """Judge a finished run by other metrics, at the winner that it chose."""
    others = [name.replace("_", "-") for name in given["asked"] if name not in ("metric", "positive", "jobs")]
    if others:
        raise SoberError("E808", f"{given['predictions']} is a run, which knows its own --{others[0]}. Leave it out.")
    folder = RunFolder(Path(given["predictions"])).check()
    with noted() as warned:
        results, found = judge_again(folder, settings.metric, settings.positive, given["jobs"])
    about = {
        "tool": "sober", "winner": results.winner, "selected_by": results.score.metric, "n_rows": results.data["rows"],
        "n_configurations": results.n_configurations,
    }  # fmt: skip
    rows = [("winner", f"{results.winner}; chosen by {results.score.metric}, as in the run")]
    return found, [*warned, *(note for one in found.values() for note in one.notes)], about, rows
