"""Views of the features against scikit-learn's own transformers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler

from demurk.out_of_sample import FeatureViews


@pytest.fixture
def words(rng):
    return rng.poisson(0.1, size=(50, 40)).astype(float)


@pytest.fixture
def numbers(rng):
    return rng.normal(3.0, 2.0, size=(50, 6))


def test_words_become_tfidf(words):
    views = FeatureViews(n_components=0).fit(words)
    assert views.mostly_zero_
    expected = TfidfTransformer().fit_transform(csr_matrix(words)).toarray()
    found = views.views(words, ["scaled", "linear"])
    assert_allclose(found["scaled"].toarray(), expected)
    assert_allclose(found["linear"].toarray(), MaxAbsScaler().fit_transform(words))


def test_words_without_weights_are_unit_rows(words):
    found = (
        FeatureViews(tfidf=False, n_components=0).fit(words).views(words, ["scaled"])
    )
    assert_allclose(found["scaled"].toarray(), Normalizer().fit_transform(words))


def test_numbers_are_standardised(numbers):
    numbers = np.column_stack([numbers, np.full(50, 0.1)])  # and a constant
    found = (
        FeatureViews(n_components=0).fit(numbers).views(numbers, ["scaled", "linear"])
    )
    expected = StandardScaler().fit_transform(numbers)
    expected[:, -1] = 0
    assert_allclose(found["scaled"], expected, atol=1e-12)
    assert_allclose(found["linear"], expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_reduced_are_principal_components(kind, request):
    X = request.getfixturevalue(kind)
    views = FeatureViews(n_components=3, random_state=0).fit(X)
    found = views.views(X, ["scaled", "reduced", "raw+reduced"])
    scaled = found["scaled"]
    scaled = scaled.toarray() if kind == "words" else scaled
    expected = PCA(3, svd_solver="full").fit_transform(scaled)
    signs = np.sign((expected * found["reduced"]).sum(axis=0))
    assert_allclose(found["reduced"] * signs, expected, atol=1e-8)
    assert_allclose(found["raw+reduced"], np.hstack([X, found["reduced"]]))


@pytest.mark.parametrize("kind", ["words", "numbers"])
def test_sparse_equals_dense(kind, request):
    X = request.getfixturevalue(kind)
    names = ["scaled", "linear", "reduced", "raw+reduced"]
    dense = FeatureViews(n_components=3, random_state=0).fit(X).views(X, names)
    S = csr_array(X)
    found = FeatureViews(n_components=3, random_state=0).fit(S).views(S, names)
    for name in names:
        a, b = (
            v.toarray() if hasattr(v, "toarray") else v
            for v in (dense[name], found[name])
        )
        assert_allclose(a, b, atol=1e-8, err_msg=name)


def test_scales_come_from_the_rows_seen_in_fit(numbers):
    views = FeatureViews(n_components=0).fit(numbers)
    new = views.views(numbers[:1] + 100, ["scaled"])["scaled"]
    assert_allclose(new, (numbers[:1] + 100 - numbers.mean(0)) / numbers.std(0))


def test_more_components_than_rows(words, numbers):
    for X in (words[:4], numbers[:4], csr_array(words[:4])):
        assert FeatureViews().fit(X).views(X, ["reduced"])["reduced"].shape == (4, 4)
