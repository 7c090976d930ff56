"""One HTML page to look around in an embedding."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html
import json
from itertools import takewhile

import numpy as np

from demurk.utils._files import atomic_path, write_text
from demurk.utils._optional import import_optional
from demurk.viz._packing import (
    align_embeddings,
    pack_bits,
    pack_positions,
    read_embeddings,
    read_page_labels,
    zipped,
)
from demurk.viz._report import filled, web_text
from demurk.viz._static import EXTRA, NO_LABEL, PALETTE, SHAPES

__all__ = ["embedding_page", "page_data", "plot_item", "save_page"]

# What the page calls samples whose given labels differ from the cleaned ones.
WORDS = {
    "heading": "Changed labels",
    "search": "Search changed samples",
    "list": "Samples whose given and cleaned labels differ",
    "only": "only changed",
    "count": "changed by cleaning",
    "changed": "overruled",
    "kept": "kept",
    "change": "Change",
    "after": "Cleaned",
}

# What the numbers in the columns `fill` and `line` stand for; the page's script knows
# these places.
COLORS = (*PALETTE, EXTRA, NO_LABEL, "#FFFFFF00")


def embedding_page(
    embeddings,
    labels,
    *,
    cleaned=None,
    names=None,
    samples=None,
    scores=None,
    title=None,
    report=None,
    words=None,
    cards=None,
):
    """Make an interactive page of one or several maps of the same samples.

    The page is one HTML text that needs no network. A slider moves the points
    smoothly from map to map; points can be filtered by label and by label set; hovering
    shows a sample with its labels; a list holds the samples whose given labels were
    overruled, and a click on one of them finds it on the map.

    Parameters
    ----------
    embeddings : dict of str or float to array-like of shape \
            (n_samples, n_components), or one such array
        Maps in the order of the slider; the first two coordinates are drawn. Numbers
        are feature weights, as :func:`~demurk.manifold.embed_weights` returns them.
    labels : array-like of shape (n_samples,) or (n_samples, n_labels)
        Given labels in any form that :func:`~demurk.labels.check_labels` takes.
    cleaned : array-like of the same form, default=None
        Labels after cleaning. Entries of -1 are undecided and change nothing.
    names : sequence of str, default=None
        Names of the labels; None takes column names or classes.
    samples : sequence of str, default=None
        What each sample is, shown on hover; None shows its number.
    scores : array-like of shape (n_samples,), default=None
        How suspect each sample is; the list of changes then begins with the highest.
    title : str, default=None
        Title of the page.
    report : str, default=None
        HTML put below the map as it is, for findings in words and tables.
    words : dict of str to str, default=None
        Other words for what differs between `labels` and `cleaned`. Keys are "heading",
        "search", "list", "only", "count", "changed", "kept", "change" and "after".
    cards : dict of int to dict, default=None
        For some samples, what ``demurk review`` shows of them: reasons, features
        and nearest samples.

    Returns
    -------
    page : str
        The text of the HTML file.

    See Also
    --------
    save_page : Write it to a file.
    plot_embeddings : Pictures for print.

    Notes
    -----
    Axes are mirrored and swapped so that each map resembles the one before it.
    Positions take 4 bytes for each sample and map, labels a bit each before
    compression: 100,000 samples with four maps, 20 labels and short texts make a file
    of 5 MB. Above 20,000 samples a browser without WebGL shows a random part.
    Colours come from a palette for colour-blind readers; labels beyond the eighth
    differ by shape, those beyond the 24th share one look. A ring has the colour of a
    sample's second label.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.viz import embedding_page
    >>> Z = np.random.RandomState(0).normal(size=(3, 2))
    >>> page = embedding_page(
    ...     {"features": Z, "features and labels": 2 * Z},
    ...     [{"sea"}, {"sea", "sun"}, set()],
    ...     samples=["beach.jpg", "bay.jpg", "wall.jpg"],
    ... )
    >>> page[:15], "https://" in page.partition("</head>")[0]
    ('<!DOCTYPE html>', False)
    """
    data = page_data(embeddings, labels, cleaned, names, samples, scores, cards)
    data["words"] = _words(words)
    return _fill_template(title or "Map of samples", data, report)


def page_data(
    embeddings, labels, cleaned=None, names=None, samples=None, scores=None, cards=None
):
    """What the scripts of a page unpack; see :func:`embedding_page`."""
    maps = align_embeddings(read_embeddings(embeddings))
    n_samples = len(next(iter(maps.values())))
    read = read_page_labels(labels, cleaned, names, n_samples)
    caption, stops = _stops(list(maps))
    return {
        "n": n_samples,
        "names": read.names,
        "caption": caption,
        "stops": stops,
        "maps": [zipped(pack_positions(Z)) for Z in maps.values()],
        "given": pack_bits(read.given),
        "observed": None if read.observed.all() else pack_bits(read.observed),
        "cleaned": None if read.cleaned is None else pack_bits(read.cleaned),
        "texts": _texts(samples, n_samples),
        "scores": _scores(scores, n_samples),
        "cards": None if cards is None else zipped(cards),
        "colors": COLORS,
        "shapes": SHAPES,
    }


def plot_item(n_samples):
    """The empty plot that `map.js` fills, one source per shape; ready for JSON."""
    embed, plotting, models = (
        import_optional(f"bokeh.{name}", "viz")
        for name in ("embed", "plotting", "models")
    )
    plot = plotting.figure(
        output_backend="webgl",
        sizing_mode="stretch_both",
        x_range=(-0.03, 1.03),
        y_range=(-0.03, 1.03),
        tools="pan,box_zoom,wheel_zoom,reset,save",
        active_scroll="wheel_zoom",
        toolbar_location="right",
        min_border=0,
        outline_line_color=None,
        # The page's own paper shows through, light or dark.
        background_fill_color=None,
        border_fill_color=None,
        name="map",
    )
    plot.toolbar.logo = None
    plot.axis.visible = False
    plot.grid.visible = False
    colors = {
        "transform": models.LinearColorMapper(
            palette=list(COLORS), low=-0.5, high=len(COLORS) - 0.5
        )
    }
    for shape in SHAPES:
        empty = {key: np.empty(0, "f4") for key in ("x", "y", "size", "fill", "line")}
        plot.scatter(
            "x",
            "y",
            source=models.ColumnDataSource(empty, name=shape),
            marker=shape,
            size="size",
            fill_color={"field": "fill", **colors},
            line_color={"field": "line", **colors},
            fill_alpha=0.85 if n_samples < 5_000 else 0.65,
            line_width=1.6 if n_samples < 20_000 else 1.0,
        )
    return embed.json_item(plot, "plot")


def save_page(path, embeddings, labels, *, force=False, **options):
    """Write the page of :func:`embedding_page` to a file, whole or not at all.

    Parameters
    ----------
    path : path-like
        File to write, usually ending in ``.html``.
    embeddings : dict of str or float to array-like of shape \
            (n_samples, n_components), or one such array
        Maps in the order of the slider.
    labels : array-like of shape (n_samples,) or (n_samples, n_labels)
        Given labels.
    force : bool, default=False
        Whether an existing file may be replaced.
    **options
        Further parameters of :func:`embedding_page`.

    Returns
    -------
    path : Path
        The file written.

    See Also
    --------
    embedding_page : The page as text, and all its options.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from pathlib import Path
    >>> from demurk.viz import save_page
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_page(Path(folder) / "map.html", np.eye(3), [0, 1, 1]).name
    'map.html'
    """
    page = embedding_page(embeddings, labels, **options)
    with atomic_path(path, force=force) as temporary:
        write_text(temporary, page)
    return type(temporary)(path)


def _words(words):
    unknown = sorted(set(words or ()) - set(WORDS))
    if unknown:
        raise ValueError(
            f"words has the key '{unknown[0]}'; choose from {', '.join(WORDS)}."
        )
    return WORDS | (words or {})


def _texts(samples, n_samples):
    if samples is None:
        return None
    texts = [str(text) for text in samples]
    if len(texts) != n_samples:
        raise ValueError(
            f"samples has {len(texts)} entries, but there are {n_samples} samples; "
            "give one text per sample."
        )
    return zipped(texts)


def _scores(scores, n_samples):
    if scores is None:
        return None
    scores = np.asarray(scores, dtype="<f4")
    if scores.shape != (n_samples,) or np.isnan(scores).any():
        raise ValueError(
            f"scores has shape {scores.shape}; give one number, not NaN, for each of "
            f"the {n_samples} samples."
        )
    return zipped(scores)


def _stops(names):
    """Words that all names begin with, said once, and the rest of each."""
    words = [name.split(" ") for name in names]
    # The last word always stays, and a single map needs no shortening.
    heads = zip(*(own[:-1] for own in words)) if len(names) > 1 else ()
    shared = [same[0] for same in takewhile(lambda head: len(set(head)) == 1, heads)]
    caption = " ".join(shared) or "Map"
    return caption, [" ".join(own[len(shared) :]) for own in words]


def _fill_template(title, data, report):
    """Put scripts and data into the page."""
    resources = import_optional("bokeh.resources", "viz")
    library = resources.Resources(mode="inline", components=["bokeh", "bokeh-gl"])
    scripts = ("samples.js", "map.js", "list.js", "card.js", "page.js")
    findings = f'<section class="report" aria-label="Findings">{report}</section>'
    return filled(
        "page.html",
        title,
        library="\n".join(f"<script>{text}</script>" for text in library.js_raw),
        plot=_json(plot_item(data["n"])),
        data=_json(data),
        script=web_text(*scripts),
        report=findings if report else "",
        **{key: html.escape(word) for key, word in data["words"].items()},
    )


def _json(value):
    # No text may end the script element that holds it.
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
