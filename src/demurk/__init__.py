"""Learning from murky labels: noisy, missing, or hidden in candidate sets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__version__ = "0.1.0.dev0"

__all__ = ["__version__"]
