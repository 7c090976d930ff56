"""One word, one meaning: parameters, defaults and what all estimators learn."""

import inspect
import re
from numbers import Integral
from pathlib import Path

import numpy as np
import pytest

import demurk
from demurk.annotators import Annotations, Consensus
from demurk.audit import LabelAudit
from demurk.labels import _corruption, flip_labels
from demurk.multilabel import MurkyClassifier
from demurk.registry import METHODS
from demurk.utils._compat import StrOptions

PAGE = Path(demurk.__file__).parents[2] / "doc" / "vocabulary.rst"
NOISES = {"auto", "symmetric", "extra", "missing", "none"}
CLASSES = [*(method.load() for method in METHODS), Consensus]
QUICK = {"n_estimators": 3, "max_iter": 2, "random_state": 0, "members": "fast"}
# Not a ridge on a scatter matrix: no diagonal that "rel:x" could be a share of.
ONLY_NUMBERS = {"CLPL", "FPML", "PLAGGD", "PLSVM", "SURE"}


def parameters(cls):
    return {
        name: p.default
        for name, p in inspect.signature(cls).parameters.items()
        if p.kind != p.VAR_KEYWORD
    }


def with_parameter(name):
    return [
        pytest.param(cls, id=cls.__name__) for cls in CLASSES if name in parameters(cls)
    ]


def quick(cls, **params):
    known = {name: QUICK[name] for name in parameters(cls) if name in QUICK}
    return cls(**known | params)


def fitted(cls, X, Y):
    """A quick fit; to a consensus, the labels are what one person says."""
    y = Annotations.from_array(Y[:, np.newaxis]) if cls is Consensus else Y
    return quick(cls).fit(X, y)


def options(cls, name):
    """The strings that a parameter accepts."""
    found = set()
    for constraint in cls._parameter_constraints[name]:
        if isinstance(constraint, StrOptions):
            found |= constraint.options
    return found


def described(cls, name):
    """What the docstring says of a parameter: its types and its text."""
    text = inspect.cleandoc(cls.__doc__)
    found = re.search(rf"^{name} : (.*)\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    return found[1], " ".join(found[2].split())


@pytest.fixture(scope="module")
def words():
    """The two closed lists: parameters, and what is learned."""
    if not PAGE.is_file():
        pytest.skip("the documentation is not here")
    lists = PAGE.read_text().split("\nWhat is learned\n")
    return [set(re.findall(r'^   ``(\w+)``, ".+"$', text, re.M)) for text in lists]


@pytest.fixture(scope="module")
def murky():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 12))
    Y = np.eye(4, dtype=int)[(X[:, :4] + rng.normal(size=(60, 4))).argmax(axis=1)]
    Y |= rng.uniform(size=Y.shape) < 0.2
    Y[rng.permutation(60)[:20]] = -1
    return X, Y


def test_parameters_are_known_words(words):
    used = {name: cls.__name__ for cls in CLASSES for name in parameters(cls)}
    assert {k: v for k, v in used.items() if k not in words[0]} == {}
    assert words[0] - set(used) == set()


@pytest.mark.filterwarnings("ignore")
def test_attributes_are_known_words(words, murky):
    X, Y = murky
    used = {"feature_names_in_": "all, from named features"}
    for cls in CLASSES:
        model = fitted(cls, X, Y)
        learned = [k for k in vars(model) if k.endswith("_") and k[0] != "_"]
        used |= dict.fromkeys(learned, cls.__name__)
    assert {k: v for k, v in used.items() if k not in words[1]} == {}
    assert words[1] - set(used) == set()


@pytest.mark.parametrize("cls", with_parameter("n_jobs"))
def test_none_is_one_thread(cls):
    assert parameters(cls)["n_jobs"] is None
    assert cls._parameter_constraints["n_jobs"] == [Integral, None]
    text = described(cls, "n_jobs")[1]
    assert text.startswith("Threads") and "None means 1, -1 all processors" in text


@pytest.mark.parametrize("cls", with_parameter("random_state"))
def test_no_seed_is_set_by_default(cls):
    assert parameters(cls)["random_state"] is None
    assert described(cls, "random_state")[0].endswith("or None, default=None")


@pytest.mark.parametrize("cls", with_parameter("max_iter"))
@pytest.mark.filterwarnings("ignore")
def test_iterations_are_counted(cls, murky):
    assert fitted(cls, *murky).n_iter_ >= 1


@pytest.mark.parametrize("cls", with_parameter("neighbors"))
def test_neighbors_are_documented_and_refused_alike(cls):
    said = set(re.findall(r'"(\w+)"', described(cls, "neighbors")[0]))
    assert said == options(cls, "neighbors")


@pytest.mark.parametrize("cls", with_parameter("reg"))
@pytest.mark.filterwarnings("ignore")
def test_penalties_may_be_relative(cls, murky):
    if cls.__name__ in ONLY_NUMBERS:
        assert str not in cls._parameter_constraints["reg"]
        return
    quick(cls, reg="rel:0.1").fit(*murky)
    with pytest.raises(ValueError, match="'rel:1e-3'"):
        quick(cls, reg="abs:1").fit(*murky)


def test_c_belongs_to_support_vector_machines():
    names = {cls.__name__ for cls in CLASSES if "C" in parameters(cls)}
    assert names == {"RankSVM", "PARTICLE"}


@pytest.mark.filterwarnings("ignore")
def test_noise_has_one_vocabulary(murky):
    assert options(LabelAudit, "noise") == NOISES
    assert options(MurkyClassifier, "noise") == NOISES - {"auto"}
    assert set(_corruption.NOISES) == NOISES - {"auto", "none"}
    assert "noise" in inspect.signature(flip_labels).parameters
    audit = quick(LabelAudit).fit(*murky)
    assert set(audit.noise_rates_) == {"extra", "missing"}
    assert set(audit.evidence_) == NOISES - {"auto"} | {"mixed"}


def test_the_command_speaks_of_noise_alike():
    pytest.importorskip("typer")
    from demurk.cli import _clean, _predict

    assert set(_clean.NOISES) == NOISES
    assert set(_predict.CHOICES["noise"]) == options(MurkyClassifier, "noise")
