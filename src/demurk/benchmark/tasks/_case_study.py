"""One task of the NMLSDR paper's case study: patients labelled by experts' rules."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import lru_cache

import numpy as np
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from demurk.benchmark.tasks._common import make_estimator, quiet, reason_to_skip
from demurk.benchmark.tasks._data import Split
from demurk.benchmark.tasks._embedding import label_agreement
from demurk.metrics import coverage, multilabel_report

__all__ = ["case_study"]

# Of the records, every fifth is for the test; codes that fewer training patients have
# are no features.
TEST_SHARE, MIN_PATIENTS = 0.2, 10


def case_study(
    data_set, method, seed, *, n_samples=8664, n_labeled=1000, n_unlabeled=1000
):
    """Label synthetic patients by rules, reduce, classify, and score the truth.

    Parameters
    ----------
    data_set : str
        "health_records", made by :func:`~demurk.datasets.make_health_records`, the same
        for all seeds.
    method : dict
        ``estimator`` and its ``params``: a reducer, with ``classifier`` and
        ``classifier_params``, or a classifier that works on all features.
    seed : int
        Seed of the choice of training rows and of random methods.
    n_samples : int, default=8664
        Number of patients.
    n_labeled, n_unlabeled : int, default=1000
        Training rows with and without labels, drawn at random; all if there are fewer.

    Returns
    -------
    report : dict of str to float
        - the seven measures on the test part;
        - "Cov'/C", coverage over C, 0 for the healthy, as the printed numbers suggest;
        - "wrong labels", the share of the given labels that are wrong;
        - for a reducer "map agreement", how far the five nearest test patients on the
          map share the diseases of a patient.

    Examples
    --------
    >>> from demurk.benchmark.tasks import case_study
    >>> method = {"estimator": "demurk.projection.MDDM", "params": {"n_components": 2},
    ...           "classifier": "demurk.multilabel.SemiSupervisedMLkNN"}
    >>> report = case_study("health_records", method, 0, n_samples=1000)
    >>> bool(report["HL'"] > 0.7)
    True
    """
    data = _patients(n_samples)
    rows = _training_rows(data.given, seed, n_labeled, n_unlabeled)
    X, Y = data.X_train[rows], data.given[rows]
    reason = reason_to_skip(method, *Y.shape)
    if reason is not None:
        return {"skipped": reason}
    model = make_estimator(method, n_labels=Y.shape[1], seed=seed)
    reduces = hasattr(model, "transform")
    reducer, classifier = FunctionTransformer(), model
    if reduces:
        reducer = model
        classifier = make_estimator(method, key="classifier", seed=seed)
    with quiet():
        reducer.fit(X, Y)
        classifier.fit(reducer.transform(X), Y)
        Z = reducer.transform(data.X_test)
        scores, predicted = classifier.predict_proba(Z), classifier.predict(Z)
    report = multilabel_report(data.Y_test, predicted, scores)
    report["Cov'/C"] = 1 - coverage(
        data.Y_test, scores, normalize="C", degenerate="zero"
    )
    given = Y >= 0
    report["wrong labels"] = float(np.mean((Y != data.Y_train[rows])[given]))
    if reduces:
        report["map agreement"] = label_agreement(Z, data.Y_test)
    return report


case_study.checksum = lambda data_set, options: "builtin"


@lru_cache(maxsize=1)
def _patients(n_samples):
    """Both parts, standardised, and what the rules say about the training part."""
    from demurk.datasets import make_health_records, paper_rules
    from demurk.rules import RuleLabeler

    records = make_health_records(n_samples, random_state=0)
    cut = n_samples - int(TEST_SHARE * n_samples)
    X, Y = records.data, records.target
    labeler = RuleLabeler(
        paper_rules(), labels=records.target_names, columns=records.feature_names
    )
    murky = labeler.fit_transform(X[:cut])
    kept = (X[:cut] > 0).sum(axis=0) >= MIN_PATIENTS
    scaler = StandardScaler().fit(X[:cut, kept])
    return Split(
        scaler.transform(X[:cut, kept]),
        Y[:cut],
        scaler.transform(X[cut:, kept]),
        Y[cut:],
        murky,
    )


def _training_rows(murky, seed, n_labeled, n_unlabeled):
    """Random rows with labels, and random rows without."""
    rng = np.random.RandomState(seed)
    labeled = (murky >= 0).any(axis=1)
    some = rng.permutation(np.flatnonzero(labeled))[:n_labeled]
    others = rng.permutation(np.flatnonzero(~labeled))[:n_unlabeled]
    return np.sort(np.concatenate([some, others]))
