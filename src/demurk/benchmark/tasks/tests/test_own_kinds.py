"""Tasks of the protocols on demurk's own methods against the same steps written out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import average_precision_score

from demurk.audit import LabelAudit
from demurk.benchmark.tasks import audit, few_labels
from demurk.benchmark.tasks._spoiled import NOISES, wrong_entries
from demurk.datasets import make_multilabel_blocks
from demurk.metrics import multilabel_report
from demurk.multilabel import MurkyClassifier

FOREST = {
    "estimator": "sklearn.ensemble.RandomForestRegressor",
    "params": {"n_estimators": 20},
}
SIZES = {"n_train": 200, "n_test": 100}


@pytest.fixture
def labels(rng):
    return rng.normal(size=(2000, 3)), rng.randint(2, size=(2000, 20))


@pytest.mark.parametrize("noise", NOISES)
def test_each_noise_spoils_what_it_names(noise, labels):
    X, Y = labels
    wrong = wrong_entries(noise, 0.2, X, Y, np.random.RandomState(0))
    present, absent = wrong[Y == 1].mean(), wrong[Y == 0].mean()
    by_label = np.array([w[y == 1].mean() for w, y in zip(wrong.T, Y.T)])
    if noise in ("symmetric", "instance"):
        assert present == pytest.approx(0.2, abs=0.02)
        assert absent == pytest.approx(0.2, abs=0.02)
    elif noise == "extra":
        assert (present, absent) == (0, pytest.approx(0.2, abs=0.01))
    elif noise == "missing":
        assert (present, absent) == (pytest.approx(0.2, abs=0.01), 0)
    else:
        assert by_label.min() < 0.05 and 0.15 < by_label.max() < 0.25
        assert (absent > 0) == (noise == "label")


def test_instance_noise_falls_where_a_forest_is_unsure(rng):
    X = rng.uniform(-1, 1, size=(600, 1))
    clear = np.abs(X[:, 0]) > 0.3
    y = np.where(clear, X[:, 0] > 0, rng.randint(2, size=600))
    wrong = wrong_entries("instance", 0.1, X, np.column_stack([y, 1 - y]), rng)
    assert wrong.sum() == 120
    assert wrong[~clear].mean() > 3 * wrong[clear].mean()


def test_unknown_noise_is_named(rng):
    with pytest.raises(ValueError, match="no noise 'loud'; choose symmetric, extra"):
        wrong_entries("loud", 0.1, np.ones((2, 1)), np.ones((2, 2)), rng)


def spoiled_toy(seed):
    """Training part, given labels and test part of the sizes above, by hand."""
    toy = make_multilabel_blocks(2000, random_state=seed)
    rows = np.random.RandomState(seed).permutation(2000)
    train, test = rows[:200], rows[200:300]
    flips = np.random.RandomState(1000 + seed).random_sample((60, 4)) < 0.1
    given = np.full((200, 4), -1)
    given[:60] = toy.target[train[:60]] ^ flips
    return toy.data[train], toy.target[train], given, toy.data[test], toy.target[test]


def test_a_classifier_sees_all_rows_and_a_regressor_the_labelled_ones():
    X, _, given, X_test, Y_test = spoiled_toy(103)
    forest = RandomForestRegressor(20, random_state=103).fit(X[:60], given[:60])
    scores = forest.predict(X_test)
    own = multilabel_report(Y_test, (scores > 0.5).astype(int), scores)
    found = few_labels("toy", FOREST, 3, **SIZES)
    assert own == {name: pytest.approx(found[name]) for name in own}
    method = {
        "estimator": "demurk.multilabel.MurkyClassifier",
        "params": {"members": "fast", "n_estimators": 20},
    }
    found = few_labels("toy", method, 3, told={"noise": "extra"}, **SIZES)
    model = MurkyClassifier("fast", n_estimators=20, noise="extra", random_state=103)
    scores = model.fit(X, given).decision_function(X_test)
    own = multilabel_report(Y_test, (scores > 0).astype(int), scores)
    assert own == {name: pytest.approx(found[name]) for name in own}
    assert found["noise rate"] == pytest.approx(model.noise_rate_)
    assert found["seconds"] > 0


def test_the_ceiling_predicts_as_many_labels_as_there_are():
    X, Y, _, X_test, Y_test = spoiled_toy(100)
    forest = RandomForestRegressor(20, random_state=100).fit(X, Y)
    scores = forest.predict(X_test)
    last = np.sort(scores, axis=None)[-Y_test.sum()]
    own = multilabel_report(Y_test, (scores >= last).astype(int), scores)
    found = few_labels("toy", FOREST | {"true_labels": True}, 0, **SIZES)
    assert found["MiF1"] == pytest.approx(own["MiF1"])
    assert found["AP"] > few_labels("toy", FOREST, 0, **SIZES)["AP"]


def test_the_cut_of_the_classifier_lends_itself_to_a_forest():
    plain = few_labels("toy", FOREST, 0, **SIZES)
    cut = few_labels(
        "toy", FOREST | {"cut": "demurk.multilabel.MurkyClassifier"}, 0, **SIZES
    )
    assert cut["AP"] == pytest.approx(plain["AP"])
    assert cut["MiF1"] > plain["MiF1"]


def test_rates_are_estimated_once_for_what_was_told(monkeypatch):
    murky = {"estimator": "demurk.multilabel.MurkyClassifier"}
    cut = FOREST | {"cut": "demurk.multilabel.MurkyClassifier"}
    alone = few_labels("toy", cut, 1, **SIZES)
    few_labels("toy", murky, 2, **SIZES)
    few_labels("toy", murky, 1, **SIZES)
    monkeypatch.setattr(MurkyClassifier, "fit", None)
    assert few_labels("toy", cut, 1, **SIZES)["MiF1"] == alone["MiF1"]
    with pytest.raises(TypeError):
        few_labels("toy", cut, 1, told={"noise": "none"}, **SIZES)


def test_a_tuned_forest_has_the_leaves_that_rank_best_out_of_bag():
    X, _, given, X_test, Y_test = spoiled_toy(104)
    X, Y = X[:60], given[:60]
    forests = [
        RandomForestRegressor(
            *(30,),
            max_features="sqrt",
            min_samples_leaf=size,
            oob_score=True,
            random_state=104,
        ).fit(X, Y)
        for size in (1, 4, 15)
    ]
    own = [
        multilabel_report(Y, np.zeros_like(Y), f.oob_prediction_)["AP"] for f in forests
    ]
    scores = forests[np.argmax(own)].predict(X_test)
    params = {"leaf_sizes": [1, 4, 15], "n_estimators": 30}
    method = {"estimator": "demurk.benchmark.rivals.TunedForest"}
    found = few_labels("toy", method | {"params": params}, 4, **SIZES)
    expected = multilabel_report(Y_test, (scores > 0.5).astype(int), scores)
    assert expected == {name: pytest.approx(found[name]) for name in expected}
    assert len(set(own)) == 3


class Flagger(BaseEstimator):
    """Calls the first two labels of every row wrong."""

    def fit(self, X, y):
        self.scores_ = np.tile([2.0, 1.0, 0.0, 0.0], (len(y), 1))
        self.flags_ = self.scores_ > 0
        Flagger.fitted_to = y
        return self


def test_an_audit_is_scored_by_what_is_wrong(monkeypatch):
    monkeypatch.setattr("demurk.Flagger", Flagger, raising=False)
    report = audit("toy", {"estimator": "demurk.Flagger"}, 1, max_samples=150)
    toy = make_multilabel_blocks(2000, random_state=101)
    rows = np.random.RandomState(101).permutation(2000)[:150]
    wrong = np.random.RandomState(1101).random_sample((150, 4)) < 0.1
    assert_array_equal(Flagger.fitted_to, toy.target[rows] ^ wrong)
    scores = np.tile([2.0, 1.0, 0.0, 0.0], 150)
    assert report["AP"] == pytest.approx(average_precision_score(wrong.ravel(), scores))
    assert report["share flagged"] == 0.5
    hits, n_wrong = wrong[:, :2].sum(), wrong.sum()
    assert report["flag F1"] == pytest.approx(2 * hits / (300 + n_wrong))
    assert report["list F1"] == report["flag F1"]
    assert report["error of the share"] == pytest.approx(0.5 - wrong.mean())
    monkeypatch.setattr(
        Flagger, "other_flags", lambda self: {"all": wrong}, raising=False
    )
    report = audit("toy", {"estimator": "demurk.Flagger"}, 1, max_samples=150)
    assert report["flag F1, all"] == 1
    clean = audit("toy", {"estimator": "demurk.Flagger"}, 1, rate=0.0, max_samples=150)
    assert clean.keys() == {"share flagged", "error of the share", "seconds"}


def test_an_audit_without_a_kind_flags_nothing():
    method = {"estimator": "demurk.audit.LabelAudit"}
    report = audit("toy", method, 0, max_samples=120)
    toy = make_multilabel_blocks(2000, random_state=100)
    X = toy.data[:, np.ptp(toy.data, axis=0) > 0]
    rows = np.random.RandomState(100).permutation(2000)[:120]
    wrong = np.random.RandomState(1100).random_sample((120, 4)) < 0.1
    model = LabelAudit(random_state=100)
    with pytest.warns(UserWarning, match="No noise rate"):
        model.fit(X[rows], toy.target[rows] ^ wrong)
    assert report["share flagged"] == (model.wrong_proba_ > 0.5).mean()
    assert report[f"noise {model.noise_}"] == 1
    plain = audit("toy", method | {"params": {"noise": "none"}}, 0, max_samples=120)
    assert "share flagged" not in plain and plain["AP"] > 0
