"""Section 6.2 of the paper: real data, real models, a hold-out set that knows the truth."""
