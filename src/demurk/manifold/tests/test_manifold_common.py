"""scikit-learn's checks, and ours, over all embeddings."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from demurk.manifold import (
    CCDR,
    SLE,
    SLEML,
    SSDRMC,
    ConstraintScore,
    LaplacianEigenmaps,
    SLapEig,
)

ESTIMATORS = [
    CCDR(random_state=0),
    SLE(random_state=0),
    SLEML(random_state=0),
    SSDRMC(random_state=0),
    ConstraintScore(random_state=0),
    LaplacianEigenmaps(random_state=0),
    SLapEig(random_state=0),
]
SUPERVISED = [e for e in ESTIMATORS if not isinstance(e, LaplacianEigenmaps)]


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(60, 6))
    Y = (X[:, :3] + rng.normal(size=(60, 3)) > 0).astype(int)
    Y[rng.permutation(60)[:20]] = -1
    return X, Y


def name(estimator):
    return type(estimator).__name__


@pytest.mark.filterwarnings("ignore:The graph")
@pytest.mark.parametrize("estimator", SUPERVISED, ids=name)
def test_murky_labels(estimator, murky):
    X, Y = murky
    model = clone(estimator)
    Z = model.fit_transform(X, Y)
    assert Z.shape == (60, 2) and np.isfinite(Z).all()
    assert_allclose(model.embedding_, Z)
    assert_allclose(model.transform(X), Z, atol=1e-9)
    swapped = clone(estimator).fit_transform(X, Y[:, [2, 0, 1]])
    assert_allclose(swapped, Z, atol=1e-7)
    sparse = clone(estimator).fit_transform(csr_array(X), Y)
    assert_allclose(sparse, Z, atol=1e-6)


@pytest.mark.filterwarnings("ignore:The graph")
@pytest.mark.parametrize("estimator", SUPERVISED, ids=name)
@pytest.mark.parametrize("method", ["harmonic", "nystroem", "linear", "kernel"])
def test_every_way_of_placing(estimator, method, murky, rng):
    X, Y = murky
    if "out_of_sample" not in estimator.get_params():
        pytest.skip("has a way of its own")
    model = clone(estimator).set_params(out_of_sample=method).fit(X, Y)
    new = rng.normal(size=(8, 6))
    Z = model.transform(new)
    assert Z.shape == (8, 2) and np.isfinite(Z).all()
    assert_allclose(model.transform(new[::-1]), Z[::-1])


def test_in_a_pipeline_with_a_search(rng):
    y = rng.randint(3, size=120)
    X = rng.normal(size=(120, 5)) + 3 * rng.normal(size=(3, 5))[y]
    pipeline = make_pipeline(
        SLEML(n_neighbors=10, random_state=0), KNeighborsClassifier(5)
    )
    grid = {"sleml__feature_weight": [0.5, 0.9], "sleml__n_components": [1, 2]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8


def test_approximate_neighbours(rng):
    pytest.importorskip("faiss")
    y = rng.randint(3, size=3000)
    X = rng.normal(size=(3000, 8)) + rng.normal(size=(3, 8))[y]
    exact = SLEML(n_neighbors=10, random_state=0).fit(X, y)
    model = SLEML(n_neighbors=10, neighbors="approx", random_state=0).fit(X, y)
    assert model.neighbors_recall_ >= 0.95
    for column in range(2):
        pair = model.embedding_[:, column], exact.embedding_[:, column]
        assert abs(np.corrcoef(*pair)[0, 1]) > 0.99
