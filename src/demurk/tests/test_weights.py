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

from demurk.audit import LabelAudit
from demurk.audit._noise_model import fit_noise, standardized
from demurk.labels import hide_entries
from demurk.model_selection import LabeledKFold
from demurk.multilabel import MLkNN, MurkyClassifier
from demurk.multilabel._mlknn import fit_posterior
from demurk.multilabel._murky_linear import SparseLogistic
from demurk.out_of_sample import (
    LeaveOneOutKernelRidge,
    estimate_flip_rate,
    f1_cut,
    fit_calibration,
    label_means,
    leave_one_out_means,
    stack_weights,
)
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
        search = GridSearchCV(
            model, {"mlknn__n_neighbors": [3]}, cv=LabeledKFold(3, random_state=0)
        )
        search.fit(X, Y, sample_weight=weights)
    reducer = MDDM(2).fit(X, Y, sample_weight=weights)
    expected = MLkNN(3).fit(reducer.transform(X), Y, sample_weight=weights)
    assert_allclose(search.best_estimator_[-1].posterior_, expected.posterior_)


@pytest.fixture
def entries(rng):
    """Features, labels, mask and weights from 1 to 3 of few rows."""
    X = rng.normal(size=(40, 4))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(40, 3)) > 0).astype(float)
    return X, Y, rng.uniform(size=(40, 3)) < 0.8, rng.randint(1, 4, size=40) * 1.0


def test_means_count_rows_as_if_repeated(entries):
    _, Y, seen, weights = entries
    rows = np.repeat(np.arange(40), weights.astype(int))
    assert_allclose(label_means(Y, seen, weights), label_means(Y[rows], seen[rows]))
    means = leave_one_out_means(Y, seen, weights)
    for i in range(40):
        kept = rows[rows != i]
        assert_allclose(means[i], label_means(Y[kept], seen[kept]))


def test_rates_and_cuts_count_entries_as_if_repeated(entries, rng):
    _, Y, seen, _ = entries
    scores, labels = rng.uniform(size=seen.sum()), Y[seen]
    counts = rng.randint(1, 4, size=labels.size)
    rows = np.repeat(np.arange(labels.size), counts)
    found = estimate_flip_rate(scores, labels, counts)
    assert found == pytest.approx(estimate_flip_rate(scores[rows], labels[rows]))
    assert found != pytest.approx(estimate_flip_rate(scores, labels))
    cut = f1_cut(scores, labels, 80, 0.1, 0.2, counts)
    more = f1_cut(scores[rows], labels[rows], 80, 0.1, 0.2)
    assert np.count_nonzero(scores > cut) == np.count_nonzero(scores > more)


def test_stack_and_calibration_weigh_squared_errors(entries, rng):
    _, Y, seen, weights = entries
    means = leave_one_out_means(Y, seen, weights)
    scores = [means + 0.3 * (Y - means) + 0.2 * rng.normal(size=Y.shape), means * 1.1]
    each = np.broadcast_to(weights[:, None], Y.shape)[seen]
    found = fit_calibration(scores[0], Y, seen, weights)
    mean = np.average(Y[seen], weights=each)
    assert found["mean"] == pytest.approx(mean)
    frequency = means[seen] - np.average(means[seen], weights=each)
    design = np.column_stack([(scores[0] - means)[seen], frequency])
    target, start = Y[seen] - mean, np.array([1.5, 1.0])
    strength = np.average((target - design @ start) ** 2, weights=each) / 0.25
    left = (design.T * each) @ design + strength * np.eye(2)
    expected = np.linalg.solve(left, (design.T * each) @ target + strength * start)
    assert found["evidence"] == pytest.approx(max(expected[0], 0.05))
    assert found["frequency"] == pytest.approx(max(expected[1], 0.05))
    ones = np.ones(40)
    assert_allclose(
        stack_weights(scores, Y, seen, ones), stack_weights(scores, Y, seen)
    )
    more = stack_weights(scores, Y, seen, weights)
    assert np.abs(more - stack_weights(scores, Y, seen)).max() > 1e-3


