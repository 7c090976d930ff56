"""Pictures drawn with matplotlib."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from demurk.viz import plot_embedding, plot_embeddings
from demurk.viz._static import EXTRA, NO_LABEL, PALETTE, look_of


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn(ax):
    """Every mark on the axes: place, colour and area, in the order of drawing."""
    marks = []
    for group in ax.collections:
        color = to_hex(group.get_facecolor()[0]).upper()
        sizes = np.broadcast_to(group.get_sizes(), len(group.get_offsets()))
        marks += [(*at, color, s) for at, s in zip(group.get_offsets().tolist(), sizes)]
    return marks


def test_every_label_of_a_point_is_seen():
    Z = [[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]
    marks = drawn(plot_embedding(Z, [[1, 0, 0], [1, 0, 1], [0, 0, 0]], size=10))
    at = {
        place: [m[2:] for m in marks if m[:2] == place]
        for place in [(0, 0), (1, 2), (3, 4)]
    }
    assert at[0, 0] == [(PALETTE[0], 10)]
    (outer, wide), (inner, narrow) = at[1, 2]
    assert (outer, inner) == (PALETTE[0], PALETTE[2]) and wide > 2 * narrow
    assert [color for color, _ in at[3, 4]] == [NO_LABEL]


def test_labels_beyond_the_palette_differ_by_shape():
    looks = [look_of(j) for j in range(24)]
    assert len(set(looks)) == 24
    assert look_of(24) == look_of(99) == (EXTRA, "o")
    assert look_of(0)[0] == look_of(8)[0] and look_of(0)[1] != look_of(8)[1]


def test_one_class_per_sample_with_names_and_gaps():
    ax = plot_embedding(np.eye(4), ["dog", "cat", None, "dog"], title="pets")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "cat",
        "dog",
        "not labelled",
    ]
    assert ax.get_title(loc="left") == "pets"


def test_small_multiples_over_weights(rng):
    maps = {w: rng.normal(size=(30, 2)) for w in (1.0, 0.9, 0.5, 0.1)}
    figure = plot_embeddings(maps, rng.randint(2, size=(30, 3)), title="weights")
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == [f"feature weight {w}" for w in ("1", "0.9", "0.5", "0.1")]
    assert len(figure.legends) == 1 and not any(ax.get_legend() for ax in figure.axes)
    for ax, Z in zip(figure.axes, maps.values()):
        shown = {mark[:2] for mark in drawn(ax)}
        assert shown == {tuple(row) for row in Z.tolist()}


def test_many_labels_have_no_legend(rng):
    Y = rng.randint(2, size=(40, 30))
    assert plot_embedding(rng.rand(40, 2), Y).get_legend() is None
    assert not plot_embeddings({"a": rng.rand(40, 2)}, Y).legends


def test_one_coordinate_and_given_axes(rng):
    _, ax = plt.subplots()
    assert plot_embedding([[1.0], [2.0]], [0, 1], ax=ax) is ax
    assert [mark[:2] for mark in drawn(ax)] == [(1, 1), (2, 2)]


def test_names_are_shown_letter_by_letter(tmp_path):
    names = ["$x_", "_hidden", r"\frac{", "half \udce9"]
    Y = np.eye(4, dtype=int)
    figure = plot_embeddings({"$^": Y, "b": Y}, Y, names=names, title="$a$ _{")
    figure.savefig(tmp_path / "picture.png")
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == [*names[:3], r"half \udce9"]
    assert not any(text.get_parse_math() for text in figure.legends[0].get_texts())
    ax = plot_embedding(Y, Y, names=names, title="$")
    ax.figure.savefig(tmp_path / "picture.png")
    assert ax.get_title(loc="left") == "$"
