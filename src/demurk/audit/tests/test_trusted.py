"""Labels that somebody has looked at."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit

from demurk.audit import LabelAudit
from demurk.audit._noise_model import LEAST_FOUND, fit_noise
from demurk.audit._trusted import Trusted, check_trusted
from demurk.labels import check_labels, flip_labels
from demurk.out_of_sample import choose_class_noise
from demurk.out_of_sample._class_noise import fit_class_noise


@pytest.fixture
def rng():
    return np.random.RandomState(0)


def make_model(rng, n=600, q=3, rate=0.1, slope=2.5):
    """Scores, true labels and labels with flips, as the model of the noise has it."""
    Z = rng.normal(size=(n, q))
    true = (rng.random_sample((n, q)) < expit(slope * Z - 0.5)).astype(float)
    given = np.where(rng.random_sample((n, q)) < rate, 1 - true, true)
    return Z, true, given


def most_suspect(Z, given, n):
    """A mask of those a person would look at first."""
    order = np.argsort(-np.abs(given - expit(2.5 * Z - 0.5)), axis=None)
    mask = np.zeros(given.size, dtype=bool)
    mask[order[:n]] = True
    return mask.reshape(given.shape)


@pytest.mark.parametrize("per_label", [False, True])
@pytest.mark.parametrize("structure", ["symmetric", "mixed"])
def test_the_fit_maximises_a_slow_likelihood(rng, structure, per_label):
    Z, true, given = make_model(rng, n=200, q=2)
    mask = most_suspect(Z, given, 60)
    unknown = rng.random_sample(mask.shape) < 0.2
    Y = np.where(mask, true, given)
    trusted = Trusted(mask, np.where(unknown, -1.0, given))
    seen = rng.random_sample(Y.shape) < 0.9
    mask &= seen
    fit = fit_noise(
        Z, Y, seen, structure, trusted=trusted, per_label=per_label, tol=1e-9
    )
    n_rates = 1 if structure == "symmetric" else 2

    def slow(x):
        slope, intercept = x[:2], x[2:4]
        shared, own = x[4 : 4 + n_rates], x[4 + n_rates :].reshape(n_rates, -1)
        total = 8 * np.log(1 - expit(shared) / 2).sum()
        total -= ((slope - 1) ** 2).sum() / 2 + 0.01 * (intercept**2).sum() / 2
        if per_label:
            total -= ((own - shared[:, None]) ** 2).sum() / 2
        for i, j in np.argwhere(seen):
            e = expit(own[:, j] if per_label else shared) / 2
            missing, extra = e[0], e[-1]
            sigma = expit(slope[j] * Z[i, j] + intercept[j])
            if not mask[i, j]:
                p = extra + (1 - missing - extra) * sigma
                total += np.log(p if Y[i, j] else 1 - p)
                continue
            total += np.log(sigma if Y[i, j] else 1 - sigma)
            if not unknown[i, j]:
                rate = missing if Y[i, j] else extra
                wrong = given[i, j] != Y[i, j]
                total += np.log(max(rate, LEAST_FOUND) if wrong else 1 - rate)
        return -total

    start = np.r_[
        np.ones(2), np.zeros(2), np.full(n_rates * (3 if per_label else 1), -1)
    ]
    best = minimize(slow, start, method="BFGS")
    assert fit.objective == pytest.approx(-best.fun, abs=1e-3)
    assert_allclose(fit.slope, best.x[:2], atol=0.02)


def test_rates_survive_that_the_worst_are_looked_at_first(rng):
    Z, true, given = make_model(rng, n=2000)
    seen = np.ones(Z.shape, dtype=bool)
    mask = most_suspect(Z, given, 500)
    assert (true != given)[mask].mean() > 0.6
    Y = np.where(mask, true, given)
    told = fit_noise(Z, Y, seen, "symmetric", trusted=Trusted(mask, given))
    assert_allclose(told.extra, 0.1, atol=0.015)
    blind = fit_noise(
        Z, Y, seen, "symmetric", trusted=Trusted(mask, np.full(Z.shape, -1.0))
    )
    assert (blind.extra < 0.05).all()


def test_nothing_trusted_is_as_if_nothing_were_said(rng):
    Z, _, given = make_model(rng)
    seen = np.ones(Z.shape, dtype=bool)
    none = Trusted(np.zeros(Z.shape, dtype=bool), given)
    base = fit_noise(Z, given, seen, "mixed", per_label=True)
    same = fit_noise(Z, given, seen, "mixed", per_label=True, trusted=none)
    assert same.objective == pytest.approx(base.objective)
    assert_allclose(same.extra, base.extra)


@pytest.fixture(scope="module")
def reviewed():
    """Half the errors found, by looking at the worst first."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 6))
    Y = (X @ rng.normal(size=(6, 4)) + 0.5 * rng.normal(size=(400, 4)) > 1).astype(int)
    noisy = flip_labels(Y, 0.1, random_state=1)
    first = LabelAudit(random_state=0, n_estimators=30).fit(X, noisy.labels)
    mask = np.zeros(Y.size, dtype=bool)
    mask[np.argsort(-first.scores_, axis=None)[:100]] = True
    mask = mask.reshape(Y.shape)
    now = np.where(mask, Y, noisy.labels)
    audit = LabelAudit(random_state=0, n_estimators=30)
    return X, noisy, now, mask, audit.fit(X, now, trusted=mask, given=noisy.labels)


