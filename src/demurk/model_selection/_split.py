"""A splitter that trains on unlabelled rows and tests on labelled ones."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metadata_routing import UNUSED

from demurk.labels import check_labels


class LabeledKFold(BaseCrossValidator):
    """K-fold over the labelled rows; unlabelled rows are in every training set.

    The rows with at least one observed label are dealt into `n_splits` folds. Each
    fold is the test set once; the training set is every other row, so that a
    semi-supervised method sees all unlabelled rows each time.

    A plain :class:`~sklearn.model_selection.KFold` misleads on such data: it puts
    unlabelled rows into the test sets, where scikit-learn's scorers take -1 for a
    class of its own and count every real prediction as wrong (or refuse the labels).
    The `score` of the classifiers here ignores them, but has fewer rows to go by.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.

    shuffle : bool, default=True
        Whether to shuffle the labelled rows before dealing them into folds. Without
        it the folds are runs of neighbouring labelled rows.

    random_state : int, RandomState instance or None, default=None
        Seed of the shuffle. Pass an int for the same folds in every call.

    See Also
    --------
    StratifiedLabeledKFold : With even counts of every label.
    observed_scorer : Scores 2-D labels and ignores the entries not observed.

    Notes
    -----
    Folds are not stratified. Time and memory O(n q) for the check of the labels,
    then O(n) a fold.

    Rows in a test fold may still hold some -1 when `y` is 2-D; the `score` of the
    classifiers here and :func:`observed_scorer` ignore these. With a 1-D `y` test rows
    are fully labelled and the scorers of scikit-learn apply.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.model_selection import LabeledKFold
    >>> X = np.zeros((6, 1))
    >>> y = [0, -1, 1, -1, 1, 0]
    >>> for train, test in LabeledKFold(n_splits=2, shuffle=False).split(X, y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 1 2 3] [4 5]
    """

    # Requested by default: with metadata routing switched on, a mask handed to the
    # search reaches the splitter without further ado.
    __metadata_request__split = {"groups": UNUSED, "observed": True}

    def __init__(self, n_splits=5, *, shuffle=True, random_state=None):
        # Checked here, as scikit-learn's splitters do: nothing else calls a splitter
        # before the folds are made.
        if not isinstance(n_splits, Integral) or isinstance(n_splits, bool):
            raise TypeError(f"n_splits is {n_splits!r}; an integer is needed.")
        if n_splits < 2:
            raise ValueError(f"n_splits is {n_splits}; at least 2 folds are needed.")
        if not isinstance(shuffle, bool | np.bool_):
            raise TypeError(f"shuffle is {shuffle!r}; True or False is needed.")
        if not shuffle and random_state is not None:
            raise ValueError(
                "random_state has no effect with shuffle=False; leave it at None or "
                "set shuffle=True."
            )
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None, observed=None):
        """Return the number of folds.

        Parameters
        ----------
        X : object, default=None
            Ignored.

        y : object, default=None
            Ignored.

        groups : object, default=None
            Ignored.

        observed : object, default=None
            Ignored.

        Returns
        -------
        n_splits : int
            Number of folds.
        """
        return self.n_splits

    def split(self, X, y=None, groups=None, observed=None):
        """Generate the row numbers of each training and test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to split; only their number matters.

        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels. Not observed are -1, NaN and None in a 1-D `y`, -1 and NaN in a
            2-D `y`.

        groups : object, default=None
            Ignored, with a warning.

        observed : array-like of bool, shape (n_samples,) or (n_samples, n_labels), \
                default=None
            Which labels are observed, for a sparse `y` that cannot say so.

        Yields
        ------
        train : ndarray of shape (n_train,)
            Row numbers of the training set: all unlabelled rows and the labelled
            rows of the other folds, in rising order.

        test : ndarray of shape (n_test,)
            Row numbers of the test set: labelled rows, in rising order.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} needs the labels; pass y to split."
            )
        if groups is not None:
            warnings.warn(
                f"{type(self).__name__} ignores groups.", UserWarning, stacklevel=2
            )
        X, y, observed = indexable(X, y, observed)
        labels = check_labels(y, observed=observed)
        rows = np.flatnonzero(labels.labeled)
        if len(rows) < self.n_splits:
            raise ValueError(
                f"y has {len(rows)} row(s) with an observed label, fewer than "
                f"n_splits={self.n_splits}; lower n_splits or label more rows."
            )
        if self.shuffle:
            rows = check_random_state(self.random_state).permutation(rows)
        for fold in self._deal(rows, labels):
            test = np.zeros(labels.n_samples, dtype=bool)
            test[fold] = True
            yield np.flatnonzero(~test), np.flatnonzero(test)

    def _deal(self, rows, labels):
        """Labelled rows of each fold."""
        return np.array_split(rows, self.n_splits)
