"""PML-LCom against a dense transcription of its rules, block by block."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from demurk.datasets import load_dataset
from demurk.labels import add_extra_labels
from demurk.linalg._ridge import CenteredRidge
from demurk.partial_multilabel import PMLLCom
from demurk.partial_multilabel._base import product_on
from demurk.partial_multilabel._lcom import iterate
from demurk.partial_multilabel._lcom_updates import (
    RULES,
    Problem,
    State,
    objective,
    similarity_graph,
    update_noise,
    update_predictor,
)


def dense_graph(X, k):
    """Eq. (4), one distance at a time."""
    n = len(X)
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    near = [sorted((d[i, j], j) for j in range(n) if j != i)[:k] for i in range(n)]
    width = np.mean([row[-1][0] for row in near])
    S = np.zeros((n, n))
    for i, row in enumerate(near):
        for distance, j in row:
            S[i, j] = np.exp(-(distance**2) / (2 * width**2))
    return S + S.T


class Dense:
    """The same rules with n x q and n x n matrices."""

    def __init__(self, X, Y, S, l1, l2, l3, lv):
        self.X, self.Y, self.S = X, Y, S
        self.D = np.diag(S.sum(axis=1))
        self.l1, self.l2, self.l3, self.lv = l1, l2, l3, lv

    def ridge(self, U):
        n, d = self.X.shape
        H = np.eye(n) - 1 / n
        gram = self.X.T @ H @ self.X + self.l2 * np.eye(d)
        W = np.linalg.solve(gram, self.X.T @ H @ U).T
        return W, U.mean(axis=0) - W @ self.X.mean(axis=0)

    def iterate(self, U, V, E, W, b):
        G, P = self.Y - E, self.X @ W.T + b
        above = G @ V + np.maximum(P, 0) + self.l3 * (self.S + self.D) @ U
        below = U @ V.T @ V + U + np.maximum(-P, 0) + 2 * self.l3 * self.D @ U
        U = U * above / below
        V = V * (G.T @ U) / (V @ U.T @ U + self.lv * V + 1e-300)
        E = np.maximum(self.Y - U @ V.T - self.l1 / 2, 0)
        return U, V, E, *self.ridge(U)

    def objective(self, U, V, E, W, b):
        value = np.sum((self.Y - E - U @ V.T) ** 2)
        value += np.sum((U - self.X @ W.T - b) ** 2) + self.l1 * np.abs(E).sum()
        value += self.l2 * np.sum(W**2) + self.lv * np.sum(V**2)
        return value + self.l3 * np.trace(U.T @ (self.D - self.S) @ U)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 6)) + 1
    factors = rng.uniform(size=(50, 4)) < 0.3
    Y = (factors @ (rng.uniform(size=(4, 25)) < 0.2)).astype(np.int8)
    Y[:3] = 0  # without candidates
    Y[:, 7] = 0  # a label nobody has
    return X, add_extra_labels(Y, 1, random_state=0).labels


def start(X, Y, l1=1.0, l2=10.0, l3=0.1, lv=0.0, rank=7, k=5, seed=0):
    """A problem and a random state."""
    rng = np.random.RandomState(seed)
    Y = csr_array(Y, dtype=float)
    graph = similarity_graph(X, k)
    degree = graph.sum(axis=1)[:, None]
    problem = Problem(Y, graph, degree, CenteredRidge(X, l2), l1, l3, lv)
    U, V = rng.uniform(size=(len(X), rank)), rng.uniform(size=(Y.shape[1], rank))
    state = State(0.3 * U, 0.3 * V, np.zeros(Y.nnz), None, None)
    return problem, update_predictor(problem, state)


def dense_state(problem, state):
    Y = problem.candidates
    noise = csr_array((state.noise, Y.indices, Y.indptr), shape=Y.shape).toarray()
    return state.embedding, state.components, noise, state.coef, state.intercept


@pytest.mark.parametrize("l1, l3, lv", [(1, 0.1, 0), (0.4, 10, 1), (1.5, 1000, 0.1)])
def test_equals_dense_rules(data, l1, l3, lv):
    X, Y = data
    problem, state = start(X, Y, l1=l1, l3=l3, lv=lv)
    dense = Dense(X, Y.astype(float), dense_graph(X, 5), l1, 10.0, l3, lv)
    expected = dense_state(problem, state)
    for _ in range(40):
        state, expected = iterate(problem, state), dense.iterate(*expected)
        assert_allclose(
            objective(problem, state), dense.objective(*expected), rtol=1e-9
        )
    for found, wanted in zip(dense_state(problem, state), expected):
        assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def assert_monotone(problem, state, n_iter=100):
    """Each of the four blocks lowers the objective, every time."""
    value = objective(problem, state)
    for _ in range(n_iter):
        for update in (*RULES["safe"], update_noise, update_predictor):
            state = update(problem, state)
            now = objective(problem, state)
            # Rounding of sums of some 10^4 terms.
            assert now <= value + 1e-11 * abs(value), update.__name__
            value = now
        _, _, noise, _, _ = dense_state(problem, state)
        assert np.all(noise >= 0) and np.all(noise <= problem.candidates.toarray())
        assert np.all(state.embedding >= 0) and np.all(state.components >= 0)


@pytest.mark.parametrize("smoothness", [0.1, 10, 1000])
@pytest.mark.parametrize("l1, lv", [(1, 0), (0.3, 1)])
def test_no_block_raises_the_objective(data, smoothness, l1, lv):
    assert_monotone(*start(*data, l1=l1, l3=smoothness, lv=lv))


@pytest.mark.parametrize("smoothness", [0.1, 10, 1000])
@pytest.mark.parametrize("name", ["emotions", "cal500", "birds"])
def test_no_block_raises_the_objective_on_benchmarks(name, smoothness, data_home):
    found = load_dataset(name, data_home=data_home)
    X = found.data.toarray() if hasattr(found.data, "toarray") else found.data
    X = StandardScaler().fit_transform(X)
    Y = add_extra_labels(found.target, 1, random_state=0).labels
    model = PMLLCom(smoothness=smoothness, random_state=0)
    problem = model._problem(X, csr_array(Y, dtype=float))
    state = model._start(problem, np.ones(len(X), bool))
    with threadpool_limits(1):  # the matrices are too small to share
        assert_monotone(problem, state)


def test_products_on_stored_entries(data, rng):
    _, Y = data
    U, V = rng.normal(size=(50, 3)), rng.normal(size=(25, 3))
    assert_allclose(product_on(csr_array(Y), U, V), (U @ V.T)[Y > 0])


def test_noise_vanishes_at_the_penalty_of_the_paper(data):
    X, Y = data
    assert PMLLCom(noise_penalty=2, random_state=0).fit(X, Y).noise_.nnz == 0
    assert (
        PMLLCom(noise_penalty=5, rules="literal", random_state=0).fit(X, Y).noise_.nnz
        == 0
    )
    noise = PMLLCom(noise_penalty=1, random_state=0).fit(X, Y).noise_
    assert noise.nnz > 0 and noise.data.min() > 0
    assert np.all(noise.toarray() <= Y)


def test_literal_rules_are_those_printed(data):
    """Eq. (12) and (15), and their divergence where the graph is strong."""
    X, Y = data
    problem, state = start(X, Y, l1=0.5)
    for _ in range(2):
        state = iterate(problem, state, "literal")
    U, V, E, W, b = dense_state(problem, state)
    S = dense_graph(X, 5)
    M = 0.1 * (np.diag(S.sum(axis=1)) - S) @ U
    P = X @ W.T + b
    above = Y @ V + np.maximum(P, 0) + np.maximum(-M, 0)
    below = U @ V.T @ V + E @ V + U + np.maximum(-P, 0) + np.maximum(M, 0)
    following = RULES["literal"][0](problem, state)
    assert_allclose(following.embedding, U * above / below)
    U = following.embedding
    V = V * (Y.T @ U) / (V @ U.T @ U + E.T @ U + 1e-300)
    assert_allclose(RULES["literal"][1](problem, following).components, V)
    with np.errstate(all="ignore"):
        strong = PMLLCom(rules="literal", smoothness=1000, tol=0, random_state=0).fit(
            X, Y
        )
    assert not np.all(np.diff(strong.objective_) <= 0)
    assert np.all(
        np.diff(PMLLCom(smoothness=1000, tol=0, random_state=0).fit(X, Y).objective_)
        <= 0
    )


def test_intercept_is_optional(data):
    X, Y = data
    model = PMLLCom(fit_intercept=False, random_state=0).fit(X, Y)
    assert not model.intercept_.any()
    U, W = model.label_embedding_, model.coef_
    # Ridge regression without centring.
    assert_allclose(X.T @ (U - X @ W.T) - 10 * W.T, 0, atol=1e-9)


def test_order_of_rows_and_labels_does_not_matter(data, rng):
    X, Y = data
    base = PMLLCom(random_state=0).fit(X, Y)
    rows, labels = rng.permutation(50), rng.permutation(25)
    moved = PMLLCom(random_state=0).fit(X[rows], Y[rows][:, labels])
    assert_allclose(moved.decision_function(X), base.decision_function(X)[:, labels])
    assert_allclose(moved.label_embedding_, base.label_embedding_[rows], atol=1e-9)
    expected = base.noise_.toarray()[rows][:, labels]
    assert_allclose(moved.noise_.toarray(), expected, atol=1e-9)


def test_sparse_is_dense_and_float32_is_close(data):
    X, Y = data
    X = np.where(X > 1, X, 0)
    base = PMLLCom(random_state=0).fit(X, Y).decision_function(X)
    sparse = PMLLCom(random_state=0).fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.decision_function(csr_array(X)), base, atol=1e-9)
    single = PMLLCom(random_state=0).fit(X.astype(np.float32), Y)
    assert_allclose(single.decision_function(X.astype(np.float32)), base, atol=1e-3)


def test_warm_start_continues(data):
    X, Y = data
    whole = PMLLCom(max_iter=9, tol=0, random_state=0).fit(X, Y)
    parts = PMLLCom(max_iter=4, tol=0, warm_start=True, random_state=0).fit(X, Y)
    parts.set_params(max_iter=5).fit(X, Y)
    assert_allclose(parts.objective_, whole.objective_[4:], rtol=1e-10)
    assert_allclose(parts.label_components_, whole.label_components_, atol=1e-10)
    # Other shapes start anew.
    fresh = PMLLCom(random_state=0).fit(X, Y[:, :9])
    assert_allclose(
        parts.set_params(max_iter=15, tol=1e-4).fit(X, Y[:, :9]).coef_, fresh.coef_
    )


def test_penalty_on_components_gives_a_minimum(data):
    X, Y = data
    free = PMLLCom(max_iter=1000, tol=0, random_state=0).fit(X, Y)
    held = PMLLCom(max_iter=1000, tol=0, component_penalty=1.0, random_state=0).fit(
        X, Y
    )
    shrunk = np.linalg.norm(free.label_embedding_)
    assert shrunk < 0.5 * np.linalg.norm(held.label_embedding_)
    assert held.objective_[-2] - held.objective_[-1] < 1e-5 * held.objective_[-1]
    converged = PMLLCom(max_iter=1000, component_penalty=1.0, random_state=0).fit(X, Y)
    assert converged.n_iter_ < 1000


def test_recovers_noise_that_breaks_a_pattern(rng):
    """Two groups of labels; wrong ones come from the other group."""
    group = np.arange(200) % 2
    X = rng.normal(size=(200, 5)) + 3 * group[:, None]
    truth = np.zeros((200, 40), np.int8)
    truth[group == 0, :20] = rng.uniform(size=(100, 20)) < 0.5
    truth[group == 1, 20:] = rng.uniform(size=(100, 20)) < 0.5
    noisy = add_extra_labels(truth, 0.5, random_state=0)
    model = PMLLCom(random_state=0).fit(X, noisy.labels)
    scores = model.noise_scores_.toarray()
    wrong, right = noisy.changed, truth > 0
    # Half of the wrong ones fall into the own group, where nothing tells them apart.
    other = wrong & (np.arange(40)[None] // 20 != group[:, None])
    assert np.median(scores[other]) > np.quantile(scores[right], 0.8)


class Stopper:
    """Callback that stops after three iterations and scores the model so far."""

    def setup(self, estimator, context):
        self.names, self.attributes = [], []

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **kwargs):
        pass

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.names.append(context.task_name)
        return self.names.count("iteration") == 3


def test_a_callback_can_stop_the_fit(data):
    model, stopper = PMLLCom(tol=0, random_state=0), Stopper()
    model.set_callbacks(stopper)
    model.fit(*data)
    assert model.n_iter_ == 3
    assert stopper.names[:2] == ["neighbour search", "iteration"]


def test_unlabelled_rows_get_the_predicted_embedding(data):
    X, Y = data
    Y = Y.astype(int)
    Y[10:15] = -1
    model = PMLLCom(random_state=0).fit(X, Y)
    predicted = np.maximum(X[10:15] @ model.coef_.T + model.intercept_, 0)
    assert_allclose(model.label_embedding_[10:15], predicted)
    assert_array_equal(np.diff(model.noise_.indptr)[10:15], 0)


def test_share_of_compressed_labels(rng):
    X, Y = rng.normal(size=(30, 4)), rng.randint(2, size=(30, 5))
    for n_components, rank in ((None, 10), (0.6, 3), (0.1, 1), (4, 4)):
        model = PMLLCom(n_components, max_iter=1, random_state=0).fit(X, Y)
        assert model.label_embedding_.shape[1] == rank
    wide = rng.randint(2, size=(30, 25))
    model = PMLLCom(max_iter=1, random_state=0).fit(X, wide)
    assert model.label_embedding_.shape[1] == 15
