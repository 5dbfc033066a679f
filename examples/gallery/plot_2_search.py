"""
A search, its race and its charts
=================================

`BBCSearchCV` takes the place of `GridSearchCV`. Hopeless configurations are dropped early; the winner's charts come
with the search.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sobercv

X, y = load_breast_cancer(return_X_y=True)
pipeline = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
grid = {"logisticregression__C": [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]}
search = sobercv.BBCSearchCV(pipeline, grid, scoring=["roc_auc", "neg_log_loss"], cv=5).fit(X[:250], y[:250] == 0)
print(search.estimate_["roc_auc"])

# %%
# The race: how many configurations were left after each fold, and the scores of the resamples.

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
search.plot.race(ax=left)
search.plot.draws(ax=right)

# %%
# The winner out of sample: ROC with its band, and calibration.

_, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
search.plot.roc(ax=left)
search.plot.calibration(ax=right)
