"""Neighbours, affinities, sparse + low-rank operators and label propagation.

Each step can be used alone and replaced: neighbour search gives distances,
`affinity` turns distances into symmetric weights, and `propagate` spreads labels over
the weights. No step forms a dense (n_samples, n_samples) matrix.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.graph._affinity import affinity, degrees, laplacian, normalize_symmetric
from demurk.graph._neighbors import NeighborGraph, nearest_neighbors
from demurk.graph._operator import SparseLowRank
from demurk.graph._propagation import Propagation, propagate

__all__ = [
    "NeighborGraph",
    "Propagation",
    "SparseLowRank",
    "affinity",
    "degrees",
    "laplacian",
    "nearest_neighbors",
    "normalize_symmetric",
    "propagate",
]
