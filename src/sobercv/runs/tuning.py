"""From a prepared run to an honest number: tune, drop, judge.

Takes a `Prepared` run, gives a fitted `BBCSearchCV` without a final model; writes nothing but the store.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..search.bbc_search_cv import BBCSearchCV
from .deadline import Deadline
from .prepared import Prepared


def tune(
    prepared: Prepared,
    store: Path | None = None,
    deadline: Deadline | None = None,
    on_event: Callable[[Any], object] | None = None,
) -> BBCSearchCV:
    """Tune and judge. The final model is another matter, see `final_model`.

    Parameters
    ----------
    prepared : Prepared
    store : Path, optional
        The file that keeps every fit.
    deadline : Deadline, optional
        Leaves training its share of the time.
    on_event : callable, optional
        Hears what happens.
    """
    planned, settings, data = prepared.plan, prepared.settings, prepared.data
    search = BBCSearchCV(
        planned.preset.estimator,
        planned.preset.configurations,
        scoring=planned.scoring[0] if len(planned.scoring) == 1 else planned.scoring,
        pos_label=planned.positive,
        cv=planned.cv,
        n_repeats=planned.repeats,
        aggregate=settings.aggregate,
        stratify=settings.stratify,
        within_folds=settings.within_folds,
        tune_threshold=settings.tune_threshold,
        interval=settings.interval,
        refit=False,
        n_jobs=settings.jobs,
        random_state=planned.seed,
        store=store,
        max_seconds=None if deadline is None else deadline.for_training(),
        half_width=settings.half_width,
        on_event=on_event,
        keep="all",
    )
    return search.fit(data.X, data.y, groups=data.groups)
