"""DELIN against the scatter matrices of its definition."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from demurk.labels import add_candidates
from demurk.projection import DELIN
from demurk.projection._disambiguation import choose_candidates, rank_weights


def naive(X, S, n_iter, *, k=8, norm="within", reg="rel:1e-6"):
    """Soft class means, scatter matrices, a dense eigenproblem, a vote; repeat."""
    d = X.shape[1]
    Xc = X - X.mean(axis=0)
    total = Xc.T @ Xc
    total += np.eye(d) * (1e-6 * np.trace(total) / d if reg == "rel:1e-6" else reg)
    Y = S / S.sum(axis=1, keepdims=True)
    for _ in range(n_iter):
        between = np.zeros((d, d))
        for j in np.flatnonzero(Y.sum(axis=0)):
            mean = (Y[:, [j]] * Xc).sum(axis=0) / Y[:, j].sum()
            between += Y[:, j].sum() * np.outer(mean, mean)
        metric = total - between if norm == "within" else total
        values, vectors = eigh(between, metric)
        kept = np.count_nonzero(values > 1e-10 * values[-1])
        values, P = values[::-1][:kept], vectors[:, ::-1][:, :kept]
        Z = Xc @ P
        distances = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
        np.fill_diagonal(distances, np.inf)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
        B = (Y + Y[nearest].sum(axis=1)) * S
        Y = B / B.sum(axis=1, keepdims=True)
    return P, values, Y


@pytest.fixture
def data(rng):
    y = rng.randint(4, size=90)
    X = 1.5 * rng.normal(size=(4, 10))[y] + rng.normal(size=(90, 10)) + 3
    X[rng.uniform(size=X.shape) < 0.3] = 0
    return X, add_candidates(y, 1, random_state=rng).labels.astype(int), y


def quiet(model, X, S):
    """Fit without the warning of turns that did not settle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, S)


@pytest.mark.parametrize("norm", ["within", "total"])
@pytest.mark.parametrize("reg", ["rel:1e-6", 2.0])
@pytest.mark.parametrize("n_iter", [1, 3])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_the_definition(data, norm, reg, n_iter, make):
    X, S, _ = data
    S = np.hstack([S, np.zeros((len(S), 1), dtype=int)])  # a class that nobody has
    P, values, Y = naive(X, S, n_iter, norm=norm, reg=reg)
    model = quiet(DELIN(norm=norm, reg=reg, max_iter=n_iter, tol=0), make(X), S)
    assert model.n_components_ == P.shape[1] == 3
    assert_allclose(model.label_distributions_, Y, atol=1e-8)
    assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    assert_allclose(model.explained_dependence_ratio_, values / values.sum(), rtol=1e-8)
    # Directions and lengths, both up to the sign.
    assert_allclose(abs(model.components_), abs(P.T), atol=1e-7)


@pytest.mark.parametrize("n_features", [60, 2500], ids=["gram", "cg"])
def test_more_features_than_samples(rng, n_features, monkeypatch):
    y = rng.randint(3, size=40)
    X = rng.normal(size=(3, n_features))[y] + 2 * rng.normal(size=(40, n_features))
    S = add_candidates(y, 1, random_state=rng).labels.astype(int)
    options = {"reg": 300.0, "max_iter": 3, "tol": 0}
    dense = quiet(DELIN(**options), X, S)
    if n_features > 2000:
        monkeypatch.setattr("demurk.linalg._metric.MAX_DUAL", 30)
    thin = quiet(DELIN(**options), csr_array(X), S)
    assert_allclose(thin.label_distributions_, dense.label_distributions_, atol=1e-8)
    assert_allclose(thin.components_, dense.components_, atol=1e-8)
    if n_features < 100:
        assert_allclose(
            dense.label_distributions_, naive(X, S, 3, reg=300.0)[2], atol=1e-8
        )


def test_known_classes_give_discriminant_analysis(data):
    X, _, y = data
    model = DELIN(reg=0.0).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert model.n_iter_ == 2
    assert_array_equal(model.labels_, y)
    assert subspace_angles(model.components_.T, lda.scalings_[:, :3]).max() < 1e-7
    assert_allclose(
        model.explained_dependence_ratio_, lda.explained_variance_ratio_[:3], rtol=1e-8
    )


def test_within_norm(data):
    X, _, y = data
    Z = DELIN(reg=0.0).fit(X, y).transform(X)
    within = sum(
        (Z[y == c] - Z[y == c].mean(axis=0)).T @ (Z[y == c] - Z[y == c].mean(axis=0))
        for c in range(4)
    )
    assert_allclose(within, np.eye(3), atol=1e-9)
    Z = DELIN(reg=0.0, norm="total").fit(X, y).transform(X)
    assert_allclose(Z.T @ Z, np.eye(3), atol=1e-9)


def test_separable_classes_keep_finite_lengths():
    # All of the scatter lies between the classes.
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 5, axis=0)
    model = DELIN(reg=0.0).fit(X, np.repeat([0, 1, 2], 5))
    assert np.isfinite(model.transform(X)).all()
    assert_allclose(model.eigenvalues_, 1e9, rtol=1e-3)


