"""Rows of Dask give what rows in memory give."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from demurk.audit import LabelAudit
from demurk.cluster import _audit, _blocks, read_npy, read_parquet
from demurk.cluster._blocks import Blocks, as_array
from demurk.datasets import make_multilabel_blocks
from demurk.graph import _approximate, nearest_neighbors
from demurk.labels import flip_labels, hide_rows
from demurk.manifold import SLEML
from demurk.multilabel import MLkNN, MurkyClassifier, SemiSupervisedMLkNN
from demurk.partial_label import PLkNN
from demurk.projection import MDDM, MVMD, NMLSDR, SSMLDR, WMLDA, LabelCCA
from demurk.propagation import MLGFHF, NoisyLabelPropagation

da = pytest.importorskip("dask.array", reason="needs Dask: pip install demurk[dask]")
cloudpickle = pytest.importorskip("cloudpickle")
dd = pytest.importorskip("dask.dataframe")

TOY = make_multilabel_blocks(600, random_state=0)
X, Y = TOY.data, TOY.target
MURKY = hide_rows(
    flip_labels(Y, 0.1, random_state=0).labels, 0.5, random_state=0
).labels
NEW = X[::3] + 0.01
# Chunks of all lengths, one of them without rows.
CHUNKS = ((200, 0, 149, 1, 250), -1)

REDUCERS = [
    NMLSDR(3),
    SSMLDR(3),
    MDDM(3),
    MDDM(3, decorrelation=0.5),
    MVMD(3),
    LabelCCA(3),
    WMLDA(3),
]
CLASSIFIERS = [
    NoisyLabelPropagation(),
    NoisyLabelPropagation(affinity="heat"),
    MLGFHF(),
    MLkNN(),
    SemiSupervisedMLkNN(),
]


def name_of(estimator):
    return type(estimator).__name__


def chunked(rows, chunks=CHUNKS):
    return da.from_array(rows, chunks=chunks)


def angle(A, B):
    """Largest angle between two sets of directions."""
    A, B = np.linalg.qr(A.T)[0], np.linalg.qr(B.T)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


@pytest.mark.parametrize("reducer", REDUCERS, ids=name_of)
def test_reducers_find_the_same_directions(reducer):
    expected = reducer.fit(X, MURKY)
    components, Z = expected.components_, expected.transform(NEW)
    found = reducer.fit(chunked(X), MURKY)
    assert angle(found.components_, components) < 1e-6
    lazy = found.transform(chunked(NEW, (70, -1)))
    assert lazy.chunks == ((70, 70, 60), (3,))
    assert_allclose(lazy.compute(), Z, atol=1e-6 * np.abs(Z).max())
    assert_allclose(found.transform(NEW), Z, atol=1e-6 * np.abs(Z).max())


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_classifiers_predict_the_same(model):
    model.fit(X, MURKY)
    labels, proba = model.predict(NEW), model.predict_proba(NEW)
    score = model.score(NEW, Y[::3])
    rows = chunked(NEW, ((0, 70, 130), -1))
    assert_array_equal(model.predict(rows).compute(), labels)
    # Fitted to rows of Dask, and asked for rows of either kind.
    model.fit(chunked(X), da.from_array(MURKY, chunks=(90, -1)))
    assert_array_equal(model.predict(NEW), labels)
    lazy = model.predict(rows)
    assert (lazy.shape, lazy.dtype) == (labels.shape, labels.dtype)
    assert_array_equal(lazy.compute(), labels)
    assert_allclose(model.predict_proba(rows).compute(), proba, atol=1e-12)
    assert model.score(rows, chunked(Y[::3], (50, -1))) == score


def test_weights_and_hidden_entries_count_alike():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, size=600).astype(float)
    labels = np.where(rng.random(Y.shape) < 0.2, -1, Y)
    for reducer in (NMLSDR(3), MDDM(3)):
        expected = reducer.fit(X, labels, sample_weight=weights).components_
        lazy = da.from_array(weights, chunks=100)
        found = reducer.fit(chunked(X), labels, sample_weight=lazy).components_
        assert angle(found, expected) < 1e-6
    model = MLkNN().fit(X, labels, sample_weight=weights)
    tables = model.posterior_
    model.fit(chunked(X), labels, sample_weight=weights)
    assert_allclose(model.posterior_, tables, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_neighbours_are_the_same(dtype, offset):
    rows = (X + offset).astype(dtype)
    rows[300:320] = rows[:20]  # at distance 0, by the lowest index
    expected = nearest_neighbors(rows, 7)
    found = nearest_neighbors(chunked(rows), 7)
    assert_array_equal(found.distances.indices, expected.distances.indices)
    assert_allclose(found.distances.data, expected.distances.data, rtol=1e-6)
    assert found.distances.dtype == dtype
    assert found.recall == 1.0
    queries = (NEW + offset).astype(dtype)
    expected = nearest_neighbors(rows, 7, queries=queries).distances
    for asked in (queries, chunked(queries, (70, -1))):
        found = nearest_neighbors(chunked(rows), 7, queries=asked).distances
        assert_array_equal(found.indices, expected.indices)


def test_more_neighbours_than_a_chunk_has_rows():
    rows = X[:12]
    expected = nearest_neighbors(rows, 20).distances
    found = nearest_neighbors(chunked(rows, (5, -1)), 20).distances
    assert_array_equal(found.indices, expected.indices)


def test_approximate_neighbours_have_an_index_for_each_block(monkeypatch):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((40, 12))
    rows = centers[rng.integers(40, size=5000)] + rng.standard_normal((5000, 12))
    truth = nearest_neighbors(rows, 5).distances.data.reshape(-1, 5)
    sizes, build = [], _approximate._build

    def counted(faiss, base, *args, **options):
        sizes.append(len(base))
        return build(faiss, base, *args, **options)

    monkeypatch.setattr(_approximate, "_build", counted)
    found = nearest_neighbors(chunked(rows, (2500, -1)), 5, method="approx")
    assert sizes == [2500] * 4  # of two blocks, for each of two blocks of queries
    near = found.distances.data.reshape(-1, 5)
    share = (near <= truth[:, -1:] * (1 + 1e-5)).mean()
    assert found.recall >= 0.95
    assert abs(share - found.recall) < 0.03


def test_columns_in_chunks_and_lengths_that_are_not_known():
    expected = MDDM(3).fit(X, MURKY).components_
    wide = chunked(X, (100, 20))
    assert angle(MDDM(3).fit(wide, MURKY).components_, expected) < 1e-6
    kept = wide[da.from_array(np.ones(600, dtype=bool), chunks=100)]
    assert np.isnan(kept.shape[0])
    assert angle(MDDM(3).fit(kept, MURKY).components_, expected) < 1e-6
    assert np.isnan(kept.shape[0])  # nothing is written into what was handed in
    lazy = MDDM(3).fit(X, MURKY).transform(kept)
    assert lazy.compute().shape == (600, 3)


def test_data_frames_keep_their_names(tmp_path):
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    labels = pd.DataFrame(MURKY, columns=list("abcd"))
    frame.to_parquet(tmp_path / "1.parquet", row_group_size=130)
    rows = read_parquet(tmp_path)
    assert rows.npartitions == 5
    model = SemiSupervisedMLkNN().fit(frame, labels)
    expected = model.predict(frame)
    model.fit(rows, dd.from_pandas(labels, npartitions=3))
    assert list(model.classes_) == list("abcd")
    assert list(model.feature_names_in_) == names
    assert_array_equal(model.predict(rows).compute(), expected)
    reducer = NMLSDR(3).fit(rows, labels)
    lazy = reducer.transform(rows)
    assert np.isnan(lazy.shape[0])
    assert_allclose(lazy.compute(), NMLSDR(3).fit_transform(frame, labels), atol=1e-8)
    with pytest.raises(ValueError, match="feature names should match"):
        reducer.transform(rows.rename(columns={"x0": "other"}))
    filtered = rows[rows.x0 > 1e9]  # chunks without rows
    assert reducer.transform(filtered).compute().shape == (0, 3)


@pytest.mark.parametrize(
    "model",
    [MurkyClassifier(members="fast", n_estimators=10, random_state=0), PLkNN()],
    ids=name_of,
)
def test_every_classifier_predicts_lazily(model):
    y = Y.argmax(axis=1) if name_of(model) == "PLkNN" else Y
    model.fit(X, y)
    for method in ("predict", "predict_proba"):
        lazy = getattr(model, method)(chunked(NEW, (70, -1)))
        assert_allclose(lazy.compute(), getattr(model, method)(NEW), atol=1e-12)


def test_forests_take_rows_of_dask():
    options = {"n_estimators": 10, "random_state": 0}
    expected = LabelAudit(**options).fit(X, MURKY).scores_
    found = LabelAudit(**options).fit(chunked(X), MURKY).scores_
    assert_allclose(found, expected, atol=1e-12)


def test_an_audit_of_many_rows_judges_block_by_block(monkeypatch):
    monkeypatch.setattr(_audit, "WHOLE_ROWS", 1000)
    toy = make_multilabel_blocks(1500, random_state=0)
    noisy = flip_labels(toy.target, 0.1, random_state=0)
    given = noisy.labels.copy()
    given[700:750] = -1
    weights = np.ones(1500)
    weights[:10] = 0
    options = {"n_estimators": 20, "random_state": 0}
    read = []
    monkeypatch.setattr(_audit, "read", lambda part: read.append(part) or rows(part))
    rows = _blocks.read
    X = chunked(toy.data, ((500, 0, 400, 600), -1))
    found = LabelAudit(**options).fit(X, given, sample_weight=weights)
    assert len(read) == 3
    whole = LabelAudit(**options).fit(toy.data, given, sample_weight=weights)
    assert np.isnan(found.scores_[700:750]).all()
    assert np.isnan(found.scores_[:10]).all()
    wrong = noisy.changed & ~np.isnan(found.scores_)
    for audit in (found, whole):
        assert abs(audit.n_suspects_ / wrong.sum() - 1) < 0.3
        listed = audit.suspects(100)
        assert wrong[listed["row"], listed["label"]].mean() > 0.85


def test_bad_input_is_told_in_a_sentence():
    rows = chunked(X)
    with pytest.raises(TypeError, match=r"SLEML cannot be fitted to rows of Dask; .*"):
        SLEML().fit(rows, MURKY)
    with pytest.raises(TypeError, match=r"fit_transform takes no rows of Dask"):
        SLEML().fit_transform(rows, MURKY)
    with pytest.raises(TypeError, match="WMLDA cannot be fitted to rows of Dask"):
        WMLDA(weights="dependence").fit(rows, MURKY)
    with pytest.raises(ValueError, match="600 rows instead of 599"):
        MDDM().fit(rows, MURKY[1:])
    with pytest.raises(ValueError, match="requires y"):
        MDDM().fit(rows, None)
    broken = X.copy()
    broken[250, 1] = np.nan
    with pytest.raises(ValueError, match="Chunk 2 of X: Input contains NaN"):
        NMLSDR().fit(chunked(broken), MURKY)
    with pytest.raises(ValueError, match="by 'exact' or 'approx', not 'ball'"):
        nearest_neighbors(rows, 3, method="ball")
    with pytest.raises(ValueError, match="queries have 2 features, but X has"):
        nearest_neighbors(rows, 3, queries=X[:, :2])
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        MDDM().fit(rows[:, 0], MURKY)
    with pytest.raises(ValueError, match=r"expecting \d+ features"):
        MDDM().fit(X, Y).transform(rows[:, :2])
    empty = da.from_array(np.empty((0, 3)), chunks=(1, -1))
    with pytest.raises(ValueError, match="Found 0 rows in X"):
        MDDM().fit(empty, np.empty((0, 2)))


def test_classifiers_of_no_new_rows():
    model = MLkNN().fit(chunked(X), MURKY)
    nothing = da.from_array(NEW, chunks=(50, -1))[:0]
    assert model.predict(nothing).compute().shape == (0, Y.shape[1])


def test_rows_of_a_file_are_read_by_those_who_need_them(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(np.float32))
    rows = read_npy(path, chunk_rows=130)
    assert rows.chunks[0] == (130, 130, 130, 130, 80)
    part = Blocks(as_array(rows)).parts[1]
    assert len(cloudpickle.dumps(part)) < 5000  # a name, and no rows
    expected = nearest_neighbors(X.astype(np.float32), 5).distances
    found = nearest_neighbors(rows, 5).distances
    assert_array_equal(found.indices, expected.indices)
    assert found.dtype == np.float32
    np.save(path, X[0])
    with pytest.raises(ValueError, match="it should have rows and columns"):
        read_npy(path)


def test_no_parquet_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no Parquet file at"):
        read_parquet(tmp_path)
