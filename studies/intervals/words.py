"""What docs/intervals.md says beside its numbers."""

from __future__ import annotations

#: Metrics whose widths can be averaged: they lie between 0 and 1.
KINDS = {"share": ("accuracy", "balanced_accuracy", "roc_auc", "roc_auc_ovr", "concordance_index")}

ABOUT = """An interval of 95 % should hold the winner's true score 95 times in 100. This page counts how often it
does, for the paper's percentile interval (`interval="percentile"`) and for `interval="calibrated"`: {tables}
sub-samples of {sets} real data sets (N = {low} to {high}; 23 to 27 cheap configurations; ten folds; truth is the
score of the winner, refitted on all N rows, on up to 3,000 rows that no model saw), and {settings} simulated
settings ({repetitions} tables each). Every table is judged by each metric of its kind. Selection, correction and
interval are those of `sobercv.bbc` with its defaults.

The truth of real data is itself measured, on few rows for small sets; its standard error is added in quadrature to
the distance of a bound from the estimate. The column "as measured" does without that. "Width" is that of
the calibrated interval divided by that of the percentile interval (geometric mean over sets, sizes and metrics).

Made by `python -m studies.intervals --data ../shared/data --work FOLDER`, which keeps
its pieces in the work folder and goes on where it stopped; this page alone by `python -m studies.intervals.page`.
({versions})"""

DERIVED = """\
Let x be the true score of the winner, low and high the ends of the metric's range, and "naive" its plain
cross-validated score.

1. **The centre.** BBC's value V is the mean over resamples of what their winners score on the samples left out.
   Part of its noise is known: the winner itself scores W on those samples, on average, and should score "naive". So
   c = V - (W - naive), not above naive. BBC is too strict (a resample holds 63 % of the samples) and
   [.632+](decisions.md), computed from c, is too kind: the centre m lies halfway between the two.
2. **The equation.** A bound is a score that would explain m: (m - x)^2 = z^2 (v(x) + d^2). As in Wilson's interval
   for a share, v is the variance at the bound and not at the estimate, so that it falls to nothing at the ends of
   the range, and no bound lies beyond them.
3. **The variance.** A metric with two ends behaves like a share: v(x) = (high - x)(x - low) / n. An error (one end)
   has v(x) = (high - x)^2 / n, and the equation is solved on the scale of logarithms. Without ends v = 1 / n.
4. **The size n** is what the bootstrap says: the variance s_i^2 of each configuration's score over resamples is
   compared with the shape above at its score; configurations count by exp(-((score_i - .632+) / s)^2 / 2), where
   s^2 is the larger of the winner's and the mean variance. The winner's own ratio may be smaller and is then taken:
   a winner looks steady by luck. Where nothing varies (all samples right), n is the number of samples, groups or
   events. Groups and folds are few: n is multiplied by (units - 1) / units.
5. **The excess.** Models share training samples, which no resample of predictions shows: n is divided by
   **{excess:g}**.
6. **The doubt** about the correction is d = **{doubt:g}** (naive - c); **{tuned:g}** where a threshold or a mix was
   tuned.
7. **The quantile z** is normal where the variance follows from the score (two ends, single samples). Otherwise it
   is Student's with the degrees of freedom of Satterthwaite, 2 units / (kurtosis - 1) for what single units add to the
   score, at most units - 1 and at least **{fewest:g}**. For folds it has units - 1 of them, **{folds:g}** times
   as many for a score with two ends ([why](fold-scores.md)).
8. **Learning.** The winner is trained on all samples, the models that were judged on a share f of them (.9 for ten
   folds). What a model loses falls with the power **{learning:g}** of its samples, so that an upper end u becomes
   high - (high - u) f^{learning:g}. Lower ends stay.
9. The interval is widened to hold the reported value, if it does not.

With one configuration of fixed models (no excess, no doubt, f = 1), accuracy and single samples this is Wilson's
interval itself. `Estimate.bounds` holds m, n, d^2, z's degrees of freedom and f^{learning:g}; the code is
`inference/intervals.py`, its slow twin `tests/oracles/calibrated.py`."""

