"""MurkyClassifier against the forest a user would fit instead."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time

from sklearn.ensemble import RandomForestRegressor

from benchmarks.common import CpuBenchmark, size
from demurk.benchmark import load_protocol
from demurk.benchmark.tasks._few_labels import _spoiled
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
        return wall_time(lambda: self._murky(members)) / wall_time(self._forest)

    def time_full(self, name):
        self._murky("full")

    def track_full(self, name):
        """Clock of all eight members / of a forest; the goal is at most 8."""
        return self._ratio("full")

    def track_fast(self, name):
        """Clock of the three members of "fast" / of a forest."""
        return self._ratio("fast")

    track_full.unit = track_fast.unit = "ratio"


def wall_time(function):
    """Seconds by the clock; CPU seconds would hide what threads bring."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
