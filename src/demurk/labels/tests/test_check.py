"""Tests of the door: forms of y, refusals, and junk."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import datetime
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import estimator_checks
from sklearn.utils.validation import validate_data

from demurk.labels import LabelData, LabelTags, check_labels
from demurk.labels._data import KINDS

# Three labels; entries of every value; a zero row and an unlabelled row.
TABLE = np.array([[1, 0, -1], [0, 0, 0], [-1, -1, -1], [0, 1, 1]])


def reference(table):
    """Entry by entry, from the convention."""
    n, c = np.shape(table)
    values, observed = np.zeros((n, c)), np.zeros((n, c), dtype=bool)
    for i in range(n):
        for j in range(c):
            observed[i, j] = table[i][j] != -1
            values[i, j] = 1.0 if table[i][j] == 1 else 0.0
    return values, observed


def assert_same(data, other):
    assert data.values.dtype == other.values.dtype == np.float64
    assert data.observed.dtype == other.observed.dtype == bool
    np.testing.assert_array_equal(data.values, other.values)
    np.testing.assert_array_equal(data.observed, other.observed)
    assert data.classes.dtype.kind == other.classes.dtype.kind
    np.testing.assert_array_equal(data.classes, other.classes)
    assert (data.kind, data.single) == (other.kind, other.single)


def with_nan(table):
    return np.where(table == -1, np.nan, table.astype(float))


def with_none(table):
    return np.where(table == -1, None, table.astype(object))


def frame(library, dtype):
    """TABLE as a data frame, missing entries in the library's own way."""
    module = pytest.importorskip(library)
    columns = {str(j): with_none(TABLE)[:, j].tolist() for j in range(3)}
    if library == "polars":
        return module.DataFrame(columns, schema=dict.fromkeys(columns, dtype(module)))
    table = module.DataFrame(columns)
    return table if dtype is None else table.astype(dtype)


def nullable_bools(library):
    module = pytest.importorskip(library)
    columns = {
        str(j): [None if v is None else bool(v) for v in with_none(TABLE)[:, j]]
        for j in range(3)
    }
    table = module.DataFrame(columns)
    return table if library == "polars" else table.astype("boolean")


def explicit(form):
    """TABLE with -1 stored, and a zero stored too."""
    matrix = sparse.csr_array(TABLE.astype(np.int8))
    matrix.data[0] = 0
    matrix[0, 0] = 1
    return form(matrix)


TABLE_FORMS = {
    **{str(t): lambda t=t: TABLE.astype(t) for t in "bhilqefdg"},
    "fortran": lambda: np.asfortranarray(TABLE),
    "strided": lambda: np.repeat(TABLE, 2, axis=0)[::2],
    "matrix": lambda: np.matrix(TABLE),
    "list": lambda: TABLE.tolist(),
    "tuple": lambda: tuple(map(tuple, TABLE.tolist())),
    "nan": lambda: with_nan(TABLE),
    "nan32": lambda: with_nan(TABLE).astype(np.float32),
    "none": lambda: with_none(TABLE),
    "none-list": lambda: with_none(TABLE).tolist(),
    "masked": lambda: np.ma.masked_array(
        np.where(TABLE == -1, 77, TABLE), mask=TABLE == -1
    ),
    "masked-bool": lambda: np.ma.masked_array(TABLE != 0, mask=TABLE == -1),
    "masked-object": lambda: np.ma.masked_array(
        np.where(TABLE == -1, "junk", TABLE.astype(object)), mask=TABLE == -1
    ),
    "csr_array": lambda: explicit(sparse.csr_array),
    "csc_matrix": lambda: explicit(sparse.csc_matrix),
    "coo_array": lambda: explicit(sparse.coo_array),
    "lil_matrix": lambda: explicit(sparse.lil_matrix),
    "dok_array": lambda: explicit(sparse.dok_array),
    "sparse-nan": lambda: sparse.csr_array(with_nan(TABLE)),
    "pandas": lambda: frame("pandas", None),
    "pandas-Int8": lambda: frame("pandas", "Int8"),
    "pandas-object": lambda: frame("pandas", object),
    "pandas-pyarrow": lambda: frame("pandas", "int8[pyarrow]"),
    "pandas-boolean": lambda: nullable_bools("pandas"),
    "polars": lambda: frame("polars", lambda module: module.Int8),
    "polars-float": lambda: frame("polars", lambda module: module.Float32),
    "polars-boolean": lambda: nullable_bools("polars"),
}


