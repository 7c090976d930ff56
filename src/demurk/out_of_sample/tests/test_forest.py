"""Out-of-bag scores against a loop over rows and trees."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from demurk.out_of_sample import OutOfSampleForest, out_of_bag_scores


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 5)).astype(np.float32)
    Y = (X[:, :3] + rng.normal(size=(40, 3)) > 0).astype(float)
    return X, Y


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
def test_equals_a_loop_over_rows(data, kind):
    X, Y = data
    forest = kind(12, bootstrap=True, random_state=0, n_jobs=2).fit(X, Y)
    expected = np.empty(Y.shape)
    for i in range(len(X)):
        votes = [
            tree.predict(X[i : i + 1])[0]
            for tree, sampled in zip(forest.estimators_, forest.estimators_samples_)
            if i not in sampled
        ]
        others = np.delete(Y, i, axis=0).mean(axis=0)
        expected[i] = np.mean(votes, axis=0) if votes else others
    assert_allclose(out_of_bag_scores(forest, X, Y), expected, rtol=1e-12)


def test_equals_scikit_learn(data):
    X, Y = data
    forest = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, Y)
    assert_allclose(out_of_bag_scores(forest, X, Y), forest.oob_prediction_)


def test_a_row_in_every_sample_gets_the_mean_of_the_others(data):
    X, Y = data
    forest = RandomForestRegressor(1, random_state=0).fit(X, Y)
    scores = out_of_bag_scores(forest, X, Y)
    sampled = np.unique(forest.estimators_samples_[0])
    assert_allclose(scores[sampled], ((Y.sum(axis=0) - Y) / 39)[sampled])


def test_order_of_labels_does_not_matter(data):
    X, Y = data
    order = [2, 0, 1]
    a, b = (
        OutOfSampleForest(DecisionTreeRegressor(), 20, random_state=0) for _ in range(2)
    )
    assert_allclose(
        a.fit_out_of_sample(X, Y)[:, order],
        b.fit_out_of_sample(X, Y[:, order]),
        rtol=1e-12,
    )
    assert_allclose(a.predict(X)[:, order], b.predict(X), rtol=1e-12)


def test_sparse_features_and_a_single_label(data):
    X, Y = data
    forest = OutOfSampleForest(DecisionTreeRegressor(), 20, random_state=0)
    base = forest.fit_out_of_sample(X, Y[:, :1])
    assert base.shape == (40, 1) and forest.predict(X).shape == (40, 1)
    assert_allclose(forest.fit_out_of_sample(csr_array(X), Y[:, :1]), base)
    rare = csr_array(np.where(np.abs(X) > 1.9, X, 0))  # stays sparse inside
    assert rare.nnz < 0.05 * X.size + 20
    assert np.isfinite(forest.fit_out_of_sample(rare, Y)).all()


FORESTS = {
    "forest": (RandomForestRegressor, DecisionTreeRegressor),
    "extra": (ExtraTreesRegressor, ExtraTreeRegressor),
}


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaf", [1, 3])
def test_equals_the_forest_of_scikit_learn(rng, kind, form, weighted, leaf):
    X = rng.normal(size=(70, 40)) * (rng.uniform(size=(70, 40)) < 0.03)
    X[:, 0] = rng.normal(size=70)
    Y = (X[:, :1] + rng.normal(size=(70, 30)) > 0).astype(float)
    Y = Y[:, np.lexsort(Y)]
    weights = rng.uniform(size=70) if weighted else None
    options = {"max_features": "sqrt", "min_samples_leaf": leaf}
    plain, tree = FORESTS[kind]
    plain = plain(25, bootstrap=True, oob_score=True, random_state=3, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a row that all trees have seen
        plain.fit(form(X), Y, sample_weight=weights)
    ours = OutOfSampleForest(tree(**options), 25, random_state=3)
    scores = ours.fit_out_of_sample(form(X), Y, weights=weights)
    new = rng.normal(size=(50, 40)) * (rng.uniform(size=(50, 40)) < 0.5)
    assert_allclose(ours.predict(form(new)), plain.predict(new), atol=1e-12)
    voted = (plain.oob_prediction_ != 0).any(axis=1)
    assert voted.sum() > 40
    assert_allclose(scores[voted], plain.oob_prediction_[voted], atol=1e-12)
