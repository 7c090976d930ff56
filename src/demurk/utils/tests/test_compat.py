"""What stands in for private names of scikit-learn gives the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.utils import _compat


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_logistic_regression_without_private_names(make, monkeypatch, rng):
    X = rng.normal(size=(80, 6))
    y = (X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=80) > 0).astype(float)
    for strength in (0.1, 0.5):
        features, weights, intercept = _compat.l1_logistic(make(X), y, strength, 7)
        with monkeypatch.context() as patch:
            patch.setattr(_compat, "_liblinear", None)
            found = _compat.l1_logistic(make(X), y, strength, 7)
        assert 0 < len(features) < 6
        assert_array_equal(found[0], features)
        assert_allclose(found[1], weights, rtol=1e-6)
        assert_allclose(found[2], intercept, atol=1e-8)
