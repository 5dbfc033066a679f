"""
What another tool predicted
===========================

Out-of-fold predictions of any tool, one column per configuration, are all that `sobercv.bbc` needs. The columns of a
data frame name the configurations.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

import sobercv

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:120], y[:120]
columns = pd.DataFrame(
    {
        f"k={k}, p={p}": cross_val_predict(KNeighborsClassifier(k, p=p), X, y, cv=5, method="predict_proba")[:, 1]
        for k in (1, 3, 5, 7, 9, 15, 25)
        for p in (1, 2)
    }
)
estimate = sobercv.bbc(y, columns, "roc_auc", random_state=0)
print(estimate)

# %%
# How often each configuration won: an unstable choice has many bars.

order = np.argsort(-estimate.win_counts)[:8]
_, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.barh([columns.columns[i] for i in order], estimate.win_counts[order] / 10, color="#1f5a93")
ax.invert_yaxis()
ax.set(xlabel="won, % of the resamples")
