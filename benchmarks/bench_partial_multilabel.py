"""PML-LCom: time and memory with many labels, growth, and its rivals."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import time

import numpy as np

from benchmarks.common import (
    QUICK,
    CpuBenchmark,
    best_cpu_times,
    clustered_data,
    cpu_time,
    size,
)
from demurk.datasets import load_dataset
from demurk.labels import add_noisy_labels
from demurk.partial_multilabel import DRAMA, PMLLRS, PMLLCom


def noisy_data(name):
    """Features and candidates of a benchmark set with as many wrong labels as true.

    A quick run makes its own data; a full one is skipped where the files are absent.
    """
    if QUICK:
        X, Y = clustered_data(120, 10, 25)
    else:
        try:
            found = load_dataset(
                name, data_home=os.environ.get("DEMURK_DATA"), download=False
            )
        except (FileNotFoundError, ValueError) as error:
            raise NotImplementedError(f"{name} is not at hand") from error
        X, Y = found.data, found.target
    return X, add_noisy_labels(Y, 1, random_state=0).labels


class ManyLabels(CpuBenchmark):
    """delicious: 16,105 x 500 and 983 labels; the goals are 300 s and 3 GB."""

    repeat = 1

    def setup(self):
        self.X, self.candidates = noisy_data("delicious")

    def time_fit(self):
        PMLLCom().fit(self.X, self.candidates)

    def peakmem_fit(self):
        """Of the whole process, data included."""
        PMLLCom().fit(self.X, self.candidates)

    def track_seconds(self):
        """On the wall, with all cores."""
        start = time.perf_counter()
        PMLLCom().fit(self.X, self.candidates)
        return time.perf_counter() - start

    track_seconds.unit = "s"


class Growth(CpuBenchmark):
    """Rows of delicious: time should grow no faster than their number."""

    repeat = 1
    rows = size((2000, 4000, 8000, 16_000), (30, 60, 120))

    def setup(self):
        self.X, self.candidates = noisy_data("delicious")
        self.order = np.random.RandomState(0).permutation(len(self.candidates))

    def _fit(self, n_rows, **options):
        rows = np.sort(self.order[:n_rows])
        PMLLCom(tol=0, **options).fit(self.X[rows], self.candidates[rows])

    def track_exponent(self):
        """Slope of log time over log rows, all but the search; the goal is 1."""
        # The neighbours are found once, in time that grows with the square of n.
        times = [cpu_time(lambda n=n: self._fit(n, smoothness=0)) for n in self.rows]
        return np.polyfit(np.log(self.rows), np.log(times), 1)[0]

    def track_exponent_with_search(self):
        """The same with the exact neighbour search."""
        times = [cpu_time(lambda n=n: self._fit(n)) for n in self.rows]
        return np.polyfit(np.log(self.rows), np.log(times), 1)[0]

    track_exponent.unit = "exponent"
    track_exponent_with_search.unit = "exponent"


class Rivals(CpuBenchmark):
    """bibtex: 7,395 x 1,836 and 159 labels; both goals are at least 10."""

    repeat = 1

    def setup(self):
        self.X, self.candidates = noisy_data("bibtex")

    def _ratio(self, rival):
        ours, theirs = best_cpu_times(
            lambda: PMLLCom().fit(self.X, self.candidates),
            lambda: rival.fit(self.X, self.candidates),
            repeat=1,
        )
        return theirs / ours

    def track_low_rank_over_ours(self):
        return self._ratio(PMLLRS())

    def track_drama_over_ours(self):
        return self._ratio(DRAMA())

    track_low_rank_over_ours.unit = "ratio"
    track_drama_over_ours.unit = "ratio"
