"""What stands in for private names of scikit-learn gives the same."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.utils import _compat


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_logistic_regression_without_private_names(make, monkeypatch, rng):
    X = rng.normal(size=(80, 12))
    y = (X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=80) > 0).astype(float)
    for strength in (0.2, 0.6):
        features, weights, intercept = _compat.l1_logistic(make(X), y, strength, 7)
        with monkeypatch.context() as patch:
            patch.setattr(_compat, "_liblinear", None)
            found = _compat.l1_logistic(make(X), y, strength, 7)
        assert 0 < len(features) < 12
        assert_array_equal(found[0], features)
        # Both stop at a tolerance of 1e-4, after other orders of the coordinates.
        assert_allclose(found[1], weights, atol=1e-3)
        assert_allclose(found[2], intercept, atol=1e-3)
