"""CENDA: what its turns cost beside the neighbour searches, and its memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
import tracemalloc
import warnings
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from benchmarks.common import QUICK, CpuBenchmark, cpu_time, size
from demurk.graph import nearest_neighbors
from demurk.labels import add_candidates
from demurk.projection import CENDA


def candidate_data(n_samples, n_features, n_classes, *, random_state=0):
    """One Gaussian cluster per class, with one wrong candidate beside the true one."""
    rng = check_random_state(random_state)
    y = np.arange(n_samples) % n_classes
    centers = 0.4 * rng.normal(size=(n_classes, n_features))
    X = centers[y] + rng.normal(size=(n_samples, n_features))
    return X, add_candidates(y, 1, random_state=rng).labels


class Fit(CpuBenchmark):
    """6,000 x 500 samples, 50 classes, ten turns."""

    repeat = 1

    def setup(self):
        shape = size((6000, 500, 50), (200, 20, 4))
        self.X, self.candidates = candidate_data(*shape)

    def _fit(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            CENDA(max_iter=10, tol=0).fit(self.X, self.candidates)

    def time_fit(self):
        self._fit()

    def peakmem_fit(self):
        """Of the whole process, data included."""
        self._fit()

    def track_peak_over_data(self):
        """Peak of the arrays made by a fit / size of X; all pairs would add 12."""
        tracemalloc.start()
        self._fit()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / self.X.nbytes

    def track_rest_over_search(self):
        """(Total - searches) / searches, in one fit; the goal is at most 0.30."""
        shares = []
        for _ in range(1 if QUICK else 3):
            total, searches = self._times()
            shares.append((total - searches) / searches)
        return min(shares)

    def _times(self):
        """CPU seconds of a fit and of the neighbour searches in it."""
        searches = []

        def timed(*args, **kwargs):
            start = time.process_time()
            found = nearest_neighbors(*args, **kwargs)
            searches.append(time.process_time() - start)
            return found

        with patch("demurk.projection._disambiguation.nearest_neighbors", timed):
            total = cpu_time(self._fit)
        return total, sum(searches)

    track_peak_over_data.unit = "ratio"
    track_rest_over_search.unit = "ratio"
