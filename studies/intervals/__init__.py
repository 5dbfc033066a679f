"""Do intervals keep their promise? Simulated tables with known truth, and real tables judged on rows that no model saw."""
