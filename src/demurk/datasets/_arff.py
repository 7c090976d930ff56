"""Reader for ARFF files with several labels, as Mulan and MEKA write them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
from pathlib import Path
from xml.parsers import expat

import numpy as np
from scipy import sparse

from demurk.datasets._arff_text import Source, read_header, read_rows, unescape
from demurk.datasets._files import (
    as_strings,
    check_known,
    class_codes,
    existing_file,
    make_bunch,
    number_name,
    one_hot,
    open_text,
    parse_number,
    stem,
)
from demurk.datasets._room import check_room
from demurk.labels._sets import short
from demurk.utils._text import one_line


def read_arff(
    path,
    *,
    n_labels=None,
    labels_first=False,
    label_names=None,
    target=None,
    drop=(),
    as_number=(),
    encoding="utf-8",
):
    """Read an ARFF file in which some attributes are labels.

    Rows may be dense (`1,0.5,yes`) or sparse (`{0 1, 7 0.5}`), the file compressed
    with gzip or not. The labels are found, in this order, through `target`,
    `label_names`, `n_labels`, a Mulan `.xml` file beside the data (`scene.xml` also
    serves `scene-train.arff`), or the `-C n` of MEKA in the relation name (the first n
    attributes, or the last n if negative).

    Parameters
    ----------
    path : str or path
        The file.
    n_labels : int, default=None
        Number of label attributes. 0 reads a file without labels.
    labels_first : bool, default=False
        Whether the `n_labels` labels are the first attributes rather than the last.
    label_names : list of str or path, default=None
        Names of the label attributes, or the Mulan XML file that lists them.
    target : str, default=None
        Name of one attribute that holds the class: `target` is then 1-D.
    drop : list of str, default=()
        Attributes to leave out, such as row identifiers.
    as_number : list of str or True, default=()
        Nominal attributes whose values are numbers, to be read as these numbers
        instead of one column per value; True takes all that qualify.
    encoding : str, default="utf-8"
        Text encoding of the file.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) float64, a `csr_array` for sparse rows; `target` int8 (n, q) with
        the labels in file order, or 1-D codes into `target_names`; `feature_names`,
        `target_names`, `name`.

    Notes
    -----
    Attributes with the values 0/1, no/yes or false/true become one column of 0 and 1,
    whatever their order in the header; other nominal attributes become one column
    `name=value` per value. In a sparse row an absent entry is the first value of a
    nominal attribute, as the format defines. `?` gives NaN in a feature and -1 (not
    observed) in a label. A `%` outside quotes starts a comment.

    The file is read as a stream; memory is that of the result. Time is O(values).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from demurk.datasets import read_arff
    >>> text = '''@relation 'toy: -C 1'
    ... @attribute happy {0,1}
    ... @attribute tempo numeric
    ... @data
    ... 1, 120
    ... 0, 85.5'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.arff")
    ...     _ = file.write_text(text)
    ...     toy = read_arff(file)
    >>> toy.target.ravel(), toy.data.ravel()
    (array([1, 0], dtype=int8), array([120. ,  85.5]))
    """
    path = existing_file(path)
    source = Source(path)
    with open_text(path, encoding) as stream:
        lines = source.lines(stream)
        relation, attributes = read_header(lines, source)
        names = [attribute.name for attribute in attributes]
        drop = as_strings(drop, "drop")
        check_known(drop, names, "drop", path)
        labels = _find_labels(
            path, relation, names, n_labels, labels_first, label_names, target
        )
        _prepare(attributes, drop, source)
        codes, row_lines = read_rows(lines, attributes, source)
    kept = [j for j, name in enumerate(names) if name not in drop]
    features = [j for j in kept if j not in labels]
    labels = [j for j in kept if j in labels]
    if not features:
        raise ValueError(f"{path} has no attribute left that is not a label.")
    tables = _feature_tables(attributes, features, as_number, path)
    n_hot = sum(len(attributes[j].values) for j in features if tables[j] is not None)
    check_room(len(row_lines) * n_hot, path, "columns of nominal attributes")
    check_room(len(row_lines) * len(labels) // 8, path, "label matrix")
    data, feature_names = _encode_features(codes, attributes, features, tables)
    if target is None:
        y = _encode_labels(codes, attributes, labels, row_lines, source)
        target_names = [names[j] for j in labels]
    else:
        check_known([target], [names[j] for j in labels], "target", path)
        (column,) = _columns(codes, labels)
        y, target_names = class_codes(column)
        values = attributes[labels[0]].values
        if values is not None:  # what the codes stand for
            target_names = [values[int(code)] for code in target_names]
    return make_bunch(data, y, feature_names, target_names, stem(path))


def _prepare(attributes, drop, source):
    """Dropped attributes accept anything; text is of no other use."""
    for attribute in attributes:
        if attribute.name in drop:
            attribute.code = lambda token: 0.0
        elif attribute.text:
            raise source.error(
                f"attribute {short(attribute.name)} is text; name it in drop to leave "
                "it out",
                attribute.line,
            )


def _find_labels(path, relation, names, n_labels, labels_first, label_names, target):
    """Positions of the label attributes."""
    if sum(option is not None for option in (n_labels, label_names, target)) > 1:
        raise ValueError("Give only one of n_labels, label_names and target.")
    if target is not None:
        check_known([target], names, "target", path)
        return {names.index(target)}
    places = {name: place for place, name in enumerate(names)}
    if label_names is None and n_labels is None:
        label_names = _xml_beside(path)
    if label_names is not None:
        if isinstance(label_names, (str, Path)):
            label_names = read_label_xml(label_names)
            # Mulan's files do not agree on escapes such as m\'usica.
            label_names = [n if n in places else unescape(n) for n in label_names]
        label_names = as_strings(label_names, "label_names")
        check_known(label_names, names, "label_names", path)
        return {places[name] for name in label_names}
    if n_labels is None:
        n_labels, labels_first = _meka_labels(path, relation)
    if not 0 <= n_labels < len(names):
        raise ValueError(
            f"{path} cannot have {n_labels} labels among its {len(names)} attributes; "
            "pass the right n_labels."
        )
    start = 0 if labels_first else len(names) - n_labels
    return set(range(start, start + n_labels))


def _meka_labels(path, relation):
    """Number of labels, and whether they come first, from the relation name."""
    found = re.findall(r"(?<!\S)-C\s+(-?\d{1,9})(?!\d)", relation)
    if len(found) == 1 and int(found[0]) != 0:
        return abs(int(found[0])), int(found[0]) > 0
    options = "several options" if len(found) > 1 else "no usable option"
    raise ValueError(
        f"{path} does not say which attributes are labels: no .xml lies beside it, and "
        f"its relation name has {options} -C; pass n_labels, label_names or target."
    )


def _xml_beside(path):
    """The Mulan label list that belongs to the file, or None."""
    name = stem(path)
    found = [
        xml
        for xml in path.parent.glob("*.xml")
        if name.startswith(xml.stem) and not name[len(xml.stem) :][:1].isalnum()
    ]
    return max(found, key=lambda xml: len(xml.stem), default=None)


def read_label_xml(path):
    """Label names in a Mulan XML file, in its order."""
    names = []

    def start(tag, attributes):
        if tag.split(":")[-1] == "label":
            names.append(attributes.get("name"))

    def refuse(*entity):
        raise expat.ExpatError("it declares an entity, which no label list needs")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    # Entities may name each other and grow without end, or name other files.
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(existing_file(path).read_bytes(), True)
    except expat.ExpatError as error:
        raise ValueError(f"{path} is not valid XML ({error}); repair it.") from error
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"{path} has an unknown encoding ({one_line(error)}); write it in UTF-8."
        ) from error
    if not names or None in names:
        raise ValueError(
            f"{path} is no Mulan label list: expected elements <label name=...>; pass "
            "n_labels or label_names."
        )
    return names


def _columns(codes, chosen):
    """Columns one by one; of a sparse matrix a few are made dense at a time."""
    for start in range(0, len(chosen), 64):
        block = codes[:, chosen[start : start + 64]]
        yield from (block.toarray() if sparse.issparse(block) else block).T


def _feature_tables(attributes, features, as_number, path):
    """What each attribute's codes stand for.

    None: the codes themselves; an array: these numbers; "hot": one column per value.
    """
    every = as_number is True
    wanted = [] if every else as_strings(as_number, "as_number")
    check_known(wanted, [attributes[j].name for j in features], "as_number", path)
    tables = {}
    for j in features:
        attribute = attributes[j]
        table = attribute.yes_no()
        if table is None and (every or attribute.name in wanted) and attribute.values:
            try:
                table = np.array([parse_number(value) for value in attribute.values])
            except ValueError:
                if not every:
                    raise ValueError(
                        f"Attribute {short(attribute.name)} of {path} has values that "
                        "are not numbers; remove it from as_number."
                    ) from None
        if table is None:
            tables[j] = None if attribute.values is None else "hot"
        else:
            is_code = np.array_equal(table, np.arange(len(table)))
            tables[j] = None if is_code else table
    return tables


def _encode_features(codes, attributes, features, tables):
    """The feature matrix in file order, nominal attributes expanded."""
    owners = [j for j in features if tables[j] is None]
    names = [attributes[j].name for j in owners]
    blocks = [codes[:, owners]]
    expanded = [j for j in features if tables[j] is not None]
    for j, column in zip(expanded, _columns(codes, expanded)):
        attribute, table = attributes[j], tables[j]
        if isinstance(table, str):
            blocks.append(one_hot(column, len(attribute.values)))
            names += [f"{attribute.name}={value}" for value in attribute.values]
        else:
            blocks.append(_look_up(table, column)[:, None])
            names.append(attribute.name)
        owners += [j] * blocks[-1].shape[1]
    order = np.argsort(owners, kind="stable")
    data = blocks[0]
    if sparse.issparse(codes):
        if expanded:
            blocks = [sparse.csc_array(block) for block in blocks]
            data = sparse.hstack(blocks, format="csc")[:, order]
        data = sparse.csr_array(data)
        data.eliminate_zeros()
    elif expanded:
        data = np.hstack(blocks)[:, order]
    return data, [names[i] for i in order]


def _look_up(table, codes):
    """What the codes stand for; a missing code stays NaN."""
    places = np.nan_to_num(codes, nan=len(table)).astype(np.intp)
    return np.append(table, np.nan)[places]


def _encode_labels(codes, attributes, labels, row_lines, source):
    """Labels as int8; a missing one is -1."""
    y = np.empty((codes.shape[0], len(labels)), dtype=np.int8)
    for i, column in enumerate(_columns(codes, labels)):
        attribute = attributes[labels[i]]
        if attribute.values is not None:
            table = attribute.yes_no()
            if table is None:
                values = one_line(", ".join(attribute.values[:6]))
                raise source.error(
                    f"label {short(attribute.name)} has the values {values}; labels "
                    "must be {0,1}, and a class attribute is named by target",
                    attribute.line,
                )
            column = _look_up(table, column)
        bad = np.flatnonzero((column != 0) & (column != 1) & ~np.isnan(column))
        if len(bad):
            value = number_name(column[bad[0]])
            raise source.error(
                f"label {short(attribute.name)} is {value}; labels are 0, 1 or ?, so "
                "check which attributes are the labels",
                row_lines[bad[0]],
            )
        y[:, i] = np.nan_to_num(column, nan=-1)
    return y
