"""What the page gets to read: labels, positions and texts in few bytes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from demurk.viz import embedding_page
from demurk.viz._packing import (
    align_embeddings,
    pack_positions,
    read_embeddings,
    read_page_labels,
)
from demurk.viz._page import _stops


def page_data(page):
    """The data inside a page, as its script reads them."""
    found = re.search(r'<script[^>]* id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def unzip(text):
    return gzip.decompress(base64.b64decode(text))


def unpack_bits(text, q):
    """Bits in the order of the script: label j is bit j % 8 of byte j // 8."""
    width = -(-q // 8)
    rows = np.frombuffer(unzip(text), np.uint8).reshape(-1, width).astype(int)
    return np.array([[row[j // 8] >> (j % 8) & 1 for j in range(q)] for row in rows])


@pytest.mark.parametrize("q", [2, 8, 9, 20])
def test_page_holds_what_it_was_given(q, rng):
    n = 60
    Z = {"a": rng.normal(size=(n, 3)), "b": rng.normal(size=(n, 2))}
    Y = rng.randint(2, size=(n, q))
    Y[:5] = -1
    Y[7, 1] = -1
    cleaned = rng.randint(2, size=(n, q))
    cleaned[9] = -1
    texts = [f"sample <{i}> é" for i in range(n)]
    scores = rng.rand(n)
    page = embedding_page(Z, Y, cleaned=cleaned, samples=texts, scores=scores)
    data = page_data(page)
    assert data["n"] == n and data["names"] == [str(j) for j in range(q)]
    np.testing.assert_array_equal(unpack_bits(data["given"], q), Y == 1)
    np.testing.assert_array_equal(unpack_bits(data["observed"], q), Y != -1)
    # What cleaning left undecided stays as it was given.
    expected = np.where(cleaned == -1, Y == 1, cleaned == 1)
    np.testing.assert_array_equal(unpack_bits(data["cleaned"], q), expected)
    assert json.loads(unzip(data["texts"])) == texts
    np.testing.assert_allclose(np.frombuffer(unzip(data["scores"]), "<f4"), scores)
    x, y = np.frombuffer(unzip(data["maps"][0]), "<u2").reshape(2, n) / 65535
    span = Z["a"].max(axis=0) - Z["a"].min(axis=0)
    for got, j in [(x, 0), (y, 1)]:
        wanted = (Z["a"][:, j] - Z["a"][:, j].min()) / span[j]
        np.testing.assert_allclose(got, wanted, atol=0.5 / 65535 + 1e-9)


def test_all_observed_and_not_cleaned_is_left_out(rng):
    data = page_data(embedding_page(rng.normal(size=(9, 2)), np.arange(9) % 3))
    assert (
        data["observed"] is data["cleaned"] is data["texts"] is data["scores"] is None
    )
    assert data["stops"] == ["map"]


def test_page_is_whole_and_asks_for_nothing(rng):
    page = embedding_page(rng.normal(size=(9, 2)), np.arange(9) % 3, title="A < B")
    assert "<title>A &lt; B</title>" in page and "{{" not in page.split("<script")[0]
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.(https?:)?//", page)


def test_other_words_for_what_differs():
    options = {"cleaned": [1, 1, 1], "title": "{{report}} {{data}}"}
    words = {"heading": "Suspect <labels>", "count": "</script> {{title}}"}
    page = embedding_page(np.eye(3), [0, 1, 1], words=words, **options)
    assert "<title>{{report}} {{data}}</title>" in page
    assert page.count("Suspect &lt;labels&gt;") == 2 and "Changed labels" not in page
    assert page_data(page)["words"]["count"] == "</script> {{title}}"
    with pytest.raises(ValueError, match="words has the key 'colour'"):
        embedding_page(np.eye(3), [0, 1, 1], words={"colour": "x"}, **options)


def test_equal_input_gives_equal_data(rng):
    Z, y = rng.normal(size=(9, 2)), np.arange(9) % 3
    assert page_data(embedding_page(Z, y)) == page_data(embedding_page(Z, y))


def test_mirrored_and_swapped_axes_are_undone(rng):
    Z = rng.normal(size=(200, 2)) * [3, 1]
    noise = 0.05 * rng.normal(size=(4, 200, 2))
    maps = {
        "first": Z,
        "mirrored": Z * [-1, 1] + noise[0],
        "swapped": 10 * (Z + noise[1])[:, ::-1],
        "both": (Z * [1, -1] + noise[2])[:, ::-1] * 0.1,
    }
    aligned = align_embeddings(maps)
    np.testing.assert_array_equal(aligned["first"], Z)
    for name, W in aligned.items():
        for j in range(2):
            assert np.corrcoef(W[:, j], Z[:, j])[0, 1] > 0.9, name
    again = align_embeddings(aligned)
    for name in maps:
        np.testing.assert_array_equal(again[name], aligned[name])


def test_one_coordinate_is_drawn_as_a_line():
    Z = read_embeddings([[1.0], [2.0], [4.0]])["map"]
    x, y = pack_positions(Z)
    assert x.tolist() == [0, 21845, 65535] and len(set(y)) == 1


@settings(max_examples=50, deadline=None)
@given(arrays(float, (7, 2), elements=st.floats(-1e6, 1e6, width=32)))
def test_positions_keep_order_and_range(Z):
    packed = pack_positions(Z).astype(int)
    for j in range(2):
        order = np.argsort(Z[:, j], kind="stable")
        assert (np.diff(packed[j][order]) >= 0).all()
        if np.ptp(Z[:, j]) > 0:
            assert packed[j].min() == 0 and packed[j].max() == 65535


def test_classes_that_occur_only_once_cleaned():
    read = read_page_labels(["cat", "dog", None], ["cat", "bird", "dog"], None, 3)
    assert read.names == ["bird", "cat", "dog"]
    assert read.given.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert read.cleaned.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    changed = (read.given != read.cleaned) & read.observed
    assert changed.any(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize("form", [np.asarray, csr_array, pd.DataFrame])
def test_a_single_label_stays_a_label(form):
    read = read_page_labels(form([[1], [0], [1]]), None, ["good"], 3)
    assert read.given.tolist() == [[True], [False], [True]] and read.names == ["good"]


def test_names_come_from_a_frame():
    frame = pd.DataFrame({"sea": [1, 0], "sun": [0, 1]})
    assert read_page_labels(frame, None, None, 2).names == ["sea", "sun"]
    assert read_page_labels(frame[["sea"]], None, None, 2).names == ["sea"]


@pytest.mark.parametrize(
    "names, caption, stops",
    [
        (["PCA", "MDDM"], "Map", ["PCA", "MDDM"]),
        (["feature weight 1", "feature weight 0.5"], "feature weight", ["1", "0.5"]),
        (["SLE-ML 1", "SLE-ML"], "Map", ["SLE-ML 1", "SLE-ML"]),
        (["one map"], "Map", ["one map"]),
    ],
)
def test_shared_words_are_said_once(names, caption, stops):
    assert _stops(names) == (caption, stops)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"embeddings": {}}, "embeddings is empty"),
        ({"embeddings": {"a": np.eye(3), "b": np.eye(4)}}, "'b' has shape"),
        ({"embeddings": {"a": np.ones(3)}}, "'a' has shape"),
        ({"embeddings": np.array([[1, 2], [np.nan, 1], [1, 1]])}, "row 1"),
        ({"labels": [0, 1]}, "3"),
        ({"names": ["a"]}, "names has 1 entries"),
        ({"samples": ["a"]}, "samples has 1 entries"),
        ({"scores": [1.0]}, "scores has shape"),
        ({"scores": [1.0, np.nan, 0.0]}, "not NaN"),
        ({"cleaned": [[0, 1, 1]] * 3}, "same form"),
    ],
)
def test_wrong_input_is_explained(change, message):
    arguments = {"embeddings": np.eye(3), "labels": [0, 1, 1]} | change
    with pytest.raises(ValueError, match=message):
        embedding_page(**arguments)
