"""Static pictures with matplotlib."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.utils._optional import import_optional
from demurk.viz._packing import panel_name, read_page_labels

__all__ = ["PALETTE", "plot_embedding", "plot_embeddings"]

# Eight colours that colour-blind readers can tell apart (Okabe and Ito, 2008).
PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#444444",
)
# Labels beyond the eighth repeat the colours with another shape, those beyond the last
# shape share one look.
SHAPES = ("circle", "triangle", "square")
MARKERS = {"circle": "o", "triangle": "^", "square": "s"}
EXTRA = "#8A8A8A"
NO_LABEL = "#C9C9C9"
MOST_ENTRIES = 26  # of a legend beside the pictures


def look_of(label):
    """Colour and matplotlib marker of a label by its number."""
    cycle, place = divmod(label, len(PALETTE))
    if cycle >= len(SHAPES):
        return EXTRA, "o"
    return PALETTE[place], MARKERS[SHAPES[cycle]]


def plot_embedding(embedding, labels, *, names=None, title=None, size=14, ax=None):
    """Draw an embedding; a point with several labels shows all their colours.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates; the first two are drawn.
    labels : array-like of shape (n_samples, n_labels) or (n_samples,)
        0/1 indicator, one class per sample, or any other form that
        :func:`~demurk.labels.check_labels` takes. Points without a label are grey.
    names : sequence of str, default=None
        Names of the labels for the legend, which is left out above twelve entries.
    title : str, default=None
        Title of the picture.
    size : float, default=14
        Area of a point.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure if None.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.viz import plot_embedding
    >>> ax = plot_embedding(np.eye(3), [[1, 0], [1, 1], [0, 0]], names=["cat", "dog"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['cat', 'dog', 'no label']
    """
    plt = import_optional("matplotlib.pyplot", "viz")
    if ax is None:
        _, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
    Z = np.asarray(embedding)
    read = read_page_labels(labels, None, names, len(Z))
    _draw(ax, Z, read.given, size, title)
    _legend(plt, ax, read, 12, loc="best")
    return ax


def _as_it_is(text, content):
    """Show what the user named letter by letter: "$" begins no formula."""
    text.set(usetex=False, parse_math=False)
    text.set_text(str(content).encode("utf-8", "backslashreplace").decode())


def _draw(ax, Z, Y, size, title):
    x, y = Z[:, 0], Z[:, min(1, Z.shape[1] - 1)]
    counts = Y.sum(axis=1)
    if (counts == 0).any():
        bare = counts == 0
        ax.scatter(x[bare], y[bare], s=size / 2, c=NO_LABEL, linewidths=0)
    # Rings from the outside in: the first label is the widest disc, the next one is
    # drawn smaller on top of it, so that every label of a point stays visible.
    rank = np.cumsum(Y, axis=1)
    for ring in range(1, int(counts.max(initial=0)) + 1):
        for label in range(Y.shape[1]):
            rows = Y[:, label] & (rank[:, label] == ring)
            if not rows.any():
                continue
            area = size * (1 - (ring - 1) / np.maximum(counts[rows], 1)) ** 2
            color, marker = look_of(label)
            ax.scatter(
                x[rows],
                y[rows],
                s=area * np.where(counts[rows] > 1, 2.2, 1),
                color=color,
                marker=marker,
                alpha=0.75 if ring == 1 else 0.95,
                linewidths=0,
            )
    if title:
        _as_it_is(ax.set_title("", fontsize="medium", loc="left"), title)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#D8D8D8")


def _legend(plt, parent, read, most, loc):
    """An entry per label, and one for points without any, unless there are too many."""
    looks = [(name, *look_of(label)) for label, name in enumerate(read.names)]
    bare, known = ~read.given.any(axis=1), read.observed.any(axis=1)
    if bare.any():
        # Nobody has looked at an unlabelled sample; one without a label has none.
        words = {
            "no label": (bare & known).any(),
            "not labelled": (bare & ~known).any(),
        }
        looks.append(
            (" or ".join(w for w, any_ in words.items() if any_), NO_LABEL, "o")
        )
    if len(looks) > most:
        return
    # Names come last: matplotlib leaves out entries that begin with an underscore.
    handles = [
        plt.Line2D([], [], ls="", color=color, marker=marker, label="label")
        for _, color, marker in looks
    ]
    legend = parent.legend(handles=handles, frameon=False, fontsize="small", loc=loc)
    for text, (name, *_) in zip(legend.get_texts(), looks):
        _as_it_is(text, name)


def plot_embeddings(embeddings, labels, *, names=None, title=None):
    """Draw several embeddings of the same samples side by side.

    Parameters
    ----------
    embeddings : dict of str or float to array-like of shape \
            (n_samples, n_components)
        Title of each panel and its coordinates. Numbers are feature weights, as
        :func:`~demurk.manifold.embed_weights` returns them.
    labels : array-like of shape (n_samples, n_labels) or (n_samples,)
        Labels of the samples, shared by all panels.
    names : sequence of str, default=None
        Names of the labels for the legend, shown once at the side and left out above
        26 entries.
    title : str, default=None
        Title over all panels.

    Returns
    -------
    figure : matplotlib Figure
        The figure, ready to be saved.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.viz import plot_embeddings
    >>> Z = np.eye(3)
    >>> len(plot_embeddings({"a": Z, "b": -Z}, [0, 1, 0]).axes)
    2
    """
    plt = import_optional("matplotlib.pyplot", "viz")
    n_panels = len(embeddings)
    n_columns = min(n_panels, 3)
    n_rows = -(-n_panels // n_columns)
    size = (4.2 * n_columns, 4.1 * n_rows)
    figure = plt.figure(figsize=size, layout="constrained")
    maps = {panel_name(key): np.asarray(Z) for key, Z in embeddings.items()}
    n_samples = len(next(iter(maps.values())))
    read = read_page_labels(labels, None, names, n_samples)
    size = np.clip(14 * np.sqrt(2000 / n_samples), 1, 14)
    for place, (name, Z) in enumerate(maps.items(), start=1):
        ax = figure.add_subplot(n_rows, n_columns, place)
        _draw(ax, Z, read.given, size, name)
    _legend(plt, figure, read, MOST_ENTRIES, loc="outside right upper")
    if title:
        _as_it_is(figure.suptitle("", fontsize="large", x=0.01, ha="left"), title)
    return figure
