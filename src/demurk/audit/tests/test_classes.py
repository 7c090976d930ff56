"""The audit of one class per sample."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score

from demurk.audit import LabelAudit
from demurk.audit._class_members import ClassMembers
from demurk.audit._classes import audit_classes

N_ROWS = 600


@pytest.fixture(scope="module")
def blobs():
    """Four classes far enough apart, 15 % of them replaced by the next."""
    rng = np.random.RandomState(0)
    true = rng.randint(4, size=N_ROWS)
    X = rng.standard_normal((N_ROWS, 5)) + 4 * np.eye(4, 5)[true]
    given = np.where(rng.random_sample(N_ROWS) < 0.15, (true + 1) % 4, true)
    return X, true, given


def fitted(X, y, **options):
    return LabelAudit(n_estimators=50, random_state=0).fit(X, y, **options)


@pytest.fixture(scope="module")
def audit(blobs):
    X, _, given = blobs
    return fitted(X, given)


def test_rows_are_judged(blobs, audit):
    _, true, given = blobs
    wrong = true != given
    assert audit.noise_ == "matrix" and audit.estimated_
    assert audit.scores_.shape == audit.wrong_proba_.shape == (N_ROWS,)
    assert average_precision_score(wrong, audit.scores_) > 0.9
    assert abs(audit.wrong_proba_.mean() - wrong.mean()) < 0.04
    assert audit.n_suspects_ == np.rint(audit.wrong_proba_.sum())
    assert f"about {audit.n_suspects_} of 600 rows" in audit.message_
    assert_allclose(audit.label_distributions_.sum(axis=1), 1)
    kept = audit.label_distributions_[np.arange(N_ROWS), given]
    assert_allclose(kept, 1 - audit.wrong_proba_)
    moved = [(given[true == c] == (c + 1) % 4).mean() for c in range(4)]
    found = audit.noise_matrix_[np.arange(4), np.arange(1, 5) % 4]
    assert_allclose(found, moved, atol=0.04)


def test_a_second_look_is_taken_where_there_is_a_rate(blobs, monkeypatch):
    X, true, given = blobs
    looks = []

    def look_again(members, wrong):
        looks.append(wrong)
        return False

    monkeypatch.setattr(ClassMembers, "look_again", look_again)
    once = fitted(X, given)
    assert_allclose(looks, [once.wrong_proba_])
    with pytest.warns(UserWarning, match="No noise rate"):
        fitted(X, true)
    assert len(looks) == 1


def test_without_a_rate_members_are_weighed_for_the_ranking(monkeypatch):
    # The most ambiguous rows have the second class.
    rng = np.random.RandomState(0)
    X = rng.standard_normal((500, 6))
    given = (X[:, 0] > 0).astype(int)
    swapped = np.argsort(np.abs(X[:, 0]))[:150][rng.permutation(150)[:50]]
    given[swapped] = 1 - given[swapped]
    weighed = fitted(X, given)
    assert weighed.noise_ == "ambiguous" and not weighed.estimated_
    monkeypatch.setattr(ClassMembers, "weigh", lambda members, **how: None)
    plain = fitted(X, given)
    assert plain.noise_ == "ambiguous" and plain.evidence_ == weighed.evidence_
    assert np.abs(plain.scores_ - weighed.scores_).max() > 0.01
    wrong = np.isin(np.arange(500), swapped)
    precision = [average_precision_score(wrong, a.scores_) for a in (weighed, plain)]
    assert precision[0] > precision[1]


def test_suspects_name_the_class_instead(blobs, audit):
    _, true, given = blobs
    frame = audit.suspects(30)
    columns = "row given suggested wrong_proba suggested_proba reason".split()
    assert list(frame.columns) == columns and frame["row"].is_unique
    assert_array_equal(frame["given"], given[frame["row"]])
    assert (frame["suggested"] == true[frame["row"]]).mean() > 0.9
    assert (frame["suggested"] != frame["given"]).all()
    first = frame.iloc[0]
    start = f"given {first['given']}, probably {first['suggested']} ("
    assert first["reason"].startswith(start)
    assert "; of its 10 nearest rows" in first["reason"]
    assert len(audit.suspects()) == audit.n_suspects_


def test_corrected_gives_classes(blobs, audit):
    _, true, given = blobs
    better = audit.corrected()
    assert better.shape == given.shape
    assert (better != true).mean() < (given != true).mean() / 3


@pytest.mark.parametrize("form", ["strings", "categories", "frame"])
def test_names_change_nothing_else(blobs, audit, form):
    X, _, given = blobs
    names = np.array(["ant", "bee", "cat", "dog"])[given]
    y = {
        "strings": names,
        "categories": pd.Series(names, dtype="category", name="animal"),
        "frame": pd.DataFrame({"animal": names}, index=range(7, 7 + N_ROWS)),
    }[form]
    if form == "frame":
        y = y["animal"]
    same = fitted(X, y)
    assert_allclose(same.scores_, audit.scores_)
    assert list(same.classes_) == ["ant", "bee", "cat", "dog"]
    frame = same.suspects(5)
    assert set(frame["suggested"]) <= set(names)
    if form == "frame":
        assert_array_equal(frame["index"], frame["row"] + 7)
        assert_array_equal(same.corrected().index, y.index)


def test_permuted_rows_and_classes_give_equal_answers(blobs):
    X, _, given = blobs
    rng = np.random.RandomState(1)
    proba = 0.6 * np.eye(4)[blobs[1]] + 0.4 * rng.dirichlet(np.ones(4), N_ROWS)
    base = fitted(X, given, proba=proba)
    rows, classes = rng.permutation(N_ROWS), np.array([3, 1, 0, 2])
    place = np.argsort(classes)
    moved = fitted(X[rows], place[given[rows]], proba=proba[np.ix_(rows, classes)])
    assert moved.noise_ == base.noise_ == "matrix"
    assert_allclose(moved.wrong_proba_, base.wrong_proba_[rows], atol=1e-7)
    expected = base.label_distributions_[np.ix_(rows, classes)]
    assert_allclose(moved.label_distributions_, expected, atol=1e-7)


def test_unlabelled_rows_stay_so(blobs):
    X, true, given = blobs
    y = given.copy()
    y[::5] = -1
    audit = fitted(X, y)
    known = y >= 0
    assert_array_equal(np.isnan(audit.scores_), ~known)
    assert_array_equal(audit.corrected()[~known], -1)
    assert average_precision_score((true != given)[known], audit.scores_[known]) > 0.9
    assert known[audit.suspects(50)["row"]].all()


@pytest.mark.filterwarnings(
    "ignore:No noise rate", "ignore:Classes overlap", "ignore:The features"
)
def test_rare_classes_and_few_rows(blobs):
    X, _, given = blobs
    y = given.copy()
    y[0], y[1], y[2:5] = 10, 11, 12
    assert np.isfinite(fitted(X, y).wrong_proba_).all()
    for n_rows in (2, 3, 20):
        assert np.isfinite(fitted(X[:n_rows], y[:n_rows]).wrong_proba_).all()
    one = fitted(X, np.zeros(N_ROWS, int))
    assert one.noise_ == "none" and (one.wrong_proba_ == 0).all()
    assert len(one.suspects()) == 0


def test_kinds_of_noise_the_user_may_name(blobs):
    X, _, given = blobs
    none = LabelAudit("none", n_estimators=20, random_state=0).fit(X, given)
    assert none.noise_ == "none" and not none.estimated_
    assert_array_equal(none.corrected(), given)
    assert LabelAudit("symmetric", n_estimators=20).fit(X, given).noise_ == "symmetric"
    with pytest.raises(ValueError, match="one class per sample"):
        LabelAudit("extra").fit(X, given)


def drawn(p, rng):
    p = p / p.sum(axis=1, keepdims=True)
    return (p.cumsum(axis=1) > rng.random_sample((len(p), 1))).argmax(axis=1)


def test_swapped_rows_are_told_from_classes_that_overlap():
    rng, rows = np.random.RandomState(1), np.arange(2000)
    P = np.exp(2 * rng.standard_normal((2000, 3)))
    P /= P.sum(axis=1, keepdims=True)
    assert audit_classes(P, drawn(P**1.8, rng), "auto", True).noise == "none"
    given, order = drawn(P**3, rng), np.argsort(P, axis=1)
    margin = P[rows, order[:, 2]] / P[rows, order[:, 1]]
    swapped = rng.permutation(np.argsort(margin)[:600])[:200]
    first, second = order[swapped, 2], order[swapped, 1]
    given[swapped] = np.where(given[swapped] == first, second, first)
    found = audit_classes(P, given, "auto", True)
    assert found.noise == "ambiguous" and not found.estimated
    fresh = 1 - found.out_of_sample[rows, given]
    assert_allclose(found.wrong, fresh**2, atol=1e-12)
    likelier = found.out_of_sample.max(axis=1) > found.out_of_sample[rows, given]
    assert found.n_suspects == likelier.sum() > 200
    assert_allclose(found.distributions.sum(axis=1), 1)
    # Whether probabilities of others should be sharper is not known.
    assert audit_classes(P, given, "auto", False).noise == "none"


@pytest.mark.filterwarnings("ignore:The features tell nothing")
@pytest.mark.parametrize("noise", ["auto", "symmetric"])
@pytest.mark.parametrize(("n_rows", "n_classes"), [(60, 2), (200, 5), (200, 10)])
def test_classes_that_the_features_do_not_tell_are_not_judged(noise, n_rows, n_classes):
    rng = np.random.RandomState(0)
    X, y = rng.standard_normal((n_rows, 6)), rng.randint(n_classes, size=n_rows)
    audit = LabelAudit(noise, n_estimators=30, random_state=0).fit(X, y)
    assert audit.noise_ == "none" and not audit.estimated_ and audit.n_suspects_ == 0
    assert audit.message_.startswith("The features tell nothing about the classes")
    assert_array_equal(audit.corrected(), y)


def test_more_classes_need_more_sharpening():
    """Clean classes of many look flatter to the members than clean ones of few do."""
    rng = np.random.RandomState(0)

    def found(n_classes):
        P = rng.dirichlet(np.full(n_classes, 0.3), 1500)
        given = drawn(np.maximum(P, 1e-4) ** 1.8, rng)
        return audit_classes(P, given, "auto", True).noise

    assert found(3) == "none" and found(15) == "ambiguous"


def test_one_clear_other_class_is_more_suspect_than_several():
    rng = np.random.RandomState(0)
    given = np.repeat(np.arange(3), 40)
    P = np.full((120, 3), 0.05) + 0.85 * np.eye(3)[given] + 0.01 * rng.rand(120, 3)
    wrong = rng.permutation(120)[:12]
    P[wrong] = P[wrong][:, [1, 2, 0]]
    clear, vague = (np.flatnonzero(given == 0)[k] for k in (0, 1))
    P[clear], P[vague] = [0.2, 0.75, 0.05], [0.2, 0.4, 0.4]
    found = audit_classes(P / P.sum(axis=1, keepdims=True), given, "symmetric", False)
    assert found.scores[clear] > found.scores[vague]
    assert ((found.scores >= 0) & (found.scores <= 1)).all()
