"""CENDA against the paper's loop written densely, and the rules of its turns."""

import tracemalloc
import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import loadmat
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from demurk.labels import add_candidates
from demurk.linalg import block_cg
from demurk.linalg._metric import SpectralMetric, factor_metric
from demurk.linalg._rows import CenteredRows
from demurk.projection import CENDA

SOLVERS = ["cholesky", "svd", "gram", "cg"]


def naive(X, S, n_iter, *, k=8, mu=0.5, threshold=0.999, coded=False, **options):
    """The loop of the paper with a dense eigenproblem, X centred.

    `coded` is the loop of the authors' program: directions with a largest entry of one,
    and votes of k, k - 1, ..., 1.
    """
    alpha, scatter = options.get("alpha", 1.0), options.get("scatter", "sum")
    m, d = X.shape
    H = np.eye(m) - 1 / m
    X = H @ X
    weight = mu / m if scatter == "mean" else mu
    M = weight * X.T @ X + (1 - mu) * np.eye(d)
    Y = S / S.sum(axis=1, keepdims=True)
    for _ in range(n_iter):
        values, vectors = eigh(X.T @ H @ Y @ Y.T @ H @ X, M)
        values, vectors = values[::-1].clip(0), vectors[:, ::-1]
        kept = 1
        while values[:kept].sum() < (threshold - 1e-12) * values.sum():
            kept += 1
        P = vectors[:, :kept]
        P = P / np.abs(P).max(axis=0) if coded else P
        Z = X @ P
        distances = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
        np.fill_diagonal(distances, np.inf)
        B = alpha * Y
        for i in range(m):
            for place, j in enumerate(np.argsort(distances[i], kind="stable")[:k]):
                B[i] = B[i] + (k - place if coded else 1) * Y[j]
        B = B * S
        Y = B / B.sum(axis=1, keepdims=True)
    return P, values, Y, M


def candidates_of(y, rng, n_extra=1):
    return add_candidates(y, n_extra, random_state=rng).labels.astype(int)


@pytest.fixture(params=[(90, 12), (40, 60)], ids=["m>d", "d>m"])
def data(request, rng):
    m, d = request.param
    y = rng.randint(5, size=m)
    y[:5] = range(5)
    X = 1.5 * rng.normal(size=(5, d))[y] + rng.normal(size=(m, d)) + 2
    X[rng.uniform(size=X.shape) < 0.3] = 0
    return X, candidates_of(y, rng), y


