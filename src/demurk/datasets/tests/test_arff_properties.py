"""Property tests of the ARFF reader: round trips and mutated files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from demurk.datasets import read_arff

NAMES = st.text("abcXYZ019 _-.,%{}'\"\\=", min_size=1, max_size=8).filter(
    lambda name: name.strip()
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def quoted(text):
    """A value as Weka writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@st.composite
def tables(draw):
    """Attribute names, nominal values (None for numbers) and rows; labels last."""
    n_features, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    n_columns = n_features + n_labels
    names = draw(
        st.lists(NAMES, min_size=n_columns, max_size=n_columns, unique=True),
    )
    nominal = st.lists(NAMES, min_size=1, max_size=4, unique=True)
    kinds = draw(
        st.lists(st.none() | nominal, min_size=n_features, max_size=n_features)
    )
    kinds += draw(
        st.lists(
            st.sampled_from([None, ["0", "1"], ["1", "0"]]),
            min_size=n_labels,
            max_size=n_labels,
        )
    )
    cells = []
    for j, kind in enumerate(kinds):
        cell = NUMBERS if kind is None else st.sampled_from(kind)
        if j >= n_features and kind is None:
            cell = st.sampled_from([0.0, 1.0])
        cells.append(st.none() | cell)
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))
    return names, kinds, rows, n_labels


def header(names, kinds):
    lines = ["@relation round-trip"]
    for name, kind in zip(names, kinds):
        values = "numeric" if kind is None else "{" + ",".join(map(quoted, kind)) + "}"
        lines.append(f"@attribute {quoted(name)} {values}")
    return "\n".join([*lines, "@data", ""])


def cell_text(cell):
    if cell is None:
        return "?"
    return repr(cell) if isinstance(cell, float) else quoted(cell)


def dense_text(rows):
    return "\n".join(",".join(map(cell_text, row)) for row in rows)


def sparse_text(rows, kinds):
    """Only what differs from 0 or from the first nominal value."""
    lines = []
    for row in rows:
        items = [
            f"{j} {cell_text(cell)}"
            for j, (cell, kind) in enumerate(zip(row, kinds))
            if cell is None or cell != (0.0 if kind is None else kind[0])
        ]
        lines.append("{" + ", ".join(items) + "}")
    return "\n".join(lines)


def expected(names, kinds, rows, n_labels):
    """The features and labels, cell by cell."""
    yes = ({"0": 0, "1": 1}, {"no": 0, "yes": 1}, {"false": 0, "true": 1})
    columns, titles = [], []
    for j in range(len(names) - n_labels):
        column = [row[j] for row in rows]
        kind = kinds[j]
        table = next((t for t in yes if kind and {*map(str.lower, kind)} <= {*t}), None)
        if kind is None:
            parts = [column]
        elif table is not None:
            parts = [[None if c is None else table[c.lower()] for c in column]]
        else:
            parts = [
                [None if c is None else float(c == v) for c in column] for v in kind
            ]
        columns += parts
        single = kind is None or table is not None
        titles += [names[j]] if single else [f"{names[j]}={v}" for v in kind]
    data = np.array(columns, dtype=float).T
    labels = [[-1 if c is None else int(c) for c in row[-n_labels:]] for row in rows]
    return data, titles, labels


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("arff") / "file.arff"


@settings(max_examples=150, deadline=None)
@given(table=tables(), as_sparse=st.booleans())
def test_what_is_written_is_read(path, table, as_sparse):
    names, kinds, rows, n_labels = table
    text = sparse_text(rows, kinds) if as_sparse else dense_text(rows)
    path.write_text(header(names, kinds) + text, encoding="utf-8")
    toy = read_arff(path, n_labels=n_labels)
    data, titles, labels = expected(*table)
    assert sparse.issparse(toy.data) == as_sparse
    found = toy.data.toarray() if as_sparse else toy.data
    np.testing.assert_array_equal(found, data)
    assert toy.feature_names == titles
    assert toy.target.tolist() == labels
    assert toy.target_names == names[-n_labels:]


DENSE = """@relation 'x: -C -2'
% comment
@attribute a numeric
@attribute 'b c' {red,'dark blue'}
@attribute y {0,1}
@attribute z {0,1}
@data
1.5,red,0,1
-2e3,'dark blue',1,0
0,red,1,1
"""
SPARSE = DENSE.split("@data")[0] + "@data\n{0 1.5,3 1}\n{1 'dark blue',2 1}\n{}\n"
PIECES = [*"0129.,-+eE'\"\\{}%?@ \n\t_", "@data", "nan", "{}", "1 1", "\r\n", "é", "\0"]


@st.composite
def mutated(draw, text):
    """A text after a few small accidents."""
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, len(text)))
        length = draw(st.integers(0, 6))
        middle = draw(st.sampled_from(["", *PIECES]))
        text = text[:position] + middle + text[position + length :]
    return text


@settings(max_examples=500, deadline=None)
@given(text=mutated(DENSE) | mutated(SPARSE))
def test_mutated_files_give_an_error_or_consistent_data(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    try:
        toy = read_arff(path)
    except ValueError as error:
        assert "file.arff" in str(error) and str(error).endswith(".")
        return
    n = toy.data.shape[0]
    assert toy.data.shape == (n, len(toy.feature_names)) and n > 0
    assert toy.target.shape == (n, len(toy.target_names))
    values = toy.data.data if sparse.issparse(toy.data) else toy.data
    assert not np.isinf(values).any()
    assert set(np.unique(toy.target)) <= {-1, 0, 1}
    if "?" not in text:
        assert not np.isnan(values).any() and (toy.target >= 0).all()
    # Each row of the result is a row of the file.
    body = text.replace("\r", "\n").lower().split("@data", 1)[1].split("\n")
    assert n <= sum(bool(line.split("%")[0].strip()) for line in body)
