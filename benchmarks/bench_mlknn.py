"""ML-kNN against the searches it cannot avoid, and against scikit-multilearn-ng."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from sklearn.neighbors import NearestNeighbors

from benchmarks.common import (
    CpuBenchmark,
    best_times,
    clustered_data,
    cpu_time,
    size,
)
from demurk.multilabel import MLkNN

N_NEIGHBORS = 10


class FitPredict(CpuBenchmark):
    """8,000 x 100 training samples, 20 labels, 2,000 queries."""

    def setup(self):
        n_train, n_queries = size((8000, 2000), (400, 100))
        X, Y = clustered_data(n_train + n_queries, 100, 20)
        self.X, self.Y, self.queries = X[:n_train], Y[:n_train], X[n_train:]

    def _ours(self):
        return MLkNN(N_NEIGHBORS).fit(self.X, self.Y).predict(self.queries)

    def _searches(self):
        search = NearestNeighbors(n_neighbors=N_NEIGHBORS, algorithm="brute")
        search.fit(self.X)
        search.kneighbors()
        search.kneighbors(self.queries)

    def _scikit_multilearn(self):
        from skmultilearn.adapt import MLkNN as TheirMLkNN

        return TheirMLkNN(k=N_NEIGHBORS).fit(self.X, self.Y).predict(self.queries)

    def time_fit_predict(self):
        self._ours()

    def peakmem_fit_predict(self):
        self._ours()

    def track_ratio_to_searches(self):
        """Ours / the two bare searches; the goal is at most 1.3."""
        ours, searches = best_times(self._ours, self._searches)
        return ours / searches

    def track_speedup_over_scikit_multilearn(self):
        """Theirs / ours; the goal is at least 8."""
        return cpu_time(self._scikit_multilearn) / best_times(self._ours)[0]

    track_ratio_to_searches.unit = "ratio"
    track_speedup_over_scikit_multilearn.unit = "ratio"
