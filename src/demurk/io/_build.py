"""From the content of a model file to the model: data are built, code is never run.

skops describes a model as a tree of nodes. Each node is checked and built here in one
step, so that what was checked is what is built: a node names its kind (`__loader__`)
and a class, and both must be on our lists before anything is looked up.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import math

import numpy as np
from scipy import sparse

from demurk.io._archive import Allowance, Archive, Damaged
from demurk.io._arrays import read_array, read_csr
from demurk.io._checks import check_object, make_random_state, make_tree
from demurk.io._trusted import PLAIN_TYPES, SCALARS, SPARSE, TREE, NotAClass, find_class

__all__ = ["build_model"]

# The version of skops' format that is read.
PROTOCOL = 2
# Objects within objects; a pipeline of stacked models has some 20.
MAX_DEPTH = 100
ARRAY, RANDOM_STATE = "numpy.ndarray", "numpy.random.mtrand.RandomState"
_UNFINISHED = object()


def build_model(data, trusted=frozenset()):
    """Build the model in a file.

    Parameters
    ----------
    data : bytes
        Content of the file.
    trusted : collection of str
        Full names of further classes that may be built.

    Returns
    -------
    model : object
        The model.
    """
    archive = Archive(data, Allowance(len(data)))
    schema = archive.read_json("schema.json")
    if not isinstance(schema, dict) or schema.get("protocol") != PROTOCOL:
        raise Damaged(f"it is not in version {PROTOCOL} of the skops format")
    return _Builder(archive, trusted).build(schema)


class _Builder:
    """Builds each node once; a node that was built is found again by its id."""

    def __init__(self, archive, trusted):
        self.archive = archive
        self.allowance = archive.allowance
        self.trusted = trusted
        self.depth = 0
        self.built = {}
        self.classes = {}

    def build(self, node):
        """Build a node, and the nodes below it."""
        key = node.get("__id__")
        if type(key) is int and key in self.built:
            value = self.built[key]
            if value is _UNFINISHED:
                raise Damaged("a part of it contains itself")
            return value
        kind = node.get("__loader__")
        if not isinstance(kind, str) or kind not in MAKERS:
            raise NotAClass(_name(node))
        if self.depth >= MAX_DEPTH:
            raise Damaged("its parts are nested too deeply")
        if type(key) is int:
            self.built[key] = _UNFINISHED
        self.depth += 1
        make, *names = MAKERS[kind]
        if names and _name(node) not in names:
            raise NotAClass(_name(node))
        value = make(self, node)
        self.depth -= 1
        if type(key) is int:
            self.built[key] = value
        return value

    # Containers and plain values

    def make_dict(self, node):
        kinds, content = self.build(node["key_types"]), node["content"]
        if type(kinds) is not list or len(kinds) != len(content):
            raise Damaged("a dict has other keys than it claims")
        made = {}
        for kind, (key, value) in zip(kinds, content.items()):
            if not isinstance(kind, type):
                raise Damaged("a dict has other keys than it claims")
            made[kind(key)] = self.build(value)
        return made

    def make_list(self, node):
        return [self.build(item) for item in node["content"]]

    def make_tuple(self, node):
        return tuple([self.build(item) for item in node["content"]])

    def make_set(self, node):
        return {self.build(item) for item in node["content"]}

    def make_slice(self, node):
        ends = [node["content"][name] for name in ("start", "stop", "step")]
        if not all(end is None or type(end) is int for end in ends):
            raise Damaged("a slice does not count")
        return slice(*ends)

    def make_plain(self, node):
        text = node["content"]
        # skops has nodes of their own for what JSON could nest.
        if not isinstance(text, str) or text.startswith(("[", "{")):
            raise Damaged("a value is none")
        return json.loads(text)

    def make_type(self, node):
        return PLAIN_TYPES[_name(node)]

    # Arrays

    def make_array(self, node):
        name = _name(node)
        if node["type"] == "json":
            if name != ARRAY:
                raise NotAClass(name)
            return self._make_object_array(node)
        array = read_array(self.archive.read(node["file"]), self.allowance)
        if name == ARRAY:
            return array
        if array.ndim or array.dtype.type is not SCALARS[name]:
            raise Damaged("a number is of another type than it claims")
        return array[()]

    def _make_object_array(self, node):
        shape = self.build(node["shape"])
        flat = [self.build(item) for item in node["content"]]
        if type(shape) is not tuple or not all(type(n) is int for n in shape):
            raise Damaged("an array has no shape")
        for _ in shape[1:]:
            if not all(type(row) is list for row in flat):
                raise Damaged("an array has another size than its data")
            # Rows may be one row many times over.
            self.allowance.take(8 * sum(len(row) for row in flat))
            flat = [item for row in flat for item in row]
        if math.prod(shape) != len(flat) or max(shape, default=0) > len(flat):
            raise Damaged("an array has another size than its data")
        made = np.empty(len(flat), dtype=object)
        for i, item in enumerate(flat):
            made[i] = item
        return made.reshape(shape)

    def make_dtype(self, node):
        return self.build(node["content"]).dtype

    def make_sparse(self, node):
        kind = getattr(sparse, _name(node).rpartition(".")[2])
        return read_csr(self.archive.read(node["file"]), self.allowance, kind)

    # Objects

    def make_object(self, node):
        module, name = node["__module__"], node["__class__"]
        full = _name(node)
        if full not in self.classes:
            self.classes[full] = find_class(module, name, self.trusted)
        kind = self.classes[full]
        content = node.get("content")
        state = None if content is None else self.build(content)
        instance = kind.__new__(kind)
        if type(state) is dict and not all(type(key) is str for key in state):
            raise Damaged("an attribute has no name")
        if hasattr(instance, "__setstate__"):
            # A copy: scikit-learn takes its version out of what it is given.
            instance.__setstate__(dict(state) if type(state) is dict else state)
        elif state is not None:
            vars(instance).update(state)
        check_object(instance)
        return instance

    def make_tree(self, node):
        args = self.build(node["__reduce__"]["args"])
        tree = make_tree(args, self.build(node["content"]))
        # The tree has copied its arrays, the largest part of most models.
        for part in (node["content"], *node["content"]["content"].values()):
            self.built.pop(part.get("__id__"), None)
        return tree

    def make_random_state(self, node):
        return make_random_state(self.build(node["content"]))


# How a node of each kind is built, and the names that it may have; what an object may
# be is for `find_class` to say.
MAKERS = {
    "DictNode": (_Builder.make_dict, "builtins.dict"),
    "ListNode": (_Builder.make_list, "builtins.list"),
    "TupleNode": (_Builder.make_tuple, "builtins.tuple"),
    "SetNode": (_Builder.make_set, "builtins.set"),
    "SliceNode": (_Builder.make_slice, "builtins.slice"),
    "JsonNode": (_Builder.make_plain, "builtins.str"),
    "TypeNode": (_Builder.make_type, *PLAIN_TYPES),
    "NdArrayNode": (_Builder.make_array, ARRAY, *SCALARS),
    "DTypeNode": (_Builder.make_dtype, "numpy.dtype"),
    "SparseMatrixNode": (_Builder.make_sparse, *SPARSE),
    "ObjectNode": (_Builder.make_object,),
    "TreeNode": (_Builder.make_tree, TREE),
    "RandomStateNode": (_Builder.make_random_state, RANDOM_STATE),
}


def _name(node):
    """Full name of what a node says it is."""
    module, name = node["__module__"], node["__class__"]
    if not isinstance(module, str) or not isinstance(name, str):
        raise Damaged("a part of it has no name")
    return f"{module}.{name}"
