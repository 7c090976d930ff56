"""Semi-supervised dimension reduction for multi-label classification."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral, Real

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator, LabelClassifierMixin, LabelOutputMixin
from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import difference_products, weight_graph
from demurk.manifold._spectral import spectral_coordinates
from demurk.manifold._ssdrmc_labels import SoftLabelsMixin
from demurk.manifold._ssdrmc_turns import Turns
from demurk.utils._compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress

__all__ = ["SSDRMC"]

# Up to so many rows the eigenvectors are found densely.
MAX_DENSE = 500
# And up to so many by factors at once, which is quickest where samples lie on a
# manifold. Where they do not the factors fill up, and take n^2.4; there Lanczos
# converges at once, so that it is tried first: 0.1 instead of 2.4 s for 4,000 rows.
MAX_FACTORED = 2000


class SSDRMC(
    SoftLabelsMixin,
    LabelOutputMixin,
    LabelClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CallbackSupportMixin,
    DemurkEstimator,
):
    """Semi-supervised dimension reduction for multi-label classification (SSDR-MC).

    Every sample is rebuilt from its neighbours, its labels with the same weights as its
    features. In turns, the weights are fitted to features and labels, and the missing
    labels are inferred from the weights. The final weights give the labels of all
    samples and, as in locally linear embedding, a map.

    Read more in the :ref:`User Guide <ssdrmc>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates; None makes no map, only labels.
    n_neighbors : int, default=15
        Neighbours of each sample (the paper's k).
    label_weight : float, default=0.1
        Share of the labels in the fit of the weights (the paper's alpha), in [0, 1].
    threshold : float, default=0.3
        Soft labels from here on count as 1 (the paper's H). With one class per sample
        the final answer is the class with the largest soft label.
    tolerance : int, default=5
        The loop stops when fewer labels than this change (the paper's T).
    inference : {"exact", "harmonic", "relaxed", "paper"}, default="exact"
        How labels follow from weights: the minimiser of the paper's objective; its
        equation 7; the minimiser when given labels may be wrong; its equation 12. See
        the notes.
    weights : {"nonnegative", "signed", "simplex"}, default="nonnegative"
        Weights of the neighbours: negative ones set to 0, kept as in the paper, or the
        best non-negative ones.
    fit_weight : float, default=1.0
        How firmly "relaxed" and "paper" hold the given labels (the paper's beta).
    start : {"features", "zeros"}, default="features"
        Whether the first weights come from the features alone, or, as in the paper,
        from labels that are 0 where they are missing.
    scale : {"neighbors", "literal"}, default="neighbors"
        Whether the features' term of the objective is divided by the mean squared
        distance of neighbours, or taken as equation 1 has it. See the notes.
    reg : float or str, default="rel:1e-3"
        Ridge in the fit of the weights (the paper's xi). A string such as "rel:1e-3"
        stands for that share of the mean squared distance of the neighbours.
    fallback : {None, "argmax"}, default=None
        Whether an unlabelled sample of a multi-label problem that no label reaches the
        threshold for gets its best label.
    max_iter : int, default=30
        Largest number of iterations.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Start of the eigen-solver.

    Attributes
    ----------
    weights_ : csr_array of shape (n_samples, n_samples)
        Weight of each neighbour in rebuilding a sample; rows sum to one.
    label_distributions_ : ndarray of shape (n_samples, n_labels)
        Soft labels of the training samples, not confined to [0, 1] unless weights are
        non-negative and inference is "harmonic".
    transduction_ : ndarray of shape (n_samples, n_labels) or (n_samples,)
        Labels of the training samples. "relaxed" and "paper" may change given ones.
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, with columns of mean 0 and mean square 1.
    eigenvalues_ : ndarray of shape (n_components,)
        Rebuilding error of each coordinate, smallest first.
    objective_ : ndarray of shape (n_iter_,)
        The paper's objective after each turn, with rounded labels.
    n_iter_ : int
        Turns taken.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SLEML : A map from a graph of features and a graph of labels.
    demurk.propagation.MLGFHF : Labels that follow the graph and each other.

    Notes
    -----
    The objective is ``(1 - a) sum_i |x_i - sum_j W_ij x_j|^2 / s
    + a sum_i |f_i - sum_j W_ij f_j|^2`` with rows of W that sum to one [1]_. The paper
    has s = 1 (``scale="literal"``), which makes the meaning of a depend on the unit of
    the features; here s is the mean squared distance to a neighbour.

    With A = I - W, "exact" solves ``(A'A)_uu F_u = -(A'A)_ul Y``. Equation 7 of the
    paper, "harmonic", sets only the unlabelled rows of A F to zero, which is not the
    minimiser, and needs a matrix that signed weights make nearly singular. "relaxed"
    minimises ``|A F|^2 + b |F - Y|^2`` with the second term over the given entries.
    Equation 12, "paper", loses a factor A' on the way and pulls unlabelled samples to
    0; labels that reach the threshold are added to Y and stay.

    Micro-F1 on the unlabelled digits, 10 % labelled, 20 seeds: defaults 0.961 (0.923 to
    0.973) with y as an indicator, 0.970 (0.939 to 0.983) as classes, where no sample
    gets two labels. The two seeds below 0.95 leave a group of 27 ones without a label,
    and :class:`~demurk.propagation.MLGFHF` misses it too. The form of the paper's
    experiments, "harmonic" with signed weights and start "zeros", has 0.70 (five seeds,
    0.57 to 0.79, never settled). The paper says that discarding negative weights makes
    no difference; on digits 39 % are negative, and it does. Without label feedback
    (``label_weight=0``) the score is 0.961 as well.

    Labels that return to an earlier state form a cycle; the state of the cycle with
    the smallest objective is taken. Parts of the graph without any label get the mean
    label, with a warning.

    Time O(n^2 D) for the exact neighbour search, O(n k^2 D) once and O(n k^2 (k + q))
    per turn, and some hundred sparse products for the labels ("harmonic" and "paper"
    factorise up to 5000 rows). The map takes some hundred products with A'A, or, where
    these do not converge, its factors; ``n_components=None`` avoids both. Memory
    O(n k^2).

    References
    ----------
    .. [1] B. Qian, I. Davidson, "Semi-supervised dimension reduction for multi-label
       classification", AAAI 2010. :doi:`10.1609/aaai.v24i1.7668`

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import SSDRMC
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> murky = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    >>> model = SSDRMC(random_state=0).fit(X, murky)
    >>> bool(np.mean(model.transduction_ == y) > 0.95)
    True
    >>> model.embedding_.shape
    (720, 2)
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "label_weight": [Interval(Real, 0, 1, closed="both")],
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "tolerance": [Interval(Integral, 1, None, closed="left")],
        "inference": [StrOptions({"exact", "harmonic", "relaxed", "paper"})],
        "weights": [StrOptions({"nonnegative", "signed", "simplex"})],
        "fit_weight": [Interval(Real, 0, None, closed="neither")],
        "start": [StrOptions({"features", "zeros"})],
        "scale": [StrOptions({"neighbors", "literal"})],
        "reg": [Interval(Real, 0, None, closed="neither"), str],
        "fallback": [StrOptions({"argmax"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "neighbors": [
            StrOptions({"exact", "approx"}),
            HasMethods(["fit", "kneighbors_graph"]),
        ],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _label_kind = "labels"

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=15,
        label_weight=0.1,
        threshold=0.3,
        tolerance=5,
        inference="exact",
        weights="nonnegative",
        fit_weight=1.0,
        start="features",
        scale="neighbors",
        reg="rel:1e-3",
        fallback=None,
        max_iter=30,
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.label_weight = label_weight
        self.threshold = threshold
        self.tolerance = tolerance
        self.inference = inference
        self.weights = weights
        self.fit_weight = fit_weight
        self.start = start
        self.scale = scale
        self.reg = reg
        self.fallback = fallback
        self.max_iter = max_iter
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Infer the missing labels and make the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        n = X.shape[0]
        if self.n_components is not None and self.n_components >= n:
            raise ValueError(
                f"n_components is {self.n_components}, but {n} samples have only "
                f"{n - 1} coordinates; ask for fewer, or give more samples."
            )
        self._set_classes(labels)
        graph = nearest_neighbors(
            X, self.n_neighbors, method=self.neighbors, n_jobs=self.n_jobs
        )
        indices = graph.distances.indices.reshape(n, -1)
        grams = difference_products(X, indices)
        if self.scale == "neighbors":
            mean_square = float(np.mean(graph.distances.data.astype(np.float64) ** 2))
            grams /= mean_square or 1.0
        step = self._loop(X, y, labels, grams, indices)
        self.weights_ = weight_graph(indices, step.weights, tidy=True)
        self.label_distributions_ = step.scores
        self.transduction_ = self._transduce(step, labels)
        self.neighbors_recall_ = graph.recall
        self._fit_X = X
        if self.n_components is not None:
            self._embed(X.dtype)
        return self

    def _loop(self, X, y, labels, grams, indices):
        """Weights and labels in turns, until the labels stay."""
        state = Turns(self, labels, grams, indices)
        with fit_progress(self, self.max_iter, X, y) as stage:
            while not state.finished:
                with stage("turn") as done:
                    state.advance()
                    if done():
                        break
        if not state.finished_well:
            warnings.warn(
                f"The labels still changed after {state.n_turns} iterations; raise "
                "max_iter or tolerance.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.n_iter_ = state.n_turns
        self.objective_ = np.array(state.objectives)
        return state.best

    def _embed(self, dtype):
        """Eigenvectors of ``(I - W)'(I - W)`` with the smallest eigenvalues."""
        n = self.weights_.shape[0]
        A = csr_array(eye_array(n) - self.weights_)
        M = csr_array(A.T @ A)
        n_parts, part = connected_components(M, directed=False)
        if n_parts > 1:
            warnings.warn(
                f"The graph of the weights falls into {n_parts} parts: the first "
                "coordinates only tell them apart; a larger n_neighbors would join "
                "them.",
                UserWarning,
                stacklevel=4,
            )
        # The smallest errors are close to 0, which no relative accuracy suits.
        theta, Z = spectral_coordinates(
            csr_array(eye_array(n) - M),
            np.ones(n),
            part,
            self.n_components,
            self.random_state,
            solver="shift-invert" if MAX_DENSE < n <= MAX_FACTORED else "auto",
        )
        self.eigenvalues_ = np.maximum(1.0 - theta, 0.0)
        self.embedding_ = (np.sqrt(n) * Z).astype(dtype, copy=False)

    def fit_transform(self, X, y=None, observed=None):
        """Fit, and return the map of the training samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            The same as `embedding_`.
        """
        self.fit(X, y, observed=observed)
        self._check_map()
        return self.embedding_

    def transform(self, X):
        """Place samples on the map, with the weights that rebuild their features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Coordinates; a training sample gets its place in `embedding_`.
        """
        check_is_fitted(self)
        self._check_map()
        X = self._validate_new(X)
        return self._rebuilt(X, self.embedding_).astype(X.dtype, copy=False)

    def _check_map(self):
        if self.n_components is None:
            raise ValueError(
                "n_components is None, so that no map was made; fit again with a "
                "number of coordinates."
            )

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
