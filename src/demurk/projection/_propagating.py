"""Linear reducers that begin by propagating the labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.projection._base import N_COMPONENTS, LinearReducer
from demurk.propagation._noisy import PROPAGATION_CONSTRAINTS, NoisyPropagationMixin
from demurk.utils._progress import fit_progress

__all__ = ["PropagatingReducer"]


class PropagatingReducer(NoisyPropagationMixin, LinearReducer):
    """A reducer whose statement reads `label_distributions_`, found first."""

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        **PROPAGATION_CONSTRAINTS,
    }
    _label_kind = "noisy"
    _semi_supervised = True
    _propagates = True

    def _learn(self, X, y, labels, weights=None):
        with fit_progress(self, 3 if self._propagates else 1, X, y) as stage:
            if self._propagates:
                # Also of the absence of a label that is alone.
                self._soft = self._propagate(X, labels, stage)[0].values
            with stage("projection"):
                super()._learn(X, y, labels, weights)
        self.__dict__.pop("_soft", None)
