"""Numerical core: dependence projections, graph eigenvectors, block CG, moments.

Nothing here knows of labels, estimators or files; everything takes validated arrays.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.linalg._cg import block_cg
from demurk.linalg._eigen import flip_signs, graph_eigenvectors
from demurk.linalg._moments import Moments, moments, moments_of_chunks
from demurk.linalg._nonnegative import (
    project_simplex,
    solve_nonnegative,
    solve_simplex,
    solve_sum_to_one,
)
from demurk.linalg._problem import Problem, Sums
from demurk.linalg._projection import (
    Projection,
    dependence_directions,
    dependence_projection,
)

__all__ = [
    "Moments",
    "Problem",
    "Projection",
    "Sums",
    "block_cg",
    "dependence_directions",
    "dependence_projection",
    "flip_signs",
    "graph_eigenvectors",
    "moments",
    "moments_of_chunks",
    "project_simplex",
    "solve_nonnegative",
    "solve_simplex",
    "solve_sum_to_one",
]
