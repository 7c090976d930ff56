"""What all candidate-set classifiers have in common: invariances, edge cases."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.labels import add_candidates
from demurk.model_selection._candidates import candidate_scorer
from demurk.partial_label import CLPL, IPAL, PLAGGD, PLECOC, PLSVM, SURE, PLkNN

ESTIMATORS = [
    PLkNN(),
    PLSVM(),
    PLECOC(random_state=0),
    IPAL(),
    SURE(),
    PLAGGD(),
    CLPL(),
]
NAMES = [type(estimator).__name__ for estimator in ESTIMATORS]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=NAMES)


@pytest.fixture(scope="module")
def blobs():
    """Four well separated classes, one false candidate for each sample."""
    X, y = make_blobs(160, 5, centers=4, cluster_std=1.5, random_state=3)
    X = StandardScaler().fit_transform(X)
    return X, y, add_candidates(y, n_extra=1, random_state=0).labels


@every_estimator
def test_sees_through_the_candidates(estimator, blobs):
    X, y, candidates = blobs
    model = clone(estimator).fit(X[:120], candidates[:120])
    assert model.score(X[120:], y[120:]) > 0.9
    if hasattr(model, "label_distributions_"):
        confidences = model.label_distributions_
        assert_allclose(confidences.sum(axis=1), 1)
        assert (confidences >= 0).all()
        assert not confidences[candidates[:120] == 0].any()
        assert (model.labels_ == y[:120]).mean() > 0.9


@every_estimator
def test_order_of_classes_and_rows_does_not_matter(estimator, blobs, rng):
    X, _, candidates = blobs
    base = clone(estimator).fit(X, candidates).predict_proba(X)
    classes, rows = rng.permutation(4), rng.permutation(len(X))
    # LIBSVM stops at a tolerance of 1e-3, the others at rounding.
    atol = 2e-3 if isinstance(estimator, PLECOC) else 1e-6
    # Four classes have seven splits, and PLECOC uses all that it can.
    swapped = clone(estimator).fit(X, candidates[:, classes]).predict_proba(X)
    assert_allclose(swapped, base[:, classes], atol=atol)
    shuffled = clone(estimator).fit(X[rows], candidates[rows]).predict_proba(X)
    assert_allclose(shuffled, base, atol=atol)


@every_estimator
def test_forms_of_features_and_candidates(estimator, blobs):
    X, _, candidates = blobs
    base = clone(estimator).fit(X, candidates).predict_proba(X)
    sparse = clone(estimator).fit(csr_array(X), candidates)
    assert_allclose(sparse.predict_proba(csr_matrix(X)), base, atol=2e-4)
    single = clone(estimator).fit(X.astype(np.float32), candidates)
    assert_allclose(single.predict_proba(X.astype(np.float32)), base, atol=2e-2)
    sets = [{f"c{j}" for j in np.flatnonzero(row)} for row in candidates]
    from_sets = clone(estimator).fit(X, sets)
    assert_allclose(from_sets.predict_proba(X), base, atol=1e-12)
    assert set(from_sets.predict(X)) == {"c0", "c1", "c2", "c3"}
    names = ["north", "east", "south", "west"]
    frame = clone(estimator).fit(X, pd.DataFrame(candidates, columns=names))
    assert_array_equal(frame.classes_, names)
    assert_allclose(frame.predict_proba(X), base, atol=1e-12)
    hidden = candidates.copy()
    hidden[::5] = -1
    observed = hidden[:, 0] >= 0
    dense = clone(estimator).fit(X, hidden).predict_proba(X)
    masked = csr_array(np.maximum(hidden, 0))
    other = clone(estimator).fit(X, masked, observed=observed).predict_proba(X)
    assert_allclose(other, dense, atol=1e-12)


@every_estimator
def test_singletons_are_ordinary_labels(estimator, blobs):
    X, y, _ = blobs
    one_hot = np.eye(4, dtype=np.int8)[y]
    from_1d = clone(estimator).fit(X, y)
    from_2d = clone(estimator).fit(X, one_hot)
    assert_allclose(from_1d.predict_proba(X), from_2d.predict_proba(X))
    assert from_1d.score(X, y) > 0.95


@every_estimator
def test_rows_with_all_candidates_are_unlabelled_rows(estimator, blobs):
    X, y, candidates = blobs
    full, hidden = candidates.copy(), candidates.copy()
    full[:30], hidden[:30] = 1, -1
    model = clone(estimator).fit(X, full)
    other = clone(estimator).fit(X, hidden)
    assert_allclose(model.predict_proba(X), other.predict_proba(X))
    assert model.score(X, y) > 0.9


@every_estimator
def test_nothing_but_all_candidates_is_an_error(estimator, blobs):
    X, _, candidates = blobs
    with pytest.raises(ValueError, match="all 4 classes as candidates"):
        clone(estimator).fit(X, np.ones_like(candidates))


@every_estimator
def test_class_that_is_never_a_candidate(estimator, blobs):
    X, _, candidates = blobs
    base = clone(estimator).fit(X, candidates).predict_proba(X)
    wider = np.insert(candidates, [0, 2], 0, axis=1)
    model = clone(estimator).fit(X, wider)
    proba = model.predict_proba(X)
    assert_array_equal(proba[:, [0, 3]], 0)
    assert_allclose(proba[:, [1, 2, 4, 5]], base, atol=1e-9)
    assert not np.isin(model.predict(X), [0, 3]).any()
    # Also not for a row about which nothing is known.
    wider[:10] = -1
    assert_array_equal(clone(estimator).fit(X, wider).predict_proba(X)[:, [0, 3]], 0)


@every_estimator
def test_one_class_only(estimator, blobs):
    X, _, _ = blobs
    y = np.full(len(X), "only")
    if isinstance(estimator, PLSVM | PLECOC | CLPL):
        with pytest.raises(ValueError, match="names one class only"):
            clone(estimator).fit(X, y)
        return
    model = clone(estimator).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert_allclose(model.predict_proba(X), 1)


@every_estimator
def test_more_neighbours_than_samples_and_duplicates(estimator, blobs):
    X, y, candidates = blobs
    few = clone(estimator).fit(X[:12], candidates[:12])
    assert np.isfinite(few.predict_proba(X)).all()
    # Twins with other candidates: they are each other's nearest neighbours.
    twins = np.tile(np.arange(80), 3)
    sets = add_candidates(y[twins], n_extra=1, random_state=1).labels
    model = clone(estimator).fit(X[twins], sets)
    assert model.score(X, y) > 0.9
    assert np.isfinite(model.predict_proba(X)).all()


@every_estimator
def test_constant_features_and_identical_samples(estimator):
    X = np.ones((24, 3))
    candidates = np.tile([[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0]], (6, 1))
    model = clone(estimator).fit(X, candidates)
    assert_array_equal(model.predict(X), 0)


@every_estimator
def test_empty_set_names_its_row(estimator, blobs):
    X, _, candidates = blobs
    candidates = candidates.copy()
    candidates[7] = 0
    with pytest.raises(ValueError, match="Row 7 of y has no candidate"):
        clone(estimator).fit(X, candidates)


@every_estimator
def test_decision_function_agrees_with_predict(estimator, blobs):
    X, _, candidates = blobs
    model = clone(estimator).fit(X, candidates)
    assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    if not hasattr(model, "decision_function"):
        return
    assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    two = np.column_stack(
        [candidates[:, :2].any(axis=1), candidates[:, 2:].any(axis=1)]
    )
    model = clone(estimator).fit(X, two.astype(int))
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert_array_equal(model.predict(X), (decision > 0).astype(int))


@every_estimator
def test_works_in_pipelines_and_searches(estimator, blobs):
    X, _, candidates = blobs
    pipeline = make_pipeline(StandardScaler(), clone(estimator))
    scores = cross_val_score(pipeline, X, candidates, cv=2, scoring=candidate_scorer())
    assert scores.min() > 0.9


def test_search_without_truth(blobs):
    X, y, candidates = blobs
    search = GridSearchCV(
        PLSVM(), {"reg": [1e-2, 1e2]}, scoring=candidate_scorer("accuracy"), cv=3
    ).fit(X, candidates)
    assert search.best_params_ == {"reg": 1e-2}
    assert search.best_estimator_.score(X, y) > 0.9


class Recorder:
    """Callback that writes down the stages and stops the fit at one of them."""

    max_propagation_depth = 1

    def __init__(self, stop_at=None):
        self.stages, self.scores, self.stop_at = [], [], stop_at

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.parent is not None:
            self.stages.append(context.task_name)
        return len(self.stages) == self.stop_at


class Watcher(Recorder):
    """Callback that asks for the half-fitted model."""

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        if context.parent is not None:
            self.scores.append(fitted_estimator.predict_proba(X))
        return super().on_fit_task_end(estimator, context)


@pytest.mark.parametrize(
    "estimator, stage",
    [(SURE(tol=0), "iteration"), (PLAGGD(), "iteration"), (PLSVM(tol=0), "steps")],
    ids=["SURE", "PLAGGD", "PLSVM"],
)
def test_callbacks_see_and_stop_the_iterations(estimator, stage, blobs):
    X, _, candidates = blobs
    watcher = Watcher(stop_at=3)
    model = clone(estimator).set_callbacks(watcher).fit(X, candidates)
    assert watcher.stages == [stage] * 3
    assert model.n_iter_ == (150 if stage == "steps" else 3)
    assert_allclose(watcher.scores[-1], model.predict_proba(X))
    assert not np.allclose(watcher.scores[0], watcher.scores[-1], atol=1e-9)


@pytest.mark.parametrize(
    "estimator, stages",
    [
        (IPAL(), ["neighbour search", "reconstruction", "propagation"]),
        (CLPL(), ["optimisation"]),
    ],
    ids=["IPAL", "CLPL"],
)
def test_stages_are_reported(estimator, stages, blobs):
    X, _, candidates = blobs
    recorder = Recorder()
    clone(estimator).set_callbacks(recorder).fit(X, candidates)
    assert recorder.stages == stages
