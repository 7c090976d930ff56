"""Supervised Laplacian eigenmaps for multi-label data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Real

import numpy as np
from scipy.sparse import csr_array, diags_array

from demurk.graph import SparseLowRank, affinity, degrees
from demurk.manifold._base import EMBEDDING_CONSTRAINTS, SHARE, GraphEmbedding
from demurk.manifold._label_graph import label_graph
from demurk.utils._compat import StrOptions, _fit_context

__all__ = ["SLEML", "embed_weights", "join_graphs"]


def join_graphs(features, labels, feature_weight, balance):
    """Weighted sum of the feature graph and the label graph.

    Parameters
    ----------
    features : csr_array of shape (n, n)
        Weights of the feature graph.
    labels : LabelGraph
        Similarities of the label sets.
    feature_weight : float
        Share l of the features; labels have 1 - l.
    balance : {"degree", None}
        Whether both graphs are divided by their mean degrees first; that of the
        label graph is a mean over the samples that have labels.

    Returns
    -------
    weights : {csr_array, SparseLowRank} of shape (n, n)
        The sum, with a zero diagonal; sparse where labels play no part.
    """
    label_degrees = labels.degrees()
    feature_share, label_share = feature_weight, 1.0 - feature_weight
    if not label_degrees.any():
        label_share = 0.0
    if balance == "degree":
        feature_share /= degrees(features).mean() or 1.0
        if label_share:
            label_share /= label_degrees[labels.labeled].mean()
    if not label_share:
        return features * feature_share
    # A sample is not its own neighbour.
    loops = diags_array(label_share * labels.loops())
    sparse = csr_array(feature_share * features - loops)
    sparse.eliminate_zeros()  # a feature weight of 0 leaves no edges
    return SparseLowRank(sparse, labels.membership(), label_share * labels.similarity)


class SLEML(GraphEmbedding):
    """Supervised Laplacian eigenmaps for multi-label data (SLE-ML).

    A map on which samples lie close that are neighbours in the features or share
    labels. One number sets the balance of the two. Look at 0.5 and 0.9 together
    (:func:`embed_weights`): small values show classes further apart than they are.
    Samples without labels take part through their features.

    Read more in the :ref:`User Guide <sleml>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    feature_weight : float, default=0.5
        Share of the feature graph in [0, 1], the rest is that of the label graph (the
        paper's lambda). 1 ignores the labels; 0 sees nothing but labels, so that each
        label set becomes a point.
    n_neighbors : int, default=None
        Neighbours of each sample in the feature graph (the paper's k). None takes 1.5
        times the mean class size as the paper does, at most 300; classes are the
        distinct label sets where these have 20 samples or more on average, else the
        labels.
    balance : {"degree", None}, default="degree"
        "degree" divides each graph by its mean degree, so that `feature_weight` means
        the same whatever the number of neighbours and classes. None is the paper's
        literal sum.
    imbalance : float, default=0.0
        How far the mass of frequent label sets is evened out: 0 is the paper, with 1
        every class of a single-label problem has the same mass.
    empty : {"unlabeled", "identical"}, default="unlabeled"
        What a labelled row without any label means: nothing is known, or all such rows
        are alike.
    out_of_sample : {"harmonic", "nystroem", "linear", "kernel"}, default="harmonic"
        How `transform` places new samples: at the mean of their neighbours, the same
        without the shrinking, by a linear map, or by kernel ridge regression. The
        first is right for pictures, the last for feature extraction into more
        dimensions.
    n_neighbors_new : int, default=5
        Neighbours that place a new sample with "harmonic" and "nystroem"; None takes
        as many as in the graph.
    normalization : {"degree", "unit", "sqrt_n"}, default="degree"
        Scale of the coordinates: ``Z'DZ = I`` with D the degrees (the paper), columns
        of norm one, or "degree" times the root of the total degree, which makes
        typical coordinates 1.
    on_disconnected : {"warn", "teleport", "raise"}, default="warn"
        What to do about a graph in several parts. "warn" lets the first coordinates
        tell the parts apart, "teleport" joins all samples by an edge of 0.001 mean
        degrees in sum.
    neighbors : {"exact", "approx", "precomputed"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Start of the eigen-solver, and landmarks of "kernel".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Cost of each coordinate, between 0 and 2.
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    embed_weights : Maps for several weights from one neighbour graph.
    LaplacianEigenmaps : The features alone.
    CCDR : A node for every class instead of a graph of labels.

    Notes
    -----
    The weights are ``l W_F / mean(d_F) + (1 - l) W_L / mean(d_L)`` [1]_. W_F is 1 for
    mutual neighbours and 1/2 for others, W_L the Jaccard similarity of the label sets;
    both have a zero diagonal. The coordinates are the generalised eigenvectors of
    ``(D - W, D)`` with the smallest eigenvalues beyond 0. The paper's own sum depends
    on the number of neighbours: with 15 of them, 20,000 samples and ten labels the map
    is the same for l = 0.9 and 0.1.

    W_L is never formed: with m distinct label sets, it is a product of memberships and
    an (m, m) matrix. Time O(n^2 D) for the exact neighbour search, which dominates,
    then O(n k + m^2) for each of some hundred steps of the eigen-solver. Memory
    O(n (k + D) + m^2).

    Digits, 1200 training samples, three splits, 5-NN accuracy of the 597 others:
    "harmonic" 0.95 in two dimensions (0.93 if 15 neighbours place a new sample, 0.61
    if the 180 of the graph do), "kernel" 0.99 in nine. With one row in ten labelled
    and 15 neighbours, the unlabelled rows gain from the labels in nine dimensions
    (0.957, without labels 0.944) and lose in two (0.83 against 0.90), where the
    labelled rows crowd together. Dividing W_L by the mean degree of all rows instead
    of the labelled ones would give 0.79 there.

    Transforming the training samples by "linear" or "kernel" does not give
    `embedding_`, since these are maps of the features alone.

    References
    ----------
    .. [1] M. Tai, M. Kudo, "A supervised Laplacian eigenmap algorithm for
       visualization of multi-label data: SLE-ML", CIARP 2019.
       :doi:`10.1007/978-3-030-33904-3_49`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import SLEML
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> embedding = SLEML(n_neighbors=15, random_state=0).fit(X[:600], y[:600])
    >>> embedding.embedding_.shape
    (600, 2)
    >>> embedding.transform(X[600:]).shape
    (120, 2)
    """

    _parameter_constraints: dict = {
        **EMBEDDING_CONSTRAINTS,
        "feature_weight": SHARE,
        "balance": [StrOptions({"degree"}), None],
        "imbalance": SHARE,
        "empty": [StrOptions({"unlabeled", "identical"})],
    }

    def __init__(
        self,
        n_components=2,
        *,
        feature_weight=0.5,
        n_neighbors=None,
        balance="degree",
        imbalance=0.0,
        empty="unlabeled",
        out_of_sample="harmonic",
        n_neighbors_new=5,
        normalization="degree",
        on_disconnected="warn",
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.feature_weight = feature_weight
        self.n_neighbors = n_neighbors
        self.balance = balance
        self.imbalance = imbalance
        self.empty = empty
        self.out_of_sample = out_of_sample
        self.n_neighbors_new = n_neighbors_new
        self.normalization = normalization
        self.on_disconnected = on_disconnected
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _weights(self, X, labels, graph):
        return self._join(self._graphs(labels, graph), self.feature_weight)

    def _graphs(self, labels, graph):
        """The graph of the features and that of the labels."""
        sets = label_graph(labels, empty=self.empty, imbalance=self.imbalance)
        if not sets.degrees().any():
            text = "No two samples share a label"
            if not self.feature_weight:
                raise ValueError(
                    f"{text}, so that feature_weight=0 leaves no edge at all; choose a "
                    "feature_weight above 0."
                )
            if self.feature_weight < 1:
                warnings.warn(
                    f"{text}: the map shows the features alone.",
                    UserWarning,
                    stacklevel=6,
                )
        return affinity(graph, symmetrize="mean"), sets

    def _join(self, graphs, feature_weight):
        return join_graphs(*graphs, feature_weight, self.balance)

    @_fit_context(prefer_skip_nested_validation=False)
    def _embed_weights(self, X, y, feature_weights, observed):
        X, labels = self._validate_fit(X, y, observed=observed)
        graphs = self._graphs(labels, self._search(X, self._n_neighbors(labels)))
        maps, before = {}, None
        for weight in feature_weights:
            Z = self._normalized(self._solve(self._join(graphs, weight)))
            if before is not None:
                Z = Z * np.where(np.einsum("ij,ij->j", Z, before) < 0, -1.0, 1.0)
            maps[weight] = Z.astype(X.dtype, copy=False)
            before = Z
        return maps


def embed_weights(X, y, feature_weights=(0.5, 0.9), *, observed=None, **params):
    """Embed the same samples with several feature weights, on one neighbour graph.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,) or (n_samples, n_labels)
        Labels; -1 marks what was not observed.
    feature_weights : sequence of float, default=(0.5, 0.9)
        Weights of the feature graph, each in [0, 1].
    observed : array-like of bool of shape (n_samples,) or (n_samples, n_labels), \
            default=None
        What was observed, when y is sparse; overrides -1.
    **params : dict
        Further parameters of :class:`SLEML`.

    Returns
    -------
    embeddings : dict of float to ndarray of shape (n_samples, n_components)
        Map for each weight, in the order given. A coordinate has the sign that agrees
        best with the map before it.

    See Also
    --------
    SLEML : One map, with a `transform` for new samples.

    Notes
    -----
    Neighbours are searched and label sets compared once; each weight then costs one
    eigenproblem.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import embed_weights
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> maps = embed_weights(X, y, [0.5, 0.9], n_neighbors=15, random_state=0)
    >>> {weight: Z.shape for weight, Z in maps.items()}
    {0.5: (720, 2), 0.9: (720, 2)}
    """
    weights = [_check_weight(weight) for weight in feature_weights]
    if not weights:
        raise ValueError("feature_weights is empty; give at least one weight.")
    model = SLEML(**{**params, "feature_weight": max(weights)})
    return model._embed_weights(X, y, weights, observed)


def _check_weight(weight):
    if not isinstance(weight, Real) or not 0 <= weight <= 1:
        raise ValueError(
            f"feature_weights holds {weight!r}; every weight is a number from 0 to 1."
        )
    return float(weight)
