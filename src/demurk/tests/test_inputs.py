"""What every estimator does with its inputs: reads them, and changes nothing else."""

import os
import random
import signal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.base import clone, is_classifier
from threadpoolctl import threadpool_info

from demurk.labels import check_labels
from demurk.partial_multilabel import DRAMA
from demurk.registry import METHODS
from demurk.tests.test_common import QUICK, make

# The smallest settings that still run every part of a method.
SMALL = {
    "DRAMA": {"n_estimators": 3},
    "LabelAudit": {"n_estimators": 2},
    "MurkyClassifier": {"n_estimators": 2},
    "PLSVM": {"max_iter": 50},
    "PMLNI": {"max_iter": 200},
}
OFFSETS = [1e4, 1e8]


def small(method):
    """Make an estimator that is fitted in hundredths of a second."""
    estimator = make(method)
    known = estimator.get_params()
    params = {k: v for k, v in SMALL.get(method.name, {}).items() if k in known}
    if "max_iter" in known and method.name not in QUICK:
        params.setdefault("max_iter", min(known["max_iter"], 20))
    return estimator.set_params(**params)


ESTIMATORS = [small(method) for method in METHODS]
READ_LABELS = [e for e in ESTIMATORS if e.__sklearn_tags__().target_tags.required]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
each_with_labels = pytest.mark.parametrize(
    "estimator", READ_LABELS, ids=lambda e: type(e).__name__
)


@pytest.fixture
def murky(rng):
    """Mostly zero features, so that they may be sparse, and candidate sets."""
    X = np.where(
        rng.uniform(size=(40, 8)) < 0.6, np.round(rng.normal(size=(40, 8)), 3), 0
    )
    X[:, 0] = rng.normal(size=40)
    Y = np.eye(3, dtype=int)[(X[:, :3] + 0.3 * rng.normal(size=(40, 3))).argmax(axis=1)]
    Y |= rng.uniform(size=Y.shape) < 0.2
    Y[rng.permutation(40)[:8]] = -1
    return X, Y


def read_only(array):
    array = array.copy(order="K")
    array.flags.writeable = False
    return array


def spoiled(X, *, index=np.int64, duplicates=False, zeros=False, kind=csr_array):
    """The same numbers as a sparse matrix in an order that nobody asked for."""
    data, indices, indptr = [], [], [0]
    for row in X:
        columns = np.flatnonzero(row)[::-1]
        values = row[columns]
        if duplicates:  # halves of a number sum to it exactly
            columns, values = np.tile(columns, 2), np.tile(values / 2, 2)
        if zeros:
            empty = np.flatnonzero(row == 0)[:2]
            columns, values = np.r_[columns, empty], np.r_[values, np.zeros(empty.size)]
        data.extend(values)
        indices.extend(columns)
        indptr.append(len(data))
    matrix = kind(X.shape)
    matrix.data = np.array(data)
    matrix.indices, matrix.indptr = np.array(indices, index), np.array(indptr, index)
    return matrix


def sparse_forms(X):
    narrow = csr_array(X)
    narrow.data.flags.writeable = False
    return {
        "csr, read-only": narrow,
        "csr matrix, 32 bits, unsorted": spoiled(X, index=np.int32, kind=csr_matrix),
        "csr, 64 bits, unsorted": spoiled(X),
        "csr, duplicates": spoiled(X, index=np.int32, duplicates=True),
        "csr, 64 bits, duplicates": spoiled(X, duplicates=True),
        "csr, explicit zeros": spoiled(X, zeros=True),
        "csc": csc_array(X),
    }


def dense_forms(X):
    names = [f"f{j}" for j in range(X.shape[1])]
    return {
        "C": X.copy(order="C"),
        "Fortran, read-only": read_only(np.asfortranarray(X)),
        "float32, read-only": read_only(X.astype(np.float32)),
        "every second row": np.repeat(X, 2, axis=0)[::2],
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
    }


