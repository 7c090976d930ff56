"""What the benchmarks share: data, sizes and CPU time.

Times are CPU seconds over all threads of the process, which a busy machine disturbs
less than the clock on the wall. ``DEMURK_QUICK=1`` shrinks every size, so that the
tests can run each benchmark once; the ratios of a quick run mean nothing.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import time

import numpy as np
from sklearn.utils import check_random_state

QUICK = os.environ.get("DEMURK_QUICK") == "1"

N_CLUSTERS = 30
INTRINSIC_DIMENSION = 12


class CpuBenchmark:
    """Settings of asv: CPU time, one call per sample, room for slow rivals."""

    timer = time.process_time
    number = 1
    repeat = 3
    rounds = 1
    warmup_time = 0
    timeout = 3600


def size(full, quick):
    """Choose the size of a benchmark."""
    return quick if QUICK else full


def clustered_data(n_samples, n_features, n_labels, *, random_state=0):
    """Gaussian clusters of intrinsic dimension 12, each with its own labels.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Shape of the data.
    random_state : int, default=0
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Features.
    Y : ndarray of shape (n_samples, n_labels), int8
        Labels, 0 or 1; every label is carried by at least one cluster and not by all.
    """
    rng = check_random_state(random_state)
    cluster = rng.randint(N_CLUSTERS, size=n_samples)
    centers = rng.normal(scale=2.0, size=(N_CLUSTERS, INTRINSIC_DIMENSION))
    latent = centers[cluster] + rng.normal(size=(n_samples, INTRINSIC_DIMENSION))
    X = latent @ rng.normal(size=(INTRINSIC_DIMENSION, n_features))
    X += 0.1 * rng.normal(size=X.shape)
    carried = rng.uniform(size=(N_CLUSTERS, n_labels)) < 0.15
    labels = np.arange(n_labels)
    carried[labels % N_CLUSTERS, labels] = True
    carried[(labels + 1) % N_CLUSTERS, labels] = False
    return X, carried[cluster].astype(np.int8)


def hide_labels(Y, share_labeled=0.3, *, random_state=0):
    """Copy Y with -1 in all rows but a random share."""
    hidden = check_random_state(random_state).uniform(size=len(Y)) >= share_labeled
    Y = Y.copy()
    Y[hidden] = -1
    return Y


def cpu_time(function):
    """CPU seconds of one call, over all threads."""
    start = time.process_time()
    function()
    return time.process_time() - start


def best_times(*functions, repeat=3, measure=cpu_time):
    """Least seconds of each function, taken in turns so that load hits all."""
    times = [[measure(f) for f in functions] for _ in range(1 if QUICK else repeat)]
    return np.min(times, axis=0)


class StageTimes:
    """scikit-learn callback that notes the CPU seconds of each stage of a fit.

    Attributes
    ----------
    seconds : dict of str to float
        Time of every named stage.
    """

    def setup(self, estimator, context):
        self.seconds = {}
        self._begin = {}

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self._begin[context.task_name] = time.process_time()

    def on_fit_task_end(self, estimator, context, **kwargs):
        name = context.task_name
        self.seconds[name] = time.process_time() - self._begin[name]
        return False
