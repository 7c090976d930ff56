"""Noisy label propagation against scikit-learn's LabelSpreading."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.multioutput import MultiOutputClassifier
from sklearn.semi_supervised import LabelSpreading

from benchmarks.common import (
    CpuBenchmark,
    best_times,
    clustered_data,
    cpu_time,
    hide_labels,
    size,
)
from demurk.propagation import NoisyLabelPropagation

N_NEIGHBORS = 10


class Fit(CpuBenchmark):
    """20,000 x 100 samples, 30 % of them labelled, with two classes or 20 labels."""

    def setup(self):
        self.X, Y = clustered_data(size(20_000, 500), 100, size(20, 4))
        self.Y = hide_labels(Y)
        self.y = self.Y[:, 0]

    def _ours(self, y):
        NoisyLabelPropagation(N_NEIGHBORS).fit(self.X, y)

    def _label_spreading(self, y):
        model = LabelSpreading(kernel="knn", n_neighbors=N_NEIGHBORS)
        if y.ndim == 2:
            model = MultiOutputClassifier(model)
        with warnings.catch_warnings():
            # Its 30 steps may not suffice; that is to its advantage here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.X, y)

    def time_one_label(self):
        self._ours(self.y)

    def time_many_labels(self):
        self._ours(self.Y)

    def peakmem_many_labels(self):
        self._ours(self.Y)

    def track_one_label_ratio(self):
        """Ours / theirs with two classes; the goal is at most 1.1."""
        ours, theirs = best_times(
            lambda: self._ours(self.y), lambda: self._label_spreading(self.y)
        )
        return ours / theirs

    def track_many_labels_ratio(self):
        """Ours / theirs with 20 labels, where theirs fits one model per label."""
        ours = best_times(lambda: self._ours(self.Y))[0]
        return ours / cpu_time(lambda: self._label_spreading(self.Y))

    track_one_label_ratio.unit = "ratio"
    track_many_labels_ratio.unit = "ratio"
