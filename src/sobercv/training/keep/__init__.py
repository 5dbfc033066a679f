"""What is remembered of fits: in memory, and in a file that survives."""
