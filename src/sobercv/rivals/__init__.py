"""The methods of the paper's related work, for comparison: other protocols and other drop rules, one file each.

Protocols: `from_predictions` (plain cross-validation, TT, nested selection), `nested_cv` (by training),
`weighted_means` (WMC, WMCS), `power_law` (IPL); `compare` runs them side by side. `drop_rules`: Hoeffding, Bernstein,
betting, confidence. Nothing outside of this package needs them.
"""
