"""The model of wrong classes, beside a slow reference and under permutations."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from demurk.out_of_sample import choose_class_noise
from demurk.out_of_sample._class_choice import (
    EVEN,
    LEAST_GAIN,
    LEAST_POINTED,
    LEAST_SHARE,
    STEEPNESS,
    _believable,
    _tell,
)
from demurk.out_of_sample._class_noise import (
    FEWER,
    FLOOR,
    KEPT,
    LEAST_FOUND,
    LEAST_RATE,
    _Problem,
    _unmixed,
    fit_class_noise,
)


def drawn(n_rows, n_classes, noise, seed=0, sharpness=3.0):
    """Flat probabilities, true classes drawn from sharper ones, and given classes."""
    rng = np.random.RandomState(seed)
    logits = 1.5 * rng.standard_normal((n_rows, n_classes))
    P, sharp = (np.exp(k * logits) for k in (1.0, sharpness))
    P, sharp = (p / p.sum(axis=1, keepdims=True) for p in (P, sharp))
    true = (sharp.cumsum(axis=1) > rng.random_sample((n_rows, 1))).argmax(axis=1)
    moved = rng.random_sample(n_rows) < noise[1]
    other = rng.randint(1, n_classes, n_rows) if noise[0] == "any" else 1
    return P, true, np.where(moved, (true + other) % n_classes, true)


def reference(P, given, x, matrix, form):
    """The objective, one row and one class at a time."""
    n_rows, q = P.shape
    level, deviations, offsets = x[0], x[1 : 1 + q], x[1 + q :]
    total = -((level - 1) ** 2) / 0.3**2 / 2
    total -= sum(d**2 / 0.5**2 / 2 for d in deviations)
    total -= sum(b**2 / 2 for b in offsets)
    for i in range(n_rows):
        weights = [
            np.exp(np.exp(level + deviations[c]) * np.log(P[i, c]) + offsets[c])
            for c in range(q)
        ]
        total += np.log(
            sum(weights[c] / sum(weights) * matrix[c, given[i]] for c in range(q))
        )
    for c in range(q):
        for j in range(q):
            if form == "matrix":
                total += (KEPT if c == j else -FEWER) * np.log(matrix[c, j])
    return total


def test_unmixing_equals_a_slow_reference():
    P, _, _ = drawn(20, 3, ("any", 0.0))
    _, matrix = point(3)
    expected = np.empty_like(P)
    for i, row in enumerate(P):
        row = np.maximum(row, FLOOR) / np.maximum(row, FLOOR).sum()
        for c in range(3):
            # Of each class that P speaks of, the part that comes from class c.
            parts = [
                row[j] * row[c] * matrix[c, j] / (row @ matrix[:, j]) for j in range(3)
            ]
            expected[i, c] = sum(parts)
    assert_allclose(_unmixed(P, matrix), np.maximum(expected, FLOOR))
    assert_allclose(_unmixed(P, np.eye(3)), np.maximum(P, FLOOR), atol=1e-4)


def test_unmixing_takes_back_what_noise_has_left():
    noise = np.array([[0.8, 0.2, 0], [0, 0.8, 0.2], [0.2, 0, 0.8]])
    ghost = _unmixed(noise, noise)
    assert (ghost[noise == 0.2] < 0.11).all()
    assert_allclose(ghost.sum(axis=1), 1, atol=1e-3)


def point(q, seed=1):
    rng = np.random.RandomState(seed)
    x = np.r_[0.7, 0.3 * rng.standard_normal(2 * q)]
    matrix = np.eye(q) * 3 + rng.random_sample((q, q))
    return x, matrix / matrix.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("form", ["none", "symmetric", "matrix"])
def test_objective_and_gradient_equal_a_slow_reference(form):
    P, _, given = drawn(30, 4, ("any", 0.2))
    problem = _Problem(P, given, form)
    x, matrix = point(4)
    if form == "none":
        matrix = np.eye(4)
    if form == "symmetric":
        matrix = problem.symmetric(0.2)
    value, p, shares = problem.evaluate(x, matrix)
    assert_allclose(value, reference(P, given, x, matrix, form), rtol=1e-10)
    slope = approx_fprime(x, lambda z: reference(P, given, z, matrix, form), 1e-6)
    assert_allclose(problem.gradient(x, p, shares), slope, atol=1e-3)


@pytest.mark.parametrize("form", ["symmetric", "matrix"])
def test_fit_is_a_maximum(form):
    P, _, given = drawn(300, 3, ("next", 0.2))
    fit = fit_class_noise(P, given, form, tol=1e-9, max_iter=2000)
    level = np.log(fit.slope).mean()
    deviations = np.log(fit.slope) - level
    # The common level carries its own prior: undo the mean that went into it.
    shift = (0.3**-2 * (level - 1)) / (0.3**-2 + 3 * 0.5**-2)
    x = np.r_[level - shift, deviations + shift, fit.offset]
    problem = _Problem(_unmixed(P, fit.mixing), given, form)
    value, p, shares = problem.evaluate(x, fit.matrix)
    assert value >= fit.objective - 1e-6
    assert np.abs(problem.gradient(x, p, shares)).max() < 0.05
    assert_allclose(problem.new_matrix(shares, fit.matrix), fit.matrix, atol=1e-3)


@pytest.mark.parametrize("form", ["none", "symmetric", "matrix"])
def test_left_out_likelihood_equals_a_slow_reference(form):
    """Its shares are taken from the counts, and the matrix is made again."""
    P, true, given = drawn(60, 3, ("next", 0.2))
    known = np.where(np.arange(60) % 7 == 0, true, -1)
    given = np.where(np.arange(60) % 14 == 0, -1, given)
    fit = fit_class_noise(P, given, form, known=known)
    p, told, q = fit.true_proba(P), given >= 0, 3
    shares = np.zeros((60, q))
    for i in range(60):
        if known[i] >= 0:
            shares[i, known[i]] = 1
        else:
            joint = [p[i, c] * fit.matrix[c, given[i]] for c in range(q)]
            shares[i] = np.array(joint) / sum(joint)
    expected = []
    for i in range(60):
        counts = np.where(np.eye(q), KEPT, -FEWER)
        for k in set(range(60)) - {i}:
            if told[k]:
                counts[:, given[k]] += shares[k]
        rows = np.maximum(counts, 0) / np.maximum(counts, 0).sum(axis=1)[:, None]
        matrix = (1 - q * LEAST_RATE) * rows + LEAST_RATE
        others = [k for k in range(60) if told[k] and k != i]
        rate = 1 - sum(shares[k, given[k]] for k in others) / len(others)
        if form == "symmetric":
            matrix = np.where(np.eye(q), 1 - rate, rate / (q - 1))
        if form == "none":
            matrix = np.eye(q)
        if known[i] >= 0:
            heard = max(matrix[known[i], given[i]], LEAST_FOUND) if told[i] else 1.0
            expected.append(np.log(p[i, known[i]] * heard))
        else:
            expected.append(np.log(p[i] @ matrix[:, given[i]]))
    found = fit.left_out_log_likelihood(P, given, known)
    assert_allclose(found, expected, rtol=1e-7)


def test_own_rates_are_told_from_one_rate_with_few_rows_of_many_classes():
    """Fits to five folds of the rows know too little: 14 of these 16 were right."""
    rng = np.random.RandomState(0)
    for seed in range(8):
        P, true, _ = drawn(300, 15, ("any", 0.0), seed, sharpness=6.0)
        rates, targets = rng.uniform(0, 0.3, 15), rng.randint(1, 15, (15, 2))
        moved = rng.random_sample(300) < rates[true]
        other = (true + targets[true, rng.randint(0, 2, 300)]) % 15
        assert choose_class_noise(P, np.where(moved, other, true)).fit.form == "matrix"
        alike = np.where(moved, (true + rng.randint(1, 15, 300)) % 15, true)
        assert choose_class_noise(P, alike).fit.form == "symmetric"


def test_one_rate_and_a_matrix_both_count_by_their_evidence():
    """A weight that rises with the evidence, and means of what the fits hold."""
    shares = []
    for seed in range(8):
        P, _, given = drawn(120, 4, ("next", 0.1), seed, sharpness=6.0)
        choice = choose_class_noise(P, given)
        above = choice.evidence["matrix"] - choice.evidence["symmetric"]
        share = 1 / (1 + np.exp(-STEEPNESS * (above - EVEN)))
        assert choice.share == pytest.approx(share)
        shares.append(share)
        if not LEAST_SHARE <= share <= 1 - LEAST_SHARE:
            share = round(share)
        again = choose_class_noise(P, given, share=share).fit
        if choice.fit.form != "none":
            assert_allclose(choice.fit.matrix, again.matrix)
        one, free = (fit_class_noise(P, given, f) for f in ("symmetric", "matrix"))
        assert_allclose(again.matrix, (1 - share) * one.matrix + share * free.matrix)
        logs = (1 - share) * np.log(one.slope) + share * np.log(free.slope)
        assert_allclose(np.log(again.slope), logs)
        assert again.form == ("matrix" if share >= 0.5 else "symmetric")
    # So few rows leave every shade of doubt.
    assert min(shares) < 0.1 < np.median(shares) and max(shares) > 0.9


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_next_to_no_share_is_none(share):
    P, _, given = drawn(120, 4, ("next", 0.1), 0, sharpness=6.0)
    fit = choose_class_noise(P, given, share=share).fit
    only = fit_class_noise(P, given, "matrix" if share else "symmetric")
    assert_allclose(fit.matrix, only.matrix)
    assert fit.form == only.form


@pytest.mark.parametrize(
    ("noise", "form"),
    [(("any", 0.15), "symmetric"), (("next", 0.2), "matrix"), (("any", 0.0), "none")],
)
def test_form_and_rate_are_found(noise, form):
    P, true, given = drawn(2000, 5, noise, sharpness=6.0)
    fit = choose_class_noise(P, given).fit
    assert fit.form == form
    assert abs(fit.rate(P) - (true != given).mean()) < 0.03
    wrong = 1 - fit.posterior(P, given)[np.arange(2000), given]
    assert abs(wrong.mean() - (true != given).mean()) < 0.03


def test_permuted_rows_and_classes_give_equal_answers():
    P, _, given = drawn(400, 4, ("next", 0.25), sharpness=6.0)
    fit = choose_class_noise(P, given)
    assert fit.fit.form == "matrix"
    rows, classes = np.random.RandomState(3).permutation(400), np.array([2, 0, 3, 1])
    place = np.argsort(classes)
    moved = choose_class_noise(P[np.ix_(rows, classes)], place[given[rows]])
    assert_allclose(moved.fit.matrix, fit.fit.matrix[np.ix_(classes, classes)], 1e-6)
    assert_allclose(list(moved.evidence.values()), list(fit.evidence.values()), 1e-6)
    posterior = fit.fit.posterior(P, given)[np.ix_(rows, classes)]
    found = moved.fit.posterior(P[np.ix_(rows, classes)], place[given[rows]])
    assert_allclose(found, posterior, atol=1e-7)


def test_known_rate_and_known_form():
    P, _, given = drawn(300, 4, ("any", 0.2))
    fit = choose_class_noise(P, given, rate=0.3).fit
    assert fit.form == "symmetric"
    assert_allclose(np.diag(fit.matrix), 0.7)
    for form in ("none", "symmetric", "matrix"):
        assert choose_class_noise(P, given, form).fit.form == form


def test_tiny_classes_and_single_class():
    P = np.full((5, 1), 0.9)
    assert_array_equal(choose_class_noise(P, np.zeros(5, int)).fit.matrix, [[1]])
    P, _, given = drawn(60, 30, ("any", 0.2))
    given[:28] = np.arange(28)  # classes of one row, and two never given
    fit = choose_class_noise(P, given).fit
    assert np.isfinite(fit.posterior(P, given)).all()
    assert_allclose(fit.matrix.sum(axis=1), 1)
    two = choose_class_noise(P[:2, :2], np.array([0, 1])).fit
    assert np.isfinite(two.posterior(P[:2, :2], np.array([0, 1]))).all()


def test_random_classes_have_no_noise():
    """Whatever the form that would explain them better."""
    for seed in range(4):
        P, _, _ = drawn(100, 4, ("any", 0.0), seed)
        given = np.random.RandomState(seed).randint(4, size=100)
        choice = choose_class_noise(P, given)
        assert not choice.telling and choice.fit is choice.plain
        known = choose_class_noise(P, given, rate=0.2)
        assert known.fit.form == "symmetric"


def test_what_is_told_and_pointed_at_equals_a_slow_reference():
    P, _, given = drawn(60, 3, ("any", 0.2))
    plain, fit = (fit_class_noise(P, given, form) for form in ("none", "symmetric"))
    n_rows, gains, wrong = len(P), [], []
    for i in range(n_rows):
        p = plain.true_proba(P)[i]
        gains.append(np.log(p[given[i]]) - np.log(np.mean(given == given[i])))
        p = fit.true_proba(P)[i]
        kept = p[given[i]] * fit.matrix[given[i], given[i]]
        wrong.append(1 - kept / sum(p[c] * fit.matrix[c, given[i]] for c in range(3)))
    surplus = np.mean(gains) / np.std(gains) * n_rows**0.5
    assert surplus > LEAST_GAIN and _tell(plain.true_proba(P), given)
    flat = np.tile(np.bincount(given) / n_rows, (n_rows, 1))
    assert not _tell(flat, given)
    rate = np.mean(wrong)
    share = np.mean([(w - rate) ** 2 for w in wrong]) / (rate * (1 - rate))
    assert _believable(fit, P, given, None, given) == (share >= LEAST_POINTED)
    vague = fit_class_noise(flat, given, "symmetric")
    assert not _believable(vague, flat, given, None, given)
