"""Graph embeddings: maps of the samples drawn from features and labels.

A graph embedding is a statement of one operator: weights between samples, a sparse
graph of features plus a low-rank graph of labels. The coordinates are its extreme
eigenvectors, and one solver serves all methods.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.manifold._ccdr import CCDR
from demurk.manifold._constraint_score import ConstraintScore
from demurk.manifold._laplacian_eigenmaps import LaplacianEigenmaps
from demurk.manifold._slapeig import SLapEig
from demurk.manifold._sle import SLE
from demurk.manifold._sleml import SLEML, embed_weights
from demurk.manifold._ssdrmc import SSDRMC

__all__ = [
    "CCDR",
    "SLE",
    "SLEML",
    "SSDRMC",
    "ConstraintScore",
    "LaplacianEigenmaps",
    "SLapEig",
    "embed_weights",
]
