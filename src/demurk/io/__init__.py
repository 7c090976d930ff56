"""Saving and loading fitted models; loading never executes code from the file."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import tempfile
from pathlib import Path

from demurk.io._archive import Damaged
from demurk.io._build import build_model
from demurk.io._pack import pack
from demurk.io._trusted import ForeignType, NotAClass
from demurk.utils._files import atomic_path
from demurk.utils._optional import import_optional
from demurk.utils._text import one_line

__all__ = ["load", "save"]


def save(model, path, *, force=False):
    """Save a fitted estimator or pipeline.

    Parameters
    ----------
    model : estimator
        Anything made of estimators of this library and of scikit-learn. `load` builds
        some of scikit-learn's only when they are named as trusted; see there.
    path : path-like
        File to write, usually ending in ``.skops``. Compressed, and written whole or
        not at all.
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
    with (
        atomic_path(path, force=force) as temporary,
        tempfile.TemporaryFile(dir=temporary.parent) as written,
    ):
        skops_io.dump(model, written)
        pack(written, temporary)
    return Path(path)


def load(path, *, trusted=()):
    """Load a model saved by `save`.

    Parameters
    ----------
    path : path-like
        File to read.
    trusted : sequence of str, default=()
        Full names of further classes, such as
        ``"sklearn.neighbors._classification.KNeighborsClassifier"``, for models that
        contain estimators of other libraries. Their modules are imported, and their
        ``__setstate__`` is called with what the file says: name a class only if you
        know where the file comes from.

    Returns
    -------
    model : estimator
        The fitted model.

    See Also
    --------
    save : Write such a file.

    Notes
    -----
    The file is data, not code. It may name only classes of an exact list: the
    estimators of this library, the helpers they hold, and the estimators of
    scikit-learn that compute with numpy alone or whose arrays are checked (trees,
    forests, support vector machines). No function, method or module is ever looked up,
    and nothing is imported before its name was found on the list. Indices that compiled
    code would follow must be in range, and a file may not unpack to more than ten times
    its size and 64 MB. Anything else is a ``ValueError`` of one sentence.

    A forged file can still hold a model that is wrong: see ``SECURITY.md``.

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
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no model file {path}: give the path of a file written by "
            "demurk (model.skops)."
        )
    data = path.read_bytes()
    trusted = frozenset([trusted] if isinstance(trusted, str) else trusted)
    try:
        return build_model(data, trusted)
    except ForeignType as error:
        name = one_line(error.name)
        remedy = (
            "a model file may hold classes and data only, no functions, methods or "
            "modules."
            if isinstance(error, NotAClass)
            else f"load it only if you trust its origin, with trusted=[{name!r}]."
        )
        raise ValueError(
            f"{path} names {name}, which demurk does not build: {remedy}"
        ) from None
    except Warning:  # made an error by the user
        raise
    except Exception as error:
        # Whatever numpy, scipy and scikit-learn say of parts that do not fit.
        what = error if isinstance(error, Damaged) else "its parts do not fit together"
        raise ValueError(
            f"{path} is not a model file or is damaged ({what}): give a file written "
            "by demurk (.skops)."
        ) from error
