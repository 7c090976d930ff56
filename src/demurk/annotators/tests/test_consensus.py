"""The consensus: invariances, edges, and recovery of known answers."""

import numpy as np
import pytest

from demurk.annotators import Annotations, Consensus

QUICK = {"n_estimators": 30, "random_state": 0}
METHODS = ("features", "dawid-skene", "majority")


def draw(seed=0, n=240, people=6, q=3, labels=False):
    """Features, truth and answers; the first person guesses."""
    rng = np.random.RandomState(seed)
    if labels:
        true = (rng.random_sample((n, q)) < [0.3, 0.5, 0.4][:q]).astype(int)
        X = rng.normal(size=(n, q + 2)) + 2 * np.eye(q, q + 2).T[:, :q].dot(true.T).T
        wrong = (
            rng.random_sample((n, people, q))
            < np.linspace(0.35, 0.1, people)[:, np.newaxis]
        )
        answers = np.where(wrong, 1 - true[:, np.newaxis], true[:, np.newaxis])
        answers[:, 0] = rng.random_sample((n, q)) < true.mean(axis=0)
    else:
        true = rng.randint(q, size=n)
        X = rng.normal(size=(n, q + 2)) + 2 * np.eye(q, q + 2)[true]
        right = rng.random_sample((n, people)) < np.linspace(0.4, 0.85, people)
        answers = np.where(right, true[:, np.newaxis], rng.randint(q, size=(n, people)))
        answers[:, 0] = rng.randint(q, size=n)
    answers[rng.random_sample(answers.shape[:2]) < 0.5] = -1
    return X, true, answers


def hit(model, true):
    return np.mean(model.labels_ == true)


@pytest.mark.parametrize("labels", [False, True])
def test_better_with_more_knowledge(labels):
    X, true, answers = draw(labels=labels)
    said = Annotations.from_array(answers)
    hits = {m: hit(Consensus(m, **QUICK).fit(X, said), true) for m in METHODS}
    assert hits["features"] > hits["dawid-skene"] > hits["majority"]
    assert hits["features"] > 0.9


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_shapes_and_sums(method, labels):
    X, _true, answers = draw(labels=labels)
    model = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers))
    beliefs = model.label_distributions_
    assert beliefs.shape == (240, 3) and (beliefs >= 0).all() and (beliefs <= 1).all()
    np.testing.assert_allclose(model.confusion_.sum(axis=-1), 1)
    if labels:
        assert model.confusion_.shape == (6, 3, 2, 2)
        known = np.isfinite(model.wrong_proba_)
        wrong = np.abs(beliefs - model.labels_)[known]
        np.testing.assert_allclose(model.wrong_proba_[known], wrong)
    else:
        assert model.confusion_.shape == (6, 3, 3)
        np.testing.assert_allclose(beliefs.sum(axis=1), 1)
        known = np.isfinite(model.wrong_proba_)
        best = 1 - beliefs.max(axis=1)[known]
        np.testing.assert_allclose(model.wrong_proba_[known], best)
    assert len(model.quality_) == 6 and len(model.label_quality_) == 18
    inside = model.quality_["low"] <= model.quality_["quality"]
    assert inside.all() and (model.quality_["quality"] <= model.quality_["high"]).all()


@pytest.mark.parametrize("labels", [False, True])
def test_whoever_guesses_is_last_and_the_order_is_found(labels):
    X, _true, answers = draw(labels=labels, n=600)
    quality = Consensus(**QUICK).fit(X, Annotations.from_array(answers)).quality_
    assert quality["quality"].argmin() == 0 and abs(quality["quality"][0]) < 0.15
    assert np.corrcoef(quality["quality"], np.arange(6))[0, 1] > 0.8
    assert quality["quality"].idxmax() == 5


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_people_may_come_in_any_order(method, labels):
    X, _true, answers = draw(labels=labels)
    order = np.random.RandomState(3).permutation(6)
    one = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers))
    two = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers[:, order]))
    np.testing.assert_allclose(
        one.label_distributions_, two.label_distributions_, atol=1e-8
    )
    np.testing.assert_allclose(one.confusion_[order], two.confusion_, atol=1e-8)
    quality = one.quality_["quality"].to_numpy()
    np.testing.assert_allclose(quality[order], two.quality_["quality"], atol=1e-8)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("method", ["dawid-skene", "majority"])
def test_rows_may_come_in_any_order(method, labels):
    X, _true, answers = draw(labels=labels)
    order = np.random.RandomState(3).permutation(len(X))
    one = Consensus(method).fit(None, Annotations.from_array(answers))
    two = Consensus(method).fit(None, Annotations.from_array(answers[order]))
    np.testing.assert_allclose(
        one.label_distributions_[order], two.label_distributions_, atol=1e-8
    )
    np.testing.assert_array_equal(one.labels_[order], two.labels_)


@pytest.mark.parametrize("method", METHODS)
def test_classes_may_have_any_names(method):
    X, _true, answers = draw()
    names = np.array(["zebra", "ant", "mole"])
    renamed = np.where(answers >= 0, names[answers], None)
    one = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers))
    two = Consensus(method, **QUICK).fit(X, Annotations.from_array(renamed))
    columns = np.argsort(np.argsort(names))
    np.testing.assert_allclose(
        one.label_distributions_, two.label_distributions_[:, columns], atol=1e-7
    )


