"""
Cross-validation when most labels are missing
=============================================

How many directions should NMLSDR keep? A grid search answers, if its score can be
believed. Here 70 % of the rows are unlabelled. We run the same search three times, and
compare what each reports with the truth, which only the generator of the data knows.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data and model
# --------------

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.datasets import make_multilabel_blocks
from demurk.labels import hide_rows
from demurk.metrics import micro_f1
from demurk.model_selection import LabeledKFold, observed_scorer
from demurk.multilabel import SemiSupervisedMLkNN
from demurk.projection import NMLSDR

quick = os.environ.get("DEMURK_QUICK") == "1"
toy = make_multilabel_blocks(1000 if quick else 3000, random_state=0)
murky = hide_rows(toy.target, 0.7, random_state=0).labels
hidden = murky[:, 0] == -1

model = make_pipeline(StandardScaler(), NMLSDR(), SemiSupervisedMLkNN())
grid = {"nmlsdr__n_components": [3] if quick else [1, 2, 3]}

# %%
# Three searches
# --------------
# :class:`~demurk.model_selection.LabeledKFold` tests on labelled rows only and keeps
# all unlabelled rows in training; :func:`~demurk.model_selection.observed_scorer`
# ignores what was not observed.
#
# What would the plain way be? ``scoring="f1_micro"`` refuses labels that hold 0, 1 and
# -1. The usual remedy is to ask only where the label is 1, which quietly turns "not
# known" into "no". A plain ``KFold`` fills its test folds with such rows.


def ones_only(estimator, X, Y):
    """Micro-F1 of scikit-learn that takes every other value for a 0."""
    return f1_score(Y == 1, estimator.predict(X), average="micro")


# A seed of its own: with the seed of ``hide_rows``, KFold would shuffle the rows in
# exactly the order in which they were hidden.
labeled = LabeledKFold(n_splits=3, random_state=1)
plain = KFold(n_splits=3, shuffle=True, random_state=1)
observed = observed_scorer("micro_f1")
searches = {
    "LabeledKFold,\nobserved_scorer": GridSearchCV(
        model, grid, cv=labeled, scoring=observed
    ),
    "KFold,\nobserved_scorer": GridSearchCV(model, grid, cv=plain, scoring=observed),
    "KFold,\n-1 read as 0": GridSearchCV(model, grid, cv=plain, scoring=ones_only),
}
for search in searches.values():
    search.fit(toy.data, murky)

# %%
# Reported and true
# -----------------
# The truth is the score on the labels that were hidden.

reported = [search.best_score_ for search in searches.values()]
truth = [
    micro_f1(toy.target[hidden], search.predict(toy.data[hidden]))
    for search in searches.values()
]

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
places, width = np.arange(len(searches)), 0.36
for shift, values, color, name in [
    (-width / 2, reported, "#0072B2", "reported by the search"),
    (width / 2, truth, "#BBBBBB", "on the hidden labels"),
]:
    bars = ax.bar(places + shift, values, width * 0.94, color=color, label=name)
    ax.bar_label(bars, fmt="%.2f", padding=2)
ax.set_xticks(places, searches)
ax.set(ylim=(0, 1), ylabel="micro-F1")
ax.spines[["top", "right"]].set_visible(False)
figure.legend(frameon=False, loc="outside upper center", ncols=2)
plt.show()

# %%
# Reading -1 as 0 ruins the score: most of what it counts as errors nobody has checked.
# The scorer repairs this whatever the folds. ``LabeledKFold`` adds that every fold
# trains on all unlabelled rows and is tested on equally many labelled ones; on these
# data that matters little. Both report somewhat less than the truth, because each fold
# trains on two thirds of the labels; more folds close the gap.

for name, search in searches.items():
    print(name.replace("\n", " "), search.best_params_)
