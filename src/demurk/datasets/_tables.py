"""Reader for tables: CSV and Parquet files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
from numbers import Integral

import numpy as np

from demurk.datasets._files import (
    MISSING,
    TRUTH,
    as_strings,
    check_data,
    check_known,
    class_codes,
    existing_file,
    make_bunch,
    one_hot,
    open_text,
    parse_number,
    stem,
)


def read_table(
    path,
    *,
    labels=None,
    target=None,
    columns=None,
    drop=(),
    categorical=(),
    header=True,
    sep=None,
    encoding="utf-8",
):
    """Read a CSV or Parquet table with one row per sample.

    Parameters
    ----------
    path : str or path
        The file. Names that end in `.parquet` need pandas and pyarrow (the extra
        `tables`); everything else is read as delimited text, compressed with gzip or
        not.
    labels : list of str, int or str, default=None
        The label columns: their names, the number of columns at the end, or the prefix
        that marks them; the prefix is cut off the label names. None is the prefix
        `label:`. 0 reads a table without labels. Labels keep the order of the file.
    target : str, default=None
        Name of one column that holds the class: `target` is then 1-D.
    columns : list of str, default=None
        The only columns to read, in this order; the others may hold anything.
    drop : list of str, default=()
        Columns to leave out.
    categorical : list of str, default=()
        Feature columns to expand into one column `name=value` per value.
    header : bool, default=True
        Whether the first line of a text file holds the names. Without it, they are x0,
        x1, and so on.
    sep : str, default=None
        Separator of a text file; None is a tab for `.tsv` and a comma otherwise.
    encoding : str, default="utf-8"
        Encoding of a text file.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) float64, `target` int8 (n, q) or 1-D codes into `target_names`,
        `feature_names`, `target_names`, `name`.

    Notes
    -----
    Labels are 0 and 1, no and yes, or false and true; -1 and empty cells mean not
    observed and become -1. Features are numbers, or such words throughout the column;
    empty cells, `?` and `NA` become NaN. Anything else is an error that names the line
    and the column. The table is held in memory once as text.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from demurk.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "songs.csv")
    ...     _ = file.write_text("tempo,label:happy,label:sad\\n120,1,0\\n85.5,0,\\n")
    ...     songs = read_table(file)
    >>> songs.target_names, songs.target.tolist()
    (['happy', 'sad'], [[1, 0], [0, -1]])
    """
    path = existing_file(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        found, place = _parquet_columns(path)
    else:
        found, place = _text_columns(path, header, sep, encoding)
    if columns is not None:
        wanted = as_strings(columns, "columns")
        check_known(wanted, found, "columns", path)
        found = {name: found[name] for name in wanted}
    return table_bunch(found, place, path, labels, target, drop, categorical)


def _text_columns(path, header, sep, encoding):
    """Columns as lists of text, and a function from row number to place."""
    if sep is None:
        sep = "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","
    names, rows, lines = None, [], []
    with open_text(path, encoding, newline="") as stream:
        reader = csv.reader(stream, delimiter=sep, skipinitialspace=True, strict=True)
        try:
            for cells in reader:
                if not any(cells) and len(cells) < 2:
                    continue
                if names is None:
                    names = cells if header else [f"x{j}" for j in range(len(cells))]
                    if header:
                        continue
                if len(cells) != len(names):
                    raise ValueError(
                        f"{path}, line {reader.line_num}: the row has {len(cells)} "
                        f"values but there are {len(names)} columns; leave cells empty "
                        "rather than out, and quote values that hold the separator."
                    )
                rows.append(cells)
                lines.append(reader.line_num)
        except csv.Error as error:
            raise ValueError(
                f"{path}, line {reader.line_num}: {error}; check the quotes."
            ) from error
    if not rows:
        raise ValueError(f"{path} has no rows; the file may be empty or cut off.")
    _check_names(names, path)
    columns = dict(zip(names, (list(column) for column in zip(*rows))))
    return columns, lambda i: f"line {lines[i]}"


def _check_names(names, path):
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{path} has two columns {name!r}; rename one of them.")


def _parquet_columns(path):
    """Columns of a Parquet file as arrays, and a function from row number to place."""
    try:
        import pandas as pd

        frame = pd.read_parquet(path)
    except ImportError as error:
        raise ImportError(
            "Reading Parquet files needs pandas and pyarrow: pip install "
            "'demurk[tables]'."
        ) from error
    except Exception as error:  # pyarrow raises its own kinds
        raise ValueError(
            f"{path} cannot be read as a Parquet file ({error}); write it anew."
        ) from error
    return frame_columns(frame, path), lambda i: f"row {i}"


def frame_columns(frame, path):
    """Columns of a pandas frame as arrays of numbers or lists of text."""
    names = [str(name) for name in frame.columns]
    _check_names(names, path)
    if frame.shape[0] == 0 or not names:
        raise ValueError(f"{path} has no rows or no columns.")
    columns = {}
    for j, name in enumerate(names):
        column = frame.iloc[:, j]
        if column.dtype.kind in "biuf":
            columns[name] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            gone = column.isna().to_numpy()
            values = column.astype(object).tolist()
            columns[name] = ["" if g else str(v) for v, g in zip(values, gone)]
    return columns


def table_bunch(columns, place, path, labels, target, drop, categorical):
    """The Bunch of a table given by columns; shared with the frames of OpenML."""
    drop, categorical = as_strings(drop, "drop"), as_strings(categorical, "categorical")
    check_known(drop, columns, "drop", path)
    names = [name for name in columns if name not in drop]
    label_names, shown = _label_columns(names, labels, target, path)
    features = [name for name in names if name not in label_names]
    check_known(categorical, features, "categorical", path)
    if not features:
        raise ValueError(
            f"{path} has no column left that is not a label; pass sep if its values "
            "are not separated by commas."
        )
    blocks, feature_names = [], []
    for name in features:
        if name == "":
            raise ValueError(
                f"{path} has a column without a name, often a row number; give "
                "it a name, or name '' in drop."
            )
        if name in categorical:
            codes, values = class_codes(columns[name], unlabelled=False)
            blocks.append(one_hot(np.where(codes < 0, np.nan, codes), len(values)))
            feature_names += [f"{name}={value}" for value in values]
        else:
            blocks.append(_numbers(columns[name], name, place, path)[:, None])
            feature_names.append(name)
    data = check_data(np.hstack(blocks), path)
    if target is not None:
        y, shown = class_codes(columns[target])
    else:
        y = np.empty((len(data), len(label_names)), dtype=np.int8)
        for j, name in enumerate(label_names):
            y[:, j] = _labels(columns[name], name, place, path)
    return make_bunch(data, y, feature_names, shown, stem(path))


def _label_columns(names, labels, target, path):
    """Columns that hold labels, and how to call them."""
    if target is not None:
        if labels is not None:
            raise ValueError("Give only one of labels and target.")
        check_known([target], names, "target", path)
        return [target], []
    labels = "label:" if labels is None else labels
    if isinstance(labels, str):
        found = [name for name in names if name.startswith(labels)]
        if not found:
            raise ValueError(
                f"No column of {path} starts with {labels!r}; pass labels as a list of "
                "names or a number of columns, or target for a class column."
            )
        return found, [name[len(labels) :] for name in found]
    if isinstance(labels, Integral) and not isinstance(labels, bool):
        if not 0 <= labels < len(names):
            raise ValueError(
                f"{path} cannot have {labels} labels among its {len(names)} columns."
            )
        found = names[len(names) - labels :]
    else:
        wanted = as_strings(labels, "labels")
        check_known(wanted, names, "labels", path)
        found = [name for name in names if name in wanted]
    return found, found


def _number(text):
    """A cell as a number, NaN if it is empty or marked as missing."""
    try:
        return parse_number(text)
    except ValueError:
        if text.strip().lower() in MISSING:
            return np.nan
        raise


def _numbers(cells, name, place, path):
    """A feature column as numbers."""
    if isinstance(cells, np.ndarray):
        return cells
    values = []
    try:
        for cell in cells:
            values.append(_number(cell))
        return np.array(values)
    except ValueError:
        words = [cell.strip().lower() for cell in cells]
    if all(word in TRUTH or word in MISSING for word in words):
        return np.array([TRUTH.get(word, np.nan) for word in words])
    bad = len(values)
    raise ValueError(
        f"{path}, {place(bad)}: column {name!r} holds {cells[bad][:40]!r}, which is no "
        f"finite number; repair it, or name the column in drop or categorical."
    )


def _labels(cells, name, place, path):
    """A label column as 0, 1 and -1."""
    result = np.empty(len(cells), dtype=np.int8)
    for i, cell in enumerate(cells):
        try:
            value = TRUTH.get(str(cell).strip().lower())
            value = _number(str(cell)) if value is None else value
        except ValueError:
            value = None
        if value not in (-1, 0, 1) and value == value:
            raise ValueError(
                f"{path}, {place(i)}: label {name!r} is {cell!r}; labels must be 0, 1, "
                "-1 or empty, so check which columns are the labels."
            )
        result[i] = -1 if value != value else value
    return result
