"""What skrub found out about columns, as plain data that can be saved and applied.

A fitted ``TableVectorizer`` holds functions and vocabularies that no model file may
name (:mod:`demurk.io`), so its decisions are kept instead: the values of a category,
the format of a date, the n-grams and directions of a text.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from demurk.datasets._files import MISSING
from demurk.datasets._table_cells import as_words, is_text
from demurk.datasets._table_form import cut_name
from demurk.utils._optional import import_optional

__all__ = ["apply_piece", "category_piece", "learn_pieces"]

EPOCH = "1970-01-01"


def learn_pieces(frame, text=()):
    """Pieces of all columns of a frame that are no numbers."""
    skrub = import_optional("skrub", "tables")
    pd = import_optional("pandas", "tables")
    chosen = [(skrub.StringEncoder(random_state=0), list(text))] if text else ()
    encoder = skrub.TableVectorizer(
        # A category should recur; skrub's 40 would make one of each text of 30 rows.
        cardinality_threshold=min(40, max(3, len(frame) // 3)),
        high_cardinality=skrub.StringEncoder(random_state=0),
        specific_transformers=chosen,
    )
    words = {name: _cleaned(frame[name]) for name in frame.columns}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small tables have few n-grams
        encoder.fit(pd.DataFrame(words))
    return [_piece(name, encoder) for name in frame.columns]


def _cleaned(cells):
    """Words, None where missing; other types as they are."""
    if not is_text(cells):
        return cells.reset_index(drop=True)
    pd = import_optional("pandas", "tables")
    words = _known_words(cells)
    return pd.Series(np.where(words == "", None, words), dtype=object)


def _known_words(cells):
    """Words, "" where one is missing."""
    words = as_words(cells)
    # Numpy's texts end at the last character that is none of these.
    damaged = next((row for row, word in enumerate(words) if "\0" in word), None)
    if damaged is not None:
        raise ValueError(
            f"Column {cut_name(cells.name)!r} holds a NUL character in row {damaged} "
            "(counted from 0): the file is damaged, or no text; remove the character."
        )
    gone = np.array([word.lower() in MISSING for word in words], dtype=bool)
    return np.where(gone, "", words)


def _piece(name, encoder):
    """The decisions about one column."""
    outputs = [str(output) for output in encoder.input_to_outputs_.get(name, ())]
    steps = {type(s).__name__: s for s in encoder.all_processing_steps_[name]}
    piece = {"column": name, "outputs": outputs, "kind": "nothing"}
    if not outputs:
        return piece
    if "DatetimeEncoder" in steps:
        form = steps.get("ToDatetime")
        return piece | {
            "kind": "date",
            "format": getattr(form, "format_", None),
            "parts": list(steps["DatetimeEncoder"].extracted_features_),
        }
    if "OneHotEncoder" in steps:
        coder = steps["OneHotEncoder"]
        dropped = None if coder.drop_idx_ is None else coder.drop_idx_[0]
        values = [_word(v) for j, v in enumerate(coder.categories_[0]) if j != dropped]
        return piece | {"kind": "category", "values": values}
    return piece | _text_piece(steps["StringEncoder"])


def _word(value):
    return "" if value is None or value != value else str(value)


def _text_piece(coder):
    """N-grams, their weights, and the directions in which they are read."""
    vocabulary = coder.vectorizer_.vocabulary_
    rows = getattr(getattr(coder, "tsvd_", None), "components_", None)
    return {
        "kind": "text",
        "grams": np.array(sorted(vocabulary, key=vocabulary.get)),
        "idf": np.asarray(coder.vectorizer_.idf_, dtype=np.float32),
        "directions": None if rows is None else np.asarray(rows, dtype=np.float32),
        "range": tuple(coder.ngram_range),
        "analyzer": coder.analyzer,
        "scale": float(coder.scaling_factor_),
    }


def category_piece(name, cells):
    """A column that the user calls a category: a feature per value, in order."""
    values = sorted(set(_known_words(cells)) - {""})
    try:
        values = sorted(values, key=float)
    except ValueError:
        pass
    outputs = [f"{name}={value}" for value in values]
    return {"column": name, "outputs": outputs, "kind": "category", "values": values}


# Applying


def apply_piece(piece, cells):
    """Features of a column, shape (n_rows, n_outputs)."""
    return {"date": _dates, "category": _categories, "text": _texts}[piece["kind"]](
        piece, cells
    )


def _categories(piece, cells):
    known = _known_words(cells).astype(str)
    values = np.array(piece["values"], dtype=str)
    return (known[:, None] == values).astype(np.float64)


def _dates(piece, cells):
    pd = import_optional("pandas", "tables")
    cells = _cleaned(cells)
    times = pd.to_datetime(cells, format=piece["format"], errors="coerce")
    if getattr(times.dt, "tz", None) is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    seconds = (times - pd.Timestamp(EPOCH)).dt.total_seconds()
    columns = [
        seconds if part == "total_seconds" else getattr(times.dt, part)
        for part in piece["parts"]
    ]
    return np.column_stack(
        [c.to_numpy(dtype=np.float64, na_value=np.nan) for c in columns]
    )


def _texts(piece, cells):
    reader = TfidfVectorizer(
        vocabulary={gram: j for j, gram in enumerate(piece["grams"].tolist())},
        ngram_range=tuple(piece["range"]),
        analyzer=piece["analyzer"],
    )
    reader.idf_ = piece["idf"].astype(np.float64)
    weights = reader.transform(_known_words(cells)).astype(np.float32)
    if piece["directions"] is None:
        result = weights[:, : len(piece["outputs"])].toarray()
    else:
        result = weights @ piece["directions"].T
    return (result / piece["scale"]).astype(np.float64)