METHOD = """Of its five constants three matter most.

- **{doubt:g}**: the correction for selection is in doubt by so many times itself. Chosen on the simulated tables
  alone, where with .29 (the standard deviation of an even spread) upper bounds of 95 % hold .86 in the worst
  setting, and .94 with {doubt:g}.
- **1/2**: what a model loses falls with the root of the rows that it learns from, so that upper ends are moved by
  what the winner may still learn from the rows that it was not trained on: 5 % of its distance from a perfect
  score, for ten folds. This is the usual rate of learning curves, not fitted. It was added because misses with many
  classes lay above: without it vowel covers .78 instead of .88 and the mean over sets is .942 instead of .954; with
  rate 1 they are .91 and .959.
- **{excess:g}**: a cross-validated score errs more, in variance, than a bootstrap of its samples shows. Chosen on
  real data, as the value of 1, 1.1, ..., 2 that brings the mean over data sets closest to what is promised:
  intervals and lower bounds, at the four levels. Had it been chosen as the smallest that keeps both at .95 or more
  at the level of 95 %, it would be 1.3: the row below says what that costs.
  That was the first rule; this one was taken when its results were known, and the shift of upper ends by 1/2 was
  added on these same tables. So leaving a set out judges the factor only, given the two: read the numbers of this
  page as those of a method that has seen these sets, and expect a little less on others.

The mean over data sets for each value, two-sided and lower:"""

FAILS = """Where it fails, and why:

- **Many classes and few rows** (vowel: 11 classes, N = 200; satellite and dna a little). Nearly all misses lie
  above, most of them of ROC AUC and balanced accuracy: the winner, refitted on all N rows, is better than the ten
  models that were trained on nine tenths of them. With 18 rows a class that is a steep piece of the learning curve,
  steeper than the root that upper ends allow for, and no resample of predictions can see it. The percentile
  interval covers as seldom. Lower bounds hold.
- **Squared errors with heavy tails** (randhie_visits, fair_affairs: counts with rare large values; simulated errors
  with three degrees of freedom). The few rows that make the mean are mostly not in the sample, so that the truth
  lies below. Fewer degrees of freedom where the kurtosis is large help (the percentile interval misses more often),
  at the price of wider intervals; what was never seen they cannot know.
- **Lower bounds where there is little to learn** (breast_gravier, jasmine, madelon: .88 to .91). The winner of many
  weak configurations is less good than the correction says, which is taken from resamples whose models had seen the
  rows left out. breast_gravier has few sub-samples and a hold-out of some hundred rows, so that a miss more or less
  moves its number by .01 to .03.
- **99 %**: .986 in the mean. The quantiles are normal ones where a metric has two ends."""

ALTERNATIVES = """Two ideas that looked better on paper; metrics with two ends, 95 %, by
`python -m studies.intervals.alternatives --work FOLDER` in the work folder of the study.

- **A lower bound by maxT**: the winner's score minus its standard error times a quantile of the largest studentised
  deviation of any configuration. For fixed models it holds whatever is selected, and it lies closer to the truth (the
  columns "is off by"). Of cross-validated models it holds {maxT} in the mean of the data sets and {worst} in the worst
  ({name}), because a score errs more than any resample of its rows shows; the factor of 1.2 does not make
  up for it where rows are few. So there is no `bound="maxT"`: from some hundreds of rows on there is little to gain,
  and below that it does not keep its promise.
- **A factor of one's own**, estimated from the table as 1 + (variance between repeats) / (variance over resamples). It
  lies between {low:.2f} and {high:.2f} in the mean of each of {sets} data sets, and it does not know where the score
  errs: its rank correlation with the factor that would have been right is {agree:.2f}. Repeats share the rows, and
  what all models owe to these rows is the larger part of the error. So one factor serves all."""

SOURCES = """## Where the data come from
Most sets are the NAME.npz files of the folder that `--data` names: sylvine, jasmine, madeline, gina, ada, sylva,
hiva (AutoML and agnostic-learning challenges, OpenML), madelon, dexter, gisette (NIPS 2003), basehock, pcmac (20
newsgroups), farm_ads (UCI), cells (R package modeldata; two of its columns also serve as regression targets),
breast_cancer_wdbc and diabetes (scikit-learn), gbsg2 (scikit-survival), and the gene sets breast_gravier,
prostate_singh, alzheimers and dlbcl_rosenwald. The others ship with packages: digits (scikit-learn), flchain
(scikit-survival), diamonds (plotnine), fair and randhie (statsmodels), actg175 and regimes (lifelines), rott2 and
support2 (SurvSet), satellite, vowel, letterrecognition and dna (R package mlbench). To use them, save each as
NAME.npz with `X` and `y` (or `time` and `event`) and pass that folder as a second `--data`; sets that are not at
hand are left out. The rows hold no weights and no groups; groups, repeats and correlated configurations are among
the simulated settings."""
