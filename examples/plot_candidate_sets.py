"""
One true class among several candidates
=======================================

"A three, a five or an eight": each handwritten digit comes with its true class and two
false candidates, and nobody says which is which. :class:`~demurk.partial_label.IPAL`
finds out, and learns to tell new digits; on the command line it is
``demurk predict digits.csv --candidates digit``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----

import os
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from demurk.labels import add_candidates
from demurk.partial_label import IPAL, SURE, PLkNN
from demurk.projection import CENDA

quick = os.environ.get("DEMURK_QUICK") == "1"
images, truth = load_digits(return_X_y=True)
if quick:
    images, truth = images[:300], truth[:300]
X = StandardScaler().fit_transform(images)
candidates = add_candidates(truth, n_extra=2, random_state=0).labels
rows, new = train_test_split(np.arange(len(X)), test_size=0.3, random_state=0)

# %%
# Which candidate is true?
# ------------------------
# Rows that lie close together have candidates in common, and the true one is always
# among them. ``label_distributions_`` says how much is believed in each.

model = IPAL().fit(X[rows], candidates[rows])
found = model.label_distributions_.argmax(axis=1)
print(f"True candidate found: {np.mean(found == truth[rows]):.1%} of the rows")
print(f"New digits told right: {model.score(X[new], truth[new]):.1%}")

figure, axes = plt.subplots(2, 5, figsize=(8, 4.2), layout="constrained")
for axis, k in zip(axes.flat, range(10)):
    axis.imshow(images[rows[k]].reshape(8, 8), cmap="gray_r")
    given = " ".join(map(str, np.flatnonzero(candidates[rows[k]])))
    wrong = found[k] != truth[rows[k]]
    axis.set_title(
        f"{given}\N{RIGHTWARDS ARROW}{found[k]}",
        color="#C00000" if wrong else "black",
        fontsize=17,
    )
    axis.axis("off")
plt.show()

# %%
# When most features are noise
# ----------------------------
# With 100 features of pure noise beside the pixels, neighbours are worth less.
# :class:`~demurk.projection.CENDA` looks for directions in which candidates agree. It
# sees the training rows only; its confidences can also be the votes of the neighbours.

noise = np.random.RandomState(0).normal(size=(len(X), 100))
murky = np.hstack([X, noise])
reducer = CENDA(max_iter=20, rescale=True)
with warnings.catch_warnings():
    # The turns need not settle for the directions to be good.
    warnings.simplefilter("ignore", ConvergenceWarning)
    reducer.fit(murky[rows], candidates[rows])
reduced = reducer.transform(murky)
learners = {"PL-kNN": PLkNN(), "IPAL": IPAL(), "SURE": SURE()}
views = {"raw features": murky, f"after CENDA, {reduced.shape[1]} directions": reduced}
scores = {
    name: [
        clone(learner).fit(Z[rows], candidates[rows]).score(Z[new], truth[new])
        for learner in learners.values()
    ]
    for name, Z in views.items()
}
voter = PLkNN(vote="confidence")
confidences = reducer.label_distributions_
voter.fit(reduced[rows], candidates[rows], label_distributions=confidences)

places = np.arange(len(learners))
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for shift, color, (name, values) in zip(
    (-0.2, 0.2), ("#56B4E9", "#0072B2"), scores.items()
):
    ax.bar(places + shift, values, 0.38, label=name, color=color)
ax.axhline(
    voter.score(reduced[new], truth[new]),
    color="#444444",
    ls=":",
    label="PL-kNN with CENDA's confidences as votes",
)
ax.set(xticks=places, xticklabels=learners, ylim=(0, 1), ylabel="accuracy, new digits")
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
