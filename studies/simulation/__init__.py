"""Section 6.1: simulated predictions with known truth, 196 settings."""
