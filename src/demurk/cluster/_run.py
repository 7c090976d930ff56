"""Which way a call with rows of Dask goes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy
from inspect import signature

from demurk.cluster._fit import fit, here
from demurk.cluster._lazy import lazily
from demurk.cluster._search import search_blocks

__all__ = ["run"]

LAZY = ("transform", "predict", "predict_proba", "decision_function")


def run(function, *args, **kwargs):
    """Do what a function of rows does, with rows of Dask.

    Called by estimators and :func:`~demurk.graph.nearest_neighbors` when X is a dask
    array or a dask data frame; there is no need to call it.

    Parameters
    ----------
    function : callable
        The function or method, for rows in memory.
    *args, **kwargs
        What it was called with.

    Returns
    -------
    result : object
        A NeighborGraph in memory from a search; the estimator from `fit`; a lazy dask
        array from `transform`, `predict`, `predict_proba` and `decision_function`; a
        number from `score`.

    Notes
    -----
    Searches and sums run on the current Dask client, or in threads where there is none.
    Labels, graph and soft labels are held by the caller, in O(n (k + q)) memory. Each
    task of a search holds two blocks of rows.

    Examples
    --------
    >>> import dask.array as da
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import NMLSDR
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> X = da.from_array(toy.data, chunks=(100, -1))
    >>> reducer = NMLSDR(n_components=3).fit(X, toy.target)
    >>> reducer.transform(X)
    dask.array<concatenate, shape=(400, 3), ...chunksize=(100, 3)...>
    """
    given = signature(function).bind(*args, **kwargs).arguments
    given.update(given.pop("kwargs", {}))
    name = function.__name__
    if name == "nearest_neighbors":
        return search_blocks(**given)
    estimator, X = given.pop("self"), given.pop("X")
    if name == "fit":
        return fit(function, estimator, X, **given)
    if name in LAZY:
        return lazily(name, estimator, X)
    if name == "score":
        predicted = estimator.predict(X).compute()
        shadow = copy(estimator)
        shadow.predict = lambda _: predicted
        return function(shadow, None, **{k: here(v) for k, v in given.items()})
    raise TypeError(
        f"{type(estimator).__name__}.{name} takes no rows of Dask: bring them here "
        "with X.compute()."
    )
