"""SLE-ML against the dense generalised eigenproblem of the paper."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import KNeighborsClassifier

from demurk.datasets import load_dataset
from demurk.graph import affinity, nearest_neighbors
from demurk.labels import check_labels
from demurk.manifold import SLEML, LaplacianEigenmaps, embed_weights
from demurk.manifold._base import usual_neighbors
from demurk.manifold._label_graph import label_graph
from demurk.manifold._sleml import join_graphs


def dense_weights(X, Y, k, feature_weight, balance="degree"):
    """W of the paper, n x n; rows of Y without labels have no label edges."""
    n = len(X)
    distances = euclidean_distances(X, squared=True)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1)[:, :k]
    directed = np.zeros((n, n))
    directed[np.arange(n)[:, None], nearest] = 1
    features = (directed + directed.T) / 2
    common = Y @ Y.T
    sizes = Y.sum(axis=1)
    union = sizes[:, None] + sizes - common
    labels = np.divide(common, union, out=np.zeros((n, n)), where=union > 0)
    np.fill_diagonal(labels, 0)
    if balance == "degree":
        features = features / features.sum(axis=1).mean()
        labels = labels / labels.sum(axis=1)[Y.any(axis=1)].mean()
    return feature_weight * features + (1 - feature_weight) * labels


def dense_map(W, m):
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D, subset_by_index=[1, m])
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(m)])
    return values, vectors * signs


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("feature_weight", [1.0, 0.9, 0.5, 0.1])
def test_digits_equal_dense_problem(digits, feature_weight):
    X, y = digits
    # Digits hold ties, which the two searches may break differently.
    X = X + 1e-6 * np.random.RandomState(0).normal(size=X.shape)
    W = dense_weights(X, np.eye(10)[y], 269, feature_weight)
    values, vectors = dense_map(W, 2)
    model = SLEML(feature_weight=feature_weight, random_state=0).fit(X, y)
    assert_allclose(model.eigenvalues_, values, atol=1e-10)
    assert_allclose(model.embedding_, vectors, atol=1e-6 * np.abs(vectors).max())


def test_scene_equals_dense_problem(data_home):
    scene = load_dataset("scene", split="train", data_home=data_home, download=False)
    X, Y = np.asarray(scene.data), scene.target
    assert X.shape == (1211, 294)
    X = X + 1e-6 * np.random.RandomState(0).normal(size=X.shape)
    for feature_weight in (0.9, 0.5):
        W = dense_weights(X, Y.astype(float), 30, feature_weight)
        values, vectors = dense_map(W, 3)
        model = SLEML(
            3, feature_weight=feature_weight, n_neighbors=30, random_state=0
        ).fit(X, Y)
        assert_allclose(model.eigenvalues_, values, atol=1e-10)
        assert_allclose(model.embedding_, vectors, atol=1e-6 * np.abs(vectors).max())


@pytest.fixture
def murky(rng):
    """Multi-label data, some rows empty, some not observed."""
    X = rng.normal(size=(80, 5))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(80, 3)) > 0.4).astype(int)
    Y[::9] = -1
    return X, Y


@pytest.mark.parametrize("balance", ["degree", None])
def test_murky_labels_equal_dense_problem(murky, balance):
    X, Y = murky
    W = dense_weights(X, np.maximum(Y, 0).astype(float), 6, 0.3, balance)
    values, vectors = dense_map(W, 3)
    model = SLEML(
        3, feature_weight=0.3, n_neighbors=6, balance=balance, random_state=0
    ).fit(X, Y)
    assert_allclose(model.eigenvalues_, values, atol=1e-10)
    assert_allclose(model.embedding_, vectors, atol=1e-7)


def test_invariances(murky, rng):
    X, Y = murky
    base = SLEML(n_neighbors=6, random_state=0).fit(X, Y)
    order = rng.permutation(len(X))
    permuted = SLEML(n_neighbors=6, random_state=0).fit(X[order], Y[order])
    assert_allclose(permuted.embedding_, base.embedding_[order], atol=1e-8)
    swapped = SLEML(n_neighbors=6, random_state=0).fit(X, Y[:, [2, 0, 1]])
    assert_allclose(swapped.embedding_, base.embedding_, atol=1e-8)
    for sparse in (csr_array, csr_matrix):
        same = SLEML(n_neighbors=6, random_state=0).fit(sparse(X), Y)
        assert_allclose(same.embedding_, base.embedding_, atol=1e-8)
        assert_allclose(
            same.transform(sparse(X[:9] + 0.1)), base.transform(X[:9] + 0.1), atol=1e-8
        )
    constant = SLEML(n_neighbors=6, random_state=0).fit(
        np.hstack([X, np.full((80, 1), 7.0)]), Y
    )
    assert_allclose(constant.embedding_, base.embedding_, atol=1e-8)
    small = SLEML(n_neighbors=6, random_state=0).fit(X.astype(np.float32), Y)
    assert small.embedding_.dtype == np.float32
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(small.embedding_, base.embedding_, atol=1e-5)


def test_precomputed_graph_gives_the_same(murky, rng):
    X, Y = murky
    new = rng.normal(size=(7, 5))
    base = SLEML(n_neighbors=6, random_state=0).fit(X, Y)
    graph = nearest_neighbors(X, 6).distances
    model = SLEML(n_neighbors=6, neighbors="precomputed", random_state=0).fit(graph, Y)
    assert_allclose(model.embedding_, base.embedding_)
    between = nearest_neighbors(X, 6, queries=new).distances
    assert_allclose(model.transform(between), base.transform(new))
    explicit = SLEML(
        n_neighbors=6, neighbors="precomputed", out_of_sample="linear", random_state=0
    )
    with pytest.raises(ValueError, match="needs features"):
        explicit.fit(graph, Y)


def test_feature_weight_one_is_laplacian_eigenmaps(murky):
    X, Y = murky
    model = SLEML(feature_weight=1.0, n_neighbors=6, random_state=0).fit(X, Y)
    bare = LaplacianEigenmaps(n_neighbors=6, affinity="knn", random_state=0).fit(X)
    assert_allclose(model.eigenvalues_, bare.eigenvalues_, atol=1e-10)
    ratio = np.sqrt(6.0)  # the mean degree, which balance divides by
    assert_allclose(model.embedding_, ratio * bare.embedding_, atol=1e-7)


def test_feature_weight_zero_collapses_label_sets(rng):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    with pytest.warns(UserWarning, match="falls into 3 parts"):
        Z = SLEML(feature_weight=0.0, random_state=0).fit_transform(X, y)
    for c in range(3):
        assert_allclose(np.ptp(Z[y == c], axis=0), 0, atol=1e-10)
    assert len(np.unique(Z.round(8), axis=0)) == 3


def test_normalizations(murky):
    X, Y = murky
    maps = {
        kind: SLEML(n_neighbors=6, normalization=kind, random_state=0).fit_transform(
            X, Y
        )
        for kind in ("degree", "unit", "sqrt_n")
    }
    assert_allclose(np.linalg.norm(maps["unit"], axis=0), 1)
    for Z in maps.values():
        assert_allclose(np.abs(np.corrcoef(Z[:, 0], maps["unit"][:, 0])[0, 1]), 1)
    # The total degree: one per sample from the features, and one from the labels for
    # samples that have any, each with weight one half.
    total = 0.5 * 80 + 0.5 * np.count_nonzero((Y == 1).any(axis=1))
    assert_allclose(maps["sqrt_n"], np.sqrt(total) * maps["degree"])


@pytest.mark.parametrize("n_neighbors", [3, 20])
@pytest.mark.parametrize("hidden", [0.0, 0.9])
def test_balance_keeps_the_meaning_of_the_weight(rng, n_neighbors, hidden):
    """Mean degrees are in the ratio of the weights, whatever k and the classes."""
    X, y = rng.normal(size=(200, 3)), rng.randint(4, size=200)
    y[rng.uniform(size=200) < hidden] = -1
    labels = label_graph(check_labels(y))
    features = affinity(nearest_neighbors(X, n_neighbors), symmetrize="mean")
    joined = join_graphs(features, labels, 0.3, "degree").degrees()
    alone = features.sum(axis=1) / features.sum(axis=1).mean()
    from_labels = joined - 0.3 * alone
    assert_allclose(from_labels[y >= 0].mean(), 0.7)
    assert_allclose(from_labels[y < 0], 0, atol=1e-12)
    literal = join_graphs(features, labels, 0.3, None).degrees()
    assert_allclose(literal, 0.3 * features.sum(axis=1) + 0.7 * labels.degrees())


def test_imbalance_gives_room_to_rare_classes(digits):
    X, y = digits
    rng = np.random.RandomState(0)
    rows = [
        rng.permutation(np.flatnonzero(y == c))[: 15 if c < 5 else None]
        for c in range(10)
    ]
    rows = np.concatenate(rows)
    X, y = X[rows], y[rows]
    accuracy = {}
    for exponent in (0.0, 1.0):
        Z = SLEML(n_neighbors=15, imbalance=exponent, random_state=0).fit_transform(
            X, y
        )
        predicted = KNeighborsClassifier(5).fit(Z, y).predict(Z)
        hits = [(predicted == y)[y == c].mean() for c in range(10)]
        accuracy[exponent] = np.mean(hits)
    assert accuracy[1.0] > accuracy[0.0] + 0.05


def test_out_of_sample_on_digits(digits):
    X, y = digits
    order = np.random.RandomState(0).permutation(len(X))
    train, test = order[:1200], order[1200:]

    def accuracy(**params):
        model = SLEML(**params).fit(X[train], y[train])
        nearest = KNeighborsClassifier(5).fit(model.embedding_, y[train])
        return nearest.score(model.transform(X[test]), y[test])

    for n_neighbors in (None, 15):
        assert accuracy(n_neighbors=n_neighbors) >= 0.90
        assert accuracy(n_neighbors=n_neighbors, out_of_sample="nystroem") >= 0.90
        nine = {"n_components": 9, "n_neighbors": n_neighbors}
        assert accuracy(**nine, out_of_sample="kernel") >= 0.98
        assert accuracy(**nine, out_of_sample="linear") >= 0.90


def test_known_samples_keep_their_place(murky):
    X, Y = murky
    for method in ("harmonic", "nystroem"):
        model = SLEML(n_neighbors=6, out_of_sample=method, random_state=0).fit(X, Y)
        assert_allclose(model.transform(X), model.embedding_)


def test_embed_weights_equals_single_maps(murky):
    X, Y = murky
    weights = [1.0, 0.9, 0.5, 0.1]
    maps = embed_weights(X, Y, weights, n_neighbors=6, n_components=3, random_state=0)
    assert list(maps) == weights
    before = None
    for weight, Z in maps.items():
        one = SLEML(
            3, n_neighbors=6, feature_weight=weight, random_state=0
        ).fit_transform(X, Y)
        signs = np.sign(np.einsum("ij,ij->j", Z, one))
        assert_allclose(Z, one * signs, atol=1e-8)
        if before is not None:
            assert (np.einsum("ij,ij->j", Z, before) >= 0).all()
        before = Z


@pytest.mark.parametrize(
    "weights, message",
    [([], "is empty"), ([0.5, 1.5], "from 0 to 1"), (["a"], "from 0 to 1")],
)
def test_embed_weights_refuses(murky, weights, message):
    with pytest.raises(ValueError, match=message):
        embed_weights(*murky, weights)


def test_embed_weights_checks_its_parameters(murky):
    with pytest.raises(ValueError, match="balance"):
        embed_weights(*murky, balance="none")
    with pytest.raises(TypeError, match="n_neighbours"):
        embed_weights(*murky, n_neighbours=4)


def test_usual_number_of_neighbours(digits):
    assert usual_neighbors(check_labels(digits[1])) == 269  # as in the paper
    # Two label sets of 500 would need 750.
    assert usual_neighbors(check_labels(np.arange(1000) % 2)) == 300
    # As many label sets as samples: labels are the classes then.
    bits = (np.arange(16)[:, None] >> np.arange(4)) & 1
    assert usual_neighbors(check_labels(bits)) == int(1.5 * 16 / 4)


def test_two_far_clouds_fall_apart(rng):
    X = np.vstack([rng.normal(size=(30, 3)), 50 + rng.normal(size=(20, 3))])
    y = np.repeat([0, 1], [30, 20])
    model = SLEML(n_neighbors=5, random_state=0)
    with pytest.warns(UserWarning, match="falls into 2 parts"):
        Z = model.fit_transform(X, y)
    assert_allclose(model.eigenvalues_[0], 0, atol=1e-12)
    assert len(np.unique(Z[:, 0].round(8))) == 2
    with pytest.raises(ValueError, match="2 parts"):
        SLEML(n_neighbors=5, on_disconnected="raise", random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joined = SLEML(n_neighbors=5, on_disconnected="teleport", random_state=0).fit(
            X, y
        )
    assert 0 < joined.eigenvalues_[0] < 0.01
    # Labels across the clouds join them.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SLEML(n_neighbors=5, random_state=0).fit(X, np.arange(50) % 2)


def test_one_label_set(rng):
    X = rng.normal(size=(40, 3))
    Z = SLEML(n_neighbors=5, random_state=0).fit_transform(X, np.ones(40, dtype=int))
    W = dense_weights(X, np.ones((40, 1)), 5, 0.5)
    assert_allclose(Z, dense_map(W, 2)[1], atol=1e-8)


def test_no_labels_at_all(rng):
    X, Y = rng.normal(size=(40, 3)), np.zeros((40, 2), dtype=int)
    with pytest.warns(UserWarning, match="the map shows the features alone"):
        Z = SLEML(n_neighbors=5, random_state=0).fit_transform(X, Y)
    only = SLEML(n_neighbors=5, feature_weight=1.0, random_state=0).fit_transform(X, Y)
    assert_allclose(np.abs(Z / only), np.sqrt(2), rtol=1e-6)  # the scale of W
    with pytest.raises(ValueError, match="leaves no edge at all"):
        SLEML(n_neighbors=5, feature_weight=0.0, random_state=0).fit(X, Y)
    # As sets that are all alike they do join the samples.
    SLEML(n_neighbors=5, feature_weight=0.0, empty="identical", random_state=0).fit(
        X, Y
    )


def test_labels_alone_leave_bare_samples_at_the_origin(rng):
    X = rng.normal(size=(30, 3))
    Y = np.zeros((30, 2), dtype=int)
    Y[:20, 0] = 1
    Y[10:25, 1] = 1
    with pytest.warns(UserWarning, match="5 of them single samples"):
        Z = SLEML(feature_weight=0.0, random_state=0).fit_transform(X, Y)
    assert_array_equal(Z[25:], 0)
    assert np.abs(Z[:25]).max(axis=1).min() > 1e-3


def test_more_neighbours_than_samples(rng):
    X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
    everyone = SLEML(n_neighbors=11, random_state=0).fit(X, y)
    assert_allclose(
        SLEML(n_neighbors=500, random_state=0).fit(X, y).embedding_, everyone.embedding_
    )
    model = SLEML(n_neighbors=500, n_neighbors_new=None, random_state=0).fit(X, y)
    assert np.isfinite(model.transform(X + 0.1)).all()


def test_duplicates_are_no_trouble(rng):
    X = np.repeat(rng.normal(size=(10, 3)), 4, axis=0)
    y = np.repeat(np.arange(10) % 2, 4)
    # The three copies and all copies of the nearest other sample.
    model = SLEML(n_neighbors=7, on_disconnected="teleport", random_state=0).fit(X, y)
    copies = model.embedding_[::4].repeat(4, axis=0)
    assert_allclose(model.embedding_, copies, atol=1e-8)
    assert_allclose(model.transform(X), copies, atol=1e-8)


def test_too_many_coordinates(rng):
    X, y = rng.normal(size=(6, 3)), np.arange(6) % 2
    with pytest.raises(ValueError, match="n_components is 6, but a graph that joins 6"):
        SLEML(6, random_state=0).fit(X, y)
    assert SLEML(5, random_state=0).fit_transform(X, y).shape == (6, 5)
