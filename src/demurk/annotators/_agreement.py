"""How far people agree beyond chance."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from demurk.annotators._sums import grouping
from demurk.utils._optional import import_optional

__all__ = ["Agreement", "kappa_of_tables", "measure_agreement"]

Z95 = 1.96
# Of a crowd, the pairs that share most rows.
MOST_PAIRS = 1000


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far some people agree; 1 is always, 0 is as by chance.

    Attributes
    ----------
    alpha, low, high : float
        Krippendorff's alpha for classes without order, and the ends of its 95 %
        interval; NaN where no row has two answers, or where everybody always gives the
        same class. With several labels, expected and observed disagreement are summed
        over the labels.
    labels : pandas.DataFrame
        The same for each label: "label", "alpha", "low", "high". One line per class
        for classes, where it says how far people agree on this class against all
        others.
    pairs : pandas.DataFrame
        Cohen's kappa of every two people who share rows: "first", "second", "both"
        (rows), "kappa", "low", "high"; of the 1,000 pairs that share most, the largest
        first.
    people : pandas.DataFrame
        "person", "rows" (answers), "shared" (of them, rows that others answered too),
        "agrees" (how often one of the others says the same), "only" (the one class or
        set of labels that he ever gave, blank if there are several, or one answer).

    See Also
    --------
    Annotations.agreement : Makes it.

    Notes
    -----
    Somebody who only ever gives one class does not disagree with himself, and hardly
    with others where that class is frequent: "agrees" is high, kappa is zero.

    Examples
    --------
    >>> from demurk.annotators import Annotations
    >>> said = Annotations.from_array([[0, 0, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0]])
    >>> found = said.agreement(random_state=0)
    >>> round(found.alpha, 3)
    0.057
    >>> found.people["only"].tolist()
    ['', '', '0']
    """

    alpha: float
    low: float
    high: float
    labels: Any
    pairs: Any
    people: Any


def measure_agreement(said, n_draws=500, random_state=None):
    """Alpha, kappas and who agrees; see :class:`Agreement`.

    Parameters
    ----------
    said : Annotations
        What people said.
    n_draws : int, default=500
        Bootstrap draws of the rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Returns
    -------
    agreement : Agreement
        The measures.
    """
    pandas = import_optional("pandas", "tables")
    votes, asked = said.votes()
    draws = _alphas(votes, asked, n_draws, check_random_state(random_state))
    lows, highs = _interval(draws)
    columns = {"label": said.classes, "alpha": draws[0, 1:]}
    columns |= {"low": lows[1:], "high": highs[1:]}
    return Agreement(
        float(draws[0, 0]),
        float(lows[0]),
        float(highs[0]),
        pandas.DataFrame(columns),
        pandas.DataFrame(_pairs(said)),
        pandas.DataFrame(_people(said, votes, asked)),
    )


def _interval(draws):
    """Ends of the middle 95 % of all draws but the first."""
    ends = np.full((2, draws.shape[1]), np.nan)
    known = np.isfinite(draws[1:]).any(axis=0)
    if known.any():
        ends[:, known] = np.nanquantile(draws[1:, known], [0.025, 0.975], axis=0)
    return ends


