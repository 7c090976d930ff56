"""NMLSDR in the space of a Gaussian kernel."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from demurk.linalg._kernel import gaussian, mean_squared_distance, nystroem_map
from demurk.projection._base import LinearReducer
from demurk.projection._nmlsdr import NMLSDR
from demurk.utils._compat import Interval

__all__ = ["KernelNMLSDR"]


class NystroemReducer(LinearReducer):
    """A reducer whose directions lie in the span of some landmarks' kernels.

    It has the parameters `n_landmarks` and `random_state`.
    """

    _moves_far_rows = True

    def _learn(self, X, y, labels, weights=None):
        rng = check_random_state(self.random_state)
        n = X.shape[0]
        rows = np.arange(n)
        if self.n_landmarks < n:
            rows = np.sort(rng.choice(n, self.n_landmarks, replace=False))
        self._landmarks = X[rows]
        spread = mean_squared_distance(X)
        self.bandwidth_ = np.sqrt(spread / 2) if spread > 0 else 1.0
        self._landmark_map = nystroem_map(self._kernel(self._landmarks))
        super()._learn(self._features(X), y, labels, weights)

    def _kernel(self, X):
        return gaussian(X, self._landmarks, 1 / (2 * self.bandwidth_**2))

    def _features(self, X):
        return (self._kernel(X) @ self._landmark_map).astype(X.dtype, copy=False)

    def transform(self, X):
        """Project samples onto the learned directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Centred samples in the reduced space.
        """
        check_is_fitted(self)
        features = self._features(self._validate_new(X))
        return (features - self.mean_) @ self.components_.T


class KernelNMLSDR(NMLSDR, NystroemReducer):
    """NMLSDR whose directions are curves: in the space of a Gaussian kernel.

    For labels that no straight direction separates, such as rings. Labels are
    propagated as in :class:`NMLSDR`, and the same dependence is maximised over
    functions made of kernels at some of the samples, the landmarks.

    Read more in the :ref:`User Guide <nmlsdr>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that carry dependence, at most the number
        of labels.
    n_landmarks : int, default=300
        Landmarks, drawn from the samples. With all samples it is the kernel form
        itself, with fewer its Nystroem approximation.
    n_neighbors : int, default=10
        Neighbours of each sample in the graph.
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
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_kept)
        Directions among the features of the landmarks, strongest dependence first.
    eigenvalues_ : ndarray of shape (n_components,)
        Dependence captured by each direction.
    mean_ : ndarray of shape (n_kept,)
        Mean of these features, subtracted by `transform`.
    bandwidth_ : float
        Width of the kernel ``exp(-distance^2 / (2 bandwidth^2))``: its exponent is one
        at the mean squared distance between samples.
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
    NMLSDR : The linear form, that of the paper.

    Notes
    -----
    The paper [1]_ names a kernel form as future work and does not write it down. With
    K the kernel of the samples, H the centring and T the targets of NMLSDR, reduced
    samples are ``H K H T V L^-1/2``, where ``V L V'`` is ``T'H K H T``. Landmarks
    replace K by ``K_nm K_mm^-1 K_mn``: the linear form on the features ``K_nm
    K_mm^-1/2``. Neighbours stay those of the features themselves, which a Gaussian
    kernel orders in the same way. The scale of features matters: standardise first.

    Time O(n^2 D) for the exact neighbour search, and for m landmarks O(n m (D + m + q)
    + m^3); memory O(n (k + q + m)).

    References
    ----------
    .. [1] K. Ø. Mikalsen, C. Soguero-Ruiz, F. M. Bianchi, R. Jenssen, "Noisy
       multi-label semi-supervised dimensionality reduction", Pattern Recognition 90,
       2019. :doi:`10.1016/j.patcog.2019.01.033`

    Examples
    --------
    A ring around a disc has no direction of its own:

    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from demurk.labels import flip_labels
    >>> from demurk.projection import NMLSDR, KernelNMLSDR
    >>> X, y = make_circles(300, noise=0.1, factor=0.3, random_state=0)
    >>> inside = np.column_stack([y, 1 - y])
    >>> noisy = flip_labels(inside, 0.1, random_state=0).labels
    >>> bent = KernelNMLSDR(1, random_state=0).fit_transform(X, noisy)[:, 0]
    >>> straight = NMLSDR(1).fit_transform(X, noisy)[:, 0]
    >>> bool(abs(np.corrcoef(bent, y)[0, 1]) > 0.8)
    True
    >>> bool(abs(np.corrcoef(straight, y)[0, 1]) < 0.2)
    True
    """

    _parameter_constraints: dict = {
        **NMLSDR._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        n_landmarks=300,
        n_neighbors=10,
        alpha_labeled=0.6,
        alpha_unlabeled=0.999,
        affinity="knn",
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        super().__init__(
            n_components,
            n_neighbors=n_neighbors,
            alpha_labeled=alpha_labeled,
            alpha_unlabeled=alpha_unlabeled,
            affinity=affinity,
            neighbors=neighbors,
            n_jobs=n_jobs,
        )
        self.n_landmarks = n_landmarks
        self.random_state = random_state
