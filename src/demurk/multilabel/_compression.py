"""Predicting few combinations of the labels instead of all of them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh

from demurk.base import ScoreClassifier, as_rows
from demurk.linalg import flip_signs
from demurk.linalg._reg import positive_ridge_of
from demurk.linalg._ridge import CenteredRidge, FeatureBasis
from demurk.multilabel._reml_blocks import HeadAndTail
from demurk.utils._compat import CallbackSupportMixin, Interval, _fit_context
from demurk.utils._progress import fit_progress, settled

__all__ = ["CPLST", "PLST", "REML"]


class CompressionClassifier(ScoreClassifier):
    """Base: linear scores, labels from one half on."""

    _label_kind = "labels"

    def _validate_targets(self, X, y, observed):
        """Labelled rows, their centred labels, and the mean of the labels.

        An entry that was not observed is at the mean: it says nothing.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        self._set_classes(labels)
        X, labeled = as_rows(X), labels.labeled
        n_observed = np.maximum(np.count_nonzero(labels.observed, axis=0), 1)
        mean = labels.values.sum(axis=0) / n_observed
        targets = np.where(labels.observed, labels.values - mean, 0)
        self.thresholds_ = 0.5
        if labeled.all():
            return X, targets, mean
        return X[labeled], targets[labeled], mean

    def _scores(self, X):
        return X @ self.coef_.T + self.intercept_


class PLST(CompressionClassifier):
    """Principal label space transformation.

    Ridge regression of the leading principal components of the labels, decoded into
    labels. It gains speed and robustness where labels go together.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    n_components : int, default=5
        Number of components; at most that of the labels.
    reg : float or str, default=0.1
        Penalty of the regression. A string such as "rel:1e-3" stands for that share of
        the mean diagonal of the scatter matrix of the features.

    Attributes
    ----------
    label_components_ : ndarray of shape (n_components, n_labels)
        Orthonormal combinations of the labels.
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model of the labels, of rank `n_components` at most.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    thresholds_ : float
        Score from which a label is predicted: one half.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    CPLST : Chooses components that the features can predict.

    Notes
    -----
    With Y - M the centred labels and V their leading right singular vectors, ``(Y - M)
    V`` is regressed on X; scores are the prediction times V' plus M [1]_. Rows without
    labels are left out, entries that were not observed count as the mean.

    Time O(n q^2 + q^3) for the components and O(n D min(n, D)) for the regression;
    memory O(n (D + q) + q^2 + min(n, D)^2).

    The authors' program penalises the intercept too; here it is free.

    References
    ----------
    .. [1] F. Tai, H.-T. Lin, "Multilabel classification with principal label space
       transformation", Neural Computation 24(9), 2012. :doi:`10.1162/NECO_a_00320`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.multilabel import PLST
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> PLST(2).fit(toy.data[:300], toy.target[:300]).predict(toy.data[300:]).shape
    (100, 4)
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="neither"), str],
    }

    def __init__(self, n_components=5, *, reg=0.1):
        self.n_components = n_components
        self.reg = reg

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Compress the labels and learn to predict the components.

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
            The fitted classifier.
        """
        X, targets, mean = self._validate_targets(X, y, observed)
        regression = CenteredRidge(X, self.reg)
        vectors = eigh(self._criterion(targets, regression))[1][:, ::-1]
        V = flip_signs(vectors[:, : self.n_components].T)
        coef, _ = regression.solve(targets @ V.T)
        self.label_components_ = V
        self.coef_ = V.T @ coef
        self.intercept_ = mean - self.coef_ @ regression.mean
        return self

    def _criterion(self, targets, regression):
        """Matrix of labels whose leading eigenvectors are the components."""
        return targets.T @ targets


class CPLST(PLST):
    """Conditional principal label space transformation.

    Like :class:`PLST`, with the combinations of the labels that vary most among what
    the features can predict.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    n_components : int, default=5
        Number of components; at most that of the labels.
    reg : float or str, default=0.1
        Penalty of the regression. A string such as "rel:1e-3" stands for that share of
        the mean diagonal of the scatter matrix of the features.

    Attributes
    ----------
    label_components_ : ndarray of shape (n_components, n_labels)
        Orthonormal combinations of the labels.
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model of the labels, of rank `n_components` at most.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    thresholds_ : float
        Score from which a label is predicted: one half.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    PLST : Looks at the labels alone.
    REML : Adds a sparse part for rare labels.
    demurk.partial_multilabel.PMLLCom : For labels some of which are wrong.

    Notes
    -----
    The components are the leading eigenvectors of ``(Y - M)' H (Y - M)``, where
    ``H = X (X'X + reg I)^-1 X'`` takes labels to their fitted values [1]_; H is never
    formed. X is centred, whereas the reference code is not, which only matters if X
    has a mean.

    Time O(n q (D + q) + n D min(n, D) + q^3); memory O(n (D + q) + q^2 + min(n, D)^2).

    References
    ----------
    .. [1] Y.-N. Chen, H.-T. Lin, "Feature-aware label space dimension reduction for
       multi-label classification", NIPS 2012.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.multilabel import CPLST
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> CPLST(2).fit(toy.data[:300], toy.target[:300]).predict(toy.data[300:]).shape
    (100, 4)
    """

    def _criterion(self, targets, regression):
        coef, _ = regression.solve(targets)
        # Centred targets need no intercept, and centre X on their own.
        criterion = coef @ (regression.X.T @ targets)
        return (criterion + criterion.T) / 2


