import sys

import matplotlib as mpl
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from sobercv.errors import SoberError
from sobercv.report.displays import draw
from sobercv.report.records import Chart

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
