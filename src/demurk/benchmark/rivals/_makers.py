"""Small functions that make an estimator, so that protocols can name them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.semi_supervised import LabelSpreading

from demurk.benchmark.rivals._candidates import EveryCandidate, SuspectCandidates
from demurk.benchmark.rivals._estimators import (
    CleanlabFilter,
    LabeledRows,
    SupervisedUMAP,
)

__all__ = [
    "candidate_forest",
    "candidate_logistic_regression",
    "cleanlab_logistic_regression",
    "gradient_boosting",
    "label_spreading",
    "logistic_regression",
    "out_of_bag_forest",
    "random_forest",
    "supervised_umap",
]

N_TREES = 300


def random_forest(n_estimators=N_TREES, min_samples_leaf=1, random_state=None):
    """Random forest on the labelled rows, all labels in one forest.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees.
    min_samples_leaf : int, default=1
        Samples in a leaf at least.
    random_state : int, default=None
        Seed.

    Returns
    -------
    classifier : LabeledRows
        The classifier.

    Notes
    -----
    Every node holds 16 bytes for each label: grown on 5,000 samples with 150 labels,
    300 trees take 7 GB.

    Examples
    --------
    >>> from demurk.benchmark.rivals import random_forest
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0, 1], [1, 0], [-1, -1]]
    >>> random_forest(10, random_state=0).fit(X, Y).predict([[0.0], [1.0]])
    array([[0, 1],
           [1, 0]])
    """
    forest = RandomForestClassifier(
        n_estimators, min_samples_leaf=min_samples_leaf, random_state=random_state
    )
    return LabeledRows(forest)


def logistic_regression(C=1.0):
    """Logistic regression for each label on the labelled rows.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty.

    Returns
    -------
    classifier : LabeledRows
        The classifier.

    Examples
    --------
    >>> from demurk.benchmark.rivals import logistic_regression
    >>> X, Y = [[-1.0], [1.0], [2.0]], [[0, 1], [1, 0], [-1, -1]]
    >>> logistic_regression().fit(X, Y).predict([[3.0]])
    array([[1, 0]])
    """
    return LabeledRows(MultiOutputClassifier(LogisticRegression(C=C, max_iter=1000)))


def gradient_boosting(max_iter=100, random_state=None):
    """Histogram gradient boosting for each label on the labelled rows.

    Parameters
    ----------
    max_iter : int, default=100
        Number of trees for each label.
    random_state : int, default=None
        Seed.

    Returns
    -------
    classifier : LabeledRows
        The classifier. Sparse features are made dense.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.benchmark.rivals import gradient_boosting
    >>> X = np.arange(100.0)[:, None]
    >>> gradient_boosting(10, random_state=0).fit(X, X > 50).predict([[0.0], [99.0]])
    array([[0],
           [1]])
    """
    boosting = HistGradientBoostingClassifier(
        max_iter=max_iter, random_state=random_state
    )
    return LabeledRows(MultiOutputClassifier(boosting), dense=True)


def label_spreading(n_neighbors=10, alpha=0.2):
    """Label spreading for each label, over the rows without labels too.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours in the graph. The Gaussian kernel, scikit-learn's default, sees no
        two samples as similar in more than a few dimensions.
    alpha : float, default=0.2
        How much a label may change.

    Returns
    -------
    classifier : LabeledRows
        The classifier.

    Examples
    --------
    >>> from demurk.benchmark.rivals import label_spreading
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> Y = [[1, 0], [-1, -1], [-1, -1], [0, 1], [-1, -1], [-1, -1]]
    >>> label_spreading(2).fit(X, Y).predict([[0.3], [4.9]])
    array([[1, 0],
           [0, 1]])
    """
    spreading = LabelSpreading(kernel="knn", n_neighbors=n_neighbors, alpha=alpha)
    return LabeledRows(MultiOutputClassifier(spreading), unlabeled=True, dense=True)


def cleanlab_logistic_regression(C=1.0):
    """Logistic regression for each label, after cleanlab has dropped wrong entries.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty.

    Returns
    -------
    classifier : LabeledRows
        The classifier; its `fit` needs the package cleanlab.

    Examples
    --------
    >>> from demurk.benchmark.rivals import cleanlab_logistic_regression
    >>> cleanlab_logistic_regression().estimator.estimator.C
    1.0
    """
    return LabeledRows(CleanlabFilter(LogisticRegression(C=C, max_iter=1000)))


def supervised_umap(n_components=10, n_neighbors=10, random_state=None):
    """Supervised UMAP of the labelled rows, followed by a vote of neighbours.

    Parameters
    ----------
    n_components : int, default=10
        Dimensions of the map.
    n_neighbors : int, default=10
        Neighbours on the map that vote.
    random_state : int, default=None
        Seed.

    Returns
    -------
    classifier : LabeledRows
        The classifier; its `fit` needs the package umap-learn.

    Examples
    --------
    >>> from demurk.benchmark.rivals import supervised_umap
    >>> supervised_umap(5).estimator
    SupervisedUMAP(n_components=5)
    """
    return LabeledRows(
        SupervisedUMAP(n_components, n_neighbors, random_state), dense=True
    )


def candidate_forest(n_estimators=N_TREES, random_state=None):
    """Random forest that takes every candidate for true.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees.
    random_state : int, default=None
        Seed.

    Returns
    -------
    classifier : EveryCandidate
        The classifier.

    Examples
    --------
    >>> from demurk.benchmark.rivals import candidate_forest
    >>> X, candidates = [[-1.0], [2.0]], [[1, 0], [0, 1]]
    >>> candidate_forest(10, random_state=0).fit(X, candidates).predict([[-1.0]])
    array([0])
    """
    forest = RandomForestClassifier(n_estimators, random_state=random_state)
    return EveryCandidate(forest)


def candidate_logistic_regression(C=1.0):
    """Logistic regression that takes every candidate for true.

    Parameters
    ----------
    C : float, default=1.0
        Inverse of the penalty.

    Returns
    -------
    classifier : EveryCandidate
        The classifier.

    Examples
    --------
    >>> from demurk.benchmark.rivals import candidate_logistic_regression
    >>> X, candidates = [[-1.0], [2.0]], [[1, 0], [0, 1]]
    >>> candidate_logistic_regression().fit(X, candidates).predict([[3.0]])
    array([1])
    """
    return EveryCandidate(LogisticRegression(C=C, max_iter=1000))


def out_of_bag_forest(n_estimators=N_TREES, random_state=None):
    """Random forest whose trees judge the candidates of samples they did not see.

    This is the ranking of cleanlab with a forest's out-of-bag probabilities.

    Parameters
    ----------
    n_estimators : int, default=300
        Number of trees.
    random_state : int, default=None
        Seed.

    Returns
    -------
    estimator : SuspectCandidates
        The estimator.

    Examples
    --------
    >>> from demurk.benchmark.rivals import out_of_bag_forest
    >>> out_of_bag_forest(50).estimator.n_estimators
    50
    """
    forest = RandomForestRegressor(
        n_estimators,
        min_samples_leaf=3,
        max_features="sqrt",
        oob_score=True,
        random_state=random_state,
    )
    return SuspectCandidates(forest)
