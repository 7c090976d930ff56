"""Reading tables in all formats that people keep them in."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
from pathlib import Path

import numpy as np

from demurk.datasets._arrays import load_arrays
from demurk.datasets._files import check_data, existing_file
from demurk.datasets._table import Table
from demurk.datasets._table_bunch import table_from_bunch
from demurk.datasets._table_cells import as_pandas, as_words
from demurk.datasets._table_excel import EXCEL, read_book
from demurk.datasets._table_source import Source
from demurk.datasets._table_text import (
    has_column,
    looks_like_libsvm,
    read_bytes,
    read_text,
    sniff,
)
from demurk.utils._optional import import_optional
from demurk.utils._text import one_line

TEXT = (".csv", ".tsv", ".dat", ".tab")
PARQUET = (".parquet", ".pq")
FEATHER = (".feather", ".arrow")
JSON = (".json", ".jsonl", ".ndjson")
TABLES = (*TEXT, *PARQUET, *FEATHER, *EXCEL, *JSON, ".h5ad")
# Names that tables share with libsvm text, and what is said about tables alone.
LIBSVM = (".svm", ".libsvm", ".svmlight", ".txt")
LABELLED = frozenset({"labels", "class_", "target", "tags", "candidates", "annotator"})


def is_table(path, options=()):
    """Whether a file is a table, and not in one of the formats of numbers.

    Its name says so, or, where that may mean both, the given `options` or the content.
    """
    name = Path(path).name.lower().removesuffix(".gz")
    if str(path) == "-" or name.endswith(TABLES):
        return True
    if not name.endswith(LIBSVM) or not Path(path).is_file():
        return False
    return not LABELLED.isdisjoint(options) or not looks_like_libsvm(path)


def read_table(
    path,
    *,
    labels=None,
    class_=None,
    tags=None,
    candidates=None,
    annotator=None,
    row=None,
    tag_sep=None,
    none="none",
    noise=None,
    drop=(),
    keep=(),
    text=(),
    categorical=(),
    image=(),
    features=None,
    key=None,
    sep=None,
    decimal=None,
    encoding=None,
    header=True,
):
    """Read a table with one row per sample: its cells, features and labels.

    Parameters
    ----------
    path : str or path
        The file: delimited text (`.csv`, `.tsv`, `.dat`, `.txt`; with `.gz` too),
        `.parquet`, `.feather`, `.arrow`, `.xlsx`, JSON lines (`.jsonl`; doccano's too),
        `.json` (a list of records, or tasks of Label Studio), `.h5ad`, or "-" for the
        standard input. Other formats are read by :func:`read_dataset`.
    labels : list of str, int or str, default=None
        Columns of 0 and 1, a label each: their names, the number of columns at the end,
        or the prefix that marks them. `label:` is found by itself and cut off the
        names. 0 reads a table without labels.
    class_ : str, default=None
        A column of classes, words or whole numbers. A single column called class,
        label, target, y or category is found by itself.
    tags : str, default=None
        A column with several labels per cell: "dog;dry", a JSON list, a Parquet list.
    candidates : str, default=None
        A column with candidates, "cat|lynx", of which one is true.
    annotator : str, default=None
        In a table with a line for each answer of a person, the column that says who. A
        table with a column for each person, `class@anna` and `class@ben` or
        `label:spam@anna`, is known by itself.
    row : str, default=None
        The column that says which sample such a line is about; found by itself where
        one is called row, id, item or alike.
    tag_sep : str, default=None
        What separates tags or candidates; None looks at the cells.
    none : str, default="none"
        The word in a cell of tags that says that there is none; "[]" says it too.
    noise : {"extra"}, default=None
        With `tags`, that some of those given are wrong.
    drop, keep, text, categorical : list of str, default=()
        Corrections of what columns are taken for, see :func:`table_features`. The
        columns in `text` are also what a row is called on pages.
    image : list of str, default=()
        Columns with paths of pictures, shown on pages.
    features : str or path, default=None
        Features of the rows, such as embeddings: `.npy`, `.npz`, or a table; in the
        order of the rows, or joined by `key`. They take the place of the table's own
        columns, except for those in `keep` and `categorical`. For `.h5ad`, a key of
        `obsm` in place of `X`.
    key : str, default=None
        Column that `features` (a table) shares with this one.
    sep, decimal, encoding : str, default=None
        How a text file is written; None looks at it.
    header : bool, default=True
        Whether the first line of a text file holds the names. Without it, they are x0,
        x1, and so on.

    Returns
    -------
    table : Table
        Cells, features, labels.

    See Also
    --------
    table_features : The transformer that makes the features.
    read_dataset : Reads any format into arrays.

    Notes
    -----
    In label columns, 1, yes, true and 0, no, false are known; -1, an empty cell, `?`
    and `NA` mean not observed. Anything else is an error that names the line and the
    column. Every cell is parsed once.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from demurk.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "songs.csv")
    ...     _ = file.write_text("tempo;label:happy;label:sad\\n120,5;1;0\\n85;0;\\n")
    ...     songs = read_table(file)
    >>> songs.features.ravel().tolist(), songs.labels.classes.tolist()
    ([120.5, 85.0], ['happy', 'sad'])
    """
    if labels == 0 and not isinstance(labels, str):
        labels = []
    said = {"labels": labels, "class_": class_, "tags": tags}
    said |= {"candidates": candidates, "annotator": annotator}
    if not is_table(path, [name for name, value in said.items() if value]):
        return _from_dataset(path, labels, class_)
    cells = (tags is not None or candidates is not None) and tag_sep is None
    frame, given, source = read_cells(
        path, sep, decimal, encoding, header, features, tags or candidates
    )
    if cells and sep is not None and source.dialect.sep != sep:
        tag_sep = sep
    options = {
        "drop": drop,
        "keep": keep,
        "text": text,
        "categorical": categorical,
        "image": image,
    }
    table = Table(
        frame,
        **said,
        row=row,
        options={name: _listed(value) for name, value in options.items()},
        given=given,
        source=source,
        sep=tag_sep,
        none=none,
        noise=noise,
        empty_list="unlabelled" if source.format == "doccano" else None,
    )
    if features is not None and source.format != "anndata":
        table._given = joined_features(table, features, key)
    return table


def _listed(names):
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _from_dataset(path, labels, class_):
    from demurk.datasets._read import read_dataset

    options = {"n_labels": labels} if labels else {}
    if class_ is not None:
        options["target"] = class_
    return table_from_bunch(read_dataset(path, **options), path)


def read_cells(path, sep, decimal, encoding, header, features, wanted=None):
    """The cells of a file, features that stand beside them, and where it came from."""
    name = str(path)
    plain = Path(name).name.lower().removesuffix(".gz")
    if name != "-":
        existing_file(path)
    if plain.endswith(".h5ad"):
        from demurk.datasets._anndata import read_anndata

        frame, given, extra = read_anndata(path, features)
        return frame, given, Source(name, "anndata", extra=extra)
    if plain.endswith((*PARQUET, *FEATHER)):
        return _typed(path, plain, name), None, Source(name, "typed")
    data = read_bytes(name)
    if plain.endswith(EXCEL):
        frame = _typed(data, plain, name)
        before = frame.copy(deep=False)
        return frame, None, Source(name, "excel", data=data, extra=before)
    if name == "-" and data[:4] == b"PAR1":
        return _typed(io.BytesIO(data), ".parquet", "-"), None, Source("-", "typed")
    if plain.endswith(JSON) or (name == "-" and data.lstrip()[:1] in (b"[", b"{")):
        from demurk.datasets._table_json import read_json

        frame, format, extra = read_json(data, name)
        return frame, None, Source(name, format, extra=extra)
    dialect = sniff(
        data, name, sep=sep, decimal=decimal, encoding=encoding, header=header
    )
    if sep and wanted and header and not has_column(data, dialect, wanted):
        # `--sep` may have meant the cells of tags, for the file does not use it.
        dialect = sniff(data, name, decimal=decimal, encoding=encoding)
    frame = read_text(data, dialect, name)
    kept = data if name == "-" else None
    return frame, None, Source(name, "text", dialect, kept)


def _typed(content, plain, path):
    """A frame from a format that knows types."""
    pd = import_optional("pandas", "tables")
    excel = plain.endswith(EXCEL)
    import_optional("openpyxl" if excel else "pyarrow", "tables")
    try:
        if excel:
            frame = read_book(content, path)
        elif plain.endswith(PARQUET):
            frame = pd.read_parquet(content)
        else:
            frame = pd.read_feather(content)
    except Exception as error:  # pyarrow and openpyxl raise their own kinds
        what = "n Excel" if excel else " Parquet or Feather"
        raise ValueError(
            f"{path} cannot be read as a{what} file ({one_line(error)}); write it anew."
        ) from error
    if not len(frame) or not frame.shape[1]:
        raise ValueError(f"{path} has no rows or no columns.")
    return as_pandas(frame)


# Features from elsewhere


def joined_features(table, features, key):
    """Features and names from a file, in the order of the table's rows."""
    values, names, keys = _feature_file(features, key)
    if key is None:
        if values.shape[0] != len(table):
            raise ValueError(
                f"{features} has {values.shape[0]} rows, but {table.source.path} has "
                f"{len(table)}; give one per row, or join them with --key."
            )
        return check_data(values, features), names
    if key not in table.frame.columns:
        columns = one_line(", ".join(map(repr, table.frame.columns)))
        raise ValueError(
            f"{table.source.path} has no column {key!r} named in --key; its columns "
            f"are {columns}."
        )
    place = {}
    for row, word in enumerate(keys):
        if place.setdefault(word, row) != row:
            raise ValueError(f"{features} has two rows with {key} = {word!r}.")
    order = np.empty(len(table), dtype=np.intp)
    for row, word in enumerate(as_words(table.frame[key])):
        if word not in place:
            raise ValueError(
                f"{table.source.place(row)}: {features} has no row with {key} = "
                f"{word!r}."
            )
        order[row] = place[word]
    return check_data(values[order], features), names


