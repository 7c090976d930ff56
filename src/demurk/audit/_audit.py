"""Which given labels are probably wrong, and which are missing."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from demurk.audit._annotated import judge_people, people_reasons
from demurk.audit._class_members import CLASS_MEMBERS, ClassMembers
from demurk.audit._classes import audit_classes, class_message, class_suspects
from demurk.audit._entries import check_proba, corrected_classes, corrected_values
from demurk.audit._kinds import choose_kind
from demurk.audit._noise_model import standardized, wrong_probability
from demurk.audit._other_labels import add_other_labels
from demurk.audit._probabilities import (
    MEMBERS,
    out_of_sample_proba,
    scaled_features,
)
from demurk.audit._suspects import Evidence, list_lengths, suspect_frame, top_entries
from demurk.audit._trusted import check_trusted
from demurk.audit._words import UnknownRateWarning, audit_message
from demurk.base import DemurkEstimator
from demurk.labels import check_labels
from demurk.labels._form import LabelForm, frame_index
from demurk.out_of_sample import label_means, matrix_threads
from demurk.utils._annotated import is_annotated
from demurk.utils._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress
from demurk.utils._weights import weighted_rows

__all__ = ["LabelAudit"]

# Breaks ties of P(wrong) by how unlikely the given label is.
TIE_WEIGHT = 1e-3
# What cannot be wrong if the user says so.
IMPOSSIBLE = {"missing": 1, "extra": 0}


class LabelAudit(CallbackSupportMixin, DemurkEstimator):
    """Find the given labels that are probably wrong, and those that are missing.

    Every entry of a label matrix, or the class of every row, is predicted without
    itself. A small model of the noise then says how much of which kind there is, and
    how probable it is that each is wrong.

    Read more in the :ref:`User Guide <label_audit>`.

    Parameters
    ----------
    noise : {"auto", "symmetric", "extra", "missing", "none"}, default="auto"
        What may be wrong: any entry, only labels that were given, only labels that
        were not. "auto" finds out; say it if you know it. "none" makes no assumption
        and ranks entries by how unlikely the given label is: the safe choice where
        errors sit on ambiguous samples. With one class per sample, "symmetric" means
        that any other class is given alike, and "extra" and "missing" do not apply.
    rates : {"auto", "shared", "per_label"}, default="auto"
        Whether all labels share their noise rates, or each has its own, drawn towards
        the shared ones; "auto" takes what explains the labels better. Not used with
        one class per sample.
    n_estimators : int, default=None
        Trees of each forest; None for 60 with several labels, 100 (up to 200 in small
        tables) with one class per sample, and the default of Consensus with what
        several people said.
    n_jobs : int, default=None
        Threads; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the forest.

    Attributes
    ----------
    scores_ : ndarray of shape (n_samples, n_labels) or (n_samples,)
        How suspect each entry is, or each row of a 1-D y; NaN where nothing was
        observed or what was is trusted.
    wrong_proba_ : ndarray of shape (n_samples, n_labels) or (n_samples,)
        Probability that the entry, or the class of the row, is wrong; NaN where nothing
        was observed. If `noise_` is "ambiguous", the probability that two labels given
        afresh would both differ from it.
    label_distributions_ : ndarray of shape (n_samples, n_labels)
        Probability of the true label given the entry: ``y + P(wrong) (1 - 2 y)``. Of a
        1-D y, the distribution of the true class; rows sum to one.
    noise_matrix_ : ndarray of shape (n_classes, n_classes)
        Only of a 1-D y: row c is the distribution of what class c was given as.
    noise_rates_ : dict of str to ndarray of shape (n_labels,)
        "extra": how often an absent label was given, e1; "missing": how often
        a present label was not given, e0.
    noise_ : str
        "symmetric", "extra", "missing", "mixed" (both, at different rates),
        "none" (no noise assumed or found), or "uncertain": two explanations are nearly
        as good, and they order the two lists of suspects differently. Of a 1-D y,
        "symmetric" (any other class alike), "matrix" (certain others, see
        `noise_matrix_`), "ambiguous" (classes overlap, or errors sit on ambiguous
        rows; how many are wrong cannot be told) or "none".
    evidence_ : dict of str to float
        Penalised log-likelihood of each kind above that of no noise. A difference of 5
        or more counts as clear. Of a 1-D y, leave-one-out log-likelihood.
    rates_ : {"shared", "per_label"}
        Whether the labels have their own rates.
    estimated_ : bool
        Whether a noise rate is known. Without one, entries are ranked by how unlikely
        the given label is, and nothing is corrected.
    n_suspects_ : int
        Expected number of wrong entries, or rows of a 1-D y; if `noise_` is
        "ambiguous", rows where another class is likelier.
    message_ : str
        The result in a sentence or two.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    demurk.multilabel.MurkyClassifier : Learns from such labels without editing them.
    demurk.propagation.NoisyLabelPropagation : Corrects and completes labels at once.

    Notes
    -----
    1. An out-of-bag forest and leave-one-out kernel ridge regression are weighed by how
       well each predicts labels it has not seen, halfway to equal weights.
    2. Per label, a leave-one-out ridge regression adds the other labels of the row,
       where that predicts better.
    3. ``P(given = 1) = e1 + (1 - e0 - e1) sigmoid(a_j z_ij + b_j)`` with z the
       standardised scores is fitted for each kind of noise, by penalised likelihood.
    4. Bayes' rule turns the best fit into the probability that an entry is wrong.

    One class per sample: in 1 there are two forests, which see principal components
    beside the features, a Laplacian kernel, and a Gaussian one of directions in units
    of how much they vary inside the given classes; all count alike. 2 is left out, and
    in 3 ``P(given = j) = sum_c p_c T[c, j]`` with ``p = softmax(a_c log Q_c + b_c)``
    and Q the probabilities after a first estimate of T is undone in them. Leaving each
    row out, in closed form, chooses whether T is the identity, has one rate, or is
    free. If there is a rate, all members look once more (with 60 trees for 100; up to
    50,000 rows), each row counting as its class seems right, and T and 4 are computed
    again from old and new scores, of which the new ones count twice. If T is the
    identity and p is very flat, or flat and swapped ambiguous rows explain the given
    classes better than p alone, errors are suspected there. For the final order members
    are weighed by how well each predicts the given classes, and beside them Gaussians
    of the classes, each with its own scatter drawn to the common one and out of five
    folds; these have a fifth of the weight at most. Rows are ordered by how much
    likelier another class is than the given one.

    Rates of single labels are drawn around the shared one, ``logit e_j ~ N(m, 1)``, and
    used if they gain more than their Laplace cost and 3. On emotions, scene, yeast and
    medical (24 runs each) that raised the average precision of the ranking from .65 to
    .72 where rates differ between labels, and took .000 and .009 from it under
    symmetric and extra noise with equal rates.

    Inside each list of suspects, and for one label, the order does not depend on the
    kind of noise: only how the two lists are mixed does. Errors on ambiguous samples
    look like missing labels to this model. A kind other than "symmetric" is therefore
    believed only if it can point at its errors (the mean of P(wrong), weighted by
    itself, reaches 0.3; and 0.4 for a one-sided kind to be called certain) and missing
    labels only if they gain 0.015 of log-likelihood each. In the same runs with errors
    on ambiguous samples, "missing" was then chosen 0 times of 24 instead of 13, and the
    average precision rose from .36 to .68; with labels missing at random it was still
    chosen 23 times of 24. Where this happens `noise_` is "uncertain". A kind whose rate
    ran to the edge of its range (0.45 of 0.5) is not believed either.

    If the labels seem nearly clean (less than 0.5 % wrong, 2 % of a 1-D y) the ranking
    is that of "none", with a warning. With few labelled rows (below about 300) rates
    come out too small: use the order, not the count.

    A forest trained on edited labels is not better than one trained on the given ones;
    use the rates to move its threshold to ``e1 + (1 - e0 - e1) / 2`` instead. Nearest
    neighbour methods gain from `label_distributions_`.

    Time: a forest of 60 trees, or 320 trees for one class per sample; O(n^2 D + n^3)
    for the kernel with n labelled rows, or O(n (D + 600) 600) above 600 of them, 2,000
    with one class per sample; O(n q^2 + q^3) for the other labels (200 of them at most;
    as much again for each label that some rows lack) and O(n q) per step of the noise
    model. Memory O(n^2) up to as many rows, else O(600 n), and O(n (D + q)): of the
    forest only the votes are kept.

    Examples
    --------
    >>> from demurk.audit import LabelAudit
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import flip_labels
    >>> toy = make_multilabel_blocks(800, random_state=0)
    >>> noisy = flip_labels(toy.target, 0.1, random_state=0)
    >>> audit = LabelAudit(random_state=0).fit(toy.data, noisy.labels)
    >>> audit.noise_
    'symmetric'
    >>> suspects = audit.suspects(20)
    >>> found = noisy.changed[suspects["row"], suspects["label"]]
    >>> bool(found.mean() > 0.9)
    True
    >>> better = audit.corrected()
    >>> bool((better != toy.target).sum() < noisy.changed.sum())
    True
    """

    _parameter_constraints: dict = {
        "noise": [StrOptions({"auto", "symmetric", "extra", "missing", "none"})],
        "rates": [StrOptions({"auto", "shared", "per_label"})],
        "n_estimators": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _label_kind = "noisy"
    _moves_far_rows = True

    def __init__(
        self,
        noise="auto",
        *,
        rates="auto",
        n_estimators=None,
        n_jobs=None,
        random_state=None,
    ):
        self.noise = noise
        self.rates = rates
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X,
        y,
        observed=None,
        proba=None,
        trusted=None,
        given=None,
        sample_weight=None,
    ):
        """Score every given label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or None
            Features. None is possible with `proba`; with both, X only serves to show
            neighbours in :meth:`suspects`.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Given labels; -1 marks what was not observed. With
            :class:`~demurk.annotators.Annotations` it is judged what most people say.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.
        proba : array-like of shape (n_samples, n_labels), default=None
            Probabilities from a model of yours, made without the row they are for
            (out-of-fold or out-of-bag), in the order of `classes_`.
        trusted : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            Rows or entries of y that are known to be right, as after a review. They are
            never suspects, and teach the audit as labels without noise.
        given : array-like of the shape of y, default=None
            Labels as they were before somebody looked at the trusted ones. Without
            them, the rates and the number of errors are those of the labels that are
            left, and too small if the worst suspects were looked at first.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts in the models that judge the others and, with
            several labels, in the noise model; one each by default. The labels of
            samples of weight zero are not judged either.

        Returns
        -------
        self : object
            The fitted audit.
        """
        index = y.index if is_annotated(y) else frame_index(y)
        self._index = frame_index(X) if index is None else index
        self._people = None
        if is_annotated(y):
            return judge_people(self, X, y, proba, trusted, sample_weight)
        X, labels = self._validate(X, y, observed, proba)
        self.classes_ = labels.classes
        self._given, self._form = labels, LabelForm.of(y)
        labeled, weights = weighted_rows(labels, sample_weight)
        trusted = check_trusted(trusted, given, labels)
        self._trusted = None if trusted is None else trusted.rows(labeled)
        Y, seen = labels.values[labeled], labels.observed[labeled]
        if len(Y) < 2:
            raise ValueError(
                "Only one sample is labelled, but LabelAudit needs at least 2 to judge "
                "one by the other: label more samples."
            )
        if proba is not None:
            proba = check_proba(proba, labels)[labeled]
        part = X if X is None or labeled.all() else X[labeled]
        own_members = proba is None
        # What judges, and for classes a second look; what weighs it.
        n_judges = len(CLASS_MEMBERS) + 1 if labels.single else len(MEMBERS)
        n_stages = n_judges * own_members + 2 - labels.single
        threads = matrix_threads(len(Y), self.n_jobs)
        with threads, fit_progress(self, n_stages, X, y) as stage:
            features = None if X is None else scaled_features(part)
            evidence = Evidence(np.flatnonzero(labeled), features, Y, seen)
            params, members = self.get_params(deep=False), None
            if own_members and labels.single:
                members = ClassMembers(part, features, Y, params, stage, weights)
            elif own_members:
                proba = out_of_sample_proba(
                    part, features, Y, seen, params, stage, weights
                )
            if labels.single:
                self._judge_classes(proba, members, evidence, stage)
            else:
                self._judge_entries(proba, evidence, stage, weights)
        return self

    def _judge_entries(self, proba, evidence, stage, weights):
        """Steps 2 to 4 for several labels."""
        Y, seen = evidence.labels, evidence.observed
        with stage("other labels"):
            other = add_other_labels(proba, Y, seen, weights)
        with stage("noise model"):
            Z = standardized(other.scores, seen)
            choice = choose_kind(
                Z, Y, seen, self.noise, self.rates, self._trusted, weights
            )
        self._evidence = replace(
            evidence,
            out_of_sample=choice.plain.probabilities(Z),
            coefs=other.coefs,
            means=label_means(Y, seen),
        )
        self._set_results(choice, Z, Y, seen)

    def _judge_classes(self, proba, members, evidence, stage):
        """Steps 3 and 4 for one class per sample, with members or given proba."""
        given, known = evidence.labels.argmax(axis=1), (None, None)
        if self._trusted is not None:
            known = self._trusted.classes(evidence.labels)
        own = members is not None
        with stage("noise model"):
            proba = members.proba if own else proba
            found = audit_classes(proba, given, self.noise, own, *known)
        if own:
            with stage("second look"):
                looked = found.telling
                if found.estimated:
                    looked = members.look_again(found.wrong)
                elif looked:
                    # Nothing more is read from how sharp they are.
                    members.weigh(way_back=0.0)
                if looked:
                    again = audit_classes(
                        members.proba, given, self.noise, own, *known, found
                    )
                    found = replace(again, evidence=found.evidence)
        self._evidence, self._found = evidence, found
        self.scores_ = self._spread(found.scores)
        self.wrong_proba_ = self._spread(found.wrong)
        self.label_distributions_ = self._spread(found.distributions)
        self.noise_matrix_, self.noise_rates_ = found.matrix, found.rates
        self.noise_, self.evidence_ = found.noise, found.evidence
        self.rates_ = "per_label" if found.noise == "matrix" else "shared"
        self.estimated_ = found.estimated
        self.n_suspects_ = found.n_suspects
        self._say(class_message(self.noise, found, self.n_suspects_, len(given)))

    def _spread(self, values):
        """Values of the labelled rows among all, NaN elsewhere."""
        full = np.full((len(self._given.values), *values.shape[1:]), np.nan)
        full[self._evidence.rows] = values
        return full

    def _say(self, message):
        self.message_ = message
        if self.noise != "none" and not self.estimated_:
            warnings.warn(message, UnknownRateWarning, stacklevel=5)

    def _validate(self, X, y, observed, proba):
        if X is not None:
            return self._validate_fit(X, y, observed=observed)
        if proba is None:
            raise ValueError("X is None: give features, or probabilities as `proba`.")
        labels = check_labels(
            y, n_samples=len(proba), kind=self._label_kind, observed=observed
        )
        return None, labels

    def _set_results(self, choice, Z, Y, seen):
        """Step 6 and 7: scores, probabilities, rates and what to say about them."""
        fit, plain = choice.fit, np.abs(Y - choice.plain.probabilities(Z))
        wrong = wrong_probability(fit.probabilities(Z), Y, fit.missing, fit.extra)
        score = wrong + TIE_WEIGHT * plain if choice.estimated else plain
        if self.noise in IMPOSSIBLE:
            score = np.where(Y == IMPOSSIBLE[self.noise], 0.0, score)
        if self._trusted is not None:
            score = np.where(self._trusted.mask, np.nan, score)
            wrong = np.where(self._trusted.mask, 0.0, wrong)
        score, wrong = (np.where(seen, values, np.nan) for values in (score, wrong))
        self.scores_ = self._spread(score)
        self.wrong_proba_ = self._spread(wrong)
        self.label_distributions_ = self._spread(Y + wrong * (1 - 2 * Y))
        self.noise_rates_ = {"extra": fit.extra, "missing": fit.missing}
        self.noise_ = choice.noise if choice.sure else "uncertain"
        self.rates_ = "per_label" if choice.per_label else "shared"
        self.evidence_ = choice.evidence
        self.estimated_ = bool(choice.estimated)
        self.n_suspects_ = int(np.rint(wrong[seen].sum()))
        self._say(audit_message(self.noise, choice, self.n_suspects_, seen.sum()))

    def suspects(self, n=None):
        """List the most suspect entries, with reasons.

        Parameters
        ----------
        n : int, default=None
            How many; None for as many as are expected to be wrong. If `noise_` is
            "uncertain", so many of each list.

        Returns
        -------
        suspects : pandas.DataFrame
            Columns "list" ("given but probably wrong" or "missing but probably right"),
            "row" (counted from 0), "label", "given", "score", "wrong_proba" and
            "reason": the probability without the own label, the nearest rows that
            disagree, and the other labels that speak against it. Sorted by list, then
            by score. Of a 1-D y, one line per row: "row", "given", "suggested",
            "wrong_proba", "suggested_proba" and "reason". If y or X was a frame with an
            index other than 0, 1, ..., "index" follows "row".
        """
        check_is_fitted(self)
        if self._given.single:
            n = self.n_suspects_ if n is None else n
            scores = self._found.scores
            order = np.argsort(-scores, kind="stable")
            order = order[np.isfinite(scores[order])][:n]
            frame = class_suspects(order, self._found, self.classes_, self._evidence)
        else:
            frame = self._entry_suspects(n)
        if self._people is not None:
            frame["reason"] = people_reasons(frame, *self._people)
        if self._index is not None:
            place = frame.columns.get_loc("row") + 1
            frame.insert(place, "index", self._index[frame["row"]])
        return frame

    def _entry_suspects(self, n):
        given, wrong = self._given.values.astype(int), self.wrong_proba_
        uncertain = self.noise_ == "uncertain"
        limits = list_lengths(n, given, wrong, self.n_suspects_, uncertain)
        entries = top_entries(self.scores_, given, limits)
        return suspect_frame(
            entries, self.scores_, wrong, self.classes_, self._evidence
        )

    def corrected(self, threshold=0.8):
        """The labels with those entries changed that are probably wrong.

        Parameters
        ----------
        threshold : float, default=0.8
            Entries are changed whose probability of being wrong is above it. A 1-D y
            gets the suggested class instead.

        Returns
        -------
        labels : ndarray, DataFrame or Series
            In the form of y: classes if it had one dimension, else 1, 0 and -1; a frame
            or series like it, with names and index, if it was one. What was not
            observed stays so. Without a noise rate (see `estimated_`) nothing changes.
        """
        check_is_fitted(self)
        values = self._corrected_values(threshold)
        return self._form.restore(replace(self._given, values=values.astype(float)))

    def _corrected_values(self, threshold):
        """Labels after correction, bool (n, q)."""
        wrong = self.wrong_proba_ if self.estimated_ else 0 * self.wrong_proba_
        if not self._given.single:
            return corrected_values(self._given, wrong, threshold)
        suggested = np.zeros(len(wrong), dtype=np.intp)
        suggested[self._evidence.rows] = self._found.suggested
        return corrected_classes(self._given, wrong, suggested, threshold)
