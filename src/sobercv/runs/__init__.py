"""Runs: one job on a table, from its settings to a folder with everything that came out of it."""
