"""CLPL against its objective, written down one sample at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad, minimize
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from demurk.labels import add_candidates
from demurk.partial_label import CLPL
from demurk.partial_label._clpl import ConvexObjective


def literal_objective(parameters, X, S, reg):
    W, b = (
        parameters.reshape(S.shape[1], -1)[:, :-1],
        parameters.reshape(S.shape[1], -1)[:, -1],
    )
    loss = 0
    for x, s in zip(X, S):
        scores = W @ x + b
        loss += max(0, 1 - scores[s == 1].mean()) ** 2
        loss += sum(max(0, 1 + score) ** 2 for score in scores[s == 0])
    return reg / 2 * (W**2).sum() + loss / len(X)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(40, 3, centers=4, cluster_std=2.0, random_state=2)
    X = StandardScaler().fit_transform(X)
    return X, y, add_candidates(y, n_extra=1, random_state=0).labels


def test_value_and_gradient(blobs, rng):
    X, _, S = blobs
    function = ConvexObjective(X, S == 1, 0.3)
    for _ in range(5):
        v = rng.normal(size=function.size)
        assert function(v)[0] == pytest.approx(literal_objective(v, X, S, 0.3))
        error = check_grad(lambda u: function(u)[0], lambda u: function(u)[1], v)
        assert error < 1e-5


def test_reaches_the_one_minimum(blobs, rng):
    X, _, S = blobs
    model = CLPL(reg=0.1, tol=1e-9).fit(X, S)
    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    other = minimize(
        literal_objective, rng.normal(size=16), args=(X, S, 0.1), method="BFGS"
    )
    assert literal_objective(found, X, S, 0.1) == pytest.approx(other.fun, abs=1e-8)
    # The weights are unique, thanks to the penalty.
    assert_allclose(model.coef_, other.x.reshape(4, 4)[:, :-1], atol=1e-3)


def test_uninformative_rows_and_absent_classes_are_left_out(blobs, rng):
    X, _, S = blobs
    base = CLPL(tol=1e-9).fit(X, S)
    crowd = np.vstack([X, rng.normal(size=(9, 3))])
    more = CLPL(tol=1e-9).fit(crowd, np.vstack([S, S[:9] | 1]))
    assert_allclose(more.coef_, base.coef_)
    wide = CLPL(tol=1e-9).fit(X, np.insert(S, 4, 0, axis=1))
    assert_allclose(wide.coef_[:4], base.coef_)
    assert_array_equal(wide.coef_[4], 0)


def test_too_few_steps_warn(blobs):
    X, _, S = blobs
    with pytest.warns(ConvergenceWarning, match="after 2 steps"):
        CLPL(max_iter=2).fit(X, S)
