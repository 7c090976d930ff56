"""Small valid files of every format, and how to damage and read them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
import io
import json
import struct
import zlib
from functools import cache, partial
from pathlib import Path
from random import Random

import numpy as np
from scipy import sparse
from scipy.io import savemat

from demurk.datasets import read_arff, read_dataset, read_mat
from demurk.rules import RuleLabeler, rules_from_file
from tests.fuzz.mutate import mutate, zip_mutations
from tests.fuzz.outcome import Format

X = np.round(np.random.RandomState(0).normal(size=(7, 4)), 3)
Y = np.array(
    [[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0]]
)
GIVEN = Y | np.roll(Y, 1, axis=1)


def damaged(name, seed, number):
    """The damaged file of a format with this number, the same for the same seed."""
    rng = Random(f"{seed} {name} {number}")
    form = FORMATS[name]
    return form.damage(rng.choice(form.examples()), rng)


# MATLAB


def _mat(**options):
    buffer = io.BytesIO()
    savemat(buffer, {"data": X, "target": Y, "partial_target": GIVEN}, **options)
    return buffer.getvalue()


def _sparse_mat(**options):
    buffer = io.BytesIO()
    cells = np.array([[np.array([[1.0]]), "text"]], dtype=object)
    content = {"data": sparse.csc_array(X * (X > 0)), "target": sparse.csc_array(Y)}
    savemat(buffer, {**content, "more": {"a": cells}, "z": X + 1j}, **options)
    return buffer.getvalue()


@cache
def _mat_files():
    return [_mat(), _sparse_mat(), _mat(format="4"), _mat(do_compression=True)]


def _damage_mat(data, rng):
    """Damage bytes; half of the time inside an element that is compressed after."""
    if data[:4] != b"MATL" or rng.random() < 0.5:
        return mutate(data, rng)
    packed, place = b"", 128
    while place < len(data):
        kind, size = struct.unpack_from("<II", data, place)
        element = data[place : place + 8 + size]
        if kind == 15:
            element = zlib.decompress(element[8:])
        if rng.random() < 0.5:
            element = mutate(element, rng)
        element = zlib.compress(element)
        packed += struct.pack("<II", 15, len(element)) + element
        place += 8 + size
    return data[:128] + packed


@cache
def _mat73_files():
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w", userblock_size=512) as file:
        file["data"] = X.T
        group, stored = file.create_group("target"), sparse.csc_array(Y)
        group["data"], group["ir"] = stored.data, stored.indices
        group["jc"] = stored.indptr
        group.attrs["MATLAB_sparse"] = len(Y)
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    return [head.ljust(512, b"\0") + buffer.getvalue()[512:]]


def _damage_mat73(data, rng):
    return data[:512] + mutate(data[512:], rng)


# NumPy


@cache
def _npz_files():
    files = []
    for save in (np.savez, np.savez_compressed):
        for content in (
            {
                "X": X,
                "Y": Y,
                "feature_names": list("abcd"),
                "target_names": list("pqr"),
            },
            {"data": X.astype(np.float32), "target": Y[:, 0]},
            {"X": X, "Y": Y.argmax(axis=1), "candidates": GIVEN.astype(np.int8) | 1},
            {"X": X, "y": np.array(list("uvwuvwu"))},
        ):
            buffer = io.BytesIO()
            save(buffer, **content)
            files.append(buffer.getvalue())
    return files


def _damage_npz(data, rng):
    if rng.random() < 0.3:
        return mutate(data, rng)
    return next(zip_mutations(data, 1, seed=rng.random()))


# Text

_ARFF = """@relation 'toy: -C 3'
% a comment
@attribute p {0,1}
@attribute q {no,yes}
@attribute r {0,1}
@attribute a numeric
@attribute 'b c' {red,'dark blue',green}
@attribute d real
@data
"""
_ARFF_FILES = [
    _ARFF + "1,no,0,0.5,red,1e3\n0,yes,?,-4,'dark blue',?\n1,no,1,7,green,0\n",
    _ARFF + "{0 1, 3 0.5}\n{1 yes, 4 'dark blue', 5 2}\n{}\n",
]
_SVM = "2,7 1:0.5 3:1 # comment\n7 2:-4e1\n3 1:2 2:1\n 4:1\n"
_CSV = "a,b,label:p,label:q\n1,2.5,0,1\n-3e2,,1,\n4,'x',0,0\n0.5,7,yes,no\n"
_CSV_FILES = [_CSV.replace("'x'", "6"), 'a,"b",label:p\n1,"2",0\n3,"4",-1\n']
_XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="p"></label><label name="q"><label name="r"/></label>
</labels>
"""
_JSON = """{"lists": {"drugs": ["C09*", "@old"], "old": ["C0[28]"]},
 "rules": [{"name": "both", "when": {"all": ["I10", "@drugs"]}, "then": {"h": 1}},
  {"when": {"glucose": [">= 7", "< 30.5"], "d": "> 2024-01-31"}, "then": {"d": 1}},
  {"when": {"not": {"at_least": 2, "of": ["I10", "C09A", {"sex": "== F"}]}},
   "then": {"h": 0, "d": 0}}]}"""
