"""
The first figure of the NMLSDR paper
====================================

Four labels seen in three dimensions: by SSMLDR, by NMLSDR, by NMLSDR with samples of
two labels, and by PCA. The paper says that classes lie along axes of their own, better
separated and more compact in NMLSDR than in SSMLDR, that samples of two labels lie
between the axes, and that PCA separates nothing.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# The data
# --------
# Half of the rows have no labels, and a tenth of the given labels is wrong. Features
# are standardised.

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_rows
from demurk.projection import NMLSDR, SSMLDR

quick = os.environ.get("DEMURK_QUICK") == "1"
toy = make_multilabel_blocks(800 if quick else 8000, random_state=0)
X = StandardScaler().fit_transform(toy.data)
noisy = flip_labels(toy.target, 0.1, random_state=1).labels
murky = hide_rows(noisy, 0.5, random_state=2).labels

# %%
# Three dimensions
# ----------------
# The paper plots samples with one label. How well they are separated is told by their
# silhouette: 1 for tight and distant groups, 0 for none.

spaces = {
    "SSMLDR": SSMLDR(n_components=3).fit(X, murky).transform(X),
    "NMLSDR": NMLSDR(n_components=3).fit(X, murky).transform(X),
    "PCA": PCA(n_components=3, random_state=0).fit_transform(X),
}
single = toy.target.sum(axis=1) == 1
label = toy.target.argmax(axis=1)
scores = {
    name: silhouette_score(Z[single], label[single], sample_size=2000, random_state=0)
    for name, Z in spaces.items()
}
for name, score in scores.items():
    print(f"{name:8}{score:.2f}")

# %%
# Two neighbouring labels
# -----------------------
# Samples with the first two labels, or with the second and the third, are added in the
# third picture.

colors = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7"])
pairs = {"#56B4E9": (0, 1), "#000000": (1, 2)}
shown = np.random.RandomState(0).permutation(np.flatnonzero(single))[:600]


def names_of(pair):
    """Both labels in words."""
    return " and ".join(str(toy.target_names[which]) for which in pair)


panels = [("a", "SSMLDR"), ("b", "NMLSDR"), ("c", "NMLSDR"), ("d", "PCA")]

figure = plt.figure(figsize=(10, 9), layout="constrained")
for place, (letter, name) in enumerate(panels, 1):
    ax = figure.add_subplot(2, 2, place, projection="3d")
    Z = spaces[name]
    ax.scatter(*Z[shown].T, s=9, c=colors[label[shown]], alpha=0.8, lw=0)
    title = f"({letter}) {name}, silhouette {scores[name]:.2f}"
    if letter == "c":
        title = f"({letter}) {name}, with samples of two labels"
        for color, pair in pairs.items():
            both = toy.target[:, pair].all(axis=1) & (toy.target.sum(axis=1) == 2)
            ax.scatter(*Z[both][:200].T, s=9, c=color, marker="^", alpha=0.8, lw=0)
    ax.set_title(title, loc="left")
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
handles = [
    plt.Line2D([], [], marker="o", ls="", color=color, label=name)
    for color, name in zip(colors, toy.target_names)
] + [
    plt.Line2D([], [], marker="^", ls="", color=color, label=names_of(pair))
    for color, pair in pairs.items()
]
figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
plt.show()

# %%
# What the paper says of samples with two labels can be measured: the angle between
# their mean and the axes of both labels, that is, the means of samples with one.

Z = spaces["NMLSDR"]
for pair in pairs.values():
    both = toy.target[:, pair].all(axis=1) & (toy.target.sum(axis=1) == 2)
    means = [Z[both].mean(axis=0)]
    means += [Z[single & (label == which)].mean(axis=0) for which in pair]
    between, one, other = (mean / np.linalg.norm(mean) for mean in means)
    angles = np.degrees(np.arccos([between @ one, between @ other, one @ other]))
    print(
        f"{names_of(pair)}: {angles[0]:.0f} and {angles[1]:.0f} degrees from axes that "
        f"are {angles[2]:.0f} degrees apart"
    )
