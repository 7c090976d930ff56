"""Other ways to a consensus answer in the same form."""

import numpy as np
import pytest

from demurk.annotators import Annotations, Consensus
from demurk.benchmark.rivals._annotators import (
    CrowdKitDawidSkene,
    Crowdlab,
    MajorityForest,
)


def draw(labels):
    rng = np.random.RandomState(0)
    true = rng.randint(2, size=(150, 3)) if labels else rng.randint(3, size=150)
    Y = true if labels else np.eye(3)[true]
    X = rng.normal(size=(150, 4)) + 3 * np.pad(Y, [(0, 0), (0, 1)])
    right = rng.random_sample((150, 4, 3) if labels else (150, 4)) < 0.8
    other = rng.randint(2 if labels else 3, size=right.shape)
    answers = np.where(right, true[:, np.newaxis], other)
    answers[:, 0][rng.random_sample(150) < 0.5] = -1
    return X, true, Annotations.from_array(answers)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize(
    ("rival", "package"),
    [(MajorityForest, None), (CrowdKitDawidSkene, "crowdkit"), (Crowdlab, "cleanlab")],
)
def test_answers_in_our_form(rival, package, labels):
    if package is not None:
        pytest.importorskip(package)
    X, true, said = draw(labels)
    model = rival().fit(X, said)
    assert model.label_distributions_.shape == (150, 3)
    assert model.labels_.shape == true.shape
    assert np.mean(model.labels_ == true) > 0.85
    if not labels:
        np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("labels", [False, True])
def test_crowd_kit_is_our_model_without_a_prior(labels):
    """An independent implementation, run to where nothing changes."""
    pytest.importorskip("crowdkit")
    X, _, said = draw(labels)
    theirs = CrowdKitDawidSkene().fit(X, said).label_distributions_
    ours = Consensus("dawid-skene", smoothing=0).fit(None, said).label_distributions_
    assert np.mean(np.abs(theirs - ours)) < 0.02
