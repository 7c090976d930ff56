"""SSDR-MC against its steps written densely, and on digits."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import LocallyLinearEmbedding

from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import (
    difference_products,
    rebuild_weights,
    rebuilding_errors,
    weight_graph,
)
from demurk.manifold import SSDRMC
from demurk.manifold._ssdrmc_inference import infer
from demurk.metrics import micro_f1


def dense_ssdrmc(X, Y, k, a, H, T, xi=1e-3, max_iter=30):
    """The defaults: exact labels, negative weights cut, features first."""
    n = len(Y)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1)[:, :k]
    scale = np.mean(np.take_along_axis(distances, near, axis=1) ** 2)
    known = Y[:, 0] >= 0
    F = np.where(Y > 0, 1.0, 0.0)
    for turn in range(max_iter):
        share = a if turn else 0.0
        W = np.zeros((n, n))
        for i in range(n):
            P = (X[near[i]] - X[i]) @ (X[near[i]] - X[i]).T / scale
            Q = (F[near[i]] - F[i]) @ (F[near[i]] - F[i]).T
            L = (1 - share) * P + share * Q
            L = L + xi * np.trace(L) / k * np.eye(k)
            w = np.maximum(np.linalg.solve(L, np.ones(k)) / 1.0, 0)
            W[i, near[i]] = w / w.sum()
        A = np.eye(n) - W
        M = A.T @ A
        scores = np.where(Y > 0, 1.0, 0.0)
        scores[~known] = np.linalg.solve(
            M[~known][:, ~known], -M[~known][:, known] @ scores[known]
        )
        new = np.where(known[:, None], F, scores >= H)
        changed = np.count_nonzero(new != F)
        F = new
        if turn and changed < T:
            break
    return W, scores, F, turn + 1


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(120, 5))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(120, 3)) > 0.3).astype(int)
    Y[rng.permutation(120)[:70]] = -1
    return X, Y


def test_equals_dense_algorithm(murky):
    X, Y = murky
    W, scores, F, turns = dense_ssdrmc(X, Y, 8, 0.1, 0.3, 5)
    assert 2 < turns < 30
    model = SSDRMC(3, n_neighbors=8, random_state=0).fit(X, Y)
    assert model.n_iter_ == turns
    assert_allclose(model.weights_.toarray(), W, atol=1e-7)
    assert_allclose(model.label_distributions_, scores, atol=1e-6)
    assert_array_equal(model.transduction_, F)
    A = np.eye(120) - W
    values, vectors = np.linalg.eigh(A.T @ A)
    assert_allclose(model.eigenvalues_, values[1:4], atol=1e-7)
    expected = np.sqrt(120) * vectors[:, 1:4]
    signs = np.sign(np.einsum("ij,ij->j", expected, model.embedding_))
    assert_allclose(model.embedding_, expected * signs, atol=1e-4)


def test_objective_is_that_of_the_paper(murky):
    X, Y = murky
    model = SSDRMC(n_neighbors=8, random_state=0).fit(X, Y)
    W, F = model.weights_.toarray(), model.transduction_
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    scale = np.mean(np.sort(distances, axis=1)[:, 1:9] ** 2)
    features = ((X - W @ X) ** 2).sum() / scale
    labels = ((F - W @ F) ** 2).sum()
    assert_allclose(model.objective_[-1], 0.9 * features + 0.1 * labels)
    assert len(model.objective_) == model.n_iter_


def test_a_cycle_ends_with_its_best_state(murky):
    X, Y = murky
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SSDRMC(n_neighbors=8, tolerance=1, random_state=0).fit(X, Y)
    objectives = model.objective_
    # Turn 8 brings back the labels of turn 6, so that turn 9 repeats turn 7.
    assert model.n_iter_ == 9
    assert_allclose(objectives[8], objectives[6])
    assert np.abs(objectives[7] - objectives[8]) > 1e-3
    W, F = model.weights_.toarray(), model.transduction_
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    scale = np.mean(np.sort(distances, axis=1)[:, 1:9] ** 2)
    features = ((X - W @ X) ** 2).sum() / scale
    found = 0.9 * features + 0.1 * ((F - W @ F) ** 2).sum()
    assert_allclose(found, objectives[7:].min())


def test_without_labels_in_the_weights_it_is_lle(rng):
    X = rng.normal(size=(80, 3))
    model = SSDRMC(
        n_neighbors=10, label_weight=0.0, weights="signed", random_state=0
    ).fit(X, np.arange(80) % 2)
    lle = LocallyLinearEmbedding(n_neighbors=10, eigen_solver="dense", reg=1e-4)
    theirs = lle.fit_transform(X)
    # Their ridge is relative to the trace, ours to the mean of the diagonal.
    for column in range(2):
        pair = theirs[:, column], model.embedding_[:, column]
        assert abs(np.corrcoef(*pair)[0, 1]) > 1 - 1e-6


def test_map_is_centred_and_uncorrelated(murky):
    X, Y = murky
    Z = SSDRMC(4, n_neighbors=8, random_state=0).fit(X, Y).embedding_
    assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
    assert_allclose(Z.T @ Z / 120, np.eye(4), atol=1e-8)


def test_invariances(murky, rng):
    X, Y = murky
    base = SSDRMC(random_state=0).fit(X, Y)
    order = rng.permutation(120)
    permuted = SSDRMC(random_state=0).fit(X[order], Y[order][:, [1, 2, 0]])
    assert_array_equal(permuted.transduction_, base.transduction_[order][:, [1, 2, 0]])
    assert_allclose(permuted.embedding_, base.embedding_[order], atol=1e-4)
    # The unit of the features does not matter.
    scaled = SSDRMC(random_state=0).fit(1000 * X, Y)
    assert_allclose(scaled.label_distributions_, base.label_distributions_, atol=1e-6)
    sparse = SSDRMC(random_state=0).fit(csr_array(X), Y)
    assert_allclose(sparse.label_distributions_, base.label_distributions_, atol=1e-6)
    assert_allclose(
        sparse.predict_proba(csr_array(X[:5] + 0.1)),
        base.predict_proba(X[:5] + 0.1),
        atol=1e-6,
    )


def test_the_literal_form_depends_on_the_unit(murky):
    X, Y = murky
    base = SSDRMC(random_state=0).fit(X, Y)
    graph = nearest_neighbors(X, 15)
    unit = np.sqrt(np.mean(graph.distances.data**2))
    same = SSDRMC(scale="literal", random_state=0).fit(X / unit, Y)
    assert_allclose(same.label_distributions_, base.label_distributions_, atol=1e-6)
    # Large units drown the labels, as a weight of 0 does.
    large = SSDRMC(scale="literal", random_state=0).fit(1e4 * X, Y)
    alone = SSDRMC(label_weight=0, random_state=0).fit(X, Y)
    assert_allclose(large.weights_.toarray(), alone.weights_.toarray(), atol=1e-4)
    assert np.abs(large.weights_ - base.weights_).max() > 0.01


@pytest.mark.parametrize("inference", ["exact", "harmonic", "relaxed", "paper"])
@pytest.mark.parametrize("weights", ["nonnegative", "signed", "simplex"])
def test_every_form(murky, inference, weights):
    X, Y = murky
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SSDRMC(inference=inference, weights=weights, random_state=0).fit(X, Y)
    assert_allclose(model.weights_.sum(axis=1), 1)
    assert model.weights_.diagonal().max() == 0
    known = Y[:, 0] >= 0
    if inference in ("exact", "harmonic"):
        assert_array_equal(model.transduction_[known], Y[known])
    if inference == "harmonic" and weights != "signed":
        assert model.label_distributions_.min() > -1e-6
        assert model.label_distributions_.max() < 1 + 1e-6
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X + 0.1)).all()


def test_objective_descends_without_rounding(murky):
    """Best non-negative weights and exact labels are two steps of one descent."""
    X, Y = murky
    given = Y[:, :1] >= 0
    Y = np.maximum(Y, 0).astype(float)
    indices = nearest_neighbors(X, 8).distances.indices.reshape(120, 8)
    P, F = difference_products(X, indices), Y.copy()
    values = []
    for _ in range(6):
        mixed = 0.5 * P + 0.5 * difference_products(F, indices)
        # No ridge, which is not part of the objective.
        w = rebuild_weights(mixed, "simplex", 0.0)
        values.append(rebuilding_errors(mixed, w).sum())
        F = infer(weight_graph(indices, w, tidy=True), Y, given, "exact")
        mixed = 0.5 * P + 0.5 * difference_products(F, indices)
        values.append(rebuilding_errors(mixed, w).sum())
    assert (np.diff(values) < 1e-6 * values[0]).all()
    assert values[-1] < 0.99 * values[0]


def test_digits_with_one_label_in_ten():
    X, y = load_digits(return_X_y=True)
    Y = np.eye(10, dtype=int)[y]
    known = np.zeros(len(y), dtype=bool)
    known[np.random.RandomState(101).permutation(len(y))[:179]] = True
    model = SSDRMC(None, random_state=0).fit(X, np.where(known[:, None], Y, -1))
    assert model.n_iter_ <= 5
    assert micro_f1(Y[~known], model.transduction_[~known]) >= 0.95
    # The form of the paper's experiments fails here: see the class docstring.
    literal = SSDRMC(
        None, inference="harmonic", weights="signed", start="zeros", random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        literal.fit(X, np.where(known[:, None], Y, -1))
    assert micro_f1(Y[~known], literal.transduction_[~known]) < 0.8


def test_new_samples(rng):
    X, y = load_digits(n_class=5, return_X_y=True)
    murky = np.where(rng.uniform(size=len(y)) < 0.2, y, -1)
    model = SSDRMC(4, random_state=0).fit(X[:700], murky[:700])
    assert np.mean(model.predict(X[700:]) == y[700:]) > 0.9
    assert_allclose(model.predict_proba(X[700:]).sum(axis=1), 1)
    assert_allclose(model.transform(X[:700]), model.embedding_)
    assert model.transform(X[700:].astype(np.float32)).dtype == np.float32


def test_labels_in_the_weights_also_when_all_are_given(rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    assert (
        np.abs(
            SSDRMC(label_weight=0.0, random_state=0).fit(X, y).weights_
            - SSDRMC(label_weight=0.5, random_state=0).fit(X, y).weights_
        ).max()
        > 0.1
    )


def test_parts_without_labels_get_the_mean_label(rng):
    X = np.vstack([rng.normal(size=(20, 2)), 100 + rng.normal(size=(20, 2))])
    Y = np.full((40, 2), -1)
    Y[:8] = [[1, 0]] * 6 + [[0, 1]] * 2
    with pytest.warns(UserWarning, match="20 of 40 samples cannot be reached"):
        model = SSDRMC(None, n_neighbors=5, random_state=0).fit(X, Y)
    assert_allclose(model.label_distributions_[20:], [[0.75, 0.25]] * 20)
    complete = np.repeat([0, 1], 20)
    with pytest.warns(UserWarning, match="falls into 2 parts"):
        Z = SSDRMC(n_neighbors=5, random_state=0).fit(X, complete).embedding_
    assert len(np.unique(Z[:, 0].round(6))) == 2


def test_fallback_gives_every_sample_a_label(murky):
    X, Y = murky
    bare = SSDRMC(threshold=0.95, random_state=0).fit(X, Y).transduction_
    model = SSDRMC(threshold=0.95, fallback="argmax", random_state=0).fit(X, Y)
    hidden = Y[:, 0] < 0
    assert (bare[hidden].sum(axis=1) == 0).any()
    assert (model.transduction_[hidden].sum(axis=1) >= 1).all()


def test_single_entries_missing(murky, rng):
    X, Y = murky
    part = np.where(Y < 0, rng.randint(2, size=Y.shape), Y)
    hidden = rng.uniform(size=Y.shape) < 0.3
    model = SSDRMC(random_state=0).fit(X, np.where(hidden, -1, part))
    assert_array_equal(model.transduction_[~hidden], part[~hidden])
    # With whole rows hidden, masks of rows and of entries say the same.
    rows = np.where(Y < 0, 0, Y)
    seen = Y >= 0
    assert_allclose(
        SSDRMC(random_state=0).fit(X, rows, observed=seen).label_distributions_,
        SSDRMC(random_state=0).fit(X, Y).label_distributions_,
        atol=1e-7,
    )


def test_no_map(murky):
    X, Y = murky
    model = SSDRMC(None, random_state=0).fit(X, Y)
    assert not hasattr(model, "embedding_")
    with pytest.raises(ValueError, match="no map was made"):
        model.transform(X)
    assert_array_equal(
        model.transduction_, SSDRMC(random_state=0).fit(X, Y).transduction_
    )


@pytest.mark.parametrize("n_neighbors", [1, 500])
def test_any_number_of_neighbours(murky, n_neighbors):
    X, Y = murky[0][:30], murky[1][:30]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = SSDRMC(n_neighbors=n_neighbors, random_state=0).fit(X, Y)
    assert np.isfinite(model.predict_proba(X + 0.1)).all()


def test_too_many_coordinates(rng):
    with pytest.raises(ValueError, match="6 samples have only 5 coordinates"):
        SSDRMC(6, random_state=0).fit(rng.normal(size=(6, 2)), np.arange(6) % 2)


def test_no_factors_fill_up_where_samples_lie_anywhere(rng, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("A'A was factorised")

    X = rng.normal(size=(2100, 8))
    Y = (X[:, :2] + rng.normal(size=(2100, 2)) > 0).astype(int)
    Y[rng.permutation(2100)[:1000]] = -1
    monkeypatch.setattr("demurk.linalg._eigen.splu", refuse)
    model = SSDRMC(random_state=0).fit(X, Y)
    Z = model.embedding_
    error = Z - model.weights_ @ Z
    assert_allclose((error**2).sum(axis=0) / 2100, model.eigenvalues_, rtol=1e-6)
    assert_allclose(Z.T @ Z / 2100, np.eye(2), atol=1e-6)
