"""The paper, re-made, and what it left open: every number of the evidence pages."""
