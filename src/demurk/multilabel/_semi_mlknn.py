"""ML-kNN on labels that were cleaned and completed by propagation."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np

from demurk.multilabel._mlknn import MLkNN
from demurk.propagation._noisy import PROPAGATION_CONSTRAINTS, NoisyPropagationMixin
from demurk.utils._compat import Interval, _fit_context
from demurk.utils._progress import fit_progress

__all__ = ["SemiSupervisedMLkNN"]


class SemiSupervisedMLkNN(NoisyPropagationMixin, MLkNN):
    """ML-kNN that first propagates the labels over all samples.

    Missing labels are completed and noisy ones may be overruled by their neighbours
    before :class:`MLkNN` is fitted to all rows. Works best behind
    :class:`~demurk.projection.NMLSDR`, in whose space neighbours agree more.

    Read more in the :ref:`User Guide <mlknn>`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours in the propagation graph and in ML-kNN.
    smoothing : float, default=1.0
        Pseudo-count of every cell of ML-kNN (the paper's s).
    alpha_labeled : float, default=0.6
        How much a labelled sample listens to its neighbours, in [0, 1).
    alpha_unlabeled : float, default=0.999
        The same for unlabelled samples; close to 1.
    affinity : {"knn", "heat"}, default="knn"
        Edge weights of the graph: all one, or a heat kernel of the distance.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    transduction_ : ndarray of shape (n_samples, n_labels) or (n_samples,)
        Hard labels the classifier was trained on; -1 where no label can reach.
    label_distributions_ : ndarray of shape (n_samples, n_labels)
        Soft labels behind them.
    posterior_ : ndarray of shape (n_labels, n_neighbors + 1)
        Probability of each label given the number of neighbours that carry it.
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
    MLkNN : Without the propagation.
    demurk.projection.NMLSDR : The reduction the paper puts before it.

    Notes
    -----
    The paper [1]_ does not say which labels start this second propagation; the given
    noisy ones do here, which reproduces its table 1. Samples that no label can reach
    are left out of ML-kNN.

    Time O(n^2 D) for one neighbour search, shared by the propagation and ML-kNN;
    memory O(n (D + k + q)).

    References
    ----------
    .. [1] K. Ø. Mikalsen, C. Soguero-Ruiz, F. M. Bianchi, R. Jenssen, "Noisy
       multi-label semi-supervised dimensionality reduction", Pattern Recognition 90,
       2019. :doi:`10.1016/j.patcog.2019.01.033`

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import flip_labels, hide_rows
    >>> from demurk.multilabel import SemiSupervisedMLkNN
    >>> from demurk.projection import NMLSDR
    >>> toy = make_multilabel_blocks(600, random_state=0)
    >>> noisy = flip_labels(toy.target, 0.1, random_state=0).labels
    >>> murky = hide_rows(noisy, 0.5, random_state=0).labels
    >>> model = make_pipeline(NMLSDR(n_components=3), SemiSupervisedMLkNN())
    >>> model.fit(toy.data, murky).predict(toy.data[:2]).shape
    (2, 4)
    """

    _parameter_constraints: dict = {
        "smoothing": [Interval(Real, 0, None, closed="left")],
        **PROPAGATION_CONSTRAINTS,
    }
    _label_kind = "noisy"

    def __init__(
        self,
        n_neighbors=10,
        *,
        smoothing=1.0,
        alpha_labeled=0.6,
        alpha_unlabeled=0.999,
        affinity="knn",
        neighbors="exact",
        n_jobs=None,
    ):
        super().__init__(
            n_neighbors, smoothing=smoothing, neighbors=neighbors, n_jobs=n_jobs
        )
        self.alpha_labeled = alpha_labeled
        self.alpha_unlabeled = alpha_unlabeled
        self.affinity = affinity

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Propagate the labels, then learn ML-kNN's tables from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Noisy labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        with fit_progress(self, 3, X, y) as stage:
            propagation, graph = self._propagate(X, labels, stage)
            with stage("ML-kNN"):
                hard, reached = self._hard_values(propagation), propagation.reached
                if not reached.all():
                    X, hard, graph = X[reached], hard[reached], None
                self._fit_tables(X, hard, np.ones(hard.shape, dtype=bool), graph)
        return self

    def _hard_values(self, propagation):
        soft = propagation.values
        if self._single:
            return np.eye(soft.shape[1])[soft.argmax(axis=1)]
        return (soft > 0.5).astype(np.float64)
