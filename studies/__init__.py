"""The paper, re-made: every number of its section 6 as a check with a verdict. Uses sober's public API only."""
