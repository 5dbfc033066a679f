"""Write docs/tuned.md: the results of the study as a page.

Takes `results.csv`, `results-real.csv`, `results-alternatives.csv`, gives Markdown; computes only what is met.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..results_file import read_results
from .run import BACK, BACK_SETS, OTHERS, REAL, RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "tuned.md"

HEAD = """# Whatever was tuned on the predictions is corrected

Who picks the best of many configurations reports too good a score. So does who tunes the *decision threshold* on the
same out-of-fold predictions, or puts an *ensemble* together from them, or reports the best of one *family* of models.
`sobercv.bbc` and `BBCSearchCV` do all of it again in every resample, and judge it on the samples left out.

```python
import sobercv
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": [0.001, 0.01, 0.1, 1]}

search = sobercv.BBCSearchCV(
    pipeline, grid, scoring="f1", cv=5, select=sobercv.best_with_threshold(), n_bootstraps=200
).fit(X, y)
print(search.estimate_)  # the honest score of the winner with its threshold
search.estimate_.decision.value  # the threshold; search.predict uses it

ensemble = sobercv.BBCSearchCV(
    pipeline, grid, scoring="roc_auc", cv=5, select=sobercv.greedy_ensemble(), n_bootstraps=200
).fit(X, y)
print(ensemble.estimate_)  # that of the mix, the best configuration alone beside it
```

| `select=` | what is selected | final model |
| --- | --- | --- |
| `best_with_threshold()` | a configuration and its threshold | `FixedThresholdClassifier` |
| `greedy_ensemble(size=25)` | a mix: one by one, with replacement (Caruana et al. 2004) | a voting model |
| `stacked_ensemble()` | the mix of the smallest squared error; no weight is negative | a voting model |
| `average_of_best(k=5)` | the plain mean of the best | a voting model |

**Thresholds** are tuned for f1, fbeta, jaccard, accuracy, balanced_accuracy, youden, matthews_corrcoef and
`neg_cost(missed=5, alarm=1)` (for the net benefit at a threshold t write `neg_cost(missed=(1 - t) / t)`: it prefers the
same cut). `best_with_threshold(at_specificity=0.9)` tunes sensitivity, `at_sensitivity=` specificity or precision, and
`min_precision=` goes with all of them. A sample is positive from the threshold on. The threshold lies midway between
two scores that are present; of equally good ones the highest is taken. Floors hold where the threshold is tuned: name
the other metric too, `metric=["sensitivity", "specificity"]`, to see how well they are kept on new samples.

**Ensembles** are means of probabilities, or of predicted numbers. Greedy and stacked ones minimise the squared error
(for classes the Brier score) whatever metric judges. `estimate_.single` is the best configuration alone, from the same
draws, `estimate_.gain` the difference, and `gain_interval` its interval.

**Families and differences.** `search.families_` (and the report) gives for each kind of model the corrected score of
its best and the difference to the winner, from the same draws; `search.families(by=...)` takes any other grouping.
`sobercv.difference(y, predictions, metric, first=..., second=...)` compares any two ways to select from one table: two
groups of configurations, a rule, a threshold, an ensemble.

With repeats one threshold serves all of them. Not possible, and said before anything is trained (E114):
`aggregate="fold"`, `by="fold"`, `method="632+"` and dropping.
"""


HOW = """## How it differs from BBC for a column

- **A sample that was drawn twice counts once** when a threshold or a mix is tuned on a resample. A resample of N draws
  holds 0.63 N distinct samples, but as some count twice or more, what is tuned on it is as good as if it were tuned on
  N / 2. Without the repetitions it is as good as on 0.63 N, and the same samples judge it.
- **The labels of all resamples are judged together** where a threshold makes labels: one F1 (or MCC, or precision) of
  all that was said of samples left out, and not the mean of many, each of a handful of positives. Such a share of few
  is too low on average. `Estimate.draws` keeps those of single resamples.
- **The estimate goes a tenth of the way back** to what plain cross-validation says. The decision that is reported was
  tuned on all N samples, and is a little better than those that were judged, which were tuned on 0.63 N. Why a tenth
  stands below. Intervals and draws are not moved.

All three are for thresholds and ensembles; families, and the best column alone, are judged as in the paper.

