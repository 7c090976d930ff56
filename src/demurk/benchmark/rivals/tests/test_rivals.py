"""What a user would pick instead: which rows it is fitted to, and its scores."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from demurk.benchmark import rivals
from demurk.benchmark.rivals import (
    CleanlabFilter,
    EveryCandidate,
    LabeledRows,
    SupervisedUMAP,
)

FACTORIES = {
    "random_forest": {"n_estimators": 20, "random_state": 0},
    "logistic_regression": {},
    "gradient_boosting": {"max_iter": 20, "random_state": 0},
    "label_spreading": {"n_neighbors": 5},
}


@pytest.fixture
def murky(rng):
    """Three labels, the second half of the rows without, one label constant."""
    X = rng.normal(size=(120, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0.3, np.zeros(120)]).astype(np.int8)
    seen = Y.copy()
    seen[60:] = -1
    return X, Y, seen


@pytest.mark.parametrize("name", FACTORIES)
def test_learns_from_labelled_rows(murky, name):
    X, Y, seen = murky
    model = clone(getattr(rivals, name)(**FACTORIES[name])).fit(X, seen)
    scores, predicted = model.predict_proba(X[60:]), model.predict(X[60:])
    assert scores.shape == (60, 3)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert_array_equal(predicted, scores > 0.5)
    assert (predicted == Y[60:]).mean() > 0.85
    # A label that no labelled row has is never predicted.
    assert_array_equal(scores[:, 2], 0)


def test_rows_without_labels_do_not_matter(murky):
    X, _, seen = murky
    model = LabeledRows(LogisticRegression())
    whole = LabeledRows(KNeighborsClassifier(3)).fit(X, seen).predict_proba(X)
    part = LabeledRows(KNeighborsClassifier(3)).fit(X[:60], seen[:60])
    assert_array_equal(whole, part.predict_proba(X))
    with pytest.raises(ValueError, match="No row of y has all its labels"):
        model.fit(X, np.full((120, 2), -1))


def test_label_spreading_is_that_of_scikit_learn(murky):
    X, _, seen = murky
    model = rivals.label_spreading(5).fit(X, seen)
    for label in (0, 1):
        own = LabelSpreading(kernel="knn", n_neighbors=5).fit(X, seen[:, label])
        found = np.nan_to_num(own.predict_proba(X)[:, 1])
        assert_allclose(model.predict_proba(X)[:, label], found)


def test_one_varying_label_and_none(murky):
    X, Y, _ = murky
    model = rivals.random_forest(10, random_state=0)
    assert model.fit(X, Y[:, :1]).predict_proba(X).shape == (120, 1)
    constant = np.tile([1, 0], (120, 1))
    assert_array_equal(model.fit(X, constant).predict(X), constant)


def test_one_label_per_row_stays_one(rng):
    X = rng.normal(size=(90, 2))
    truth = rng.randint(5, size=90)
    Y = np.eye(5, dtype=int)[truth]
    model = rivals.random_forest(10, random_state=0).fit(X, Y)
    new = rng.normal(size=(50, 2))
    assert_array_equal(model.predict(new).sum(axis=1), 1)
    assert_array_equal(model.predict(new).argmax(1), model.predict_proba(new).argmax(1))


def test_sparse_features(murky):
    X, _, seen = murky
    wide = csr_array(X)
    # Trees take no indices of 64 bits.
    wide.indices, wide.indptr = wide.indices.astype(int), wide.indptr.astype(int)
    for name in ("random_forest", "logistic_regression", "label_spreading"):
        model = getattr(rivals, name)(**FACTORIES[name])
        dense = clone(model).fit(X, seen).predict_proba(X)
        sparse = clone(model).fit(wide, seen).predict_proba(wide)
        assert_allclose(sparse, dense, atol=1e-6)
    forest = rivals.out_of_bag_forest(20, random_state=0)
    dense = forest.fit(X[:60], seen[:60]).noise_scores_.toarray()
    sparse = forest.fit(wide[:60], seen[:60]).noise_scores_.toarray()
    assert_allclose(sparse, dense, atol=1e-6)


def test_every_candidate_weighs_copies(rng):
    X = rng.normal(size=(40, 3))
    S = rng.uniform(size=(40, 4)) < 0.4
    S[np.arange(40), rng.randint(4, size=40)] = True
    model = rivals.candidate_logistic_regression().fit(X, S)
    rows, labels, weights = [], [], []
    for i in range(40):
        for c in range(4):
            if S[i, c]:
                rows.append(X[i])
                labels.append(c)
                weights.append(1 / S[i].sum())
    own = LogisticRegression(max_iter=1000).fit(rows, labels, sample_weight=weights)
    assert_array_equal(model.predict(X), own.predict(X))
    # Without false candidates it is the classifier itself.
    truth = rng.randint(4, size=40)
    plain = LogisticRegression().fit(X, truth).predict(X)
    copied = EveryCandidate(LogisticRegression()).fit(X, np.eye(4)[truth])
    assert_array_equal(copied.predict(X), plain)
    forest = rivals.candidate_forest(30, random_state=0).fit(X, np.eye(4)[truth])
    assert (forest.predict(X) == truth).mean() > 0.9


@pytest.fixture
def fake_cleanlab(monkeypatch):
    """The package, which flags what it is told to, and remembers what it was given."""
    seen = SimpleNamespace(flags=None, labels=None, scores=None)

    def find(labels, pred_probs, n_jobs=None):
        seen.labels, seen.scores = labels, pred_probs
        return seen.flags

    names = ["cleanlab", "cleanlab.multilabel_classification"]
    for name in [*names, f"{names[1]}.filter"]:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    found = sys.modules[f"{names[1]}.filter"]
    found.find_multilabel_issues_per_class = find
    return seen


def test_cleanlab_filter_leaves_out_what_is_flagged(murky, fake_cleanlab):
    X, Y, _ = murky
    Y = Y[:, :2]
    flags = np.zeros(Y.shape, dtype=bool)
    flags[:30, 0] = True
    flags[Y[:, 1] == 1, 1] = True
    fake_cleanlab.flags = flags
    model = rivals.cleanlab_logistic_regression().fit(X, Y)
    scores = model.predict_proba(X)
    kept = LogisticRegression(max_iter=1000).fit(X[30:], Y[30:, 0])
    assert_allclose(scores[:, 0], kept.predict_proba(X)[:, 1])
    # Nothing but zeros would be left of the second label: all of it is kept.
    whole = LogisticRegression(max_iter=1000).fit(X, Y[:, 1])
    assert_allclose(scores[:, 1], whole.predict_proba(X)[:, 1])
    assert fake_cleanlab.labels == [np.flatnonzero(row).tolist() for row in Y]
    assert fake_cleanlab.scores.shape == Y.shape


def test_cleanlab_filter_with_a_label_of_one_row(murky, fake_cleanlab):
    X, Y, _ = murky
    Y = Y[:, :2].copy()
    Y[:, 1] = 0
    Y[5, 1] = 1
    fake_cleanlab.flags = np.zeros(Y.shape, dtype=bool)
    model = CleanlabFilter(LogisticRegression()).fit(X, Y)
    assert_allclose(fake_cleanlab.scores[:, 1], 1 / 120)
    assert len(model.predict_proba(X)) == 2


class FakeUMAP(BaseEstimator):
    """Takes the first features for a map, and remembers the label sets."""

    def __init__(self, n_components=2, target_metric=None, random_state=None):
        self.n_components = n_components
        self.target_metric = target_metric
        self.random_state = random_state

    def fit(self, X, y):
        self.embedding_, self.sets_ = X[:, : self.n_components], y
        return self

    def transform(self, X):
        return X[:, : self.n_components]


def test_supervised_umap_votes_on_the_map(murky, monkeypatch):
    package = ModuleType("umap")
    package.UMAP = FakeUMAP
    monkeypatch.setitem(sys.modules, "umap", package)
    X, Y, seen = murky
    model = rivals.supervised_umap(2, n_neighbors=7, random_state=1)
    model.fit(X, seen)
    votes = KNeighborsClassifier(7).fit(X[:60, :2], Y[:60, :2])
    own = np.column_stack([p[:, 1] for p in votes.predict_proba(X[:, :2])])
    assert_allclose(model.predict_proba(X)[:, :2], own)
    drawn = model.estimator_.map_
    assert drawn.target_metric == "jaccard"
    assert drawn.sets_.dtype == bool
    assert drawn.random_state == 1


@pytest.mark.parametrize(
    "model, package",
    [
        (CleanlabFilter(LogisticRegression()), "cleanlab"),
        (SupervisedUMAP(), "umap"),
    ],
)
def test_missing_packages_are_named(model, package, monkeypatch):
    for name in (package, "cleanlab.multilabel_classification.filter"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"needs the package '{package}'"):
        model.fit(np.zeros((4, 2)), np.eye(4, 2, dtype=int))


def test_suspect_candidates_are_scored_without_themselves(rng):
    X = rng.normal(size=(200, 3))
    truth = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(np.int8)
    false = (truth == 0) & (rng.uniform(size=truth.shape) < 0.1)
    Y = truth | false
    for model in (
        rivals.out_of_bag_forest(50, random_state=0),
        rivals.audited_candidates(random_state=0),
    ):
        found = model.fit(X, Y).noise_scores_
        scores = found.toarray()
        assert not scores[Y == 0].any()
        assert found.nnz == Y.sum()
        assert scores[false].mean() > scores[truth > 0].mean() + 0.3
    # The forest would believe what it has seen.
    forest = rivals.out_of_bag_forest(50, random_state=0).fit(X, Y)
    seen = forest.estimator.set_params(oob_score=False).fit(X, Y).predict(X)
    assert forest.noise_scores_.toarray()[false].mean() > (1 - seen[false]).mean()
