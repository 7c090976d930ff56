"""Semi-supervised multi-label discriminant analysis with propagated labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.projection._base import REG
from demurk.projection._propagating import PropagatingReducer
from demurk.projection._wmlda import between_classes

__all__ = ["SSMLDR"]


class SSMLDR(PropagatingReducer):
    """Semi-supervised multi-label dimension reduction.

    Labels are propagated over a neighbour graph; multi-label discriminant analysis then
    uses all samples, each counting in every class by its soft label. The discriminant
    sister of :class:`NMLSDR`.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that separate the labels, at most one
        less than there are labels.
    n_neighbors : int, default=10
        Neighbours of each sample in the graph.
    alpha_labeled : float, default=0.6
        How much a labelled sample listens to its neighbours, in [0, 1). 0 trusts the
        given labels, as the original method does (SSMLDR* in [2]_).
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
        Directions, best separation first, of norm one in the regularised within-class
        scatter.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of between-class to within-class scatter along each direction.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples weighted by their soft labels, subtracted by `transform`.
    label_distributions_ : ndarray of shape (n_samples, n_labels)
        Soft labels of the training samples.
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
    WMLDA : The same analysis of the labelled rows alone.
    NMLSDR : Dependence on the propagated labels.

    Notes
    -----
    Soft labels F solve ``(I - A T) F = (I - A) Y`` over all rows, as in
    :class:`~demurk.propagation.NoisyLabelPropagation`; the directions are those of
    :class:`WMLDA` with weights W = F. Rows that no label reaches have weight 0.

    The original [1]_ clamps the labelled rows, scales their labels to sum to one and
    adds a column for outliers. Here the propagation is that of the comparison in
    [2]_, which is the one with published numbers. Whether it rounded the soft labels
    of labelled rows is not said; with F itself the published result of the synthetic
    data (0.861) is met within the noise between seeds (0.857 to 0.877).

    Time O(n^2 D) for the exact neighbour search, O(n k q) per solver step and
    O(n D^2 + D^3) for the directions; memory O(n (k + q) + D^2). The dual form when
    D > n, conjugate gradients when both are large.

    References
    ----------
    .. [1] B. Guo, C. Hou, F. Nie, D. Yi, "Semi-supervised multi-label dimensionality
       reduction", IEEE ICDM, 2016.
    .. [2] K. Ø. Mikalsen, C. Soguero-Ruiz, F. M. Bianchi, R. Jenssen, "Noisy
       multi-label semi-supervised dimensionality reduction", Pattern Recognition 90,
       2019. :doi:`10.1016/j.patcog.2019.01.033`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import hide_rows
    >>> from demurk.projection import SSMLDR
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> murky = hide_rows(toy.target, 0.7, random_state=0).labels
    >>> SSMLDR().fit_transform(toy.data, murky).shape
    (400, 3)
    """

    _parameter_constraints: dict = {
        **PropagatingReducer._parameter_constraints,
        "reg": REG,
    }
    _compares_labels = True

    def __init__(
        self,
        n_components=None,
        *,
        n_neighbors=10,
        alpha_labeled=0.6,
        alpha_unlabeled=0.999,
        reg=0.1,
        affinity="knn",
        neighbors="exact",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha_labeled = alpha_labeled
        self.alpha_unlabeled = alpha_unlabeled
        self.reg = reg
        self.affinity = affinity
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def _problem(self, X, labels):
        return between_classes(self._soft, self.reg)
