"""Keys follow the code that a task imports, and no other code."""

import shutil
from pathlib import Path

import pytest

import demurk
from demurk.benchmark.engine import _keys
from demurk.benchmark.engine._keys import code_version, data_checksum, keyed_tasks
from demurk.benchmark.engine._protocol import load_protocol
from demurk.benchmark.engine._sources import Sources
from demurk.datasets._catalogue import catalogue

PACKAGE = {
    "__init__": "",
    "one/__init__": (
        "from demurk.one._a import A\nfrom demurk.one._alone import Alone"
    ),
    "one/_a": "from demurk.two import b\nimport numpy\nclass A: pass",
    "one/_alone": "class Alone: pass",
    "two/__init__": "from demurk.two._b import b\nfrom demurk.two._c import c",
    "two/_b": "def b():\n    from demurk.base import Base\n    return Base",
    "two/_c": "c = 1",
    "base": "class Base: pass",
    "viz": "def draw(): pass",
}
ROOM = {"demurk.two", "demurk.two._b", "demurk.two._c", "demurk.base"}


@pytest.fixture
def write(tmp_path):
    """Write a small package with other or further files, and give its sources."""

    def write(files=()):
        for name, text in (PACKAGE | dict(files)).items():
            path = tmp_path / "demurk" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Sources(tmp_path / "demurk", tmp_path)

    return write


def test_the_modules_that_define_a_name_count_and_not_their_neighbours(write):
    sources = write()
    found = {"demurk.one._a", "demurk.two._b", "demurk.base"}
    assert sources.closure(["demurk.one.A"]) == found
    assert sources.closure(["demurk.one.Alone"]) == {"demurk.one._alone"}
    assert sources.closure(["numpy.array", "no.such.thing", "word"]) == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import demurk.two", ROOM),
        ("from demurk import two", ROOM),
        ("from demurk.two import *", ROOM),
        ("from demurk.two import _c", {"demurk.two._c"}),
        ("from demurk.two import c as d", {"demurk.two._c"}),
        ("from ..two import c", {"demurk.two._c"}),
        ("from ._alone import Alone", {"demurk.one._alone"}),
        ("from . import _alone", {"demurk.one._alone"}),
        ("from demurk.viz import draw", set()),
    ],
)
def test_every_form_of_import_counts(write, text, found):
    closure = write({"one/_new": text}).closure(["demurk.one._new.x"])
    assert closure == {"demurk.one._new", *found}


def test_names_that_packages_hand_round_in_a_ring_end(write):
    ring = {
        "a/__init__": "from demurk.b import x",
        "b/__init__": "from demurk.a import x",
    }
    assert write(ring).closure(["demurk.a.x"]) <= {"demurk.a", "demurk.b"}


def test_comments_and_docstrings_do_not_count(write):
    first = write().version(["demurk.one.A"])
    text = "'''Doc.'''\nclass Base:\n    '''Doc.'''\n    pass  # why"
    assert write({"base": text}).version(["demurk.one.A"]) == first
    text = text.replace("pass", "x = 1")
    assert write({"base": text}).version(["demurk.one.A"]) != first


def test_a_users_own_helper_counts(write, tmp_path):
    (tmp_path / "mine.py").write_text("import helper\nclass Mine: pass")
    (tmp_path / "helper.py").write_text("x = 1")
    assert write().closure(["mine.Mine"]) == {"mine", "helper"}


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of demurk's sources."""
    root, to = Path(demurk.__file__).parent, tmp_path_factory.mktemp("copy") / "demurk"
    shutil.copytree(
        root, to, ignore=shutil.ignore_patterns("tests", "__pycache__", "*.json")
    )
    return to


def keys(protocol, package, monkeypatch):
    """Keys by method, with the sources of a package."""
    monkeypatch.setattr(
        _keys, "Sources", lambda folder=None: Sources(package, folder=folder)
    )
    found = {}
    for key, (task, _, _) in keyed_tasks(protocol).items():
        found.setdefault(task.method, set()).add(key)
    return found


def edited(path, text, monkeypatch, protocol, package):
    """Keys while a file has some more text."""
    before = path.read_text() if path.exists() else None
    path.write_text((before or "") + text)
    try:
        return keys(protocol, package, monkeypatch)
    finally:
        path.unlink() if before is None else path.write_text(before)


def test_only_tasks_that_import_a_changed_module_get_new_keys(package, monkeypatch):
    protocol = load_protocol("nmlsdr-tables").select(seeds=1, data_sets=["birds"])
    before = keys(protocol, package, monkeypatch)
    path = package / "projection" / "_mddm.py"
    after = edited(path, "\nX = 1\n", monkeypatch, protocol, package)
    changed = {method for method in before if before[method] != after[method]}
    using = {
        method
        for method, about in protocol.methods.items()
        if about["estimator"] == "demurk.projection.MDDM"
    }
    assert changed == using and using and len(before) > 2 * len(using)
    assert keys(protocol, package, monkeypatch) == before


def test_a_new_method_in_the_registry_changes_no_key(package, monkeypatch):
    protocols = [load_protocol(n) for n in ("few-labels", "wrong-labels", "cenda-real")]
    protocols = [protocol.select(seeds=1) for protocol in protocols]
    before = [keys(protocol, package, monkeypatch) for protocol in protocols]
    (package / "projection" / "_dummy.py").write_text("class Dummy:\n    pass\n")
    for path, text in {
        "projection/__init__.py": "from demurk.projection._dummy import Dummy\n",
        "registry.py": "METHODS['Dummy'] = 'demurk.projection.Dummy'\n",
        "viz/_page.py": "X = 1\n",
        "cli/_bench.py": "X = 1\n",
        "datasets/_arff.py": "X = 1\n",
    }.items():
        with (package / path).open("a") as file:
            file.write(text)
    assert [keys(protocol, package, monkeypatch) for protocol in protocols] == before


def test_what_is_read_from_a_file_is_in_the_key(tmp_path, monkeypatch):
    """A reader may change, but not what it reads."""
    entry = catalogue()["emotions"]
    for file in entry["sha256"]:
        (tmp_path / file).write_text("")
    options = {"data_home": tmp_path}
    before = data_checksum(None, "emotions", options)
    monkeypatch.setitem(entry, "arrays", "other numbers")
    assert data_checksum(None, "emotions", options) != before


def test_the_version_of_all_code_names_the_release():
    assert code_version().startswith(f"{demurk.__version__}+")