def _alphas(votes, asked, n_draws, rng):
    """Alpha over all and by label, of the data and then of each draw of rows."""
    shared = (asked >= 2).any(axis=1)
    votes, asked = votes[shared].astype(float), asked[shared].astype(float)
    votes, asked = votes * (asked >= 2), asked * (asked >= 2)
    # Pairs of answers of which one gives the label, over the partners of each.
    apart = votes * (asked - votes) / np.maximum(asked - 1, 1)
    n_rows, found = len(votes), []
    for draw in range(n_draws + 1):
        weights = np.ones(n_rows)
        if draw:
            weights = np.bincount(rng.randint(n_rows, size=n_rows), minlength=n_rows)
        ones, total, differ = (weights @ part for part in (votes, asked, apart))
        by_chance = ones * (total - ones) / np.maximum(total - 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(by_chance > 0, 1 - differ / by_chance, np.nan)
            whole = 1 - differ.sum() / by_chance.sum()
        found.append([whole if by_chance.sum() > 0 else np.nan, *each])
        if n_rows == 0:
            break
    return np.array(found)


def kappa_of_tables(tables):
    """Cohen's kappa of two raters from how often they gave which pair of classes.

    Parameters
    ----------
    tables : ndarray of shape (..., n_classes, n_classes)
        Counts.

    Returns
    -------
    kappa, error : ndarray of shape (...)
        Agreement beyond chance, and its standard error; NaN where chance explains
        everything.

    Notes
    -----
    The large-sample variance of Fleiss, Cohen and Everitt (1969).
    """
    tables = np.asarray(tables, dtype=float)
    n = tables.sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = tables / n[..., np.newaxis, np.newaxis]
        first, second = shares.sum(axis=-1), shares.sum(axis=-2)
        by_chance = (first * second).sum(axis=-1)
        diagonal = np.diagonal(shares, axis1=-2, axis2=-1)
        room = np.where(by_chance < 1 - 1e-12, 1 - by_chance, np.nan)
        kappa = (diagonal.sum(axis=-1) - by_chance) / room
        rest = (1 - kappa)[..., np.newaxis]
        agreed = (diagonal * (1 - (first + second) * rest) ** 2).sum(axis=-1)
        apart = shares * (second[..., :, np.newaxis] + first[..., np.newaxis, :]) ** 2
        on_diagonal = np.diagonal(apart, axis1=-2, axis2=-1).sum(axis=-1)
        disagreed = rest[..., 0] ** 2 * (apart.sum(axis=(-2, -1)) - on_diagonal)
        variance = agreed + disagreed - (kappa - by_chance * rest[..., 0]) ** 2
        return kappa, np.sqrt(np.maximum(variance, 0) / n) / room


def _pairs(said):
    """Columns of the table of pairs."""
    answers = sparse.csr_array(
        (np.ones(len(said.rows)), (said.people, said.rows)),
        shape=(said.n_people, said.n_rows),
    )
    both = sparse.coo_array(sparse.triu(answers @ answers.T, 1))
    order = np.argsort(-both.data, kind="stable")[:MOST_PAIRS]
    first, second = both.coords[0][order], both.coords[1][order]
    if said.single:
        tables = _tables(said, said.codes, said.n_labels, first, second)
        kappa, error = kappa_of_tables(tables)
    else:
        kappa, error = _label_kappas(said, first, second)
    return {
        "first": said.names[first],
        "second": said.names[second],
        "both": both.data[order].astype(int),
        "kappa": kappa,
        "low": np.maximum(kappa - Z95 * error, -1),
        "high": np.minimum(kappa + Z95 * error, 1),
    }


def _tables(said, codes, n_codes, first, second):
    """How often each of some pairs of people gave which pair of codes."""
    known = codes >= 0
    given = sparse.csr_array(
        (
            np.ones(known.sum()),
            (said.people[known] * n_codes + codes[known], said.rows[known]),
        ),
        shape=(said.n_people * n_codes, said.n_rows),
    )
    tables = np.zeros((len(first), n_codes, n_codes))
    for start in range(n_codes):
        rows = given[first * n_codes + start]
        for other in range(n_codes):
            columns = given[second * n_codes + other]
            tables[:, start, other] = (rows * columns).sum(axis=1)
    return tables


def _label_kappas(said, first, second):
    """Kappa over all labels: agreement and chance are summed over them."""
    top, error, room = np.zeros(len(first)), np.zeros(len(first)), np.zeros(len(first))
    for label in range(said.n_labels):
        tables = _tables(said, said.codes[:, label], 2, first, second)
        kappa, own = kappa_of_tables(tables)
        n = np.maximum(tables.sum(axis=(1, 2)), 1)
        chance = tables.sum(axis=1) * tables.sum(axis=2)
        weight = n - chance.sum(axis=1) / n
        known = np.isfinite(kappa)
        weight = np.where(known, weight, 0.0)
        top += weight * np.where(known, kappa, 0.0)
        error += (weight * np.where(known, own, 0.0)) ** 2
        room += weight
    with np.errstate(divide="ignore", invalid="ignore"):
        return top / room, np.sqrt(error) / room


def _people(said, votes, asked):
    """Columns of the table of people."""
    places = (said.rows, said.codes) if said.single else (said.rows,)
    same, others = votes[places] - 1, asked[places] - 1
    if not said.single:
        known = said.codes >= 0
        same = np.where(said.codes == 1, same, others - votes[places])
        same, others = (same * known).sum(axis=1), (others * known).sum(axis=1)
    by_person = grouping(said.people, said.n_people)
    with np.errstate(divide="ignore", invalid="ignore"):
        agrees = (by_person @ same) / (by_person @ others)
    return {
        "person": said.names,
        "rows": said.answers_per_person,
        "shared": (by_person @ (said.answers_per_row[said.rows] > 1)).astype(int),
        "agrees": agrees,
        "only": [_only(said, by_person, person) for person in range(said.n_people)],
    }


def _only(said, by_person, person):
    """The one thing a person ever says; blank if there are several or one answer."""
    own = by_person.indices[by_person.indptr[person] : by_person.indptr[person + 1]]
    if len(own) < 2 or (said.codes[own] != said.codes[own[0]]).any():
        return ""
    if said.single:
        return str(said.classes[said.codes[own[0]]])
    return ", ".join(map(str, said.classes[said.codes[own[0]] == 1])) or "no label"
