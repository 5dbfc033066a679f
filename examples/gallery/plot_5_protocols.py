"""
The protocols side by side
==========================

Plain cross-validation, Tibshirani and Tibshirani's correction, nested cross-validation, BBC and BCED on the same
splits: what each says, and how many models it trained.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import sobercv

X, y = load_breast_cancer(return_X_y=True)
grid = {"n_neighbors": [1, 2, 3, 5, 8, 12, 20, 30], "p": [1, 2]}
table = sobercv.compare(KNeighborsClassifier(), grid, X[:150], y[:150], cv=5, scoring="roc_auc")
print(table)

# %%
# The same as a picture.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
for i, row in enumerate(table.rows):
    if row.interval is not None:
        left.plot(row.interval, [i, i], lw=3, color="#8fb3d9", solid_capstyle="round")
    left.plot(row.score, i, "o", color="#1f5a93")
    right.barh(i, row.models, color="#1f5a93")
left.set(yticks=range(len(table.rows)), yticklabels=[row.protocol for row in table.rows], xlabel="AUC")
left.invert_yaxis()
right.set(xlabel="models trained")
