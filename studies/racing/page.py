"""`python -m studies.racing.page`: make docs/racing.md and docs/racing-tables.md from the committed results.

Takes the results of all parts of the study, gives two pages; replays no race.
"""

from __future__ import annotations

import json

from ..pictures import DOCS
from ..results_file import read_results
from . import beside, full_tables, verdicts
from .rows import read
from .run import HERE

PAGE = """# Races: who may stop early, and what that does to the estimate
A race saves models by dropping configurations before the cross-validation ends. Two things can go wrong: the winner is
dropped, and the estimate turns optimistic, because what was dropped for its bad luck in this sample is no longer there
to win a resample. This page replays races on complete cross-validations, where both can be seen.

## In short
{short}

| you want | write |
| --- | --- |
| the default: few models, an estimate as without a race | nothing, or `drop="auto"` |
| fewest models, by AUC or accuracy; a winner about as good | `drop=sobercv.PredictiveDrop(0.015, zone=0.2)` |
| the paper's BCED-CV, as published | `drop="bced", count_dropped=False` |
| a promise: the winner is dropped with at most that chance | `drop=sobercv.BettingDrop(0.05)`, for means of losses |
| no race | `drop=None` |

## What was promised, and what was found
{promises}

"Errors" compare the estimate after a race, with the dropped, with that of the whole cross-validation on the same
tables: the mean difference of bias, and of squared errors, in standard errors of that difference. Within two is met,
and so is a bias that is smaller than without a race.

{missed}

## The rules
- **`PredictiveDrop(chance, zone)`** drops whoever has less than that chance to overtake the best (by more than `zone`
  standard errors) with the samples that are left. With a chance of 1 % it is the default (`drop="auto"`): from 20
  predictions on, or 50 where there are fewer than 80 samples. With a zone, from 30 predictions on.
- **The paper's rule** (`drop="bced"`) drops whoever is worse than the best in 99 % of the resamples, once 50 samples
  have predictions.
- **`BettingDrop(chance)`** drops the winner of the whole cross-validation with at most that chance; for means
  of losses.
- **`ConfidenceDrop`**, **`HoeffdingDrop`**, **`BernsteinDrop`**: tests of all pairs, and classical inequalities.

## Counting the dropped, and where it holds
With `count_dropped=True`, the default, a configuration c that left after n of N samples stays in the bootstrap. Its
lead over the winner in a resample is `lead + sqrt(n / N) (lead in the resample - lead)`, on the samples that it has; if
that makes it the best of the resample, it is judged in the same way on the samples left out. For those who finished,
this is BBC-CV. `count_dropped=False` is the paper's way. With groups, n and N are numbers of groups. After an early end
(Ctrl-C, a time limit) N is what the finishers have predicted until then. Where folds are drawn (`by="fold"`), n and N
are numbers of folds and the lead is a mean over folds; who left after one fold has no spread by folds and cannot win
there.

{dropped}

## Why this default
{verdicts}

## The chance, chosen on other data
The default is the largest of the chances {chances} that, on real data of N = 100 and 500, keeps the
winner in 90 % of the races and loses at most 0.1 standard errors of true score, by AUC and by accuracy. Each data set
judged with the chance that the other sets choose:

{left_out}

R2 and C-index had no part in that choice: on their sets the default is only judged.

## The zone, chosen on other data
With an indifference zone the winner may be another one that is about as good, so only the score that is lost and the
estimate are looked at. Of {zones} settings (chance, zone, predictions waited for) the one is taken that saves most
among those that lose at most 0.1 standard errors of true score and whose bias and RMSE are within two standard errors,
by AUC and by accuracy, at N = 100 and 500. Each data set judged with the setting that the other sets choose:

{zone_left_out}

The margins are narrow: {zone_words}
Place by place the bias is within two errors; on all tables together (last line) it is not: a zone makes the estimate a
little more optimistic, and on gina it shows. Some twenty other settings (Student's distribution instead of the
normal one, a chance that falls with the folds that are left) had been looked at on the same tables before, so a new
data set may lose a little more than this says.

## The guarantee of the betting rule
{guarantee}

## Races of others
{others}

### CVST
{cvst}

## Nobody waits
Workers that would be idle at the end of a round begin fits of later rounds, those first that are surest to survive:
processes of this machine, threads, dask's and ray's workers. (joblib's own `multiprocessing` backend ends a round as a
whole, so there they wait.) What was begun for a configuration that is then dropped is not looked at and counted apart
(`race_.n_fits_in_vain`), so that results are the same bits for one worker, two or 32, and after a kill
(`tests/training/test_ahead.py`, `tests/clusters`, `tests/faults`). Within a round the longest fits go first, once their
times are known; under a time limit the cheap ones do. What that saves stands in [benchmarks](benchmarks.md), "Idle
workers" (`python -m benchmarks idle`).

## How this was measured
"Fewer models" is a harmonic mean over tables, "true score lost" in standard errors of the winner's score. AUC and
accuracy: {configurations} configurations of scikit-learn's models, {folds} folds. R2 and C-index: 63 and 60 cheap
configurations (linear models, neighbours, kernels, trees, with all features, a third and an eighth of them). The truth
is the score on up to 1,500 other rows of the model trained on all N. [All tables](racing-tables.md) has every rule and
size.

Written by these commands; the data are public sets in `<name>.npz` files, which are not part of the project.
`../more-data` holds those that ship with packages ([intervals](intervals.md) says which; smarto and flchain are from
SurvSet, flchain without the chapter of the cause of death, which tells who died):

```bash
python -m studies.racing --data ../shared/data
python -m studies.racing.cheap --data ../shared/data ../more-data
python -m studies.racing.others_run --data ../shared/data ../more-data --samples 6
python -m studies.racing.dropped
python -m studies.racing.guarantee
python -m studies.racing.page
```
"""


def main() -> None:
    """Write both pages."""
    about = json.loads((HERE / "results.json").read_text())
    classes, cheap = read(HERE / "results.csv"), read(HERE / "results-cheap.csv")
    rows = [*classes, *cheap]
    page = PAGE.format(
        short=verdicts.in_short(rows),
        promises=verdicts.promises(rows),
        missed=verdicts.missed(rows) + "\n\n" + verdicts.near(cheap, read_results(HERE / "results-near.csv")),
        dropped=beside.dropped(read_results(HERE / "results-dropped.csv", text=("kind",))),
        verdicts=verdicts.verdicts(rows),
        chances=", ".join(verdicts.CHANCES),
        left_out=verdicts.left_out(classes),
        zones=len(verdicts.ZONES),
        zone_left_out=verdicts.zone_left_out(classes),
        zone_words=verdicts.zone_words(classes),
        guarantee=beside.guarantee(read_results(HERE / "results-guarantee.csv", text=("equal",))),
        others=beside.others(read(HERE / "results-others.csv")),
        cvst=beside.cvst(read_results(HERE / "results-cvst.csv")),
        configurations=about["configurations of real tables"],
        folds=about["folds"],
    )
    (DOCS / "racing.md").write_text(page)
    (DOCS / "racing-tables.md").write_text(full_tables.text(rows, about["configurations of real tables"]))


if __name__ == "__main__":
    main()