@pytest.mark.parametrize("form", TABLE_FORMS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_table_forms_agree(form):
    y = TABLE_FORMS[form]()
    data = check_labels(y, n_samples=4)
    values, observed = reference(TABLE)
    names = ["0", "1", "2"] if hasattr(y, "columns") else np.arange(3)
    assert_same(data, LabelData(values, observed, np.array(names), "labels", False))
    assert (data.n_samples, data.n_labels) == (4, 3)
    np.testing.assert_array_equal(data.labeled, [True, True, False, True])


def series(library, values, **kwargs):
    return pytest.importorskip(library).Series(values, **kwargs)


NUMBERS = [3, -1, 0, 3, 1]
NUMBER_FORMS = {
    **{str(t): lambda t=t: np.array(NUMBERS, dtype=t) for t in "bhlefdg"},
    "list": lambda: NUMBERS,
    "tuple": lambda: tuple(NUMBERS),
    "nan": lambda: [3, np.nan, 0, 3, 1],
    "none": lambda: [3, None, 0, 3, 1],
    "nan-and-none": lambda: np.array([3, np.nan, 0, 3.0, np.int8(1)], dtype=object),
    "masked": lambda: np.ma.masked_array([3, 9, 0, 3, 1], mask=[0, 1, 0, 0, 0]),
    "pandas": lambda: series("pandas", NUMBERS),
    "pandas-nan": lambda: series("pandas", [3, None, 0, 3, 1]),
    "pandas-Int64": lambda: series("pandas", [3, None, 0, 3, 1], dtype="Int64"),
    "pandas-category": lambda: series("pandas", [3, None, 0, 3, 1], dtype="category"),
    "polars": lambda: series("polars", [3, None, 0, 3, 1]),
}


@pytest.mark.parametrize("form", NUMBER_FORMS)
def test_forms_of_class_numbers_agree(form):
    data = check_labels(NUMBER_FORMS[form](), n_samples=5)
    expected = [[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]]
    observed = np.repeat([[True], [False], [True], [True], [True]], 3, axis=1)
    classes = np.array([0, 1, 3])
    assert_same(
        data, LabelData(np.array(expected, float), observed, classes, "labels", True)
    )
    assert data.classes.dtype == np.int64


TEXTS = ["b", None, "a", "b"]
TEXT_FORMS = {
    "list": lambda: TEXTS,
    "nan": lambda: ["b", np.nan, "a", "b"],
    "object": lambda: np.array(TEXTS, dtype=object),
    "masked": lambda: np.ma.masked_array(["b", "?", "a", "b"], mask=[0, 1, 0, 0]),
    "StringDType": lambda: np.array(TEXTS, dtype=np.dtypes.StringDType(na_object=None)),
    "pandas": lambda: series("pandas", TEXTS),
    "pandas-object": lambda: series("pandas", TEXTS, dtype=object),
    "pandas-string": lambda: series("pandas", TEXTS, dtype="string"),
    "pandas-category": lambda: series("pandas", TEXTS, dtype="category"),
    "polars": lambda: series("polars", TEXTS),
}


@pytest.mark.parametrize("form", TEXT_FORMS)
def test_forms_of_class_names_agree(form):
    data = check_labels(TEXT_FORMS[form]())
    observed = np.array([[True] * 2, [False] * 2, [True] * 2, [True] * 2])
    values = np.array([[0.0, 1], [0, 0], [1, 0], [0, 1]])
    classes = np.array(["a", "b"])
    assert_same(data, LabelData(values, observed, classes, "labels", True))


def test_booleans():
    data = check_labels([True, False, None])
    assert data.classes.dtype == bool
    np.testing.assert_array_equal(data.values, [[0, 1], [1, 0], [0, 0]])
    assert check_labels(np.array([[True, False]])).observed.all()
    # text is never a mark: only None, NaN and the number -1 are
    assert check_labels(["-1", "nan"]).classes.tolist() == ["-1", "nan"]


def test_names_of_columns():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame([[1, 0], [0, 1]])
    assert check_labels(table).classes.tolist() == [0, 1]
    table.columns = pandas.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    assert check_labels(table).classes.tolist() == [("a", 1), ("b", 2)]
    arrow = pytest.importorskip("pyarrow").table({"u": [0, None], "v": [1, 0]})
    data = check_labels(arrow)
    assert data.classes.tolist() == ["u", "v"]
    assert data.observed.tolist() == [[True, True], [False, True]]


def test_sets_are_recognised():
    given_sets = [{"b"}, None, frozenset(), {"a", "b"}]
    for y in (given_sets, np.array(given_sets, dtype=object), tuple(given_sets)):
        data = check_labels(y)
        assert data.values.tolist() == [[0, 1], [0, 0], [0, 0], [1, 1]]
        assert data.labeled.tolist() == [True, False, True, True]
        assert data.classes.tolist() == ["a", "b"] and not data.single
    # one label only: still sets, no column vector, nothing that looks like -1 and 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_labels([{"a"}, None]).values.tolist() == [[1], [0]]
    sets = pytest.importorskip("pandas").Series(given_sets)
    assert_same(check_labels(sets), check_labels(given_sets))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_observed_mask(form):
    Y = np.array([[1, 0], [0, 0], [0, 1]])
    data = check_labels(form(Y), observed=[True, False, True])
    assert data.observed.tolist() == [[True, True], [False, False], [True, True]]
    mask = np.array([[True, False], [False, True], [True, False]])
    for given_mask in (mask, mask.astype(int), sparse.csr_array(mask), mask.tolist()):
        data = check_labels(form(Y), observed=given_mask)
        np.testing.assert_array_equal(data.observed, mask)
        np.testing.assert_array_equal(data.values, Y * mask)
    mask[:] = True  # the result is its own
    assert not data.observed.all()


def test_observed_takes_the_place_of_marks():
    # what is hidden is not looked at, and 1 with -1 is no longer ambiguous
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = check_labels([[1, 7], [np.inf, 1]], observed=np.eye(2, dtype=bool))
        assert data.values.tolist() == [[1, 0], [0, 1]]
        data = check_labels(["a", {3: 4}, "b"], observed=[True, False, True])
        assert data.values.tolist() == [[1, 0], [0, 0], [0, 1]]
        data = check_labels([1, -1, 1], observed=[True, False, True])
        assert data.values.tolist() == [[1], [0], [1]]
        data = check_labels([0.5, 2.0], observed=[False, True])
        assert data.classes.tolist() == [2]


def test_column_vector_is_one_class_per_sample():
    flat = check_labels([0, 2, -1])
    pandas = pytest.importorskip("pandas")
    for y in (
        [[0], [2], [-1]],
        pandas.DataFrame({"y": [0, 2, -1]}),
        sparse.csr_array([[0], [2], [-1]]),
        np.ma.masked_array([[0], [2], [5]], mask=[[0], [0], [1]]),
    ):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
            assert_same(check_labels(y), flat)
    with pytest.warns(DataConversionWarning):
        data = check_labels([[0], [2], [9]], observed=[[True], [True], [False]])
    assert_same(data, flat)


def one_label_forms():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    return {
        "array": np.array([[1], [0], [-1]]),
        "list": [[1], [0], [-1]],
        "flat": [1, 0, -1],
        "masked": np.ma.masked_array([[1], [0], [0]], mask=[[0], [0], [1]]),
        "pandas": pandas.DataFrame({"spam": [1, 0, None]}),
        "pandas objects": pandas.DataFrame({"spam": [True, False, None]}, dtype=object),
        "polars": polars.DataFrame({"spam": [1, 0, None]}),
    }


def test_one_column_of_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form, y in one_label_forms().items():
            data = check_labels(y, 3, columns="labels")
            assert data.values.tolist() == [[1], [0], [0]], form
            assert data.observed.tolist() == [[True], [True], [False]], form
            assert not data.single, form
            named = "pandas" in form or form == "polars"
            assert data.classes.tolist() == (["spam"] if named else [0]), form
            if named:  # a frame is a table of labels, also with one column
                assert_same(check_labels(y), data)
        sparse_y = sparse.csr_array([[1], [0], [0]])
        data = check_labels(sparse_y, columns="labels", observed=[True, True, False])
        assert data.values.tolist() == [[1], [0], [0]] and not data.single
        # and the result is taken as it is
        assert check_labels(data, 3, columns="labels") is data


def test_one_column_of_classes():
    pandas = pytest.importorskip("pandas")
    flat = check_labels([1, 0, -1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in ([1, 0, -1], [[1], [0], [-1]], pandas.DataFrame({"y": [1, 0, -1]})):
            assert_same(check_labels(y, columns="class"), flat)
        words = check_labels(pandas.DataFrame({"y": ["b", "a"]}), columns="class")
    assert words.classes.tolist() == ["a", "b"] and words.single
    for y in (pandas.DataFrame({"y": ["b", "a"]}), pandas.DataFrame({"y": [0, 2]})):
        with pytest.warns(DataConversionWarning):
            assert check_labels(y).single
    with pytest.warns(DataConversionWarning):  # a candidate alone would say nothing
        assert check_labels(pandas.DataFrame({"y": [0, 1]}), kind="candidates").single


@pytest.mark.parametrize(
    "y, columns, message",
    [
        ([[1, 0], [0, 1]], "class", "y holds 2 columns of labels"),
        ([{"a"}, {"b"}], "class", "y holds 2 columns of labels"),
        ([0, 1], "tags", "columns is 'tags'"),
        ([[0], [2]], "labels", "y holds 2 at row 1, column 0"),
        (["a", "b"], "labels", "y holds 'a' at row 0, column 0"),
        (check_labels([0, 1]), "labels", "holds a class"),
        (check_labels([[0, 1]]), "class", "holds labels"),
    ],
)
def test_columns_that_do_not_fit(y, columns, message):
    with pytest.raises(ValueError, match=message):
        check_labels(y, columns=columns)


def test_sparse_labels_are_not_converted():
    Y = sparse.csr_array([[0, 1], [1, 1]])
    Y.indices, Y.indptr = Y.indices.astype("i8"), Y.indptr.astype("i8")
    indices = Y.indices
    check_labels(Y)
    assert Y.indices is indices and Y.indptr.dtype == np.int64


@pytest.mark.parametrize(
    "y",
    [[[1, -1], [-1, 1]], [1, -1, 1], [1.0, -1.0], sparse.csr_array([[1, -1], [1, 1]])],
)
def test_only_signs_warns_once(y):
    with pytest.warns(UserWarning, match="-1 is read as 'not observed'.*write 0") as w:
        check_labels(y)
    assert len(w) == 1
    assert w[0].filename == __file__


@pytest.mark.parametrize(
    "y", [[[1, np.nan]], [[1, -1], [0, 1]], [0, -1], [1, None], [[1, 1]], [2, -1]]
)
def test_no_warning_without_doubt(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_labels(y)


def test_kinds():
    Y = [[0, 1, 1], [-1, -1, -1], [1, 0, 0]]
    data = check_labels(Y, kind="candidates")
    assert data.kind == "candidates" and data.labeled.tolist() == [True, False, True]
    assert not data.values[1].any()
    # a 1-D y means sets of one
    single = check_labels([2, -1, 0], kind="candidates")
    assert single.values.sum(axis=1).tolist() == [1, 0, 1]
    for kind in ("labels", "noisy", "extra"):
        assert check_labels([[0, 0], [1, 0]], kind=kind).kind == kind
    assert check_labels(data, 3, kind="candidates") is data
    assert LabelTags().kind == "labels"


def test_input_is_not_shared():
    Y = np.array([[1.0, 0.0], [0.0, 1.0]])
    mask = np.ones((2, 2), dtype=bool)
    data = check_labels(Y, observed=mask)
    assert not np.shares_memory(data.values, Y)
    assert not np.shares_memory(data.observed, mask)
    with pytest.raises(AttributeError):
        data.values = Y
    y = np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])
    check_labels(y)
    assert y.mask.tolist() == [False, True, False]


class Unreadable:
    def __array__(self, *args, **kwargs):
        raise TypeError("no array here")


def pandas_twins():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame([[1, 0], [0, 1]], columns=["a", "a"])


def pandas_text():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"Sea": [1, 0], "Sun": [0, "yes"]})


