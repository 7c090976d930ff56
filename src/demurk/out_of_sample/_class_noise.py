"""Which classes are given for which: a model of wrong classes, one class per sample."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np

__all__ = ["FORMS", "ClassNoise", "fit_class_noise", "mean_noise"]

FORMS = ("none", "symmetric", "matrix")
FLOOR = 1e-4
MAX_RATE = 0.6
# Probabilities of ensembles are flatter than the truth: the log of their slope is drawn
# around 1, slopes of single classes around that, and offsets around 0.
SLOPE_MEAN, SLOPE_SPREAD, CLASS_SPREAD, OFFSET_SPREAD = 1.0, 0.3, 0.5, 1.0
# Most classes are confused with few others: so much is taken from the expected counts
# of a free matrix, but for the diagonal, to which something is added. What is left of a
# rate is no smaller than the last number.
FEWER, KEPT, LEAST_RATE = 0.3, 0.02, 3e-4
# People err too: an error that they found where there should be none is only this
# unlikely.
LEAST_FOUND = 1e-4


@dataclass(frozen=True, eq=False)
class ClassNoise:
    """Sharpened probabilities of the true class, and what each class is given as.

    Attributes
    ----------
    form : {"none", "symmetric", "matrix"}
        No class is wrong; one rate and any other class alike; a free matrix.
    slope, offset : ndarray of shape (n_classes,)
        ``p = softmax(slope log Q + offset)`` is the distribution of the true class,
        with Q the probabilities after `mixing` is undone.
    matrix : ndarray of shape (n_classes, n_classes)
        Row c is the distribution of what class c is given as.
    mixing : ndarray of shape (n_classes, n_classes)
        A first estimate of it.
    objective : float
        Penalised log-likelihood.
    """

    form: str
    slope: np.ndarray
    offset: np.ndarray
    matrix: np.ndarray
    mixing: np.ndarray
    objective: float

    def true_proba(self, P):
        """Distribution of the true class, shape (n_samples, n_classes)."""
        logs = np.log(_unmixed(P, self.mixing))
        return _softmax(self.slope * logs + self.offset)

    def posterior(self, P, given, known=None):
        """The same, once the given class is known."""
        joint = self.true_proba(P) * _chances(self.matrix, given, known)
        return joint / joint.sum(axis=1, keepdims=True)

    def left_out_log_likelihood(self, P, given, known=None):
        """Log-probability of each given class, had its row not told of the noise.

        Parameters
        ----------
        P : ndarray of shape (n_samples, n_classes)
            The probabilities that were fitted.
        given, known : ndarray of int of shape (n_samples,)
            The classes that were fitted.

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
            The curve is that of all rows; the matrix is made again from the expected
            counts without the row's own shares, in closed form.
        """
        p = self.true_proba(P)
        chances = _chances(self.matrix, given, known)
        if self.form != "none":
            shares = p * chances
            shares /= shares.sum(axis=1, keepdims=True)
            left_out = {"symmetric": _left_out_rate, "matrix": _left_out_matrix}
            chances = left_out[self.form](shares, given)
            chances = _told(chances, given, known)
        return np.log((p * chances).sum(axis=1))

    def rate(self, P):
        """Expected share of samples of this kind with a wrong class."""
        return float((self.true_proba(P) @ (1 - np.diag(self.matrix))).mean())


def fit_class_noise(P, given, form, *, rate=None, known=None, max_iter=100, tol=0.05):
    """Fit one form by expectation-maximisation, with Newton steps for the slopes.

    The probabilities were learned from the given classes: of a class that is given as
    another in one of five rows, they leave a fifth to that one. A slope cannot tell
    this from classes that overlap. So the noise of a first fit is undone in them before
    the second.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_classes)
        Probabilities made without the row they are for.
    given : ndarray of int of shape (n_samples,)
        Given classes; -1 where the true one is known instead.
    form : str
        One of `FORMS`.
    rate : float, default=None
        A known rate of symmetric noise.
    known : ndarray of int of shape (n_samples,), default=None
        True classes, -1 where they are not known.
    max_iter : int, default=100
        Most steps.
    tol : float, default=0.05
        Stop when a step gains less than this in log-likelihood.

    Returns
    -------
    ClassNoise
        The fit.
    """
    mixing = np.eye(P.shape[1])
    for _ in range(1 if form == "none" else 2):
        problem = _Problem(_unmixed(P, mixing), given, form, rate, known)
        x, matrix, value = _climb(problem, max_iter, tol)
        slope, offset = problem.curve(x)
        fit = ClassNoise(form, slope, offset, matrix, mixing, float(value))
        mixing = matrix
    return fit


def mean_noise(symmetric, matrix, share):
    """What lies between two fits.

    Parameters
    ----------
    symmetric, matrix : ClassNoise
        The fits.
    share : float
        How much the second counts, between 0 and 1.

    Returns
    -------
    ClassNoise
        The mean of matrices and offsets, the geometric one of slopes; the form is that
        of the fit that counts more.
    """

    def mean(name):
        return (1 - share) * getattr(symmetric, name) + share * getattr(matrix, name)

    return ClassNoise(
        (matrix if share >= 0.5 else symmetric).form,
        symmetric.slope ** (1 - share) * matrix.slope**share,
        mean("offset"),
        mean("matrix"),
        mean("mixing"),
        mean("objective"),
    )


def _climb(problem, max_iter, tol):
    """Steps up to where one gains less than tol."""
    x, matrix = problem.start()
    value, p, shares = problem.evaluate(x, matrix)
    for _ in range(max_iter):
        step = problem.newton_step(x, p, shares)
        matrix = problem.new_matrix(shares, matrix)
        for _ in range(8):
            new, new_p, new_shares = problem.evaluate(x + step, matrix)
            if new >= value:
                break
            step = step / 2
        gain = new - value
        if gain < 0:
            break
        x, value, p, shares = x + step, new, new_p, new_shares
        if gain < tol:
            break
    return x, matrix, value


class _Problem:
    """Likelihood and priors of one form; x = (log slope, class deviations, offsets)."""

    def __init__(self, P, given, form, rate=None, known=None):
        self.log_P, self.given, self.known = np.log(P), given, known
        self.form, self.rate = form, rate
        self.q = q = P.shape[1]
        self.one_hot = _one_hot(given, q)
        self.center = np.r_[SLOPE_MEAN, np.zeros(2 * q)]
        spreads = (SLOPE_SPREAD, CLASS_SPREAD, OFFSET_SPREAD)
        self.precision = np.repeat(spreads, (1, q, q)) ** -2.0
        self.seen_before = _seen_before(q)

    def start(self):
        """Slopes as steep as without noise: so noise is looked for before overlap."""
        if self.form == "none":
            return self.center.copy(), np.eye(self.q)
        rate = 0.1 if self.rate is None else self.rate
        return self.center.copy(), self.symmetric(rate)

    def symmetric(self, rate):
        matrix = np.full((self.q, self.q), rate / (self.q - 1))
        np.fill_diagonal(matrix, 1 - rate)
        return matrix

    def curve(self, x):
        return np.exp(x[0] + x[1 : 1 + self.q]), x[1 + self.q :]

    def evaluate(self, x, matrix):
        """Objective, p, and the shares of the true classes in each row."""
        slope, offset = self.curve(x)
        p = _softmax(slope * self.log_P + offset)
        joint = p * _chances(matrix, self.given, self.known)
        # A class that cannot be: as unlikely as a number can say.
        total = np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        value = np.log(total).sum()
        value -= (self.precision * (x - self.center) ** 2).sum() / 2
        return value + self.matrix_prior(matrix), p, joint / total

    def matrix_prior(self, matrix):
        if self.form != "matrix":
            return 0.0
        return (self.seen_before * np.log(matrix)).sum()

    def gradient(self, x, p, shares):
        """With respect to x."""
        slope, _ = self.curve(x)
        rest = shares - p
        by_class = (rest * self.log_P).sum(axis=0) * slope
        gradient = np.r_[by_class.sum(), by_class, rest.sum(axis=0)]
        return gradient - self.precision * (x - self.center)

    def newton_step(self, x, p, shares):
        """A Fisher scoring step with the shares held, no longer than one."""
        slope, _ = self.curve(x)
        scaled = slope * self.log_P
        weighted = p * scaled
        slopes = np.diag((weighted * scaled).sum(axis=0)) - weighted.T @ weighted
        both = np.diag(weighted.sum(axis=0)) - weighted.T @ p
        offsets = np.diag(p.sum(axis=0)) - p.T @ p
        parts = np.block([[slopes, both], [both.T, offsets]])
        # The common slope moves the slopes of all classes.
        common = parts[:, : self.q].sum(axis=1)
        information = np.empty((1 + 2 * self.q,) * 2)
        information[0, 0] = common[: self.q].sum()
        information[0, 1:] = information[1:, 0] = common
        information[1:, 1:] = parts
        information[np.diag_indices(len(information))] += self.precision
        step = np.linalg.solve(information, self.gradient(x, p, shares))
        return step / max(1.0, np.abs(step).max())

    def new_matrix(self, shares, matrix):
        """The matrix that fits the shares best."""
        if self.form == "none" or self.rate is not None:
            return matrix
        if self.form == "symmetric":
            kept, n_given = (shares * self.one_hot).sum(), self.one_hot.sum()
            rate = 1 - kept / max(n_given, 1)
            return self.symmetric(min(max(rate, LEAST_RATE), MAX_RATE))
        counts = np.maximum(shares.T @ self.one_hot + self.seen_before, 0)
        matrix = counts / counts.sum(axis=1, keepdims=True)
        return (1 - self.q * LEAST_RATE) * matrix + LEAST_RATE


def _chances(matrix, given, known):
    """Chance of what was given by true class; a known one leaves no other."""
    return _told(matrix.T[given], given, known)


def _told(chances, given, known):
    """The same from the chances that nobody knows more about."""
    if known is None:
        return chances
    rows = np.flatnonzero(known >= 0)
    true = known[rows]
    found = np.where(given[rows] < 0, 1.0, np.maximum(chances[rows, true], LEAST_FOUND))
    chances[rows] = 0.0
    chances[rows, true] = found
    return chances


def _left_out_rate(shares, given):
    """Chances of what was given under the rate that the other rows have."""
    n_rows, q = shares.shape
    own = np.where(given < 0, 0.0, shares[np.arange(n_rows), given])
    others = np.maximum(np.count_nonzero(given >= 0) - (given >= 0), 1)
    rate = np.clip(1 - (own.sum() - own) / others, LEAST_RATE, MAX_RATE)
    chances = np.repeat(rate[:, np.newaxis] / (q - 1), q, axis=1)
    chances[np.arange(n_rows), given] = 1 - rate
    return chances


def _left_out_matrix(shares, given):
    """The same under the matrix that the other rows make."""
    q = shares.shape[1]
    counts = shares.T @ _one_hot(given, q) + _seen_before(q)
    kept = np.maximum(counts, 0)
    own = np.where(given < 0, 0.0, 1.0)[:, np.newaxis] * shares
    others = np.maximum(counts.T[given] - own, 0)
    total = kept.sum(axis=1) - kept.T[given] + others
    chances = others / np.maximum(total, LEAST_RATE)
    return (1 - q * LEAST_RATE) * chances + LEAST_RATE


def _one_hot(given, n_classes):
    """Rows of zeros where nothing was given."""
    one_hot = np.zeros((len(given), n_classes))
    one_hot[np.arange(len(given)), given] = given >= 0
    return one_hot


def _seen_before(n_classes):
    """What is added to the expected counts of a free matrix."""
    return np.where(np.eye(n_classes), KEPT, -FEWER)


def _unmixed(P, mixing):
    """One step of unfolding: the classes behind those that P speaks of."""
    P = np.maximum(P, FLOOR)
    P = P / P.sum(axis=1, keepdims=True)
    P = P * ((P / (P @ mixing)) @ mixing.T)
    return np.maximum(P, FLOOR)


def _softmax(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
