"""Learning from murky labels: noisy, missing, or hidden in candidate sets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from importlib import import_module

__version__ = "0.1.0.dev0"

__all__ = ["LabelAudit", "MurkyClassifier", "__version__"]

# Where the two classes to start with live; loaded when first asked for.
_HOMES = {"LabelAudit": "demurk.audit", "MurkyClassifier": "demurk.multilabel"}


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'demurk' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__():
    return sorted({*globals(), *__all__})
