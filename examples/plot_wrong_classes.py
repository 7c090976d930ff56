"""
Which digits are labelled wrongly?
==================================

One image in ten of the handwritten digits gets a wrong class.
:class:`~demurk.audit.LabelAudit` finds most of them again, and says which class each
image probably has.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Wrong classes
# -------------
# Every tenth image, on average, is given any other class.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from demurk.audit import LabelAudit

quick = os.environ.get("DEMURK_QUICK") == "1"
X, true = load_digits(return_X_y=True)
if quick:
    X, true = X[:500], true[:500]
rng = np.random.RandomState(0)
moved = rng.random_sample(len(true)) < 0.1
given = np.where(moved, (true + rng.randint(1, 10, len(true))) % 10, true)

# %%
# The audit
# ---------
# Every class is predicted from the other rows; a small model of the noise says how many
# are wrong.

audit = LabelAudit(random_state=0).fit(X, given)
print(audit.message_)
print(f"{moved.sum()} are wrong.")

# %%
# The ten most suspect
# --------------------
# What was given, and what it probably is.

suspects = audit.suspects(10)
figure, axes = plt.subplots(2, 5, figsize=(8, 4.4), layout="constrained")
for axis, row in zip(axes.flat, suspects.to_dict("records")):
    axis.imshow(X[row["row"]].reshape(8, 8), cmap="gray_r")
    arrow = "\N{RIGHTWARDS ARROW}"
    axis.set_title(f"{row['given']} {arrow} {row['suggested']}", fontsize=20)
    axis.axis("off")
plt.show()

# %%
# What is left after correction
# -----------------------------
# Rows are corrected that are wrong with a probability above 0.8.

left = audit.corrected(0.8) != true
print(f"Wrong before: {moved.sum()}, after: {left.sum()}")

# %%
# Which class is taken for which
# ------------------------------
# Had 0 been written where 6 was meant, a cell beside the diagonal would be dark. Here
# all others are given alike.

print(audit.noise_)
plt.figure(figsize=(4, 3.5))
plt.imshow(audit.noise_matrix_, cmap="Blues")
plt.xlabel("given class")
plt.ylabel("true class")
plt.colorbar(label="share")
plt.show()
