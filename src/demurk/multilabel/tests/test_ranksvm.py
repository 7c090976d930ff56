"""RankSVM against a general solver of its primal and dual problems."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from demurk.base import linear_threshold
from demurk.metrics import micro_f1, ranking_loss
from demurk.multilabel._ranksvm import RankSVM


@parametrize_with_checks(
    [
        RankSVM(kernel="linear", random_state=0)
    ],  # the default is checked with all other estimators
    expected_failed_checks=lambda _: {
        "check_classifiers_classes": "-1 means unlabelled, not a class"
    },
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) + 0.5 * rng.normal(size=(60, 5)) > 0).astype(int)
    return X, Y, rng.normal(size=(20, 4))


def primal_value(scores, norm, Y, C):
    """The objective, one pair of labels after another."""
    loss = 0.0
    for s, y in zip(scores, Y):
        pairs = [(k, m) for k in np.flatnonzero(y) for m in np.flatnonzero(1 - y)]
        loss += sum(max(0, 1 - (s[k] - s[m])) for k, m in pairs) / max(len(pairs), 1)
    return 0.5 * norm + C * loss


@pytest.mark.parametrize("C", [0.1, 1.0, 20.0])
def test_linear_machine_minimises_the_primal(data, C):
    X, Y, _ = data
    model = RankSVM(C, kernel="linear", tol=1e-5, random_state=0).fit(X, Y)
    X = X - X.mean(axis=0)
    intercept = model.intercept_ + model.coef_ @ data[0].mean(axis=0)
    norm = (model.coef_**2).sum() + (intercept**2).sum()
    found = primal_value(X @ model.coef_.T + intercept, norm, Y, C)
    assert model.duality_gap_ <= 1e-5

    def value(w):
        w = w.reshape(5, 5)
        return primal_value(X @ w[:, :4].T + w[:, 4], (w**2).sum(), Y, C)

    start = np.column_stack([model.coef_, intercept]).ravel()
    best = minimize(value, start, method="Powell", options={"maxiter": 3}).fun
    assert found <= best * (1 + 1e-4)
    rng = np.random.RandomState(0)
    for _ in range(50):  # no step in any direction leads down
        assert value(start + 0.01 * rng.normal(size=25)) >= found * (1 - 1e-5)


def test_kernel_machine_equals_general_dual_solver(data):
    X, Y = data[0][:15], data[1][:15]
    model = RankSVM(2.0, bandwidth=1.2, tol=1e-6, random_state=0).fit(X, Y)
    K = rbf_kernel(X, gamma=1 / (2 * 1.2**2)) + 1
    triples, bounds = [], []
    for i, y in enumerate(Y):
        pairs = [(k, m) for k in np.flatnonzero(y) for m in np.flatnonzero(1 - y)]
        triples += [(i, k, m) for k, m in pairs]
        bounds += [(0, 2.0 / len(pairs))] * len(pairs)

    def coefficients(alpha):
        beta = np.zeros((5, 15))
        for a, (i, k, m) in zip(alpha, triples):
            beta[k, i] += a
            beta[m, i] -= a
        return beta

    def cost(alpha):
        beta = coefficients(alpha)
        G = beta @ K
        slope = [-(1 - (G[k, i] - G[m, i])) for i, k, m in triples]
        return 0.5 * np.sum(beta * G) - alpha.sum(), np.array(slope)

    start = np.zeros(len(triples))
    best = minimize(
        cost,
        start,
        jac=True,
        bounds=bounds,
        method="TNC",
        options={"maxfun": 20000, "ftol": 1e-12},
    )
    beta = coefficients(best.x)
    assert_allclose(model._scores(X), (beta @ K).T, atol=0.01)


def test_cuts_against_a_search(rng):
    scores = rng.normal(size=(40, 4))
    Y = rng.randint(2, size=(40, 4))
    targets = []
    for s, y in zip(scores, Y):
        ranked = np.sort(s)
        middle = (ranked[1:] + ranked[:-1]) / 2
        cuts = np.r_[ranked[0] - 0.1, middle, ranked[-1] + 0.1]
        mistakes = [np.count_nonzero((s > cut) != (y > 0)) for cut in cuts]
        targets.append(cuts[int(np.argmin(mistakes))])
    design = np.column_stack([scores, np.ones(40)])
    expected = np.linalg.lstsq(design, np.array(targets), rcond=None)[0]
    assert_allclose(linear_threshold(scores, Y > 0), expected)


def test_invariances(data, rng):
    X, Y, new = data
    for kernel in ("rbf", "linear"):
        base = (
            RankSVM(kernel=kernel, tol=1e-6, random_state=0)
            .fit(X, Y)
            .decision_function(new)
        )
        order = rng.permutation(60)
        permuted = RankSVM(kernel=kernel, tol=1e-6, random_state=0).fit(
            X[order], Y[order][:, ::-1]
        )
        assert_allclose(permuted.decision_function(new)[:, ::-1], base, atol=0.02)
        # Sparse features are not centred, which the penalty of the intercept feels.
        atol = 0.02 if kernel == "rbf" else 0.2
        sparse = RankSVM(kernel=kernel, tol=1e-6, random_state=0).fit(csr_array(X), Y)
        assert_allclose(sparse.decision_function(csr_array(new)), base, atol=atol)


def test_unlabelled_rows_are_left_out(data, rng):
    X, Y, new = data
    more = np.vstack([X, rng.normal(size=(9, 4))])
    hidden = np.vstack([Y, np.full((9, 5), -1)])
    base = RankSVM(random_state=0).fit(X, Y)
    assert_allclose(
        RankSVM(random_state=0).fit(more, hidden).decision_function(new),
        base.decision_function(new),
    )


def test_predictions_agree_with_each_other(data):
    X, Y, new = data
    model = RankSVM(random_state=0).fit(X, Y)
    decision = model.decision_function(new)
    assert_array_equal(model.predict(new), decision > 0)
    assert_array_equal(model.predict_proba(new) > 0.5, decision > 0)
    # Ranking beats chance by far, on the training rows.
    assert ranking_loss(Y, model.decision_function(X)) < 0.1


def test_landmarks_come_close(rng):
    X = rng.uniform(-2, 2, size=(300, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X.sum(axis=1) > 0]).astype(int)
    full = RankSVM(random_state=0).fit(X, Y)
    model = RankSVM(n_landmarks=40, random_state=0).fit(X, Y)
    assert len(model._centers) == 40
    assert np.mean(model.predict(X) == full.predict(X)) > 0.95


def test_rows_without_pairs_teach_nothing():
    X, Y = np.eye(4), np.array([[1, 1], [0, 0], [1, 1], [0, 0]])
    model = RankSVM(kernel="linear", random_state=0).fit(X, Y)
    assert_array_equal(model.coef_, 0)
    assert model.n_iter_ == 0


def test_too_few_steps(data):
    with pytest.warns(ConvergenceWarning, match="duality gap is still"):
        RankSVM(100.0, max_iter=3, random_state=0).fit(*data[:2])


def test_behind_pca(rng):
    latent = rng.normal(size=(400, 4))
    X = latent @ rng.normal(size=(4, 50)) + 0.3 * rng.normal(size=(400, 50))
    Y = (latent > 0.3).astype(int)
    model = make_pipeline(PCA(0.95), RankSVM(random_state=0)).fit(X[:250], Y[:250])
    assert model[0].n_components_ == 4
    assert micro_f1(Y[250:], model.predict(X[250:])) > 0.75


def test_class_names_come_back(data):
    X, Y, new = data
    y = np.array(["cat", "dog", "eel"])[Y[:, 0] + Y[:, 1]]
    model = RankSVM(10.0, random_state=0).fit(X, y)
    assert set(model.predict(new)) <= {"cat", "dog", "eel"}
    assert_allclose(model.predict_proba(new).sum(axis=1), 1)
    assert np.mean(model.predict(X) == y) > 0.8
    two = RankSVM(random_state=0).fit(X, Y[:, 0])
    assert two.decision_function(new).shape == (20,)
    assert_array_equal(two.predict(new), two.decision_function(new) > 0)


def test_an_offset_of_the_features_does_not_matter(data):
    X, Y, new = data
    for kernel in ("rbf", "linear"):
        base = RankSVM(30.0, kernel=kernel, tol=1e-6, random_state=0).fit(X, Y)
        moved = RankSVM(30.0, kernel=kernel, tol=1e-6, random_state=0).fit(X + 1e6, Y)
        assert 0 <= moved.duality_gap_ <= 1e-6
        # The scores before the cut, which jumps where two cuts are equally good.
        assert_allclose(moved._scores(new + 1e6), base._scores(new), atol=0.02)
