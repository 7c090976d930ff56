"""Tensors in, tensors out; and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from demurk.device import to_host
from demurk.graph import nearest_neighbors
from demurk.multilabel import MLkNN, RankSVM, SemiSupervisedMLkNN
from demurk.projection import CENDA, MDDM, NMLSDR
from demurk.propagation import NoisyLabelPropagation


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X[:, :3] > 0).astype(int)


def test_tensors_in_memory_take_the_way_of_arrays(torch, data):
    X, y = data
    rows, labels = torch.tensor(X), torch.tensor(y)
    model = RankSVM().fit(rows, labels)
    predicted = model.predict(rows)
    assert isinstance(predicted, torch.Tensor)
    np.testing.assert_array_equal(predicted, RankSVM().fit(X, y).predict(X))
    reducer = NMLSDR(2).fit(rows.requires_grad_(), labels)
    assert isinstance(reducer.label_distributions_, np.ndarray)
    assert isinstance(reducer.transform(rows), torch.Tensor)
    np.testing.assert_array_equal(reducer.components_, NMLSDR(2).fit(X, y).components_)
    Z = MDDM(2).fit_transform(rows.detach().bfloat16(), labels)
    assert isinstance(Z, torch.Tensor)
    graph = nearest_neighbors(rows.detach(), 3)
    assert (graph.distances != nearest_neighbors(X, 3).distances).nnz == 0


@pytest.mark.parametrize("forced", [False, True])
def test_scores(torch, monkeypatch, data, forced):
    monkeypatch.setattr("demurk.device._run.everywhere", forced)
    X, y = data
    for labels in (y, y.argmax(axis=1)):
        wanted = MLkNN(3).fit(X, labels).score(X, labels)
        assert 0 < wanted < 1
        rows, known = torch.tensor(X), torch.tensor(labels)
        model = MLkNN(3).fit(rows, known)
        assert model.score(rows, known) == wanted
        assert model.score(rows, labels) == wanted
        if torch.cuda.is_available():
            there = rows.cuda()
            assert MLkNN(3).fit(there, known.cuda()).score(there, labels) == wanted


def test_names_of_classes_stay_names(on_device, torch, data):
    X, y = data
    names = np.array(["cat", "dog", "emu"])[y.argmax(axis=1)]
    model = NoisyLabelPropagation().fit(torch.tensor(X), names)
    predicted = model.predict(torch.tensor(X))
    assert set(predicted) <= set(names)
    assert model.transduction_.dtype.kind == "U"


def test_to_host(on_device, torch, data):
    X, y = data
    model = MLkNN(3).fit(torch.tensor(X), y)
    wanted = model.predict(torch.tensor(X)).numpy()
    assert isinstance(model._fit_X, torch.Tensor)
    assert to_host(model) is model
    assert not any(isinstance(value, torch.Tensor) for value in vars(model).values())
    np.testing.assert_array_equal(model.predict(X), wanted)


def test_pipelines(on_device, torch, data):
    X, y = data
    model = make_pipeline(NMLSDR(2), SemiSupervisedMLkNN(3))
    wanted = clone(model).fit(X, y).predict(X)
    predicted = model.fit(torch.tensor(X), torch.tensor(y)).predict(torch.tensor(X))
    assert isinstance(predicted, torch.Tensor)
    np.testing.assert_array_equal(predicted, wanted)


def test_refused(on_device, torch, data):
    X, y = data
    rows = torch.tensor(X)
    bad = rows.clone()
    bad[3, 2] = torch.nan
    for value, words in (
        (bad, "Input X contains NaN"),
        (bad.nan_to_num(torch.inf), "Input X contains infinity"),
        (1e40 * rows, "too large to be squared"),
        (rows[0], "Expected 2D array, got 1D array"),
        (rows.to(torch.complex64), "Complex data not supported"),
        (rows[:1], "minimum of 2 is required"),
        (rows[:, :0], "feature"),
    ):
        with pytest.raises(ValueError, match=words):
            MDDM().fit(value, y[: len(value)])
    with pytest.raises(TypeError, match=r"sparse.*to_dense"):
        MDDM().fit(rows.to_sparse(), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        NMLSDR().fit(rows, torch.tensor(y[:-1]))
    with pytest.raises(ValueError, match="y holds 7 at row 2, column 1"):
        wrong = torch.tensor(y)
        wrong[2, 1] = 7
        NMLSDR().fit(rows, wrong)
    model = MDDM(2).fit(rows, y)
    with pytest.raises(ValueError, match="X has 4 features, but MDDM is expecting 5"):
        model.transform(rows[:, :4])
    with pytest.raises(ValueError, match="requires y"):
        MDDM().fit(rows, None)
    with pytest.raises(TypeError, match="CENDA does not compute on cpu as it is"):
        CENDA().fit(rows, y)
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        nearest_neighbors(rows, 0)
    with pytest.raises(TypeError, match="queries is in memory"):
        nearest_neighbors(rows, 2, queries=X)


def test_devices_that_are_not_there(torch, data):
    _, y = data
    rows = torch.empty((60, 5), device="meta")
    with pytest.raises(TypeError, match=r"tensor on meta, where demurk cannot"):
        MDDM().fit(rows, y)


def test_labels_on_another_device(torch, data):
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    X, y = data
    with pytest.raises(ValueError, match="X is on cuda:0 and y on cpu; move them"):
        MDDM().fit(torch.tensor(X, device="cuda"), torch.tensor(y))
    with pytest.raises(TypeError, match=r"hand over X\.cpu\(\)"):
        RankSVM().fit(torch.tensor(X, device="cuda"), y)


def test_arrays_of_cupy(torch, data):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    X, y = data
    rows = cupy.asarray(X)
    model = NMLSDR(2).fit(rows, cupy.asarray(y))
    Z = model.transform(rows)
    assert isinstance(Z, cupy.ndarray)
    assert isinstance(model.label_distributions_, cupy.ndarray)
    np.testing.assert_allclose(Z.get(), NMLSDR(2).fit(X, y).transform(X), atol=1e-9)
    graph = nearest_neighbors(rows, 3)
    wanted = nearest_neighbors(X, 3).distances
    np.testing.assert_array_equal(graph.distances.indices.get(), wanted.indices)
