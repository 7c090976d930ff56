"""Which kind of noise is recognised."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from demurk.audit._kinds import _pick, choose_kind, sharpness
from demurk.audit._noise_model import standardized


def make_labels(rng, missing, extra, n=800, q=6, slope=4.0):
    Z = standardized(rng.normal(size=(n, q)), np.ones((n, q), bool))
    true = rng.random_sample((n, q)) < expit(slope * Z - 2)
    flip = rng.random_sample((n, q)) < np.where(true, missing, extra)
    return Z, (true ^ flip).astype(float), np.ones((n, q), bool)


@pytest.mark.parametrize(
    "missing, extra, noise",
    [
        (0.1, 0.1, "symmetric"),
        (0.0, 0.1, "extra"),
        (0.3, 0.0, "missing"),
        (0.35, 0.08, "mixed"),
        (0.0, 0.0, "none"),
    ],
)
def test_kinds_are_told_apart(rng, missing, extra, noise):
    choice = choose_kind(*make_labels(rng, missing, extra))
    assert choice.noise == noise and not choice.per_label
    assert choice.sure
    assert set(choice.evidence) == {
        "none",
        "symmetric",
        "extra",
        "missing",
        "mixed",
    }


def test_rates_that_differ_between_labels_are_seen(rng):
    rates = np.array([0.0, 0.02, 0.1, 0.2, 0.35, 0.45])
    choice = choose_kind(*make_labels(rng, rates, 0.0, n=1500))
    assert choice.noise == "missing" and choice.per_label
    # Drawn towards each other, but far from equal and in the right order.
    assert_allclose(choice.fit.missing, rates, atol=0.12)
    assert (np.diff(choice.fit.missing) > 0).all()
    shared = choose_kind(*make_labels(rng, 0.2, 0.0, n=1500))
    assert shared.noise == "missing" and not shared.per_label


@pytest.mark.parametrize("rates, own", [("shared", False), ("per_label", True)])
def test_rates_as_the_user_wants(rng, rates, own):
    choice = choose_kind(*make_labels(rng, 0.1, 0.1, n=300), rates=rates)
    assert choice.per_label == own
    assert (np.ptp(choice.fit.missing) > 0) == own


def test_a_kind_that_was_asked_for(rng):
    Z, Y, seen = make_labels(rng, 0.3, 0.0, n=300)
    choice = choose_kind(Z, Y, seen, noise="extra")
    assert choice.noise == "extra" and choice.sure
    assert (choice.fit.missing == 0).all()
    none = choose_kind(Z, Y, seen, noise="none")
    assert none.noise == "none" and not none.estimated
    assert (none.fit.missing == 0).all() and (none.fit.extra == 0).all()


def test_few_rows_are_not_called_certain(rng):
    choice = choose_kind(*make_labels(rng, 0.1, 0.1, n=40, q=2, slope=1.5))
    assert not choice.sure or choice.noise == "none"


def test_a_skewed_curve_is_not_taken_for_missing_labels(rng):
    """A kind is believed only if it can point at its errors: here there are none."""
    seen = np.ones((800, 6), bool)
    Z = standardized(rng.normal(size=seen.shape), seen)
    Y = rng.random_sample(seen.shape) < expit(1.5 * Z + 1) ** 6
    choice = choose_kind(Z, Y.astype(float), seen)
    assert choice.evidence["missing"] > 1
    assert choice.noise == "none" and not choice.sure


@pytest.mark.parametrize("share, kind", [(0.1, "missing"), (0.9, "symmetric")])
def test_missing_labels_must_explain_something(share, kind):
    """The same evidence for few and for very many missing labels."""
    given = np.zeros(10_000)
    wrong = {"symmetric": np.zeros(10_000), "missing": np.zeros(10_000)}
    wrong["missing"][: int(share * 10_000)] = 0.5
    evidence = {"symmetric": 0.0, "missing": 20.0}
    assert _pick(evidence, {"symmetric": 0.0, "missing": 0.5}, wrong, given) == kind


def test_a_rate_at_the_edge_is_not_believed(rng):
    """Seven of ten true labels are missing, more than any rate can say."""
    Z, Y, seen = make_labels(rng, 0.7, 0.0)
    choice = choose_kind(Z, Y, seen)
    assert choice.evidence["missing"] > 5  # clear, if it could be believed
    assert choice.noise == "none" and not choice.sure
    asked = choose_kind(Z, Y, seen, "missing")
    assert asked.noise == "missing" and asked.fit.missing.mean() > 0.45


def test_sharpness():
    assert sharpness(np.array([1.0, 1.0, 0.0])) == 1.0
    assert sharpness(np.full(10, 0.2)) == pytest.approx(0.2)
    assert sharpness(np.zeros(3)) == 0.0
