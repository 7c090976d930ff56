"""LabelAudit on data whose errors are known."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score

from demurk.audit import LabelAudit
from demurk.audit._noise_model import wrong_probability
from demurk.labels import flip_labels

LISTS = ["given but probably wrong", "missing but probably right"]


@pytest.fixture(scope="module")
def clean():
    """Labels that features and other labels predict well."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(500, 8))
    W = rng.normal(size=(8, 5)) * [1, 1, 1, 1, 2]
    return X, (X @ W + 0.5 * rng.normal(size=(500, 5)) > 2.5).astype(int)


@pytest.fixture(scope="module")
def noisy(clean):
    """The same with 10 % flips, and its audit."""
    X, Y = clean
    corrupted = flip_labels(Y, 0.1, random_state=1)
    audit = LabelAudit(random_state=0, n_jobs=2).fit(X, corrupted.labels)
    return X, corrupted, audit


def precision(changed, scores):
    return average_precision_score(changed.ravel(), scores.ravel())


def test_flips_are_found_and_counted(noisy):
    _, corrupted, audit = noisy
    assert precision(corrupted.changed, audit.scores_) > 0.8
    assert audit.noise_ == "symmetric" and audit.rates_ == "shared"
    for rate in audit.noise_rates_.values():
        assert_allclose(rate, 0.1, atol=0.03)
    n_changed = corrupted.changed.sum()
    assert audit.n_suspects_ == pytest.approx(n_changed, rel=0.3)
    flagged = audit.wrong_proba_ > 0.5
    assert corrupted.changed[flagged].mean() > 0.8
    assert str(audit.n_suspects_) in audit.message_


def test_results_fit_together(noisy):
    _, corrupted, audit = noisy
    Y, wrong = corrupted.labels, audit.wrong_proba_
    assert_allclose(audit.label_distributions_, Y + wrong * (1 - 2 * Y))
    assert audit.n_suspects_ == round(wrong.sum())
    order = np.argsort(audit.scores_, axis=None)
    assert (np.diff(wrong.ravel()[order]) > -1e-3).all()
    assert audit.evidence_["none"] == 0
    assert max(audit.evidence_, key=audit.evidence_.get) == "symmetric"


def test_missing_positives_are_ranked_far_better_than_by_probability(clean):
    X, Y = clean
    rng = np.random.RandomState(2)
    hidden = (rng.random_sample(Y.shape) < 0.3) & (Y == 1)
    given = np.where(hidden, 0, Y)
    forest = RandomForestRegressor(
        100, min_samples_leaf=3, max_features="sqrt", oob_score=True, random_state=0
    ).fit(X, given)
    plain = precision(hidden, np.abs(given - forest.oob_prediction_))
    audit = LabelAudit(random_state=0).fit(X, given)
    assert audit.noise_ == "missing"
    assert_allclose(audit.noise_rates_["missing"], 0.3, atol=0.07)
    assert (audit.noise_rates_["extra"] == 0).all()
    assert precision(hidden, audit.scores_) > plain + 0.3
    none = LabelAudit("none", random_state=0).fit(X, given)
    assert precision(hidden, none.scores_) < precision(hidden, audit.scores_) - 0.3


def test_extra_labels_are_recognised(clean):
    X, Y = clean
    added = (np.random.RandomState(3).random_sample(Y.shape) < 0.1) & (Y == 0)
    audit = LabelAudit(random_state=0).fit(X, np.where(added, 1, Y))
    assert audit.noise_ == "extra"
    assert precision(added, audit.scores_) > 0.85


def test_clean_labels_are_left_alone(clean):
    X, Y = clean
    with pytest.warns(UserWarning, match="No noise rate could be estimated"):
        audit = LabelAudit(random_state=0).fit(X, Y)
    assert audit.noise_ == "none"
    assert (audit.wrong_proba_ > 0.5).mean() <= 0.005
    assert audit.n_suspects_ <= 0.005 * Y.size
    assert len(audit.suspects()) == audit.n_suspects_
    assert len(audit.suspects(7)) == 7