Other estimates of the same small tables (simulated ones of 60 samples with C configurations, and real ones of 40 to 60
samples); bias, and in brackets the root mean square of the error. "Extrapolated" goes on from 0.37 N (samples drawn
once) and 0.63 N to N, as 1/n; "Efron's" is the naive score less its optimism in the bootstrap world. "Tuned on 0.75 N"
and on 0.9 N draw so many samples without replacement and judge on the others. The last column is no estimate: it is how
much worse the resamples' decisions truly are than the final one.
"""

SAID = """
The last column explains most of the bias of simulated tables. Of real ones so small the estimate would be right without
going back; larger ones (next table) need it. Extrapolating, and judging by the fewer samples that are left, err more in
a single table; going halfway to Efron's optimism lifts real data above the truth. (Made by `python -m
studies.tuned.alternatives --work FOLDER --data FOLDER`.)

### Why a tenth
"""


#: About the interval, by how the numbers were made.
FIXED = (
    "The columns are scores of fixed models, so that the right call is `fixed_models=True`: nothing was "
    "cross-validated that an interval must allow for. Intervals of differences and gains are then percentiles of the "
    "draws, drawn together by .76, for a draw judges by 37 % of the samples and varies that much more. Without "
    "`fixed_models` they are not, and the calibrated interval is wider, as real data (below) need it."
)

Rows = list[dict[str, Any]]


def page(rows: Rows, real: Rows, others: Rows, back: tuple[Rows, Rows], about: dict[str, Any]) -> str:
    """Give the page.

    Parameters
    ----------
    rows, real, others : list of dict
        Simulated, real, and the other estimates.
    back : (list of dict, list of dict)
        How far back, by share of the way and by data set.
    about : dict
        What they were made with.
    """
    parts = [*_others(others), *_back(*back), *_simulated(rows, about), *_real(real), *_made(about)]
    return "\n".join([HEAD, HOW, *parts]) + "\n"


def _others(rows: Rows) -> list[str]:
    if not rows:
        return []
    names = list(dict.fromkeys(row["estimate"] for row in rows))
    numbers = {int(row["number"]) for row in rows if row["tables"] != "real"}
    judged = next(int(row["number"]) for row in rows if row["tables"] == "real")
    lines = [f"| tuned | tables | {' | '.join(names)} |", "| --- | --- |" + " --- |" * len(names)]
    for tuned, table in dict.fromkeys((row["tuned"], row["tables"]) for row in rows):
        mine = {row["estimate"]: row for row in rows if (row["tuned"], row["tables"]) == (tuned, table)}
        cells = [f"{mine[name]['bias']:+.3f} ({mine[name]['rmse']:.3f})" for name in names]
        lines.append(f"| {tuned} | {table} | {' | '.join(cells)} |")
    return [*lines, f"\n{max(numbers)} simulated and {judged} real tables a row.", SAID]


def _back(shares: Rows, sets: Rows) -> list[str]:
    """Bias and error by how far the estimate goes back, and what each data set would choose for the others."""
    if not shares:
        return []
    steps = list(dict.fromkeys(row["share"] for row in shares))
    lines = [
        "Real tables (those below); bias at each share of the way back, with the standard error at none, and in "
        "brackets the root mean square of the error.\n",
        f"| tuned | N | tables | {' | '.join(f'{step:g}' for step in steps)} | error |",
        "| --- | --- | --- |" + " --- |" * (len(steps) + 1),
    ]
    for tuned, n in dict.fromkeys((row["tuned"], row["n"]) for row in shares):
        mine = [row for row in shares if (row["tuned"], row["n"]) == (tuned, n)]
        cells = " | ".join(f"{row['bias']:+.3f} ({row['rmse']:.4f})" for row in mine)
        lines.append(f"| {tuned} | {n} | {mine[0]['tables']:.0f} | {cells} | ± {mine[0]['bias_error']:.3f} |")
    means = [sum(row["rmse"] for row in shares if row["share"] == step) for step in steps]
    least = steps[means.index(min(means))]
    surest = [sum((row["bias"] / row["bias_error"]) ** 2 for row in shares if row["share"] == step) for step in steps]
    chosen = [row["chosen"] for row in sets]
    often = max(set(chosen), key=chosen.count)
    bias, error = ([sum(row[f"{what} {when}"] * row["tables"] for row in sets) / sum(row["tables"] for row in sets)
                    for when in ("at 0", "chosen")] for what in ("bias", "rmse"))  # fmt: skip
    told = ", ".join(f"{row['data']} {row['chosen']:g}" for row in sets)
    return [
        *lines,
        "",
        f"The mean error is least at {least:g}. Each data set judged with the share of the smallest error on the "
        f"others ({told}; {often:g} in {chosen.count(often)} of {len(sets)}): mean bias {bias[1]:+.4f} instead of "
        f"{bias[0]:+.4f} without going back, root mean square of the error {error[1]:.4f} instead of {error[0]:.4f}. "
        f"Had the bias in standard errors been the measure instead of the error, {steps[surest.index(min(surest))]:g} "
        "would be the choice: tables of 40 to 60 samples need no lift, larger ones do. "
        "Theory agrees on the direction: if what is gained by tuning falls as 1/n, the judged decisions lack 0.23 of "
        "the way; real cross-validated predictions, which depend on each other, lack less. Simulated tables had no "
        "part in the choice.\n",
    ]


def _simulated(rows: Rows, about: dict[str, Any]) -> list[str]:
    least, most = (pick(int(row["repetitions"]) for row in rows) for pick in (min, max))
    times = f"{least}" if least == most else f"{least} to {most}"
    covers = [row["covers"] for row in rows]
    missed = [row for row in rows if round(abs(row["bias"]), 3) > 0.015]
    apart = [row for row in rows if not 0.93 <= round(row["covers"], 2) <= 0.98]
    worst = max(rows, key=lambda row: abs(row["bias"]))
    return [
        "## Is it honest? Simulated, so that the truth is known\n",
        f"{times} tables a row; classes of 35 and 65 %; scores of all configurations share half of their noise; "
        "bias is the mean of estimate less truth of the final decision, with its standard error; coverage is that of "
        "the 95 % interval. A family is a quarter of the configurations, and its difference that to the best of all; "
        "the gain of an ensemble is that over the best configuration alone. The truth is exact, but for mixes: theirs "
        f"is measured on {about.get('new', 4000):,} new samples.\n",
        "| tuned | N | C | truth | naive bias | corrected bias | coverage |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_line(row) for row in rows),
        "",
        f"The largest corrected bias is {worst['bias']:+.3f} ({worst['tuned']}, N = {worst['n']:.0f}, C = "
        f"{worst['c']:.0f}), where plain cross-validation is off by {worst['naive_bias']:+.3f}. Wanted: at most .015 "
        f"in every row; met in {len(rows) - len(missed)} of {len(rows)}{_listed(missed)}. Coverage lies between "
        f"{min(covers):.3f} and {max(covers):.3f}; wanted: .93 to .98, met in {len(rows) - len(apart)} of {len(rows)}"
        f"{_listed(apart, 'covers')}. The standard error of a coverage of .95 is {(0.95 * 0.05 / least) ** 0.5:.3f} "
        f"here. {FIXED} the calibrated interval takes the correction of "
        "thresholds and mixes to be uncertain by a fifth of its size (by half where a column alone is selected).\n",
    ]


def _listed(rows: Rows, key: str = "bias") -> str:
    """Name the rows in which something is missed."""
    shown = (f"{row['tuned']}, N = {row['n']:.0f}, C = {row['c']:.0f}: {row[key]:.3f}" for row in rows)
    return f" (not in {'; '.join(shown)})" if rows else ""


def _real(rows: Rows) -> list[str]:
    if not rows:
        return []
    sets = max(int(row["sets"]) for row in rows)
    return [
        "## Real data\n",
        f"Sub-samples of {sets} data sets with two classes, ten folds, 27 configurations (penalised linear models, "
        "nearest neighbours, kernels, naive Bayes, discriminants, trees, a forest). The truth is that of the models "
        "refitted on the whole sub-sample, with the threshold or the weights that were found, on 1,000 to 3,000 other "
        "rows. The family: penalised linear models. Standard errors take the sets to be independent, and not their "
        "sub-samples; error: the mean distance from the truth.\n",
        "| tuned | N | tables | truth | naive bias | corrected bias | naive error | corrected error | coverage |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        *(
            f"| {row['tuned']} | {row['n']} | {row['tables']:.0f} | {row['truth']:.3f} | {row['naive_bias']:+.3f} | "
            f"{row['bias']:+.3f} ± {row['bias_error']:.3f} | {row['naive_error']:.3f} | {row['error']:.3f} | "
            f"{row['covers']:.2f} |"
            for row in rows
        ),
        "",
        "The direction is that of the simulation: what plain cross-validation claims too much is gone.\n",
    ]


def _made(about: dict[str, Any]) -> list[str]:
    return [
        "Made by `python -m studies.tuned --work FOLDER --data FOLDER`, which keeps its pieces in the work folder and "
        "goes on where it stopped (without `--data` only what is simulated); this page alone by "
        f"`python -m studies.tuned.page`. (seed {about['seed']}, sober {about['sober']}, numpy {about['numpy']})",
    ]


def _line(row: dict[str, Any]) -> str:
    return (
        f"| {row['tuned']} | {int(row['n'])} | {int(row['c'])} | {row['truth']:.3f} | {row['naive_bias']:+.3f} | "
        f"{row['bias']:+.3f} ± {row['bias_error']:.3f} | {row['covers']:.3f} |"
    )


def main() -> None:
    rows, real = read_results(RESULTS, text=("tuned",)), read_results(REAL, text=("tuned", "n"))
    others = read_results(OTHERS, text=("tuned", "tables", "estimate"))
    back = read_results(BACK, text=("tuned", "n")), read_results(BACK_SETS)
    PAGE.write_text(page(rows, real, others, back, json.loads(RESULTS.with_suffix(".json").read_text())))


if __name__ == "__main__":
    main()
