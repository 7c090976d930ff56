"""Fits whose only looks at the rows are neighbours and sums."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
from joblib import parallel_config

from demurk.audit import LabelAudit
from demurk.base import beside_absence
from demurk.cluster._audit import audit_blocks, is_large
from demurk.cluster._blocks import Blocks, as_array, delayed, is_dask, read, sample
from demurk.labels import check_labels
from demurk.linalg import Problem, Sums
from demurk.linalg._problem import solve_sums
from demurk.multilabel import MLkNN, MurkyClassifier
from demurk.projection import NMLSDR, SSMLDR, LinearReducer
from demurk.projection._base import centered_targets
from demurk.propagation import MLGFHF, NoisyLabelPropagation
from demurk.utils._progress import fit_progress

__all__ = ["fit"]

NEIGHBORS = (NoisyLabelPropagation, MLGFHF, MLkNN)
MOMENTS = (NMLSDR, SSMLDR)
FORESTS = (LabelAudit, MurkyClassifier)
CAN_FIT = (
    "NoisyLabelPropagation, MLGFHF, NMLSDR, SSMLDR, MDDM, MVMD, LabelCCA, WMLDA (with "
    "binary, entropy or correlation weights), MLkNN, SemiSupervisedMLkNN, and, with "
    "the rows brought here, MurkyClassifier and LabelAudit"
)


def fit(function, estimator, X, y=None, **options):
    """Fit an estimator to rows of Dask.

    Parameters
    ----------
    function : callable
        Its `fit`, for rows in memory.
    estimator : object
        The estimator.
    X : dask array or dask data frame of shape (n_samples, n_features)
        Features.
    y : array-like, dask array or dask data frame, default=None
        Labels, in chunks of any lengths; they are brought here.
    **options : dict
        Further arguments of `fit`, brought here as well.

    Returns
    -------
    estimator : object
        Fitted.
    """
    y, options = here(y), {name: here(value) for name, value in options.items()}
    if isinstance(estimator, LabelAudit) and is_large(X):
        return audit_blocks(function, estimator, X, y, **options)
    if isinstance(estimator, FORESTS):
        with _forests(estimator):
            return function(estimator, here(X), y, **options)
    streams = isinstance(estimator, LinearReducer) and (
        estimator._streams or isinstance(estimator, MOMENTS)
    )
    if not streams and not isinstance(estimator, NEIGHBORS):
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted to rows of Dask; those that "
            f"can are {CAN_FIT}. Bring the rows here with X.compute()."
        )
    hooks = {"_validate_fit": partial(_validate, estimator)}
    if streams:
        hooks["_learn"] = partial(_learn, estimator)
    with _replaced(estimator, hooks):
        return function(estimator, X, y, **options)


def here(values):
    """Labels, or whatever else is small, in memory."""
    return values.compute() if is_dask(values) else values


@contextmanager
def _forests(estimator):
    """Let trees grow on the workers, where there are any."""
    try:
        from distributed import get_client

        get_client()
    except (ImportError, ValueError):
        yield
        return
    # Members in threads of their own would not know of the workers.
    hooks = {"_each_member": partial(_each_member, estimator)}
    with parallel_config("dask"), _replaced(estimator, hooks):
        yield


def _each_member(classifier, function):
    """Members of a MurkyClassifier, one after the other."""
    for name, (view, member) in classifier._members.items():
        yield function(name, view, member)


@contextmanager
def _replaced(estimator, hooks):
    """Methods of one estimator, replaced while it is fitted."""
    vars(estimator).update(hooks)
    try:
        yield
    finally:
        for name in hooks:
            del vars(estimator)[name]


def _validate(estimator, X, y, *, observed=None, min_samples=2, dtype=None):
    """What `DemurkEstimator._validate_fit` does; values are checked by who reads."""
    rows = as_array(X)
    n_rows, needed = rows.shape[0], None if y is None else "no_validation"
    estimator._validate_features(sample(X, rows.dtype), y=needed)
    if n_rows < min_samples:
        raise ValueError(
            f"Found {n_rows} rows in X, while a minimum of {min_samples} is required."
        )
    labels = check_labels(
        y, n_samples=n_rows, kind=estimator._label_kind, observed=observed
    )
    if estimator._compares_labels and labels.n_labels == 1 and not labels.single:
        labels = beside_absence(labels)
    estimator._far_origin = None
    return rows, labels


def _learn(reducer, X, y, labels, weights=None):
    """What `LinearReducer._learn` does, from sums over blocks."""
    if isinstance(reducer, MOMENTS):
        with fit_progress(reducer, 3, X, y) as stage:
            # Also of the absence of a label that is alone.
            reducer._soft = reducer._propagate(X, labels, stage)[0].values
            with stage("projection"):
                _project(reducer, X, labels, weights)
        del reducer._soft
    else:
        _project(reducer, X, labels, weights)


def _project(reducer, X, labels, weights):
    reducer._look_ahead([labels])
    problem = reducer._problem(X, labels)
    if problem.targets is labels:
        problem = replace(problem, targets=centered_targets(labels, weights))
    if weights is not None:
        targets = problem.targets * weights[:, np.newaxis]
        problem = replace(problem, targets=targets, weights=weights)
    sums = _sums(X, problem)
    found = solve_sums(problem, sums, X.dtype, reducer.n_components)
    reducer._set_projection(*found, X.dtype)


def _sums(X, problem):
    """Sums over all rows, added up in pairs where the rows are."""
    add, merge = delayed(_add), delayed(_merge)
    blocks, T, w = Blocks(X), problem.targets, problem.weights
    parts = [
        add(part, T[rows], None if w is None else w[rows], problem.needs_scatter)
        for part, rows in zip(blocks.parts, blocks.slices())
    ]
    while len(parts) > 1:
        pairs = [merge(*pair) for pair in zip(parts[::2], parts[1::2])]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0].compute()


def _add(part, targets, weights, scatter):
    problem = Problem(targets, weights=weights)
    return Sums(scatter=scatter).add(read(part), problem)


def _merge(first, second):
    both = deepcopy(first)  # a task may not change what it was handed
    both.joint.merge(second.joint)
    if both.features is not both.joint:
        both.features.merge(second.features)
    return both