def _feature_file(path, key):
    """Values, names and, with a key, its words."""
    existing_file(path)
    plain = Path(path).name.lower()
    if plain.endswith((".npy", ".npz")):
        loaded, keys = load_arrays(path), None
        if plain.endswith(".npz"):
            values, keys = _from_npz(loaded, path, key)
        else:
            values = loaded[""]
            if key is not None:
                raise ValueError(
                    f"{path} has no column {key!r} for --key; give the rows in the "
                    "order of the table and leave out --key."
                )
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise ValueError(
                f"{path} holds an array of shape {values.shape}; give one row per "
                "sample and one column per feature."
            )
        return values, [f"f{j}" for j in range(values.shape[1])], keys
    other = read_table(path, labels=0, drop=[] if key is None else [key])
    keys = None if key is None else as_words(other.frame[key])
    return other.features, other.feature_names, keys


def _from_npz(loaded, path, key):
    names = [name for name in list(loaded) if name != key]
    found = [name for name in ("X", "data", "features", "embeddings") if name in names]
    found = found or [name for name in names if loaded[name].ndim == 2]
    if not found or (key is not None and key not in list(loaded)):
        raise ValueError(
            f"{path} holds {one_line(', '.join(loaded))}; it needs a matrix X"
            + (f" and the keys {key!r}." if key is not None else ".")
        )
    keys = None if key is None else [str(word) for word in loaded[key].tolist()]
    return loaded[found[0]], keys
