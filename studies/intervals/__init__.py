"""Do intervals keep their promise? Simulated tables with known truth, real ones judged on rows that no model saw."""
