"""cleanlab with its options, against the package itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from demurk.audit import LabelAudit
from demurk.benchmark.rivals import AuditedCleanlab, CleanlabAudit
from demurk.benchmark.rivals import _cleanlab as tuned
from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels

cleanlab = pytest.importorskip("cleanlab.multilabel_classification")


@pytest.fixture
def spoiled():
    toy = make_multilabel_blocks(120, random_state=0)
    Y = flip_labels(toy.target, 0.1, random_state=0).labels
    return toy.data, np.column_stack([Y, np.zeros(120, dtype=int)])


@pytest.mark.parametrize("rival", [CleanlabAudit, AuditedCleanlab])
@pytest.mark.parametrize(
    "options",
    [{}, {"adjust_pred_probs": True}, {"method": "confidence_weighted_entropy"}],
)
def test_scores_are_those_of_cleanlab(spoiled, rival, options):
    X, Y = spoiled
    model = rival(20, random_state=0, **options).fit(X, Y)
    p = rival._proba(X, Y, 20, 0)
    lists = [np.flatnonzero(row).tolist() for row in Y]
    quality = cleanlab.rank.get_label_quality_scores_per_class(lists, p, **options)
    assert_allclose(model.scores_, 1 - quality)
    flags = cleanlab.filter.find_multilabel_issues_per_class(lists, p, n_jobs=1)
    assert_array_equal(model.flags_, flags)
    assert model.other_flags() == {}


def test_the_margin_of_one_label_is_its_confidence(spoiled):
    X, Y = spoiled
    for adjusted in (False, True):
        pair = [
            CleanlabAudit(20, method, adjusted, random_state=0).fit(X, Y).scores_
            for method in ("self_confidence", "normalized_margin")
        ]
        assert_allclose(*pair, atol=1e-12)


def test_plain_disagreement_of_the_audit_is_cleanlab_on_its_probabilities(spoiled):
    X, Y = spoiled
    model = AuditedCleanlab(20, random_state=0).fit(X, Y)
    audit = LabelAudit("none", n_estimators=20, random_state=0).fit(X, Y)
    assert_allclose(model.scores_, audit.scores_, atol=1e-12)


def test_every_filter_flags_and_spares_constant_labels(spoiled):
    X, Y = spoiled
    model = CleanlabAudit(20, all_filters=True, random_state=0).fit(X, Y)
    found = model.other_flags()
    assert list(found) == list(tuned.FILTERS)
    p = CleanlabAudit._proba(X, Y, 20, 0)
    lists = [np.flatnonzero(row).tolist() for row in Y]
    for name, flags in found.items():
        assert not flags[:, -1].any() and flags.any()
        own = cleanlab.filter.find_multilabel_issues_per_class(
            lists, p[:, :-1], filter_by=name, n_jobs=1
        )
        assert_array_equal(flags[:, :-1], own)


def test_probabilities_are_shared_and_their_time_is_told(spoiled, monkeypatch):
    X, Y = spoiled
    monkeypatch.setattr(tuned, "_last", {})
    first = CleanlabAudit(20, random_state=0).fit(X, Y)
    again = CleanlabAudit(20, adjust_pred_probs=True, random_state=0).fit(X, Y)
    other = CleanlabAudit(20, random_state=1).fit(X, Y)
    assert first.shared_seconds_ == other.shared_seconds_ == 0 < again.shared_seconds_
    assert (first.scores_ != other.scores_).any()
