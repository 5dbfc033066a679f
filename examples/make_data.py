"""Writes a table that ships with scikit-learn as CSV, for trying the command line: python examples/make_data.py"""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer

if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "breast_cancer.csv")
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.drop(columns="target")
    frame.insert(0, "diagnosis", data.target_names[data.target])
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False)
    print(f"{path}: {len(frame)} tumours, {frame.shape[1] - 1} measurements, diagnosis malignant or benign")
