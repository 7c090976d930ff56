"""PL-ECOC against loops over splits, samples and classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from demurk.labels import add_candidates
from demurk.partial_label import PLECOC
from demurk.partial_label._plecoc import _proposals, _sides


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(200, 4, centers=5, cluster_std=2.0, random_state=5)
    X = StandardScaler().fit_transform(X)
    return X, y, add_candidates(y, n_extra=1, random_state=0).labels


def literal_scores(X, S, queries, book):
    """Fit and decode for a given code book, as written in the paper."""
    n, q = S.shape
    outside = np.zeros((len(queries), q))
    right = np.zeros((q, book.shape[1]))
    decisions = []
    for t in range(book.shape[1]):
        rows, signs = [], []
        for i in range(n):
            halves = {int(book[j, t]) for j in range(q) if S[i, j]}
            if len(halves) == 1:
                rows.append(i)
                signs.append(halves.pop())
        model = SVC(C=1, kernel="rbf", gamma="auto").fit(X[rows], signs)
        predicted = model.predict(X)
        for j in range(q):
            right[j, t] = np.mean(predicted[S[:, j] == 1] == book[j, t])
        decisions.append(model.decision_function(queries))
    right /= right.sum(axis=1, keepdims=True)
    for i in range(len(queries)):
        for j in range(q):
            outside[i, j] = sum(
                right[j, t] * np.exp(-decisions[t][i] * book[j, t])
                for t in range(book.shape[1])
            )
    return outside, right


def test_equals_literal_loops(blobs):
    X, _, S = blobs
    model = PLECOC(n_codes=6, random_state=0).fit(X[:120], S[:120])
    loss, right = literal_scores(X[:120], S[:120], X[120:], model.code_book_)
    assert_allclose(model.performance_, right)
    assert_allclose(model.decision_function(X[120:]), -np.log(loss))
    assert_array_equal(model.predict(X[120:]), loss.argmin(axis=1))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_machines_decide_together(blobs, form):
    X, _, S = blobs
    model = PLECOC(n_codes=6, random_state=0).fit(form(X[:120]), S[:120])
    alone = [m.decision_function(form(X[120:])) for m in model.estimators_]
    assert_allclose(model._decisions(form(X[120:])), np.transpose(alone), atol=1e-12)


def test_singletons_are_plain_output_codes(blobs):
    X, y, _ = blobs
    model = PLECOC(random_state=0).fit(X[:120], y[:120])
    # Every sample takes part in every split, and any split will do.
    assert model.code_book_.shape == (5, 15)
    for code, binary in zip(model.code_book_.T, model.estimators_):
        plain = SVC(C=1, kernel="rbf", gamma="auto").fit(X[:120], code[y[:120]])
        assert_allclose(
            binary.decision_function(X[120:]), plain.decision_function(X[120:])
        )
    loss, _ = literal_scores(X[:120], np.eye(5)[y[:120]], X[120:], model.code_book_)
    assert_array_equal(model.predict(X[120:]), loss.argmin(axis=1))
    assert model.score(X[120:], y[120:]) > 0.9


def test_eligible_samples(rng):
    S = rng.uniform(size=(40, 6)) < 0.4
    S[:, 0] |= ~S.any(axis=1)
    codes = rng.uniform(size=(9, 6)) < 0.5
    first, second = _sides(S, codes)
    for i in range(40):
        for t in range(9):
            assert first[i, t] == codes[t][S[i]].all()
            assert second[i, t] == (~codes[t][S[i]]).all()


@pytest.mark.parametrize("q, n", [(2, 1), (3, 3), (5, 15), (14, None)])
def test_splits_are_different(rng, q, n):
    codes = np.concatenate(list(_proposals(q, 700, rng)))
    assert codes[:, 0].all()
    assert not codes.all(axis=1).any()
    assert len(np.unique(codes, axis=0)) == len(codes)
    if n is not None:
        assert len(codes) == n
    else:
        assert 650 < len(codes) <= 700


def test_number_of_codes(blobs):
    X, _, S = blobs
    assert PLECOC(random_state=0).fit(X, S).code_book_.shape[1] <= 15
    wide = np.hstack([S, np.roll(S, 7, axis=0)])
    wide[np.arange(len(S)), 5 + wide[:, :5].argmax(axis=1)] = 0
    wide[~wide.any(axis=1), 0] = 1
    model = PLECOC(n_codes=8, random_state=0).fit(X, wide)
    assert model.code_book_.shape == (10, 8)


def test_large_sets_are_warned_about_or_refused(blobs):
    X, y, _ = blobs
    sets = add_candidates(y, n_extra=1, random_state=0).labels
    with pytest.warns(UserWarning, match="fewer than 180 samples"):
        model = PLECOC(min_share=0.9, random_state=0).fit(X, sets)
    assert model.score(X, y) > 0.9
    sets = add_candidates(y, n_extra=2, random_state=0).labels
    with pytest.raises(ValueError, match="too large for PLECOC"):
        PLECOC().fit(X, sets)


def test_seed_and_estimator(blobs):
    X, y, S = blobs
    books = [
        PLECOC(LogisticRegression(), n_codes=5, random_state=seed).fit(X, S).code_book_
        for seed in (0, 0, 1)
    ]
    assert_array_equal(books[0], books[1])
    assert not np.array_equal(books[0], books[2])
    model = PLECOC(LogisticRegression(), random_state=0).fit(X, S)
    assert isinstance(model.estimators_[0], LogisticRegression)
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match="estimator"):
        PLECOC(KNeighborsClassifier()).fit(X, S)


def test_class_that_no_classifier_gets_right_is_never_chosen(blobs):
    X, _, S = blobs
    model = PLECOC(n_codes=4, random_state=0).fit(X, S)
    model.performance_[2] = 0
    assert_array_equal(model.decision_function(X)[:, 2], -np.inf)
