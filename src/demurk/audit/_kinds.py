"""Which kind of noise the given labels show, and how sure that is."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from functools import partial

import numpy as np

from demurk.audit._noise_model import NoiseFit, fit_noise, wrong_probability

__all__ = ["Choice", "choose_kind", "sharpness"]

# Log-prior of each structure, and of rates that differ between labels. The penalties
# and limits below were set on emotions, scene, yeast and medical (6 splits each). A
# mixture imitates every kind, and must explain much more than that: with -4, flips on
# medical and enron were taken for one.
LOG_PRIOR = {"symmetric": 0.0, "extra": -3.0, "missing": -3.0, "mixed": -9.0}
PER_LABEL_LOG_PRIOR = -3.0
# Errors on ambiguous samples look like missing labels to the model. It then claims
# many errors, but can neither point at them nor explain much by them.
LEAST_SHARPNESS = 0.3
LEAST_GAIN = 0.015  # log-likelihood per missing label claimed
# Rates are sought below one half; one that ran to that edge was not found.
LARGEST_RATE = 0.45
SURE_SHARPNESS = 0.4
SURE_GAP = 5.0
SMALLEST_SHARE = 0.005


@dataclass(frozen=True)
class Choice:
    """The noise structure chosen for the given labels.

    Attributes
    ----------
    noise : str
        "symmetric", "extra", "missing", "mixed" or "none".
    sure : bool
        Whether the evidence sets this kind clearly apart from the others.
    estimated : bool
        Whether its rates are large enough to order entries by them.
    per_label : bool
        Whether each label has its own rates.
    evidence : dict of str to float
        Penalised log-likelihood of each kind above that of no noise.
    fit : NoiseFit
        The fitted structure.
    plain : NoiseFit
        The fit without noise.
    """

    noise: str
    sure: bool
    estimated: bool
    per_label: bool
    evidence: dict
    fit: NoiseFit
    plain: NoiseFit


def sharpness(wrong):
    """How well a model points at the errors it claims: their expected precision.

    Parameters
    ----------
    wrong : ndarray
        Probabilities of being wrong.

    Returns
    -------
    sharpness : float
        Mean probability of being wrong, over entries drawn with that probability.
    """
    total = wrong.sum()
    return float((wrong**2).sum() / total) if total > 0 else 0.0


def choose_kind(Z, Y, observed, noise="auto", rates="auto", trusted=None, weights=None):
    """Fit the noise structures and pick one.

    Parameters
    ----------
    Z : ndarray of shape (n_samples, n_labels)
        Standardised out-of-sample scores.
    Y, observed : ndarray of shape (n_samples, n_labels)
        Given labels, and which of them were observed.
    noise : str, default="auto"
        A structure, or "auto" to compare them.
    rates : {"auto", "shared", "per_label"}, default="auto"
        Whether all labels share their rates.
    trusted : Trusted, default=None
        Entries that are known to be right.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts in the fits.

    Returns
    -------
    Choice
        The structure, its fit and the evidence.
    """
    fitted = partial(fit_noise, Z, Y, observed, trusted=trusted, weights=weights)
    plain = fitted("none")
    if noise == "none":
        return Choice("none", True, False, False, {"none": 0.0}, plain, plain)
    kinds = list(LOG_PRIOR) if noise == "auto" else [noise]
    fits = _shared_fits(fitted, kinds, plain)
    best = {}
    for name, shared in fits.items():
        options = [] if rates == "per_label" else [(shared, False)]
        if rates != "shared" and (Y.shape[1] > 1 or rates == "per_label"):
            own = fitted(name, per_label=True, start=shared)
            options.append((own, True))
        best[name] = max(options, key=lambda option: _evidence(name, *option))
    evidence = {
        name: _evidence(name, *option) - plain.objective
        for name, option in best.items()
    }
    evidence["none"] = 0.0
    wrong = {
        name: _wrong(fit, Z, Y, trusted)[observed] for name, (fit, _) in best.items()
    }
    sharp = {name: sharpness(values) for name, values in wrong.items()}
    name = noise
    if noise == "auto":
        found = {
            k: s for k, s in sharp.items() if _largest_rate(best[k]) < LARGEST_RATE
        }
        given = Y if trusted is None else np.where(trusted.wrong(Y), 1 - Y, Y)
        name = _pick(evidence, found, wrong, given[observed])
    fit, own = best[name]
    one_sided = name in ("extra", "missing")
    estimated = one_sided or wrong[name].mean() >= SMALLEST_SHARE
    sure = noise != "auto" or _is_sure(name, evidence, sharp, estimated)
    if noise == "auto" and not estimated:
        name = "none"
    return Choice(name, sure, estimated, own, evidence, fit, plain)


def _pick(evidence, sharp, wrong, given):
    """The best explanation among those that can be believed."""
    possible = ["symmetric"]
    for name in sharp:
        claimed = wrong[name].sum()
        mostly_missing = wrong[name][given == 0].sum() > claimed / 2
        gain = evidence[name] - LOG_PRIOR[name]
        poor = mostly_missing and gain < LEAST_GAIN * claimed
        if name != "symmetric" and sharp[name] >= LEAST_SHARPNESS and not poor:
            possible.append(name)
    return max(possible, key=evidence.get)


def _is_sure(name, evidence, sharp, estimated):
    """Whether no other kind that would mix the two lists differently comes near."""
    one_sided = {"extra", "missing"}
    if not estimated:
        return all(evidence[kind] <= 0 for kind in one_sided)
    # Symmetric noise and none rank alike, and a mixture can imitate every kind.
    rivals = one_sided if name in ("symmetric", "mixed") else {*evidence} - {"mixed"}
    gap = evidence[name] - max(evidence[rival] for rival in rivals - {name})
    sharp_enough = name not in one_sided or sharp[name] >= SURE_SHARPNESS
    return bool(gap >= SURE_GAP and sharp_enough)


def _shared_fits(fitted, kinds, plain):
    fits = {}
    for name in kinds:
        starts = [plain]
        if name == "mixed" and fits:
            # The likelihood of a mixture has several hills: also start at the best.
            starts.append(max(fits.values(), key=lambda fit: fit.objective))
        options = [fitted(name, start=start) for start in starts]
        fits[name] = max(options, key=lambda fit: fit.objective)
    return fits


def _evidence(name, fit, per_label):
    own = PER_LABEL_LOG_PRIOR - fit.complexity if per_label else 0.0
    return fit.objective + LOG_PRIOR[name] + own


def _largest_rate(option):
    fit, _ = option
    return max(fit.missing.mean(), fit.extra.mean())


def _wrong(fit, Z, Y, trusted):
    """Probability that each entry was given wrongly, before somebody looked."""
    wrong = wrong_probability(fit.probabilities(Z), Y, fit.missing, fit.extra)
    if trusted is None:
        return wrong
    return np.where(trusted.mask, trusted.wrong(Y), wrong)
