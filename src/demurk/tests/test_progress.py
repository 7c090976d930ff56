"""Fits report their stages through scikit-learn's callbacks."""

import numpy as np
import pytest

from demurk.multilabel import SemiSupervisedMLkNN
from demurk.projection import NMLSDR
from demurk.propagation import NoisyLabelPropagation


class Recorder:
    """Callback that writes down the stages."""

    max_propagation_depth = 1

    def __init__(self):
        self.stages = []

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        if context.parent is not None:
            self.stages.append(context.task_name)

    def teardown(self, estimator, context):
        self.stages.append("end")


@pytest.mark.parametrize(
    "estimator, last",
    [
        (NoisyLabelPropagation(3), []),
        (NMLSDR(n_neighbors=3), ["projection"]),
        (SemiSupervisedMLkNN(3), ["ML-kNN"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_stages_are_reported(estimator, last, rng):
    X = rng.normal(size=(20, 3))
    recorder = Recorder()
    estimator.set_callbacks(recorder).fit(X, (X[:, :2] > 0).astype(np.int8))
    assert recorder.stages == ["neighbour search", "label propagation", *last, "end"]
