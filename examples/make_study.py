"""Write a small clinical study whose truth is known: 80 patients, 300 measurements, two outcomes.

The patients are simulated, and say so: 30 measurements are drawn from a model fitted to scikit-learn's breast-cancer
table (the means of both diagnoses and the correlations of its measurements), with most of the difference between the
diagnoses taken away; 270 more have the same correlations and nothing to do with the outcome. Because the model is
known, as many further patients can be drawn as are needed to see how good a trained model really is.

    python examples/make_study.py study.csv                       the study
    python examples/make_study.py study.csv --new new.csv         and 5,000 further patients of the same kind
"""

import argparse
import csv

import numpy as np
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

SIGNAL = 0.3  # share of the real difference between the diagnoses that is left
BLOCKS = 10  # of 30 measurements each; the first one knows the outcome
SICK = 0.4


def patients(n, rng):
    """Draw patients from the fitted model: measurements [n, 300] and outcomes [n]."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(np.log1p(X))
    sick = y == 0
    difference = X[sick].mean(axis=0) - X[~sick].mean(axis=0)
    within = X - np.where(sick[:, None], X[sick].mean(axis=0), X[~sick].mean(axis=0))
    root = np.linalg.cholesky(ledoit_wolf(within)[0])
    outcome = rng.random(n) < SICK
    blocks = [rng.normal(size=(n, X.shape[1])) @ root.T for _ in range(BLOCKS)]
    blocks[0] += SIGNAL * np.where(outcome[:, None], difference, 0.0)
    return np.hstack(blocks), outcome


def write(path, n, rng):
    X, outcome = patients(n, rng)
    names = [f"marker_{i + 1:03d}" for i in range(X.shape[1])]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["relapse", *names])
        for sick, row in zip(outcome, X, strict=True):
            table.writerow(["yes" if sick else "no", *(f"{v:.4g}" for v in row)])
    print(f"{path}: {n} simulated patients, {X.shape[1]} measurements, {int(outcome.sum())} relapses")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", help="where the study is written")
    parser.add_argument("--new", help="where further patients are written")
    parser.add_argument("--patients", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write(options.study, options.patients, np.random.default_rng([options.seed, 0]))
    if options.new:
        write(options.new, 5000, np.random.default_rng([options.seed, 1]))
