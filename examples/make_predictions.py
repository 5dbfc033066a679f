"""Writes out-of-fold predictions of many nearest-neighbour models, as any tool could: one column a configuration."""

import sys

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120], y[:120]
    columns = {"benign": y}
    for k in range(1, 30, 2):
        for p in (1, 2):
            model = make_pipeline(StandardScaler(), KNeighborsClassifier(k, p=p))
            columns[f"k={k}, p={p}"] = cross_val_predict(model, X, y, cv=10, method="predict_proba")[:, 1]
    path = sys.argv[1] if len(sys.argv) > 1 else "oof.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    print(f"{path}: {len(y)} rows, {len(columns) - 1} configurations")
