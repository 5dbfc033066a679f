"""
The protocols side by side
==========================

Plain cross-validation, Tibshirani and Tibshirani's correction, nested cross-validation, BBC and BCED on the same splits: what
each says, and how many models it trained.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import sobercv

X, y = load_breast_cancer(return_X_y=True)
grid = {"n_neighbors": [1, 2, 3, 5, 8, 12, 20, 30], "p": [1, 2]}
print(sobercv.compare(KNeighborsClassifier(), grid, X[:150], y[:150], cv=5, scoring="roc_auc"))
