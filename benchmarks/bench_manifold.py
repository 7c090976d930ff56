"""SLE-ML beside its neighbour search and beside scikit-learn's SpectralEmbedding."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import tracemalloc
import warnings

import numpy as np
from sklearn.manifold import SpectralEmbedding
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from benchmarks.common import (
    CpuBenchmark,
    best_times,
    clustered_data,
    cpu_time,
    hide_labels,
    size,
)
from demurk.graph import nearest_neighbors
from demurk.manifold import SLEML, SSDRMC

N_NEIGHBORS = 15


def many_label_sets(n_samples, *, random_state=0):
    """10 features, 20 labels, 500 label sets that follow 500 clusters."""
    rng = check_random_state(random_state)
    n_sets = size(500, 20)
    sets = np.unique(rng.uniform(size=(3 * n_sets, 20)) < 0.15, axis=0)
    sets = sets[rng.permutation(len(sets))[:n_sets]]
    cluster = rng.randint(len(sets), size=n_samples)
    centers = rng.normal(scale=2.0, size=(len(sets), 10))
    X = centers[cluster] + rng.normal(size=(n_samples, 10))
    return X, sets[cluster].astype(np.int8)


class EmbeddingStep(CpuBenchmark):
    """The map after the neighbour graph; scikit-learn's search for comparison."""

    repeat = 1
    params = [10_000, 30_000, 100_000]
    param_names = ["n_samples"]

    def setup(self, n_samples):
        n_samples = size(n_samples, n_samples // 100)
        self.X, self.Y = many_label_sets(n_samples)
        self.graph = nearest_neighbors(self.X, N_NEIGHBORS).distances

    def _embed(self):
        SLEML(n_neighbors=N_NEIGHBORS, neighbors="precomputed", random_state=0).fit(
            self.graph, self.Y
        )

    def time_embedding(self, n_samples):
        self._embed()

    def peakmem_embedding(self, n_samples):
        """Of the whole process; the goal is linear growth."""
        self._embed()

    def track_ratio_to_search(self, n_samples):
        """Ours / scikit-learn's neighbour search; the goal is less than 1."""
        search = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(self.X)
        return cpu_time(self._embed) / cpu_time(search.kneighbors)

    def track_peak_megabytes(self, n_samples):
        """Peak of the arrays that the embedding makes; the goal is linear growth."""
        tracemalloc.start()
        self._embed()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / 1e6

    track_ratio_to_search.unit = "ratio"
    track_peak_megabytes.unit = "MB"


class AgainstSpectralEmbedding(CpuBenchmark):
    """5,000 samples, with the labels, neighbours included."""

    repeat = 1

    def setup(self):
        self.X, self.Y = many_label_sets(size(5000, 300))

    def _ours(self):
        SLEML(n_neighbors=N_NEIGHBORS, random_state=0).fit(self.X, self.Y)

    def _theirs(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            SpectralEmbedding(random_state=0).fit(self.X)

    def time_fit(self):
        self._ours()

    def track_speedup(self):
        """Theirs / ours; the goal is at least 10."""
        return cpu_time(self._theirs) / best_times(self._ours)[0]

    track_speedup.unit = "ratio"


class JointLabelsAndMap(CpuBenchmark):
    """SSDR-MC: 2,000 x 50 samples, 10 labels, 30 % of the rows labelled."""

    def setup(self):
        self.X, Y = clustered_data(size(2000, 200), 50, 10)
        self.Y = hide_labels(Y)

    def time_labels(self):
        SSDRMC(None, random_state=0).fit(self.X, self.Y)

    def time_labels_and_map(self):
        SSDRMC(random_state=0).fit(self.X, self.Y)