def test_what_is_trusted_is_no_suspect(reviewed):
    _, _, now, mask, audit = reviewed
    assert np.isnan(audit.scores_[mask]).all()
    assert np.isfinite(audit.scores_[~mask]).all()
    assert (audit.wrong_proba_[mask] == 0).all()
    assert_array_equal(audit.label_distributions_[mask], now[mask])
    listed = audit.suspects(now.size)
    assert len(listed) == (~mask).sum()
    assert not mask[listed["row"], listed["label"]].any()
    assert_array_equal(audit.corrected(0.0)[mask], now[mask])


def test_what_is_left_is_counted(reviewed):
    X, noisy, now, mask, audit = reviewed
    left = int((noisy.changed & ~mask).sum())
    assert 40 < left < 100
    assert audit.noise_ == "symmetric"
    assert_allclose(audit.noise_rates_["extra"], 0.1, atol=0.03)
    assert audit.n_suspects_ == pytest.approx(left, rel=0.35)
    hits = audit.suspects(left)
    assert noisy.changed[hits["row"], hits["label"]].mean() > 0.4
    blind = LabelAudit(random_state=0, n_estimators=30)
    blind.fit(X, now, trusted=mask)
    assert blind.n_suspects_ < audit.n_suspects_


def test_one_trusted_row_is_a_row_of_trusted_entries(reviewed):
    X, _, now, _, _ = reviewed
    rows = np.arange(len(X)) % 3 == 0
    entries = np.repeat(rows[:, None], now.shape[1], axis=1)
    a, b = (
        LabelAudit(random_state=0, n_estimators=5).fit(X, now, trusted=trusted)
        for trusted in (rows, pd.DataFrame(entries))
    )
    assert_array_equal(a.scores_, b.scores_)
    assert np.isnan(a.scores_[rows]).all()


def test_rows_of_one_class(rng):
    X = rng.normal(size=(400, 2))
    X[np.arange(400), rng.randint(2, size=400)] += 4
    true = np.array(["a", "b"])[X.argmax(axis=1)]
    flipped = rng.random_sample(400) < 0.15
    given = np.where(flipped, np.where(true == "a", "b", "a"), true)
    first = LabelAudit(random_state=0, n_estimators=30).fit(X, given)
    trusted = np.zeros(400, dtype=bool)
    trusted[first.suspects(30)["row"]] = True
    now = np.where(trusted, true, given)
    audit = LabelAudit(random_state=0, n_estimators=30)
    audit.fit(X, now, trusted=trusted, given=given)
    left = (flipped & ~trusted).sum()
    assert audit.n_suspects_ == pytest.approx(left, abs=10)
    assert 1 - np.diag(audit.noise_matrix_).mean() == pytest.approx(0.15, abs=0.05)
    assert len(audit.suspects(400)) == (~trusted).sum()
    assert not trusted[audit.suspects(400)["row"]].any()
    assert (audit.wrong_proba_[trusted] == 0).all()
    assert_array_equal(audit.corrected(0.0)[trusted], now[trusted])
    assert_allclose(audit.label_distributions_.sum(axis=1), 1)


def test_errors_that_were_found_do_not_make_features_tell_nothing(rng):
    # Sharp predictions, of which the rows that were given wrongly are known now.
    true = rng.randint(2, size=300)
    P = np.where(np.eye(2)[true] > 0, 0.97, 0.03)
    given = np.where(np.arange(300) % 6 == 0, 1 - true, true)
    known = np.where(np.arange(300) % 6 == 0, true, -1)
    choice = choose_class_noise(P, given, known=known)
    assert choice.telling and choice.fit.form != "none"


def test_classes_that_are_known_but_were_never_given_can_be_fitted(rng):
    P = rng.dirichlet([1, 1, 1], size=80)
    true = np.array([rng.choice(3, p=p) for p in P])
    given = np.where(rng.random_sample(80) < 0.2, (true + 1) % 3, true)
    known = np.where(rng.random_sample(80) < 0.5, true, -1)
    blind = choose_class_noise(P, np.where(known >= 0, -1, given), known=known)
    assert np.isfinite(blind.fit.objective)


def test_errors_that_were_found_raise_the_rate_of_classes(rng):
    P = np.repeat(np.array([[0.9, 0.1], [0.1, 0.9]]), 100, axis=0)
    given = np.repeat([0, 1], 100)
    known = np.full(200, -1)
    known[:30] = 1
    fit = fit_class_noise(P, given, "matrix", known=known)
    plain = fit_class_noise(P, given, "matrix")
    assert fit.matrix[1, 0] > plain.matrix[1, 0] + 0.1


@pytest.mark.parametrize(
    ("trusted", "given", "words"),
    [
        (None, [[1, 0]] * 3, "trusted is None: say which"),
        ([1, 0, 1], None, "type int64: give True or False for each of the 3 rows"),
        ([True, False], None, r"shape \(2,\)"),
        (
            [True] * 3,
            [[1], [0], [1]],
            r"given has shape \(3, 1\), but",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_read_is_said(trusted, given, words):
    labels = check_labels(np.array([[1, 0], [0, 1], [1, 1]]))
    with pytest.raises(ValueError, match=words):
        check_trusted(trusted, given, labels)


def test_a_class_that_is_gone_says_nothing():
    labels = check_labels(np.array([0, 0, 1, 1]))
    found = check_trusted(np.array([True, True, False, False]), [2, 0, 1, 1], labels)
    given, known = found.classes(labels.values)
    assert given.tolist() == [-1, 0, 1, 1]
    assert known.tolist() == [0, 0, -1, -1]
