"""The constraint score as an embedding, in closed form."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Real

import numpy as np
from scipy.linalg import svd

from demurk.linalg import flip_signs
from demurk.manifold._base import EMBEDDING_CONSTRAINTS, GraphEmbedding
from demurk.manifold._label_graph import distinct_sets
from demurk.manifold._spectral import SpectralMap, part_contrasts
from demurk.utils._compat import HasMethods, Interval, StrOptions

__all__ = ["ConstraintScore"]


class ConstraintScore(GraphEmbedding):
    """The constraint score turned into an embedding.

    Samples of the same label set attract each other, all others repel. Every label set
    becomes one point; the features have no say, except in which of the equally good
    maps is shown. Kept for comparison; :class:`SLEML` is the method to use.

    Read more in the :ref:`User Guide <sleml>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates, at most the number of label sets less one.
    cannot_link_weight : float, default=1.0
        Weight of the repulsion (the paper's beta). It scales `eigenvalues_` and does
        not change the map.
    n_neighbors : int, default=15
        Neighbours kept for placing new samples.
    out_of_sample : {"harmonic", "nystroem", "linear", "kernel"}, default="harmonic"
        How `transform` places new samples, and `fit` the unlabelled ones; see
        :class:`SLEML`. "nystroem" is the same as "harmonic" here.
    n_neighbors_new : int, default=5
        Neighbours that place a new sample with "harmonic" and "nystroem"; None takes
        `n_neighbors`.
    normalization : {"degree", "unit", "sqrt_n"}, default="degree"
        Scale of the coordinates; all degrees are 1, see :class:`SLEML`.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Landmarks of "kernel".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Cost of each coordinate, all equal.
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SLEML : Features and labels together.

    Notes
    -----
    The cost is ``tr Z'(L_M - b L_C)Z`` with ``Z'Z = I``, where M joins the n samples of
    the same label set and C all others [1]_. Since ``L_C = nI - 11' - L_M``, the
    smallest eigenvalue is ``-b n`` for any b > 0, with the centred indicators of the c
    label sets as its space of dimension c - 1. Any rotation of it is as good; shown
    are the directions along which the class means of the features differ most, so
    that the map does not depend on the order of samples or labels. This degeneracy
    may be why the SLE-ML paper found no good result for the score.

    A labelled row without labels is a label set of its own. Unlabelled rows are placed
    like new samples. Time O(n (q + D) + c^2 D) beside the neighbour search.

    References
    ----------
    .. [1] D. Zhang, S. Chen, Z.-H. Zhou, "Constraint score: a new filter method for
       feature selection with pairwise constraints", Pattern Recognition 41(5), 2008.
       :doi:`10.1016/j.patcog.2007.10.009`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import ConstraintScore
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> Z = ConstraintScore(random_state=0).fit_transform(X, y)
    >>> len({tuple(row) for row in Z.round(8)})
    4
    """

    _uses_unlabeled = False
    _averages_shrink = False
    _parameter_constraints: dict = {
        **EMBEDDING_CONSTRAINTS,
        "n_neighbors": EMBEDDING_CONSTRAINTS["n_neighbors"][:1],
        "cannot_link_weight": [Interval(Real, 0, None, closed="neither")],
        "neighbors": [
            StrOptions({"exact", "approx"}),
            HasMethods(["fit", "kneighbors_graph"]),
        ],
    }
    del _parameter_constraints["on_disconnected"]

    def __init__(
        self,
        n_components=2,
        *,
        cannot_link_weight=1.0,
        n_neighbors=15,
        out_of_sample="harmonic",
        n_neighbors_new=5,
        normalization="degree",
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.cannot_link_weight = cannot_link_weight
        self.n_neighbors = n_neighbors
        self.out_of_sample = out_of_sample
        self.n_neighbors_new = n_neighbors_new
        self.normalization = normalization
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _weights(self, X, labels, graph):
        _, group = distinct_sets(labels.values > 0, labels.labeled)
        return X, group

    def _solve(self, weights):
        X, group = weights
        counts = np.bincount(group)
        n, n_sets = len(group), len(counts)
        if n_sets < 2:
            raise ValueError(
                "All labelled samples have the same label set, so that there is "
                "nothing to tell apart; give at least two."
            )
        m = min(self.n_components, n_sets - 1)
        if m < self.n_components:
            warnings.warn(
                f"n_components is {self.n_components}, but only {m} coordinates exist "
                f"for {n_sets} label sets; {m} are returned.",
                UserWarning,
                stacklevel=5,
            )
        basis = part_contrasts(counts.astype(float), np.arange(n_sets), n_sets - 1)
        sums = np.vstack([_column_sums(X[group == g]) for g in range(n_sets)])
        rotation = svd(basis.T @ sums)[0]
        Z = (basis @ rotation[:, :m])[group]
        cost = np.full(m, -float(self.cannot_link_weight * n))
        return SpectralMap(flip_signs(Z.T).T, cost, np.ones(n))


def _column_sums(X):
    return np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
