"""One task of each kind against the same steps written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from demurk.benchmark.engine._keys import data_checksum
from demurk.benchmark.tasks import (
    _candidates,
    _embedding,
    candidates,
    case_study,
    completion,
    embedding,
    nmlsdr_data,
    partial_label_data,
    partial_label_folds,
    partial_multilabel,
    pml_data,
    pml_score,
    pml_split,
    reduction,
)
from demurk.benchmark.tasks._common import (
    make_estimator,
    reason_to_skip,
    seeded,
    unknown_parameter,
)
from demurk.benchmark.tasks._tuning import tuned
from demurk.labels import flip_labels, hide_rows
from demurk.manifold import SLEML
from demurk.metrics import micro_f1, multilabel_report
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.partial_label import PLSVM, PLkNN
from demurk.partial_multilabel import FPML, PMLLCom
from demurk.projection import CENDA, DELIN, MDDM, NMLSDR
from demurk.propagation import MLGFHF

ROOM = "demurk.benchmark.rivals."
MDDM_3 = {"estimator": "demurk.projection.MDDM", "params": {"n_components": 3}}
PLKNN = {"estimator": "demurk.partial_label.PLkNN"}


class Remember(BaseEstimator):
    """Classifier that remembers what it was fitted to."""

    fitted_to = []

    def fit(self, X, y):
        Remember.fitted_to.append((X, y))
        self.n_labels_ = y.shape[1]
        return self

    def predict_proba(self, X):
        return np.tile(np.linspace(0, 1, self.n_labels_), (len(X), 1))

    def predict(self, X):
        return self.predict_proba(X).round().astype(int)


REMEMBER = {"estimator": f"{__name__}.Remember"}


@pytest.fixture(autouse=True)
def remember(monkeypatch):
    """Found by its dotted path, whatever name the test module was imported under."""
    monkeypatch.setitem(REMEMBER, "estimator", "demurk.Remember")
    monkeypatch.setattr("demurk.Remember", Remember, raising=False)
    Remember.fitted_to.clear()


def test_make_estimator_replaces_words():
    method = {
        "estimator": "demurk.projection.WMLDA",
        "params": {"n_components": "n_labels - 1", "weights": "entropy"},
    }
    model = make_estimator(method, n_labels=6)
    assert (model.n_components, model.weights) == (5, "entropy")
    model = make_estimator(MDDM_3, extra={"n_components": "None"})
    assert model.n_components is None
    method["params"]["n_components"] = "n_labels"
    assert make_estimator(method, n_labels=6, extra={"reg": 2.0}).n_components == 6
    both = {"estimator": "x", "classifier": "demurk.multilabel.MLkNN"}
    both["classifier_params"] = {"n_neighbors": 3}
    assert make_estimator(both, key="classifier").n_neighbors == 3


def test_seeds_are_given_where_there_is_none():
    forest = make_estimator({"estimator": ROOM + "random_forest"}, seed=7)
    assert forest.estimator.random_state == 7
    assert seeded(RandomForestClassifier(random_state=1), 7).random_state == 1


def test_reasons_to_skip():
    assert reason_to_skip({}, 10**9, 10**9) is None
    assert reason_to_skip({"needs": "no_such_package"}, 1, 1) == "needs no_such_package"
    assert reason_to_skip({"needs": "numpy", "max_labels": 5}, 9, 5) is None
    reason = reason_to_skip({"max_labels": 5}, 9, 6)
    assert reason == "too large: 6 labels, at most 5"
    assert "9 samples" in reason_to_skip({"max_samples": 8}, 9, 6)
    assert unknown_parameter(MDDM_3, None) is None
    assert unknown_parameter(MDDM_3, {"decorrelation": 0.1}) is None
    assert unknown_parameter(MDDM_3, {"alpha": 1}) == "has no parameter alpha"
    assert unknown_parameter(MDDM_3, {"alpha": 1}, "reducer") == "has no reducer"


def small_toy(seed, n):
    data = nmlsdr_data("toy", seed)
    return (
        data.X_train[:n],
        data.Y_train[:n],
        data.X_test[: n // 2],
        data.Y_test[: n // 2],
    )


@pytest.mark.parametrize("true_labels", [True, False])
def test_reduction_by_hand(true_labels):
    X, Y, X_test, Y_test = small_toy(3, 300)
    noisy = flip_labels(Y, 0.2, random_state=3).labels
    murky = hide_rows(noisy, 0.4, random_state=3).labels
    reducer = MDDM(3).fit(X, murky)
    model = MLkNN().fit(reducer.transform(X), Y if true_labels else murky)
    Z = reducer.transform(X_test)
    own = multilabel_report(Y_test, model.predict(Z), model.predict_proba(Z))
    options = {"labeled": 0.6, "flipped": 0.2, "true_labels": true_labels}
    report = reduction("toy", MDDM_3, 3, max_samples=300, **options)
    assert own.items() <= report.items()
    assert 0 < report["Cov'/C"] < 1


def test_reduction_with_its_own_classifier_and_parameters():
    method = {
        "estimator": "demurk.projection.NMLSDR",
        "params": {"n_components": 3},
        "classifier": "demurk.multilabel.SemiSupervisedMLkNN",
        "classifier_params": {"alpha_labeled": 0.0},
    }
    X, Y, X_test, Y_test = small_toy(0, 300)
    noisy = flip_labels(Y, 0.1, random_state=0).labels
    murky = hide_rows(noisy, 0.5, random_state=0).labels
    reducer = NMLSDR(3, n_neighbors=4).fit(X, murky)
    model = SemiSupervisedMLkNN(alpha_labeled=0).fit(reducer.transform(X), murky)
    own = multilabel_report(
        Y_test,
        model.predict(reducer.transform(X_test)),
        model.predict_proba(reducer.transform(X_test)),
    )
    options = {"labeled": 0.5, "true_labels": False, "params": {"n_neighbors": 4}}
    report = reduction("toy", method, 0, max_samples=300, **options)
    assert own.items() <= report.items()
    skipped = reduction("toy", MDDM_3, 0, max_samples=300, **options)
    assert skipped == {"skipped": "has no parameter n_neighbors"}


def test_a_classifier_sees_all_features_and_murky_labels():
    X, Y, _, _ = small_toy(1, 200)
    reduction("toy", REMEMBER, 1, max_samples=200)
    features, labels = Remember.fitted_to[-1]
    assert_array_equal(features, X)
    assert (labels == -1).all(axis=1).mean() == pytest.approx(0.7, abs=0.01)
    reduction("toy", REMEMBER | {"true_labels": True}, 1, max_samples=200)
    assert_array_equal(Remember.fitted_to[-1][1], Y)


def digits_fold(number, reducer=None, n=300, shuffle=0):
    data = partial_label_data("digits", 2)
    rows = np.random.RandomState(0).permutation(1797)[:n]
    X, S, y = data.X[rows], data.candidates[rows], data.truth[rows]
    folds = KFold(10, shuffle=True, random_state=shuffle).split(X)
    train, test = list(folds)[number]
    Z = StandardScaler().fit(X[train]).transform(X)
    if reducer is not None:
        Z = reducer.fit(Z[train], S[train]).transform(Z)
        Z = Z / np.sqrt(Z[train].var(axis=0).mean())
    return Z[train], S[train], Z[test], y[test]


@pytest.mark.parametrize("seed, shuffle", [(4, 0), (13, 1)])
def test_candidates_by_hand(seed, shuffle):
    options = {"n_extra": 2, "max_samples": 300}
    X, S, X_test, y = digits_fold(seed % 10, shuffle=shuffle)
    own = np.mean(PLkNN().fit(X, S).predict(X_test) == y)
    report = candidates("digits", PLKNN, seed, **options)
    assert report["accuracy"] == pytest.approx(own)
    assert report["n_components"] == 64
    method = PLKNN | {"reducer": "demurk.projection.CENDA"}
    extra = {"threshold": 0.9, "n_neighbors": 5}
    X, S, X_test, y = digits_fold(
        seed % 10, CENDA(threshold=0.9, n_neighbors=5), shuffle=shuffle
    )
    own = np.mean(PLkNN().fit(X, S).predict(X_test) == y)
    report = candidates("digits", method, seed, reducer_params=extra, **options)
    assert report["accuracy"] == pytest.approx(own)
    assert report["n_components"] == X.shape[1] < 9


def test_delin_keeps_as_many_directions_as_cenda():
    method = PLKNN | {
        "reducer": "demurk.projection.DELIN",
        "like": "demurk.projection.CENDA",
    }
    options = {"n_extra": 2, "max_samples": 300}
    few = {"reducer_params": {"threshold": 0.8}}
    cenda = PLKNN | {"reducer": "demurk.projection.CENDA"}
    kept = candidates("digits", cenda, 0, **options, **few)["n_components"]
    X, S, X_test, y = digits_fold(0, DELIN(int(kept)))
    report = candidates("digits", method, 0, **options, **few)
    assert report["n_components"] == kept < 9
    own = np.mean(PLkNN().fit(X, S).predict(X_test) == y)
    assert report["accuracy"] == pytest.approx(own)


def test_transductive_reduction_sees_all_rows(monkeypatch):
    calls = []

    def spy(data, reducer=None, **options):
        calls.append(options)
        return partial_label_folds(data, reducer, **options)

    monkeypatch.setattr(_candidates, "partial_label_folds", spy)
    method = PLKNN | {"reducer": "demurk.projection.CENDA"}
    options = {"n_extra": 1, "max_samples": 290, "transductive": True}
    data = partial_label_data("digits", 1)
    rows = np.random.RandomState(0).permutation(1797)[:290]
    Z = StandardScaler().fit_transform(data.X[rows])
    Z = CENDA().fit(Z, data.candidates[rows]).transform(Z)
    train, test = list(KFold(10, shuffle=True, random_state=0).split(Z))[2]
    model = PLkNN().fit(Z[train], data.candidates[rows][train])
    own = np.mean(model.predict(Z[test]) == data.truth[rows][test])
    report = candidates("digits", method, 2, **options)
    assert report["accuracy"] == pytest.approx(own)
    candidates("digits", method, 7, **options)
    # One reduction serves all folds.
    assert len(calls) == 1


def test_methods_without_a_reducer_can_be_left_out():
    options = {"n_extra": 1, "max_samples": 200, "only_reduced": True}
    assert candidates("digits", PLKNN, 0, **options) == {"skipped": "has no reducer"}
    method = PLKNN | {"reducer": "demurk.projection.CENDA"}
    assert candidates("digits", method, 0, **options)["accuracy"] > 0.5
    options["reducer_params"] = {"alpha": 1}
    skipped = candidates("digits", method, 0, **options)
    assert skipped == {"skipped": "has no parameter alpha"}


def test_refused_candidate_sets_are_skipped():
    method = {"estimator": "demurk.partial_label.PLECOC"}
    report = candidates("digits", method, 0, n_extra=8, max_samples=200)
    assert report == {"skipped": "the candidate sets are too large for it"}


def test_tuning_uses_candidates_and_cheap_parameters():
    (fold,) = partial_label_folds(partial_label_data("digits", 2), only=[1])
    grid = {"reg": [1e-2, 1e3]}
    best = tuned(PLSVM(max_iter=300), grid, fold, {"max_iter": 20})
    assert (best.reg, best.max_iter) == (1e-2, 300)
    method = {
        "estimator": "demurk.partial_label.PLSVM",
        "params": {"max_iter": 50},
        "grid": {"reg": [1e3, 1e-2]},
        "cheaper": {"max_iter": 20},
    }
    options = {"n_extra": 1, "max_samples": 300}
    params = {"max_iter": 50, "reg": 1e-2}
    plain = {"estimator": method["estimator"], "params": params}
    found = candidates("digits", method, 0, **options)["accuracy"]
    assert found == candidates("digits", plain, 0, **options)["accuracy"]


def test_single_labels_of_multi_label_data(data_home, monkeypatch):
    monkeypatch.setenv("DEMURK_DATA", str(data_home))
    data = _candidates._data("slashdot", 1, 1.0, None, None, 3)
    assert data.X.shape == (3141, 1079)
    assert data.candidates.shape == (3141, 19)
    assert_array_equal(data.candidates.sum(axis=1), 2)
    assert np.bincount(data.truth).min() >= 3


def test_partial_multilabel_by_hand():
    data = pml_data("synthetic")
    rows = np.random.RandomState(0).permutation(8000)[:300]
    cut = type(data)(data.X[rows], data.Y[rows], None, "synthetic")
    own = pml_score(FPML(reg=3.0, random_state=0), pml_split(cut, 5, 1.0))
    method = {
        "estimator": "demurk.partial_multilabel.FPML",
        "params": {"reg": 3.0, "random_state": 0},
        "grid": {"reg": [1e6]},
    }
    options = {"amount": 1.0, "max_samples": 300}
    report = partial_multilabel("synthetic", method, 5, choose=False, **options)
    del own["seconds"], report["seconds"]
    assert report == own
    chosen = partial_multilabel("synthetic", method, 5, **options)
    assert chosen["ranking loss"] > report["ranking loss"]
    # A setting goes before the grid.
    fixed = {"params": {"reg": 3.0}}
    report |= {"seconds": 0.0}
    again = partial_multilabel("synthetic", method, 5, **options, **fixed)
    assert again | {"seconds": 0.0} == report


def test_partial_multilabel_settings():
    method = {"estimator": "demurk.partial_multilabel.PMLLCom"}
    options = {"amount": 1.0, "max_samples": 200}
    data = pml_data("synthetic")
    rows = np.random.RandomState(0).permutation(8000)[:200]
    cut = type(data)(data.X[rows], data.Y[rows], None, "synthetic")
    split = pml_split(cut, 0, 1.0)
    own = PMLLCom(2, max_iter=4, tol=0.0, random_state=0)
    own.fit(split.X_train, split.given)
    extra = {"params": {"max_iter": 4, "tol": 0.0}, "convergence": True}
    report = partial_multilabel(
        "synthetic", method, 0, compressed=0.5, **extra, **options
    )
    assert report["objective"] == pytest.approx(own.objective_[-1])
    skipped = partial_multilabel(
        "synthetic", {"estimator": "demurk.multilabel.MLkNN"}, 0, **extra, **options
    )
    assert skipped == {"skipped": "has no parameter max_iter"}
    large = partial_multilabel("synthetic", method | {"max_labels": 3}, 0, **options)
    assert large == {"skipped": "too large: 4 labels, at most 3"}


def test_transductive_scores_and_the_trivial_one():
    options = {"amount": 1.0, "max_samples": 200, "transductive": True}
    trivial = partial_multilabel("synthetic", {"estimator": "trivial"}, 0, **options)
    assert trivial["noise AUC"] == 0.5
    method = {"estimator": "demurk.partial_multilabel.FPML"}
    report = partial_multilabel("synthetic", method, 0, **options)
    assert report["noise AUC"] != 0.5
    assert report["ranking loss"] < trivial["ranking loss"]


def test_completion_by_hand():
    X, y = load_digits(return_X_y=True)
    rows = np.random.RandomState(0).permutation(1797)[:400]
    X, Y = X[rows] / 16, np.eye(10, dtype=int)[y[rows]]
    known = np.zeros(400, dtype=bool)
    known[np.random.RandomState(1002).permutation(400)[:40]] = True
    model = MLGFHF(threshold=0.4).fit(X, np.where(known[:, None], Y, -1))
    own = micro_f1(Y[~known], model.transduction_[~known])
    method = {"estimator": "demurk.propagation.MLGFHF"}
    options = {"share": 0.1, "max_samples": 400}
    report = completion("digits", method, 2, params={"threshold": 0.4}, **options)
    assert report["micro F1"] == pytest.approx(own)
    # A classifier sees the same labels and predicts the other rows.
    completion("digits", REMEMBER, 2, **options)
    features, labels = Remember.fitted_to[-1]
    assert_array_equal(labels, np.where(known[:, None], Y, -1))
    assert_array_equal(features, X)


def test_completion_on_principal_components():
    method = REMEMBER | {"variance": 0.5}
    options = {"share": 0.1, "max_samples": 200}
    completion("digits", method, 0, **options)
    Z = Remember.fitted_to[-1][0]
    completion("digits", REMEMBER, 0, unit_length=True, **options)
    X = Remember.fitted_to[-1][0]
    assert_allclose(np.linalg.norm(X, axis=1), 1)
    completion("digits", REMEMBER, 0, **options)
    X = Remember.fitted_to[-1][0]
    shares = np.linalg.svd(X - X.mean(axis=0))[1] ** 2
    n_kept = np.flatnonzero(np.cumsum(shares) / shares.sum() >= 0.5)[0] + 1
    assert Z.shape == (200, n_kept)


def test_label_agreement_and_kept_neighbours_by_hand(rng):
    Z, X = rng.normal(size=(2, 30, 2))
    Y = rng.randint(2, size=(30, 3))
    Y[4] = 0
    agreement, kept = [], []
    for i in range(30):
        order = np.argsort(np.linalg.norm(Z - Z[i], axis=1), kind="stable")
        near = [j for j in order if j != i]
        for j in near[:5]:
            either = (Y[i] | Y[j]).sum()
            agreement.append((Y[i] & Y[j]).sum() / either if either else 1)
        order = np.argsort(np.linalg.norm(X - X[i], axis=1), kind="stable")
        before = [j for j in order if j != i][:15]
        kept.append(len(set(before) & set(near[:15])) / 15)
    assert _embedding.label_agreement(Z, Y) == pytest.approx(np.mean(agreement))
    assert _embedding._kept(X, Z) == pytest.approx(np.mean(kept))


def test_connectedness_counts_the_largest_piece(rng):
    Z = np.concatenate([rng.normal(size=(30, 2)), 100 + rng.normal(size=(10, 2))])
    assert _embedding._connectedness(Z) == 0.75


def test_between_looks_at_samples_with_two_labels():
    Y = np.array([[1, 0]] * 6 + [[0, 1]] * 6 + [[1, 1]] * 8)
    Z = np.zeros((20, 2))
    Z[6:12, 0] = 10
    Z[12:, 0] = [5, 5, 5, 5, 5, 5, 12, -1]
    Z[12:, 1] = 100
    assert _embedding._between(Z, Y) == 0.75
    assert _embedding._between(Z[:12], Y[:12]) is None


def test_embedding_of_a_map():
    method = {
        "estimator": "demurk.manifold.SLEML",
        "params": {"n_neighbors": "paper", "feature_weight": 0.9},
    }
    report = embedding("digits", method, 1, n_samples=300)
    X, y = load_digits(return_X_y=True)
    rows = np.random.RandomState(1).permutation(1797)[:300]
    X, y = X[rows], y[rows]
    Z = SLEML(n_neighbors=45, feature_weight=0.9, random_state=0).fit_transform(X, y)
    own = _embedding.label_agreement(Z, np.eye(10)[y])
    assert report["label agreement"] == pytest.approx(own)
    assert "between" not in report
    several = embedding("synthetic", method, 0, n_samples=200)
    assert 0 <= several["between"] <= 1
    torus = [embedding("torus", method, seed, n_samples=100) for seed in (0, 1)]
    assert torus[0]["agreement in features"] != torus[1]["agreement in features"]


def test_case_study_by_hand():
    from demurk.datasets import make_health_records, paper_rules
    from demurk.rules import RuleLabeler

    records = make_health_records(600, random_state=0)
    labeler = RuleLabeler(paper_rules(), columns=records.feature_names)
    murky = labeler.fit_transform(records.data[:480])
    has = murky[:, 0] >= 0
    options = {"n_samples": 600, "n_labeled": 50, "n_unlabeled": 40}
    report = case_study("health_records", REMEMBER, 4, **options)
    X, Y = Remember.fitted_to[-1]
    assert ((Y >= 0).all(axis=1).sum(), (Y < 0).all(axis=1).sum()) == (50, 40)
    kept = (records.data[:480] > 0).sum(axis=0) >= 10
    Z = StandardScaler().fit_transform(records.data[:480, kept])
    rng = np.random.RandomState(4)
    rows = [rng.permutation(np.flatnonzero(has))[:50]]
    rows += [rng.permutation(np.flatnonzero(~has))[:40]]
    rows = np.sort(np.concatenate(rows))
    assert_array_equal(X, Z[rows])
    assert_array_equal(Y, murky[rows])
    wrong = (murky != records.target[:480])[rows][has[rows]]
    assert report["wrong labels"] == pytest.approx(wrong.mean())
    assert "map agreement" not in report
    method = MDDM_3 | {"classifier": "demurk.multilabel.SemiSupervisedMLkNN"}
    assert (
        0.3 < case_study("health_records", method, 4, **options)["map agreement"] <= 1
    )


def test_checksums_know_the_papers_names(data_home, monkeypatch):
    monkeypatch.setenv("DEMURK_DATA", str(data_home))
    for kind, name, known in (
        (reduction, "corel", "corel16k001"),
        (partial_multilabel, "CAL500", "cal500"),
        (candidates, "lost", "lost"),
        (completion, "scene", "scene"),
        (embedding, "scene", "scene"),
    ):
        found = data_checksum(kind, name)
        assert found == data_checksum(None, known)
        assert len(found) == 64
    for kind, name in ((reduction, "toy"), (embedding, "torus"), (case_study, "x")):
        assert data_checksum(kind, name) == "builtin"
