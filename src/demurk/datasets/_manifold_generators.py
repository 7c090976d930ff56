"""Artificial data with structure in few dimensions and garbage in the others."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from demurk.datasets._files import make_bunch

RING_RADIUS = 1.0
TUBE_RADIUS = 0.25
CLUSTERS_PER_CLASS = 4
CLUSTER_SPREAD = 0.25


def make_torus(n_samples=1000, *, n_garbage=7, garbage_scale=0.25, random_state=None):
    """Make two tori that hang in each other like links of a chain.

    Each class fills the surface of one torus in three dimensions. No plane separates
    the classes, but nowhere do they touch. Further features are garbage.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of samples, at least 2; half of them of each class.
    n_garbage : int, default=7
        Number of normally distributed features without meaning.
    garbage_scale : float, default=0.25
        Their standard deviation; the tubes of the tori have radius 0.25.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n_samples, 3 + n_garbage) float64, `target` (n_samples,) int64,
        `feature_names`, `target_names`, `name`. The rows are in random order.

    See Also
    --------
    make_clusdat : Clusters of two classes in the plane.

    Notes
    -----
    The source [1]_ says that Torus has 1000 samples in two classes of 500, three
    intrinsic features and seven of garbage, and no more. The shape, and the scale of
    the garbage, are ours.

    References
    ----------
    .. [1] M. Tai, M. Kudo, "A supervised Laplacian eigenmap algorithm for
       visualization of multi-label data: SLE-ML", CIARP 2019.
       :doi:`10.1007/978-3-030-33904-3_49`

    Examples
    --------
    >>> from demurk.datasets import make_torus
    >>> torus = make_torus(random_state=0)
    >>> torus.data.shape, torus.target.mean()
    ((1000, 10), np.float64(0.5))
    """
    rng = _check(n_samples, n_garbage, garbage_scale, random_state)
    target = rng.permutation(np.arange(n_samples) % 2)
    around, across = rng.uniform(0, 2 * np.pi, size=(2, n_samples))
    distance = RING_RADIUS + TUBE_RADIUS * np.cos(across)
    ring = np.column_stack([distance * np.cos(around), distance * np.sin(around)])
    height = TUBE_RADIUS * np.sin(across)
    # The second torus stands upright, its middle on the ring of the first.
    lying = np.column_stack([ring, height])
    upright = np.column_stack([RING_RADIUS + ring[:, 0], height, ring[:, 1]])
    signal = np.where(target[:, None] == 0, lying, upright)
    return _bunch("torus", signal, target, n_garbage, garbage_scale, rng)


def make_clusdat(n_samples=1600, *, n_garbage=8, garbage_scale=0.25, random_state=None):
    """Make two classes of four clusters each, which take turns around a circle.

    A class is not one region of the plane but four, each between two of the other
    class. Further features are garbage.

    Parameters
    ----------
    n_samples : int, default=1600
        Number of samples, at least 8; one in eight for each cluster.
    n_garbage : int, default=8
        Number of normally distributed features without meaning.
    garbage_scale : float, default=0.25
        Their standard deviation, by default that of the clusters.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n_samples, 2 + n_garbage) float64, `target` (n_samples,) int64,
        `clusters` (n_samples,) int64 with the cluster of each sample, in order around
        the circle, `feature_names`, `target_names`, `name`. The rows are in random
        order.

    See Also
    --------
    make_torus : Two tori in each other.

    Notes
    -----
    The source [1]_ says that Clusdat has 1600 samples in two classes of 800, two
    intrinsic features and eight of garbage, and no more. The clusters are ours.

    References
    ----------
    .. [1] M. Tai, M. Kudo, "A supervised Laplacian eigenmap algorithm for
       visualization of multi-label data: SLE-ML", CIARP 2019.
       :doi:`10.1007/978-3-030-33904-3_49`

    Examples
    --------
    >>> from demurk.datasets import make_clusdat
    >>> clusdat = make_clusdat(random_state=0)
    >>> clusdat.data.shape, clusdat.target.mean()
    ((1600, 10), np.float64(0.5))
    """
    n_clusters = 2 * CLUSTERS_PER_CLASS
    rng = _check(n_samples, n_garbage, garbage_scale, random_state, n_clusters)
    clusters = rng.permutation(np.arange(n_samples) % n_clusters)
    angle = 2 * np.pi * clusters / n_clusters
    centers = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    signal = centers + CLUSTER_SPREAD * rng.normal(size=(n_samples, 2))
    bunch = _bunch("clusdat", signal, clusters % 2, n_garbage, garbage_scale, rng)
    bunch.clusters = clusters
    return bunch


def _check(n_samples, n_garbage, garbage_scale, random_state, least=2):
    if not isinstance(n_samples, Integral) or n_samples < least:
        raise ValueError(
            f"n_samples must be an integer of at least {least}, got {n_samples!r}."
        )
    if not isinstance(n_garbage, Integral) or n_garbage < 0:
        raise ValueError(f"n_garbage must be an integer >= 0, got {n_garbage!r}.")
    if not isinstance(garbage_scale, Real) or not garbage_scale >= 0:
        raise ValueError(f"garbage_scale must be a number >= 0, got {garbage_scale!r}.")
    return check_random_state(random_state)


def _bunch(name, signal, target, n_garbage, garbage_scale, rng):
    garbage = garbage_scale * rng.normal(size=(len(signal), n_garbage))
    names = [f"x{j + 1}" for j in range(signal.shape[1])]
    names += [f"garbage{j + 1}" for j in range(n_garbage)]
    return make_bunch(
        np.hstack([signal, garbage]), target, names, ["class1", "class2"], name
    )
