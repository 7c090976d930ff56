"""Which form of noise explains the given classes, if any; one class per sample."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit

from demurk.out_of_sample._class_noise import (
    FORMS,
    ClassNoise,
    fit_class_noise,
    mean_noise,
)

__all__ = ["ClassNoiseChoice", "choose_class_noise"]

# What a matrix must win by over no noise; and any noise, for each row above 300: the
# tails of p are not perfect, which many rows can tell.
MARGIN, MARGIN_PER_ROW, FREE_ROWS = 2.0, 0.01, 300
# Between one rate and a matrix the evidence of few rows leaves doubt: both count, by a
# logistic function of it with this middle and slope, which were chosen on glass,
# vehicle and libras with seeds that no protocol uses. Less than the last number, or
# more than all but it, is none or all.
EVEN, STEEPNESS, LEAST_SHARE = 3.0, 0.7, 1e-3
# Less than this is nearly clean, and what it flags is mostly right.
SMALLEST_RATE = 0.02
# Probabilities that are less than so many standard errors above the frequencies of the
# given classes can judge no row. And noise is believed only if it can be pointed at: so
# much of the variance of what is wrong must be told. Random classes reach .7 of the
# first; nine sets with noise reach 3.1 and .45 at least. Clean classes that overlap
# mostly stay below .4 of the second, but not always: with 200 rows they reach .6.
LEAST_GAIN, LEAST_POINTED = 2.0, 0.4


@dataclass(frozen=True, eq=False)
class ClassNoiseChoice:
    """What explains the given classes best.

    Attributes
    ----------
    fit, plain : ClassNoise
        One rate and a matrix as far as each explains them, or one form if it was asked
        for or there is no noise; and the fit without noise.
    evidence : dict of str to float
        Leave-one-out log-likelihood under each form, above that of "none".
    share : float or None
        How much of the noise is that of a free matrix, the rest having one rate; None
        if that was not weighed.
    telling : bool
        Whether the probabilities say more of the given classes than their frequencies.
        If not, no noise is found.
    """

    fit: ClassNoise
    plain: ClassNoise
    evidence: dict
    share: float | None = None
    telling: bool = True


def choose_class_noise(P, given, noise="auto", rate=None, known=None, share=None):
    """Fit the forms of noise, and weigh them by leaving rows out.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_classes)
        Probabilities made without the row they are for.
    given : ndarray of int of shape (n_samples,)
        Given classes; -1 where the true one is known instead.
    noise : {"auto", "none", "symmetric", "matrix"}, default="auto"
        The form, if it is known.
    rate : float, default=None
        The rate, if it is known; the form is then "symmetric".
    known : ndarray of int of shape (n_samples,), default=None
        True classes, -1 where they are not known.
    share : float, default=None
        How much of the noise is that of a free matrix, if that was weighed before.

    Returns
    -------
    ClassNoiseChoice
        The fits and the evidence.

    Notes
    -----
    Between one rate and a matrix nothing is chosen: both count by their evidence.

    Time O(n q^2) a step and some 20 steps a fit, of which there are five; memory
    O(n q). Fits to five folds instead of expected counts without a row are five times
    as many, and with few rows of many classes they know too little of the matrix.
    """
    fitted = partial(fit_class_noise, P, given, known=known)
    plain = fitted("none")
    if P.shape[1] < 2:
        return ClassNoiseChoice(plain, plain, {"none": 0.0})
    if rate is not None:
        fit = fitted("symmetric", rate=rate)
        return ClassNoiseChoice(fit, plain, {"none": 0.0})
    told = given if known is None else np.where(given < 0, known, given)
    right = given if known is None else np.where(known < 0, given, known)
    if not _tell(plain.true_proba(P), right):
        return ClassNoiseChoice(plain, plain, {"none": 0.0}, telling=False)
    if share is not None:
        return ClassNoiseChoice(_weighed(fitted, share), plain, {"none": 0.0}, share)
    if noise != "auto":
        fit = plain if noise == "none" else fitted(noise)
        return ClassNoiseChoice(fit, plain, {"none": 0.0})
    fits = {form: plain if form == "none" else fitted(form) for form in FORMS}
    evidence = {
        form: float(fit.left_out_log_likelihood(P, given, known).sum())
        for form, fit in fits.items()
    }
    evidence = {form: value - evidence["none"] for form, value in evidence.items()}
    above = evidence["matrix"] - evidence["symmetric"] - EVEN
    share = float(expit(STEEPNESS * above))
    fit = _weighed(fits.get, share) if _noisy(evidence, len(P)) else plain
    if not _believable(fit, P, given, known, told):
        fit = plain
    return ClassNoiseChoice(fit, plain, evidence, share)


def _weighed(fitted, share):
    """One rate, a matrix, or what lies between them."""
    if share < LEAST_SHARE:
        return fitted("symmetric")
    if share > 1 - LEAST_SHARE:
        return fitted("matrix")
    return mean_noise(fitted("symmetric"), fitted("matrix"), share)


def _tell(p, given):
    """Whether probabilities say more of the given classes than their frequencies."""
    shares = np.bincount(given, minlength=p.shape[1]) / len(given)
    gain = np.log(p[np.arange(len(p)), given] / shares[given])
    return bool(gain.mean() > LEAST_GAIN * gain.std() / np.sqrt(len(gain)))


def _believable(fit, P, given, known, told):
    """Whether there is more than next to no noise, and it can be pointed at."""
    wrong = 1 - fit.posterior(P, given, known)[np.arange(len(P)), told]
    rate = wrong.mean()
    pointed = wrong.var() >= LEAST_POINTED * rate * (1 - rate)
    return bool(fit.rate(P) >= SMALLEST_RATE and pointed)


def _noisy(evidence, n_rows):
    """Whether one rate, or a matrix, explains the given classes better than none."""
    bar = MARGIN_PER_ROW * max(n_rows - FREE_ROWS, 0)
    return evidence["symmetric"] > bar or evidence["matrix"] > bar + MARGIN
