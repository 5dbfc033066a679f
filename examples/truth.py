"""How good the final model of the demo really is: on 5,000 further patients, beside what was claimed before.

python examples/truth.py demo-run          after `make demo` has written the study, the run and the predictions
"""

import csv
import json
import sys
from pathlib import Path

from sklearn.metrics import roc_auc_score


def column(path, name):
    with open(path, newline="", encoding="utf-8") as file:
        return [row[name] for row in csv.DictReader(file)]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    score = json.loads((folder / "run" / "results.json").read_text())["score"]
    relapsed = [word == "yes" for word in column(folder / "new.csv", "relapse")]
    truth = roc_auc_score(relapsed, [float(p) for p in column(folder / "predicted.csv", ".pred_yes")])
    low, high = score["interval"]
    print("\nThe study is simulated, so the truth is known:\n")
    print(f"  plain cross-validation claims  {score['naive']:.3f}")
    print(f"  sober says                     {score['value']:.3f}   95 % interval {low:.3f} to {high:.3f}")
    print(f"  5,000 further patients say     {truth:.3f}\n")
