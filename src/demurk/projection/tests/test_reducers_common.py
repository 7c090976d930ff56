"""What holds for every linear reducer: conventions of scikit-learn, invariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_circles
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from demurk.projection import (
    MDDM,
    MLSI,
    MSDA,
    MVMD,
    NMLSDR,
    SSMLDR,
    WMLDA,
    LabelCCA,
    SemiSupervisedCCA,
    SharedSubspace,
    SMDRdm,
)

SUPERVISED = [
    MDDM(2),
    MVMD(2),
    MVMD(2, dependence_weight="balanced"),
    LabelCCA(2),
    WMLDA(2),
    WMLDA(2, weights="entropy"),
    WMLDA(2, weights="correlation"),
    WMLDA(2, weights="fuzzy"),
    WMLDA(2, weights="dependence", random_state=0),
    MLSI(2),
    MLSI(2, formulation="inverse"),
    SharedSubspace(2),
]
SEMI_SUPERVISED = [
    SSMLDR(2),
    SMDRdm(2),
    SMDRdm(2, dependence="features"),
    MSDA(2),
    SemiSupervisedCCA(2),
]
REDUCERS = SUPERVISED + SEMI_SUPERVISED
each = pytest.mark.parametrize("reducer", REDUCERS, ids=str)


# The defaults are checked with all other estimators, in demurk/tests.
@parametrize_with_checks(
    [
        MVMD(dependence_weight="balanced"),
        WMLDA(weights="entropy"),
        WMLDA(weights="correlation"),
        WMLDA(weights="fuzzy"),
        WMLDA(weights="dependence"),
        MLSI(formulation="inverse"),
        SMDRdm(dependence="features"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(params=[(90, 8), (30, 45)], ids=["n>D", "D>n"])
def murky(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) * np.linspace(2, 1, D) + 2
    Y = (X[:, :4] + 0.5 * rng.normal(size=(n, 4)) > 2).astype(int)
    Y[::3] = -1
    return X, Y


def fitted(reducer, X, Y):
    return clone(reducer).fit(X, Y)


@each
def test_order_of_rows_and_labels(reducer, murky, rng):
    X, Y = murky
    base = fitted(reducer, X, Y)
    swapped = fitted(reducer, X, Y[:, [2, 0, 3, 1]])
    assert_allclose(swapped.components_, base.components_, atol=1e-7)
    if reducer.get_params().get("weights") == "dependence":
        return  # its local optimum depends on the order in which rows are visited
    order = rng.permutation(len(X))
    permuted = fitted(reducer, X[order], Y[order])
    assert_allclose(permuted.components_, base.components_, atol=1e-7)
    assert_allclose(permuted.mean_, base.mean_)


@each
@pytest.mark.parametrize("make", [csr_array, csr_matrix])
def test_sparse_equals_dense(reducer, make, murky):
    X, Y = murky
    X = X * (np.abs(X) > 1)
    a, b = fitted(reducer, X, Y), fitted(reducer, make(X), Y)
    # Scatter of a sparse X comes from uncentred products, which costs a few digits.
    assert_allclose(a.components_, b.components_, atol=1e-6)
    assert_allclose(a.transform(X), b.transform(make(X)), atol=1e-5)


@each
def test_float32(reducer, murky):
    X, Y = murky
    # Numbers that both precisions hold, so that neighbours are the same.
    X = np.round(X * 64) / 64
    a, b = fitted(reducer, X, Y), fitted(reducer, X.astype(np.float32), Y)
    assert b.components_.dtype == b.mean_.dtype == np.float32
    assert b.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(b.components_, a.components_, atol=2e-4)
    assert_allclose(b.eigenvalues_, a.eigenvalues_, rtol=1e-4)


@each
def test_empty_label_is_as_good_as_none(reducer, murky):
    X, Y = murky
    empty = np.where(Y[:, :1] == -1, -1, 0)
    padded = np.hstack([Y[:, :2], empty, Y[:, 2:]])
    a, b = fitted(reducer, X, Y), fitted(reducer, X, padded)
    assert_allclose(a.components_, b.components_, atol=1e-8)
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-8)
    default = clone(reducer).set_params(n_components=None)
    shape = fitted(default, X, Y).components_.shape
    assert fitted(default, X, padded).components_.shape == shape


@each
def test_constant_feature_gets_no_weight(reducer, murky):
    X, Y = murky
    wide = np.hstack([X, np.full((len(X), 1), 7.0)])
    a, b = fitted(reducer, X, Y), fitted(reducer, wide, Y)
    # The default ridge of SharedSubspace is a mean over all features.
    if not isinstance(reducer, SharedSubspace):
        assert_allclose(b.components_[:, :-1], a.components_, atol=1e-8)
    assert_allclose(b.components_[:, -1], 0, atol=1e-8)


@each
def test_shift_of_the_features(reducer, murky):
    X, Y = murky
    a, b = fitted(reducer, X, Y), fitted(reducer, X + 50, Y)
    assert_allclose(a.components_, b.components_, atol=1e-7)
    assert_allclose(a.transform(X), b.transform(X + 50), atol=1e-5)


@pytest.mark.parametrize("reducer", SUPERVISED, ids=str)
def test_supervised_ones_ignore_unlabelled_rows(reducer, murky):
    X, Y = murky
    seen = Y[:, 0] != -1
    a, b = fitted(reducer, X, Y), fitted(reducer, X[seen], Y[seen])
    assert_array_equal(a.components_, b.components_)
    assert_array_equal(a.mean_, b.mean_)


@pytest.mark.parametrize("reducer", SEMI_SUPERVISED, ids=str)
def test_semi_supervised_ones_use_unlabelled_rows(reducer, murky):
    X, Y = murky
    seen = Y[:, 0] != -1
    reducer = clone(reducer)
    if "graph_weight" in reducer.get_params():
        reducer.set_params(graph_weight=100.0)
    a, b = fitted(reducer, X, Y), fitted(reducer, X[seen], Y[seen])
    change = np.linalg.norm(a.components_ - b.components_)
    assert change > 0.01 * np.linalg.norm(a.components_)


@each
def test_partly_observed_rows(reducer, murky):
    X, Y = murky
    Y = Y.copy()
    Y[1::3, 0] = -1
    Y[2::3, 2] = -1
    model = fitted(reducer, X, Y)
    assert np.isfinite(model.components_).all()
    hidden = clone(reducer).fit(X, np.where(Y == -1, 0, Y), observed=Y != -1)
    assert_array_equal(hidden.components_, model.components_)


@each
def test_pandas_names_and_output(reducer, murky):
    pd = pytest.importorskip("pandas")
    X, Y = murky
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = clone(reducer).set_output(transform="pandas").fit(frame, Y)
    assert list(model.feature_names_in_) == list(frame.columns)
    name = type(reducer).__name__.lower()
    assert list(model.transform(frame).columns) == [f"{name}0", f"{name}1"]


@pytest.mark.parametrize("reducer", [MDDM(), NMLSDR(), WMLDA()], ids=str)
def test_nonlinear_by_way_of_kernel_features(reducer):
    X, y = make_circles(300, noise=0.05, factor=0.5, random_state=0)
    # A linear classifier: nearest neighbours would find the inner circle as an interval
    # in the middle of any direction.
    linear = make_pipeline(StandardScaler(), clone(reducer), LogisticRegression())
    assert cross_val_score(linear, X, y).mean() < 0.65
    features = Nystroem(gamma=2.0, n_components=50, random_state=0)
    kernel = make_pipeline(features, clone(reducer), LogisticRegression(C=100))
    assert cross_val_score(kernel, X, y).mean() > 0.97