def label_forms(Y):
    hidden = Y == -1
    zeros = np.where(hidden, 0, Y)
    known = {"observed": ~hidden[:, 0]}
    return {
        "read-only": (read_only(Y), {}),
        "NaN, Fortran": (np.asfortranarray(np.where(hidden, np.nan, Y)), {}),
        "masked": (np.ma.masked_array(zeros, mask=hidden), {}),
        "pandas": (pd.DataFrame(Y, columns=list("abc")), {}),
        "polars": (pl.DataFrame(Y, schema=list("abc")), {}),
        "sparse": (spoiled(zeros), known),
        "sparse, 32 bits": (spoiled(zeros, index=np.int32), {"observed": ~hidden}),
        "sparse, csc": (csc_array(zeros), known),
    }


def parts(data):
    """Everything a container holds, as bytes with their type, shape and order."""
    if isinstance(data, dict):
        return [(name, *parts(value)) for name, value in data.items()]
    if isinstance(data, pl.DataFrame):
        return [data.schema, *parts(data.to_numpy())]
    if isinstance(data, pd.DataFrame):
        inside = [*data.columns, *data.index, *data.dtypes]
        return [inside, *parts(data.to_numpy())]
    if hasattr(data, "indptr"):
        arrays = data.data, data.indices, data.indptr
        return [type(data), data.shape, *(part for a in arrays for part in parts(a))]
    if isinstance(data, np.ma.MaskedArray):
        return [*parts(data.data), *parts(np.ma.getmaskarray(data))]
    return [data.dtype, data.shape, data.strides, data.tobytes()]


def use_everything(model, X):
    """Call all methods that take samples; return what the model is for."""
    names = ("transform", "predict_proba", "decision_function", "predict")
    found = [getattr(model, name)(X) for name in names if hasattr(model, name)]
    return found[0] if found else model.scores_


@each
@pytest.mark.parametrize("forms", [dense_forms, sparse_forms])
def test_features_are_only_read(estimator, murky, forms):
    X, Y = murky
    kinds = forms(X)
    canonical = csr_array(X) if forms is sparse_forms else X
    expected = use_everything(clone(estimator).fit(canonical, Y), canonical)
    for name, given in kinds.items():
        before = parts(given)
        found = use_everything(clone(estimator).fit(given, Y), given)
        assert parts(given) == before, name
        if "float32" not in name:
            # The residuals of IPAL are square roots of rounding.
            assert_allclose(found, expected, atol=1e-6, err_msg=name)


@each_with_labels
def test_labels_are_only_read(estimator, murky):
    X, Y = murky
    for name, (given, known) in label_forms(Y).items():
        before = parts(given), parts(known)
        model = clone(estimator).fit(X, given, **known)
        use_everything(model, X)
        assert (parts(given), parts(known)) == before, name
    kind = estimator.__sklearn_tags__().label_tags.kind
    checked = check_labels(Y, kind=kind)
    for array in (checked.values, checked.observed, checked.classes):
        array.flags.writeable = False  # whoever writes to it fails
    clone(estimator).fit(X, checked)


def surroundings():
    """What all code of a process shares."""
    kind, keys, *rest = np.random.get_state()  # noqa: NPY002
    pools = [(p["filepath"], p["num_threads"]) for p in threadpool_info()]
    return (
        (kind, keys.tobytes(), *rest),
        random.getstate(),
        np.geterr(),
        np.get_printoptions(),
        list(warnings.filters),
        sorted(pools),
        dict(os.environ),
        signal.getsignal(signal.SIGINT),
    )


@each
def test_surroundings_stay_as_they_are(estimator, murky):
    X, Y = murky
    use_everything(clone(estimator).fit(X, Y), X)  # libraries are loaded by now
    before = surroundings()
    use_everything(clone(estimator).fit(X, Y), X)
    assert surroundings() == before


