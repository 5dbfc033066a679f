"""A search as an estimator of scikit-learn: tags, metadata routing, and what it does when fitted.

It predicts and scores with its winner, and reports with the honest score first.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..containers import Array
from ..inference import Question
from ..inference.bootstrap import corrected
from ..inference.difference import Difference, Family, families
from ..predictions import Predictions
from .design import Options
from .results import estimate_of, table_of
from .scoring import listed


def _requesting(scoring: Any, estimator: Any) -> Any:
    """Return what says what a scorer requests; metrics of sober, which cannot say it, request weights."""
    if scoring is None and hasattr(estimator, "score"):
        return check_scoring(estimator)
    if isinstance(scoring, str) and scoring in get_scorer_names():
        return get_scorer(scoring)
    if callable(scoring) or hasattr(scoring, "get_metadata_routing"):
        return scoring  # a plain function requests nothing, as in scikit-learn
    request = MetadataRequest(owner="a metric of sober")
    request.score.add_request(param="sample_weight", alias=True)
    return request


def _of_the_winner(name: str, doc: str) -> Any:
    """Make the method that calls the same one of the winner; it is there where winner or estimator have it."""

    def has_method(self: FittedSearch) -> bool:
        self._check_refit(name)
        getattr(self.best_estimator_ if hasattr(self, "best_estimator_") else self.estimator, name)
        return True

    def method(self: FittedSearch, X: Any, **options: Any) -> Any:
        return getattr(self._best(name), name)(X, **options)

    method.__name__, method.__qualname__, method.__doc__ = name, f"FittedSearch.{name}", doc
    return available_if(has_method)(method)


class FittedSearch(Options, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What scikit-learn asks of a search, and what a fitted search can do."""

    estimate_: Any
    scorer_: Any
    predictions_: Predictions
    question_: Question

    # ---- among scikit-learn's estimators -----------------------------------------------------------------------------
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_" if self.refit else "estimate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        for name in ("estimator_type", "classifier_tags", "regressor_tags"):
            setattr(tags, name, getattr(inner, name))
        for name in ("pairwise", "sparse", "allow_nan"):
            setattr(tags.input_tags, name, getattr(inner.input_tags, name))
        tags.target_tags.required = inner.target_tags.required
        tags.array_api_support = False
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata goes: to the estimator's `fit`, to the splitter, and to the scorers."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        both = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        for i, scoring in enumerate(listed(self.scoring)):
            router.add(**{f"scorer{i}": _requesting(scoring, self.estimator)}, method_mapping=both)
        return router

    # ---- the winner --------------------------------------------------------------------------------------------------
    def _check_refit(self, name: str) -> None:
        if not self.refit and not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"This {type(self).__name__} instance was initialized with `refit=False`. {name} is available only "
                "after refitting on the best parameters: use refit=True, or train_final_model."
            )

    def _best(self, name: str) -> Any:
        self._check_refit(name)
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    predict = _of_the_winner("predict", "Predict with the winner, trained on all data.")
    predict_proba = _of_the_winner("predict_proba", "Class probabilities of the winner.")
    predict_log_proba = _of_the_winner("predict_log_proba", "Logarithms of the class probabilities of the winner.")
    decision_function = _of_the_winner("decision_function", "Decision values of the winner.")
    score_samples = _of_the_winner("score_samples", "Scores of samples from the winner.")
    transform = _of_the_winner("transform", "Transform with the winner.")
    inverse_transform = _of_the_winner("inverse_transform", "Transform back with the winner.")
    predict_survival_function = _of_the_winner("predict_survival_function", "Survival functions of the winner.")

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the winner on new data, with the metric or the scorer that selected it.

        Parameters
        ----------
        X, y : array-like
        **params
            `sample_weight`; where metadata routing is enabled, whatever the scorer asked for.
        """
        best, first = self._best("score"), self.question_.first.name
        given = {name: value for name, value in params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            place = list(self.scorer_).index(first) if isinstance(self.scorer_, dict) else 0
            given = dict(process_routing(self, "score", **given)[f"scorer{place}"].score)
        elif unknown := sorted(given.keys() - {"sample_weight"}):
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.score (here {', '.join(unknown)}) is only "
                "supported if enable_metadata_routing=True (sklearn.set_config). Only sample_weight works without it."
            )
        scorer = self.scorer_[first] if isinstance(self.scorer_, dict) else self.scorer_
        return scorer.by_name(best, X, y, **given)[first]

    @property
    def classes_(self) -> Array:
        """Class labels of the winner; only for classifiers."""
        return np.asarray(self._best("classes_").classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen in `fit`."""
        return int(self._best("n_features_in_").n_features_in_)

    def report(self, path: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Write a report: one HTML file that works offline, its tables, or JSON.

        Parameters
        ----------
        path : str or path
            Ends with `.html`, `.md`, `.csv` or `.json`.
        X, y : array-like, optional
            The data given to `fit`, for the permutation importance of the winner; left out without them.
        **options
            `title`, `command`, `sample_weight`, `n_permutations` and `notes`, see `sobercv.report.summarize`.

        Returns
        -------
        Path
        """
        from ..report import summarize, write

        return write(summarize(self, X, y, **options), path)

    def families(self, by: Any = None) -> list[Family]:
        """Compare groups of configurations, to see whether the simple kind of model is as good as the winner.

        The best of each group is selected and judged on the draws that judge the winner, so that the difference has an
        interval of its own. Configurations that were dropped take part with the predictions that they have; those that
        failed do not.

        Parameters
        ----------
        by : str, callable or list, optional
            The name of a parameter, a function of the parameters of a configuration, or a label for every
            configuration (default: the kind of model).

        Returns
        -------
        list of Family
            The best first.
        """
        from ..report.families_table import labels_of

        check_is_fitted(self, "estimate_")
        return families(self.predictions_, self.question_, labels_of(self, by))

    def gain_over(self, first: int = 0) -> Difference:
        """Tell whether tuning was worth it: the winner against the first configuration, or another one.

        Both are judged on the same draws by the metric that selects, and the winner is corrected for having been
        chosen. A configuration that was dropped is judged by the predictions that it has.

        Parameters
        ----------
        first : int, default=0
            The configuration to compare with: its index in `cv_results_`.

        Returns
        -------
        Difference
            `print(search.gain_over().sentence())` says it in words.
        """
        check_is_fitted(self, "estimate_")
        estimate = estimate_of(self)
        if estimate.judge_alone is None:  # a pickled estimate leaves its predictions behind; the search has them
            results, scores = self.cv_results_, dict[str, Array]()
            for metric in self.question_.metrics:
                tail = metric.name if self.multimetric_ else "score"
                by_split = [results[f"split{i}_test_{tail}"] for i in range(self.n_splits_)]
                scores[metric.name] = np.stack(by_split, axis=1)[results["status"] == "finished"]
            found = corrected(table_of(self.predictions_, self.question_, self.splits_, scores))
            estimate = replace(estimate, judge_alone=found[estimate.metric].judge_alone)
        return estimate.gain_over(first)

    @property
    def plot(self) -> Any:
        """Plots of the fitted search: `search.plot.race()`, `.draws()`, `.roc()` and more, each with `ax=`."""
        from ..report.displays import Plots

        check_is_fitted(self, "estimate_")
        return Plots(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        own: str = super().__repr__(N_CHAR_MAX)
        return f"{estimate_of(self)!r}\n{own}" if hasattr(self, "estimate_") else own

    def _html_repr(self) -> Any:  # what scikit-learn shows in a notebook
        shown = self
        if hasattr(self, "best_estimator_"):  # as in scikit-learn, the winner stands where the estimator stood
            shown = copy(self)
            shown.estimator = self.best_estimator_
        inner = super(FittedSearch, shown)._html_repr()
        return estimate_of(self)._repr_html_() + inner if hasattr(self, "estimate_") else inner