@pytest.mark.parametrize("max_exact", [3000, 10])
def test_kernel_ridge_counts_rows_as_if_repeated(entries, max_exact):
    X, Y, _, weights = entries
    rows = np.repeat(np.arange(40), weights.astype(int))

    def fitted(X, Y, weights):
        # One width and penalty; the scale of either depends on the rows otherwise.
        model = LeaveOneOutKernelRidge(ridges=[0.1])
        rng, seen = np.random.RandomState(0), np.ones(Y.shape, bool)
        return model, model._search(X, Y, seen, weights, [0.3], max_exact, rng)

    found, scores = fitted(X, Y, weights)
    if max_exact > 40:  # landmarks among repeated rows are others
        expected, _ = fitted(X[rows], Y[rows], np.ones(len(rows)))
        assert_allclose(found.ridge_, expected.ridge_)
        assert_allclose(found.predict(X), expected.predict(X), atol=1e-9)
    # Scores of a row are made without all of its weight.
    kernel = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    if max_exact > 40:
        for i in range(0, 40, 7):
            kept = np.arange(40) != i
            root = np.sqrt(weights[kept])
            mean = weights[kept] / weights[kept].sum()
            K = kernel[np.ix_(kept, kept)]
            center = mean @ K
            K = (K - center - center[:, None] + mean @ center) * np.outer(root, root)
            target = root[:, None] * (Y[kept] - mean @ Y[kept])
            dual = root[:, None] * np.linalg.solve(
                K + found.ridge_[0] * np.eye(39), target
            )
            without = mean @ Y[kept] + (kernel[i, kept] - center) @ dual
            assert_allclose(scores[i], without, atol=1e-8)


def test_logistic_member_counts_rows_as_if_repeated(entries):
    X, Y, seen, weights = entries
    rows = np.repeat(np.arange(40), weights.astype(int))
    found, expected = SparseLogistic(0), SparseLogistic(0)
    found._fit_labels(10 * X, Y, seen, weights)
    expected._fit_labels(10 * X[rows], Y[rows], seen[rows], np.ones(len(rows)))
    assert_allclose(found.predict(10 * X), expected.predict(10 * X), atol=0.01)
    plain = SparseLogistic(0)
    plain._fit_labels(10 * X, Y, seen, np.ones(40))
    assert np.abs(plain.predict(10 * X) - expected.predict(10 * X)).max() > 0.02


def test_murky_classifier_follows_the_weights(rng):
    # The same rows twice, with opposite labels; the heavier ones are believed.
    X = rng.normal(size=(80, 3))
    Y = (X[:, :2] > 0).astype(int)
    both, labels = np.vstack([X, X]), np.vstack([Y, 1 - Y])
    model = MurkyClassifier("fast", n_estimators=20, noise="none", random_state=0)
    for heavy in (slice(0, 80), slice(80, 160)):
        weights = np.full(160, 0.05)
        weights[heavy] = 1
        found = clone(model).fit(both, labels, sample_weight=weights)
        assert found.score(both[heavy], labels[heavy]) > 0.7
    # Rows of weight zero are rows without labels.
    weights = np.repeat([1.0, 0.0], 80)
    found = clone(model).fit(both, labels, sample_weight=weights)
    expected = clone(model).fit(both, np.vstack([Y, np.full_like(Y, -1)]))
    assert_allclose(found.predict_proba(X), expected.predict_proba(X))


def test_noise_model_counts_rows_as_if_repeated(entries):
    _, Y, seen, weights = entries
    Z = standardized(Y + np.sin(np.arange(120)).reshape(40, 3), seen)
    rows = np.repeat(np.arange(40), weights.astype(int))
    for structure in ("none", "symmetric"):
        found = fit_noise(Z, Y, seen, structure, weights=weights, tol=1e-10)
        expected = fit_noise(Z[rows], Y[rows], seen[rows], structure, tol=1e-10)
        assert_allclose(found.slope, expected.slope, rtol=1e-4)
        assert_allclose(found.extra, expected.extra, atol=1e-5)
        assert_allclose(found.objective, expected.objective)


def test_label_audit_follows_the_weights(rng):
    X = rng.normal(size=(80, 3))
    Y = (X[:, :2] > 0).astype(int)
    both, labels = np.vstack([X, X]), np.vstack([Y, 1 - Y])
    audit = LabelAudit("none", n_estimators=20, random_state=0)
    weights = np.repeat([1.0, 0.05], 80)
    scores = clone(audit).fit(both, labels, sample_weight=weights).scores_
    assert scores[80:].mean() > 0.7 > 0.3 > scores[:80].mean()
    scores = clone(audit).fit(both, labels, sample_weight=weights == 1).scores_
    assert np.isnan(scores[80:]).all()
    assert_allclose(scores[:80], clone(audit).fit(X, Y).scores_)