def make_labels(seed, n=300, q=5, bias=2.5, noise=0.5):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 8))
    scores = X @ rng.normal(size=(8, q)) + noise * rng.normal(size=(n, q))
    return X, (scores > bias).astype(int)


@pytest.mark.parametrize(
    "shape",
    [
        {"noise": 3.0},
        {"noise": 50.0},
        {"bias": 0.0},
        {"bias": 6.0, "n": 400},
        {"n": 60},
        {"n": 200, "q": 40},
    ],
    ids=["hard", "unpredictable", "balanced", "rare", "few rows", "many labels"],
)
@pytest.mark.filterwarnings("ignore:No noise rate")
def test_at_most_one_in_two_hundred_clean_entries_is_flagged(shape):
    for seed in range(2):
        X, Y = make_labels(seed, **shape)
        audit = LabelAudit(n_estimators=50, random_state=0).fit(X, Y)
        assert (audit.wrong_proba_ > 0.5).mean() <= 0.005
        assert audit.n_suspects_ <= 0.005 * Y.size


def test_weak_evidence_is_said_and_the_lists_stay_apart():
    X, Y = make_labels(3, n=100)
    corrupted = flip_labels(Y, 0.1, random_state=3)
    audit = LabelAudit(n_estimators=50, random_state=0).fit(X, corrupted.labels)
    assert audit.noise_ == "uncertain"
    assert "cannot be told: read the two lists of suspects apart" in audit.message_
    # So many of each, whatever the other list holds.
    assert audit.suspects(6)["given"].tolist() == [1] * 6 + [0] * 6


def test_kind_none_ranks_by_how_unlikely_the_label_is(noisy):
    X, corrupted, _ = noisy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        none = LabelAudit("none", random_state=0).fit(X, corrupted.labels)
    assert none.noise_ == "none" and (none.wrong_proba_ == 0).all()
    assert_array_equal(none.label_distributions_, corrupted.labels)
    assert none.n_suspects_ == 0
    assert precision(corrupted.changed, none.scores_) > 0.8
    P = none._evidence.out_of_sample
    assert_allclose(none.scores_, np.abs(corrupted.labels - P))


@pytest.mark.parametrize("noise, allowed", [("missing", 0), ("extra", 1)])
def test_a_stated_kind_never_suspects_the_impossible(noisy, noise, allowed):
    X, corrupted, _ = noisy
    audit = LabelAudit(noise, n_estimators=20, random_state=0).fit(X, corrupted.labels)
    assert audit.noise_ == noise
    assert (audit.suspects(40)["given"] == allowed).all()


def test_unobserved_entries(clean):
    X, Y = clean
    rng = np.random.RandomState(4)
    corrupted = flip_labels(Y, 0.1, random_state=1)
    given = np.where(rng.random_sample(Y.shape) < 0.2, -1, corrupted.labels)
    given[:50] = -1
    seen = given >= 0
    audit = LabelAudit(random_state=0).fit(X, given)
    for name in ("scores_", "wrong_proba_", "label_distributions_"):
        assert_array_equal(np.isfinite(getattr(audit, name)), seen)
    assert precision(corrupted.changed[seen], audit.scores_[seen]) > 0.75
    suspects = audit.suspects(60)
    assert seen[suspects["row"], suspects["label"]].all()
    # A sparse matrix with a mask says the same.
    other = LabelAudit(random_state=0).fit(X, csr_array(given * seen), observed=seen)
    assert_allclose(other.scores_, audit.scores_)


def test_order_of_labels_does_not_matter(noisy):
    X, corrupted, _ = noisy
    order = [3, 0, 4, 1, 2]
    a = LabelAudit(n_estimators=20, random_state=0).fit(X, corrupted.labels)
    b = LabelAudit(n_estimators=20, random_state=0).fit(X, corrupted.labels[:, order])
    assert_allclose(b.scores_, a.scores_[:, order], atol=1e-6)
    assert b.noise_ == a.noise_