_TOML = """[lists]
drugs = ["C09*", "C0[28]"]
[[rules]]
name = "both"
when = {all = ["I10", "@drugs"], none = ["glucose"]}
then = {h = 1}
[[rules]]
when = {glucose = [">= 7", 12, "known"]}
then = {d = 0}
"""


def _encoded(texts):
    return lambda: [text.encode() for text in texts]


def _damage_packed(data, rng):
    """Damage text, or gzip data around it."""
    if rng.random() < 0.5:
        return gzip.compress(mutate(data, rng), mtime=0)
    return mutate(gzip.compress(data, mtime=0), rng)


@cache
def _parquet_files():
    frame = _labelled_frame()
    return [frame.to_parquet(), frame.to_parquet(compression=None)]


def _labelled_frame():
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["label:p"], frame["label:q"] = Y[:, 0], Y[:, 1].astype(bool)
    return frame


@cache
def _feather_files():
    buffer = io.BytesIO()
    _labelled_frame().to_feather(buffer)
    return [buffer.getvalue()]


@cache
def _excel_files():
    buffer = io.BytesIO()
    _labelled_frame().to_excel(buffer, index=False)
    return [buffer.getvalue()]


_LINES = """{"a": 1.5, "b": null, "label": ["p", "q"]}
{"a": -2, "b": 3e2, "label": []}
{"a": 0, "b": 7, "label": ["q"]}
"""
_RESULT = {"from_name": "c", "to_name": "t", "type": "choices"}
_TASKS = [
    {
        "id": number,
        "data": {"a": number / 2, "b": 2},
        "annotations": [{"result": [_RESULT | {"value": {"choices": choices}}]}],
    }
    for number, choices in enumerate((["p"], ["q"], ["p", "q"]))
]


_read_tasks = partial(read_dataset, tags="c")


def _read_xml(path):
    """Labels named by a damaged list beside a good file."""
    data = Path(path).with_name("beside.arff")
    if not data.exists():
        data.write_text(_ARFF_FILES[0])
    return read_arff(data, label_names=path, drop=["b c"])


_TABLE = {
    "I10": np.array([1, 0, 2]),
    "C09A": np.array([0.0, np.nan, 1]),
    "glucose": np.array([5, 9, 31]),
    "d": np.array(["2024-02-01", "NaT", "2023-01-01"], "datetime64[ns]"),
    "sex": np.array(["F", "M", "F"]),
}


@cache
def _table():
    import pandas as pd

    return pd.DataFrame(_TABLE)


def _read_rules(path):
    rules = rules_from_file(path)
    RuleLabeler(rules, unmatched="zero").fit_transform(_table())


FORMATS = {
    "mat": Format(".mat", _mat_files, read_mat, _damage_mat, 220),
    # Each takes a process of its own, half a second.
    "mat73": Format(".mat", _mat73_files, read_mat, _damage_mat73, 1),
    "npz": Format(".npz", _npz_files, read_dataset, _damage_npz, 200),
    "arff": Format(".arff", _encoded(_ARFF_FILES), read_arff),
    "arff.gz": Format(".arff.gz", _encoded(_ARFF_FILES), read_arff, _damage_packed, 50),
    "xml": Format(".label-xml", _encoded([_XML]), _read_xml, share=49),
    "libsvm": Format(".svm", _encoded([_SVM]), read_dataset),
    "libsvm.gz": Format(".svm.gz", _encoded([_SVM]), read_dataset, _damage_packed, 20),
    "csv": Format(".csv", _encoded(_CSV_FILES), read_dataset, share=80),
    "csv.gz": Format(".csv.gz", _encoded(_CSV_FILES), read_dataset, _damage_packed, 20),
    "parquet": Format(".parquet", _parquet_files, read_dataset, share=20),
    "feather": Format(".feather", _feather_files, read_dataset, share=10),
    # Slow to read, and read by a library of others.
    "xlsx": Format(".xlsx", _excel_files, read_dataset, _damage_npz, 5),
    "jsonl": Format(".jsonl", _encoded([_LINES]), read_dataset, share=30),
    "tasks": Format(".json", _encoded([json.dumps(_TASKS)]), _read_tasks, share=15),
    "json": Format(".json", _encoded([_JSON]), _read_rules, share=50),
    "toml": Format(".toml", _encoded([_TOML]), _read_rules, share=50),
}