def test_invariances(data, rng):
    X, S, _ = data
    fit = DELIN(max_iter=6)
    base = quiet(fit, X, S)
    Y, components = base.label_distributions_, base.components_
    order, columns = rng.permutation(len(X)), rng.permutation(S.shape[1])
    permuted = quiet(fit, X[order], S[order])
    assert_allclose(permuted.label_distributions_, Y[order], atol=1e-10)
    assert_allclose(permuted.components_, components, atol=1e-8)
    renamed = quiet(fit, X, S[:, columns])
    assert_allclose(renamed.label_distributions_, Y[:, columns], atol=1e-10)
    assert_allclose(renamed.components_, components, atol=1e-8)
    # Without a ridge, any linear map of the features is undone.
    plain = DELIN(max_iter=6, reg=0.0)
    Y = quiet(plain, X, S).label_distributions_
    mixed = quiet(plain, X @ rng.normal(size=(10, 10)), S)
    assert_allclose(mixed.label_distributions_, Y, atol=1e-8)


def test_confidences_stay_on_the_candidates(data):
    X, S, y = data
    S[:20] = np.eye(4, dtype=int)[y[:20]]
    S[-5:] = -1
    model = quiet(DELIN(), X, S)
    assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert (model.label_distributions_[S == 0] == 0).all()
    assert_array_equal(model.label_distributions_[:20], S[:20])
    # A guess among the candidates is right for 0.6 of the samples.
    assert (model.labels_ == y).mean() > 0.8


def test_number_of_directions(data):
    X, S, _ = data
    assert quiet(DELIN(2, max_iter=2), X, S).components_.shape == (2, 10)
    with pytest.warns(UserWarning, match="only 3 directions"):
        assert DELIN(7, max_iter=1).fit(X, S).n_components_ == 3


def test_labels_that_say_nothing(data):
    X, S, _ = data
    with pytest.raises(ValueError, match="No direction"):
        DELIN().fit(X, np.ones_like(S))
    with pytest.raises(ValueError, match="No direction"):
        DELIN().fit(np.ones_like(X), S)


def test_noise_features_are_removed(rng):
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(np.hstack([X, rng.normal(size=(len(X), 200))]))
    S = add_candidates(y, 2, random_state=rng).labels
    train, test = train_test_split(np.arange(len(X)), random_state=0, stratify=y)
    model = quiet(DELIN(max_iter=15), X[train], S[train])
    assert (model.labels_ == y[train]).mean() >= 0.95
    knn = KNeighborsClassifier(10).fit(model.transform(X[train]), model.labels_)
    assert knn.score(model.transform(X[test]), y[test]) >= 0.90


def test_neighbours_choose_one_candidate():
    candidates = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 0, 1]]) > 0
    Y = np.array([[0.2, 0.5, 0.3, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0.5, 0, 0.5]])
    # The votes of three neighbours, the nearest first.
    votes = [[0, 3, 2, 1], [3, 0, 1, 2], [1, 2, 0, 3], [0, 2, 3, 0]]
    found = choose_candidates(Y, candidates, csr_array(np.array(votes, dtype=float)))
    # Row 0: 3, 0.5 and 2 votes; one of three neighbours has the first class.
    assert_allclose(found[0], [1 / 3, 1 / 3, 1 / 3, 0])
    # Row 1: 0.6 and 2.5 votes for the first two; two of three have the second.
    assert_allclose(found[1], [1 / 3, 2 / 3, 0, 0])
    # One candidate keeps all; so does a sample whose candidates nobody votes for.
    assert_array_equal(found[2], [0, 0, 1, 0])
    assert_allclose(found[3], [1 / 2, 1 / 4, 0, 1 / 4])
    nobody = choose_candidates(Y, candidates, csr_array((4, 4)))
    assert_array_equal(nobody, Y)
    # Two that tie share what they get: half of the neighbours have each.
    tied = np.array([[0.5, 0.5, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    graph = csr_array(np.array([[0, 1.0, 1, 0]] * 4))
    found = choose_candidates(tied, np.tile([True, True, True, False], (4, 1)), graph)
    assert_allclose(found[0], [1 / 4, 1 / 4, 1 / 2, 0])


def test_nearest_neighbours_count_more():
    distances = csr_array(np.array([[0, 0.5, 0.1, 2], [1, 0, 3, 0.2]]))
    found = rank_weights(distances).toarray()
    assert_array_equal(found, [[0, 2, 3, 1], [2, 0, 1, 3]])


def test_chosen_candidates_disambiguate(rng):
    X, y = load_digits(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[:300]), y[:300]
    S = add_candidates(y, 2, random_state=rng).labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DELIN(vote="chosen", reg="rel:1e-2", max_iter=20).fit(X, S)
    assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert not model.label_distributions_[S == 0].any()
    assert (model.labels_ == y).mean() > 0.9
