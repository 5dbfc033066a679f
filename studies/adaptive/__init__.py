"""How optimistic corrected scores are when the configurations were proposed by a tuner that looks at scores."""
