"""The solver of RankSVM: pairs of labels, and the machine that ranks them.

Primal: ``1/2 <b, K b> + sum over pairs of bound * max(0, 1 - margin)`` with one column
of b per label, scores K b, and margins that are differences of two scores of a row.
Dual: ``sum(alpha) - 1/2 <A'alpha, K A'alpha>`` with alpha between 0 and its bound,
where A takes scores to margins. Any b and any such alpha enclose the optimum.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils.extmath import row_norms

__all__ = ["Kernel", "Pairs", "Ranking", "best_scale", "fit_ranking", "make_pairs"]

# Reach of the first round in the unit of the dual variables, one over the kernel, and
# its growth: far reaches need fewer rounds, but these are worse conditioned.
FIRST_REACH = 10.0
GROWTH = 2.0
LARGEST_GROWTH = 2.0**40
# A round is over when its error is this share of what it moved.
ROUND_ERROR = 0.5
# Newton directions with less accuracy waste steps, with more they waste products.
DIRECTION_ERROR = 0.1
MAX_NEWTON_STEPS = 50
MAX_DIRECTION_PRODUCTS = 500
# Share of the promised decrease that a step must keep, and the shortest step.
SUFFICIENT = 1e-4
SHORTEST = 1e-8
# So many rounds in a row without a step that helps show that only rounding is left.
MAX_IDLE_ROUNDS = 20


@dataclass(frozen=True)
class Pairs:
    """Every relevant label of a row with every irrelevant one.

    Attributes
    ----------
    row, relevant, irrelevant : ndarray of int of shape (p,)
        The row and the two labels.
    bound : ndarray of shape (p,)
        Largest dual variable: C divided by the number of pairs of the row.
    """

    row: np.ndarray
    relevant: np.ndarray
    irrelevant: np.ndarray
    bound: np.ndarray


def make_pairs(values, observed, C):
    """Pairs of all rows; rows with all labels or none have no pairs."""
    relevant_all = observed & (values > 0)
    irrelevant_all = observed & (values == 0)
    n_pairs = relevant_all.sum(axis=1) * irrelevant_all.sum(axis=1)
    row, relevant = np.nonzero(relevant_all)
    others = [np.flatnonzero(mask) for mask in irrelevant_all]
    repeats = irrelevant_all.sum(axis=1)[row]
    irrelevant = [np.empty(0, dtype=np.intp), *(others[i] for i in row)]
    pair_row = np.repeat(row, repeats)
    return Pairs(
        pair_row,
        np.repeat(relevant, repeats),
        np.concatenate(irrelevant),
        C / n_pairs[pair_row],
    )


class Kernel:
    """Products with a kernel plus one; the one stands for a penalised intercept.

    Parameters
    ----------
    matrix : ndarray of shape (n, n), or {ndarray, csr_array} of shape (n, r)
        The kernel, or features whose products are the kernel.
    features : bool, default=False
        Whether the matrix holds features.
    """

    def __init__(self, matrix, features=False):
        self.matrix, self.features = matrix, features

    @classmethod
    def of_features(cls, phi):
        """The kernel itself where it is no larger than twice the features."""
        n, r = phi.shape
        if issparse(phi) or n > 2 * r:
            return cls(phi, features=True)
        return cls(phi @ phi.T)

    def __matmul__(self, block):
        matrix = self.matrix
        product = matrix @ (matrix.T @ block) if self.features else matrix @ block
        return product + block.sum(axis=0)

    def __getitem__(self, rows):
        matrix = self.matrix
        part = matrix[rows] if self.features else matrix[np.ix_(rows, rows)]
        return Kernel(part, self.features)

    def level(self):
        """Mean of the diagonal."""
        matrix = self.matrix
        squares = row_norms(matrix, squared=True) if self.features else np.diag(matrix)
        return 1.0 + float(squares.mean())


@dataclass(frozen=True)
class Ranking:
    """A fitted machine and how good it is.

    Attributes
    ----------
    coef : ndarray of shape (n, q)
        Coefficients b of the kernel.
    alpha : ndarray of shape (p,)
        Dual variables that prove the gap.
    gap : float
        Difference of the primal value of `coef` and the dual value of `alpha`, as a
        share of the former.
    n_iter : int
        Products with the kernel.
    """

    coef: np.ndarray
    alpha: np.ndarray
    gap: float
    n_iter: int


def fit_ranking(kernel, pairs, n_labels, *, tol=1e-3, max_iter=20000):
    """Find the ranking machine with the smallest primal value.

    Parameters
    ----------
    kernel : Kernel
        Kernel of the n rows.
    pairs : Pairs
        Pairs of labels to be ranked.
    n_labels : int
        Number q of labels.
    tol : float, default=1e-3
        The solver stops when primal and dual value agree up to this share.
    max_iter : int, default=20000
        Most products with the kernel.

    Returns
    -------
    ranking : Ranking
        The machine.

    Notes
    -----
    The proximal point method on the dual (the method of multipliers on the primal):
    each round adds ``|alpha - last alpha|^2 / (2 reach)``, which turns the primal into
    a smooth convex problem without bounds. Newton's method solves it, conjugate
    gradients find its steps. These involve only pairs on the margin, whose alpha is
    strictly between its bounds, and the rows that have such pairs. A product costs
    O(n^2 q + p), or O(n r q + p) with features.
    """
    search = _Search(kernel, pairs, n_labels, tol, max_iter)
    reach = first = FIRST_REACH / kernel.level()
    while not search.finished:
        search.run_round(reach)
        reach = min(reach * GROWTH, first * LARGEST_GROWTH)
    return Ranking(search.coef, search.alpha, search.gap, search.n_products)


class _Search:
    """State of the solver, and the best primal and dual point so far."""

    def __init__(self, kernel, pairs, n_labels, tol, max_iter):
        self.kernel, self.pairs, self.tol, self.max_iter = kernel, pairs, tol, max_iter
        n, p = kernel.matrix.shape[0], len(pairs.row)
        self.shape = n, n_labels
        self.to_margins = _differences(pairs.row, pairs, slice(None), self.shape)
        self.from_pairs = csr_array(self.to_margins.T)
        # The current point, its scores and margins, and the last round's alpha.
        self.b, self.scores = np.zeros(self.shape), np.zeros(self.shape)
        self.margins, self.norm = np.zeros(p), 0.0
        self.center = np.zeros(p)
        self.coef, self.primal = self.b, pairs.bound.sum()
        self.alpha, self.dual = self.center, 0.0
        self.n_products = self.n_idle = 0

    @property
    def gap(self):
        primal = self.primal
        return float((primal - self.dual) / primal) if primal else 0.0

    @property
    def finished(self):
        if self.n_products >= self.max_iter or self.n_idle >= MAX_IDLE_ROUNDS:
            return True
        return self.gap <= self.tol

    def multiply(self, block, kernel=None):
        self.n_products += 1
        return (kernel or self.kernel) @ block

    def run_round(self, reach):
        """Solve the problem around the last alpha, as far as is worth while."""
        for _ in range(MAX_NEWTON_STEPS):
            alpha, value = self._smooth(reach, self.margins, self.norm)
            slope = self.b - (self.from_pairs @ alpha).reshape(self.shape)
            K_slope = self.multiply(slope)
            error = np.vdot(slope, K_slope)
            self._remember(alpha, np.vdot(slope, self.scores), error)
            moved = np.sum((alpha - self.center) ** 2) / reach
            if self.finished or error <= ROUND_ERROR * moved:
                break
            free = np.flatnonzero((alpha > 0) & (alpha < self.pairs.bound))
            step = self._direction(slope, K_slope, error, free, reach)
            if not self._move(step, slope, value, reach):
                self.n_idle += 1
                break
            self.n_idle = 0
        self.center = alpha

    def _smooth(self, reach, margins, norm):
        """Best alpha of the round for given margins, and the value of the round."""
        loss = 1.0 - margins
        alpha = np.clip(self.center + reach * loss, 0.0, self.pairs.bound)
        pull = np.sum((alpha - self.center) ** 2) / (2 * reach)
        return alpha, norm + alpha @ loss - pull

    def _remember(self, alpha, overlap, error):
        """Keep the point, scaled as well as possible, and alpha, if they are better."""
        scale, primal = best_scale(self.norm, self.margins, self.pairs.bound)
        if primal < self.primal:
            self.coef, self.primal = scale * self.b, primal
        # The norm of A'alpha from that of b and their difference.
        dual = alpha.sum() - (self.norm - overlap + 0.5 * error)
        if dual > self.dual:
            self.alpha, self.dual = alpha, dual

    def _direction(self, slope, K_slope, error, free, reach):
        """Newton step d: ``(I + reach A'A K) d = -slope``, A with the free pairs only.

        Symmetric in the inner product of K, where conjugate gradients work. Outside
        the rows with free pairs d is -slope, so that only these rows take part.
        """
        pairs, step = self.pairs, -slope
        rows, place = np.unique(pairs.row[free], return_inverse=True)
        shape = len(rows), self.shape[1]
        A = _differences(place, pairs, free, shape)
        At, kernel = csr_array(A.T), self.kernel[rows]

        def curve(K_block):
            return reach * (At @ (A @ K_block.ravel())).reshape(shape)

        d = np.zeros(shape)
        rest = curve(K_slope[rows] - self.multiply(slope[rows], kernel)) - slope[rows]
        K_rest = self.multiply(rest, kernel)
        p, K_p, size = rest, K_rest, np.vdot(rest, K_rest)
        last = min(self.max_iter, self.n_products + MAX_DIRECTION_PRODUCTS)
        while size > DIRECTION_ERROR**2 * error and self.n_products < last:
            image = p + curve(K_p)
            length = size / np.vdot(K_p, image)
            d += length * p
            rest = rest - length * image
            K_rest = self.multiply(rest, kernel)
            old, size = size, np.vdot(rest, K_rest)
            p, K_p = rest + size / old * p, K_rest + size / old * K_p
        step[rows] = d
        return step

    def _move(self, step, slope, value, reach):
        """Go along the step, half as far until the value falls enough."""
        K_step = self.multiply(step)
        change = self.to_margins @ K_step.ravel()
        linear, square = np.vdot(self.b, K_step), 0.5 * np.vdot(step, K_step)
        promised, length = np.vdot(slope, K_step), 1.0
        while length >= SHORTEST:
            margins = self.margins + length * change
            norm = self.norm + length * (linear + length * square)
            new = self._smooth(reach, margins, norm)[1]
            if new <= value + SUFFICIENT * length * promised:
                self.b = self.b + length * step
                self.scores = self.scores + length * K_step
                self.margins = self.to_margins @ self.scores.ravel()
                self.norm = 0.5 * np.vdot(self.b, self.scores)
                return True
            length /= 2
        return False


def _differences(rows, pairs, which, shape):
    """Matrix that takes the scores, row after row, to the margins of some pairs."""
    first = rows * shape[1]
    relevant, irrelevant = pairs.relevant[which], pairs.irrelevant[which]
    columns = np.stack([first + relevant, first + irrelevant], axis=1).ravel()
    p = len(first)
    signs = np.tile([1.0, -1.0], p)
    return csr_array(
        (signs, columns, np.arange(0, 2 * p + 1, 2)), shape=(p, shape[0] * shape[1])
    )


def best_scale(norm, margins, bound):
    """Factor of a point that makes its primal value smallest, and this value.

    Parameters
    ----------
    norm : float
        ``1/2 <b, K b>``.
    margins, bound : ndarray of shape (p,)
        Margin of each pair, and the weight of its loss.

    Returns
    -------
    scale, value : float
        The factor t and ``t^2 norm + sum(bound * max(0, 1 - t * margins))``.
    """
    if norm <= 0:
        return 1.0, float(bound.sum())
    good = margins > 0
    order = np.argsort(-margins[good])
    margin = margins[good][order]
    gains = bound[good][order] * margin
    # Slope of the value in t just before each kink 1/margin: the pairs from there on
    # still gain, those with a negative margin always lose.
    loss = -(bound[~good] @ margins[~good])
    gain = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
    kinks = 1.0 / margin
    at = np.searchsorted(2 * norm * kinks + loss - gain[:-1], 0.0)
    scale = max((gain[at] - loss) / (2 * norm), kinks[at - 1] if at else 0.0)
    value = scale**2 * norm + bound @ np.maximum(1.0 - scale * margins, 0.0)
    return float(scale), float(value)
