"""Checks that every estimator of the registry passes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from demurk import io
from demurk.labels import labels_from_sets
from demurk.registry import METHODS

# Iterative methods need not converge to be checked.
QUICK = {
    "CENDA": {"max_iter": 5},
    "DELIN": {"max_iter": 5},
    "LabelAudit": {"n_estimators": 5},
    "MurkyClassifier": {
        "members": "fast",
        "n_estimators": 5,
        # The cut for F1 may lie below one half, which the common checks do not know.
        "target": "hamming",
    },
    "PLAGGD": {"max_iter": 2},
    "PLSVM": {"max_iter": 200},
}


def make(method):
    """Make a quick and repeatable estimator."""
    estimator = method.load()(**QUICK.get(method.name, {}))
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator


ESTIMATORS = [make(method) for method in METHODS]
READ_LABELS = [e for e in ESTIMATORS if e.__sklearn_tags__().target_tags.required]
# Samples with weights that are neighbours of others.
WEIGHTED_GRAPHS = {"KernelNMLSDR", "MLkNN", "MurkyClassifier", "NMLSDR"}
# What they draw at random is drawn label by label, so that their order matters.
ORDER_MATTERS = {"PLECOC"}


def expected_failures(estimator):
    """Common checks that contradict a convention of ours, each with its reason."""
    failures = {}
    if is_classifier(estimator):
        failures["check_classifiers_classes"] = "-1 means unlabelled, not a class"
    if type(estimator).__name__ in WEIGHTED_GRAPHS:
        reason = "a row given twice is its own neighbour, or predicted by its twin"
        for data in ("dense", "sparse"):
            check = f"check_sample_weight_equivalence_on_{data}_data"
            failures[check] = reason
    if type(estimator).__name__ == "MLGFHF":
        reason = "labels count from a threshold below one half"
        failures["check_classifier_multioutput"] = reason
    return failures


@parametrize_with_checks(
    ESTIMATORS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def answer(model, X):
    """What a fitted estimator is for."""
    if hasattr(model, "suspects"):
        return model.scores_
    return model.predict_proba(X) if is_classifier(model) else model.transform(X)


def output(estimator, X, y, **fit_params):
    """Fit a clone and return what it makes of new samples."""
    return answer(clone(estimator).fit(X, y, **fit_params), X + 0.1)


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(60, 12))
    # One or two labels for each sample, so that the rows may be candidate sets too.
    Y = np.eye(4, dtype=int)[(X[:, :4] + rng.normal(size=(60, 4))).argmax(axis=1)]
    Y |= rng.uniform(size=Y.shape) < 0.2
    Y[rng.permutation(60)[:20]] = -1
    return X, Y


def every_form(Y):
    """The same labels in every form the door accepts."""
    hidden = Y == -1
    floats = np.where(hidden, np.nan, Y)
    nullable = pd.DataFrame(floats).astype("Int64")
    sets = [
        None if hidden[i, 0] else {int(j) for j in np.flatnonzero(Y[i] == 1)}
        for i in range(len(Y))
    ]
    zeros = np.where(hidden, 0, Y)
    return {
        "int8": (Y.astype(np.int8), {}),
        "nan": (floats, {}),
        "masked": (np.ma.masked_array(zeros, mask=hidden), {}),
        "pandas NA": (nullable, {}),
        "pandas -1": (pd.DataFrame(Y, columns=list("abcd")), {}),
        "polars": (pl.DataFrame(Y, schema=list("abcd")), {}),
        "polars null": (
            pl.DataFrame(
                [[None if v == -1 else int(v) for v in column] for column in Y.T],
                schema=list("abcd"),
            ),
            {},
        ),
        "sets": (labels_from_sets(sets)[0], {}),
        "list of sets": (sets, {}),
        "nested lists": (Y.tolist(), {}),
        "sparse matrix": (csr_matrix(zeros), {"observed": ~hidden}),
        "sparse array": (csr_array(zeros), {"observed": ~hidden[:, 0]}),
    }


@pytest.mark.parametrize("estimator", READ_LABELS, ids=lambda e: type(e).__name__)
def test_every_form_of_labels_gives_the_same_model(estimator, murky):
    X, Y = murky
    expected = output(estimator, X, Y)
    for form, (y, fit_params) in every_form(Y).items():
        assert_allclose(
            output(estimator, X, y, **fit_params), expected, atol=1e-9, err_msg=form
        )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_frames_of_features(estimator, murky):
    X, Y = murky
    names = [f"f{j}" for j in range(X.shape[1])]
    expected = output(estimator, X, Y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        assert_allclose(output(estimator, frame, Y), expected, atol=1e-9)
        assert list(clone(estimator).fit(frame, Y).feature_names_in_) == names


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_permuting_labels_permutes_outputs(estimator, murky):
    X, Y = murky
    if type(estimator).__name__ in ORDER_MATTERS:
        pytest.skip("draws at random, label by label")
    order = [2, 0, 3, 1]
    first, second = output(estimator, X, Y), output(estimator, X, Y[:, order])
    if is_classifier(estimator) or hasattr(estimator, "suspects"):
        first = first[:, order]
    assert_allclose(second, first, atol=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_saved_model_is_the_same_model(estimator, murky, tmp_path, sparse):
    X, Y = murky
    X = csr_array(X) if sparse else X
    model = clone(estimator).fit(X, Y)
    restored = io.load(io.save(model, tmp_path / "model.skops"))
    assert_allclose(answer(restored, X), answer(model, X))


@pytest.mark.parametrize("estimator", READ_LABELS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda X, Y: (X, Y[:-1]), "inconsistent numbers of samples"),
        (lambda X, Y: (np.where(X == X[3, 2], np.inf, X), Y), "infinity"),
        (lambda X, Y: (X[:1], Y[:1]), "1 sample"),
        (lambda X, Y: (X, np.full_like(Y, -1)), "every row"),
        (lambda X, Y: (X, np.where(Y == 1, 2, Y)), "row .* column"),
        (lambda X, Y: (X, [["a"], ["b", "c"]] * 30), "Row 1 of y"),
        (lambda X, Y: (X, None), "requires y"),
    ],
    ids=["rows", "infinite X", "one sample", "nothing", "value", "ragged", "no y"],
)
def test_wrong_input_is_explained(estimator, murky, spoil, message):
    X, y = spoil(*murky)
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, y)
