"""How figures of the gallery look."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__ = ["larger_words"]


def larger_words(gallery_conf, name):
    """Before each example, words that can still be read on a thumbnail."""
    import matplotlib

    matplotlib.rcParams.update({"font.size": 13, "legend.fontsize": "medium"})
