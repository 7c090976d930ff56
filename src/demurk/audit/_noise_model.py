"""A model of the given labels: a logistic curve per label, seen through noise."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

__all__ = [
    "SMALLEST_SPREAD",
    "STRUCTURES",
    "NoiseFit",
    "fit_noise",
    "standardized",
    "wrong_probability",
]

# Which free rate serves as the rate of missing labels e0 and that of extra ones e1.
STRUCTURES = {
    "none": (None, None),
    "symmetric": (0, 0),
    "extra": (None, 0),
    "missing": (0, None),
    "mixed": (0, 1),
}
# Gaussian priors of slope (around 1) and intercept, and the prior (1 - e)^8 of a rate.
SLOPE_PRECISION = 1.0
INTERCEPT_PRECISION = 0.01
RATE_STRENGTH = 8.0
RATE_SPREAD = 1.0  # of single labels around the shared rate, in logits
FIRST_RATE = 0.1
TINY = 1e-12
# People err too: an error that they found where there should be none is only this
# unlikely.
LEAST_FOUND = 0.01
# Scores that vary less than this say nothing: what is left is rounding, in which a
# row's own label can show.
SMALLEST_SPREAD = 1e-7


@dataclass(frozen=True)
class NoiseFit:
    """A noise structure fitted to the given labels.

    Attributes
    ----------
    slope, intercept : ndarray of shape (n_labels,)
        Logistic curve of the true labels over the scores.
    missing, extra : ndarray of shape (n_labels,)
        How often a present label was not given, e0, and an absent one was, e1.
    objective : float
        Penalised log-likelihood.
    log_likelihood : ndarray of shape (n_labels,)
        Of the given labels, without the penalties.
    complexity : float
        What the labels' own rates cost: half the log-determinant of their posterior
        precision over their prior precision (Laplace); 0 for shared rates.
    """

    slope: np.ndarray
    intercept: np.ndarray
    missing: np.ndarray
    extra: np.ndarray
    objective: float
    log_likelihood: np.ndarray
    complexity: float

    def probabilities(self, Z):
        """Probability of each true label at the scores `Z`."""
        return expit(self.slope * Z + self.intercept)


def standardized(scores, observed):
    """Scores with mean 0 and deviation 1 over the observed entries of each label."""
    counts = np.maximum(observed.sum(axis=0), 1)
    mean = np.where(observed, scores, 0.0).sum(axis=0) / counts
    centered = np.where(observed, scores - mean, 0.0)
    deviation = np.sqrt((centered**2).sum(axis=0) / counts)
    says = deviation > SMALLEST_SPREAD
    return np.where(says, centered / np.where(says, deviation, 1.0), 0.0)


def wrong_probability(pi, Y, missing, extra):
    """Probability that a given label is wrong, by Bayes' rule.

    Parameters
    ----------
    pi : ndarray of shape (n_samples, n_labels)
        Probability of the true label.
    Y : ndarray of shape (n_samples, n_labels)
        Given labels.
    missing, extra : float or ndarray of shape (n_labels,)
        How often a present label is not given, and an absent one is.

    Returns
    -------
    wrong : ndarray of shape (n_samples, n_labels)
        Probabilities.
    """
    wrong = np.where(Y > 0, extra * (1 - pi), missing * pi)
    right = np.where(Y > 0, (1 - missing) * pi, (1 - extra) * (1 - pi))
    return wrong / np.maximum(wrong + right, TINY)


class _Problem:
    """Penalised log-likelihood of one structure, with its Fisher information.

    Parameters are a local block per label (slope, intercept, and the label's own rates
    if these are not shared) and shared numbers (the rates, or the centre of the
    labels' rates). Rates are half a logistic function, so they stay below one half.
    """

    def __init__(
        self, Z, Y, observed, structure, per_label, trusted=None, weights=None
    ):
        # Sums go down the columns, each of them in one piece then.
        Z, Y, observed = (np.asfortranarray(table) for table in (Z, Y, observed))
        self.Z, self.Y = Z, Y
        self.absent = (Y <= 0).astype(np.float64)
        self.weight = observed.astype(np.float64)
        if weights is not None:
            self.weight *= weights[:, np.newaxis]
        # What is trusted shows the true label, and what had been given there the rates.
        self.noisy, self.errors, self.checked = 1.0, None, None
        if trusted is not None:
            self.noisy = (~trusted.mask).astype(np.float64)
            self.errors, self.checked = trusted.counts(Y)
        self.slots = STRUCTURES[structure]
        self.n_rates = len({slot for slot in self.slots if slot is not None})
        self.per_label = per_label

    def rates(self, local, shared):
        """Rates per label and slot, each with its derivative."""
        t = local[:, 2:].T if self.per_label else shared[:, None]
        e = 0.5 * expit(t)
        return e, e * (1 - 2 * e)

    def pick(self, e):
        """Rates of missing and extra labels out of the free rates."""
        return [0.0 if slot is None else e[slot] for slot in self.slots]

    def curve(self, local, shared):
        with np.errstate(over="ignore"):
            # A third of the time of expit, and this is most of the work.
            sigma = 1 / (1 + np.exp(-local[:, 0] * self.Z - local[:, 1]))
        e, _ = self.rates(local, shared)
        missing, extra = (rate * self.noisy for rate in self.pick(e))
        p = extra + (1 - missing - extra) * sigma
        return sigma, np.clip(p, TINY, 1 - TINY)

    def log_likelihood(self, p):
        # Probability of what was given: p, or 1 - p where the label is absent.
        return np.einsum("ij,ij->j", self.weight, np.log(np.abs(p - self.absent)))

    def penalty(self, local, shared):
        e = 0.5 * expit(shared)
        total = -SLOPE_PRECISION / 2 * ((local[:, 0] - 1) ** 2).sum()
        total -= INTERCEPT_PRECISION / 2 * (local[:, 1] ** 2).sum()
        total += RATE_STRENGTH * np.log1p(-e).sum()
        if self.per_label:
            total -= ((local[:, 2:] - shared) ** 2).sum() / (2 * RATE_SPREAD**2)
        return total + self.found(local, shared)

    def found(self, local, shared):
        """Log-probability of what had been given where the truth is known."""
        if self.checked is None:
            return 0.0
        total, (e, _) = 0.0, self.rates(local, shared)
        for rate, m, n in zip(self.pick(e), self.errors, self.checked):
            total += (m * np.log(np.maximum(rate, LEAST_FOUND))).sum()
            total += ((n - m) * np.log1p(-rate)).sum()
        return total

    def add_found(self, e, slope_e, gradient, hessian):
        """The derivatives of the same, added per label."""
        for slot, m, n in zip(self.slots, self.errors, self.checked):
            if slot is None:
                continue
            rate, k = np.maximum(e[slot], TINY), 2 + slot
            m = np.where(rate > LEAST_FOUND, m, 0.0)
            gradient[:, k] += (m / rate - (n - m) / (1 - rate)) * slope_e[slot]
            curvature = m / rate**2 + (n - m) / (1 - rate) ** 2
            hessian[:, k, k] += curvature * slope_e[slot] ** 2

    def derivatives(self, local, shared, sigma, p):
        """Gradient and information: local blocks, cross blocks, shared block."""
        e, slope_e = self.rates(local, shared)
        missing, extra = (rate * self.noisy for rate in self.pick(e))
        info = self.weight / (p * (1 - p))
        residual = info * (self.Y - p)
        curve = (1 - missing - extra) * sigma * (1 - sigma)
        parts = [curve * self.Z, curve]
        for slot in range(self.n_rates):
            part = np.zeros_like(sigma)
            if self.slots[0] == slot:
                part -= sigma
            if self.slots[1] == slot:
                part += 1 - sigma
            parts.append(part * slope_e[slot] * self.noisy)
        gradient = np.stack([np.einsum("ij,ij->j", residual, d) for d in parts], 1)
        k = len(parts)
        hessian = np.empty((len(local), k, k))
        for a in range(k):
            weighted = info * parts[a]
            for b in range(a, k):
                hessian[:, a, b] = np.einsum("ij,ij->j", weighted, parts[b])
                hessian[:, b, a] = hessian[:, a, b]
        if self.checked is not None:
            self.add_found(e, slope_e, gradient, hessian)
        gradient[:, 0] -= SLOPE_PRECISION * (local[:, 0] - 1)
        gradient[:, 1] -= INTERCEPT_PRECISION * local[:, 1]
        hessian[:, 0, 0] += SLOPE_PRECISION
        hessian[:, 1, 1] += INTERCEPT_PRECISION
        return gradient, hessian

    def system(self, local, shared, sigma, p):
        """The same as an arrow: (local, cross, shared) blocks and gradients."""
        gradient, hessian = self.derivatives(local, shared, sigma, p)
        e = 0.5 * expit(shared)
        slope_e = e * (1 - 2 * e)
        prior = -RATE_STRENGTH * slope_e / (1 - e)
        prior_info = np.diag(RATE_STRENGTH * slope_e**2 / (1 - e) ** 2 + TINY)
        if not self.per_label:
            outer = prior_info + hessian[:, 2:, 2:].sum(axis=0)
            slope = prior + gradient[:, 2:].sum(axis=0)
            return gradient[:, :2], slope, hessian[:, :2, :2], hessian[:, :2, 2:], outer
        precision = 1 / RATE_SPREAD**2
        away = precision * (local[:, 2:] - shared)
        gradient[:, 2:] -= away
        index = np.arange(2, 2 + self.n_rates)
        hessian[:, index, index] += precision
        cross = np.zeros((len(local), 2 + self.n_rates, self.n_rates))
        cross[:, index, index - 2] = -precision
        outer = prior_info + len(local) * precision * np.eye(self.n_rates)
        return gradient, prior + away.sum(axis=0), hessian, cross, outer


def _arrow_step(system, damping, pinned):
    """Solve the damped arrow system; slopes pinned at zero stay there."""
    g_local, g_shared, H, cross, outer = system
    H = H + damping * np.einsum("jkk->jk", H)[:, :, None] * np.eye(H.shape[1])
    cross, g_local = cross.copy(), g_local.copy()
    H[pinned, 0, :], H[pinned, :, 0] = 0.0, 0.0
    H[pinned, 0, 0] = 1.0
    cross[pinned, 0], g_local[pinned, 0] = 0.0, 0.0
    outer = outer * (1 + damping * np.eye(len(outer)))
    solved = np.linalg.solve(H, np.concatenate([g_local[:, :, None], cross], axis=2))
    to_gradient, to_cross = solved[:, :, 0], solved[:, :, 1:]
    if len(outer):
        schur = outer - np.einsum("jkr,jks->rs", cross, to_cross)
        right = g_shared - np.einsum("jkr,jk->r", cross, to_gradient)
        step = np.linalg.solve(schur, right)
        return to_gradient - to_cross @ step, step
    return to_gradient, np.zeros(0)


def fit_noise(
    Z,
    Y,
    observed,
    structure,
    *,
    trusted=None,
    per_label=False,
    start=None,
    weights=None,
    max_iter=100,
    tol=1e-2,
):
    """Fit one noise structure by damped Fisher scoring.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_labels)
        Standardised out-of-sample scores.
    Y, observed : ndarray of shape (n_samples, n_labels)
        Given labels, and which of them were observed.
    structure : str
        A key of `STRUCTURES`.
    trusted : Trusted, default=None
        Entries that are known to be right.
    per_label : bool, default=False
        Whether each label has its own rates, drawn around shared ones.
    start : NoiseFit, default=None
        Where slopes, intercepts and rates begin.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.
    max_iter : int, default=100
        Most steps.
    tol : float, default=1e-2
        Stop when a step gains less than this in log-likelihood, of which kinds of
        noise are told apart by units.

    Returns
    -------
    NoiseFit
        The fit.

    Notes
    -----
    ``P(given = 1) = e1 + (1 - e0 - e1) sigmoid(a_j z + b_j)`` with ``a_j >= 0``. A
    trusted entry has the probability of its true label, ``sigmoid(a_j z + b_j)``, times
    that of what had been given, if it is known. Which entries were looked at may depend
    on scores and given labels: that does not bias the fit. Time O(n q) per step.
    """
    problem = _Problem(Z, Y, observed, structure, per_label, trusted, weights)
    local, shared = _start(problem, Y, observed, start)
    sigma, p = problem.curve(local, shared)
    objective = problem.log_likelihood(p).sum() + problem.penalty(local, shared)
    damping = 1e-3
    for _ in range(max_iter):
        system = problem.system(local, shared, sigma, p)
        pinned = (local[:, 0] <= 0) & (system[0][:, 0] < 0)
        gain = -np.inf
        while gain < 0 and damping < 1e8:
            d_local, d_shared = _arrow_step(system, damping, pinned)
            new_local, new_shared = local + d_local, shared + d_shared
            new_local[:, 0] = np.maximum(new_local[:, 0], 0)
            new_sigma, new_p = problem.curve(new_local, new_shared)
            value = problem.log_likelihood(new_p).sum()
            gain = value + problem.penalty(new_local, new_shared) - objective
            damping = damping / 5 if gain >= 0 else max(damping * 8, 1e-4)
        if gain < 0:
            break
        local, shared, sigma, p = new_local, new_shared, new_sigma, new_p
        objective += gain
        damping = max(damping, 1e-6)
        if gain < tol:
            break
    return _result(problem, local, shared, sigma, p, objective)


def _start(problem, Y, observed, start):
    n_labels = Y.shape[1]
    logit = np.log(2 * FIRST_RATE / (1 - 2 * FIRST_RATE))
    shared = np.full(problem.n_rates, logit)
    if start is None:
        counts = np.maximum(observed.sum(axis=0), 1)
        share = np.clip((Y * observed).sum(axis=0) / counts, 0.01, 0.99)
        slope, intercept = np.ones(n_labels), np.log(share / (1 - share))
    else:
        slope, intercept = start.slope, start.intercept
        for rate, slot in zip((start.missing, start.extra), problem.slots):
            if slot is not None and rate.mean() > 0:
                e = np.clip(rate.mean(), 1e-3, 0.45)
                shared[slot] = np.log(2 * e / (1 - 2 * e))
    local = np.column_stack([slope, intercept])
    if problem.per_label:
        local = np.hstack([local, np.tile(shared, (n_labels, 1))])
    return local, shared


def _result(problem, local, shared, sigma, p, objective):
    n_labels = len(local)
    missing, extra = (
        np.broadcast_to(rate, n_labels).copy()
        for rate in problem.pick(problem.rates(local, shared)[0])
    )
    complexity = 0.0
    if problem.per_label:
        _, hessian = problem.derivatives(local, shared, sigma, p)
        # The precision of a label's rates once its curve is integrated out.
        H, cross = hessian[:, :2, :2], hessian[:, :2, 2:]
        own = hessian[:, 2:, 2:] - cross.transpose(0, 2, 1) @ np.linalg.solve(H, cross)
        ratio = np.eye(problem.n_rates) + RATE_SPREAD**2 * own
        complexity = float(np.linalg.slogdet(ratio)[1].sum() / 2)
    return NoiseFit(
        slope=local[:, 0],
        intercept=local[:, 1],
        missing=missing,
        extra=extra,
        objective=float(objective),
        log_likelihood=problem.log_likelihood(p),
        complexity=complexity,
    )
