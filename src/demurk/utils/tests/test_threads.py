"""Limits on threads that several fits hold at the same time."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from demurk.graph import nearest_neighbors
from demurk.multilabel import MurkyClassifier
from demurk.out_of_sample import matrix_threads
from demurk.utils._threads import blas_threads, thread_pools


def blas():
    """Threads of every BLAS that is loaded."""
    return {
        pool["filepath"]: pool["num_threads"]
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }


@pytest.fixture
def two_threads():
    """A process whose matrix products may use two threads."""
    thread_pools.cache_clear()  # other tests may have loaded more libraries
    with threadpool_limits(2, "blas"):
        found = blas()
        if set(found.values()) != {2}:
            pytest.skip("this BLAS cannot be told to use two threads")
        yield found


def test_the_first_limit_may_end_before_the_second(two_threads):
    first, second = ExitStack(), ExitStack()
    first.enter_context(matrix_threads(10, 1))
    second.enter_context(matrix_threads(10, 1))
    first.close()
    assert set(blas().values()) == {1}  # the second still holds its limit
    second.close()
    assert blas() == two_threads


def test_the_smallest_limit_holds(two_threads):
    with ExitStack() as outer:
        outer.enter_context(blas_threads(2))
        with blas_threads(1):
            assert set(blas().values()) == {1}
        assert set(blas().values()) == {2}
    assert blas() == two_threads


def test_a_fit_that_fails_gives_its_limit_back(two_threads):
    with pytest.raises(RuntimeError, match="on purpose"), blas_threads(1):
        raise RuntimeError("on purpose")
    assert blas() == two_threads


def test_fits_in_threads_leave_the_limit_as_it_was(two_threads, rng):
    X = rng.normal(size=(60, 4))
    Y = (X[:, :2] + rng.normal(size=(60, 2)) > 0).astype(int)

    def fit(seed):
        n_rows = 20 + 5 * seed  # so that no two of them end together
        nearest_neighbors(X[:n_rows], 3, n_jobs=1)
        model = MurkyClassifier("fast", n_estimators=3, random_state=seed, n_jobs=1)
        return model.fit(X[:n_rows], Y[:n_rows]).predict(X)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(fit, range(8)))
    assert blas() == two_threads
    np.testing.assert_array_equal(found[3], fit(3))
