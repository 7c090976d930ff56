"""
Few labels, some of them wrong
==============================

What a newcomer should reach for first: :class:`~demurk.multilabel.MurkyClassifier` to
predict, and :class:`~demurk.audit.LabelAudit` to find the wrong labels. Both are put
beside a random forest. With ``DEMURK_DATA`` set, the example runs on emotions, songs
with the moods they call up; otherwise on artificial data with four labels.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----
# A third of the samples is set aside with its true labels. Of the others, 30 % are
# labelled, and one label in ten is flipped.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import PrecisionRecallDisplay
from sklearn.model_selection import cross_val_predict, train_test_split

from demurk.audit import LabelAudit
from demurk.datasets import load_dataset, make_multilabel_blocks
from demurk.labels import flip_labels, hide_rows
from demurk.metrics import average_precision, micro_f1
from demurk.multilabel import MurkyClassifier

quick = os.environ.get("DEMURK_QUICK") == "1"
if "DEMURK_DATA" in os.environ and not quick:
    data = load_dataset("emotions")
else:
    data = make_multilabel_blocks(200 if quick else 600, random_state=0)
X_train, X_test, Y_train, Y_test = train_test_split(
    np.asarray(data.data), data.target, test_size=1 / 3, random_state=0
)
n_trees = 50 if quick else 300

# %%
# Predict
# -------
# The stack is fitted to everything, unlabelled rows included; the forest to the
# labelled rows. Cut at one half, a forest fed with flipped labels says "no" too often;
# the classifier estimates the share of flips and moves its cut.


def forest_proba(model, X):
    """Probability of each label from a multi-output forest."""
    return np.column_stack([p[:, -1] for p in model.predict_proba(X)])


scores = {"random forest": [], "MurkyClassifier": []}
for seed in range(1 if quick else 5):
    noisy = flip_labels(Y_train, 0.1, random_state=seed).labels
    murky = hide_rows(noisy, 0.7, random_state=seed).labels
    labeled = (murky >= 0).all(axis=1)
    forest = RandomForestClassifier(n_trees, random_state=seed)
    forest.fit(X_train[labeled], murky[labeled])
    found = forest_proba(forest, X_test)
    scores["random forest"].append(
        (average_precision(Y_test, found), micro_f1(Y_test, (found > 0.5).astype(int)))
    )
    model = MurkyClassifier(n_estimators=n_trees, random_state=seed)
    model.fit(X_train, murky)
    scores["MurkyClassifier"].append(
        (
            average_precision(Y_test, model.decision_function(X_test)),
            micro_f1(Y_test, model.predict(X_test)),
        )
    )
for name, values in scores.items():
    precision, f1 = np.mean(values, axis=0)
    print(f"{name:16} average precision {precision:.3f}   micro-F1 {f1:.3f}")
print(f"estimated share of flipped labels: {model.noise_rate_:.3f}")

# %%
# Find the wrong ones
# -------------------
# Now all training rows are labelled, and either one label in ten is flipped, or three
# true ones in ten are missing. The curves ask: of the entries at the top of the list,
# how many are really wrong? The forest's list is ordered by how far its out-of-fold
# probability lies from the given label.

rng = np.random.RandomState(0)
missing = np.where(rng.random_sample(Y_train.shape) < 0.3, 0, Y_train)
cases = {"10 % flipped": noisy, "30 % of the true ones missing": missing}
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, (title, given) in zip(axes, cases.items()):
    wrong = (given != Y_train).ravel()
    audit = LabelAudit(random_state=0).fit(X_train, given)
    forest = RandomForestClassifier(n_trees, min_samples_leaf=3, random_state=0)
    proba = cross_val_predict(forest, X_train, given, cv=5, method="predict_proba")
    proba = np.column_stack([p[:, -1] for p in proba])
    rivals = {"LabelAudit": audit.scores_, "forest, 5 folds": np.abs(given - proba)}
    for color, (name, suspicion) in zip(["#0072B2", "#E69F00"], rivals.items()):
        PrecisionRecallDisplay.from_predictions(
            wrong,
            suspicion.ravel(),
            ax=ax,
            name=name,
            curve_kwargs={"color": color},
        )
    ax.set_title(title, loc="left", weight="bold")
    ax.set(xlabel="share of the wrong entries found", ylabel="")
    ax.legend(loc="best", framealpha=0.9)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("share of the list that is wrong")
plt.show()

# %%
# Missing labels are where the two differ: to a forest every rare true label looks more
# suspicious than a missing one. The audit tells from the scores that the noise goes one
# way only, and turns its list round. Each suspect comes with a reason:

print(audit.message_)
print(audit.suspects(4)[["list", "row", "label", "given", "score"]].to_string())
