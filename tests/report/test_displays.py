import copy
import sys
from dataclasses import replace

import matplotlib as mpl
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

mpl.use("Agg")

import matplotlib.pyplot as plt

import sobercv
from sobercv.errors import SoberError
from sobercv.report.displays import draw
from sobercv.report.records import Chart
from sobercv.targets import Target

from . import cases

COMMON = ("race", "draws")
PLOTS = {
    "binary": ("roc", "precision_recall", "calibration", "decision", "confusion"),
    "several": ("roc", "confusion"),
    "labels_only": ("confusion",),
    "regression": ("predicted",),
    "survival": ("survival",),
    "hostile": ("roc", "precision_recall", "calibration", "decision", "confusion"),
}
EVERY = sorted({name for names in PLOTS.values() for name in names})


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.filterwarnings("ignore:Glyph")
def test_every_plot_of_a_task_draws_on_the_axes_given(name):
    search, X, y = cases.CASES[name]()
    for plot in (*COMMON, *PLOTS[name]):
        figure, ax = plt.subplots()
        assert getattr(search.plot, plot)(ax=ax) is ax
        assert ax.get_title(loc="left")
        assert ax.has_data()
        figure.canvas.draw()
        plt.close(figure)
    if name != "hostile":
        ax = search.plot.importance(X, y, n_permutations=1)
        assert len(ax.patches) == X.shape[1]
        plt.close(ax.figure)


@pytest.mark.parametrize("name", PLOTS)
def test_plots_of_another_task_are_refused(name):
    search, _, _ = cases.CASES[name]()
    for plot in sorted(set(EVERY) - set(PLOTS[name])):
        with pytest.raises(SoberError) as caught:
            getattr(search.plot, plot)()
        assert caught.value.code == "E116"
    assert plt.get_fignums() == []


def without_events():
    """A search whose rows are all censored, as far as its charts know; it failed with a TypeError."""
    search, _, _ = cases.survival()
    table = search.winner_predictions_
    y = table.y.copy()
    y["event"] = False
    changed = copy.copy(search)
    changed.winner_predictions_ = replace(table, target=Target("survival", y))
    return changed


def test_a_plot_that_cannot_be_drawn_says_why():
    X, y = cases.binary()[1:]
    scaled = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    kept = sobercv.BBCSearchCV(scaled, {"model__C": [1.0, 10.0]}, cv=3, n_bootstraps=20, keep="all").fit(X, y)
    plt.close(kept.plot.roc().figure)
    needs_chances = "`{}` cannot be drawn. Charts and tables that need probabilities.*winner predicts none, or"
    for search, plot, part in (
        (kept, "calibration", needs_chances.format("calibration")),
        (kept, "decision", needs_chances.format("decision")),
        (cases.labels_only()[0], "calibration", 'Only labels of the winner are known.*not kept.*keep="all"'),
        (cases.labels_only()[0], "roc", 'Only labels of the winner are known.*not kept.*keep="all"'),
        (without_events(), "survival", "no sample had the event"),
        (cases.several()[0], "calibration", "`calibration` is a plot for two classes; this search has 3"),
    ):
        with pytest.raises(SoberError, match=part) as caught:
            getattr(search.plot, plot)()
        assert caught.value.code == "E116"


def test_a_new_figure_is_made_where_none_is_given():
    ax = cases.binary()[0].plot.roc()
    (line,) = [one for one in ax.lines if one.get_label().startswith("case")]
    assert "AUC" in line.get_label()
    plt.close(ax.figure)


def test_dollars_in_names_are_no_formulas():
    """A class or a column named so made matplotlib fail when the figure was drawn."""
    name = "$\\frac{1}$"
    ax = draw(Chart("effect", f"When {name} changes", name, f"probability of {name}", (0.0, 1.0), (0.0, 1.0)))
    ax.figure.canvas.draw()
    plt.close(ax.figure)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(SoberError) as caught:
        cases.binary()[0].plot.race()
    assert "sobercv[plot]" in caught.value.message
