"""Weights of samples: as often as the row counts."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from demurk.labels import hide_entries
from demurk.model_selection import LabeledKFold
from demurk.multilabel import MLkNN
from demurk.multilabel._mlknn import fit_posterior
from demurk.projection import MDDM, NMLSDR


@pytest.fixture
def weighted(rng):
    """Features, labels with entries and rows hidden, and weights from 0 to 3."""
    X = rng.normal(size=(60, 5))
    Y = (X[:, :3] + rng.normal(size=(60, 3)) > 0).astype(int)
    Y = hide_entries(Y, 0.3, random_state=0).labels
    Y[:10] = -1
    return X, Y, rng.randint(0, 4, size=60)


@pytest.mark.parametrize("decorrelation", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("wide", [False, True])
def test_mddm_counts_rows_as_if_repeated(weighted, rng, decorrelation, wide):
    X, Y, weights = weighted
    if wide:
        X = np.hstack([X, rng.normal(size=(60, 200))])
    rows = np.repeat(np.arange(60), weights)
    # With more features than rows, decorrelation alone leaves nothing to compare.
    model = MDDM(3, decorrelation=min(decorrelation, 0.9) if wide else decorrelation)
    expected = clone(model).fit(X[rows], Y[rows])
    found = clone(model).fit(X, Y, sample_weight=weights)
    assert_allclose(found.mean_, expected.mean_, atol=1e-12)
    assert_allclose(found.eigenvalues_, expected.eigenvalues_)
    assert_allclose(found.components_, expected.components_, atol=1e-8)
    plain = clone(model).fit(X, Y)
    assert np.abs(plain.components_ - found.components_).max() > 1e-3


def test_nmlsdr_weighs_the_directions_but_not_the_propagation(weighted):
    X, Y, weights = weighted
    plain = NMLSDR(2).fit(X, Y)
    found = NMLSDR(2).fit(X, Y, sample_weight=weights)
    assert_allclose(found.label_distributions_, plain.label_distributions_)
    assert_allclose(found.mean_, np.average(X, axis=0, weights=weights))
    soft = plain.label_distributions_
    targets = np.where(Y == -1, soft, soft > 0.5)
    cross = (X - found.mean_).T @ (weights[:, np.newaxis] * targets)
    left, values, _ = np.linalg.svd(cross)
    assert_allclose(found.eigenvalues_, values[:2] ** 2)
    assert_allclose(np.abs(found.components_ @ left[:, :2]), np.eye(2), atol=1e-9)
    # Equal weights are none.
    twice = NMLSDR(2).fit(X, Y, sample_weight=np.full(60, 2.0))
    assert_allclose(twice.components_, plain.components_, atol=1e-12)


def test_tables_of_mlknn_count_rows_as_if_repeated(rng):
    counts = rng.randint(0, 4, size=(50, 3))
    values = rng.randint(0, 2, size=(50, 3)).astype(float)
    observed = rng.uniform(size=(50, 3)) < 0.7
    weights = rng.randint(0, 4, size=50)
    rows = np.repeat(np.arange(50), weights)
    expected = fit_posterior(counts[rows], values[rows], observed[rows], 3, 1.0)
    found = fit_posterior(counts, values, observed, 3, 1.0, weights)
    assert_allclose(found, expected)
    assert np.abs(found - fit_posterior(counts, values, observed, 3, 1.0)).max() > 0.01


def test_mlknn_forgets_rows_without_weight(weighted):
    X, Y, weights = weighted
    kept = weights > 0
    found = MLkNN(3).fit(X, Y, sample_weight=kept)
    expected = MLkNN(3).fit(X[kept], Y[kept])
    assert_allclose(found.predict_proba(X), expected.predict_proba(X))
    more = MLkNN(3).fit(X, Y, sample_weight=weights)
    assert np.abs(more.posterior_ - found.posterior_).max() > 0.01


@pytest.mark.parametrize("model", [MDDM(), MLkNN()], ids=["MDDM", "MLkNN"])
def test_no_weight_on_labelled_rows_is_refused(weighted, model):
    X, Y, _ = weighted
    with pytest.raises(ValueError, match="No sample with an observed label"):
        clone(model).fit(X, Y, sample_weight=(Y == -1).all(axis=1))
    with pytest.raises(ValueError, match=r"(?i)negative"):
        clone(model).fit(X, Y, sample_weight=np.full(60, -1.0))


def test_weights_are_routed(weighted):
    X, Y, weights = weighted
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            MDDM(2).set_fit_request(sample_weight=True),
            MLkNN(3)
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True),
        )
        search = GridSearchCV(model, {"mlknn__n_neighbors": [3]}, cv=LabeledKFold(3))
        search.fit(X, Y, sample_weight=weights)
    reducer = MDDM(2).fit(X, Y, sample_weight=weights)
    expected = MLkNN(3).fit(reducer.transform(X), Y, sample_weight=weights)
    assert_allclose(search.best_estimator_[-1].posterior_, expected.posterior_)
