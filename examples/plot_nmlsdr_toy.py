"""
Seeing four labels through noise
================================

Half of the samples are unlabelled, and one in ten of the given labels is wrong. Which
projection still shows the four labels?

The data follow the NMLSDR paper: each label lights up its own 20 features, some samples
carry two neighbouring labels, and 240 further features are noise. PCA looks at the
features alone. MDDM looks at the labelled rows and takes their labels at face value.
NMLSDR first propagates the labels over a neighbour graph, so that all rows speak.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# Murky labels
# ------------
# Both corruptions leave the true labels untouched, so that we can judge by them below.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_rows
from demurk.metrics import micro_f1
from demurk.multilabel import MLkNN
from demurk.projection import MDDM, NMLSDR

quick = os.environ.get("DEMURK_QUICK") == "1"
n_train, n_test = (800, 500) if quick else (6000, 1500)
toy = make_multilabel_blocks(n_train + n_test, random_state=0)
X_train, X_test = toy.data[:n_train], toy.data[n_train:]
Y_train, Y_test = toy.target[:n_train], toy.target[n_train:]

noisy = flip_labels(Y_train, 0.1, random_state=1).labels
murky = hide_rows(noisy, 0.5, random_state=2).labels

# %%
# Three projections
# -----------------
# Each learns three directions from ``murky``. To compare what the directions keep, the
# same classifier is then trained in each space *with the true labels* and scored on new
# samples.

reducers = {
    "PCA": PCA(n_components=3, random_state=0),
    "MDDM": MDDM(n_components=3),
    "NMLSDR": NMLSDR(n_components=3),
}


def embed_and_score(reducer, labels):
    """New samples in the learned space, and the micro-F1 reached there."""
    reducer = make_pipeline(StandardScaler(), reducer).fit(X_train, labels)
    Z_train, Z_test = reducer.transform(X_train), reducer.transform(X_test)
    predicted = MLkNN().fit(Z_train, Y_train).predict(Z_test)
    return Z_test, micro_f1(Y_test, predicted)


results = {name: embed_and_score(r, murky) for name, r in reducers.items()}

# %%
# New samples, coloured by their true labels, which no reducer has seen. A sample with
# two labels shows both colours.

colors = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7"])
first = Y_test.argmax(axis=1)
last = Y_test.shape[1] - 1 - Y_test[:, ::-1].argmax(axis=1)
two = first != last

figure, axes = plt.subplots(1, 3, figsize=(12, 4.7), layout="constrained")
for ax, (name, (Z, score)) in zip(axes, results.items()):
    for left, right in [(0, 1), (1, 2), (2, 3)]:
        both = (first == left) & (last == right)
        halves = {"fillstyle": "left", "mfc": colors[left], "mfcalt": colors[right]}
        ax.plot(*Z[both, :2].T, "o", ms=5.5, mec="none", alpha=0.8, **halves)
    ax.scatter(*Z[~two, :2].T, s=14, c=colors[first[~two]], alpha=0.8, lw=0, zorder=3)
    ax.set_title(f"{name}\n", loc="left", weight="bold")
    ax.text(0, 1.02, f"micro-F1 {score:.2f}", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[], xlabel="direction 1", ylabel="direction 2")
    ax.spines[["top", "right"]].set_visible(False)
handles = [
    plt.Line2D([], [], marker="o", ls="", color=color, label=name)
    for color, name in zip(colors, toy.target_names)
]
figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# The arms are the labels; samples with two labels lie between two arms. PCA spends its
# directions on noise. MDDM and NMLSDR both find the arms.

# %%
# When does propagation pay?
# --------------------------
# With half of the rows labelled, MDDM is close behind. The fewer labels there are, the
# more NMLSDR gains from the rows without.

shares = [0.1, 0.5] if quick else [0.02, 0.05, 0.1, 0.2, 0.5]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, color, va in [("MDDM", "#E69F00", "top"), ("NMLSDR", "#0072B2", "bottom")]:
    curve = []
    for share in shares:
        labels = hide_rows(noisy, 1 - share, random_state=2).labels
        curve.append(embed_and_score(reducers[name], labels)[1])
    ax.plot(shares, curve, "o-", color=color, lw=2, ms=5)
    ax.text(0.53, curve[-1], name, color=color, weight="bold", va=va)
ax.axhline(results["PCA"][1], color="#999999", lw=2)
ax.text(0.53, results["PCA"][1], "PCA", color="#777777", weight="bold", va="bottom")
ax.set(xscale="log", xlabel="share of labelled rows", ylabel="micro-F1")
ax.set_xticks(shares, [f"{share:.0%}" for share in shares])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
plt.show()