class REML(CallbackSupportMixin, CompressionClassifier):
    """Robust extreme multi-label learning.

    The linear model is the sum of a part of low rank, for labels that go together, and
    a part whose predictions are sparse, for rare labels that do not.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    n_components : int, default=None
        Rank of the first part; None takes six tenths of the labels.
    tail_reg : float or str, default=0.1
        Penalty lambda_1 of the second part; as for `reg`.
    reg : float or str, default=0.1
        Penalty lambda_2 of both factors of the first part. A string such as "rel:1e-3"
        stands for that share of the mean diagonal of the scatter matrix of the
        features.
    sparsity : float, default=0.01
        Weight lambda_3 of the absolute predictions of the second part.
    max_iter : int, default=20
        Largest number of iterations.
    tol : float, default=1e-4
        Rounds end when the objective falls by less than this, relatively.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model: the sum of both parts.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    tail_coef_ : ndarray of shape (n_labels, n_features)
        The second part.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each round.
    n_iter_ : int
        Number of iterations.
    thresholds_ : float
        Score from which a label is predicted: one half.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    CPLST : Compresses the labels without a second part.

    Notes
    -----
    With X and Y centred, minimises ``|Y - XAB - XH|^2 + lambda_1 |H|^2 + lambda_2
    (|A|^2 + |B|^2) + lambda_3 |XH|_1`` in turns, A and B exactly and H by alternating
    directions [1]_. The exact form of the paper and its rank are not known for
    certain. The work is done in the principal axes of X, where the update of A is a
    division; the start is a ridge regression, split evenly between A and B.

    Time O(n D min(n, D)) once and O(n q p) for each of some twenty products of a round,
    with p = min(n, D); memory O(n (p + q)).

    References
    ----------
    .. [1] C. Xu, D. Tao, C. Xu, "Robust extreme multi-label learning", KDD 2016.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.multilabel import REML
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> REML().fit(toy.data[:300], toy.target[:300]).predict(toy.data[300:]).shape
    (100, 4)
    """

    _parameter_constraints: dict = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "tail_reg": [Interval(Real, 0, None, closed="neither"), str],
        "reg": [Interval(Real, 0, None, closed="neither"), str],
        "sparsity": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components=None,
        *,
        tail_reg=0.1,
        reg=0.1,
        sparsity=0.01,
        max_iter=20,
        tol=1e-4,
    ):
        self.n_components = n_components
        self.tail_reg = tail_reg
        self.reg = reg
        self.sparsity = sparsity
        self.max_iter = max_iter
        self.tol = tol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn both parts of the model in turns.

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
            The fitted classifier.
        """
        rows, targets, mean = self._validate_targets(X, y, observed)
        basis = FeatureBasis(rows)
        rank = self.n_components or max(1, int(0.6 * targets.shape[1]))
        size = len(basis.mean), basis.squares.sum()
        parts = HeadAndTail(
            basis.coordinates(rows),
            basis.squares,
            targets,
            rank,
            (
                positive_ridge_of(self.tail_reg, *size),
                positive_ridge_of(self.reg, *size),
                self.sparsity,
            ),
        )

        def learned():
            coef = (basis.directions @ (parts.A @ parts.B + parts.H)).T
            return {"coef_": coef, "intercept_": mean - coef @ basis.mean}

        values, stopped = [], False
        with fit_progress(self, self.max_iter, X, y) as stage:
            while not stopped and len(values) < self.max_iter:
                with stage("iteration") as done:
                    parts.sweep()
                    values.append(parts.objective())
                    stopped = done(learned)
                stopped = stopped or settled(values, self.tol)
        self.objective_, self.n_iter_ = np.array(values), len(values)
        self.tail_coef_ = (basis.directions @ parts.H).T
        for name, value in learned().items():
            setattr(self, name, value)
        return self
