"""Ratios measured side by side in one run: sober against what a user would write instead, and against the machine.

`make bench` runs all sections (`kernels`, `growth`, `startup`); `python -m benchmarks --help` tells the rest.
"""
