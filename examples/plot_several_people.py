"""
Several people disagree
=======================

Five people read handwritten digits, two or three of them each image. One is careful,
one takes sevens for ones, one guesses, and one says zero whatever he sees.
:class:`~demurk.annotators.Consensus` finds out who is who, and what the digits are.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# What they say
# -------------
# Nobody knows the truth; it is kept here only to see who was right.

import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from demurk.annotators import Annotations, Consensus

quick = os.environ.get("DEMURK_QUICK") == "1"
X, true = load_digits(return_X_y=True)
if quick:
    X, true = X[:400], true[:400]
rng = np.random.RandomState(0)
n_rows = len(true)


def slips(rate):
    """The truth, but for a share of other digits."""
    wrong = rng.random_sample(n_rows) < rate
    return np.where(wrong, rng.randint(10, size=n_rows), true)


said = {
    "anna": slips(0.05),
    "ben": np.where((true == 7) & (rng.random_sample(n_rows) < 0.6), 1, slips(0.1)),
    "cleo": slips(0.25),
    "dan": slips(0.9),
    "emil": np.zeros(n_rows, dtype=int),
}
asked = rng.random_sample((n_rows, 5)).argsort(axis=1) < rng.randint(2, 4, (n_rows, 1))
table = pd.DataFrame(
    {
        f"class@{name}": np.where(asked[:, j], said[name], -1)
        for j, name in enumerate(said)
    }
)
print(table.head())

# %%
# How far they agree
# ------------------
# Krippendorff's alpha is 1 where people always agree and 0 where they agree as by
# chance. Emil only ever gives one answer.

answers = Annotations.from_wide(table)
agreement = answers.agreement(random_state=0)
print(f"alpha {agreement.alpha:.2f} ({agreement.low:.2f} to {agreement.high:.2f})")
print(agreement.people.to_string(index=False))

# %%
# What they say together
# ----------------------
# The majority believes everybody alike, and draws lots where votes are equal. The
# consensus weighs people by how good they are, class by class, and a forest that learns
# from all images is one more witness.

consensus = Consensus(random_state=0).fit(X, answers)
votes = answers.votes()[0]
lots = rng.random_sample(votes.shape)
for name, digits in {
    "majority": answers.classes[(votes + lots).argmax(axis=1)],
    "consensus": consensus.labels_,
}.items():
    print(f"{name}: {100 * np.mean(digits == true):.1f} % right")

# %%
# How good each of them is
# ------------------------
# Estimated without the truth, with 95 % intervals; crosses show what the truth says.

quality = consensus.quality_
real = [
    np.mean(said[name][asked[:, j]] == true[asked[:, j]]) for j, name in enumerate(said)
]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
place = np.arange(5)
ends = np.abs(quality[["low", "high"]].to_numpy().T - quality["quality"].to_numpy())
axes[0].barh(place, quality["quality"], xerr=ends, color="#8fb8de", capsize=3)
axes[0].plot((np.array(real) - 0.1) / 0.9, place, "kx", label="true")
axes[0].set_yticks(place, quality["person"])
axes[0].invert_yaxis()
axes[0].set_xlabel("quality beyond chance")
axes[0].legend(loc="lower right")
picture = axes[1].imshow(consensus.confusion_[1], cmap="Blues", vmin=0, vmax=1)
axes[1].set(xlabel="ben says", ylabel="consensus", xticks=range(10), yticks=range(10))
axes[1].set_title("Ben takes sevens for ones")
figure.colorbar(picture, ax=axes[1], label="share")
plt.show()

# %%
# Disagreements worth discussing
# ------------------------------
# Where people disagree and the consensus is least certain.

apart = ((votes > 0) & (votes < votes.sum(axis=1, keepdims=True))).any(axis=1)
rows = np.argsort(-np.where(apart, consensus.wrong_proba_, -1))[:8]
figure, axes = plt.subplots(2, 4, figsize=(9, 5.2), layout="constrained")
for axis, row in zip(axes.flat, rows):
    words = ", ".join(f"{name} {digit}" for name, digit in answers.of_row(row).items())
    chance = consensus.wrong_proba_[row]
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    title = f"{words}\nconsensus {consensus.labels_[row]}, P(wrong) {chance:.2f}"
    axis.set_title(title, fontsize=8)
    axis.axis("off")
plt.show()

# %%
# Without writing a line
# ----------------------
# The same from the command line: ``demurk annotators table.csv`` writes the consensus,
# a table of quality and a page; ``demurk clean``, ``predict`` and ``review`` read the
# table as it is. See :ref:`annotators`.
