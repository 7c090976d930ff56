"""
One true class among several candidates
=======================================

Every digit comes with two false candidates beside its true class. How much of the truth
do the learners find, and what does a reduction before them bring? With
``DEMURK_DATA`` set, the example runs on Lost, faces from a television series with the
names in the script as candidates; otherwise on handwritten digits with 100 features of
pure noise.
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

from demurk.datasets import load_dataset
from demurk.labels import add_candidates
from demurk.partial_label import IPAL, SURE, PLkNN
from demurk.projection import CENDA

quick = os.environ.get("DEMURK_QUICK") == "1"
if "DEMURK_DATA" in os.environ and not quick:
    lost = load_dataset("lost")
    name, X, truth, candidates = "Lost", lost.data, lost.target, lost.candidates
else:
    digits, truth = load_digits(return_X_y=True)
    noise = np.random.RandomState(0).normal(size=(len(digits), 100))
    name, X = (
        "digits with noise",
        np.hstack([StandardScaler().fit_transform(digits), noise]),
    )
    candidates = add_candidates(truth, n_extra=2, random_state=0).labels
if quick:
    X, truth, candidates = X[:300], truth[:300], candidates[:300]
parts = train_test_split(X, candidates, truth, test_size=0.3, random_state=0)
X_train, X_test, S_train, _, _, y_test = parts
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

# %%
# Learners, raw and after CENDA
# -----------------------------
# The reducer sees the training rows only. Its confidences can also be the votes of the
# neighbours.

reducer = CENDA(max_iter=20, rescale=True)
with warnings.catch_warnings():
    # The turns need not settle for the directions to be good.
    warnings.simplefilter("ignore", ConvergenceWarning)
    reducer.fit(X_train, S_train)
Z_train, Z_test = reducer.transform(X_train), reducer.transform(X_test)
learners = {"PL-kNN": PLkNN(), "IPAL": IPAL(), "SURE": SURE()}
raw, reduced = [], []
for learner in learners.values():
    raw.append(clone(learner).fit(X_train, S_train).score(X_test, y_test))
    reduced.append(clone(learner).fit(Z_train, S_train).score(Z_test, y_test))
voter = PLkNN(vote="confidence")
voter.fit(Z_train, S_train, label_distributions=reducer.label_distributions_)

# %%
# Accuracy on new samples
# -----------------------

places = np.arange(len(learners))
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.bar(places - 0.2, raw, 0.38, label="raw features", color="#56B4E9")
ax.bar(places + 0.2, reduced, 0.38, label=f"after CENDA, {Z_train.shape[1]} directions")
ax.axhline(
    voter.score(Z_test, y_test),
    color="#444444",
    ls=":",
    label="PL-kNN with CENDA's confidences as votes",
)
ax.set(xticks=places, xticklabels=learners, ylim=(0, 1), ylabel="accuracy", title=name)
ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
