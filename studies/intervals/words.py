"""What the evidence page of intervals says beside its numbers."""

from __future__ import annotations

#: Metrics whose widths can be averaged: they lie between 0 and 1.
KINDS = {"share": ("accuracy", "balanced_accuracy", "roc_auc", "roc_auc_ovr", "concordance_index")}

DERIVED = """\
Let x be the true score of the winner, low and high the ends of the metric's range, and `naive` its plain CV score.

1. **Centre.** V is BBC's value, W the mean score of the fixed winner on the samples left out, which should be `naive`:
   c = V - (W - naive), at most `naive`, removes that part of the noise. BBC is slightly pessimistic and
   [.632+](../decisions.md), computed from c, slightly optimistic; the centre m lies halfway between them.
2. **Equation.** A bound x solves (m - x)^2 = z^2 (v(x) + d^2). As in Wilson's interval, v is the variance at the bound,
   so it vanishes at the ends of the range and no bound lies beyond them.
3. **Variance.** Two ends: v(x) = (high - x)(x - low) / n. One end (an error): v(x) = (high - x)^2 / n, solved on the
   log scale. No end: v = 1 / n.
4. **Size n.** The bootstrap variance of each configuration's score is compared with that shape; configurations count
   by how close they score to the winner. The winner's own n is used where it is smaller. Where nothing varies, n is the
   number of samples, groups or events. Groups and folds: n is multiplied by (units - 1) / units.
5. **Excess.** Models share training samples, which no resample of predictions shows: n is divided by **{excess:g}**.
6. **Doubt** about the correction: d = **{doubt:g}** (naive - c); **{tuned:g}** for a tuned threshold or ensemble.
7. **Quantile z.** Normal for two ends and single samples; otherwise Student's with Satterthwaite's degrees of freedom,
   2 units / (kurtosis - 1), between **{fewest:g}** and units - 1. Folds: units - 1, times **{folds:g}** for a score
   with two ends ([why](fold-scores.md)).
8. **Learning.** The winner is trained on all samples, the judged models on a share f (.9 for ten folds). An upper end u
   becomes high - (high - u) f^{learning:g}. Lower ends stay.
9. The interval is widened to hold the reported value, if needed.

For one fixed model, accuracy and single samples this is Wilson's interval. `Estimate.bounds` holds m, n, d^2, the
degrees of freedom and f^{learning:g}. Code: `inference/intervals.py`; slow twin: `tests/oracles/calibrated.py`."""

METHOD = """\
- **{doubt:g}** (doubt) was chosen on simulated tables alone: with .29 upper 95 % bounds hold .86 in the worst
  setting, with {doubt:g} .94.
- **{learning:g}** (learning) is the usual rate of learning curves, not fitted. Without it the mean over sets is .942
  instead of .954.
- **{excess:g}** (excess) was chosen on real data among 1, 1.1, ..., 2 as the value whose mean coverage over data sets
  is closest to nominal, over four levels. The first rule (smallest value with at least .95) would have chosen 1.3; this
  rule was adopted when its results were known, so expect slightly less on other data."""

FAILS = """**Where it fails.**

- **Many classes, few rows** (vowel: 11 classes, 200 rows). The refitted winner is better than the judged models, which
  saw 10 % fewer rows; with 18 rows per class that is a steep part of the learning curve. Lower bounds hold.
- **Squared errors with heavy tails** (randhie_visits, fair_affairs). The few rows that make the mean are mostly not in
  the sample.
- **Lower bounds where there is little to learn** (breast_gravier, jasmine, madelon: .88 to .91).
- **99 %** intervals cover .986 in the mean of sets."""

ALTERNATIVES = """**Also tried.** A lower bound by maxT holds {maxT} in the mean of sets and {worst} in the worst,
because cross-validated scores err more than any resample of rows shows. A factor estimated from each table's repeats
lies between {low:.2f} and {high:.2f} on {sets} sets and does not know where the score errs (rank correlation with the
right factor: {agree:.2f}), so one factor serves all."""

#: Where the data sets come from: each is a NAME.npz file with `X` and `y` (or `time` and `event`).
SOURCES = (
    ("AutoML and agnostic-learning challenges (OpenML)", "sylvine, jasmine, madeline, gina, ada, sylva, hiva"),
    ("NIPS 2003", "madelon, dexter, gisette"),
    ("20 newsgroups", "basehock, pcmac"),
    ("UCI", "farm_ads"),
    ("R package modeldata", "cells; two of its columns also serve as regression targets"),
    ("scikit-learn", "breast_cancer_wdbc, diabetes, digits"),
    ("scikit-survival", "gbsg2, flchain"),
    ("gene expression studies", "breast_gravier, prostate_singh, alzheimers, dlbcl_rosenwald"),
    ("plotnine", "diamonds"),
    ("statsmodels", "fair, randhie"),
    ("lifelines", "actg175, regimes"),
    ("SurvSet", "rott2, support2"),
    ("R package mlbench", "satellite, vowel, letterrecognition, dna"),
)
