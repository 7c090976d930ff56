"""Features of unit variance, whatever their scale before."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.preprocessing import StandardScaler

from demurk.benchmark.rivals import standardized
from demurk.partial_label import PLkNN


def test_scales_do_not_matter(rng):
    X = rng.normal(size=(80, 3))
    candidates = np.eye(3, dtype=int)[X.argmax(axis=1)]
    candidates[::4] = 1
    model = standardized("demurk.partial_label.PLkNN").fit(X, candidates)
    scaled = standardized("demurk.partial_label.PLkNN")
    scaled.fit(X * [1, 100, 1e-3], candidates)
    assert_array_equal(scaled.predict(X * [1, 100, 1e-3]), model.predict(X))
    Z = StandardScaler().fit_transform(X)
    assert_array_equal(model.predict(X), PLkNN().fit(Z, candidates).predict(Z))
