"""
Pictures with two labels lie between those with one
===================================================

Labels of multi-label data are sets, and two sets may overlap in part. SLE-ML takes the
share of common labels as similarity, so that a sample with two labels is drawn to both
groups. This follows figure 5 of the paper: photographs labelled beach, sunset, fall
foliage, field, mountain and urban.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# The scene data are read from ``$DEMURK_DATA`` or the cache. Where they are not at
# hand, artificial data with overlapping labels take their place.

import os

import matplotlib.pyplot as plt
import numpy as np

from demurk.datasets import load_dataset, make_multilabel_blocks
from demurk.manifold import embed_weights

quick = os.environ.get("DEMURK_QUICK") == "1"
try:
    data = load_dataset("scene", split="train", download=False)
except FileNotFoundError:
    data = make_multilabel_blocks(1200, random_state=0)
X, Y = data.data, data.target
if quick:
    X, Y = X[:300], Y[:300]
print(f"{data.name}: {len(Y)} samples, {len(np.unique(Y, axis=0))} label sets")

# %%
# Two weights from one neighbour graph. Samples with one label have its colour; those
# with the most frequent pair of labels have both.

maps = embed_weights(X, Y, [0.9, 0.5], random_state=0)

colors = np.array(["#0072B2", "#D55E00", "#E69F00", "#009E73", "#56B4E9", "#999999"])
together = np.triu(Y.T.astype(int) @ Y, 1)
pair = np.unravel_index(together.argmax(), together.shape)
single = Y.sum(axis=1) == 1
both = (Y.sum(axis=1) == 2) & (Y[:, pair[0]] == 1) & (Y[:, pair[1]] == 1)
others = ~single & ~both
names = [str(name).replace("_", " ").lower() for name in data.target_names]

figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
for ax, (weight, Z) in zip(axes, maps.items()):
    kind = Y[single].argmax(axis=1)
    ax.scatter(*Z[others].T, s=14, marker="x", c="#777777", lw=0.7)
    ax.scatter(*Z[single].T, s=12, c=colors[kind], alpha=0.6, lw=0)
    halves = {"mfc": colors[pair[0]], "mfcalt": colors[pair[1]], "mec": "black"}
    ax.plot(*Z[both].T, "o", ms=7, mew=0.5, fillstyle="left", **halves)
    ax.set_title(f"feature weight {weight:g}", loc="left", weight="bold")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#D8D8D8")
dots = [
    plt.Line2D([], [], marker="o", ls="", color=color, label=name)
    for color, name in zip(colors, names)
]
label = f"{names[pair[0]]} and {names[pair[1]]}"
halves = {"mfc": colors[pair[0]], "mfcalt": colors[pair[1]], "mec": "black"}
dots += [
    plt.Line2D([], [], marker="o", ls="", fillstyle="left", label=label, **halves),
    plt.Line2D([], [], marker="x", ls="", color="#777777", label="other pairs"),
]
figure.legend(handles=dots, loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# Samples with both labels lie between the samples with one. Measured along the line
# from the middle of the one group (0) to that of the other (1):

Z = maps[0.5]
ends = [Z[single & (Y[:, label] == 1)].mean(axis=0) for label in pair]
line = ends[1] - ends[0]
where = (Z[both] - ends[0]) @ line / (line @ line)
print(f"median {np.median(where):.2f}, middle half {np.percentile(where, [25, 75])}")
