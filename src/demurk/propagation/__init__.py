"""Estimators that denoise given labels and complete missing ones over a graph."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.propagation._mlgfhf import MLGFHF
from demurk.propagation._noisy import NoisyLabelPropagation

__all__ = ["MLGFHF", "NoisyLabelPropagation"]
