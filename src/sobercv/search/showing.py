"""A fitted search for its readers: report, plots, and how it shows itself, with the honest score first.

Takes a fitted search, gives text, HTML and files; computes nothing that decides.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..frames import frame_of
from ..inference import Estimate, Question
from ..inference.difference import Family, families
from ..predictions import Predictions


class ReaderMixin:
    """What people read of a search."""

    estimate_: Any
    multimetric_: bool
    estimator: Any
    cv_results_: dict[str, Any]
    predictions_: Predictions
    question_: Question

    def report(self, path: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Write a report: one HTML file that works offline, plain text, or JSON.

        Parameters
        ----------
        path : str or path
            Ends with `.html`, `.txt` or `.json`.
        X, y : array-like, optional
            The data given to `fit`, for the permutation importance of the winner; left out without them.
        **options
            `title`, `command`, `sample_weight`, `n_permutations`, `seed` and `created`, see `sobercv.report.summarize`.

        Returns
        -------
        Path
        """
        from ..report import summarize, write

        return write(summarize(self, X, y, **options), path)

    def results_frame(self, backend: str = "pandas") -> Any:
        """Give `cv_results_` as a data frame, one row a configuration, the best first.

        Parameters
        ----------
        backend : {"pandas", "polars"}
        """
        check_is_fitted(self, "estimate_")
        table = {name: values for name, values in self.cv_results_.items() if name != "params"}
        rank = next(name for name in table if name.startswith("rank_test_"))
        order = np.argsort(table[rank], kind="stable")
        columns = {"configuration": order, **{name: values[order] for name, values in table.items()}}
        return frame_of(columns, backend)

    @property
    def families_(self) -> list[Family]:
        """For each kind of model the corrected score of its best, and the difference to the winner; the best first."""
        return self.families()

    def families(self, by: Any = None) -> list[Family]:
        """Compare groups of configurations, to see whether the simple kind of model is as good as the winner.

        The best of each group is selected and judged on the draws that judge the winner, so that the difference has an
        interval of its own. Configurations that were dropped take part with the predictions that they have; those that
        failed do not.

        Parameters
        ----------
        by : str, callable or list, optional
            The name of a parameter, a function of the parameters of a configuration, or a label for every
            configuration; unless given, the kind of model.

        Returns
        -------
        list of Family
            The best first.
        """
        from ..report.grouping import labels_of

        check_is_fitted(self, "estimate_")
        return families(self.predictions_, self.question_, labels_of(self, by))

    @property
    def plot(self) -> Any:
        """Plots of the fitted search: `search.plot.race()`, `.draws()`, `.roc()` and more, each with `ax=`."""
        from ..report.displays import Plots

        check_is_fitted(self, "estimate_")
        return Plots(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        own: str = super().__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        return f"{self._headline()!r}\n{own}" if hasattr(self, "estimate_") else own

    def _headline(self) -> Estimate:
        estimate: Estimate = next(iter(self.estimate_.values())) if self.multimetric_ else self.estimate_
        return estimate

    @property
    def _repr_html_(self) -> Callable[[], str]:
        return self._html

    def _html(self) -> str:
        inner: str = super()._repr_html_()  # type: ignore[misc]
        if not hasattr(self, "estimate_"):
            return inner
        if hasattr(self, "best_estimator_"):  # as in scikit-learn, the winner stands where the estimator stood
            trained = copy(self)
            trained.estimator = self.best_estimator_
            inner = super(ReaderMixin, trained)._repr_html_()  # type: ignore[misc]
        return self._headline()._repr_html_() + inner

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._html()
        return bundle
