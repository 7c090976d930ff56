"""Whether labels are the answers of several people."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__ = ["is_annotated"]


def is_annotated(y):
    """Whether y is :class:`~demurk.annotators.Annotations`.

    Known by its name: the methods that take such labels ask them for a consensus, and
    need not know how it is made.
    """
    return type(y).__name__ == "Annotations"
