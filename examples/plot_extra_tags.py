"""
More tags than true
===================

Every true label is among the tags of a sample, but so are extras. How well are they
told apart, and when does it pay to compress the labels first? With ``DEMURK_DATA`` set,
the example runs on CAL500, songs with 174 tags; otherwise on artificial data.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----
# Each training sample gets as many false tags as it has true ones.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from demurk.datasets import load_dataset
from demurk.labels import add_extra_labels
from demurk.metrics import noise_report, ranking_loss
from demurk.multilabel import CPLST
from demurk.partial_multilabel import PMLLCom

quick = os.environ.get("DEMURK_QUICK") == "1"
if "DEMURK_DATA" in os.environ and not quick:
    data = load_dataset("cal500")
    name, X, Y = "CAL500", np.asarray(data.data), data.target
else:
    X, Y = make_multilabel_classification(
        200 if quick else 600, 40, n_classes=60, n_labels=8, random_state=0
    )
    name = "artificial tags"
X_train, X_test, Y_train, Y_test = train_test_split(
    StandardScaler().fit_transform(X), Y, test_size=0.3, random_state=0
)

# %%
# Rank the tags of new samples
# ----------------------------
# Ridge regression takes every tag for true. CPLST compresses the labels but knows
# nothing of extras; PML-LCom compresses them and keeps a noise matrix. Ridge is the
# rival to beat: it is one closed formula.

amounts = [0.5, 1.0, 2.0]
losses = {"ridge regression": [], "CPLST": [], "PML-LCom": []}
for amount in amounts:
    tags = add_extra_labels(Y_train, amount, random_state=0).labels
    ridge = RidgeCV(np.logspace(0, 5, 11)).fit(X_train, tags)
    losses["ridge regression"].append(ranking_loss(Y_test, ridge.predict(X_test)))
    for label, model in (("CPLST", CPLST()), ("PML-LCom", PMLLCom(random_state=0))):
        scores = model.fit(X_train, tags).decision_function(X_test)
        losses[label].append(ranking_loss(Y_test, scores))

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for color, (label, values) in zip(["#888888", "#E69F00", "#0072B2"], losses.items()):
    ax.plot(amounts, values, "o-", color=color, label=label)
ax.set_title(name, loc="left", weight="bold")
ax.set(xlabel="false tags for each true one", ylabel="ranking loss (low is good)")
ax.set_xticks(amounts)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Ridge regression, with its penalty chosen by leaving rows out, is ahead. PML-LCom
# comes close and, unlike ridge, answers the second question.
#
# Which tags are extras?
# ----------------------
# Scored among the tags of the training samples only. A score that knows the tags alone
# cannot tell them apart: it stays at one half.

tags = add_extra_labels(Y_train, 1.0, random_state=0).labels
model = PMLLCom(random_state=0).fit(X_train, tags)
for measure, value in noise_report(tags, Y_train, model.noise_scores_).items():
    print(f"{measure:6} {value:.3f}")
