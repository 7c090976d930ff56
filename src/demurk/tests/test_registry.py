"""The registry lists every estimator, and nothing else."""

import importlib
import inspect
import pkgutil

import pytest

import demurk
from demurk.base import DemurkEstimator
from demurk.registry import METHODS, get_method


def public_estimators():
    for module in pkgutil.iter_modules(demurk.__path__, "demurk."):
        if module.ispkg and not module.name.startswith("demurk.cli"):
            room = importlib.import_module(module.name)
            for name in getattr(room, "__all__", []):
                value = getattr(room, name)
                if name == "LinearReducer":  # a base, for reducers of one's own
                    continue
                if inspect.isclass(value) and issubclass(value, DemurkEstimator):
                    yield module.name.removeprefix("demurk."), name


def test_every_estimator_has_a_row():
    # Consensus learns from people, not from labels, and predicts nothing.
    found = set(public_estimators()) - {("annotators", "Consensus")}
    assert sorted(found) == sorted((m.room, m.name) for m in METHODS)


def test_names_are_found_whatever_their_case():
    assert get_method("mlknn").load().__name__ == "MLkNN"


def test_unknown_names_list_the_known_ones():
    with pytest.raises(ValueError, match="choose one of NMLSDR, MDDM"):
        get_method("t-SNE", task="reduce")
