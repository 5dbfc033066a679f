"""The study of races: drop rules and the corrections that go with them, on simulated and on real tables."""
