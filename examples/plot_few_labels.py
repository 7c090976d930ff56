"""
Only one row in twenty is labelled
==================================

Somebody has typed in what 90 of 1,797 handwritten digits show, and some of it is wrong.
What are the others? Two ways: learn from the 90 and predict
(:class:`~demurk.multilabel.MurkyClassifier`, ``demurk predict``), or let the labels
spread from neighbour to neighbour (:class:`~demurk.propagation.NoisyLabelPropagation`,
``demurk predict --method SemiSupervisedMLkNN``). Which is better depends on the data,
and the labelled rows themselves can tell.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----
# -1 stands for "nobody looked".

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from demurk.model_selection import LabeledKFold
from demurk.multilabel import MurkyClassifier
from demurk.propagation import NoisyLabelPropagation

quick = os.environ.get("DEMURK_QUICK") == "1"
X, true = load_digits(return_X_y=True)


def typed_in(share, seed, wrong=0.1):
    """Classes of a share of the rows, a tenth of them wrong; -1 for the others."""
    rng = np.random.RandomState(seed)
    known = rng.permutation(len(true))[: round(share * len(true))]
    y = np.full(len(true), -1)
    y[known] = true[known]
    slips = known[: round(wrong * len(known))]
    y[slips] = (true[slips] + rng.randint(1, 10, len(slips))) % 10
    return y


y = typed_in(0.05, seed=0)
print(f"{(y >= 0).sum()} labels for {len(y)} rows, {(true != y)[y >= 0].sum()} wrong")

# %%
# Predict the others
# ------------------
# A forest can use the labelled rows only. The other two also look at rows without
# labels, and expect that some labels are wrong.


def forest(y):
    known = y >= 0
    model = RandomForestClassifier(300, random_state=0).fit(X[known], y[known])
    return model.predict(X)


def murky(y):
    return MurkyClassifier("fast", random_state=0).fit(X, y).predict(X)


def spread(y):
    return NoisyLabelPropagation().fit(X, y).transduction_


ways = {
    "random forest": forest,
    "MurkyClassifier": murky,
    "NoisyLabelPropagation": spread,
}
for name, way in ways.items():
    right = (way(y) == true)[y < 0].mean()
    print(f"{name:22} {right:.1%} of the unlabelled rows right")

# %%
# Ten that nobody had looked at
# -----------------------------
# A wrong prediction is red.

found = spread(y)
figure, axes = plt.subplots(2, 5, figsize=(8, 4.4), layout="constrained")
for axis, row in zip(axes.flat, np.flatnonzero(y < 0)):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    wrong = found[row] != true[row]
    axis.set_title(found[row], color="#C00000" if wrong else "black", fontsize=20)
    axis.axis("off")
plt.show()

# %%
# Which way for my table?
# -----------------------
# Nobody needs the truth to decide: hide a fifth of the labels at a time
# (:class:`~demurk.model_selection.LabeledKFold` keeps the unlabelled rows for training)
# and see which way finds them again. Wrong labels lower all three figures alike.

folds = LabeledKFold(5, shuffle=True, random_state=0)
for name, way in ways.items():
    hits = []
    for train, test in folds.split(X, y):
        seen = np.full(len(y), -1)
        seen[train] = y[train]
        hits.extend(way(seen)[test] == y[test])
    print(f"{name:22} finds {np.mean(hits):.0%} of the hidden labels again")

# %%
# How many labels are enough?
# ---------------------------
# Images of digits lie close to others of the same digit, so neighbours are worth a lot
# as long as labels are few. In tables without such a shape the order is often another:
# see :ref:`murky_classifier`.

shares = [0.05, 0.2] if quick else [0.02, 0.05, 0.1, 0.3]
seeds = range(1 if quick else 3)
colors = {"random forest": "#888888", "MurkyClassifier": "#0072B2"}
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, way in ways.items():
    means = []
    for share in shares:
        given = [typed_in(share, seed) for seed in seeds]
        means.append(np.mean([(way(own) == true)[own < 0].mean() for own in given]))
    color = colors.get(name, "#D55E00")
    ax.plot(range(len(shares)), means, "o-", lw=2, color=color, label=name)
ax.set_xticks(range(len(shares)), [f"{share:.0%}" for share in shares])
ax.set(xlabel="rows that are labelled, a tenth of them wrong", ylabel="accuracy")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
