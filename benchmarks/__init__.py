"""Ratios measured side by side in one run: sober against what a user would write instead, and against the machine."""
