"""Where methods of estimators come to when their rows are not in memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy
from inspect import signature

from demurk.device._arrays import is_elsewhere, place_of, to_numpy
from demurk.utils._optional import import_optional

__all__ = ["SERVED", "run", "to_host"]

SERVED = (
    "nearest_neighbors, NoisyLabelPropagation, NMLSDR, SSMLDR, MDDM, MVMD, LabelCCA, "
    "MLSI, WMLDA (binary, entropy, correlation), MLkNN, SemiSupervisedMLkNN, SLEML and "
    "LaplacianEigenmaps"
)
# What belongs to the rows, and stays with them.
OF_ROWS = ("label_distributions_", "transduction_", "embedding_")
# Tests let tensors in memory take the way of those on a device.
everywhere = False


def run(function, *args, **kwargs):
    """Do what a function does in memory where its rows are.

    Parameters
    ----------
    function : callable
        Method of an estimator, or `demurk.graph.nearest_neighbors`, as it is written.
    *args, **kwargs : object
        Its arguments; the rows are tensors of torch or arrays of CuPy.

    Returns
    -------
    result : object
        What the function returns; arrays are of the kind of the rows, and on their
        device.

    Notes
    -----
    Rows in memory take the way of numpy arrays there and back; their fitted attributes
    are numpy's. On a device, `label_distributions_`, `transduction_` and `embedding_`
    are of the kind of the rows; small ones such as `components_` are numpy's.

    Examples
    --------
    >>> import torch
    >>> from demurk.projection import MDDM
    >>> X = torch.tensor([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    >>> y = torch.tensor([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> MDDM(n_components=1).fit(X, y).transform(X).shape
    torch.Size([4, 1])
    """
    import_optional("torch", "gpu")
    given = _named(function, args, kwargs)
    place = place_of(next(value for value in given.values() if is_elsewhere(value)))
    if function.__name__ == "score":
        return _score(function, given.pop("self"), given)
    if place.device.type == "cpu" and not everywhere:
        here = {name: to_numpy(value) for name, value in kwargs.items()}
        return place.give(function(*map(to_numpy, args), **here))
    if function.__name__ == "nearest_neighbors":
        return _search(place, given)
    return _compute(function, given.pop("self"), place, given)


def _score(function, estimator, given):
    """Predictions are made where the rows are, and compared in memory."""
    predicted = to_numpy(estimator.predict(given.pop("X")))
    known = copy(estimator)
    known.predict = lambda X: predicted
    options = {name: to_numpy(value) for name, value in given.items()}
    return function(known, None, **options)


def _named(function, args, kwargs):
    """All arguments by name."""
    known = signature(function)
    given = dict(known.bind(*args, **kwargs).arguments)
    for name, parameter in known.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given |= given.pop(name, {})
    return given


def _search(place, given):
    from demurk.device._neighbors import neighbors

    for name in ("X", "queries"):
        value = given.get(name)
        if value is not None and not is_elsewhere(value):
            raise TypeError(
                f"{name} is in memory, but the other rows are on {place.device}; hand "
                f"over both on one device."
            )
    points, k = given["X"], given["n_neighbors"]
    return neighbors(points, k, given.get("queries"), given.get("method", "exact"))


def _compute(function, estimator, place, given):
    from demurk.device._estimators import OnDevice, seen_on_device

    name = function.__name__
    if isinstance(estimator, OnDevice):  # a method that calls another
        return getattr(_front(estimator), name, function)(estimator, **given)
    learns = name in ("fit", "fit_transform", "fit_predict")
    seen = seen_on_device(estimator, shared=learns)
    if seen is None:
        raise TypeError(
            f"{type(estimator).__name__} does not compute on {place.device} as it is "
            f"set; hand over X.cpu(). What does: {SERVED}."
        )
    given = {key: _argument(key, value, place) for key, value in given.items()}
    if not learns and "y" in given:
        given["y"] = to_numpy(given["y"])
    if not learns and "_fit_X" in vars(seen):
        seen._fit_X = place.take(seen._fit_X, "the X of fit")
    result = getattr(_front(seen), name, function)(seen, **given)
    if learns:
        for attribute in OF_ROWS:
            if attribute in vars(estimator):
                value = place.give(getattr(estimator, attribute))
                setattr(estimator, attribute, value)
    return estimator if result is seen else place.give(result)


def _front(seen):
    """What differs from the estimator in memory."""
    return type(seen).__mro__[1]


def _argument(name, value, place):
    """Rows and labels as tensors there, anything else in memory."""
    if value is None or not is_elsewhere(value):
        return value
    tensor = place.take(value, name)
    return tensor if name in ("X", "y") else to_numpy(tensor)


def to_host(estimator):
    """Bring what an estimator has learned into memory, as numpy arrays.

    An estimator that was fitted on a device can then be saved, and asked about rows in
    memory.

    Parameters
    ----------
    estimator : object
        A fitted estimator; it is changed.

    Returns
    -------
    estimator : object
        The same.

    Examples
    --------
    >>> import torch
    >>> from demurk.device import to_host
    >>> from demurk.projection import MDDM
    >>> X, y = torch.eye(4), torch.tensor([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> type(to_host(MDDM().fit(X, y)).components_)
    <class 'numpy.ndarray'>
    """
    for name, value in vars(estimator).items():
        if is_elsewhere(value):
            setattr(estimator, name, to_numpy(value))
    return estimator
