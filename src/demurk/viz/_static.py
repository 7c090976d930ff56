"""Static pictures with matplotlib."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.utils._optional import import_optional

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


def _indicator(labels):
    labels = np.asarray(labels)
    if labels.ndim == 2:
        return labels > 0
    return labels[:, None] == np.unique(labels)


def plot_embedding(embedding, labels, *, names=None, title=None, size=14, ax=None):
    """Draw an embedding; a point with several labels shows all their colours.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates; the first two are drawn.
    labels : array-like of shape (n_samples, n_labels) or (n_samples,)
        0/1 indicator, or one class per sample. Points without a label are grey.
    names : sequence of str, default=None
        Names of the labels for the legend.
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
    Z, Y = np.asarray(embedding), _indicator(labels)
    x, y = Z[:, 0], Z[:, min(1, Z.shape[1] - 1)]
    names = [str(j) for j in range(Y.shape[1])] if names is None else list(names)
    counts = Y.sum(axis=1)
    if (counts == 0).any():
        bare = counts == 0
        ax.scatter(x[bare], y[bare], s=size / 2, c="#C9C9C9", linewidths=0)
    # Rings from the outside in: the first label is the widest disc, the next one is
    # drawn smaller on top of it, so that every label of a point stays visible.
    rank = np.cumsum(Y, axis=1)
    for ring in range(1, int(counts.max(initial=0)) + 1):
        for label in range(Y.shape[1]):
            rows = Y[:, label] & (rank[:, label] == ring)
            area = size * (1 - (ring - 1) / np.maximum(counts[rows], 1)) ** 2
            ax.scatter(
                x[rows],
                y[rows],
                s=area * np.where(counts[rows] > 1, 2.2, 1),
                color=PALETTE[label % len(PALETTE)],
                alpha=0.75 if ring == 1 else 0.95,
                linewidths=0,
            )
    handles = [
        plt.Line2D([], [], marker="o", ls="", color=PALETTE[j % len(PALETTE)], label=n)
        for j, n in enumerate(names)
    ]
    if (counts == 0).any():
        handles.append(
            plt.Line2D([], [], marker="o", ls="", color="#C9C9C9", label="no label")
        )
    if len(handles) <= 12:
        ax.legend(handles=handles, frameon=False, fontsize="small", loc="best")
    if title:
        ax.set_title(title, fontsize="medium", loc="left")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#D8D8D8")
    return ax


def plot_embeddings(embeddings, labels, *, names=None, title=None):
    """Draw several embeddings of the same samples side by side.

    Parameters
    ----------
    embeddings : dict of str to array-like of shape (n_samples, n_components)
        Title of each panel and its coordinates.
    labels : array-like of shape (n_samples, n_labels) or (n_samples,)
        Labels of the samples, shared by all panels.
    names : sequence of str, default=None
        Names of the labels for the legend, shown once.
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
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(4.2 * n_columns, 4.1 * n_rows),
        layout="constrained",
        squeeze=False,
    )
    for ax in axes.flat[n_panels:]:
        ax.remove()
    for panel, (name, embedding) in enumerate(embeddings.items()):
        ax = plot_embedding(
            embedding, labels, names=names, title=name, ax=axes.flat[panel]
        )
        if panel and ax.get_legend():
            ax.get_legend().remove()
    if title:
        figure.suptitle(title, fontsize="large", x=0.01, ha="left")
    return figure