def test_forms_of_input(noisy):
    X, corrupted, _ = noisy
    base = LabelAudit(n_estimators=20, random_state=0).fit(X, corrupted.labels)
    names = ["sea", "sun", "sky", "bird", "boat"]
    frame = pd.DataFrame(X).rename(columns=str)
    audit = LabelAudit(n_estimators=20, random_state=0)
    audit.fit(frame, pd.DataFrame(corrupted.labels, columns=names))
    assert_allclose(audit.scores_, base.scores_)
    assert set(audit.suspects(20)["label"]) <= set(names)
    sparse = LabelAudit(n_estimators=20, random_state=0)
    sparse.fit(csr_array(X), corrupted.labels)
    assert_allclose(sparse.scores_, base.scores_, atol=1e-6)


def test_own_probabilities(noisy):
    X, corrupted, _ = noisy
    Y = corrupted.labels
    forest = RandomForestRegressor(
        100, min_samples_leaf=3, max_features="sqrt", oob_score=True, random_state=0
    ).fit(X, Y)
    P = forest.oob_prediction_
    audit = LabelAudit().fit(None, Y, proba=P)
    assert precision(corrupted.changed, audit.scores_) > precision(
        corrupted.changed, np.abs(Y - P)
    )
    assert "nearest rows" not in audit.suspects(3)["reason"][0]
    both = LabelAudit().fit(X, Y, proba=P)
    assert_allclose(both.scores_, audit.scores_)
    assert "nearest rows" in both.suspects(3)["reason"][0]
    # Behind a mask the probabilities are not read.
    hidden = np.where(np.arange(500)[:, None] < 30, -1, Y)
    blank = np.where(hidden < 0, np.nan, P)
    assert np.isfinite(LabelAudit().fit(None, hidden, proba=blank).scores_[30:]).all()


@pytest.mark.parametrize(
    "X, proba, message",
    [
        (None, None, "give features, or probabilities"),
        (1, np.full((500, 2), 0.5), "proba has shape"),
        (1, np.full((500, 5), 1.5), "proba is 1.5 at row 0, column 0"),
        (1, np.full((500, 5), np.nan), "proba is nan at row 0"),
    ],
)
def test_wrong_input_is_explained(noisy, X, proba, message):
    features, corrupted, _ = noisy
    with pytest.raises(ValueError, match=message):
        LabelAudit().fit(None if X is None else features, corrupted.labels, proba=proba)


def test_suspects_come_in_two_lists(noisy):
    _, corrupted, audit = noisy
    frame = audit.suspects(50)
    columns = ["list", "row", "label", "given", "score", "wrong_proba", "reason"]
    assert list(frame.columns) == columns and len(frame) == 50
    assert_array_equal(frame["list"], np.where(frame["given"] == 1, *LISTS))
    place = frame["row"].to_numpy(), frame["label"].to_numpy()
    assert_array_equal(frame["given"], corrupted.labels[place])
    assert_allclose(frame["score"], audit.scores_[place])
    assert_allclose(frame["wrong_proba"], audit.wrong_proba_[place])
    assert frame["score"].min() >= np.sort(audit.scores_, axis=None)[-50]
    for _, part in frame.groupby("list"):
        assert (np.diff(part["score"]) <= 0).all()
    assert len(audit.suspects()) == audit.n_suspects_


def test_uncertain_lists_are_not_mixed(noisy):
    _, _, audit = noisy
    certain = audit.suspects(10)
    audit.noise_ = "uncertain"
    try:
        frame = audit.suspects(10)
        assert frame["given"].tolist() == [1] * 10 + [0] * 10
        assert len(certain) == 10
        wrong, Y = audit.wrong_proba_, audit._evidence.labels
        expected = [round(wrong[Y == v].sum()) for v in (1, 0)]
        sizes = audit.suspects()["list"].value_counts()
        assert [sizes[name] for name in LISTS] == expected
    finally:
        audit.noise_ = "symmetric"


def test_one_class_per_sample(clean):
    X, _ = clean
    y = np.digitize(X[:, 0] + X[:, 1], [-1, 1])
    rng = np.random.RandomState(5)
    wrong = rng.random_sample(500) < 0.15
    given = np.where(wrong, (y + rng.randint(1, 3, 500)) % 3, y)
    audit = LabelAudit(random_state=0).fit(X, given)
    assert average_precision_score(wrong, audit.scores_) > 0.8


