"""Saving and loading fitted models; loading never executes code from the file."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from demurk.utils._files import atomic_path
from demurk.utils._optional import import_optional

__all__ = ["load", "save"]


# Types that skops does not list itself; they hold no code. (A forged tree could crash
# the program, as any forged model could give wrong answers.)
KNOWN = {
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn.tree._tree.Tree",
}


def _is_known(name):
    return name in KNOWN or name.startswith("demurk.")


def save(model, path, *, force=False):
    """Save a fitted estimator or pipeline.

    Parameters
    ----------
    model : estimator
        Anything made of estimators of this library and of scikit-learn.
    path : path-like
        File to write, usually ending in ``.skops``. Written whole or not at all.
    force : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    path : Path
        The file written.

    See Also
    --------
    load : Read it back.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from demurk import io
    >>> from demurk.projection import MDDM
    >>> model = MDDM().fit(np.eye(3), [[1, 0], [0, 1], [0, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     io.save(model, Path(folder) / "model.skops").name
    'model.skops'
    """
    skops_io = import_optional("skops.io", "persist")
    with atomic_path(path, force=force) as temporary:
        skops_io.dump(model, temporary)
    return Path(path)


def load(path, *, trusted=()):
    """Load a model saved by `save`.

    Parameters
    ----------
    path : path-like
        File to read.
    trusted : sequence of str, default=()
        Full names of further types that you trust, for models that contain estimators
        of other libraries.

    Returns
    -------
    model : estimator
        The fitted model.

    See Also
    --------
    save : Write such a file.

    Notes
    -----
    The file is data, not code: only types of this library, of scikit-learn and the
    ones named in `trusted` are built, anything else is refused.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from demurk import io
    >>> from demurk.projection import MDDM
    >>> X, Y = np.eye(4), np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = io.save(MDDM().fit(X, Y), Path(folder.name) / "model.skops")
    >>> io.load(path).components_.shape
    (2, 4)
    >>> folder.cleanup()
    """
    skops_io = import_optional("skops.io", "persist")
    if not Path(path).is_file():
        raise FileNotFoundError(
            f"There is no model file {path}: give the path of a file written by "
            "demurk (model.skops)."
        )
    try:
        unknown = skops_io.get_untrusted_types(file=path)
    except Exception as error:
        raise ValueError(
            f"{path} is not a model file: give a file written by demurk (.skops)."
        ) from error
    foreign = sorted(t for t in set(unknown) - set(trusted) if not _is_known(t))
    if foreign:
        raise ValueError(
            f"{path} contains the type {foreign[0]}, which is neither demurk's nor "
            "scikit-learn's: load it only if you trust its origin, with "
            f"trusted={foreign}."
        )
    return skops_io.load(path, trusted=unknown)
