"""WMLDA against scatter matrices summed one sample and label at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from demurk.labels import check_labels
from demurk.linalg import Sums
from demurk.projection import WMLDA
from demurk.projection._wmlda import between_classes, contrasts
from demurk.projection._wmlda_weights import label_weights

RULES = ["binary", "entropy", "correlation", "fuzzy", "dependence"]


def naive_scatter(X, W):
    D = X.shape[1]
    m = sum(W[i, k] * X[i] for i in range(len(X)) for k in range(W.shape[1]))
    m = m / W.sum()
    Sb, Sw = np.zeros((D, D)), np.zeros((D, D))
    for k in range(W.shape[1]):
        if W[:, k].sum() == 0:
            continue
        mk = W[:, k] @ X / W[:, k].sum()
        Sb += W[:, k].sum() * np.outer(mk - m, mk - m)
        for i in range(len(X)):
            Sw += W[i, k] * np.outer(X[i] - mk, X[i] - mk)
    return m, Sb, Sw


def naive(X, W, reg):
    m, Sb, Sw = naive_scatter(X, W)
    B = Sw + reg * np.eye(X.shape[1])
    values, vectors = eigh(Sb, B)
    return m, values[::-1], vectors[:, ::-1], B


@pytest.fixture(params=[(80, 12), (20, 35)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    Y[5] = 0
    return X, Y


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(data, rule, make):
    X, Y = data
    W = label_weights(rule, X, check_labels(Y), 0)
    mean, values, vectors, B = naive(X, W, 0.1)
    model = WMLDA(weights=rule, random_state=0).fit(make(X), Y)
    P = model.components_.T
    assert P.shape[1] == 3
    assert_allclose(model.mean_, mean)
    assert_allclose(model.eigenvalues_, values[:3], rtol=1e-8)
    assert subspace_angles(P[:, :2], vectors[:, :2]).max() < 1e-6
    assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-8)


def test_within_and_total_scatter_are_equivalent(data):
    X, Y = data
    _, Sb, Sw = naive_scatter(X, Y)
    I = np.eye(X.shape[1])  # noqa: E741
    values, vectors = eigh(Sb, Sb + Sw + 0.1 * I)
    model = WMLDA().fit(X, Y)
    mu = values[::-1][:3]
    assert_allclose(model.eigenvalues_, mu / (1 - mu), rtol=1e-8)
    scaled = vectors[:, ::-1][:, :3] * np.sqrt(1 + model.eigenvalues_)
    assert_allclose(np.abs(model.components_.T), np.abs(scaled), atol=1e-8)


def test_statement_of_the_scatter_matrices(data):
    X, Y = data
    m, Sb, Sw = naive_scatter(X, Y)
    problem = between_classes(Y.astype(float), 0.0)
    sums = Sums(scatter=True).add(X, problem)
    assert_allclose(sums.mean, m)
    assert_allclose(sums.scatter, Sb + Sw)
    M = sums.cross @ problem.combine(sums)
    assert_allclose(M @ M.T, Sb, atol=1e-10)


def test_contrasts(rng):
    counts = np.array([3.0, 0.0, 7.5, 1.0])
    Q = np.sqrt(counts)[:, None] * contrasts(counts)
    assert_allclose(Q.T @ Q, np.eye(2), atol=1e-12)
    assert_allclose(np.sqrt(counts) @ Q, 0, atol=1e-12)
    assert contrasts(np.array([2.0])).shape == (1, 0)


@pytest.mark.parametrize("rule", RULES)
def test_one_class_per_sample_is_ordinary_lda(rng, rule):
    y = rng.randint(3, size=90)
    X = rng.normal(size=(90, 5)) + 2 * np.eye(5)[y]
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    model = WMLDA(weights=rule, reg=0).fit(X, y)
    angles = subspace_angles(model.components_.T, reference.scalings_[:, :2])
    assert angles.max() < 1e-6


def test_relative_ridge(data):
    X, Y = data
    _, Sb, Sw = naive_scatter(X, Y)
    reg = 0.05 * np.trace(Sb + Sw) / X.shape[1]
    a, b = WMLDA(reg="rel:0.05").fit(X, Y), WMLDA(reg=reg).fit(X, Y)
    assert_allclose(a.components_, b.components_, rtol=1e-8)


def test_what_was_not_observed_has_no_weight(data):
    X, Y = data
    murky = Y.copy()
    murky[::3, 1] = -1
    a = WMLDA().fit(X, murky)
    b = WMLDA().fit(X, np.where(murky == -1, 0, murky))
    assert_allclose(a.components_, b.components_)


def test_more_components_than_contrasts(data):
    X, Y = data
    with pytest.warns(UserWarning, match="only 3 directions"):
        assert WMLDA(4).fit(X, Y).components_.shape[0] == 3


def test_impossible_labels_are_an_error(data):
    X, Y = data
    with pytest.raises(ValueError, match="No sample has a label"):
        WMLDA().fit(X, np.zeros_like(Y))
    with pytest.raises(ValueError, match="label"):
        WMLDA().fit(X, np.eye(4, dtype=int)[[1] * len(X)])
    if len(X) < X.shape[1]:
        with pytest.raises(ValueError, match=r"ridge|reg"):
            WMLDA(reg=0).fit(X, Y)


def test_dependence_is_repeatable(data):
    X, Y = data
    a = WMLDA(weights="dependence", random_state=3).fit(X, Y)
    b = WMLDA(weights="dependence", random_state=3).fit(X, Y)
    assert_allclose(a.components_, b.components_, rtol=0, atol=0)
