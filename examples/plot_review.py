"""
A person looks at the suspects
==============================

An audit says which labels are *probably* wrong; somebody has to look. In the browser
``demurk review digits.csv --class digit`` shows one suspect at a time, takes the
decision by a single key, and ranks the rest anew as it learns
(:ref:`the tutorial with pictures <review>`).

.. image:: /_static/review-class.png
   :alt: The card of a suspect: why it is one, its nearest rows, and the keys
   :width: 640

This page does the same in Python, with a person who is played by the truth, to ask: how
many wrong labels does she find, and what would it have been without the audit?
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----
# Handwritten digits; one class in ten was typed in wrong.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from demurk.audit import LabelAudit, soft_labels
from demurk.multilabel import MurkyClassifier

n_rows = 200 if os.environ.get("DEMURK_QUICK") == "1" else 600
X, true = load_digits(return_X_y=True)
X_new, true_new = X[n_rows:], true[n_rows:]
X, true = X[:n_rows], true[:n_rows]
rng = np.random.RandomState(0)
wrong = np.zeros(n_rows, dtype=bool)
wrong[rng.permutation(n_rows)[: n_rows // 10]] = True
given = np.where(wrong, (true + rng.randint(1, 10, n_rows)) % 10, true)

# %%
# Decide, and let the audit learn
# -------------------------------
# What was decided is trusted from then on: it is no suspect any more, it teaches the
# classifier, and beside what had been given it tells how much noise there is.

decided = given.copy()
trusted = np.zeros(n_rows, dtype=bool)
order = []
while len(order) < 1.5 * wrong.sum():
    audit = LabelAudit(random_state=0).fit(X, decided, trusted=trusted, given=given)
    batch = audit.suspects(n_rows)["row"].to_numpy()
    batch = batch[~trusted[batch]][:20]
    decided[batch] = true[batch]
    trusted[batch] = True
    order.extend(batch)
print(f"{wrong.sum()} labels were wrong, {(decided != true).sum()} still are after")
print(f"{len(order)} decisions.")

# %%
# What a decision is worth
# ------------------------
# The grey line is a person who goes through the table from the top; the dotted one
# knows beforehand where to look.

found = np.cumsum(wrong[order])
steps = np.arange(1, len(order) + 1)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.plot(steps, np.minimum(steps, wrong.sum()), ":", color="#444444", label="at best")
ax.plot(steps, found, color="#0072B2", lw=2.5, label="suspects, ranked anew")
ax.plot(steps, np.cumsum(wrong)[: len(steps)], color="#888888", label="from the top")
ax.set(xlabel="decisions", ylabel="wrong labels found", ylim=(0, 1.1 * wrong.sum()))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="center right")
plt.show()

# %%
# When to stop
# ------------
# The audit goes on to say how many it still expects. In the browser an interval stands
# beside it, and every tenth card is drawn at random to check it.

print(audit.message_)

# %%
# Learn from what was decided
# ---------------------------
# Decided labels are certain, all others as probable as the audit believes.

audit = LabelAudit(random_state=0).fit(X, decided, trusted=trusted, given=given)
for when, labels in {"before": given, "after the review": soft_labels(audit)}.items():
    model = MurkyClassifier("fast", random_state=0).fit(X, labels)
    share = np.mean(model.predict(X_new) == true_new)
    print(f"{when}: {share:.1%} of other digits are read right")
