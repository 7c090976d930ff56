"""Out-of-bag scores against a loop over rows and trees."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from demurk.metrics import average_precision
from demurk.out_of_sample import OutOfSampleForest, out_of_bag_scores
from demurk.out_of_sample._trees import _below


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


def many_labels(rng, n=300, q=100, noise=0.0):
    """Clusters with labels of their own, which two features tell; the rest is noise."""
    cluster = rng.randint(8, size=n)
    X = rng.normal(size=(n, 6))
    X[:, :2] += 9 * rng.normal(size=(8, 2))[cluster]
    Y = (rng.uniform(size=(8, q)) < 0.2)[cluster]
    return X, (Y ^ (rng.uniform(size=Y.shape) < noise)).astype(float)


def forest(tree=None, n=50, seed=0, **options):
    tree = DecisionTreeRegressor(max_features="sqrt") if tree is None else tree
    return OutOfSampleForest(tree, n, random_state=seed, **options)


def test_projected_labels_where_nothing_is_lost(rng):
    X, Y = many_labels(rng)
    ours = forest()
    scores = ours.fit_out_of_sample(X, Y)
    assert ours.n_columns_ == 25
    plain = RandomForestRegressor(50, max_features="sqrt", random_state=0).fit(X, Y)
    lost = average_precision(Y, out_of_bag_scores(plain, np.float32(X), Y))
    assert average_precision(Y, scores) > lost - 0.01
    new, truth = many_labels(np.random.RandomState(1))
    assert_allclose(ours.predict(new).shape, truth.shape)
    # The same trees are grown in threads, and again.
    assert_allclose(forest(n_jobs=2).fit_out_of_sample(X, Y), scores, rtol=1e-10)


def test_the_plain_forest_stays_where_a_loss_is_not_excluded(rng):
    X, Y = many_labels(rng, n=60, noise=0.3)
    ours = forest()
    scores = ours.fit_out_of_sample(X, Y)
    assert ours.n_columns_ is None
    order = np.lexsort(Y)
    plain = RandomForestRegressor(50, max_features="sqrt", random_state=0)
    plain.fit(X, Y[:, order])
    expected = out_of_bag_scores(plain, np.float32(X), Y[:, order])
    assert_allclose(scores[:, order], expected, atol=1e-12)
    few = forest()
    few.fit_out_of_sample(*many_labels(rng, q=70))
    assert few.n_columns_ is None


def test_only_observed_entries_speak_for_a_projection(rng):
    X, Y = many_labels(rng)
    hidden = rng.uniform(size=Y.shape) < 0.999
    ours = forest()
    ours.fit_out_of_sample(X, np.where(hidden, 0.2, Y), ~hidden)
    assert ours.n_columns_ is None


def test_leaf_means_of_projected_trees_are_those_of_the_labels(rng):
    X, Y = many_labels(rng, n=80)
    ours = forest(DecisionTreeRegressor(), n=40)
    ours.fit_out_of_sample(X, Y)
    leaves, trees = ours.trees_.apply(np.float32(X)), ours.trees_
    means = trees.leaf_means(Y)
    ends = np.cumsum(trees.leaf_sizes)
    for leaf in (0, leaves[5, 3], len(ends) - 1):
        place = slice(ends[leaf] - trees.leaf_sizes[leaf], ends[leaf])
        rows, counts = trees.rows[place], trees.counts[place]
        assert_allclose(means[leaf], np.average(Y[rows], axis=0, weights=counts))
    expected = means[leaves].mean(axis=1)
    assert_allclose(ours.predict(X), expected, atol=1e-12)


GROWTH = """
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from demurk.out_of_sample import OutOfSampleForest, _trees

def peak():
    # Not what getrusage says, which is no less than the process that started this one.
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024

_trees.BLOCK_BYTES = 4_000_000
rng = np.random.RandomState(0)
X = rng.normal(size=(300, 3))
Y = (rng.uniform(size=(300, 400)) < 0.3).astype(float)
tree = DecisionTreeRegressor(max_features=1)
OutOfSampleForest(tree, 1).fit_out_of_sample(X, Y)  # what is loaded late
start = peak()
model = OutOfSampleForest(tree, 100, random_state=0)
model.fit_out_of_sample(X, Y)
model.predict(X)
print(peak() - start)
RandomForestRegressor(100, max_features=1, random_state=0).fit(X, Y)
print(peak() - start)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's account of memory")
def test_memory_does_not_grow_with_the_labels():
    # In a process of its own: the memory of compiled trees is nowhere else counted.
    found = subprocess.run(
        [sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True
    )
    ours, theirs = map(float, found.stdout.split())
    assert ours < 20 < 50 < theirs


def test_blocks_of_trees_give_the_same(data, monkeypatch):
    X, Y = data
    ours = forest(n=20)
    ours.fit_out_of_sample(X, Y)
    whole = ours.predict(X)
    for limit in (1, 30_000):
        monkeypatch.setattr("demurk.out_of_sample._trees.BLOCK_BYTES", limit)
        blocks = list(ours.trees_.blocks(3))
        assert 1 < len(blocks) <= 20
        assert sum(len(block.rows) for block in blocks) == len(ours.trees_.rows)
        assert_allclose(ours.predict(X), whole, atol=1e-12)


def test_thresholds_divide_single_precision_as_before():
    short = np.float32([1, np.nextafter(np.float32(1), np.float32(2))])
    middle = short.astype(float).mean()
    assert list(short <= _below(np.array([middle]))[0]) == [True, False]
    assert list(-short <= _below(np.array([-middle]))[0]) == [False, True]


@pytest.mark.parametrize("q", [3, 100])
def test_trees_that_are_not_kept_have_voted_alike(rng, q):
    X, Y = many_labels(rng, q=q)
    kept, votes = forest(), forest(keep_trees=False)
    scores = kept.fit_out_of_sample(X, Y)
    assert_allclose(votes.fit_out_of_sample(X, Y), scores, rtol=1e-12)
    assert votes.n_columns_ == kept.n_columns_ == (None if q == 3 else 25)
    assert not hasattr(votes, "trees_")
