"""PL-kNN against a literal loop over neighbours and candidates."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.partial_label import PLkNN


def literal_votes(X, votes, queries, k, weights):
    """Scores of each class, one neighbour at a time."""
    scores = np.zeros((len(queries), votes.shape[1]))
    for i, point in enumerate(queries):
        order = sorted((np.sqrt(((point - x) ** 2).sum()), j) for j, x in enumerate(X))
        near = order[:k]
        total = sum(d for d, _ in near)
        for d, j in near:
            if weights == "uniform" or (weights == "hb" and (total == 0 or k == 1)):
                w = 1
            elif weights == "hb":
                w = 1 - d / total
            else:
                w = 1 / d
            scores[i] += w * votes[j]
    return scores


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 3))
    S = (rng.uniform(size=(50, 4)) < 0.4).astype(int)
    S[np.arange(50), rng.randint(3, size=50)] = 1
    S[S.all(axis=1), 3] = 0
    return X, S, rng.normal(size=(20, 3))


@pytest.mark.parametrize("weights", ["hb", "uniform", "distance"])
@pytest.mark.parametrize("vote", ["indicator", "confidence"])
@pytest.mark.parametrize("k", [1, 2, 10])
def test_equals_literal_loop(data, k, weights, vote):
    X, S, queries = data
    votes = S if vote == "indicator" else S / S.sum(axis=1, keepdims=True)
    scores = literal_votes(X, votes, queries, k, weights)
    model = PLkNN(k, weights=weights, vote=vote).fit(X, S)
    expected = scores / scores.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(queries), expected, atol=1e-12)


def test_one_neighbour_gives_its_first_candidate(data):
    X, S, _ = data
    assert_array_equal(PLkNN(1).fit(X, S).predict(X), S.argmax(axis=1))


def test_duplicates_of_the_query():
    X = np.array([[0.0], [0.0], [1.0], [2.0]])
    S = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]])
    # All distances zero: both votes count.
    assert_allclose(PLkNN(2).fit(X, S).predict_proba([[0.0]]), [[1 / 3, 2 / 3, 0]])
    # A duplicate silences the others.
    nearest = PLkNN(4, weights="distance").fit(X, S)
    assert_allclose(nearest.predict_proba([[0.0]]), [[1 / 3, 2 / 3, 0]])
    tiny = PLkNN(2, weights="distance").fit(X[1:], S[1:])
    assert np.isfinite(tiny.predict_proba([[1e-310]])).all()


def test_rows_with_all_candidates_do_not_take_the_place_of_others(data):
    X, S, queries = data
    full = np.vstack([S, np.ones((30, 4), dtype=int)])
    crowd = np.vstack([X, queries, queries[:10]])
    base = PLkNN(5).fit(X, S).predict_proba(queries)
    assert_allclose(PLkNN(5).fit(crowd, full).predict_proba(queries), base)


def test_confidences_are_the_votes(data, rng):
    X, S, queries = data
    confidences = rng.uniform(size=S.shape) * S
    model = PLkNN(5, vote="confidence").fit(X, S, label_distributions=confidences)
    scores = literal_votes(X, confidences, queries, 5, "hb")
    expected = scores / scores.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(queries), expected)
    # With confidences a row of all candidates has something to say.
    full = np.ones_like(S)
    full[0, 0] = 0
    kept = PLkNN(5, vote="confidence").fit(X, full, label_distributions=confidences)
    assert_allclose(kept.predict_proba(queries), expected)


def test_confidences_are_routed(data, rng):
    X, S, queries = data
    confidences = rng.uniform(size=S.shape) * S
    with sklearn.config_context(enable_metadata_routing=True):
        learner = PLkNN(5, vote="confidence").set_fit_request(label_distributions=True)
        pipeline = make_pipeline(StandardScaler(), learner)
        pipeline.fit(X, S, label_distributions=confidences)
        routed = pipeline.predict_proba(queries)
    scaler = StandardScaler().fit(X)
    direct = PLkNN(5, vote="confidence").fit(scaler.transform(X), S, confidences)
    assert_allclose(routed, direct.predict_proba(scaler.transform(queries)))


@pytest.mark.parametrize(
    "vote, change, message",
    [
        ("indicator", lambda C: C, "vote='indicator' does not use them"),
        ("confidence", lambda C: C[:-1], r"shape \(49, 4\)"),
        ("confidence", lambda C: np.where(np.arange(50)[:, None] == 3, 0, C), "Row 3"),
        ("confidence", lambda C: C - 0.1, "Row 0 .* negative"),
        ("confidence", lambda C: C * np.nan, "label_distributions contains NaN"),
    ],
    ids=["unused", "shape", "zero row", "negative", "nan"],
)
def test_wrong_confidences(data, vote, change, message):
    X, S, _ = data
    confidences = change(S / S.sum(axis=1, keepdims=True))
    with pytest.raises(ValueError, match=message):
        PLkNN(vote=vote).fit(X, S, label_distributions=confidences)


def test_other_searches(data):
    X, S, queries = data
    base = PLkNN(5).fit(X, S).predict_proba(queries)
    tree = KNeighborsTransformer(algorithm="kd_tree")
    other = PLkNN(5, neighbors=tree).fit(X, S).predict_proba(queries)
    assert_allclose(other, base)
