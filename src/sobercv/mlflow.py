"""A search in MLflow: a listener that logs the race while it runs, and then its result, into the run of the user."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .errors import SoberError, needs
from .inference import Estimate
from .training.events import Event, RoundEnded, SearchEnded, SearchStarted

with needs("sobercv.mlflow needs MLflow", "'sobercv[mlflow]'"):
    import mlflow

__all__ = ["MlflowListener"]

_LONGEST = 500  # characters of a parameter, in MLflow's older stores


class MlflowListener:
    """Logs a search into a run of MLflow.

    As `on_event=` it logs, round by round, how many configurations are left and how many fits were made and saved.
    `log(search)` adds the honest score beside the naive one, the winner, the report and all predictions.

    Parameters
    ----------
    run_id : str, optional
        The run to write into (default: the active one).

    Examples
    --------
    >>> import mlflow
    >>> from sobercv.mlflow import MlflowListener
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     listener = MlflowListener()
    ...     search = sobercv.BBCSearchCV(model, grid, scoring="roc_auc", on_event=listener).fit(X, y)
    ...     listener.log(search)
    """

    def __init__(self, run_id: str | None = None) -> None:
        active = mlflow.active_run()
        if run_id is None and active is None:
            raise SoberError("E113", "No MLflow run is active. Create the listener inside `with mlflow.start_run():`.")
        self.run_id = run_id or active.info.run_id

    def __call__(self, event: Event) -> None:
        """Log one event of a search."""
        client = mlflow.MlflowClient()
        if isinstance(event, SearchStarted):
            client.log_param(self.run_id, "n_configurations", event.n_configurations)
            client.log_param(self.run_id, "n_splits", event.n_splits)
        elif isinstance(event, RoundEnded):
            found = {"race/alive": event.n_alive, "race/fits": event.n_fits, "race/fits_saved": event.n_saved}
            for name, value in found.items():
                client.log_metric(self.run_id, name, value, step=event.round)
        elif isinstance(event, SearchEnded):
            client.set_tag(self.run_id, "sobercv.stopped", event.stopped)

    def log(self, search: Any) -> None:
        """Log what a fitted search came to.

        Of each metric its honest score, `<metric>_low` and `<metric>_high` (the interval), and `<metric>_naive`, what
        plain cross-validation claims; the winner's parameters; `report.html`, `estimate.json` and, where there are any,
        `predictions.parquet`.

        Parameters
        ----------
        search : BBCSearchCV or BBCRandomizedSearchCV
            Fitted.
        """
        from . import __version__
        from .runs.predictions_file import long_table

        first = search.question_.first.name
        estimates: dict[str, Estimate] = search.estimate_ if search.multimetric_ else {first: search.estimate_}
        client, chosen = mlflow.MlflowClient(), estimates[first]
        for name, estimate in estimates.items():
            low, high = estimate.interval or (None, None)
            found = {"": estimate.value, "_low": low, "_high": high, "_naive": estimate.naive}
            for end, number in found.items():
                if number is not None:
                    client.log_metric(self.run_id, _key(name + end), float(number))
        for name, value in search.best_params_.items():
            client.log_param(self.run_id, _key(f"winner.{name}"), " ".join(repr(value).split())[:_LONGEST])
        tags = {"version": __version__, "method": chosen.method, "seed": search.seed_, "level": chosen.confidence_level}
        for name, value in tags.items():
            client.set_tag(self.run_id, f"sobercv.{name}", value)
        client.log_dict(self.run_id, {name: one.to_dict() for name, one in estimates.items()}, "estimate.json")
        with TemporaryDirectory() as folder:
            client.log_artifact(self.run_id, search.report(Path(folder) / "report.html"))
            if search.predictions_.responses:
                import pyarrow.parquet as pq

                path = Path(folder) / "predictions.parquet"
                pq.write_table(long_table(search.predictions_, np.arange(search.predictions_.n_samples)), path)
                client.log_artifact(self.run_id, path)


def _key(name: str) -> str:
    """Write a name in the letters that MLflow takes."""
    return re.sub(r"[^\w\-. :/]", "_", name)
