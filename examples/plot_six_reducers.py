"""
Six reducers on the same murky labels
=====================================

Half of the labels are missing and a tenth of the others wrong. Each panel shows the
same test samples in the first two of three directions that a reducer has learned from
them. MDDM and NMLSDR lay the classes out along rays, with samples of two classes in
between, as figure 1 of the NMLSDR paper shows. Methods that invert a scatter matrix
estimated from few and noisy labels (LabelCCA, WMLDA) blur them, and propagated labels
help (SSMLDR). PCA sees no labels and finds little.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Data
# ----
# The paper's synthetic set: four overlapping classes light up 80 of 320 features.

import os

import matplotlib.pyplot as plt
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_rows
from demurk.metrics import average_precision
from demurk.multilabel import MLkNN
from demurk.projection import MDDM, NMLSDR, SSMLDR, WMLDA, LabelCCA
from demurk.viz import plot_embeddings

quick = os.environ.get("DEMURK_QUICK") == "1"
n_train, n_test = (500, 200) if quick else (4000, 1000)
toy = make_multilabel_blocks(n_train + n_test, random_state=0)
X = StandardScaler().fit_transform(toy.data)
X_train, X_test = X[:n_train], X[n_train:]
Y_train, Y_test = toy.target[:n_train], toy.target[n_train:]
noisy = flip_labels(Y_train, 0.1, random_state=0).labels
murky = hide_rows(noisy, 0.5, random_state=0).labels

# %%
# Six pictures
# ------------
# The figure in each title is the average precision of ML-kNN in that space, trained on
# the true labels: how much the projection has kept.

reducers = {
    "PCA": PCA(3, random_state=0),
    "LabelCCA": LabelCCA(3),
    "WMLDA": WMLDA(3),
    "SSMLDR": SSMLDR(3),
    "MDDM": MDDM(3),
    "NMLSDR": NMLSDR(3),
}
embeddings = {}
for name, reducer in reducers.items():
    reducer = clone(reducer).fit(X_train, murky)
    Z_train, Z_test = reducer.transform(X_train), reducer.transform(X_test)
    scores = MLkNN().fit(Z_train, Y_train).predict_proba(Z_test)
    precision = average_precision(Y_test, scores)
    embeddings[f"{name} ({precision:.2f})"] = Z_test

plot_embeddings(embeddings, Y_test, names=toy.target_names)
plt.show()