def quiet(model, X, S, **kwargs):
    """Fit without the warning of turns that did not settle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, S, **kwargs)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_iter", [1, 3])
@pytest.mark.parametrize("threshold", [0.9, 0.999])
def test_all_solvers_equal_the_dense_loop(data, solver, n_iter, threshold):
    X, S, _ = data
    P, values, Y, M = naive(X, S, n_iter, k=5, threshold=threshold)
    model = CENDA(
        solver=solver, max_iter=n_iter, tol=0, n_neighbors=5, threshold=threshold
    )
    quiet(model, X, S)
    kept = P.shape[1]
    assert model.n_components_ == kept
    assert model.n_iter_ == n_iter
    assert_allclose(model.label_distributions_, Y, atol=1e-8)
    assert_allclose(model.eigenvalues_, values[:kept], rtol=1e-9)
    assert_allclose(
        model.explained_dependence_ratio_, values[:kept] / values.sum(), rtol=1e-9
    )
    assert subspace_angles(model.components_.T, P).max() < 1e-7
    assert_allclose(
        model.components_ @ M @ model.components_.T, np.eye(kept), atol=1e-9
    )


@pytest.mark.parametrize("solver", ["auto", "gram", "cg"])
def test_sparse_equals_dense(data, solver):
    X, S, _ = data
    dense = quiet(CENDA(max_iter=4), X, S)
    for make in (csr_array, lambda X: csr_array(X.astype(np.float64)).tocsc()):
        thin = quiet(CENDA(max_iter=4, solver=solver), make(X), S)
        assert_allclose(
            thin.label_distributions_, dense.label_distributions_, atol=1e-8
        )
        assert_allclose(thin.components_, dense.components_, atol=1e-7)
        assert_allclose(thin.transform(csr_array(X)), dense.transform(X), atol=1e-6)


def test_conjugate_gradients_go_on_from_the_last_solution(data, monkeypatch):
    X, _, _ = data
    n_steps = []

    def counting(*args, **kwargs):
        solution, n_iter = block_cg(*args, **kwargs)
        n_steps.append(n_iter)
        return solution, n_iter

    monkeypatch.setattr("demurk.linalg._metric.block_cg", counting)
    # With known classes the second system is the first one again.
    CENDA(solver="cg").fit(X, np.arange(len(X)) % 3)
    assert n_steps[0] > 0
    assert n_steps[1:] == [0]


def test_sparse_refuses_the_svd(data):
    X, S, _ = data
    with pytest.raises(ValueError, match="dense X"):
        CENDA(solver="svd").fit(csr_array(X), S)


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("scatter", ["sum", "mean"])
def test_metric_options(rng, mu, scatter):
    y = rng.randint(4, size=80)
    X = rng.normal(size=(4, 6))[y] + rng.normal(size=(80, 6))
    S = candidates_of(y, rng)
    P, values, Y, _ = naive(X, S, 2, k=8, mu=mu, scatter=scatter, alpha=0.5)
    model = CENDA(decorrelation=mu, scatter=scatter, self_weight=0.5, max_iter=2)
    quiet(model, X, S)
    assert_allclose(model.label_distributions_, Y, atol=1e-8)
    assert_allclose(model.eigenvalues_, values[: P.shape[1]], rtol=1e-9)


def test_collinear_features_without_ridge(rng):
    y = rng.randint(3, size=60)
    X = rng.normal(size=(3, 5))[y] + rng.normal(size=(60, 5))
    S = candidates_of(y, rng)
    twice = np.hstack([X, X])
    options = {"decorrelation": 1.0, "max_iter": 3}
    a, b = quiet(CENDA(**options), X, S), quiet(CENDA(**options), twice, S)
    assert isinstance(factor_metric(CenteredRows(twice), 1.0, 0.0), SpectralMetric)
    assert_allclose(b.label_distributions_, a.label_distributions_, atol=1e-10)
    assert_allclose(abs(b.transform(twice)), abs(a.transform(X)), atol=1e-8)
    with pytest.raises(ValueError, match="collinear"):
        CENDA(**options, solver="cholesky").fit(twice, S)


def test_choice_of_the_dimension(data):
    X, S, _ = data
    rank = S.shape[1] - 1
    kept = [
        quiet(CENDA(threshold=t, max_iter=1), X, S).n_components_
        for t in (0.3, 0.6, 0.9, 0.99, 1.0)
    ]
    assert kept == sorted(kept)
    assert kept[0] < rank and kept[-1] == rank
    whole = quiet(CENDA(threshold=1.0, max_iter=1), X, S)
    assert_allclose(whole.explained_dependence_ratio_.sum(), 1)
    assert quiet(CENDA(2, max_iter=3), X, S).components_.shape == (2, X.shape[1])
    with pytest.warns(UserWarning, match=f"only {rank} directions"):
        assert CENDA(rank + 1, max_iter=1).fit(X, S).n_components_ == rank


def test_a_tie_is_not_cut():
    # Three classes at the corners of a regular triangle: two equal eigenvalues.
    corners = np.array([[0, 1], [3**0.5 / 2, -0.5], [-(3**0.5) / 2, -0.5]])
    X = np.repeat(corners, 4, axis=0)
    y = np.repeat(np.arange(3), 4)
    assert CENDA(threshold=0.4).fit(X, y).n_components_ == 2
    assert CENDA(1).fit(X, y).n_components_ == 1


def test_confidences_stay_on_the_candidates(data):
    X, S, y = data
    S = S.copy()
    S[:10] = np.eye(5, dtype=int)[y[:10]]
    model = quiet(CENDA(), X, S)
    Y = model.label_distributions_
    assert_allclose(Y.sum(axis=1), 1)
    assert (Y[S == 0] == 0).all() and (Y >= 0).all()
    assert_array_equal(Y[:10], S[:10])
    assert_array_equal(model.labels_, Y.argmax(axis=1))


def test_invariances(data, rng):
    X, S, _ = data
    fit = CENDA(max_iter=6)
    base = quiet(fit, X, S)
    Y = base.label_distributions_.copy()
    components, Z = base.components_.copy(), base.transform(X)
    order, columns = rng.permutation(len(X)), rng.permutation(S.shape[1])
    permuted = quiet(fit, X[order], S[order])
    assert_allclose(permuted.label_distributions_, Y[order], atol=1e-10)
    assert_allclose(permuted.components_, components, atol=1e-8)
    renamed = quiet(fit, X, S[:, columns])
    assert_allclose(renamed.label_distributions_, Y[:, columns], atol=1e-10)
    assert_allclose(renamed.components_, components, atol=1e-8)
    rotation = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    rotated = quiet(fit, X @ rotation + 5, S)
    assert_allclose(rotated.label_distributions_, Y, atol=1e-10)
    assert_allclose(abs(rotated.transform(X @ rotation + 5)), abs(Z), atol=1e-8)
    constant = quiet(fit, np.hstack([X, np.full((len(X), 1), 0.1)]), S)
    assert_allclose(constant.label_distributions_, Y, atol=1e-10)
    assert_allclose(constant.components_[:, -1], 0, atol=1e-10)
    absent = quiet(fit, X, np.hstack([S, np.zeros((len(X), 1), dtype=int)]))
    assert_allclose(absent.label_distributions_[:, :-1], Y, atol=1e-10)


def test_float32(data):
    X, S, _ = data
    base = quiet(CENDA(max_iter=3), X, S)
    small = quiet(CENDA(max_iter=3), X.astype(np.float32), S)
    assert small.components_.dtype == small.transform(X.astype("f")).dtype == "float32"
    assert small.label_distributions_.dtype == np.float64
    angle = subspace_angles(small.components_.T.astype(float), base.components_.T)
    assert angle.max() < 1e-4


def test_a_duplicate_votes_and_the_sample_itself_does_not(rng):
    X = np.repeat(rng.normal(size=(15, 4)), 2, axis=0)
    S = candidates_of(np.arange(30) % 3, rng)
    model = CENDA(n_neighbors=1, max_iter=1, self_weight=0.5).fit(X, S)
    Y = S / S.sum(axis=1, keepdims=True)
    votes = (0.5 * Y + Y.reshape(15, 2, 3)[:, ::-1].reshape(30, 3)) * S
    assert_allclose(
        model.label_distributions_, votes / votes.sum(axis=1, keepdims=True)
    )


def test_more_neighbours_than_samples(rng):
    X = rng.normal(size=(9, 3))
    S = candidates_of(np.arange(9) % 3, rng)
    model = CENDA(n_neighbors=50, max_iter=1).fit(X, S)
    Y = S / S.sum(axis=1, keepdims=True)
    votes = Y.sum(axis=0) * S  # all others and, with a weight of one, itself
    assert_allclose(
        model.label_distributions_, votes / votes.sum(axis=1, keepdims=True)
    )


def test_a_row_without_votes_is_kept():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [5.2]])
    S = np.array([[0, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]])
    model = quiet(CENDA(n_neighbors=1, self_weight=0.0, max_iter=4), X, S)
    assert_array_equal(model.label_distributions_[1], [0.5, 0.5, 0])


def test_unlabelled_rows_may_have_any_class(data):
    X, S, _ = data
    ones, hidden, mask = S.copy(), S.copy(), np.ones(len(S), dtype=bool)
    ones[::4], hidden[::4], mask[::4] = 1, -1, False
    model = quiet(CENDA(max_iter=5), X, ones)
    for labels, observed in ((hidden, None), (csr_array(S), mask)):
        other = quiet(CENDA(max_iter=5), X, labels, observed=observed)
        assert_array_equal(other.label_distributions_, model.label_distributions_)
    # Where only some classes are excluded, the others remain.
    part = S.copy()
    part[3, S[3] == 0] = -1
    other = quiet(CENDA(max_iter=1), X, part)
    assert (other.label_distributions_[3] > 0).all()


def test_known_classes_need_two_turns(data):
    X, _, y = data
    names = np.array(["a", "b", "c", "d", "e"])[y]
    model = CENDA().fit(X, names)
    assert_array_equal(model.labels_, names)
    assert_array_equal(model.classes_, list("abcde"))
    assert model.n_iter_ == 2
    assert model.convergence_[1, 0] < 1e-12
    assert_array_equal(model.convergence_[:, 1], 0)
    partial = CENDA(max_iter=1).fit(X, [{n, "a"} for n in names])
    assert set(partial.labels_) <= set("abcde")


def test_labels_that_say_nothing(data, rng):
    X, S, _ = data
    with pytest.raises(ValueError, match="No direction"):
        CENDA().fit(X, np.ones_like(S))
    with pytest.raises(ValueError, match="No direction"):
        CENDA().fit(X, np.zeros(len(X)))
    for value in (0.0, 0.1):
        for solver in ["auto", *SOLVERS]:
            with pytest.raises(ValueError, match="No direction"):
                CENDA(solver=solver).fit(np.full(X.shape, value), S)
    with pytest.raises(ValueError, match="Row 2 of y has no candidate"):
        empty = S.copy()
        empty[2] = 0
        CENDA().fit(X, empty)


def test_features_without_any_dependence():
    X = np.tile([[1.0, 3.0], [-1.0, 0.5]], (10, 1))
    y = np.repeat([0, 1], 10)
    for solver in SOLVERS:
        with pytest.raises(ValueError, match="No direction"):
            CENDA(solver=solver).fit(X, y)


def test_a_class_that_takes_all(rng):
    X = rng.normal(size=(60, 4))
    S = np.eye(4, dtype=int)[rng.randint(1, 4, size=60)]
    S[:, 0] = 1
    with pytest.warns(ConvergenceWarning, match="same confidences"):
        model = CENDA(tol=0).fit(X, S)
    assert (model.labels_ == 0).all()
    assert np.isfinite(model.transform(X)).all()
    assert model.n_iter_ == len(model.convergence_) < 50


def test_turns_that_do_not_settle(rng):
    X = rng.normal(size=(80, 30))
    S = candidates_of(rng.randint(6, size=80), rng, 3)
    with pytest.warns(ConvergenceWarning, match="After 2 iterations"):
        model = CENDA(max_iter=2).fit(X, S)
    assert model.convergence_.shape == (2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(CENDA(max_iter=1).fit(X, S).convergence_[:, 0], 1)
        loose = CENDA(max_iter=40, tol=1.0, n_components=2).fit(X, S)
    assert loose.n_iter_ == 1


def test_convergence_is_the_angle_between_subspaces(data):
    X, S, _ = data
    M = naive(X, S, 1)[3]
    L = np.linalg.cholesky(M)
    for solver in SOLVERS:
        models = [
            quiet(CENDA(3, max_iter=t, solver=solver), X, S) for t in (1, 2, 3, 4)
        ]
        angles = [
            subspace_angles(L.T @ a.components_.T, L.T @ b.components_.T).max()
            for a, b in pairwise(models)
        ]
        sines = models[-1].convergence_[:, 0]
        assert_allclose(sines, [1, *np.sin(angles)], rtol=1e-6)
        change = abs(
            models[3].label_distributions_ - models[2].label_distributions_
        ).max()
        assert_allclose(models[3].convergence_[3, 1], change, atol=1e-12)


def test_rescale(data):
    X, S, _ = data
    plain = quiet(CENDA(max_iter=4), X, S)
    scaled = quiet(CENDA(max_iter=4, rescale=True), X, S)
    Z = scaled.transform(X)
    assert_allclose((Z**2).mean(), 1)
    factor = scaled.components_ / plain.components_
    assert_allclose(factor, factor[0, 0])
    assert_array_equal(scaled.label_distributions_, plain.label_distributions_)
    if len(X) > X.shape[1]:  # where the ridge is small beside the scatter
        assert_allclose(factor[0, 0], np.sqrt(0.5 * len(X)), rtol=0.05)


class Recorder:
    """Callback that notes the half-fitted models and stops after a few turns."""

    def __init__(self, n_turns):
        self.n_turns = n_turns

    def setup(self, estimator, context):
        self.models = []

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "iteration":
            self.models.append(fitted_estimator)
        return len(self.models) >= self.n_turns


def test_callbacks_see_and_stop_the_turns(data):
    X, S, _ = data
    recorder = Recorder(3)
    model = CENDA(tol=0, max_iter=20).set_callbacks(recorder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # who asks to stop needs no warning
        model.fit(X, S)
    assert model.n_iter_ == len(recorder.models) == 3
    for turn, seen in enumerate(recorder.models, start=1):
        alone = quiet(CENDA(tol=0, max_iter=turn), X, S)
        assert_allclose(seen.transform(X), alone.transform(X), atol=1e-10)
        assert_array_equal(seen.labels_, alone.labels_)


def test_no_matrix_of_all_pairs(rng, monkeypatch):
    # The search holds some megabytes whatever m is; here they would hide the rest.
    monkeypatch.setattr("demurk.graph._exact._CHUNK_BYTES", 2**18)
    m, d = 3000, 50
    y = rng.randint(10, size=m)
    X = rng.normal(size=(10, d))[y] + rng.normal(size=(m, d))
    S = candidates_of(y, rng)
    for solver in ("auto", "svd", "cg"):
        model = CENDA(max_iter=2, solver=solver, tol=0)
        tracemalloc.start()
        quiet(model, X, S)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.15 * 8 * m**2  # 10.8 MB; X itself takes 1.2 MB


def vote(Z, S, queries, k=10):
    """Weighted vote of the k nearest training samples."""
    distances, indices = NearestNeighbors(n_neighbors=k).fit(Z).kneighbors(queries)
    weights = 1 - distances / distances.sum(axis=1, keepdims=True)
    return np.einsum("ij,ijc->ic", weights, S[indices]).argmax(axis=1)


def fold_accuracy(X, S, y, make, n_splits):
    """Accuracies of the vote without and with reduction, fitted within folds."""
    accuracies = []
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        model = quiet(make(), X[train], S[train])
        Z, queries = model.transform(X[train]), model.transform(X[test])
        plain = vote(X[train], S[train], X[test]) == y[test]
        reduced = vote(Z, S[train], queries) == y[test]
        accuracies.append([plain.mean(), reduced.mean()])
    return np.mean(accuracies, axis=0)


def noisy_digits(rng, n_samples):
    X, y = load_digits(return_X_y=True)
    rows = rng.permutation(len(X))[:n_samples]
    X = np.hstack([X[rows], rng.normal(size=(len(rows), 200))])
    S = add_candidates(y[rows], 2, random_state=rng).labels
    return StandardScaler().fit_transform(X), S, y[rows]


def test_noise_features_are_removed(rng):
    plain, reduced = fold_accuracy(
        *noisy_digits(rng, 1797), lambda: CENDA(max_iter=15), 10
    )
    assert reduced >= 0.90
    assert reduced >= plain + 0.08


def test_few_samples_want_the_mean_scatter(rng):
    # 480 training samples in 264 dimensions: the sum leaves no ridge to speak of.
    data = noisy_digits(rng, 600)
    plain, by_sum = fold_accuracy(*data, lambda: CENDA(max_iter=15), 5)
    _, by_mean = fold_accuracy(*data, lambda: CENDA(max_iter=15, scatter="mean"), 5)
    assert by_mean >= plain + 0.08
    assert by_mean >= by_sum + 0.15


@pytest.mark.parametrize("threshold, n_kept", [(0.9, 6), (0.99, 11), (0.999, 13)])
def test_dimensions_of_the_paper_on_lost(data_home, threshold, n_kept):
    raw = loadmat(data_home / "partial_label" / "lost" / "lost.mat")
    X = StandardScaler().fit_transform(raw["data"])
    model = CENDA(threshold=threshold).fit(X, csr_array(raw["partial_target"].T))
    assert model.n_components_ == n_kept


@pytest.mark.parametrize("solver", ["cholesky", "svd"])
def test_votes_by_rank_and_the_largest_entry(data, solver):
    X, S, _ = data
    n_iter = 4
    P, _, Y, _ = naive(X, S, n_iter, coded=True)
    options = {"vote": "rank", "scale": "entry", "solver": solver}
    model = quiet(CENDA(max_iter=n_iter, tol=0, **options), X, S)
    assert_allclose(np.abs(model.components_), np.abs(P.T), atol=1e-7)
    assert_allclose(np.abs(model.components_).max(axis=1), 1)
    assert_allclose(model.label_distributions_, Y, atol=1e-7)
    plain = quiet(CENDA(max_iter=n_iter, tol=0, solver=solver), X, S)
    assert np.abs(plain.label_distributions_ - Y).max() > 1e-3
