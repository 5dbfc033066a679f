"""Write docs/tuned.md: the results of the study as a page.

Takes `results.csv`, gives Markdown; computes nothing but what is met.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..results_file import read_results
from .run import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "tuned.md"

HEAD = """# Whatever was tuned on the predictions is corrected

Who picks the best of many configurations reports too good a score. So does who tunes the *decision threshold* on the
same out-of-fold predictions, or puts an *ensemble* together from them. `sobercv.bbc` and `BBCSearchCV` do both again in
every resample, and judge them on the samples left out.

```python
import sobercv
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LogisticRegression())
grid = {"logisticregression__C": [0.001, 0.01, 0.1, 1]}

search = sobercv.BBCSearchCV(pipeline, grid, scoring="f1", cv=5, tune_threshold=True, n_bootstraps=200).fit(X, y)
print(search.estimate_)  # the honest score of the winner with its threshold
search.estimate_.decision.value  # the threshold; search.predict uses it

ensemble = sobercv.BBCSearchCV(
    pipeline, grid, scoring="roc_auc", cv=5, select=sobercv.greedy_ensemble(), n_bootstraps=200
).fit(X, y)
print(ensemble.estimate_)  # that of the mix, the best configuration alone beside it
```

| `select=` | what is selected | final model |
| --- | --- | --- |
| `best_with_threshold()` or `tune_threshold=True` | a configuration and its threshold | `FixedThresholdClassifier` |
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

Not possible, and said before anything is trained (E121): repeats with a threshold, `aggregate="fold"`, `by="fold"`,
`method="632+"`, dropping, and predictions that are read in blocks.
"""


def page(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """Give the page."""
    least, most = (pick(int(row["repetitions"]) for row in rows) for pick in (min, max))
    times = f"{least}" if least == most else f"{least} to {most}"
    off = [abs(row["bias"]) for row in rows]
    covers = [row["covers"] for row in rows]
    lines = [
        HEAD,
        "## Is it honest? Simulated, so that the truth is known\n",
        f"{times} tables a row; classes of 35 and 65 %; scores of all configurations share half of their noise; "
        "bias is the mean of estimate less truth of the final decision, with its standard error; coverage is that of "
        "the 95 % interval. The truth of a threshold is exact; that of a mix is measured on 4,000 new samples.\n",
        "| tuned | N | C | truth | naive bias | corrected bias | coverage |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_line(row) for row in rows),
        "",
        f"The largest corrected bias is {max(off):.3f}, where plain cross-validation is off by up to "
        f"{max(row['naive_bias'] for row in rows):.3f}. Wanted: at most .015 in every row; met in "
        f"{sum(value <= 0.015 for value in off)} of {len(rows)}. Coverage lies between {min(covers):.2f} and "
        f"{max(covers):.2f}; wanted: .93 to .98, met in {sum(0.93 <= value <= 0.98 for value in covers)} of "
        f"{len(rows)} (the standard error of a coverage of .95 is {(0.95 * 0.05 / least) ** 0.5:.3f} here).\n",
        "Where the bias is larger it is on the careful side: a resample holds 63 % of the distinct samples, so that "
        "its threshold is tuned on fewer, and F1 of few positives is low on average. The interval takes the correction "
        "to be uncertain by a fifth of its size (by half where a column alone is selected). That share was found on "
        "540 other tables of the same kind, thresholds at N = 60 and 150: with a half, 98 to 100 of 100 were covered, "
        "with a fifth 93 to 99. The interval also allows for cross-validated scores to err more than resamples show, "
        "which simulated ones do not. Real data have not been tried.\n",
        "Made by `python -m studies.tuned --work FOLDER`, which keeps its pieces in the work folder and goes on where "
        "it stopped; this page alone by `python -m studies.tuned.page`. "
        f"(seed {about['seed']}, sober {about['sober']}, numpy {about['numpy']})",
    ]
    return "\n".join(lines) + "\n"


def _line(row: dict[str, Any]) -> str:
    return (
        f"| {row['tuned']} | {int(row['n'])} | {int(row['c'])} | {row['truth']:.3f} | {row['naive_bias']:+.3f} | "
        f"{row['bias']:+.3f} ± {row['bias_error']:.3f} | {row['covers']:.2f} |"
    )


def main() -> None:
    rows = read_results(RESULTS, text=("tuned",))
    PAGE.write_text(page(rows, json.loads(RESULTS.with_suffix(".json").read_text())))


if __name__ == "__main__":
    main()
