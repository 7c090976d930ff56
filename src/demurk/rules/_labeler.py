"""Labels from rules: conditions on columns become noisy, partial labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from demurk.labels._data import Mask
from demurk.labels._sets import short
from demurk.rules._conditions import (
    Table,
    evaluate,
    find_columns,
    load_table,
    patterns_of,
)
from demurk.rules._rule import Rule, as_rule
from demurk.utils._compat import Interval, StrOptions, _fit_context


class RuleLabeler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn expert rules about columns into labels, some wrong and many missing.

    Every rule says: when the columns of a row satisfy a condition, set these labels to
    1 or 0. An entry that no rule decides stays -1, not observed. Such labels are cheap
    and murky: they are what the other estimators of this library are made to learn
    from.

    Read more in the :ref:`User Guide <rule_labels>`.

    Parameters
    ----------
    rules : list of Rule or dict
        The rules, in order. A dict has the entries "when", "then" and perhaps "name".
    labels : list of str, default=None
        The labels, in the order of the columns to be made. By default those that the
        rules set, in the order of their first mention.
    columns : list of str, default=None
        Names of the columns of X, if X is an array or a sparse matrix; by default
        "x0", "x1" and so on. A data frame has its own names.
    conflict : {"unobserved", "first", "last"}, default="unobserved"
        What an entry becomes that one rule sets to 1 and another to 0: -1, or what the
        first or the last of these rules says. The default does not depend on the order
        of the rules, and does not pretend to know what the experts disagree about.
    default : {-1, 0}, default=-1
        What an entry becomes that no rule decides. 0 is for rules that are meant to
        find every case.
    unmatched : {"error", "zero"}, default="error"
        What to do with a name or pattern that no column of X has: refuse it, or take it
        for a column of zeros. The latter suits tables of counts without the codes that
        nobody has.

    Attributes
    ----------
    rules_ : list of Rule
        The checked rules.
    labels_ : list of str
        The labels, in the order of the columns that `transform` makes.
    coverage_ : dict of str to list
        One entry per rule: its name ("rule"), the "rows" it hit in `fit`, those in
        which it "alone" spoke about its labels, and those in which another rule set one
        of its labels to the opposite ("conflicts").
        ``pandas.DataFrame(labeler.coverage_)`` shows it as a table.
    label_coverage_ : dict of str to list
        One entry per label: its name ("label"), how many "ones", "zeros" and
        "unobserved" entries it got in `fit`, and about how many entries rules disagreed
        ("conflicts").
    disagreements_ : ndarray of shape (n_rules, n_rules)
        In how many rows two rules hit and contradicted each other.
    unmatched_ : list of str
        Names and patterns that no column has, if `unmatched` is "zero".
    n_features_in_ : int
        Number of columns seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names.

    See Also
    --------
    Rule : What a condition may look like.
    demurk.multilabel.MurkyClassifier : Learns from such labels.

    Notes
    -----
    A test of a missing value (NaN, NaT, None) is neither true nor false but unknown,
    and so is what depends on it; a rule hits only where its condition is true. Neither
    ``{"glucose": ">= 7"}`` nor ``{"not": {"glucose": ">= 7"}}`` hits a row without a
    glucose value, while "any" hits it if another of its conditions holds.

    Patterns are matched with the columns during `fit`. Later tables need the columns
    found then; others are not looked at.

    The errors of such labels are not random: each is made by a rule, from columns that
    a classifier sees too, and the classifier will learn to repeat them. Methods that
    assume random flips help less than on such flips.

    Time is O(n m) for n rows and m mentions of columns; memory O(n (r + q)) for r rules
    and q labels. Columns of text need a Python call per entry.

    Examples
    --------
    >>> import pandas as pd
    >>> from demurk.rules import Rule, RuleLabeler
    >>> table = pd.DataFrame({
    ...     "I10": [1, 0, 0, 0], "C09AA": [2, 3, 0, 0], "glucose": [5, 5, 9, None],
    ... })
    >>> labeler = RuleLabeler([
    ...     Rule({"all": ["I10", "C09*"]}, {"hypertension": 1}),
    ...     Rule({"none": ["I10", "C09*"]}, {"hypertension": 0}),
    ...     Rule({"glucose": ">= 7"}, {"diabetes": 1}),
    ...     Rule({"glucose": "< 7"}, {"diabetes": 0}),
    ... ])
    >>> labeler.fit_transform(table)
    array([[ 1,  0],
           [-1,  0],
           [ 0,  1],
           [ 0, -1]], dtype=int8)
    >>> labeler.coverage_["rows"]
    [1, 2, 1, 2]
    """

    _doc_link_module = "demurk"
    _doc_link_template = (
        "https://demurk.readthedocs.io/generated/"
        "{estimator_module}.{estimator_name}.html"
    )
    _parameter_constraints: ClassVar[dict] = {
        "rules": [list, tuple],
        "labels": [list, tuple, None],
        "columns": ["array-like", None],
        "conflict": [StrOptions({"unobserved", "first", "last"})],
        "default": [Interval(Integral, -1, 0, closed="both")],
        "unmatched": [StrOptions({"error", "zero"})],
    }

    def __init__(
        self,
        rules: Sequence[Any],
        *,
        labels: Sequence[str] | None = None,
        columns: Any = None,
        conflict: str = "unobserved",
        default: int = -1,
        unmatched: str = "error",
    ) -> None:
        self.rules = rules
        self.labels = labels
        self.columns = columns
        self.conflict = conflict
        self.default = default
        self.unmatched = unmatched

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> "RuleLabeler":
        """Match the rules with the columns, and report what they do on X.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Table to label.
        y : None
            Not used.

        Returns
        -------
        self : RuleLabeler
            The labeler, with its reports.
        """
        self.rules_ = [as_rule(entry, i) for i, entry in enumerate(self.rules)]
        if not self.rules_:
            raise ValueError("There are no rules; give at least one.")
        self.labels_ = _label_names(self.rules_, self.labels)
        table = load_table(X)
        if 0 in table.shape:
            n_rows, n_columns = table.shape
            raise ValueError(
                f"X has {n_rows} sample(s) and {n_columns} feature(s) "
                f"(shape={table.shape}) while a minimum of 1 is required of both."
            )
        names = _column_names(table, self.columns)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        self._match(names, given=table.names is not None or self.columns is not None)
        hits = self._hits(table, names)
        self._report(hits, self._decide(hits))
        return self

    def transform(self, X: Any) -> NDArray[np.int8]:
        """Label every row.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Table to label. Of a data frame only the columns named in the rules are
            needed, in any order.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels), int8
            1, 0, and -1 for not observed.
        """
        return self._decide(self.rule_hits(X))

    def rule_hits(self, X: Any) -> Mask:
        """Tell which rules hit which rows.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix of shape (n_samples, n_features)
            Table to look at.

        Returns
        -------
        hits : ndarray of shape (n_samples, n_rules), bool
            Where the condition of a rule is true.
        """
        check_is_fitted(self)
        table = load_table(X)
        if (names := table.names) is None:
            names = self.feature_names_in_.tolist()
            if table.shape[1] != len(names):
                raise ValueError(
                    f"X has {table.shape[1]} features, but RuleLabeler is expecting "
                    f"{len(names)} features as input; give the same columns."
                )
        return self._hits(table, names)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Give the names of the labels.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        names : ndarray of shape (n_labels,), object
            The labels, in the order of the columns of `transform`.
        """
        check_is_fitted(self)
        return np.array(self.labels_, dtype=object)

    def _match(self, names: list[str], given: bool) -> None:
        """Find the columns of every pattern."""
        self._columns: dict[str, list[str]] = {}
        for i, rule in enumerate(self.rules_):
            for pattern in patterns_of(rule.when):
                found = find_columns(pattern, names)
                if not found and self.unmatched == "error":
                    _refuse_pattern(pattern, _title(rule, i), names, given)
                self._columns[pattern] = [names[place] for place in found]
        self.unmatched_ = [p for p, found in self._columns.items() if not found]

    def _hits(self, table: Table, names: list[str]) -> Mask:
        places = {name: place for place, name in enumerate(names)}
        for found in self._columns.values():
            for name in found:
                if name not in places:
                    raise ValueError(
                        f"X has no column {short(name)}, which the rules need; give "
                        "the columns that RuleLabeler was fitted to."
                    )

        def read(pattern: str) -> list[NDArray[Any]]:
            found = [table.column(places[name]) for name in self._columns[pattern]]
            return found or [np.zeros(table.shape[0])]

        # Columns of `hits` are filled one by one, hence the order.
        hits = np.zeros((table.shape[0], len(self.rules_)), dtype=bool, order="F")
        for i, rule in enumerate(self.rules_):
            hits[:, i] = evaluate(rule.when, read, _title(rule, i))[0]
        return hits

    def _said(self, hits: Mask, label: str, value: int) -> Mask:
        """Rows in which some rule sets the label to the value."""
        rules = [i for i, r in enumerate(self.rules_) if r.then.get(label) == value]
        return np.asarray(hits[:, rules].any(axis=1))

    def _decide(self, hits: Mask) -> NDArray[np.int8]:
        labels = np.full((len(hits), len(self.labels_)), self.default, dtype=np.int8)
        # The rule that is applied last has its way.
        order = -1 if self.conflict == "first" else 1
        for i in range(len(self.rules_))[::order]:
            for label, value in self.rules_[i].then.items():
                labels[hits[:, i], self.labels_.index(label)] = value
        if self.conflict == "unobserved":
            for j, label in enumerate(self.labels_):
                both = self._said(hits, label, 1) & self._said(hits, label, 0)
                labels[both, j] = -1
        return labels

    def _report(self, hits: Mask, labels: NDArray[np.int8]) -> None:
        # Whether two rules that hit the same row disagree is known beforehand.
        opposed, related = _pairs(self.rules_, _contradict), _pairs(self.rules_, _share)
        self.disagreements_ = np.zeros(opposed.shape, dtype=np.int64)
        for a, b in np.argwhere(opposed):
            self.disagreements_[a, b] = np.count_nonzero(hits[:, a] & hits[:, b])
        against = np.transpose([hits[:, others].any(axis=1) for others in opposed])
        company = np.transpose([hits[:, others].any(axis=1) for others in related])
        self.coverage_ = {
            "rule": [rule.name or f"rule {i}" for i, rule in enumerate(self.rules_)],
            "rows": hits.sum(axis=0).tolist(),
            "alone": (hits & ~company).sum(axis=0).tolist(),
            "conflicts": (hits & against).sum(axis=0).tolist(),
        }
        self.label_coverage_ = {
            "label": list(self.labels_),
            "ones": (labels == 1).sum(axis=0).tolist(),
            "zeros": (labels == 0).sum(axis=0).tolist(),
            "unobserved": (labels == -1).sum(axis=0).tolist(),
            "conflicts": [
                int((self._said(hits, name, 1) & self._said(hits, name, 0)).sum())
                for name in self.labels_
            ],
        }


def _title(rule: Rule, number: int) -> str:
    return f"Rule {number}" + (f" ({short(rule.name)})" if rule.name else "")


def _pairs(rules: list[Rule], test: Callable[[Rule, Rule], bool]) -> Mask:
    """For which pairs of different rules the test holds."""
    holds = np.array([[test(one, other) for other in rules] for one in rules])
    np.fill_diagonal(holds, False)
    return holds


def _share(one: Rule, other: Rule) -> bool:
    return not one.then.keys().isdisjoint(other.then.keys())


def _contradict(one: Rule, other: Rule) -> bool:
    shared = one.then.keys() & other.then.keys()
    return any(one.then[label] != other.then[label] for label in shared)


def _label_names(rules: list[Rule], labels: Sequence[str] | None) -> list[str]:
    if labels is None:
        return list(dict.fromkeys(label for rule in rules for label in rule.then))
    if len(set(labels)) != len(labels):
        raise ValueError(f"labels is {short(labels)}; give every label once.")
    for number, rule in enumerate(rules):
        for label in rule.then:
            if label not in labels:
                place = _title(rule, number)
                raise ValueError(
                    f"{place} sets the label {short(label)}; add it to `labels`."
                )
    return list(labels)


def _column_names(table: Table, columns: Any) -> list[str]:
    given = None if columns is None else [str(name) for name in columns]
    if table.names is not None and given not in (None, table.names):
        raise ValueError(
            "X is a data frame with other names than `columns`; leave `columns` out."
        )
    names = table.names or given or [f"x{place}" for place in range(table.shape[1])]
    if len(names) != table.shape[1]:
        raise ValueError(
            f"columns has {len(names)} names, but X has {table.shape[1]} columns; "
            "give one name per column."
        )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"X has two columns {short(twice)}; give every column its name."
        )
    return names


def _refuse_pattern(pattern: str, title: str, names: list[str], given: bool) -> None:
    # Comparing takes quadratic time in the length.
    plain = pattern[:100].translate(str.maketrans("", "", "*?[]"))
    close = get_close_matches(plain, names, n=3, cutoff=0.4)
    remedy = f"the closest names are {', '.join(map(short, close))}"
    if not close:
        remedy = f"its columns are {', '.join(map(short, names[:3]))} and so on"
    if not given:
        remedy = "X is an array without names, so pass them as `columns`"
    raise ValueError(
        f"{title} names the column {short(pattern)}, which X does not have; {remedy} "
        "(unmatched='zero' takes it for a column of zeros)."
    )
