"""MurkyClassifier against the forest a user would fit instead; many labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import tempfile
import time
from pathlib import Path

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.common import (
    CpuBenchmark,
    best_times,
    clustered_data,
    cpu_time,
    size,
)
from demurk import io
from demurk.benchmark import load_protocol
from demurk.benchmark.tasks._few_labels import _spoiled
from demurk.labels import flip_labels
from demurk.multilabel import MurkyClassifier

SETS = load_protocol("few-labels").data_sets
N_JOBS = 2


class Cost(CpuBenchmark):
    """30 % of the rows labelled, a tenth of the labels flipped, two threads."""

    params = size(list(SETS), ["toy"])
    param_names = ("data set",)

    def setup(self, name):
        rows = size(SETS.get(name, {}), {"n_train": 90, "n_test": 30})
        options = {"n_train": None, "n_test": None, **rows}
        try:
            self.data, _ = _spoiled(name, 105, 0.3, "symmetric", 0.1, **options)
        except (OSError, ValueError) as error:
            raise NotImplementedError(str(error)) from error  # asv skips it
        self.n_trees = size(300, 10)
        has = (self.data.given >= 0).any(axis=1)
        self.labeled = self.data.X_train[has], self.data.given[has]

    def _forest(self):
        forest = RandomForestRegressor(
            self.n_trees, max_features="sqrt", n_jobs=N_JOBS, random_state=0
        )
        forest.fit(*self.labeled)

    def _murky(self, members):
        model = MurkyClassifier(
            members, n_estimators=self.n_trees, n_jobs=N_JOBS, random_state=0
        )
        model.fit(self.data.X_train, self.data.given)

    def _ratio(self, members):
        murky, forest = best_times(
            lambda: self._murky(members), self._forest, measure=wall_time
        )
        return murky / forest

    def time_full(self, name):
        self._murky("full")

    def track_full(self, name):
        """Clock of all eight members / of a forest; the goal is at most 4."""
        return self._ratio("full")

    def track_fast(self, name):
        """Clock of the three members of "fast" / of a forest; at most 1.5."""
        return self._ratio("fast")

    track_full.unit = track_fast.unit = "ratio"


class ManyLabels(CpuBenchmark):
    """5,000 rows, a tenth of their labels flipped: what grows with the labels?"""

    params = size([20, 200], [30])
    param_names = ("labels",)
    repeat = 1

    def setup(self, n_labels):
        X, Y = clustered_data(size(5000, 60), 100, n_labels)
        self.rows = X, flip_labels(Y, 0.1, random_state=0).labels
        self.n_trees = size(300, 10)

    def _murky(self):
        return MurkyClassifier(n_estimators=self.n_trees, random_state=0)

    def peakmem_full(self, n_labels):
        self._murky().fit(*self.rows)

    def track_full(self, n_labels):
        """CPU time of all members / of a forest of classification trees."""
        forest = RandomForestClassifier(self.n_trees, random_state=0)
        return cpu_time(lambda: self._murky().fit(*self.rows)) / cpu_time(
            lambda: forest.fit(*self.rows)
        )

    def track_saved(self, n_labels):
        """Size of the saved model / of the table."""
        with tempfile.TemporaryDirectory() as folder:
            path = io.save(self._murky().fit(*self.rows), Path(folder) / "m.skops")
            return path.stat().st_size / self.rows[0].nbytes

    track_full.unit = track_saved.unit = "ratio"


def wall_time(function):
    """Seconds by the clock; CPU seconds would hide what threads bring."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
