"""PML-LCom: time and memory with many labels, growth, and its rivals.

The data are real and not shipped: DEMURK_DATA names their folder, else they lie in
``../shared/data`` beside the checkout. Without them a full run skips.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import time
import tracemalloc
from pathlib import Path

import numpy as np

from benchmarks.common import (
    QUICK,
    CpuBenchmark,
    StageTimes,
    clustered_data,
    cpu_time,
    size,
)
from demurk.datasets import load_dataset
from demurk.labels import add_extra_labels
from demurk.partial_multilabel import DRAMA, PMLLRS, PMLLCom

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def noisy_data(name):
    """Features and candidates of a benchmark set with as many wrong labels as true.

    A quick run makes its own data.
    """
    if QUICK:
        X, Y = clustered_data(120, 10, 25)
    else:
        home = os.environ.get("DEMURK_DATA", BESIDE)
        try:
            found = load_dataset(name, data_home=home, download=False)
        except (FileNotFoundError, ValueError) as error:
            raise NotImplementedError(f"{name} is not at hand") from error
        X, Y = found.data, found.target
    return X, add_extra_labels(Y, 1, random_state=0).labels


class ManyLabels(CpuBenchmark):
    """delicious: 16,105 x 500 and 983 labels; the goals are 300 s and 3 GB."""

    repeat = 1

    def setup(self):
        self.X, self.candidates = noisy_data("delicious")

    def _fit(self):
        PMLLCom(random_state=0).fit(self.X, self.candidates)

    def time_fit(self):
        self._fit()

    def peakmem_fit(self):
        """Of the whole process, data included."""
        self._fit()

    def track_seconds(self):
        """Seconds of a fit on the wall; the goal is 300."""
        start = time.perf_counter()
        self._fit()
        return time.perf_counter() - start

    def track_peak_gigabytes(self):
        """Peak of the arrays made by a fit, without the data; the goal is 3."""
        tracemalloc.start()
        self._fit()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / 1e9

    track_seconds.unit = "s"
    track_peak_gigabytes.unit = "GB"


class Rows(CpuBenchmark):
    """Some rows of delicious, fifteen iterations: the times behind `Growth`."""

    repeat = 1
    params = [2000, 4000, 8000, 16_000]
    param_names = ["n_rows"]

    def setup(self, n_rows):
        X, candidates = noisy_data("delicious")
        rows = some_rows(len(candidates), size(n_rows, n_rows // 50))
        self.X, self.candidates = X[rows], candidates[rows]

    def time_fit(self, n_rows):
        PMLLCom(tol=0, random_state=0).fit(self.X, self.candidates)


class Growth(CpuBenchmark):
    """Rows of delicious: time should grow no faster than their number."""

    repeat = 1
    rows = size((2000, 4000, 8000, 16_000), (30, 60, 120))

    def setup(self):
        self.X, self.candidates = noisy_data("delicious")
        self._seconds = None

    def _times(self):
        """CPU seconds of fits and of the searches in them, (2, n_sizes)."""
        if self._seconds is None:
            self._seconds = np.transpose([self._time(n) for n in self.rows])
        return self._seconds

    def _time(self, n_rows):
        rows, stages = some_rows(len(self.candidates), n_rows), StageTimes()
        model = PMLLCom(tol=0, random_state=0).set_callbacks(stages)
        X, candidates = self.X[rows], self.candidates[rows]
        total = cpu_time(lambda: model.fit(X, candidates))
        return total, stages.seconds["neighbour search"]

    def _exponent(self, seconds):
        return np.polyfit(np.log(self.rows), np.log(seconds), 1)[0]

    def track_exponent(self):
        """Slope of log time over log rows, all but the search; the goal is 1."""
        # The neighbours are found once, in time that grows with the square of n.
        total, search = self._times()
        return self._exponent(total - search)

    def track_exponent_with_search(self):
        """The same with the exact neighbour search."""
        return self._exponent(self._times()[0])

    track_exponent.unit = "exponent"
    track_exponent_with_search.unit = "exponent"


class Rivals(CpuBenchmark):
    """bibtex: 7,395 x 1,836 and 159 labels; both goals are at least 10."""

    repeat = 1

    def setup(self):
        self.X, self.candidates = noisy_data("bibtex")
        self._seconds = {}

    def _cpu(self, cls):
        """CPU seconds of a fit, measured once in a run."""
        if cls not in self._seconds:
            fit = cls().fit
            self._seconds[cls] = cpu_time(lambda: fit(self.X, self.candidates))
        return self._seconds[cls]

    def track_low_rank_over_ours(self):
        """CPU time of PML-LRS / PML-LCom; the goal is 10."""
        return self._cpu(PMLLRS) / self._cpu(PMLLCom)

    def track_drama_over_ours(self):
        """CPU time of DRAMA / PML-LCom; the goal is 10."""
        return self._cpu(DRAMA) / self._cpu(PMLLCom)

    track_low_rank_over_ours.unit = "ratio"
    track_drama_over_ours.unit = "ratio"


def some_rows(n_samples, n_rows):
    """A random choice of rows in their order; smaller choices lie in larger ones."""
    order = np.random.RandomState(0).permutation(n_samples)
    return np.sort(order[:n_rows])
