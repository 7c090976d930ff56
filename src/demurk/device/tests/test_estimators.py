"""Estimators on a device against themselves in memory."""

import numpy as np
import pytest
from sklearn.base import clone

from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_entries, hide_rows
from demurk.manifold import SLEML, LaplacianEigenmaps
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.projection import (
    MDDM,
    MLSI,
    MVMD,
    NMLSDR,
    SSMLDR,
    WMLDA,
    LabelCCA,
    SharedSubspace,
    SMDRdm,
)
from demurk.propagation import NoisyLabelPropagation


@pytest.fixture(scope="module")
def murky():
    toy = make_multilabel_blocks(400, random_state=0)
    X = toy.data[:, :60]
    # Its whole numbers make equal distances, whose order is a matter of rounding.
    X = X + np.random.default_rng(0).normal(size=X.shape)
    noisy = flip_labels(toy.target, 0.1, random_state=0).labels
    return X, hide_rows(noisy, 0.6, random_state=0).labels


def sine(a, b):
    one, other = (np.linalg.qr(m.T)[0] for m in (a, b))
    return np.linalg.norm(other - one @ (one.T @ other), 2)


REDUCERS = [
    NMLSDR(3),
    NMLSDR(3, affinity="heat"),
    SSMLDR(3),
    MDDM(3),
    MDDM(3, decorrelation=0.5),
    MVMD(3),
    MVMD(3, dependence_weight="balanced"),
    LabelCCA(3),
    LabelCCA(3, reg="rel:0.1"),
    MLSI(3),
    MLSI(3, formulation="inverse"),
    WMLDA(3),
    WMLDA(3, weights="entropy"),
    WMLDA(3, weights="correlation"),
]


@pytest.mark.parametrize("reducer", REDUCERS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_reducers(device, torch, murky, reducer, dtype):
    X, y = murky[0].astype(dtype), murky[1]
    here = clone(reducer).fit(X, y)
    rows = torch.tensor(X, device=device)
    there = clone(reducer).fit(rows, torch.tensor(y, device=device))
    assert sine(here.components_, there.components_) < 1e-6
    np.testing.assert_allclose(there.eigenvalues_, here.eigenvalues_, rtol=1e-6)
    assert there.components_.dtype == dtype
    assert there.mean_.dtype == dtype
    Z = there.transform(rows)
    assert Z.device == rows.device
    assert Z.dtype == rows.dtype
    tol = 1e-9 if dtype == np.float64 else 1e-4
    scale = np.abs(here.transform(X)).max()
    np.testing.assert_allclose(Z.cpu(), here.transform(X), atol=tol * scale)
    # What was fitted in either place works in the other.
    np.testing.assert_allclose(there.transform(X), Z.cpu(), atol=tol * scale)
    np.testing.assert_allclose(here.transform(rows).cpu(), Z.cpu(), atol=tol * scale)


@pytest.mark.parametrize("reducer", [NMLSDR(2), MDDM(2)], ids=str)
def test_weights_of_samples(device, torch, murky, reducer):
    X, y = murky
    w = np.random.default_rng(0).integers(3, size=len(X)).astype(float)
    here = clone(reducer).fit(X, y, sample_weight=w)
    rows = torch.tensor(X, device=device)
    there = clone(reducer).fit(rows, y, sample_weight=torch.tensor(w, device=device))
    assert sine(here.components_, there.components_) < 1e-6
    np.testing.assert_allclose(there.mean_, here.mean_, atol=1e-12)


def test_more_features_than_rows(device, torch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 50)), rng.integers(2, size=(30, 3))
    here = MDDM(2, decorrelation=0.5).fit(X, y)
    there = MDDM(2, decorrelation=0.5).fit(torch.tensor(X, device=device), y)
    assert sine(here.components_, there.components_) < 1e-6


@pytest.mark.parametrize("affinity", ["knn", "heat"])
@pytest.mark.parametrize("form", ["rows", "entries", "classes"])
def test_propagation(device, torch, murky, affinity, form):
    X, y = murky
    if form == "entries":
        y = hide_entries(np.abs(y), 0.5, random_state=0).labels
    elif form == "classes":
        y = np.where(y[:, 0] < 0, -1, np.abs(y).argmax(axis=1))
    model = NoisyLabelPropagation(affinity=affinity)
    here = clone(model).fit(X[:300], y[:300])
    rows = torch.tensor(X, device=device)
    there = clone(model).fit(rows[:300], torch.tensor(y[:300], device=device))
    soft = there.label_distributions_
    assert soft.device == rows.device
    np.testing.assert_allclose(soft.cpu(), here.label_distributions_, atol=1e-8)
    np.testing.assert_array_equal(there.transduction_.cpu(), here.transduction_)
    assert abs(there.n_iter_ - here.n_iter_) <= 1
    np.testing.assert_array_equal(there.classes_, here.classes_)
    proba = there.predict_proba(rows[300:]).cpu()
    np.testing.assert_allclose(proba, here.predict_proba(X[300:]), atol=1e-8)
    predicted = there.predict(rows[300:])
    assert predicted.device == rows.device
    np.testing.assert_array_equal(predicted.cpu(), here.predict(X[300:]))


