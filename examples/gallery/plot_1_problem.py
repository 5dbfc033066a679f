"""
The problem, and the correction
===============================

Twenty simulated searches: 100 configurations on 60 samples, of which the best looking is picked. Because the data are
simulated, the true score of each pick is known.
"""

import matplotlib.pyplot as plt

import sobercv
from sobercv.testing import simulate

found = []
for seed in range(20):
    data = simulate.beta_accuracy(n=60, c=100, seed=seed)
    estimate = sobercv.bbc(data.y, data.predictions, data.metric, random_state=seed)
    found.append((estimate.naive, estimate.value, data.truth[estimate.winner]))
found.sort(key=lambda one: one[2])
claimed, honest, true = zip(*found, strict=True)

# %%
# Plain cross-validation is above the truth in nearly every search; the honest score is around it, a little below on
# average.

_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(claimed, "o", color="#b4481e", label="plain CV claims")
ax.plot(honest, "o", color="#1f5a93", label="sober says")
ax.plot(true, "_", ms=14, mew=2.5, color="#2e7d4f", label="true score")
ax.set(xlabel="search, by its true score", ylabel="accuracy of the winner", xticks=[])
ax.legend(frameon=False)

# %%
# The means:

n = len(found)
print(f"claimed {sum(claimed) / n:.3f}, honest {sum(honest) / n:.3f}, true {sum(true) / n:.3f}")
