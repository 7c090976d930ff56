"""
A reducer of your own
=====================

A linear reducer says what its directions should depend on, and what they should be
orthonormal in; fitting in memory or in chunks, dense or sparse, with many samples or
many features comes with the base class. Here MDDM gets a weight for each label, so that
a rare label counts as much as a frequent one.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

# %%
# The reducer
# -----------
# With T the centred labels, MDDM takes the directions of largest ``|X'T|``, in which a
# label counts by its variance. The sums over all rows are known when ``combine`` is
# called, also if the rows came in chunks: it divides each column of T by its length.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import check_estimator

from demurk.datasets import make_multilabel_blocks
from demurk.linalg import Problem
from demurk.projection import MDDM, LinearReducer, fit_chunks


class BalancedMDDM(LinearReducer):
    """MDDM in which all labels count alike."""

    _streams = True  # the statement of some rows looks at no others

    def __init__(self, n_components=None, *, balance=1.0):
        self.n_components = n_components
        self.balance = balance

    def _problem(self, X, labels):
        return Problem(labels, combine=self._label_weights)

    def _label_weights(self, sums):
        spread = sums.target_scatter.diagonal()
        known = spread > 0  # a label that never varies stays out
        weights = np.where(known, np.where(known, spread, 1.0) ** -0.5, 0.0)
        return np.diag(weights**self.balance)


# %%
# What comes with it
# ------------------
# It follows scikit-learn's conventions, and learns the same from sparse rows and from
# chunks.

check_estimator(BalancedMDDM())

toy = make_multilabel_blocks(2000, random_state=0)
X, Y = toy.data, toy.target.copy()
Y[200:, 0] = 0  # the first label becomes rare
whole = BalancedMDDM(3).fit(X, Y)
sparse = BalancedMDDM(3).fit(csr_array(X), Y)
parts = [(X[i : i + 500], Y[i : i + 500]) for i in range(0, 2000, 500)]
chunked = fit_chunks(BalancedMDDM(3), parts)
for other in (sparse, chunked):
    np.testing.assert_allclose(other.components_, whole.components_, atol=1e-8)

# %%
# What it is good for
# -------------------
# How strongly the map depends on each label, for MDDM and for the balanced form.

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
for shift, model in ((-0.2, MDDM(3).fit(X, Y)), (0.2, whole)):
    Z = model.transform(X)
    explained = [np.abs(np.corrcoef(Z.T, label)[-1, :-1]).max() for label in Y.T]
    places = np.arange(len(explained)) + shift
    axis.bar(places, explained, width=0.4, label=type(model).__name__)
axis.set(xlabel="label", ylabel="largest correlation", xticks=range(Y.shape[1]))
axis.legend(frameon=False)
plt.show()