@each
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_magnitudes_are_checked_at_the_door(estimator, murky, sparse):
    X, Y = murky
    names = [f"f{j}" for j in range(X.shape[1])]
    for dtype, size in ((np.float64, 1e200), (np.float64, 1e80), (np.float32, 1e20)):
        large = X.astype(dtype)
        large[7, 2] = -size
        given = csr_array(large) if sparse else large
        with pytest.raises(ValueError, match=r"Column 2 of X holds -1e\+.* in row 7"):
            clone(estimator).fit(given, Y)
    if sparse or hasattr(estimator, "suspects"):
        return
    model = clone(estimator).fit(pd.DataFrame(X, columns=names), Y)
    with pytest.raises(ValueError, match=r"Column 'f2' of X holds .* in row 7"):
        use_everything(model, pd.DataFrame(large, columns=names))


@each
def test_offsets_change_nothing(estimator, murky):
    X, Y = murky
    X = X - X.mean(axis=0)
    new = X[::2] + 0.01
    if hasattr(estimator, "suspects"):
        new = X
    expected = np.abs(use_everything(clone(estimator).fit(X, Y), new))
    for offset in OFFSETS:
        model = clone(estimator).fit(X + offset, Y)
        found = np.abs(use_everything(model, new + offset))
        # Numbers around 1e8 have eight digits left for their differences; distances
        # and eigenvectors lose some more of them.
        atol = min(1e-9 * offset, 1e-2) * max(np.nanmax(expected), 1)
        if isinstance(estimator, DRAMA):
            # Its trees split computed confidences: rounding errors choose between
            # splits that are equally good, and a sample may fall on the other side.
            moved = (np.abs(found - expected) > atol).any(axis=1)
            assert moved.mean() < 0.2
            found[moved] = expected[moved]
        assert_allclose(found, expected, rtol=0, atol=atol, err_msg=f"{offset}")


@each_with_labels
def test_one_label_is_no_special_case(estimator, murky):
    X, Y = murky
    kind = estimator.__sklearn_tags__().label_tags.kind
    y = np.where((Y[:, :1] == 0) & (kind == "candidates"), 1, Y[:, :1])
    labels = check_labels(pd.DataFrame({"spam": y[:, 0]}), kind=kind, columns="labels")
    assert labels.values.shape == y.shape and not labels.single
    if kind == "candidates":
        one_class(estimator, X, labels)
        return
    model = clone(estimator).fit(X, labels)
    if hasattr(model, "suspects"):
        assert model.scores_.shape == y.shape
    if not is_classifier(model):
        return
    assert list(model.classes_) == ["spam"]
    assert model.predict(X).shape == y.shape
    for name in ("predict_proba", "decision_function"):
        if hasattr(model, name):
            found = getattr(model, name)(X)
            assert found.shape == y.shape and np.isfinite(found).all(), name
    assert np.unique(model.predict_proba(X)).size > 1
    frame = clone(estimator).fit(X, pd.DataFrame({"spam": y[:, 0]}))
    assert_allclose(frame.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    "name", ["MLkNN", "NoisyLabelPropagation", "SemiSupervisedMLkNN"]
)
def test_one_label_has_the_numbers_it_has_beside_another(name, murky):
    X, Y = murky
    estimator = next(e for e in ESTIMATORS if type(e).__name__ == name)
    beside = clone(estimator).fit(X, Y[:, :2]).predict_proba(X)[:, :1]
    kind = estimator.__sklearn_tags__().label_tags.kind
    alone = check_labels(Y[:, :1], kind=kind, columns="labels")
    found = clone(estimator).fit(X, alone).predict_proba(X)
    assert_allclose(found, beside, atol=1e-9)


def one_class(estimator, X, labels):
    """Where one of the candidates is true, a single one says all or nothing."""
    model = clone(estimator)
    try:
        model.fit(X, labels)
    except ValueError as error:
        assert any(s in str(error) for s in ("one class only", "the same ones"))
        return
    if is_classifier(model):
        assert set(model.predict(X)) == {"spam"}
        assert_allclose(model.predict_proba(X), 1)