@pytest.mark.parametrize("method", METHODS)
def test_labels_may_come_in_any_order(method):
    X, _true, answers = draw(labels=True)
    one = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers))
    two = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers[:, :, ::-1]))
    np.testing.assert_allclose(
        one.label_distributions_, two.label_distributions_[:, ::-1], atol=1e-7
    )


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_person_with_one_answer_and_a_row_with_none(method, labels):
    X, true, answers = draw(labels=labels)
    answers = np.concatenate([answers, np.full_like(answers[:, :2], -1)], axis=1)
    answers[5, 6] = true[5]
    answers[7] = -1
    model = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers))
    quality = model.quality_.set_index("person")
    assert quality["rows"].tolist()[-2:] == [1, 0]
    width = quality["high"] - quality["low"]
    assert width.iloc[6] > width.iloc[5] and np.isfinite(quality).all(axis=None)
    alone = model.labels_[7]
    if method == "features":
        assert np.isin(alone, [0, 1, 2]).all()
    else:
        assert np.all(alone == -1) and np.isnan(model.wrong_proba_[7]).all()


@pytest.mark.parametrize("method", METHODS)
def test_words_have_no_minus_one(method):
    said = Annotations.from_array([["a", "b"], ["a", "a"], [None, None], ["b", None]])
    X = np.arange(8.0).reshape(4, 2)
    labels = Consensus(method, **QUICK).fit(X, said).labels_
    assert (labels[2] is None) == (method != "features")


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_people_who_all_agree(method, labels):
    X, true, _ = draw(labels=labels)
    answers = np.repeat(true[:, np.newaxis], 3, axis=1)
    model = Consensus(method, **QUICK).fit(X, Annotations.from_array(answers))
    np.testing.assert_array_equal(model.labels_, true)
    assert (model.wrong_proba_ < 0.1).all()
    assert (model.quality_["quality"] > 0.9).all()
    assert (model.quality_["accuracy"] > 0.95).all()


@pytest.mark.parametrize("method", METHODS)
def test_everybody_always_gives_one_class(method):
    said = Annotations.from_array(np.ones((20, 3), dtype=int))
    X = np.random.RandomState(0).normal(size=(20, 2))
    model = Consensus(method, **QUICK).fit(X, said)
    assert (model.labels_ == 1).all() and np.isfinite(model.quality_["quality"]).all()


def test_one_answer_a_row_still_finds_who_guesses():
    X, true, answers = draw(n=900)
    rng = np.random.RandomState(1)
    answers = np.where(np.arange(6) == rng.randint(6, size=(900, 1)), answers, -1)
    model = Consensus(**QUICK).fit(X, Annotations.from_array(answers))
    assert model.quality_["quality"].argmin() == 0
    asked = (answers >= 0).any(axis=1)
    given = answers.max(axis=1)
    assert hit(model, true) > np.mean(given[asked] == true[asked]) + 0.1


def test_a_specialist_is_known_by_label():
    rng = np.random.RandomState(0)
    true = (rng.random_sample((800, 4)) < 0.4).astype(int)
    wrong = rng.random_sample((800, 4, 4)) < 0.2
    wrong[:, 0] = rng.random_sample((800, 4)) < [0.02, 0.02, 0.45, 0.45]
    answers = np.where(wrong, 1 - true[:, np.newaxis], true[:, np.newaxis])
    said = Annotations.from_array(answers, names=["spec", "a", "b", "c"])
    found = Consensus("dawid-skene").fit(None, said).label_quality_
    own = found[found["person"] == "spec"].set_index("label")
    assert (own["quality"][[0, 1]] > 0.85).all() and (
        own["quality"][[2, 3]] < 0.3
    ).all()
    assert np.allclose(own["extra"][[2, 3]], 0.45, atol=0.08)


def test_intervals_hold_the_truth():
    inside = []
    for seed in range(8):
        rng = np.random.RandomState(seed)
        true = rng.randint(3, size=300)
        rates = rng.uniform(0.5, 0.9, 6)
        right = rng.random_sample((300, 6)) < rates
        other = (true[:, np.newaxis] + rng.randint(1, 3, (300, 6))) % 3
        answers = np.where(right, true[:, np.newaxis], other)
        found = Consensus("dawid-skene").fit(None, Annotations.from_array(answers))
        quality = (rates - 1 / 3) / (2 / 3)
        frame = found.quality_
        inside += ((frame["low"] <= quality) & (quality <= frame["high"])).tolist()
    assert np.mean(inside) >= 0.85


def test_what_is_wrong_is_said():
    said = Annotations.from_array([[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="method='dawid-skene'"):
        Consensus().fit(None, said)
    with pytest.raises(ValueError, match="X has 3 rows"):
        Consensus().fit(np.zeros((3, 2)), said)
    with pytest.raises(ValueError, match="give Annotations"):
        Consensus("majority").fit(None, [[0, 1]])
    with pytest.raises(ValueError, match="Nobody answered"):
        Consensus("majority").fit(None, said[np.zeros(0, int)])
