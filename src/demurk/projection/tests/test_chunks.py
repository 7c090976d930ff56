"""Fitting in chunks gives what fitting at once gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array

from demurk.projection import (
    MDDM,
    MLSI,
    MVMD,
    NMLSDR,
    WMLDA,
    LabelCCA,
    fit_chunks,
)

REDUCERS = [
    MDDM(2),
    MDDM(2, decorrelation=0.5),
    MVMD(6),
    MVMD(6, dependence_weight="balanced"),
    LabelCCA(2),
    LabelCCA(2, reg="rel:0.1"),
    WMLDA(2),
    WMLDA(2, weights="entropy", reg="rel:0.1"),
    WMLDA(2, weights="correlation"),
]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(90, 9)) + 5
    Y = (X[:, :4] + rng.normal(size=(90, 4)) > 5).astype(int)
    Y[10:20] = -1  # a chunk without any label
    Y[::7, 1] = -1
    Y[:, 3] = 0  # an empty label
    Y[4] = 0
    return X, Y


def split(X, Y, make=np.asarray, size=10):
    return [(make(X[i : i + size]), Y[i : i + size]) for i in range(0, len(X), size)]


@pytest.mark.parametrize("reducer", REDUCERS, ids=str)
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_chunks_equal_the_whole(reducer, make, data):
    X, Y = data
    whole = reducer.fit(X, Y)
    expected = (whole.components_, whole.eigenvalues_, whole.mean_)
    found = fit_chunks(reducer, split(X, Y, make))
    assert found is reducer
    assert subspace_angles(found.components_.T, expected[0].T).max() < 1e-6
    assert_allclose(found.components_, expected[0], atol=1e-8)
    assert_allclose(found.eigenvalues_, expected[1], rtol=1e-8)
    assert_allclose(found.mean_, expected[2])
    assert found.n_features_in_ == 9


def test_generators_and_functions(data):
    X, Y = data
    expected = MDDM(2).fit(X, Y).components_
    found = fit_chunks(MDDM(2), (chunk for chunk in split(X, Y)))
    assert_allclose(found.components_, expected, atol=1e-10)
    correlation = WMLDA(2, weights="correlation")
    found = fit_chunks(correlation, lambda: iter(split(X, Y))).components_
    assert_allclose(found, correlation.fit(X, Y).components_, atol=1e-8)
    with pytest.raises(ValueError, match="twice"):
        fit_chunks(correlation, iter(split(X, Y)))


def test_float32(data):
    X, Y = data
    model = fit_chunks(MDDM(2), split(X.astype(np.float32), Y))
    assert model.components_.dtype == model.mean_.dtype == np.float32
    mixed = split(X.astype(np.float32), Y)[:4] + split(X, Y)[4:]
    assert fit_chunks(MDDM(2), mixed).components_.dtype == np.float64


@pytest.mark.parametrize(
    "reducer", [NMLSDR(), MLSI(), WMLDA(weights="fuzzy"), WMLDA(weights="dependence")]
)
def test_others_say_which_can(reducer, data):
    with pytest.raises(TypeError, match="MDDM, MVMD, LabelCCA and WMLDA"):
        fit_chunks(reducer, split(*data))


def test_wrong_chunks_are_named(data):
    X, Y = data
    with pytest.raises(ValueError, match="chunk 1 has shape"):
        fit_chunks(MDDM(), [(X, Y), (X, Y[:, :3])])
    with pytest.raises(ValueError, match="chunk 0 has shape"):
        fit_chunks(MDDM(), [(X, Y[:-1])])
    with pytest.raises(ValueError, match="indicator"):
        fit_chunks(MDDM(), [(X, Y[:, 0])])
    with pytest.raises(ValueError, match="features"):
        fit_chunks(MDDM(), [(X, Y), (X[:, :3], Y)])
    with pytest.raises(ValueError, match="no observed label"):
        fit_chunks(MDDM(), [(X, np.full_like(Y, -1))])
    with pytest.raises(ValueError, match="no observed label"):
        fit_chunks(LabelCCA(), [])
    with pytest.raises(ValueError, match="decorrelation"):
        fit_chunks(MDDM(decorrelation=2), split(X, Y))