@pytest.mark.filterwarnings("ignore:No noise rate")
def test_small_and_degenerate_data(clean):
    X, Y = clean
    for rows in (2, 3, 20):
        audit = LabelAudit(n_estimators=10, random_state=0).fit(X[:rows], Y[:rows])
        assert np.isfinite(audit.scores_).all()
        assert len(audit.suspects(4)) <= 8
    for constant in (0, 1):
        audit = LabelAudit(n_estimators=10).fit(X[:50], np.full((50, 3), constant))
        assert audit.noise_ == "none" and np.isfinite(audit.scores_).all()
    one = LabelAudit(n_estimators=10).fit(X, [{"a"} if v else set() for v in Y[:, 0]])
    assert one.scores_.shape == (500, 1)
    with pytest.raises(ValueError, match="Only one sample is labelled"):
        LabelAudit().fit(X, np.where(np.arange(500)[:, None] == 7, Y, -1))
    with pytest.raises(ValueError, match="not observed\\) in every row"):
        LabelAudit().fit(X, np.full_like(Y, -1))
    with pytest.raises(NotFittedError):
        LabelAudit().suspects()


@pytest.mark.filterwarnings("ignore:No noise rate")
def test_wide_sparse_text_and_many_labels(rng):
    words = csr_array((rng.random_sample((60, 20_000)) < 0.002).astype(float))
    Y = (rng.random_sample((60, 120)) < 0.1).astype(int)
    audit = LabelAudit("symmetric", n_estimators=5, random_state=0)
    assert np.isfinite(audit.fit(words, Y).scores_).all()
    assert len(audit.suspects(5)) == 5


def test_many_rows_use_landmarks(clean, monkeypatch):
    X, Y = clean
    monkeypatch.setattr("demurk.audit._probabilities.MAX_EXACT", 100)
    monkeypatch.setattr("demurk.audit._probabilities.N_LANDMARKS", 60)
    corrupted = flip_labels(Y, 0.1, random_state=1)
    audit = LabelAudit(random_state=0).fit(X, corrupted.labels)
    assert precision(corrupted.changed, audit.scores_) > 0.75


def test_probabilities_come_from_the_reported_rates(noisy):
    _, corrupted, audit = noisy
    e0, e1 = audit.noise_rates_["missing"], audit.noise_rates_["extra"]
    Y, wrong = corrupted.labels, audit.wrong_proba_
    # Solve Bayes' rule for the probability of the true label and put it back in.
    odds = wrong / (1 - wrong)
    given = (e1 / (1 - e0)) / odds
    absent = odds * (1 - e1) / e0
    pi = np.where(Y == 1, given / (1 + given), absent / (1 + absent))
    inside = (wrong > 1e-6) & (wrong < 1 - 1e-6)
    assert_allclose(wrong_probability(pi, Y, e0, e1)[inside], wrong[inside], rtol=1e-6)


def test_stages_are_reported(clean):
    class Recorder:
        max_propagation_depth = 1
        stages = []

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **_):
            pass

        def on_fit_task_end(self, estimator, context, **_):
            if context.parent is not None:
                self.stages.append(context.task_name)

        def teardown(self, estimator, context):
            pass

    recorder = Recorder()
    X, Y = clean
    LabelAudit("none", n_estimators=5).set_callbacks(recorder).fit(X[:60], Y[:60])
    assert recorder.stages == ["forest", "kernel ridge", "other labels", "noise model"]


@pytest.mark.filterwarnings("ignore:No noise rate")
def test_wide_sparse_indices(rng):
    X = csr_array((rng.uniform(size=(60, 40)) < 0.05).astype(float))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    Y = (rng.uniform(size=(60, 2)) < 0.5).astype(int)
    audit = LabelAudit(n_estimators=5).fit(X, Y)
    assert audit.scores_.shape == (60, 2)