def test_rows_without_reach_are_said(device, torch):
    X = np.r_[np.zeros((4, 2)), np.full((4, 2), 9.0)] + np.eye(8, 2)
    y = np.r_[[[1, 0]] * 2, [[0, 1]] * 2, [[-1, -1]] * 4]
    with pytest.warns(UserWarning, match="4 of 8 samples cannot be reached"):
        here = NoisyLabelPropagation(2).fit(X, y)
    with pytest.warns(UserWarning, match="4 of 8 samples cannot be reached"):
        there = NoisyLabelPropagation(2).fit(
            torch.tensor(X, device=device), torch.tensor(y, device=device)
        )
    np.testing.assert_array_equal(there.transduction_.cpu(), here.transduction_)


@pytest.mark.parametrize("model", [MLkNN(), SemiSupervisedMLkNN()], ids=str)
def test_ml_knn(device, torch, murky, model):
    X, y = murky
    here = clone(model).fit(X[:300], y[:300])
    rows = torch.tensor(X, device=device)
    there = clone(model).fit(rows[:300], torch.tensor(y[:300], device=device))
    np.testing.assert_allclose(there.posterior_, here.posterior_, rtol=1e-12)
    proba = there.predict_proba(rows[300:])
    np.testing.assert_allclose(proba.cpu(), here.predict_proba(X[300:]), rtol=1e-12)
    np.testing.assert_array_equal(there.predict(rows).cpu(), here.predict(X))
    # Fitted in memory, asked on the device.
    np.testing.assert_array_equal(here.predict(rows).cpu(), here.predict(X))


MAPS = [
    LaplacianEigenmaps(random_state=0),
    LaplacianEigenmaps(affinity="knn", random_state=0),
    SLEML(n_neighbors=15, random_state=0),
    SLEML(n_neighbors=15, balance=None, imbalance=0.5, random_state=0),
    SLEML(3, n_neighbors=2, feature_weight=1, random_state=0),
    SLEML(n_neighbors=2, feature_weight=0.9, on_disconnected="teleport"),
    SLEML(n_neighbors=15, out_of_sample="nystroem", random_state=0),
    SLEML(n_neighbors=15, out_of_sample="linear", random_state=0),
]


@pytest.mark.filterwarnings("ignore:The graph falls into")
@pytest.mark.parametrize("model", MAPS, ids=str)
def test_maps(device, torch, murky, model):
    X, y = murky
    here = clone(model).fit(X[:300], y[:300])
    rows = torch.tensor(X, device=device)
    there = clone(model)
    Z = there.fit_transform(rows[:300], torch.tensor(y[:300], device=device))
    assert Z.device == rows.device
    np.testing.assert_array_equal(Z.cpu(), there.embedding_.cpu())
    assert sine(here.embedding_.T, Z.cpu().numpy().T) < 1e-6
    np.testing.assert_allclose(there.eigenvalues_, here.eigenvalues_, atol=1e-8)
    size = np.abs(here.embedding_).max()
    np.testing.assert_allclose(Z.cpu(), here.embedding_, atol=1e-6 * size)
    placed = there.transform(rows[300:]).cpu()
    np.testing.assert_allclose(placed, here.transform(X[300:]), atol=1e-5 * size)


def test_rows_far_from_zero_are_moved(device, torch, murky):
    X, y = murky
    X = X + 1e4 * X.std()
    here = SLEML(n_neighbors=15, random_state=0).fit(X, y)
    rows = torch.tensor(X, device=device)
    there = SLEML(n_neighbors=15, random_state=0).fit(rows, y)
    np.testing.assert_allclose(there._far_origin, here._far_origin, rtol=1e-12)
    assert sine(here.embedding_.T, there.embedding_.cpu().numpy().T) < 1e-6


def test_pairs_of_a_large_graph(device, torch):
    """Beyond the dense solver: a ring, whose eigenvalues come in pairs."""
    from demurk.device._eigen import largest_pairs

    n = 2000
    support = torch.ones(n, dtype=torch.float64, device=device)

    def product(block):
        return 0.5 * (block.roll(1, 0) + block.roll(-1, 0))

    values, vectors = largest_pairs(product, n, 5, support=support, tol=1e-9)
    angles = 2 * np.pi * np.array([0, 1, 1, 2, 2]) / n
    np.testing.assert_allclose(values.cpu(), np.cos(angles), atol=1e-10)
    gap = product(vectors) - vectors * values
    assert float(gap.norm(dim=0).max()) < 1e-8
    eye = torch.eye(5, dtype=torch.float64, device=device)
    assert float((vectors.T @ vectors - eye).abs().max()) < 1e-10


def test_parts_of_a_long_chain(device, torch):
    from demurk.device._graph import connected_parts

    rng = np.random.default_rng(0)
    names = rng.permutation(3000)
    pairs = np.c_[names[:-1], names[1:]]
    pairs = np.delete(pairs, [999, 1999], axis=0)
    edges = torch.tensor(np.r_[pairs, pairs[:, ::-1]], device=device)
    part = connected_parts(*edges.unbind(dim=1), 3000).cpu().numpy()
    for chain in np.split(names, [1000, 2000]):
        assert (part[chain] == chain.min()).all()


def test_the_rest_is_told_where_to_go(device, torch, murky):
    rows = torch.tensor(murky[0], device=device)
    for model in (SharedSubspace(), SMDRdm(), WMLDA(weights="fuzzy")):
        with pytest.raises(TypeError, match=r"does not compute on .*X\.cpu\(\)"):
            model.fit(rows, murky[1])
    with pytest.raises(ValueError, match=r"choose 'exact', or hand over X\.cpu\(\)"):
        NMLSDR(neighbors="approx").fit(rows, murky[1])
