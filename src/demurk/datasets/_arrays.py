"""Readers for libsvm text and NumPy archives."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.datasets._files import (
    check_data,
    check_indicator,
    check_truth,
    class_codes,
    existing_file,
    indicator_of_positions,
    make_bunch,
    number_name,
    stem,
)

# Names are kept for every feature; an index beyond this is more likely a slip.
_MOST_FEATURES = 5_000_000


def read_libsvm(path, *, multilabel=True, n_features=None, zero_based="auto"):
    """Read a libsvm text file, `1,3 5:0.2 9:1` on each line.

    Parameters
    ----------
    path : str or path
        The file, compressed with gzip or not.
    multilabel : bool, default=True
        Whether a line may hold several labels or none. If False, `target` is 1-D.
    n_features : int, default=None
        Number of features; None takes the highest index that occurs.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0; "auto" says so if a 0 occurs.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) `csr_array` float64, `target` int8 (n, q) or 1-D codes into
        `target_names`, `feature_names`, `target_names`, `name`. The labels are the
        numbers that occur, in increasing order.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from demurk.datasets import read_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.svm")
    ...     _ = file.write_text("2,7 1:0.5 3:1\\n7 2:4\\n")
    ...     toy = read_libsvm(file)
    >>> toy.target_names, toy.target.tolist()
    (['2', '7'], [[1, 1], [0, 1]])
    """
    from sklearn.datasets import load_svmlight_file

    path = existing_file(path)
    try:
        X, y = load_svmlight_file(
            str(path),
            n_features=n_features,
            multilabel=multilabel,
            zero_based=zero_based,
        )
    except Exception as error:  # overflow and decoding errors come up as they are
        raise ValueError(
            f"{path} cannot be read as libsvm text ({error}); each line must be like "
            "'1,3 5:0.2 9:1' with increasing indices."
        ) from error
    if X.shape[0] == 0:
        raise ValueError(f"{path} has no rows; the file may be empty or cut off.")
    if n_features is None and X.shape[1] > _MOST_FEATURES:
        raise ValueError(
            f"{path} has {X.shape[1]} features by its highest index; pass n_features "
            "if that is meant."
        )
    X = check_data(X, path)
    if np.isnan(X.data).any():
        raise ValueError(f"{path} has a feature that is not a number; leave it out.")
    if multilabel:
        y, names = _label_sets(y, path)
    else:
        y, names = class_codes(y)
    features = [f"x{j}" for j in range(X.shape[1])]
    return make_bunch(X, y, features, names, stem(path))


def _label_sets(sets, path):
    """Tuples of label numbers as an indicator matrix."""
    from sklearn.preprocessing import MultiLabelBinarizer

    for i, labels in enumerate(sets):
        if any(label != label or abs(label) == np.inf for label in labels):
            raise ValueError(f"{path}, sample {i}: a label is not a finite number.")
    binarizer = MultiLabelBinarizer()
    y = binarizer.fit_transform(sets).astype(np.int8)
    if y.shape[1] == 0:
        raise ValueError(f"{path} has no labels; each line must start with them.")
    return y, [number_name(float(label)) for label in binarizer.classes_]


def read_npz(path):
    """Read a NumPy archive with the arrays `X` and `Y`, or `data` and `target`.

    Parameters
    ----------
    path : str or path
        The file. Optional arrays are `candidates`, `feature_names` and `target_names`.
        Archives that hold Python objects are refused. Beside candidates, a 1-D target
        holds positions of labels, counted from 0, likewise beside `target_names`;
        otherwise it holds class values.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) float64, `target` int8 (n, q), or 1-D codes into `target_names` if
        the array is 1-D, `feature_names`, `target_names`, `name`, and `candidates` int8
        (n, q) where given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from demurk.datasets import read_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.npz")
    ...     np.savez(file, X=[[1.0, 2.0], [3.0, 4.0]], Y=[[1, 0], [1, -1]])
    ...     toy = read_npz(file)
    >>> toy.target.tolist()
    [[1, 0], [1, -1]]
    """
    path = existing_file(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files}
    except Exception as error:  # damaged archives raise zip, zlib and value errors
        raise ValueError(
            f"{path} cannot be read as a NumPy archive ({error}); write it with "
            "numpy.savez."
        ) from error
    pairs = (("X", "Y"), ("X", "y"), ("data", "target"))
    pair = next((pair for pair in pairs if set(pair) <= set(found)), None)
    if pair is None:
        raise ValueError(
            f"{path} must hold the arrays X and Y, or data and target; it has "
            f"{', '.join(found) or 'none'}."
        )
    data, y = check_data(found[pair[0]], path), found[pair[1]]
    candidates = found.get("candidates")
    for name, array in ((pair[1], y), ("candidates", candidates)):
        if array is not None and (array.ndim == 0 or len(array) != len(data)):
            raise ValueError(
                f"{name} in {path} has shape {array.shape} but the data have "
                f"{len(data)} rows; they must agree."
            )
    if candidates is not None:
        candidates = check_indicator(candidates, path, what="candidates")
        names = [str(j) for j in range(candidates.shape[1])]
        if y.ndim == 1:
            y = indicator_of_positions(y, len(names), path, first=0)
        y = check_truth(check_indicator(y, path), candidates, path)
    elif y.ndim == 1 and "target_names" in found:
        names = [str(name) for name in found["target_names"].ravel()]
        if y.dtype.kind not in "iu" or y.min() < -1 or y.max() >= len(names):
            raise ValueError(
                f"{pair[1]} in {path} must hold positions in target_names, or -1."
            )
        y = y.astype(np.int64)
    elif y.ndim == 1:
        y, names = class_codes(y.tolist())
    else:
        y = check_indicator(y, path)
        names = [str(j) for j in range(y.shape[1])]
    features = [f"x{j}" for j in range(data.shape[1])]
    features = _names(found.get("feature_names"), features, path)
    names = _names(found.get("target_names"), names, path)
    return make_bunch(data, y, features, names, stem(path), candidates=candidates)


def _names(given, default, path):
    """Stored names, if there are as many as needed."""
    if given is None:
        return default
    if given.shape != (len(default),):
        raise ValueError(
            f"{path} holds names of shape {given.shape} for {len(default)} columns."
        )
    return [str(name) for name in given]
