"""
Shape or separation? Two looks at Torus and Clusdat
===================================================

A supervised map can show the shape of the data or how well classes separate, rarely
both. The SLE-ML paper therefore looks at two feature weights at once. The figures
follow its figures 3 and 4: two tori that hang in each other, and two classes of four
clusters that take turns, both among garbage features.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# The data
# --------
# The first features carry the shape; seven or eight more are noise, and a method does
# not know which is which.

import os

import matplotlib.pyplot as plt
import numpy as np

from demurk.datasets import make_clusdat, make_torus
from demurk.manifold import CCDR, SLapEig, embed_weights

quick = os.environ.get("DEMURK_QUICK") == "1"
torus = make_torus(200 if quick else 1000, random_state=0)
clusdat = make_clusdat(320 if quick else 1600, random_state=0)
colors = np.array(["#0072B2", "#E69F00"])

figure = plt.figure(figsize=(9, 4), layout="constrained")
ax = figure.add_subplot(1, 2, 1, projection="3d")
ax.scatter(*torus.data[:, :3].T, s=5, c=colors[torus.target])
ax.set_title("Torus", loc="left", weight="bold")
ax.set(xticklabels=[], yticklabels=[], zticklabels=[], aspect="equal")
ax = figure.add_subplot(1, 2, 2)
ax.scatter(*clusdat.data[:, :2].T, s=5, c=colors[clusdat.target], alpha=0.7)
ax.set_title("Clusdat", loc="left", weight="bold")
ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()


# %%
# Four maps of each
# -----------------


def maps_of(data):
    """The maps of the paper's figures, k as in the paper at most 300."""
    X, y = data.data, data.target
    both = embed_weights(X, y, [0.9, 0.5], random_state=0)
    return {
        "CCDR": CCDR(random_state=0).fit_transform(X, y),
        "S-LapEig": SLapEig(
            n_neighbors=int(0.75 * len(y)), random_state=0
        ).fit_transform(X, y),
        "SLE-ML, feature weight 0.9": both[0.9],
        "SLE-ML, feature weight 0.5": both[0.5],
    }


def draw(data):
    """One panel for each map."""
    _, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
    for ax, (name, Z) in zip(axes, maps_of(data).items()):
        ax.scatter(*Z.T, s=6, c=colors[data.target], alpha=0.6, lw=0)
        ax.set_title(name, loc="left", weight="bold", fontsize="medium")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_color("#D8D8D8")
    plt.show()


draw(torus)

# %%
# CCDR and SLE-ML with a weight of 0.9 keep both rings in sight, one over the other.
# With 0.5 the classes part, at the price of their shape; S-LapEig leaves little of it.

draw(clusdat)

# %%
# The same on the clusters: the ring of eight clusters, or two classes.
