"""Numbers that a rebuilding must not change: recorded once, compared in every run."""