def endless():
    rows = []
    rows.append(rows)
    return rows


def broken_csr():
    matrix = sparse.csr_array(np.eye(3))
    matrix.indices[2] = 99
    return matrix


# name: (y or a function that makes it, keyword arguments, place, remedy)
MALFORMED = {
    "none": (None, {}, "requires y to be passed, but the target y is None", "give one"),
    "scalar": (3, {}, "type int has shape ()", "give at least one sample"),
    "text": ("cat", {}, "type str has shape ()", "give at least one sample"),
    "dict": ({"a": [1, 0]}, {}, "type dict has shape ()", "give at least one sample"),
    "one set": ({1, 2}, {}, "type set has shape ()", "give at least one sample"),
    "generator": (lambda: (i for i in "ab"), {}, "type generator", "give at least one"),
    "no rows": ([], {}, "shape (0,)", "give at least one sample"),
    "no columns": (np.zeros((3, 0)), {}, "shape (3, 0)", "give at least one sample"),
    "three dimensions": (np.ones((2, 2, 2)), {}, "shape (2, 2, 2)", "2d array whose"),
    "endless": (endless, {}, "type list", "give"),
    "unreadable": (Unreadable(), {}, "Unreadable", "give an array"),
    "twin columns": (pandas_twins, {}, "'a' 2 times", "different column names"),
    "text column": (
        pandas_text,
        {},
        "'yes' at row 1, column 'Sun'",
        "every entry is 1",
    ),
    "complex": ([1j, 2j], {}, "dtype complex128", "convert it to integers or strings"),
    "dates": (np.array(["2020-01-01"], "M8[D]"), {}, "dtype datetime64[D]", "convert"),
    "date": ([datetime.date(2020, 1, 1)], {}, "Row 0 of y", "a string or a whole"),
    "bytes": ([b"a", b"b"], {}, "Row 0 of y holds b'a'", "a label is a string"),
    "bytes array": (np.array([b"a"]), {}, "dtype |S1", "convert it to integers"),
    "records": (np.zeros(2, dtype=[("a", "i4")]), {}, "dtype [('a'", "convert it"),
    "ragged": (
        [[1, 0], [1]],
        {},
        "Row 1 of y is [1], but row 0 has 2",
        "one entry per label",
    ),
    "ragged names": ([["a", "b"], ["c"]], {}, "Row 1 of y", "all rows as sets"),
    "nested": ([[1, [0]], [1, 0]], {}, "[0] at row 0, column 1", "every entry is 1"),
    "shapes": ([np.ones((2, 2)), np.ones((2, 3))], {}, "type list", "give an array"),
    "table of names": ([["a", "b"], ["c", "d"]], {}, "'a' at row 0, column 0", "sets"),
    "mixed types": (["a", "b", 1], {}, "Row 2 of y holds 1", "all as numbers"),
    "set and list": ([{1}, None, [2]], {}, "Row 2 of y is [2]", "every row as a set"),
    "-1 in a set": ([{1}, {-1}], {}, "Row 1 of y holds the label -1", "give None"),
    "nan in a set": ([{1}, {np.nan}], {}, "Row 1 of y holds nan", "None in place"),
    "tuple in a set": (
        [{(1, 2)}],
        {},
        "Row 0 of y holds (1, 2)",
        "a label is a string",
    ),
    "empty sets": ([set(), set()], {}, "No set in y", "give at least one label"),
    "two": ([[0, 1], [1, 2]], {}, "2 at row 1, column 1", "every entry is 1"),
    "minus two": ([[0, -2], [1, 0]], {}, "-2 at row 0, column 1", "every entry is 1"),
    "uint8": (np.array([[0, 255]], np.uint8), {}, "255 at row 0, column 1", "every"),
    "stored two": (
        sparse.eye_array(3) * 2,
        {},
        "2.0 at row 0, column 0",
        "every entry",
    ),
    "stored twice": (
        sparse.coo_array(([1, 1], ([1, 1], [0, 0])), shape=(2, 2)),
        {},
        "2 at row 1, column 0",
        "every entry is 1",
    ),
    "broken sparse": (broken_csr, {}, "type csr_array", "give an array"),
    "continuous": (
        [1.0, 0.3],
        {},
        "Unknown label type: continuous, because row 1",
        "give",
    ),
    "probabilities": ([[0.5, 1]], {}, "0.5 at row 0, column 0", "every entry is 1"),
    "infinity": (
        [1, 0, np.inf],
        {},
        "infinity or a value too large for dtype",
        "class",
    ),
    "infinity 2-D": ([[1, 0], [0, -np.inf]], {}, "at row 1, column 1", "every entry"),
    "huge": ([1, 10**30], {}, "dtype('float64') in row 1", "at most 64 bits"),
    "huge 2-D": ([[1, 10**400]], {}, "at row 0, column 1", "every entry is 1"),
    "all NaN": ([np.nan] * 3, {}, "Input y contains NaN", "at least one sample"),
    "all -1": (-np.ones((3, 2)), {}, "not observed) in every row", "at least one"),
    "all None": ([None, None], {}, "None or -1", "at least one sample"),
    "length": (
        [0, 1],
        {"n_samples": 3},
        "Found input variables with inconsistent numbers of samples: [3, 2]",
        "give y one row per sample",
    ),
    "no candidate": ([[0, 1], [0, 0]], {"kind": "candidates"}, "Row 1 of y", "one 1"),
    "kind": ([0, 1], {"kind": "murky"}, "'murky'", "give one of labels, noisy"),
    "kind of data": (
        lambda: check_labels([0, 1]),
        {"kind": "candidates"},
        "LabelData of kind 'labels'",
        "pass the raw y",
    ),
    "mask length": ([0, 1], {"observed": [True]}, "[2, 1]", "give observed one row"),
    "mask shape": (
        [0, 1],
        {"observed": np.ones((2, 3))},
        "(2, 3)",
        "one value per row",
    ),
    "mask values": (
        [0, 1],
        {"observed": [1, 2]},
        "observed is 2 in row 1",
        "give True",
    ),
    "mask objects": ([0, 1], {"observed": [True, None]}, "None in row 1", "give True"),
    "mask against -1": (
        [[0, 1], [-1, 1]],
        {"observed": [True, True]},
        "at row 1, column 0",
        "set `observed` to False",
    ),
    "mask against NaN": (
        [0, np.nan],
        {"observed": [1, 1]},
        "at row 1",
        "give its value",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_refusals_name_place_and_remedy(case):
    y, options, place, remedy = MALFORMED[case]
    is_maker = callable(y) and not isinstance(y, Unreadable)
    with pytest.raises(ValueError) as caught:
        check_labels(y() if is_maker else y, **options)
    message = str(caught.value)
    assert place in message
    assert remedy in message[message.index(place) + len(place) :]
    assert message.endswith(".") and "\n" not in message


class Majority(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class; all that scikit-learn's checks of y need."""

    def fit(self, X, y):
        X = validate_data(self, X, y=None if y is None else "no_validation")
        labels = check_labels(y, n_samples=X.shape[0])
        self.classes_ = labels.classes
        self.best_ = int(labels.values.sum(axis=0).argmax())
        return self

    def predict(self, X):
        X = validate_data(self, X, reset=False)
        return np.full(X.shape[0], self.classes_[self.best_])


@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_supervised_y_no_nan,
        estimator_checks.check_supervised_y_2d,
        estimator_checks.check_requires_y_none,
        estimator_checks.check_classifiers_regression_target,
        estimator_checks.check_classifier_data_not_an_array,
    ],
)
def test_scikit_learn_checks_of_y(check):
    check("Majority", Majority())


def test_large_input_is_cheap():
    rng = np.random.RandomState(0)
    Y = rng.randint(-1, 2, size=(20000, 20)).astype(np.int8)
    tracemalloc.start()
    try:
        data = check_labels(Y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # the two results and a few one-byte masks on the way: no second float array
    assert peak < data.values.nbytes + 5 * data.observed.nbytes


def test_import_leaves_data_frames_alone():
    # scikit-learn itself may load pandas, so the question is what we add to it
    code = (
        "import sys, sklearn.utils; before = set(sys.modules); import demurk.labels;"
        "new = {name.split('.')[0] for name in set(sys.modules) - before};"
        "assert not new & {'pandas', 'polars', 'pyarrow'}, new"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.sampled_from([0, 1, -1, np.nan, np.ma.masked, np.int8(1), np.float32(0)]),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.dates(),
    st.decimals(),
    st.fractions(),
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.frozensets(st.one_of(st.integers(-2, 9), st.text(max_size=2)), max_size=3),
        st.dictionaries(st.integers(0, 3), inner, max_size=2),
    ),
    max_leaves=12,
)
ANY = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
SMALL = hnp.array_shapes(max_dims=2, max_side=4)
# Values that are nearly right meet the later checks more often than any number does.
NEARLY = st.sampled_from([0, 1, -1, 0, 1, -1, 2, 1e300])
ARRAYS = st.one_of(
    hnp.arrays(hnp.scalar_dtypes() | hnp.array_dtypes(max_size=2), ANY),
    hnp.arrays(np.float64, SMALL, elements=NEARLY),
    hnp.arrays(np.int8, SMALL, elements=st.integers(-1, 1)),
    hnp.arrays(object, SMALL, elements=SCALARS),
    hnp.arrays(np.float64, SMALL, elements=NEARLY).map(
        lambda a: np.ma.masked_array(a, mask=a == 2)
    ),
)
SPARSE = st.builds(
    lambda a, form: form(a),
    hnp.arrays(
        st.sampled_from([np.int8, np.float32, np.complex128, bool]),
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=4),
    ),
    st.sampled_from([sparse.csr_array, sparse.csc_matrix, sparse.dia_array]),
)
TABLES = hnp.arrays(
    np.int8, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(-1, 1)
)


