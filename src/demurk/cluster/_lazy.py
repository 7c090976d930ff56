"""Methods after `fit`, chunk by chunk, when their result is asked for."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from demurk.cluster._blocks import as_array, delayed, is_dask, is_frame, sample
from demurk.cluster._search import neighbor_tasks
from demurk.graph._neighbors import _as_csr
from demurk.utils._optional import import_optional

__all__ = ["lazily"]


def lazily(name, estimator, X):
    """Predictions or projections of rows of Dask.

    Parameters
    ----------
    name : str
        Method: "transform", "predict", "predict_proba" or "decision_function".
    estimator : object
        Fitted, to rows in memory or of Dask.
    X : dask array or dask data frame of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    result : dask array of shape (n_samples,) or (n_samples, n_outputs)
        Nothing is computed before it is asked for. The lengths of its chunks are those
        of X, unknown where they are unknown.
    """
    check_is_fitted(estimator)
    if is_dask(getattr(estimator, "_fit_X", None)):
        return _among_blocks(name, estimator, X)
    empty = np.asarray(getattr(estimator, name)(sample(X)))[:0]
    if is_frame(X):
        parts, sizes = X.to_delayed(), [np.nan] * X.npartitions
    else:
        X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
        parts, sizes = X.to_delayed().ravel(), X.chunks[0]
    apply, model = delayed(_apply), delayed(estimator)
    return _stacked([apply(name, model, part, empty) for part in parts], sizes, empty)


def _apply(name, estimator, rows, empty):
    if len(rows) == 0:
        return empty
    return np.asarray(getattr(estimator, name)(rows))


def _stacked(tasks, sizes, empty):
    """One lazy array of what the tasks give."""
    da = import_optional("dask.array", "dask")
    if not sizes:
        return da.from_array(empty)
    parts = [
        da.from_delayed(task, shape=(size, *empty.shape[1:]), dtype=empty.dtype)
        for task, size in zip(tasks, sizes)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _among_blocks(name, estimator, X):
    """The same of methods that look for neighbours among rows of Dask.

    The neighbours are found block against block; the rest of the method then sees them
    as a graph that somebody else has found.
    """
    estimator._validate_features(sample(X), reset=False)
    points, queries = estimator._fit_X, as_array(X)
    tasks = neighbor_tasks(
        points, estimator.n_neighbors, queries, estimator.neighbors, estimator.n_jobs
    )
    n_points = points.shape[0]
    model = copy(estimator)
    model.neighbors, model.n_features_in_ = "precomputed", n_points
    model._fit_X = csr_array((n_points, 1))
    vars(model).pop("feature_names_in_", None)
    empty = np.asarray(getattr(model, name)(csr_array((2, n_points))))[:0]
    finish, model = delayed(_finish), delayed(model)
    results = [finish(name, model, found, n_points, points.dtype) for found in tasks]
    sizes = [size for size in queries.chunks[0] if size]
    return _stacked(results, sizes, empty)


def _finish(name, estimator, found, n_points, dtype):
    graph = _as_csr(found[0], found[1], n_points, dtype)
    return np.asarray(getattr(estimator, name)(graph))
