"""One task of the PML-LCom protocol: split, add noise, choose settings, score."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace
from functools import lru_cache

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
    unknown_parameter,
)
from demurk.benchmark.tasks._pml import (
    NAMES,
    pml_choose,
    pml_data,
    pml_score,
    pml_split,
    pml_transductive,
)

__all__ = ["partial_multilabel"]


def partial_multilabel(
    data_set,
    method,
    seed,
    *,
    amount=None,
    transductive=False,
    transposed=False,
    choose=True,
    params=None,
    compressed=None,
    convergence=False,
    max_samples=None,
):
    """Learn from labels of which some are false, and score the true ones.

    Parameters
    ----------
    data_set : str
        Name in the PML-LCom paper, or any known multi-label data set.
    method : dict
        ``estimator`` and its ``params``; perhaps ``grid``, parameters to be chosen on a
        part of the training rows by their candidates. ``estimator = "trivial"`` is the
        candidates themselves, for transductive scores. With ``features = "raw"`` dense
        features are left as they are.
    seed : int
        Seed of split, noise and random methods.
    amount : float, default=None
        Noise a; None for data with candidates of their own.
    transductive : bool, default=False
        Whether the labels of the training rows are scored, not those of test rows.
    transposed : bool, default=False
        Whether the columns of square features are the samples.
    choose : bool, default=True
        Whether settings are chosen from the method's ``grid``.
    params : dict, default=None
        Parameters over those of the method; methods that lack them are skipped.
    compressed : float, default=None
        Number of compressed labels as a share of all labels.
    convergence : bool, default=False
        Whether to add "objective", what the method minimises, at the end of its fit.
    max_samples : int, default=None
        Larger data are cut to a random part of this size, the same for all methods.

    Returns
    -------
    report : dict of str to float
        The five measures, those of the noise found among the candidates, and "seconds"
        of the fit.

    Examples
    --------
    >>> from demurk.benchmark.tasks import partial_multilabel
    >>> method = {"estimator": "demurk.partial_multilabel.FPML"}
    >>> report = partial_multilabel("synthetic", method, 0, amount=1, max_samples=500)
    >>> bool(report["ranking loss"] < 0.4)
    True
    """
    data = _data(data_set, transposed, max_samples)
    n_labels = data.Y.shape[1]
    extra = dict(params or {})
    if compressed is not None:
        extra["n_components"] = max(1, int(compressed * n_labels + 1e-9))
    reason = reason_to_skip(method, *data.Y.shape)
    reason = reason or unknown_parameter(method, extra)
    if reason is not None:
        return {"skipped": reason}
    standardize = method.get("features", "standardized") != "raw"
    split = _split(data_set, transposed, max_samples, seed, amount, standardize)
    with quiet():
        if method["estimator"] == "trivial":
            return pml_transductive(None, split)
        model = make_estimator(method, extra=extra, n_labels=n_labels, seed=seed)
        grid = {k: v for k, v in method.get("grid", {}).items() if k not in extra}
        if choose and grid:
            choices = [clone(model).set_params(**c) for c in ParameterGrid(grid)]
            model = pml_choose(choices, split, seed=seed)
        score = pml_transductive if transductive else pml_score
        report = score(model, split)
        if convergence:
            fitted = clone(model).fit(split.X_train, split.given)
            report["objective"] = fitted.objective_[-1]
    return report


def _checksum(data_set, options):
    return file_checksum(NAMES.get(data_set, data_set), options)


partial_multilabel.checksum = _checksum


@lru_cache(maxsize=1)
def _data(name, transposed, max_samples):
    data = pml_data(name, transposed=transposed)
    if max_samples is None or len(data.Y) <= max_samples:
        return data
    rows = np.random.RandomState(0).permutation(len(data.Y))[:max_samples]
    own = data.candidates
    return replace(
        data,
        X=data.X[rows],
        Y=data.Y[rows],
        candidates=None if own is None else own[rows],
    )


@lru_cache(maxsize=1)
def _split(name, transposed, max_samples, seed, amount, standardize):
    data = _data(name, transposed, max_samples)
    return pml_split(data, seed, amount, standardize=standardize)
