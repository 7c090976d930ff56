"""No model file runs code, whatever it names and wherever."""

import sys

import numpy as np
import pytest

from demurk import io
from demurk.io.tests.forge import forge, nodes, plain, write_schema
from demurk.projection import MDDM


def node(loader, name, **rest):
    module, _, kind = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": kind, **rest}


def listed(*items):
    return node("ListNode", "builtins.list", content=list(items))


def a_dict(key, kind, value):
    return node(
        "DictNode", "builtins.dict", content={key: value}, key_types=listed(kind)
    )


def method(owner, name):
    """A method, as skops writes it; the owner may be a module as well."""
    return node(
        "MethodNode", owner, content={"func": name, "obj": node("TypeNode", owner)}
    )


OS = "demurk.utils._files.os"
ARGS = node("TupleNode", "builtins.tuple", content=[plain("echo")])
NONE = plain(None)
# Each of these, called with a text or merely built, would do something.
CALLABLES = {
    "module method": method(OS, "system"),
    "class method": method("demurk.projection._mddm.MDDM", "fit"),
    "command": node("FunctionNode", "demurk.cli.main"),
    "command as type": node("TypeNode", "demurk.cli.main"),
    "command as object": node("ObjectNode", "demurk.cli.main"),
    "module as object": node("ObjectNode", OS),
    "module as type": node("TypeNode", OS),
    "dotted name": node("ObjectNode", "demurk.utils._files")
    | {"__class__": "os.system"},
    "importer": node("FunctionNode", "demurk.utils._optional.import_optional"),
    "imported class": node("ObjectNode", "demurk.io.Path"),
    "base class": node("ObjectNode", "demurk.projection._mddm.LinearReducer"),
    "class as type": node("TypeNode", "demurk.projection._mddm.MDDM"),
    "room, not file": node("ObjectNode", "demurk.projection.MDDM"),
    "eval": node("FunctionNode", "builtins.eval"),
    "eval as type": node("TypeNode", "builtins.eval"),
    "map": node("TypeNode", "builtins.map"),
    "system": node("FunctionNode", "os.system"),
    "process": node("ConstructorFromReduceNode", "subprocess.Popen", content=ARGS),
    "process as list": node("ListNode", "subprocess.Popen", content=[plain("echo")]),
    "process as tuple": node("TupleNode", "subprocess.Popen", content=[plain("echo")]),
    "process as set": node("SetNode", "subprocess.Popen", content=[plain("echo")]),
    "process as dict": a_dict("a", node("TypeNode", "builtins.str"), NONE)
    | {"__module__": "subprocess", "__class__": "Popen"},
    "process as array": node(
        "NdArrayNode", "os.system", type="json", content=[], shape=ARGS
    ),
    "process as scalar": node("NdArrayNode", "os.system", type="numpy", file="a"),
    "process as matrix": node("SparseMatrixNode", "os.system", type="scipy", file="a"),
    "numpy's loader": node("FunctionNode", "numpy.load"),
    "ufunc": node("FunctionNode", "numpy.frompyfunc"),
    "scikit-learn's function": node("FunctionNode", "sklearn.datasets.load_files"),
    "scikit-learn's class": node(
        "ObjectNode", "sklearn.neighbors._unsupervised.NearestNeighbors", content=NONE
    ),
    "partial": node(
        "PartialNode",
        "functools.partial",
        content={
            "func": node("FunctionNode", "os.system"),
            "args": ARGS,
            "kwds": NONE,
            "namespace": NONE,
        },
    ),
    "operator": node("OperatorFuncNode", "operator.methodcaller", attrs=ARGS),
    "random": node(
        "RandomGeneratorNode",
        "numpy.random._generator.Generator",
        content={
            "bit_generator": a_dict(
                "bit_generator", node("TypeNode", "builtins.str"), plain("seed")
            ),
            "seed_seq": NONE,
        },
    ),
    "random state": node("RandomStateNode", "os.system", content=NONE),
    "loss": node("LossNode", "os.system", __reduce__={"args": ARGS}, content=NONE),
    "tree": node("TreeNode", "os.system", __reduce__={"args": ARGS}, content=NONE),
    "dtype": node("DTypeNode", "os.system", content=NONE),
    "cached": node("CachedNode", "os.system"),
    "default factory": node(
        "DefaultDictNode",
        "collections.defaultdict",
        content={"main": NONE, "default_factory": node("FunctionNode", "os.getcwd")},
    ),
    "masked": node(
        "MaskedArrayNode", "os.system", content={"data": NONE, "mask": NONE}
    ),
    "bytes": node("BytesNode", "builtins.bytes", file="schema.json"),
    "no such kind": node("PickleNode", "builtins.object"),
    "no kind": {"__module__": "os", "__class__": "system"},
    "kind of no text": node(["ListNode"], "os.system"),
    "name of no text": node("ObjectNode", "a.b") | {"__module__": ["os"]},
}
# Where it may stand: as key of a dict it is called with the key.
PLACES = {
    "root": lambda forged: forged,
    "key type": lambda forged: a_dict("touch attacked", forged, NONE),
    "item": lambda forged: listed(NONE, forged),
    "attribute": lambda forged: node(
        "ObjectNode",
        "demurk.projection._mddm.MDDM",
        content=a_dict("fit", node("TypeNode", "builtins.str"), forged),
    ),
    "state": lambda forged: node(
        "ObjectNode", "demurk.projection._mddm.MDDM", content=forged
    ),
    "element": lambda forged: node(
        "NdArrayNode",
        "numpy.ndarray",
        type="json",
        content=[forged],
        shape=node("TupleNode", "builtins.tuple", content=[plain(1)]),
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLABLES)
def test_nothing_but_classes_is_built(name, place, tmp_path, monkeypatch):
    def called(*args):
        raise SystemError("code was run")

    monkeypatch.chdir(tmp_path)
    for place_of_call in ("os.system", "demurk.cli.main", "subprocess.Popen"):
        monkeypatch.setattr(place_of_call, called)
    path = write_schema(tmp_path / "m.skops", PLACES[place](CALLABLES[name]))
    with pytest.raises(ValueError, match=r"m\.skops (names|is not a model)") as caught:
        io.load(path)
    assert not isinstance(caught.value.__cause__, SystemError)
    assert str(caught.value).count(".\n") == 0
    assert sorted(tmp_path.iterdir()) == [path]


def test_nothing_is_imported(tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text("raise SystemExit('code was run')")
    monkeypatch.syspath_prepend(tmp_path)
    for loader in ("ObjectNode", "TypeNode", "FunctionNode"):
        path = write_schema(tmp_path / "m.skops", node(loader, "planted.Model"))
        with pytest.raises(ValueError, match=r"planted\.Model"):
            io.load(path)
    assert "planted" not in sys.modules


def test_trusting_a_name_trusts_a_class_only(tmp_path):
    for name in (OS, "os.system", "demurk.cli.main", "demurk.io.Path"):
        path = write_schema(tmp_path / "m.skops", node("ObjectNode", name))
        with pytest.raises(ValueError, match="no functions, methods or modules"):
            io.load(path, trusted=[name])
    path = write_schema(tmp_path / "m.skops", method(OS, "system"))
    with pytest.raises(ValueError, match="no functions, methods or modules"):
        io.load(path, trusted=[OS, f"{OS}.system"])


def test_an_id_does_not_change_what_a_node_is(tmp_path):
    # The key types claim to be an earlier list, of things that are no types.
    forged = listed(
        listed(plain("a")) | {"__id__": 7},
        a_dict("k", node("TypeNode", "builtins.str"), NONE),
    )
    forged["content"][1]["key_types"]["__id__"] = 7
    with pytest.raises(ValueError, match="other keys"):
        io.load(write_schema(tmp_path / "m.skops", forged))
    forged["__id__"] = 7
    with pytest.raises(ValueError, match="contains itself"):
        io.load(write_schema(tmp_path / "m.skops", forged))


@pytest.mark.parametrize("protocol", [0, 1, 3, True, None, "2"])
def test_other_versions_of_the_format_are_refused(protocol, tmp_path):
    path = tmp_path / "m.skops"
    io.save(MDDM().fit(np.eye(3), [[1, 0], [0, 1], [0, 0]]), path)
    forge(path, lambda schema, members: schema.update(protocol=protocol))
    with pytest.raises(ValueError, match="version 2 of the skops format"):
        io.load(path)


def test_key_types_are_few(tmp_path):
    path = io.save(
        MDDM().fit(np.eye(3), [[1, 0], [0, 1], [0, 0]]), tmp_path / "m.skops"
    )

    def edit(schema, members):
        nodes(schema, "TypeNode")[0].update(__module__="builtins", __class__="exec")

    with pytest.raises(ValueError, match=r"names builtins\.exec"):
        io.load(forge(path, edit))


def test_a_long_name_stays_in_one_sentence(tmp_path):
    path = io.save(
        MDDM().fit(np.eye(3), [[1, 0], [0, 1], [0, 0]]), tmp_path / "m.skops"
    )

    def edit(schema, members):
        nodes(schema, "TypeNode")[0].update(__module__="builtins", __class__="x" * 500)

    with pytest.raises(ValueError, match="demurk does not build") as error:
        io.load(forge(path, edit))
    assert len(str(error.value)) - len(str(path)) < 400
