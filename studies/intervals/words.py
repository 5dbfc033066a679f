"""What docs/intervals.md says beside its numbers."""

from __future__ import annotations

#: Metrics whose widths can be averaged: they lie between 0 and 1.
KINDS = {"share": ("accuracy", "balanced_accuracy", "roc_auc", "roc_auc_ovr", "concordance_index")}

ABOUT = """An interval of 95 % should hold the winner's true score 95 times in 100. This page counts how often it
does, for the paper's percentile interval (`interval="percentile"`) and for `interval="wilson"`: {tables}
sub-samples of {sets} real data sets (N = {low} to {high}; 23 to 27 cheap configurations; ten folds; truth is the
score of the winner, refitted on all N rows, on up to 3,000 rows that no model saw), and {settings} simulated
settings ({repetitions} tables each). Every table is judged by each metric of its kind. Selection, correction and
interval are those of `sobercv.bbc` with its defaults.

The truth of real data is itself measured, on few rows for small sets; its standard error is added in quadrature to
the distance of a bound from the estimate. The column "as measured" does without that. "Width" is Wilson's by that
of the percentile interval (geometric mean over sets, sizes and metrics).

Made by `python -m studies.intervals --data ../shared/data --work FOLDER` (or `sober study intervals`), which keeps
its pieces in the work folder and goes on where it stopped; this page alone by `python -m studies.intervals.page`.
({versions})"""

METHOD = """Wilson's interval has three constants.

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
  ({name}), because a score errs more than any resample of its rows shows; the factor of Wilson's interval does not make
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
