"""Reader for MATLAB files of multi-label and candidate-label data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from scipy import sparse

from demurk.datasets._arff import read_label_xml
from demurk.datasets._files import (
    as_strings,
    check_data,
    check_indicator,
    check_truth,
    class_codes,
    existing_file,
    indicator_of_positions,
    make_bunch,
    stem,
)
from demurk.datasets._hdf5 import hdf5_variables
from demurk.datasets._mat_variables import mat_variables
from demurk.utils._text import one_line

# Names in use, in lower case; a role with two of them in one file must be settled.
_KEYS = {
    "data": ("data", "x", "features", "fea"),
    "target": ("target", "targets", "y", "labels", "label", "gnd"),
    "candidates": (
        "partial_target",
        "partial_targets",
        "partial_labels",
        "partial_label",
        "candidates",
        "candidate_labels",
        "candidate_target",
    ),
}
_AXES = ("auto", "rows", "columns")


def read_mat(
    path,
    *,
    data=None,
    target=None,
    candidates=None,
    samples="auto",
    label_samples="auto",
    label_names=None,
    sparse_data=False,
):
    """Read a MATLAB file with features, labels and perhaps candidate labels.

    Parameters
    ----------
    path : str or path
        The file, of any version up to 7.2; version 7.3 needs the package h5py, and is
        read in a process of its own.
    data, target, candidates : str or False, default=None
        Names of the variables. None looks for the usual ones: `data` or `X`; `target`,
        `Y` or `labels`; `partial_target`, `partial_labels` or `candidates`. False
        leaves the labels or candidates out.
    samples : {"auto", "rows", "columns"}, default="auto"
        Whether the rows or the columns of the data matrix are the samples. "auto" takes
        the side that fits the labels, and rows where both do: a square matrix cannot
        tell. Columns must then be more than the labels.
    label_samples : {"auto", "rows", "columns"}, default="auto"
        The same for the label and candidate matrices.
    label_names : list of str or path, default=None
        Names of the labels, or a Mulan XML file that lists them.
    sparse_data : bool, default=False
        Whether a dense data matrix is returned as a `csr_array`.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) float64 or `csr_array`, `feature_names`, `target_names`, `name`,
        and `target`: int8 (n, q) in general; 1-D class positions if it is a vector or
        if each sample has one true label among its candidates; None if the file has
        candidates only. `candidates` int8 (n, q) where the file has them. A vector of
        class numbers beside candidates counts the labels from 1.

    Notes
    -----
    In a label matrix of -1 and 1 without any 0, -1 means absent and becomes 0; beside
    zeros, -1 means not observed and stays. A true label that is not among the
    candidates is an error, since it points to matrices that do not belong together.

    The file need not be trusted. Only the matrices asked for are read, and their sizes
    are believed up to what a file of that size can hold.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from scipy.io import savemat
    >>> from demurk.datasets import read_mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.mat")
    ...     savemat(file, {"data": [[1.0, 2], [3, 4], [5, 6]],
    ...                    "target": [[1, -1, -1], [1, 1, -1]]})
    ...     toy = read_mat(file)
    >>> toy.target.tolist()
    [[1, 1], [0, 1], [0, 0]]
    """
    path = existing_file(path)
    for option, value in (("samples", samples), ("label_samples", label_samples)):
        if value not in _AXES:
            raise ValueError(f"{option} must be one of {_AXES}, got {value!r}.")
    found = _variables(path, (data, target, candidates))
    X = _pick(found, "data", data, path)
    truth = _pick(found, "target", target, path)
    given = _pick(found, "candidates", candidates, path)
    if X is None or (truth is None and given is None and target is not False):
        role = "data" if X is None else "target"
        raise ValueError(
            f"{path} has no {role} under a usual name; pass {role}=NAME with one of "
            f"its variables {_described(found)}."
        )
    X = _orient_data(X, [m for m in (truth, given) if m is not None], samples, path)
    X = check_data(sparse.csr_array(X) if sparse_data else X, path)
    truth = _orient_labels(truth, X.shape[0], label_samples, path)
    given = _orient_labels(given, X.shape[0], label_samples, path)
    truth, given, names = _check_labels(truth, given, path)
    if label_names is not None:
        names = _given_names(label_names, len(names), path)
    features = [f"x{j}" for j in range(X.shape[1])]
    return make_bunch(X, truth, features, names, stem(path), candidates=given)


def _variables(path, names):
    """Variables of the file by name, not read yet; `names` are those the user gave."""
    found = mat_variables(path)
    if found is not None:
        return found
    usual = [name for known in _KEYS.values() for name in known]
    return hdf5_variables(path, {str(name).lower() for name in (*usual, *names)})


def _pick(found, role, name, path):
    """The matrix of a role, named by the user or known by its usual name."""
    if name is False:
        return None
    if name is None:
        names = [key for key in found if key.lower() in _KEYS[role]]
        if len(names) > 1:
            raise ValueError(
                f"{path} has several variables that may be the {role}: "
                f"{one_line(', '.join(names))}; pass {role}=NAME."
            )
        if not names:
            return None
        name = names[0]
    if name not in found:
        raise ValueError(
            f"{path} has no variable {name!r}; it has {_described(found)}."
        )
    variable = found[name]
    if variable.read is None:
        raise ValueError(
            f"Variable {name!r} of {path} must be a numeric matrix, got type "
            f"{variable.kind} and shape {variable.shape}."
        )
    return variable.read()


def _described(found):
    listed = ", ".join(f"{name} {found[name].shape}" for name in found)
    return one_line(listed) or "-"


def _orient_data(X, parts, samples, path):
    """Samples in rows."""
    if samples == "auto":
        fits = [all(size in m.shape for m in parts) for size in X.shape]
        # Data with as many features as labels must not be turned when a row is lost.
        fits[1] &= all(min(m.shape) < X.shape[1] for m in parts)
        if not any(fits):
            raise ValueError(
                f"The data in {path} have shape {X.shape} and the labels "
                f"{' and '.join(str(m.shape) for m in parts)}; one side must agree."
            )
        samples = "rows" if fits[0] else "columns"
    return X if samples == "rows" else X.T


def _orient_labels(values, n_samples, samples, path):
    """Samples in rows; None passes through."""
    if values is None:
        return None
    if samples == "auto":
        samples = "rows" if values.shape[0] == n_samples else "columns"
    values = values if samples == "rows" else values.T
    if values.shape[0] != n_samples:
        raise ValueError(
            f"The labels in {path} cover {values.shape[0]} samples with {samples} as "
            f"samples, but the data have {n_samples}; pass samples or label_samples."
        )
    return values


def _check_labels(truth, given, path):
    """Truth and candidates in their final form, and names."""
    if given is not None:
        given = check_indicator(given, path, signed=True, what="candidates")
    if truth is not None and truth.shape[1] == 1:
        numbers = (truth.toarray() if sparse.issparse(truth) else truth).ravel()
        if given is None:
            codes, names = class_codes(numbers)
            return codes, None, names
        # MATLAB counts from 1.
        truth = indicator_of_positions(numbers, given.shape[1], path, first=1)
    if truth is not None:
        truth = check_indicator(truth, path, signed=True)
    matrix = truth if given is None else given
    names = [str(j) for j in range(0 if matrix is None else matrix.shape[1])]
    if truth is not None and given is not None:
        truth = check_truth(truth, given, path)
    return truth, given, names


def _given_names(label_names, n_labels, path):
    """Label names of the user or of a Mulan XML file."""
    if isinstance(label_names, (str, Path)):
        label_names = read_label_xml(label_names)
    label_names = as_strings(label_names, "label_names")
    if len(label_names) != n_labels:
        raise ValueError(
            f"label_names has {len(label_names)} names; {path} has {n_labels} labels."
        )
    return label_names
