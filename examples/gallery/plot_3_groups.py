"""
Rows of one patient
===================

Forty patients, four samples each. Treated as 160 patients, their score is too good and the interval too narrow; with
`groups=` the bootstrap draws patients.
"""

import matplotlib.pyplot as plt
import numpy as np

import sobercv

rng = np.random.default_rng(2)
patients = np.repeat(np.arange(40), 4)
y = rng.integers(0, 2, 40)[patients]
of_patient = rng.normal(size=(40, 15))[patients]  # a patient's four samples err alike
scores = 0.8 * y[:, None] + of_patient + 0.3 * rng.normal(size=(160, 15))

as_rows = sobercv.bbc(y, scores, "roc_auc", random_state=0)
as_patients = sobercv.bbc(y, scores, "roc_auc", groups=patients, random_state=0)
print(as_patients)

# %%
# The intervals:

_, ax = plt.subplots(figsize=(7, 2.2), layout="constrained")
for i, (name, found) in enumerate([("160 rows", as_rows), ("40 patients", as_patients)]):
    ax.plot(found.interval, [i, i], lw=3, color="#8fb3d9", solid_capstyle="round")
    ax.plot(found.value, i, "o", color="#1f5a93")
    ax.text(found.value, i + 0.15, f"{name}: {found.value:.2f}", ha="center")
ax.set(yticks=[], ylim=(-0.5, 1.6), xlabel="AUC of the winner")
