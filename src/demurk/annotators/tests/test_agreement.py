"""Agreement against published and independent values."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from demurk.annotators import Annotations
from demurk.annotators._agreement import kappa_of_tables

# Krippendorff's own example: four coders, twelve units; nominal alpha is 0.743.
CODERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
        [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
    ]
)


def test_alpha_of_krippendorff():
    found = Annotations.from_array(CODERS.T).agreement(random_state=0)
    assert round(found.alpha, 3) == 0.743
    assert 0.3 < found.low < found.alpha < found.high <= 1


def test_one_label_is_two_classes():
    rng = np.random.RandomState(0)
    classes = rng.randint(-1, 2, (60, 4))
    as_class = Annotations.from_array(classes).agreement(random_state=0)
    as_label = Annotations.from_array(classes[:, :, np.newaxis]).agreement(
        random_state=0
    )
    for name in ("alpha", "low", "high"):
        assert np.isclose(getattr(as_class, name), getattr(as_label, name))
    np.testing.assert_allclose(as_class.pairs["kappa"], as_label.pairs["kappa"])
    np.testing.assert_allclose(as_class.pairs["low"], as_label.pairs["low"])


def test_kappas_are_scikit_learns():
    rng = np.random.RandomState(1)
    classes = np.where(rng.random_sample((80, 3)) < 0.5, rng.randint(0, 4, (80, 1)), 2)
    classes[rng.random_sample(classes.shape) < 0.2] = -1
    pairs = Annotations.from_array(classes).agreement(n_draws=2, random_state=0).pairs
    assert len(pairs) == 3 and pairs["both"].is_monotonic_decreasing
    for line in pairs.itertuples():
        first, second = classes[:, int(line.first)], classes[:, int(line.second)]
        both = (first >= 0) & (second >= 0)
        assert line.both == both.sum()
        expected = cohen_kappa_score(first[both], second[both])
        assert np.isclose(line.kappa, expected)
        assert line.low < line.kappa < line.high


def test_the_error_of_kappa_is_that_of_many_draws():
    rng = np.random.RandomState(0)
    shares = np.array([[0.4, 0.1], [0.15, 0.35]])
    tables = rng.multinomial(400, shares.ravel(), 4000).reshape(-1, 2, 2)
    kappa, error = kappa_of_tables(tables)
    assert np.isclose(kappa.std(), np.median(error), rtol=0.05)


def test_who_says_one_thing_only():
    array = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, -1]])
    found = Annotations.from_array(array).agreement(random_state=0)
    assert found.people["only"].tolist() == ["", "", "0"]
    assert found.people["rows"].tolist() == [4, 4, 3]
    agrees = found.people["agrees"]
    assert np.isclose(agrees[2], 2 / 3)
    pairs = found.pairs.set_index(["first", "second"])["kappa"]
    assert pairs["0", "1"] == 1 and pairs["0", "2"] == 0
    labels = Annotations.from_array(array[:, :, np.newaxis], classes=["x"])
    assert labels.agreement(random_state=0).people["only"].tolist()[2] == "no label"


@pytest.mark.parametrize("array", [[[0, -1], [-1, 1]], [[0, 0], [0, 0]]])
def test_nothing_to_compare_is_no_number(array):
    found = Annotations.from_array(array).agreement(random_state=0)
    assert np.isnan([found.alpha, found.low, found.high]).all()


def test_all_agree():
    found = Annotations.from_array([[0, 0], [1, 1], [2, 2]]).agreement(random_state=0)
    assert found.alpha == 1 and found.pairs["kappa"].tolist() == [1]
