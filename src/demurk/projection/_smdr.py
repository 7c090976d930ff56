"""Discriminant analysis of the labelled rows plus dependence over all rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np

from demurk.linalg import Problem
from demurk.linalg._rows import CenteredRows
from demurk.projection._base import REG
from demurk.projection._propagating import PropagatingReducer
from demurk.projection._wmlda import contrasts
from demurk.utils._compat import Interval, StrOptions

__all__ = ["SMDRdm"]


class SMDRdm(PropagatingReducer):
    """Semi-supervised multi-label discriminant analysis with dependence maximisation.

    Directions that separate the labels on the labelled rows and, over all rows, depend
    on the propagated labels (SMDRdm) or keep the similarities between the samples
    (SMLDA).

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None takes as many as there are labels.
    dependence_weight : float, default=1.0
        Weight of the dependence term, which is first scaled to the trace of the
        between-class scatter. 0 gives :class:`WMLDA` with binary weights.
    dependence : {"labels", "features"}, default="labels"
        What the projections of all rows should depend on: the propagated labels
        (SMDRdm [1]_), or the features themselves (SMLDA [2]_), which propagates
        nothing.
    n_neighbors : int, default=10
        Neighbours of each sample in the graph.
    alpha_labeled : float, default=0.6
        How much a labelled sample listens to its neighbours, in [0, 1).
    alpha_unlabeled : float, default=0.999
        The same for unlabelled samples; close to 1.
    reg : float or str, default=0.1
        Ridge added to the within-class scatter. A string such as "rel:1e-3" stands for
        that share of the mean diagonal entry of the total scatter.
    affinity : {"knn", "heat"}, default="knn"
        Edge weights of the graph: all one, or a heat kernel of the distance.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, best first, of norm one in the regularised within-class scatter.
    eigenvalues_ : ndarray of shape (n_components,)
        Between-class scatter plus weighted dependence along each direction.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples weighted by their number of labels, subtracted by
        `transform`.
    label_distributions_ : ndarray of shape (n_samples, n_labels)
        Soft labels of the training samples; only with ``dependence="labels"``, as the
        next four.
    transduction_ : ndarray of shape (n_samples, n_labels) or (n_samples,)
        Hard labels of the training samples; -1 where no label can reach.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_iter_ : int
        Conjugate-gradient steps taken by the propagation.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    WMLDA : The labelled rows alone.
    SSMLDR : Discriminant analysis of the propagated labels.

    Notes
    -----
    Directions p solve ``(S_b + c X'H K H X) p = lambda (S_w + reg I) p`` with the
    scatter matrices of the labelled rows and H centring all rows; K = F F' for soft
    labels F, or K = X X'. Only the abstract of [2]_ and a description of [1]_ were at
    hand, hence the choices made here: the term enters the numerator with
    ``c = dependence_weight * tr(S_b) / tr(X'H K H X)``, and the ratio of traces is
    taken as the trace of the ratio.

    Time O(n^2 D) for the exact neighbour search and O(n D^2 + D^3) for the directions,
    memory O(n (k + q) + D^2); the dual form when D > n, conjugate gradients when both
    are large. At most 2 q - 1 directions exist. With ``dependence="features"`` at most
    min(n, D), and a dense matrix of n x min(n, D) is formed.

    References
    ----------
    .. [1] Y. Yu, J. Wang, Q. Tan, L. Jia, G. Yu, "Semi-supervised multi-label
       dimensionality reduction based on dependence maximization", IEEE Access 5, 2017.
    .. [2] Y. Yu, G. Yu, X. Chen, Y. Ren, "Semi-supervised multi-label linear
       discriminant analysis", ICONIP, 2017. :doi:`10.1007/978-3-319-70087-8_71`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import hide_rows
    >>> from demurk.projection import SMDRdm
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> murky = hide_rows(toy.target, 0.5, random_state=0).labels
    >>> SMDRdm().fit_transform(toy.data, murky).shape
    (400, 4)
    """

    _parameter_constraints: dict = {
        **PropagatingReducer._parameter_constraints,
        "dependence_weight": [Interval(Real, 0, None, closed="left")],
        "dependence": [StrOptions({"labels", "features"})],
        "reg": REG,
    }
    _compares_labels = True

    def __init__(
        self,
        n_components=None,
        *,
        dependence_weight=1.0,
        dependence="labels",
        n_neighbors=10,
        alpha_labeled=0.6,
        alpha_unlabeled=0.999,
        reg=0.1,
        affinity="knn",
        neighbors="exact",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.dependence_weight = dependence_weight
        self.dependence = dependence
        self.n_neighbors = n_neighbors
        self.alpha_labeled = alpha_labeled
        self.alpha_unlabeled = alpha_unlabeled
        self.reg = reg
        self.affinity = affinity
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    @property
    def _propagates(self):
        return self.dependence == "labels"

    def _problem(self, X, labels):
        W = labels.values  # rows without a label have weight zero in the scatter
        between = W @ contrasts(W.sum(axis=0))
        q = between.shape[1]

        def balance(sums):
            # The dependence as large as the scatter between classes, times its weight.
            squares = np.sum(sums.cross**2, axis=0)
            dependence = squares[q:].sum()
            scale = squares[:q].sum() / dependence if dependence else 0.0
            sizes = np.full(len(squares), np.sqrt(self.dependence_weight * scale))
            sizes[:q] = 1.0
            return np.diag(sizes)

        return Problem(
            np.hstack([between, self._dependence_targets(X)]),
            weights=W.sum(axis=1),
            scatter=1.0,
            removed=between,
            reg=self.reg,
            combine=balance,
            limit=np.count_nonzero(W.any(axis=0)),
        )

    def _dependence_targets(self, X):
        if self.dependence == "labels":
            return self.label_distributions_ - self.label_distributions_.mean(axis=0)
        # Targets whose products are those of the centred rows.
        rows = CenteredRows(X)
        if X.shape[1] <= X.shape[0]:
            return rows.dense()
        U, s, _ = rows.factors(squares=True)
        return U * s