@settings(max_examples=400, deadline=None)
@given(
    y=st.one_of(JUNK, st.lists(SCALARS, max_size=5), ARRAYS, SPARSE),
    kind=st.sampled_from(KINDS),
    observed=st.one_of(st.none(), JUNK, ARRAYS, st.lists(st.booleans(), max_size=4)),
    columns=st.sampled_from([None, "labels", "class"]),
)
def test_junk_is_read_or_refused(y, kind, observed, columns):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = check_labels(y, kind=kind, observed=observed, columns=columns)
        except ValueError as error:
            assert str(error)
            return
    assert data.values.dtype == np.float64 and data.observed.dtype == bool
    assert data.values.shape == data.observed.shape
    assert data.classes.shape == (data.n_labels,)
    assert np.isin(data.values, (0, 1)).all()
    assert not data.values[~data.observed].any()
    assert data.observed.any()
    if data.single:
        np.testing.assert_array_equal(data.values.sum(axis=1), data.labeled)


@settings(max_examples=60, deadline=None)
@given(table=TABLES.filter(lambda t: t.shape[1] > 1 and (t >= 0).any()))
def test_any_table_in_any_container(table):
    values, observed = reference(table)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    forms = [
        table,
        with_nan(table),
        with_none(table).tolist(),
        np.ma.masked_array(table, mask=table == -1),
        sparse.csr_array(table),
        pandas.DataFrame(table).astype("Int8").replace(-1, pandas.NA),
        polars.DataFrame(with_nan(table)).fill_nan(None),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for form in forms:
            data = check_labels(form)
            np.testing.assert_array_equal(data.values, values)
            np.testing.assert_array_equal(data.observed, observed)
