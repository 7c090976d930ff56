"""What a classifier learns from after somebody has looked at suspects."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

__all__ = ["soft_labels"]


def soft_labels(audit):
    """Each label as far as an audit believes it, for a classifier to learn from.

    For use after a review: what a person decided (``trusted`` in ``fit``) counts as
    certain, and the audit knows the rates from the decisions. Without decisions learn
    from the labels as given: MurkyClassifier finds the noise itself.

    Read more in the :ref:`User Guide <review>`.

    Parameters
    ----------
    audit : LabelAudit
        A fitted audit.

    Returns
    -------
    labels : LabelData
        Probabilities of the true labels, for
        :class:`~demurk.multilabel.MurkyClassifier`. Without a noise rate (see
        `estimated_`) the labels as given.

    See Also
    --------
    demurk.audit.LabelAudit : What is believed, and how.
    demurk.annotators.Annotations.to_learn : The same for what several people say.

    Notes
    -----
    The cost of the audit is all there is: O(n q) for n rows and q labels here.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.audit import LabelAudit, soft_labels
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import flip_labels
    >>> from demurk.multilabel import MurkyClassifier
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> given = flip_labels(toy.target, 0.1, random_state=0).labels
    >>> settled = np.zeros(given.shape, dtype=bool)
    >>> settled[:100] = True  # somebody has looked at these rows
    >>> decided = np.where(settled, toy.target, given)
    >>> audit = LabelAudit(random_state=0)
    >>> labels = soft_labels(audit.fit(toy.data, decided, trusted=settled, given=given))
    >>> bool((labels.values[:100] == toy.target[:100]).all())
    True
    >>> model = MurkyClassifier("fast", n_estimators=30, random_state=0)
    >>> model.fit(toy.data, labels).predict(toy.data[:2]).shape
    (2, 4)
    """
    check_is_fitted(audit)
    given = audit._given
    if not audit.estimated_:
        return given
    # Rows of weight zero are not judged.
    known = given.observed & np.isfinite(audit.label_distributions_)
    values = np.where(known, audit.label_distributions_, given.values)
    return replace(given, values=values)
