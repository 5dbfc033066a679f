"""The scikit-learn face: where training and inference are wired together."""
