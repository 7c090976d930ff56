"""The closed form of the constraint score against its eigenproblem."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles

from demurk.manifold import ConstraintScore


def score_matrix(group, beta):
    """L_M - beta L_C from all pairs of samples."""
    must = (group[:, None] == group).astype(float)
    cannot = 1 - must

    def laplacian(W):
        return np.diag(W.sum(axis=1)) - W

    return laplacian(must) - beta * laplacian(cannot)


@pytest.fixture
def data(rng):
    group = rng.permutation(np.repeat(np.arange(5), [4, 9, 12, 7, 8]))
    X = rng.normal(size=(40, 6)) + rng.normal(size=(5, 6))[group]
    return X, group


@pytest.mark.parametrize("beta", [0.1, 1.0, 7.0])
def test_equals_eigenproblem(data, beta):
    X, group = data
    values, vectors = eigh(score_matrix(group, beta))
    # The smallest eigenvalue occurs once less often than there are classes.
    assert_allclose(values[:4], -beta * 40)
    assert values[4] > -beta * 40 + 1e-6
    model = ConstraintScore(4, cannot_link_weight=beta, random_state=0).fit(X, group)
    assert_allclose(model.eigenvalues_, values[:4])
    Z = model.embedding_
    assert_allclose(Z.T @ Z, np.eye(4), atol=1e-12)
    assert subspace_angles(Z, vectors[:, :4]).max() < 1e-7


def test_every_label_set_is_a_point(rng):
    X = rng.normal(size=(60, 4))
    Y = rng.randint(2, size=(60, 3))
    Z = ConstraintScore(3, random_state=0).fit_transform(X, Y)
    sets, group = np.unique(Y, axis=0, return_inverse=True)
    for g in range(len(sets)):
        assert_allclose(np.ptp(Z[group.ravel() == g], axis=0), 0, atol=1e-12)


def test_first_coordinate_separates_the_class_means_most(data):
    """Of all unit vectors in the eigenspace, it has the largest covariance with X."""
    X, group = data
    Z = ConstraintScore(4, random_state=0).fit_transform(X, group)
    covered = np.linalg.norm(X.T @ Z, axis=0)
    assert (np.diff(covered) <= 0).all()
    basis = np.linalg.svd(X.T @ Z)[1]
    assert_allclose(covered, basis)


def test_orders_do_not_matter(data, rng):
    X, group = data
    base = ConstraintScore(random_state=0).fit(X, group).embedding_
    order = rng.permutation(40)
    permuted = ConstraintScore(random_state=0).fit(X[order], group[order]).embedding_
    assert_allclose(permuted, base[order], atol=1e-10)
    renamed = (
        ConstraintScore(random_state=0)
        .fit(X, np.array([3, 0, 4, 1, 2])[group])
        .embedding_
    )
    assert_allclose(renamed, base, atol=1e-10)


def test_unlabelled_rows_are_placed_like_new_ones(data):
    X, group = data
    murky = group.copy()
    murky[::4] = -1
    known = murky >= 0
    for method in ("harmonic", "nystroem", "linear"):
        model = ConstraintScore(out_of_sample=method, random_state=0).fit(X, murky)
        bare = ConstraintScore(out_of_sample=method, random_state=0).fit(
            X[known], group[known]
        )
        assert_allclose(model.embedding_[known], bare.embedding_)
        assert_allclose(model.embedding_[~known], bare.transform(X[~known]))


def test_fewer_coordinates_than_asked_for(rng):
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    with pytest.warns(UserWarning, match="only 1 coordinates exist for 2 label sets"):
        model = ConstraintScore(3, random_state=0).fit(X, y)
    assert model.embedding_.shape == (20, 1)
    assert_array_equal(model.get_feature_names_out(), ["constraintscore0"])


def test_one_label_set(rng):
    with pytest.raises(ValueError, match="nothing to tell apart"):
        ConstraintScore(random_state=0).fit(
            rng.normal(size=(20, 3)), np.ones(20, dtype=int)
        )
