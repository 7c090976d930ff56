"""The recommended classifier: a calibrated stack that noisy labels cannot fool."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from demurk.base import ScoreClassifier
from demurk.multilabel._murky_members import (
    POOLS,
    REDUCED,
    OwnMember,
    forests_first,
    make_members,
)
from demurk.out_of_sample import (
    FeatureViews,
    calibrate,
    choose_class_noise,
    corrected_probabilities,
    estimate_flip_rate,
    f1_cut,
    fit_calibration,
    half_cut,
    label_means,
    leave_one_out_means,
    matrix_threads,
    stack_weights,
)
from demurk.utils._annotated import is_annotated
from demurk.utils._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress
from demurk.utils._weights import weighted_rows

__all__ = ["MurkyClassifier"]

N_COMPONENTS = 30


class MurkyClassifier(CallbackSupportMixin, ScoreClassifier):
    """Calibrated stack for few labels, many of them wrong: the place to start.

    Several kinds of forests, kernel ridge regression and sparse logistic regression are
    weighed by how well each predicts labels it has not seen. One calibration then
    decides how much the frequency of a label counts against the evidence of a row, and
    an estimate of the noise turns scores into probabilities of the true labels. Labels
    may be wrong, missing in single entries or whole rows, one or many per sample.

    Read more in the :ref:`User Guide <murky_classifier>`.

    Parameters
    ----------
    members : {"full", "trees", "fast"} or list, default="full"
        All eight members, the five forests, or the three cheapest that differ ("rf",
        "ksrc", "l1"). A list adds your own estimators or ``(name, estimator)`` pairs to
        the full pool, or to the pools and members that it names:
        ``["fast", ("knn", KNeighborsClassifier())]``.
    noise : {"symmetric", "extra", "missing", "none"}, default="symmetric"
        What is wrong with the labels: any entry may be flipped; absent labels may have
        been given (the ones are candidates, zeros can be trusted); present labels may
        have been left out (ones can be trusted); nothing. With a 1-D y, anything but
        "none" means that classes may be wrong; the data tell which are given for which.
    noise_rate : float, default=None
        How often that happens, below 0.5; None estimates it. The rate of missing labels
        must be given: :class:`~demurk.audit.LabelAudit` estimates it. For a 1-D y, the
        share of samples with a wrong class.
    target : {"f1", "hamming"}, default="f1"
        What `predict` is good at: few errors among few labels (micro-F1), or few wrong
        entries (a label is predicted if it is more likely true than not). A 1-D y needs
        no choice.
    n_estimators : int, default=300
        Trees of "rf"; the other forests, which vary it, have half as many.
    n_jobs : int, default=None
        Threads, shared out between members and trees; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the members.

    Attributes
    ----------
    member_weights_ : dict of str to float
        How much each member counts; the sum is one.
    calibration_ : dict of str to float
        "evidence" and "frequency": what the scores of a row and the frequency of a
        label are multiplied with; "mean": the mean of all labels.
    noise_rate_ : float
        Estimated or given noise rate; of a 1-D y, the share of wrong classes.
    noise_matrix_ : ndarray of shape (n_classes, n_classes)
        Only of a 1-D y: row c is the distribution of what class c was given as.
    thresholds_ : dict of str to float
        For both targets, the score above which a label is predicted.
    out_of_sample_scores_ : ndarray of shape (n_samples, n_labels)
        Scores of the training rows from models that did not see them, on the scale of
        the noisy labels; NaN in rows without labels.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    demurk.audit.LabelAudit : Which of the given labels are probably wrong.

    Notes
    -----
    Members and where their out-of-sample scores come from:

    ======  ==========================================================  ==============
    rf      forest, every leaf pure                                     out of bag
    et1     extra-trees, every leaf pure                                out of bag
    rfpca   forest on features and 30 principal components, leaves >=3  out of bag
    rf3m    forest, 20 % of the features (<= 500) a split, leaves >= 3  out of bag
    et3m    extra-trees, 30 % of the features (<= 500), leaves >= 3     out of bag
    ksrc    kernel ridge regression on scaled features                  leave one out
    kpca30  kernel ridge regression on 30 principal components          leave one out
    l1      L1 logistic regression per label                            2 folds
    ======  ==========================================================  ==============

    If flips depend neither on the row nor on the label, a noisy label is on average an
    affine function of the true one. Squared errors on noisy labels then order models as
    the true labels would, which is why weights and calibration need no clean labels;
    only the cut needs the rate. Where rates differ between labels the label frequencies
    mislead the calibration. With one class per sample the weights begin at the forests,
    and the other members must earn theirs.

    The gain over a forest comes from stacking and calibration, not from the unlabelled
    rows: those only help to scale features and to find principal components. With fewer
    than about 50 labelled rows and 20 % flips expect no better ranking than a forest's.

    An entry that was not observed takes no part in weights, calibration and rates. The
    members that need complete targets (forests, kernel ridge) see the mean of its label
    there.

    Weights of samples count in the members, in how these are weighed, the calibration,
    the rate and the cuts, but neither in the scales of the features nor in the noise
    matrix of a 1-D y. A score made without a row is made without all of its weight,
    where of a row given twice the other one would remain. A member of yours that takes
    no weights learns without them.

    Time: a forest of 300 trees and four of 150, ``O(n log n sqrt(D) q)`` node work
    each, one ``O(n^3)`` eigendecomposition per kernel width with n labelled rows (above
    3,000 of them ``O(n 2000^2)`` by the Nystroem approximation), and 12 logistic
    regressions per label. From 80 labels on the trees are grown on random projections
    of the labels to q / 4 columns where out-of-bag rows show no loss.

    Memory: O(trees n) for the forests, whatever the number of labels: splits and leaves
    are kept, values are not. O(n^2) for the kernels, O(2000 n) above 3,000 rows, and
    O(n q) for each member while the stack is weighed.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import flip_labels, hide_rows
    >>> from demurk.multilabel import MurkyClassifier
    >>> toy = make_multilabel_blocks(300, random_state=0)
    >>> noisy = flip_labels(toy.target, 0.1, random_state=0).labels
    >>> murky = hide_rows(noisy, 0.5, random_state=0).labels
    >>> model = MurkyClassifier("fast", n_estimators=30, random_state=0)
    >>> model.fit(toy.data, murky).predict(toy.data[:2]).shape
    (2, 4)
    >>> list(model.member_weights_)
    ['rf', 'ksrc', 'l1']
    """

    _parameter_constraints: dict = {
        "members": [StrOptions(set(POOLS)), list],
        "noise": [StrOptions({"symmetric", "extra", "missing", "none"})],
        "noise_rate": [Interval(Real, 0, 0.5, closed="left"), None],
        "target": [StrOptions({"f1", "hamming"})],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }
    _label_kind = "noisy"
    _moves_far_rows = True

    def __init__(
        self,
        members="full",
        *,
        noise="symmetric",
        noise_rate=None,
        target="f1",
        n_estimators=300,
        n_jobs=None,
        random_state=None,
    ):
        self.members = members
        self.noise = noise
        self.noise_rate = noise_rate
        self.target = target
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None, sample_weight=None):
        """Fit the members, weigh them, calibrate, and estimate the noise.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Noisy labels; -1 marks what was not observed. From
            :class:`~demurk.annotators.Annotations` the soft consensus is learned.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts; one each by default. Samples of weight zero
            are unlabelled ones.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if is_annotated(y):
            names = ("n_estimators", "n_jobs", "random_state")
            params = {name: getattr(self, name) for name in names}
            y = y.to_learn(X, **params)
        X, labels = self._validate_fit(X, y, observed=observed)
        self._check_rate()
        self._set_classes(labels)
        labeled, weights = weighted_rows(labels, sample_weight)
        if np.count_nonzero(labeled) < 2:
            raise ValueError(
                "Only one sample is labelled, but MurkyClassifier needs at least 2 to "
                "score one without the other: label more samples."
            )
        Y, seen = labels.values[labeled], labels.observed[labeled]
        self._label_means = label_means(Y, seen, weights)
        rng = check_random_state(self.random_state)
        members = make_members(
            self.members, X.shape[1], self.n_estimators, self.n_jobs, rng
        )
        n_stages = len(members) + 2
        with (
            matrix_threads(len(Y), self.n_jobs),
            fit_progress(self, n_stages, X, y) as stage,
        ):
            with stage("features"):
                seed = rng.randint(np.iinfo(np.int32).max)
                names = {view for view, _ in members.values()}
                # Principal components only where a member looks at them.
                n_components = N_COMPONENTS if names & REDUCED else 0
                self._views = FeatureViews(
                    n_components=n_components, random_state=seed
                ).fit(X)
                # A learner that needs complete targets sees the label's mean.
                full = np.where(seen, Y, self._label_means)
                views = self._views.views(X if labeled.all() else X[labeled], names)
            rows = full, seen, weights
            out_of_sample = self._fit_members(members, views, rows, stage)
            with stage("stack"):
                scores = self._fit_stack(out_of_sample, Y, seen, weights)
        self.out_of_sample_scores_ = np.full(labels.values.shape, np.nan)
        self.out_of_sample_scores_[labeled] = scores
        return self

    def _check_rate(self):
        if self.noise == "missing" and self.noise_rate is None:
            raise ValueError(
                "noise_rate is None with noise='missing'; give the share of present "
                "labels that were left out, which LabelAudit estimates."
            )
        if self.noise == "none" and self.noise_rate:
            raise ValueError(
                f"noise_rate is {self.noise_rate} with noise='none'; leave it out, or "
                "say which noise."
            )

    def _fit_members(self, members, views, rows, stage):
        """Fit the members beside each other, those of the user one at a time."""
        self._members = members
        out_of_sample = {}
        fitting = self._each_member(
            lambda name, view, member: member.fit_out_of_sample(views[view], *rows)
        )
        with closing(fitting):
            for name in members:
                with stage(name):
                    out_of_sample[name] = next(fitting)
        return out_of_sample

    def _each_member(self, function):
        """Yield what a function returns for each member, computed in threads.

        Members of the user may not be safe in threads, and may use liblinear, which has
        one random state for the whole process: they wait for all others.
        """
        n_threads = min(effective_n_jobs(self.n_jobs), len(self._members))
        waiting = {}
        with ThreadPoolExecutor(n_threads) as pool:
            try:
                if n_threads > 1:
                    for name in self._longest_first():
                        view, member = self._members[name]
                        if not isinstance(member, OwnMember):
                            waiting[name] = pool.submit(function, name, view, member)
                for name, (view, member) in self._members.items():
                    if name in waiting:
                        yield waiting[name].result()
                    else:
                        wait(waiting.values())
                        yield function(name, view, member)
            finally:
                pool.shutdown(cancel_futures=True)

    def _longest_first(self):
        """Names of the members, in the order that leaves threads idle the least.

        The logistic member may take longest and cannot be divided; a forest that has
        several threads fills what the others leave.
        """

        def rank(name):
            divided = (getattr(self._members[name][1], "n_jobs", None) or 1) > 1
            return name != "l1", divided

        return sorted(self._members, key=rank)

    def _fit_stack(self, out_of_sample, Y, seen, weights):
        """Weights, calibration, rate and cuts; gives the calibrated scores."""
        how = forests_first(self._members) if self._single else {}
        shares = stack_weights(list(out_of_sample.values()), Y, seen, weights, **how)
        self.member_weights_ = dict(zip(out_of_sample, shares.tolist()))
        stacked = sum(w * scores for w, scores in zip(shares, out_of_sample.values()))
        self.calibration_ = fit_calibration(stacked, Y, seen, weights)
        means = leave_one_out_means(Y, seen, weights)
        scores = calibrate(stacked, means, self.calibration_)
        entries, given = scores[seen], Y[seen]
        each = np.ones(len(Y)) if weights is None else weights
        counts = np.repeat(each[:, np.newaxis], Y.shape[1], axis=1)[seen]
        if self._single:
            rate = self._fit_class_noise(scores, Y)
        elif self.noise == "none":
            rate = 0.0
        elif self.noise_rate is None:
            rate = estimate_flip_rate(entries, given, counts)
        else:
            rate = self.noise_rate
        self.noise_rate_ = rate
        if self._single:
            # A wrong class takes any of the other places.
            rate = rate / max(len(self.classes_) - 1, 1)
        extra = 0.0 if self.noise == "missing" else rate
        self._rates = extra, 0.0 if self.noise == "extra" else rate
        self.thresholds_ = {
            "f1": f1_cut(entries, given, each.sum(), *self._rates, counts),
            "hamming": half_cut(*self._rates),
        }
        return scores

    def _fit_class_noise(self, scores, Y):
        """What each class is given as; returns the share of wrong classes."""
        form = "none" if self.noise == "none" else "auto"
        given = Y.argmax(axis=1)
        self._class_noise = choose_class_noise(scores, given, form, self.noise_rate).fit
        self.noise_matrix_ = self._class_noise.matrix
        return self._class_noise.rate(scores)

    def _checked_scores(self, X):
        check_is_fitted(self)
        X = self._validate_new(X)
        views = self._views.views(X, {view for view, _ in self._members.values()})
        scores = self._each_member(
            lambda name, view, member: (
                self.member_weights_[name] * member.predict(views[view])
            )
        )
        stacked = sum(scores)
        scores = calibrate(stacked, self._label_means, self.calibration_)
        return np.log(self._class_noise.true_proba(scores)) if self._single else scores

    def predict_proba(self, X):
        """Probability of each true label, corrected for the noise.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_labels)
            Probabilities; rows sum to one only if `fit` had a 1-D y.
        """
        return super().predict_proba(X)

    def _probabilities(self, scores):
        if self._single:
            return self._normalized(np.exp(scores))
        return corrected_probabilities(scores, *self._rates)

    def _cuts(self, scores):
        return self.thresholds_[self.target]
