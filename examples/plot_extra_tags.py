"""
More tags than true
===================

Tags pile up: nobody takes a wrong one away. Here every handwritten digit has all its
true tags ("three", "prime", "curved", ...) and as many false ones. Two questions: which
tags of these rows are extras, and which tags belong to new rows? On the command line:
``demurk clean digits.csv --tags keywords --noise extra``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----
# Eighteen tags; all of a digit's own are given, and as many others at random.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from demurk.audit import LabelAudit
from demurk.labels import add_extra_labels
from demurk.metrics import noise_report, ranking_loss
from demurk.multilabel import MurkyClassifier
from demurk.partial_multilabel import PMLLCom

quick = os.environ.get("DEMURK_QUICK") == "1"
words = "zero one two three four five six seven eight nine".split()
TAGS = {word: [digit] for digit, word in enumerate(words)} | {
    "even": [0, 2, 4, 6, 8],
    "prime": [2, 3, 5, 7],
    "square": [0, 1, 4, 9],
    "large": [5, 6, 7, 8, 9],
    "looped": [0, 6, 8, 9],
    "curved": [0, 2, 3, 5, 6, 8, 9],
    "straight": [1, 4, 5, 7],
    "turns": [0, 1, 8],
}
names = np.array(list(TAGS))
images, digit = load_digits(return_X_y=True)
if quick:
    images, digit = images[:300], digit[:300]
Y = np.column_stack([np.isin(digit, own) for own in TAGS.values()]).astype(int)
X = StandardScaler().fit_transform(images)
rows, new = train_test_split(np.arange(len(X)), test_size=0.3, random_state=0)
tags = add_extra_labels(Y[rows], 1.0, random_state=0).labels

# %%
# Which tags are extras?
# ----------------------
# :class:`~demurk.audit.LabelAudit`, told that labels can only be too many.

audit = LabelAudit("extra", random_state=0).fit(X[rows], tags)
wrong = np.where(tags == 1, audit.wrong_proba_, 0.0)
figure, axes = plt.subplots(1, 3, figsize=(9, 5), layout="constrained")
for axis, row in zip(axes, range(3)):
    axis.imshow(images[rows[row]].reshape(8, 8), cmap="gray_r")
    axis.axis("off")
    own = sorted(np.flatnonzero(tags[row]), key=lambda tag: -wrong[row, tag])
    for place, tag in enumerate(own):
        extra = place < len(own) // 2
        axis.text(
            (0.02, 0.52)[place % 2],
            -0.12 - 0.13 * (place // 2),
            f"{'−' if extra else '+'} {names[tag]}",
            transform=axis.transAxes,
            fontsize=17,
            color="#C04000" if extra else "#00694C",
        )
plt.show()

# %%
# The half of each row's tags that is most suspect has a minus. How often that is right,
# beside what is left of a ridge regression, and beside PML-LCom, a method of the
# literature for such tags. AUC and AP say how well extras are told from true tags; P@n
# is the share of extras at the top of the list, if it is as long as there are extras.

ridge = RidgeCV(np.logspace(0, 5, 11)).fit(X[rows], tags)
scores = {
    "LabelAudit": wrong,
    "ridge regression": -ridge.predict(X[rows]),
    "PML-LCom": PMLLCom(random_state=0).fit(X[rows], tags).noise_scores_,
}
for name, score in scores.items():
    report = noise_report(tags, Y[rows], score)
    figures = (f"{key} {report[key]:.3f}" for key in ("AUC", "AP", "P@n"))
    print(f"{name:16}", "  ".join(figures))

# %%
# How many there are is harder to say: a tag that is given to many others counts as
# usual. Trust the order of the list more than its length.

print(audit.message_)
print(f"{(tags != Y[rows]).sum()} are wrong.")

# %%
# Tags of new rows
# ----------------
# Ranking loss: the share of pairs of a true and a false tag in the wrong order. Ridge
# regression takes every tag for true, and is one closed formula: the rival to beat.

amounts = [0.5, 1.0, 2.0]
losses = {"ridge regression": [], "PML-LCom": [], "MurkyClassifier": []}
for amount in amounts:
    given = add_extra_labels(Y[rows], amount, random_state=0).labels
    ridge = RidgeCV(np.logspace(0, 5, 11)).fit(X[rows], given)
    losses["ridge regression"].append(ranking_loss(Y[new], ridge.predict(X[new])))
    murky = MurkyClassifier("fast", noise="extra", random_state=0)
    for name, model in (
        ("PML-LCom", PMLLCom(random_state=0)),
        ("MurkyClassifier", murky),
    ):
        found = model.fit(X[rows], given).decision_function(X[new])
        losses[name].append(ranking_loss(Y[new], found))

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for color, (name, values) in zip(["#888888", "#E69F00", "#0072B2"], losses.items()):
    ax.plot(amounts, values, "o-", color=color, lw=2, label=name)
ax.set(xlabel="false tags for each true one", ylabel="ranking loss (low is good)")
ax.set_xticks(amounts)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
